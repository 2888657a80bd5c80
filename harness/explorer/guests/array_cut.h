#pragma once
// Where the members of an array stood when the power went, in words: for people who read an
// account.

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
  model::TimeNs cut_at = 0;  ///< of the last event before the cut
  /// What members that had stopped before the others did not do any more; by event.
  std::vector<MemberWrite> lost;
  /// The last ones that were done by then, at most `done_most`.
  std::vector<MemberWrite> done;
  /// Requests of the host that were inside the array: some of their members' writes are there,
  /// others are not.
  std::vector<states::RecordedWrite> under_way;
};

/// Of a state `physical` or `member`. Errors: a recording that cannot be read.
Result<ArrayCut> array_cut(const states::RunHistory& run, const states::CrashState& state,
                           std::size_t done_most);

}  // namespace headcrash::explorer
