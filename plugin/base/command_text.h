#pragma once
// Quoting for shell commands, and extracts from their output.

#include <string>
#include <string_view>

namespace headcrash::base {

/// Quotes text for a POSIX shell in single quotes.
std::string shell_quoted(std::string_view text);

/// Returns the last nonempty line of an output, without its newline.
std::string last_line(std::string_view output);

}  // namespace headcrash::base
