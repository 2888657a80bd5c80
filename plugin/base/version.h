#pragma once

#include <string>

namespace headcrash::base {

/// Returns "0.1.0 (commit 0123456789ab)", with "-dirty" appended if the working tree had
/// uncommitted changes. Returns "0.1.0" if headcrash was built outside a repository.
std::string version();

}  // namespace headcrash::base
