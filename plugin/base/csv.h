#pragma once
// Writes and reads CSV (RFC 4180).
//
// A cell that contains a comma, a quotation mark or a line break is quoted, and its quotation marks
// are doubled. All other cells are written unchanged, with one exception: an empty cell is quoted
// if it is the only cell of its line, because an empty line has no cells.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::base {

using CsvLine = std::vector<std::string>;

/// Returns the text of a cell, quoted if necessary.
std::string csv_cell(std::string_view text);

/// Returns a line, including its line terminator.
std::string csv_line(std::span<const std::string> cells, std::string_view end = "\n");

/// Reads all lines. A line ends with LF or CRLF; the last line need not. Fails if a closing
/// quotation mark is missing or an unquoted cell contains a quotation mark. `subject` names the
/// text in errors.
Result<std::vector<CsvLine>> read_csv(std::string_view text, const std::string& subject);

}  // namespace headcrash::base
