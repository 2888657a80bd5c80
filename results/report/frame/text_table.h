#pragma once
// A table for the terminal. Each column is as wide as its widest cell; two blanks separate columns.

#include <string>
#include <vector>

namespace headcrash::report {

class TextTable {
 public:
  /// If a title begins with '>', its column is right-aligned. If all titles are empty, the table
  /// has no header.
  explicit TextTable(std::vector<std::string> titles);
  /// Adds a row. If the row has fewer cells than the header, its last cell may extend over the
  /// missing columns.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Returns the lines. Each is indented by `indent` blanks and ends with a line feed.
  std::string text(std::size_t indent = 2) const;

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace headcrash::report
