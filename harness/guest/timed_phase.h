#pragma once
// One phase of a timed workload (harness/workload/timed/timed_workload.h), measured inside the
// guest.
//
// Each user is a thread. All wait at a gate; the clock starts when it opens and ends when the last
// user has returned. CPU time is the whole guest's, kernel threads included, as /proc/stat counts
// it: in ticks of 10 ms.

#include <cstdint>
#include <optional>
#include <string>

#include "fs-adapters/vfs.h"
#include "harness/workload/timed/timed_workload.h"

namespace headcrash::guest {

struct PhaseMeasure {
  std::int64_t elapsed_ns = 0;
  std::int64_t user_ms = 0, system_ms = 0;
  timed::Tally tally;                      ///< of all users
  std::optional<timed::PhaseError> error;  ///< the first one; the others were stopped by it
};

/// Errors: a thread that cannot be made, a cold phase whose caches cannot be dropped.
/// `clock_disk`, if it is not empty, is read before each look at the clock that says how long the
/// phase took: where a guest in virtual time is charged for its processor, its clock is behind
/// until it has waited for a disk.
VfsResult<PhaseMeasure> run_timed_phase(const timed::Phase& phase,
                                        const timed::Arguments& arguments, std::uint64_t seed,
                                        Vfs& vfs, const std::string& clock_disk = {});

struct CpuTimes {
  std::int64_t user_ms = 0, system_ms = 0;
};
/// Of the whole machine since boot; zeros where /proc/stat cannot be read.
CpuTimes cpu_times();

}  // namespace headcrash::guest
