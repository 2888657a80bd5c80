#pragma once
// Writes and reads CSV (RFC 4180).
//
// A cell with a comma, a quotation mark or a line end is quoted, and its quotation marks are
// doubled. All other cells are written unchanged. The only cell of a line is quoted if it is empty,
// because an empty line has no cell.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::base {

using CsvLine = std::vector<std::string>;

/// Returns the text of a cell, quoted if necessary.
std::string csv_cell(std::string_view text);

/// Returns a line with its end.
std::string csv_line(std::span<const std::string> cells, std::string_view end = "\n");

/// Reads all lines; each ends with LF or CRLF, the last also with the end of the text. Fails if a
/// quotation mark is missing or is in a cell that is not quoted. `subject` names the text in the
/// error.
Result<std::vector<CsvLine>> read_csv(std::string_view text, const std::string& subject);

}  // namespace headcrash::base
