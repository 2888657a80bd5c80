#include "plugin/config/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace headcrash::config {
namespace {

/// Levenshtein distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t kLongestWord = 64;
  std::string best;
  std::size_t best_distance = 0;
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

}  // namespace headcrash::config
