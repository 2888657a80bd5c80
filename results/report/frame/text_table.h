#pragma once
// A table for the terminal. Each column is as wide as its widest cell; two blanks separate columns.

#include <string>
#include <vector>

namespace headcrash::report {

class TextTable {
 public:
  /// Creates a table. A title that begins with '>' right-aligns its column. A table whose titles
  /// are all empty has no header.
  explicit TextTable(std::vector<std::string> titles);
  /// Adds a row, which may be shorter than the header. The row's last cell may then extend over the
  /// missing columns.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Returns the lines, each indented by `indent` blanks and ended by a line feed.
  std::string text(std::size_t indent = 2) const;

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace headcrash::report
