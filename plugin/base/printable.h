#pragma once
// Makes untrusted text from disks, guests and files safe to print on a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace headcrash::base {

/// Keeps valid UTF-8. Escapes as \xNN, byte by byte, control characters, bidirectional and
/// line-separator characters, and invalid UTF-8. Cuts the text after `most` bytes and appends
/// "...".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

/// Escapes text of several lines in the same way; keeps newlines and tabs.
std::string printable_lines(std::string_view text);

}  // namespace headcrash::base
