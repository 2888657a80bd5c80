#pragma once
// A synthetic benchmark for the report's tests, with known results.

#include <string>
#include <vector>

#include "results/db/database.h"

namespace headcrash::report {

struct SyntheticEntrant {
  std::string filesystem;
  /// Times to quiescence, one for each repetition. The elapsed times are nine tenths of these
  /// times.
  std::vector<double> seconds;
  double busy = 0.9;  ///< fraction of the time during which the device was busy
  /// Number of additional repetitions that failed. They still have a measurement, which the report
  /// must ignore.
  std::size_t failed = 0;
  std::string variant;
  double processor = 0.12;  ///< fraction of the time during which the guest's processor was busy
  double layout_score = 0;  ///< layout score of the files that were read; 0 if not reported
};

struct SyntheticContest {
  std::string device, workload, parameters, phase, scale;
  std::vector<SyntheticEntrant> entrants;
  std::string profile = {};  ///< profile of the device; empty if it has the same name as the device
  std::int64_t device_bytes = 2'054'864 * 512LL;
};

struct SyntheticBench {
  std::vector<SyntheticContest> contests;
  std::string name = "compare", accelerator = "kvm", qemu = "7.2";
  int late_every = 0;  ///< every n-th trial has late completions; 0 for none
  bool quiescence = true;
  bool virtual_time = false;
  double charge = 0;  ///< factor by which processor time is charged in virtual time
  bool finished = true;
  double host_busy = 0.01;  ///< fraction of the host's processors that other processes used
  int requests = 0;         ///< number of requests in a trial's I/O sample
};

/// Returns the benchmark "copy users=4" on hp-c2447 with the phase copy and five repetitions: xfs
/// takes 10 s, ext4 12 s, btrfs 20 s, and f2fs is idle.
SyntheticBench four_filesystems();
/// Returns a benchmark with several devices, workloads and numbers of users, and with every kind of
/// defect.
SyntheticBench a_real_bench();
/// Returns a benchmark that is large enough to measure how long a report takes: five file systems
/// with a total of `trials` trials.
SyntheticBench a_large_bench(int trials);

/// Records the benchmark and returns the run's number; throws on any failure.
std::int64_t fill(db::Database& database, const SyntheticBench& shape);

}  // namespace headcrash::report
