#pragma once
// Runs one phase of a timed workload (harness/workload/timed/timed_workload.h) and measures it
// inside the guest.
//
// Each user is a thread. All threads wait at a gate. The clock starts when the gate opens, and
// stops when the last user has returned. The CPU time is that of the whole guest, including kernel
// threads. It comes from /proc/stat, in ticks of 10 ms.

#include <cstdint>
#include <optional>
#include <string>

#include "fs-adapters/vfs.h"
#include "harness/workload/timed/timed_workload.h"

namespace headcrash::guest {

struct PhaseMeasure {
  std::int64_t elapsed_ns = 0;
  std::int64_t user_ms = 0, system_ms = 0;
  timed::Tally tally;                      ///< sum of the tallies of all users
  std::optional<timed::PhaseError> error;  ///< the first error; it also stopped the other users
};

/// Runs a phase. Fails if a thread cannot be created, or if the phase requires cold caches and they
/// cannot be dropped.
///
/// If the guest's processor time is charged in virtual time, the guest's clock lags until the guest
/// waits for a disk. If `clock_disk` is not empty, the function therefore reads from that disk
/// before the phase, and again before it takes the end time.
VfsResult<PhaseMeasure> run_timed_phase(const timed::Phase& phase,
                                        const timed::Arguments& arguments, std::uint64_t seed,
                                        Vfs& vfs, const std::string& clock_disk = {});

struct CpuTimes {
  std::int64_t user_ms = 0, system_ms = 0;
};
/// Returns the processor times of the whole machine since boot. Returns zeros if /proc/stat cannot
/// be read.
CpuTimes cpu_times();

}  // namespace headcrash::guest
