#pragma once
// UFS as a system under test (fs-adapters/system_under_test.h): one system for each row of
// scheme_variants.h.

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/fsck/fsck.h"
#include "fs-adapters/ufs/schemes/scheme_variants.h"

namespace headcrash::ufs {

/// Returns the file system type ufs.
const adapters::FileSystemType& file_system_type();

/// Creates a system from a variant that is not in the table scheme_variants().
std::unique_ptr<const adapters::SystemUnderTest> system_of(SchemeVariant variant);

/// Converts a finding kind of the ufs checker to the type that all file systems share. `order` is
/// the value of the enumerator.
adapters::FindingKind kind_of(FindingKind kind);

}  // namespace headcrash::ufs
