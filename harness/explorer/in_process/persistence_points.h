#pragma once
// The persistence points that a run reported, ordered by event.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "harness/workload/operation.h"
#include "plugin/states/run_history.h"

namespace headcrash::in_process {

class PersistencePoints {
 public:
  explicit PersistencePoints(const states::RunHistory& run) {
    for (const states::RecordedMark& mark : run.marks())
      if (const auto operation = workload::parse_persisted_mark(mark.text))
        points_.emplace_back(mark.event, *operation);
  }
  /// Returns the last point that was reported before a cut.
  std::optional<std::size_t> before(std::uint64_t cut) const {
    const auto next =
        std::ranges::lower_bound(points_, cut, {}, &std::pair<std::uint64_t, std::size_t>::first);
    if (next == points_.begin()) return {};
    return std::prev(next)->second;
  }
  /// Finds the first persistence point whose operation number is at least `operation`. Returns the
  /// number of the event that follows the mark of this point; nullopt if there is no such point.
  std::optional<std::uint64_t> event_of(std::uint64_t operation) const {
    const auto found =
        std::ranges::find_if(points_, [&](const auto& point) { return point.second >= operation; });
    if (found == points_.end()) return {};
    return found->first + 1;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::size_t>> points_;
};

}  // namespace headcrash::in_process
