#pragma once
// Kernel modules of the guest: the initramfs carries them in one flat folder, listed in the order
// of their dependencies by scripts/build-guest, so that nothing has to be resolved here.

#include <filesystem>
#include <string>
#include <vector>

namespace headcrash::guest {

/// Loads every file named in `folder`/order, one name a line. A module that says "no such device"
/// (an optimised variant on a processor without the instruction) or is there already is not a
/// failure; others are returned as text.
std::vector<std::string> load_modules(const std::filesystem::path& folder);

}  // namespace headcrash::guest
