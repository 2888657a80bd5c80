#pragma once
// Text of commands: placeholders, quoting for a shell, and extracts from the output.

#include <string>
#include <string_view>

namespace headcrash::base {

/// Replaces all occurrences of `from` with `to`, from left to right. Inserted text is not searched
/// again. REQUIRES: `from` is not empty.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Quotes text for a POSIX shell in single quotes.
std::string shell_quoted(std::string_view text);

/// Returns the last nonempty line of a program's output, without its newline.
std::string last_line(std::string_view output);

}  // namespace headcrash::base
