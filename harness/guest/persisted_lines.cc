// Finds the lines "persisted TEXT" in a program's output (persisted_lines.h).
#include "harness/guest/persisted_lines.h"

#include <algorithm>

namespace headcrash::guest {
namespace {
constexpr std::string_view kWord = "persisted ";
constexpr std::size_t kLineMost = kWord.size() + kPersistedTextMost;
}  // namespace

void PersistedLines::end_line(std::vector<std::string>& texts) {
  const bool has_word = line_.starts_with(kWord) && !every_line_;
  if (has_word || (every_line_ && !line_.empty())) {
    const std::string_view text = std::string_view(line_).substr(has_word ? kWord.size() : 0);
    const bool printing = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
    if (printing && !text.empty() && text.size() <= kPersistedTextMost) {
      texts.emplace_back(text);
    } else {
      ++refused_;
    }
  }
  line_.clear();
}

std::vector<std::string> PersistedLines::feed(std::string_view bytes) {
  std::vector<std::string> texts;
  for (const char c : bytes) {
    if (c == '\n') {
      end_line(texts);
      // The line may exceed the limit by one byte, which shows that it is too long.
    } else if (line_.size() <= kLineMost) {
      line_ += c;
    }
  }
  return texts;
}

}  // namespace headcrash::guest
