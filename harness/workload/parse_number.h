#pragma once
// Numbers among the words of a list of operations.

#include <charconv>
#include <string_view>
#include <system_error>

namespace headcrash::workload {

/// Reads all of `word` as a number in `base`; false if it is not one or does not fit.
template <typename Number>
bool parse_number(std::string_view word, Number& value, int base = 10) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return error == std::errc{} && end == word.data() + word.size();
}

}  // namespace headcrash::workload
