#pragma once
// A made-up benchmark for the tests of the report: known numbers from a known shape.

#include <string>
#include <vector>

#include "results/db/database.h"

namespace headcrash::report {

struct SyntheticEntrant {
  std::string filesystem;
  std::vector<double>
      seconds;             ///< time to quiescence, one a repetition; elapsed is nine tenths of it
  double busy = 0.9;       ///< share of the time that the device was
  std::size_t failed = 0;  ///< further repetitions that failed, after having left a number behind
  std::string variant;
  double processor = 0.12;  ///< share of the time that the guest's was at work
  double layout_score = 0;  ///< of the files that were read; 0: not told
};

struct SyntheticContest {
  std::string device, workload, parameters, phase, scale;
  std::vector<SyntheticEntrant> entrants;
  std::string profile = {};  ///< the device's; empty: as the device is called
  std::int64_t device_bytes = 2'054'864 * 512LL;
};

struct SyntheticBench {
  std::vector<SyntheticContest> contests;
  std::string name = "compare", accelerator = "kvm", qemu = "7.2";
  int late_every = 0;  ///< every n-th trial had late completions; 0 for none
  bool quiescence = true;
  bool virtual_time = false;
  double charge = 0;  ///< in virtual time
  bool finished = true;
  double host_busy = 0.01;  ///< share of the host's processors that others used
  int requests = 0;         ///< of the I/O sample of a trial
};

/// "copy users=4" on hp-c2447, phase copy: xfs 10 s, ext4 12 s, btrfs 20 s, f2fs idle; five
/// repetitions each.
SyntheticBench four_filesystems();
/// Several devices, workloads and numbers of users, with everything that can be wrong somewhere.
SyntheticBench a_real_bench();
/// `trials` of five file systems, for a look at the time that a report takes.
SyntheticBench a_large_bench(int trials);

/// The number of the run; throws on any failure.
std::int64_t fill(db::Database& database, const SyntheticBench& shape);

}  // namespace headcrash::report
