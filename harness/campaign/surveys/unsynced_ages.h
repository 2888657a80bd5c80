#pragma once
// The workload of `unsynced-loss`, and the evaluation of the tree that is left. Neither needs a
// guest.
//
//   set-up    create a large file and a log; sync
//   round     create fN, write fN, append to the log, overwrite a block of the large file, rename
//             f(N-3) to rN, rest for 1 s; the mark of the rest shows when the round has ended, and
//             promises nothing
//
// When the rest of a round begins, one second before the round's mark, all calls of the round have
// returned. Ages are measured from this time, so they are some milliseconds too short. Rounds
// without a mark are ignored, because it is unknown whether their changes were made.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/observed_tree.h"
#include "harness/workload/operation.h"

namespace headcrash::campaign {

struct UnsyncedWorkload {
  std::vector<workload::Operation> operations;
  std::size_t set_up = 0;          ///< number of operations in the setup, before the first round
  std::vector<std::size_t> rests;  ///< for each round, the index of its `rest` operation
};
UnsyncedWorkload unsynced_workload(std::uint32_t rounds);

/// The mark "persisted N" of a `rest` operation, and the time of the mark.
struct RestMark {
  std::size_t operation = 0;
  std::int64_t at_ns = 0;
};

struct ChangeAge {
  std::size_t operation = 0;
  std::string_view kind;  ///< create, write, append, overwrite, rename
  double age_ms = 0;      ///< age of the change at the time of the cut
  bool lost = false;
  std::uint64_t bytes = 0;
};
/// Returns the changes of all rounds that have a mark. A change is lost if `tree` does not contain
/// it.
std::vector<ChangeAge> change_ages(const UnsyncedWorkload& workload,
                                   std::span<const RestMark> marks, std::int64_t cut_at_ns,
                                   std::span<const oracle::ObservedObject> tree);

struct LossSummary {
  std::size_t lost = 0, kept = 0;
  std::uint64_t lost_bytes = 0;
  double oldest_lost_ms = 0;  ///< 0 if nothing was lost
  double newest_kept_ms = 0;  ///< 0 if nothing was kept
};
LossSummary summary_of(std::span<const ChangeAge> ages);

}  // namespace headcrash::campaign
