#pragma once
// How often a test repeats itself is its own affair until somebody with more time asks for more: a
// number in the environment (HEADCRASH_FUZZ_SECONDS, HEADCRASH_HISTORIES, ...). For tests only.

#include <cstdint>
#include <cstdlib>

namespace headcrash {

/// The decimal number that the variable begins with; `otherwise` where it is not set.
inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace headcrash
