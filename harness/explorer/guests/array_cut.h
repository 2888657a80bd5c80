#pragma once
// Finds out which writes each member of an array had stored when the power was cut, so that a
// failure can be described.

#include <string>
#include <vector>

#include "plugin/states/run_history.h"

namespace headcrash::explorer {

struct MemberWrite {
  std::string member;
  std::uint64_t event = 0;
  std::uint64_t lba = 0, sectors = 0;
  model::TimeNs at = 0;
};

struct ArrayCut {
  model::TimeNs cut_at = 0;  ///< time of the last event before the cut
  /// Writes that are lost because their member stopped before the other members, in event order.
  std::vector<MemberWrite> lost;
  /// The last writes that completed before the cut, at most `done_most`.
  std::vector<MemberWrite> done;
  /// Host requests for which the array had completed some writes to members, but not all of them.
  std::vector<states::RecordedWrite> under_way;
};

/// Describes a state whose base is `physical` or `member`. Fails if the recording cannot be read.
Result<ArrayCut> array_cut(const states::RunHistory& run, const states::CrashState& state,
                           std::size_t done_most);

}  // namespace headcrash::explorer
