#pragma once
// The text of shell commands and of their output.

#include <string>
#include <string_view>

namespace headcrash::base {

/// Quotes a text for a POSIX shell in single quotes.
std::string shell_quoted(std::string_view text);

/// Returns the last line of an output that is not empty, without its newline.
std::string last_line(std::string_view output);

}  // namespace headcrash::base
