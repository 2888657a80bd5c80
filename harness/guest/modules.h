#pragma once
// Kernel modules of the guest. The initramfs holds them in one flat folder. scripts/build-guest
// lists them in dependency order, so that no dependency is resolved here.

#include <filesystem>
#include <string>
#include <vector>

namespace headcrash::guest {

/// Loads every file named in `folder`/order, one name per line. It is not a failure if a module is
/// already loaded or reports "no such device" (an optimised variant on a processor without the
/// instruction). Returns other failures as text.
std::vector<std::string> load_modules(const std::filesystem::path& folder);

}  // namespace headcrash::guest
