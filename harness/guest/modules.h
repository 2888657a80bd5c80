#pragma once
// The guest's kernel modules. The initramfs holds them in one flat folder. scripts/build-guest
// lists them in dependency order, so modules are loaded in that order.

#include <filesystem>
#include <string>
#include <vector>

namespace headcrash::guest {

/// Loads every module named in the file `order` in `folder`, which has one name per line. Ignores
/// modules that are already loaded or that report "no such device" (an optimised variant on a
/// processor without the instruction). Returns all other failures as text.
std::vector<std::string> load_modules(const std::filesystem::path& folder);

}  // namespace headcrash::guest
