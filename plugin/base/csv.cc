// Writes and reads CSV (csv.h).
#include "plugin/base/csv.h"

#include <fmt/format.h>

namespace headcrash::base {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& subject) : rest_(text), subject_(subject) {}

  bool at_end() const { return rest_.empty(); }

  Result<CsvLine> line() {
    ++number_;
    CsvLine cells;
    while (true) {
      TRY(auto cell, next_cell());
      cells.push_back(std::move(cell));
      if (!skip(",")) break;
    }
    if (!skip("\r\n") && !skip("\n") && !rest_.empty())
      return invalid("text follows a quoted cell");
    return cells;
  }

 private:
  bool skip(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }

  Result<std::string> next_cell() {
    if (skip("\"")) return quoted_cell();
    std::size_t size = std::min(rest_.find_first_of(",\n"), rest_.size());
    if (size < rest_.size() && rest_[size] == '\n' && size > 0 && rest_[size - 1] == '\r') --size;
    std::string cell(rest_.substr(0, size));
    if (cell.find('"') != std::string::npos)
      return invalid("an unquoted cell contains a quotation mark");
    rest_.remove_prefix(size);
    return cell;
  }

  /// Reads the rest of a cell after its opening quotation mark.
  Result<std::string> quoted_cell() {
    std::string cell;
    while (true) {
      const std::size_t mark = rest_.find('"');
      if (mark == std::string_view::npos) return invalid("a quoted cell is not terminated");
      cell += rest_.substr(0, mark);
      rest_.remove_prefix(mark + 1);
      if (!skip("\"")) return cell;
      cell += '"';
    }
  }

  tl::unexpected<Error> invalid(const char* problem) const {
    return fail(subject_, fmt::format("line {} is not valid CSV: {}", number_, problem),
                "quote cells with commas, quotation marks or line ends (RFC 4180)");
  }

  std::string_view rest_;
  const std::string& subject_;
  std::size_t number_ = 0;
};

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

std::string csv_line(std::span<const std::string> cells, std::string_view end) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  if (cells.size() == 1 && line.empty()) line = "\"\"";
  return line.append(end);
}

Result<std::vector<CsvLine>> read_csv(std::string_view text, const std::string& subject) {
  std::vector<CsvLine> lines;
  CsvReader reader(text, subject);
  while (!reader.at_end()) {
    TRY(auto line, reader.line());
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace headcrash::base
