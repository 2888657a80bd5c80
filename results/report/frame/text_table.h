#pragma once
// A table for the terminal: columns as wide as their widest cell, two blanks between them.

#include <string>
#include <vector>

namespace headcrash::report {

class TextTable {
 public:
  /// A title that begins with '>' sets its column right. A table whose titles are all empty has no
  /// head.
  explicit TextTable(std::vector<std::string> titles);
  /// A row may be shorter than the head; its last cell is then free to run over the columns that it
  /// lacks.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Each line indented by `indent` blanks and ended by a line feed.
  std::string text(std::size_t indent = 2) const;

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace headcrash::report
