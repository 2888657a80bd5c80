#pragma once
// Synthetic benchmark for the tests of the report: known numbers from a known shape.

#include <string>
#include <vector>

#include "results/db/database.h"

namespace headcrash::report {

struct SyntheticEntrant {
  std::string filesystem;
  std::vector<double>
      seconds;  ///< time to quiescence, one value per repetition; elapsed is nine tenths of it
  double busy = 0.9;  ///< share of the time in which the device was busy
  /// number of additional repetitions that failed after recording a number
  std::size_t failed = 0;
  std::string variant;
  double processor = 0.12;  ///< share of the time in which the guest's processor was busy
  double layout_score = 0;  ///< of the files that were read; 0: not reported
};

struct SyntheticContest {
  std::string device, workload, parameters, phase, scale;
  std::vector<SyntheticEntrant> entrants;
  std::string profile = {};  ///< the device's profile; empty: has the device's name
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
  double host_busy = 0.01;  ///< share of the host's processors used by others
  int requests = 0;         ///< in the I/O sample of a trial
};

/// Returns "copy users=4" on hp-c2447, phase copy: xfs 10 s, ext4 12 s, btrfs 20 s, f2fs idle; five
/// repetitions each.
SyntheticBench four_filesystems();
/// Returns several devices, workloads and numbers of users, with every possible defect.
SyntheticBench a_real_bench();
/// Returns `trials` of five file systems, which serve to time a report.
SyntheticBench a_large_bench(int trials);

/// Records the benchmark and returns the number of the run; throws on any failure.
std::int64_t fill(db::Database& database, const SyntheticBench& shape);

}  // namespace headcrash::report
