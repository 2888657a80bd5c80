#pragma once
// The environment variable HEADCRASH_HISTORIES_TYPE. It restricts tests of histories to the systems
// whose full names begin with its value, such as "lfs" or "ufs-netra".

#include <cstdlib>
#include <string_view>

#include "fs-adapters/registry.h"

namespace headcrash::in_process {

/// Returns the value of HEADCRASH_HISTORIES_TYPE. Returns an empty string, which selects all
/// systems, if the variable is not set.
inline std::string_view only_type() {
  const char* const type = std::getenv("HEADCRASH_HISTORIES_TYPE");
  return type == nullptr ? std::string_view() : type;
}

inline bool is_of_wanted_type(const adapters::SystemUnderTest& system) {
  return system.full_name().starts_with(only_type());
}

}  // namespace headcrash::in_process
