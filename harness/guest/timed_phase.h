#pragma once
// Runs one phase of a timed workload (harness/workload/timed/timed_workload.h), measured inside the
// guest.
//
// Each user is a thread. All threads wait at a gate; the clock starts when it opens and stops when
// the last user has returned. CPU time is that of the whole guest, including kernel threads, from
// /proc/stat: in ticks of 10 ms.

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
  std::optional<timed::PhaseError> error;  ///< the first error, which stopped the other users
};

/// Runs a phase. Fails if a thread cannot be created, or if the caches for a cold phase cannot be
/// dropped. `clock_disk`, if not empty, is read before each clock reading that measures the phase.
/// If a guest in virtual time is charged for its processor, its clock lags until it has waited for
/// a disk.
VfsResult<PhaseMeasure> run_timed_phase(const timed::Phase& phase,
                                        const timed::Arguments& arguments, std::uint64_t seed,
                                        Vfs& vfs, const std::string& clock_disk = {});

struct CpuTimes {
  std::int64_t user_ms = 0, system_ms = 0;
};
/// Returns the times of the whole machine since boot; zeros if /proc/stat cannot be read.
CpuTimes cpu_times();

}  // namespace headcrash::guest
