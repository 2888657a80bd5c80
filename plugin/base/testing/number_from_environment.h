#pragma once
// Numbers from environment variables that make tests run longer (HEADCRASH_FUZZ_SECONDS,
// HEADCRASH_HISTORIES, ...). For tests only.

#include <cstdint>
#include <cstdlib>

namespace headcrash {

/// Returns the decimal number at the start of the variable's value; `otherwise` if the variable is
/// unset.
inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Like number_from_environment(), but for a number with a decimal fraction.
inline double decimal_from_environment(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

}  // namespace headcrash
