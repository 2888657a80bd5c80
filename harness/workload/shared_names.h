#pragma once
// Numbered lists in which users change the same names concurrently. The lists violate the rule of
// operation.h that each name has one owner. The results of the calls therefore cannot be predicted
// and must be observed during a run (harness/oracle/serial_order.h).
//
//   set-up and sync | join | at most 12 operations of two or three users | join | sync
//
// Many calls fail, because another user has removed or created the name. Six kinds of lists
// alternate:
//
//   files in one directory
//   two directories that users move and remove, and the files in these directories
//   names that may be files or directories
//   a directory that is removed while others create, link or move names into it
//   files; half of the operations are sync or fsync, so that users wait for commits
//   files that are evicted and read again

#include <cstdint>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

inline constexpr std::size_t kSharedCallsMost = 12;
inline constexpr std::size_t kShortSharedLists = 22;

/// Returns the list with this number. The same number always gives the same list.
std::vector<Operation> shared_names(std::uint64_t number);

/// Returns a list with few operations by two to four users. All of its schedules can be enumerated,
/// and each list targets one race. `number` is less than kShortSharedLists.
std::vector<Operation> short_shared_names(std::size_t number);

}  // namespace headcrash::workload
