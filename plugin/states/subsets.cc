#include "plugin/states/subsets.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>

#include "plugin/base/random.h"
#include "plugin/states/state_source.h"

namespace headcrash::states {
namespace {

using Subset = std::vector<std::uint8_t>;

/// Generates the subsets of the list one at a time, because most callers skip most subsets.
class SubsetList {
 public:
  explicit SubsetList(const SubsetRequest& request)
      : request_(request), order_(spread(request.writes)) {
    for (const Subset& on : request.disks) {
      std::vector<std::size_t>& own = own_.emplace_back();
      for (std::size_t w = 0; w < on.size(); ++w)
        if (on[w] != 0) own.push_back(w);
    }
  }

  /// Moves to the next subset in the list; returns false at the end. If `into` is null, the subset
  /// is only skipped.
  bool next(Subset* into) {
    const std::size_t n = request_.writes;
    if (into != nullptr) into->assign(n, 1);
    const std::uint64_t turn = turn_++;
    if (turn == 0) return flip(into, 0, n);
    if (turn == 1) return n > 0;
    if (turn - 2 < request_.disks.size()) return lose(into, request_.disks[turn - 2]);
    if (turn - 2 == request_.disks.size() && n > 1) return flip(into, 0, n - 1);
    const std::span<const Way> ways =
        own_.empty() ? std::span<const Way>(kWays) : std::span<const Way>(kWaysOfDisks);
    for (;;) {
      const Way way = ways[way_++ % ways.size()];
      const std::size_t i = yielded_.at(static_cast<std::size_t>(way))++;
      if (way == Way::lose_one && i < n) return flip(into, order_[i], order_[i] + 1);
      if (way == Way::keep_one && i < n)
        return flip(into, 0, order_[i]) && flip(into, order_[i] + 1, n);
      if (way == Way::lose_run && lose_run(into, i)) return true;
      if (way == Way::lose_kind && i < request_.kinds.size()) return lose(into, request_.kinds[i]);
      if (way == Way::stop_disk && lose_on_disk(into, i, /*whole_tail=*/true)) return true;
      if (way == Way::lose_two && lose_on_disk(into, i, /*whole_tail=*/false)) return true;
      if (way == Way::draw) return draw(into, i);
    }
  }

 private:
  enum class Way : std::uint8_t {
    lose_one,
    keep_one,
    lose_run,
    lose_kind,
    draw,
    stop_disk,
    lose_two
  };
  static constexpr std::array kWays{Way::lose_one, Way::keep_one, Way::lose_run, Way::lose_kind,
                                    Way::draw};
  static constexpr std::array kWaysOfDisks{Way::lose_one,  Way::stop_disk, Way::lose_two,
                                           Way::lose_one,  Way::stop_disk, Way::lose_run,
                                           Way::lose_kind, Way::draw,      Way::keep_one};

  /// Loses some of the writes on one disk: a write and all later ones if `whole_tail` is true,
  /// otherwise two successive writes. The disks take turns. Some writes on the disk are always
  /// kept, because another turn loses all of them.
  bool lose_on_disk(Subset* into, std::size_t i, bool whole_tail) const {
    const std::vector<std::size_t>& own = own_[i % own_.size()];
    const std::size_t place = i / own_.size();
    if (own.size() < 3 || place >= own.size() - 2) return false;
    const std::size_t first = spread(own.size() - 2)[place] + (whole_tail ? 1 : 0);
    const std::size_t last = whole_tail ? own.size() : first + 2;
    for (std::size_t w = first; into != nullptr && w < last; ++w) (*into)[own[w]] = 0;
    return true;
  }
  static bool flip(Subset* into, std::size_t from, std::size_t to) {
    if (into != nullptr)
      std::fill(into->begin() + static_cast<std::ptrdiff_t>(from),
                into->begin() + static_cast<std::ptrdiff_t>(to), 0);
    return true;
  }
  /// Loses a run of writes. Runs 0 and 1 are the halves, 2 to 5 the quarters, and so on, down to
  /// runs of two writes.
  bool lose_run(Subset* into, std::size_t i) const {
    const auto level = std::bit_width(i + 2) - 1;
    const std::size_t parts = std::size_t{1} << level;
    if (request_.writes < 2 * parts) return false;
    const std::size_t part = parts - 1 - (i + 2 - parts);  // the last part comes first
    return flip(into, request_.writes * part / parts, request_.writes * (part + 1) / parts);
  }
  static bool lose(Subset* into, const Subset& lost) {
    if (into == nullptr) return true;
    for (std::size_t w = 0; w < into->size(); ++w) (*into)[w] = lost[w] != 0 ? 0 : 1;
    return true;
  }
  bool draw(Subset* into, std::size_t i) const {
    if (into == nullptr) return true;
    constexpr std::uint64_t kLostOf16[] = {8, 3, 13, 1, 15};
    Random random(request_.seed * 0x9e3779b97f4a7c15U + i);
    for (std::uint8_t& kept : *into) kept = random.below(16) >= kLostOf16[i % 5] ? 1 : 0;
    return true;
  }

  const SubsetRequest& request_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<std::size_t>> own_;  ///< the writes of each disk
  std::array<std::size_t, 7> yielded_ = {};    ///< number of subsets that each method has yielded
  std::size_t way_ = 0;
  std::uint64_t turn_ = 0;
};

/// Returns all 2^n masks of kept writes, in order; n is small.
std::vector<std::uint64_t> all_masks(std::size_t n) {
  const std::uint64_t all = (std::uint64_t{1} << n) - 1;
  std::vector<std::uint64_t> masks;
  const auto rank = [&](std::uint64_t mask) {
    const auto kept = static_cast<std::size_t>(std::popcount(mask));
    if (kept == 0) return 0;
    if (kept == n) return 1;
    return kept + 1 == n ? 2 : kept == 1 ? 3 : 4;
  };
  for (std::uint64_t mask = 0; mask <= all; ++mask) masks.push_back(mask);
  std::stable_sort(masks.begin(), masks.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return rank(a) < rank(b); });
  return masks;
}

}  // namespace

std::vector<Subset> subsets(const SubsetRequest& request, std::uint64_t from, std::uint64_t count) {
  std::vector<Subset> found;
  const std::size_t n = request.writes;
  if (n < 20 && std::uint64_t{1} << n <= request.count_max) {
    const auto masks = all_masks(n);
    for (std::uint64_t i = from; i < masks.size() && i - from < count; ++i) {
      Subset subset(n);
      for (std::size_t w = 0; w < n; ++w) subset[w] = masks[i] >> w & 1U;
      found.push_back(std::move(subset));
    }
    return found;
  }
  SubsetList chooser(request);
  for (std::uint64_t i = 0; i < request.count_max && i < from; ++i) chooser.next(nullptr);
  for (std::uint64_t i = from; i < request.count_max && i - from < count; ++i) {
    found.emplace_back();
    if (!chooser.next(&found.back())) {
      found.pop_back();
      break;
    }
  }
  return found;
}

}  // namespace headcrash::states
