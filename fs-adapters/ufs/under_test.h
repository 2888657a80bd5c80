#pragma once
// UFS as a system under test (fs-adapters/system_under_test.h): one system for each line of
// scheme_variants.h.

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/fsck/fsck.h"
#include "fs-adapters/ufs/schemes/scheme_variants.h"

namespace headcrash::ufs {

/// Made when it is first wanted.
const adapters::FileSystemType& file_system_type();

/// A way to run it that is not a line of that table, made from one.
std::unique_ptr<const adapters::SystemUnderTest> system_of(SchemeVariant variant);

/// The checker's kind as everybody else knows it. `order` is its number.
adapters::FindingKind kind_of(FindingKind kind);

}  // namespace headcrash::ufs
