// The table (registry.h).
#include "fs-adapters/registry.h"

#include <algorithm>
#include <array>
#include <string>

#include "fs-adapters/examples/shadow/under_test.h"
#include "fs-adapters/lfs/under_test.h"
#include "fs-adapters/snapfs/under_test.h"
#include "fs-adapters/ufs/under_test.h"

namespace headcrash::adapters {

std::span<const FileSystemType* const> file_system_types() {
  static const std::array kTypes{
      &ufs::file_system_type(),
      &lfs::file_system_type(),
      &snapfs::file_system_type(),
      &shadow::file_system_type(),
  };
  return kTypes;
}

Result<const FileSystemType*> find_file_system_type(std::string_view name) {
  std::string names;
  for (const FileSystemType* const type : file_system_types()) {
    if (type->name() == name) return type;
    names += (names.empty() ? "" : ", ") + std::string(type->name());
  }
  return fail("file system", "unknown type '" + std::string(name) + "'", "use one of: " + names);
}

std::vector<const SystemUnderTest*> all_systems() {
  std::vector<const SystemUnderTest*> all;
  for (const FileSystemType* const type : file_system_types())
    for (const auto& system : type->systems()) all.push_back(system.get());
  return all;
}

Result<const SystemUnderTest*> find_system(std::string_view type, std::string_view system) {
  TRY(const auto found, find_file_system_type(type));
  return found->find_system(system);
}

}  // namespace headcrash::adapters
