#pragma once
// Text from disks, guests and files as a terminal may show it.

#include <cstddef>
#include <string>
#include <string_view>

namespace headcrash::base {

/// Valid UTF-8 stays. Control characters, characters that change the direction or the line, and
/// bytes that are no UTF-8 become \xNN, a byte each. Longer than `most` bytes: cut there, and "..."
/// follows.
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

/// The same for text of several lines: newlines and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace headcrash::base
