#pragma once
// Which file systems of our own there are: the one table (registry.cc). Adding one is adding its
// line there.

#include <span>
#include <string_view>
#include <vector>

#include "fs-adapters/system_under_test.h"

namespace headcrash::adapters {

/// In the order of lists. They live as long as the process.
std::span<const FileSystemType* const> file_system_types();
/// Errors name all there are.
Result<const FileSystemType*> find_file_system_type(std::string_view name);
/// Of all types, in the order of lists.
std::vector<const SystemUnderTest*> all_systems();
/// By type and name of the system. Errors name all there are.
Result<const SystemUnderTest*> find_system(std::string_view type, std::string_view system);

}  // namespace headcrash::adapters
