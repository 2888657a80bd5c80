#pragma once
// Which headcrash this is.

#include <string>

namespace headcrash::base {

/// "0.1.0 (commit 0123456789ab)", "-dirty" behind a commit of which the tree differed; "0.1.0" when
/// it was built without a repository.
std::string version();

}  // namespace headcrash::base
