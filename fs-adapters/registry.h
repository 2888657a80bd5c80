#pragma once
// Registry of headcrash's own file systems: a single table (registry.cc). A new file system adds
// one line to it.

#include <span>
#include <string_view>
#include <vector>

#include "fs-adapters/system_under_test.h"

namespace headcrash::adapters {

/// Returns all types, in listing order. They live as long as the process.
std::span<const FileSystemType* const> file_system_types();
/// Fails if there is no such type. The error lists all types.
Result<const FileSystemType*> find_file_system_type(std::string_view name);
/// Returns the systems of all types, in listing order.
std::vector<const SystemUnderTest*> all_systems();
/// Finds a system by its type and name. If there is no such system, the error lists all names.
Result<const SystemUnderTest*> find_system(std::string_view type, std::string_view system);

}  // namespace headcrash::adapters
