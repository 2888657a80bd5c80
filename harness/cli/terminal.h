#pragma once
// Output to terminals: tables that fit the width, and progress on a single line.

#include <cstddef>
#include <optional>
#include <string>

namespace headcrash::cli {

/// Returns the width of the terminal in columns, or nullopt if standard output is not a terminal.
std::optional<std::size_t> terminal_width();

/// Prints text. On a terminal, a line that does not fit is shortened and ends in "...". Output to
/// files and pipes is not shortened.
void print_fitted(const std::string& text);

/// Shortens each line to at most `width` characters (not bytes).
std::string fitted(const std::string& text, std::size_t width);

/// Returns true if standard error is a terminal on which a line can be overwritten ($TERM is not
/// "dumb").
bool can_overwrite();

void clear_line();

}  // namespace headcrash::cli
