// Implements the segment cleaner's policies (cleaning_policy.h).
//
// A pass selects a few segments out of many. The values of the selected segments change little from
// one pass to the next. Therefore a heap is first built only from the candidates that are worth at
// least about as much as the last segment of the previous pass. If these do not suffice, a heap is
// built from all candidates. The write-back order is computed with a radix sort, because a pass has
// thousands of blocks and the simulator runs millions of passes.
#include "fs-adapters/lfs/cleaning_policy.h"

#include <algorithm>
#include <array>

#include "plugin/base/invariant.h"
#include "plugin/base/names.h"

namespace headcrash::lfs {
namespace {

constexpr unsigned kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr double kNearly = .97;

template <Selection kSelection>
double worth_under(const Candidate& candidate, std::uint64_t segment_size) {
  if (candidate.live == 0) return std::numeric_limits<double>::infinity();
  const auto size = static_cast<double>(segment_size), live = static_cast<double>(candidate.live),
             age = static_cast<double>(candidate.age);
  if constexpr (kSelection == Selection::greedy) {
    return size - live;
  } else if constexpr (kSelection == Selection::cost_benefit) {
    return (size - live) * age / (size + live);
  } else {
    return (size - live) * (size - live) * age / live;
  }
}

}  // namespace

std::string_view name(Selection selection) {
  static constexpr auto kNames =
      base::names<Selection>({"greedy", "cost-benefit", "min-declining-cost"});
  return kNames[selection];
}

std::string_view name(WriteBackOrder order) {
  static constexpr auto kNames = base::names<WriteBackOrder>({"as-read", "by-age"});
  return kNames[order];
}

double worth(Selection selection, const Candidate& candidate, std::uint64_t segment_size) {
  switch (selection) {
    case Selection::greedy:
      return worth_under<Selection::greedy>(candidate, segment_size);
    case Selection::cost_benefit:
      return worth_under<Selection::cost_benefit>(candidate, segment_size);
    case Selection::min_declining_cost:
      return worth_under<Selection::min_declining_cost>(candidate, segment_size);
  }
  return 0;
}

template <Selection kSelection>
void SegmentSelector::rank(std::span<const Candidate> candidates, double least) {
  ranked_.clear();
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    invariant(candidates[i].live <= options_.segment_size,
              "a segment's live data must fit into the segment");
    const double value = worth_under<kSelection>(candidates[i], options_.segment_size);
    if (value >= least && candidates[i].live < options_.segment_size) ranked_.push_back({value, i});
  }
}

void SegmentSelector::rank(std::span<const Candidate> candidates, double least) {
  switch (options_.selection) {
    case Selection::greedy:
      return rank<Selection::greedy>(candidates, least);
    case Selection::cost_benefit:
      return rank<Selection::cost_benefit>(candidates, least);
    case Selection::min_declining_cost:
      return rank<Selection::min_declining_cost>(candidates, least);
  }
}

/// Selects the best candidates from `ranked_` until the pass reaches its limit on live data or on
/// segments. Returns false if `ranked_` does not have enough candidates.
bool SegmentSelector::take(std::span<const Candidate> candidates) {
  const auto later = [&](const Ranked& a, const Ranked& b) {
    if (a.worth != b.worth) return a.worth < b.worth;
    return candidates[a.index].segment > candidates[b.index].segment;
  };
  std::make_heap(ranked_.begin(), ranked_.end(), later);
  chosen_.clear();
  std::uint64_t live = 0;
  while (live < options_.live_at_once && chosen_.size() < options_.segments_at_once) {
    if (ranked_.empty()) return false;
    std::pop_heap(ranked_.begin(), ranked_.end(), later);
    chosen_.push_back(candidates[ranked_.back().index]);
    live += chosen_.back().live;
    least_worth_ = ranked_.back().worth * kNearly;
    ranked_.pop_back();
  }
  return true;
}

std::span<const Candidate> SegmentSelector::choose(std::span<const Candidate> candidates) {
  const double least = least_worth_;
  rank(candidates, least);
  if (take(candidates) || least <= 0) return chosen_;
  rank(candidates, 0);
  take(candidates);
  return chosen_;
}

void WriteBackSorter::sort(WriteBackOrder order, std::vector<LiveBlock>& blocks) {
  if (order == WriteBackOrder::as_read || blocks.empty()) return;
  std::uint64_t differing = 0;
  for (const LiveBlock& block : blocks) differing |= block.modified ^ blocks.front().modified;
  scratch_.resize(blocks.size());
  for (unsigned shift = 0; shift < 64 && differing >> shift != 0; shift += kDigitBits) {
    const auto digit = [&](const LiveBlock& block) {
      return (block.modified >> shift) & (kDigits - 1);
    };
    if (((differing >> shift) & (kDigits - 1)) == 0) continue;
    std::array<std::uint32_t, kDigits> at{};
    for (const LiveBlock& block : blocks) ++at[digit(block)];
    std::uint32_t sum = 0;
    for (std::uint32_t& each : at) {
      const std::uint32_t count = each;
      each = sum;
      sum += count;
    }
    for (const LiveBlock& block : blocks) scratch_[at[digit(block)]++] = block;
    blocks.swap(scratch_);
  }
}

}  // namespace headcrash::lfs
