#pragma once
// Makes untrusted text from disks, guests and files safe to print on a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace headcrash::base {

/// Keeps valid UTF-8. Writes control characters, bidirectional and line-separator characters, and
/// each byte of invalid UTF-8, as \xNN. Truncates the text after `most` bytes and appends "...".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

/// Like printable(), but for multi-line text: keeps newlines and tabs.
std::string printable_lines(std::string_view text);

}  // namespace headcrash::base
