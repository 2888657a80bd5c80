#pragma once
// The file system type to which the variable HEADCRASH_HISTORIES_TYPE restricts tests of histories.

#include <cstdlib>
#include <string_view>

#include "fs-adapters/registry.h"

namespace headcrash::in_process {

/// Returns the type to which the test is restricted, or an empty string for all types.
inline std::string_view only_type() {
  const char* const type = std::getenv("HEADCRASH_HISTORIES_TYPE");
  return type == nullptr ? std::string_view() : type;
}

inline bool is_of_wanted_type(const adapters::SystemUnderTest& system) {
  return only_type().empty() || system.type().name() == only_type();
}

}  // namespace headcrash::in_process
