#pragma once
// Parses the numbers in a list of operations.

#include <charconv>
#include <string_view>
#include <system_error>

namespace headcrash::workload {

/// Parses the whole of `word` as a number in base `base`. Returns false if it is invalid or out of
/// range.
template <typename Number>
bool parse_number(std::string_view word, Number& value, int base = 10) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return error == std::errc{} && end == word.data() + word.size();
}

}  // namespace headcrash::workload
