// Finds persisted lines (persisted_lines.h).
#include "harness/guest/persisted_lines.h"

#include <algorithm>

namespace headcrash::guest {
namespace {
constexpr std::string_view kWord = "persisted ";
constexpr std::size_t kLineMost = kWord.size() + kPersistedTextMost;
}  // namespace

void PersistedLines::end_line(std::vector<std::string>& texts) {
  if (line_.starts_with(kWord)) {
    const bool printing =
        std::all_of(line_.begin(), line_.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (printing && line_.size() <= kLineMost && line_.size() > kWord.size()) {
      texts.push_back(line_.substr(kWord.size()));
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
    } else if (line_.size() <= kLineMost) {  // one byte over the limit marks the line as too long
      line_ += c;
    }
  }
  return texts;
}

}  // namespace headcrash::guest
