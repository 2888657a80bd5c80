#pragma once
// Output for terminals: tables that fit the width, and progress on one line.

#include <cstddef>
#include <optional>
#include <string>

namespace headcrash::cli {

/// Returns the terminal's width in columns; nullopt if standard output is not a terminal.
std::optional<std::size_t> terminal_width();

/// Prints text. On a terminal, lines that do not fit are shortened and end in "...". Output to
/// files and pipes is not shortened.
void print_fitted(const std::string& text);

/// Shortens each line to at most `width` characters (not bytes).
std::string fitted(const std::string& text, std::size_t width);

/// Returns true if standard error is a terminal that can overwrite a line ($TERM is not "dumb").
bool can_overwrite();

/// Erases the current line.
void clear_line();

}  // namespace headcrash::cli
