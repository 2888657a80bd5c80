#include "results/report/frame/text_table.h"

#include <algorithm>

namespace headcrash::report {
namespace {

/// Returns the number of characters, not of bytes, in a UTF-8 text.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> titles) : titles_(std::move(titles)) {
  for (std::string& title : titles_) {
    right_.push_back(title.starts_with('>'));
    if (right_.back()) title.erase(0, 1);
  }
}

std::string TextTable::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  widths.reserve(titles_.size());
  for (const std::string& title : titles_) widths.push_back(width_of(title));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row.size() == titles_.size() || i + 1 < row.size())
        widths[i] = std::max(widths[i], width_of(row[i]));
  const auto line_of = [&](const std::vector<std::string>& row) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool free = row.size() < titles_.size() && i + 1 == row.size();
      const std::string blanks(free ? 0 : widths[i] - width_of(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (right_[i] && !free ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  };
  const bool headless = std::ranges::all_of(titles_, &std::string::empty);
  std::string text = headless ? "" : line_of(titles_);
  for (const auto& row : rows_) text += line_of(row);
  return text;
}

}  // namespace headcrash::report
