#pragma once
// Loads the guest's kernel modules. All modules are in one directory of the initramfs.
// scripts/build-guest lists the modules in loading order: a module comes after the modules that it
// needs.

#include <filesystem>
#include <string>
#include <vector>

namespace headcrash::guest {

/// Loads all modules that the file `order` in `folder` names, one on each line. Ignores modules
/// that are already loaded, and modules that report "no such device" (for example, an optimised
/// variant on a processor without the instruction). Returns one text for each other failure.
std::vector<std::string> load_modules(const std::filesystem::path& folder);

}  // namespace headcrash::guest
