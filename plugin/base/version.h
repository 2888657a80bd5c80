#pragma once
// The version of headcrash.

#include <string>

namespace headcrash::base {

/// Returns "0.1.0 (commit 0123456789ab)", with "-dirty" appended if the tree had changes, or
/// "0.1.0" if built without a repository.
std::string version();

}  // namespace headcrash::base
