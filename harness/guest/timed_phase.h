#pragma once
// Runs one phase of a timed workload (harness/workload/timed/timed_workload.h), measured inside the
// guest.
//
// Each user is a thread. All threads wait at a gate; the clock starts when it opens and stops when
// the last user has returned. CPU time includes the whole guest with its kernel threads. It comes
// from /proc/stat in ticks of 10 ms.

#include <cstdint>
#include <optional>
#include <string>

#include "fs-adapters/vfs.h"
#include "harness/workload/timed/timed_workload.h"

namespace headcrash::guest {

struct PhaseMeasure {
  std::int64_t elapsed_ns = 0;
  std::int64_t user_ms = 0, system_ms = 0;
  timed::Tally tally;                      ///< sum over all users
  std::optional<timed::PhaseError> error;  ///< the first error, which stopped the other users
};

/// Runs a phase. Fails if a thread cannot be created, or if the caches cannot be dropped for a cold
/// phase. If `clock_disk` is not empty, that disk is read before the phase and before its end time
/// is taken: in virtual time, the clock of a guest whose processor time is charged lags until the
/// guest waits for a disk.
VfsResult<PhaseMeasure> run_timed_phase(const timed::Phase& phase,
                                        const timed::Arguments& arguments, std::uint64_t seed,
                                        Vfs& vfs, const std::string& clock_disk = {});

struct CpuTimes {
  std::int64_t user_ms = 0, system_ms = 0;
};
/// Returns the whole machine's processor times since boot, or zeros if /proc/stat cannot be read.
CpuTimes cpu_times();

}  // namespace headcrash::guest
