#pragma once
// Output for terminals: tables that fit the width, and progress on one line.

#include <cstddef>
#include <optional>
#include <string>

namespace headcrash::cli {

/// Returns the width of the terminal in columns; nullopt if standard output is not a terminal.
std::optional<std::size_t> terminal_width();

/// On a terminal, ends lines that do not fit in "...". Does not shorten output to files and pipes.
void print_fitted(const std::string& text);

/// Shortens each line to at most `width` characters (not bytes).
std::string fitted(const std::string& text, std::size_t width);

/// Returns true if standard error is a terminal on which a line can be overwritten ($TERM is not
/// "dumb").
bool can_overwrite();

/// Erases the current line.
void clear_line();

}  // namespace headcrash::cli
