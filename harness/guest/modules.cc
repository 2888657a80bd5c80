// Loads modules with finit_module, in the order that the file `order` gives (modules.h).
#include "harness/guest/modules.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace headcrash::guest {

std::vector<std::string> load_modules(const std::filesystem::path& folder) {
  std::vector<std::string> failures;
  std::ifstream order(folder / "order");
  if (!order) failures.push_back((folder / "order").string() + ": cannot be read");
  for (std::string name; std::getline(order, name);) {
    const int module = ::open((folder / name).c_str(), O_RDONLY | O_CLOEXEC);
    const bool loaded = module >= 0 && ::syscall(SYS_finit_module, module, "", 0) == 0;
    const int error = errno;
    if (module >= 0) ::close(module);
    if (!loaded && error != EEXIST && error != ENODEV) {
      failures.push_back(name + ": " + std::error_code(error, std::generic_category()).message());
    }
  }
  return failures;
}

}  // namespace headcrash::guest
