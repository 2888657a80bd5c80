#pragma once
// The progress of an array's members at a power cut, for the account of a failure.

#include <string>
#include <vector>

#include "plugin/states/run_history.h"

namespace headcrash::explorer {

/// A media write of a member.
struct MemberWrite {
  std::string member;
  std::uint64_t event = 0;
  std::uint64_t lba = 0, sectors = 0;
  model::TimeNs at = 0;
};

struct ArrayCut {
  model::TimeNs cut_at = 0;  ///< time of the last event before the cut
  /// Writes lost by members that stopped before the others, by event.
  std::vector<MemberWrite> lost;
  /// The last completed writes, at most `done_most`.
  std::vector<MemberWrite> done;
  /// Requests of the host in flight inside the array. Their members' writes are only partly done.
  std::vector<states::RecordedWrite> under_way;
};

/// Describes a `physical` or `member` state. Fails if the recording cannot be read.
Result<ArrayCut> array_cut(const states::RunHistory& run, const states::CrashState& state,
                           std::size_t done_most);

}  // namespace headcrash::explorer
