#include "plugin/base/version.h"

#include "headcrash_commit.h"

namespace headcrash::base {

std::string version() {
  const std::string commit = HEADCRASH_COMMIT;
  return commit.empty() ? HEADCRASH_VERSION : HEADCRASH_VERSION " (commit " + commit + ")";
}

}  // namespace headcrash::base
