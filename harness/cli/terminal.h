#pragma once
// What is written for people who look at it: tables that fit their terminal, progress as one line.

#include <cstddef>
#include <optional>
#include <string>

namespace headcrash::cli {

/// Columns of the terminal that standard output is; none where it goes elsewhere.
std::optional<std::size_t> terminal_width();

/// On a terminal lines that do not fit end in "..."; what goes into a file or a pipe is whole.
void print_fitted(const std::string& text);

/// Each line of at most `width` characters (not bytes).
std::string fitted(const std::string& text, std::size_t width);

/// Standard error is a terminal on which a line can be written over ($TERM is not "dumb").
bool can_overwrite();

/// The line that was written over goes.
void clear_line();

}  // namespace headcrash::cli
