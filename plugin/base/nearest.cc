#include "plugin/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace headcrash::base {
namespace {

/// Returns the optimal string alignment distance: the number of insertions, deletions,
/// substitutions and swaps of adjacent letters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), row[j - 1] + 1, last[j] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t kLongestWord = 64, kShortestPrefix = 3;
  std::string best;
  std::size_t best_distance = 0;
  if (word.size() >= kShortestPrefix) {
    const auto begins = [word](const std::string& candidate) {
      return candidate.starts_with(word);
    };
    const auto first = std::find_if(known.begin(), known.end(), begins);
    if (first != known.end() && std::none_of(first + 1, known.end(), begins)) return *first;
  }
  for (const std::string& candidate : known) {
    if (word.size() > kLongestWord) break;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance * 3 <= std::max<std::size_t>(candidate.size(), 3) &&
        (best.empty() || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggest(std::string_view word, std::span<const std::string> known) {
  const std::string best = nearest(word, known);
  const std::string all = fmt::format("known: {}", fmt::join(known, ", "));
  return best.empty() ? all : fmt::format("did you mean \"{}\"? {}", best, all);
}

}  // namespace headcrash::base
