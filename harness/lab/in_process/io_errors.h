#pragma once
// One workload on a disk on which requests fail: what a file system may do then, and what it may not.
//
//   mount, from here on faults   operation, pause ...   a minute for the daemons   unmount, and another
//   minute
//                                   |                      |                          |
//   looked at, as after a cut:   when a request fails, when a later fsync or sync succeeds, at the end, after
//   it
//
// The rules:
//   at worst a cut   whenever it is looked at, the medium shows no more damage than the scheme leaves after a
//                    power cut, and all that was persistent: what a successful fsync or sync covers, whatever
//                    failed before it. One that fails promises nothing.
//   honest unmount   a file system that says "clean" has nothing for fsck to find.
//   nothing later    after an unmount nothing is written any more.
//
// The workload ends with the first operation that fails with EIO, but for fsync and sync, which may be tried
// again: what it left in memory is not what the oracle can follow. Crash states are not explored: what a
// failed write left is on the medium, and not in a recording. Everything is drawn from the seed; controls,
// which keep no rule after a cut, keep the last two.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/os/faulty_disk.h"
#include "fs-adapters/ufs/scheme_variants.h"
#include "harness/lab/in_process/formatted_disk.h"
#include "harness/workload/operation.h"

namespace headcrash::in_process {

struct IoErrorOptions {
  std::uint64_t seed = 1;  ///< of the pauses
  std::vector<os::DiskFault> faults;
  std::int64_t pause_ns_max = 20'000'000'000;  ///< between two operations; most pauses are none
  std::uint64_t cache_bytes = 1 << 20;
};

struct IoErrorOutcome {
  std::uint64_t failed_requests = 0;
  std::uint64_t failed_syncs = 0;  ///< fsync and its kind that said EIO
  std::uint64_t images = 0;        ///< judged
  std::string ended;               ///< by which operation; empty: none failed
  bool unmounted_clean = false;
  std::vector<std::string> broken;  ///< rules, each with what was seen
};

/// One or two faults for that disk, in its superblock, maps, inodes, journal, data, or anywhere.
Result<std::vector<os::DiskFault>> draw_faults(const FormattedDisk& formatted, std::uint64_t seed);

/// Errors: a scheme that does not mount; a list that the oracle cannot follow; threads.
Result<IoErrorOutcome> run_with_io_errors(const FormattedDisk& formatted, const ufs::SchemeVariant& scheme,
                                          std::span<const workload::Operation> operations,
                                          const IoErrorOptions& options);

}  // namespace headcrash::in_process
