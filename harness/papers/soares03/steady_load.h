#pragma once
// A load that lasts several minutes, like that of a server. Users create small files at a given
// rate, and remove each file after some time. The load shows the effect of successive generations,
// which cannot be observed in a benchmark of a few seconds.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/papers/soares03/pentium4.h"
#include "results/db/claim.h"

namespace headcrash::experiment::soares03 {

struct SteadyLoad {
  std::size_t users = 4;
  /// Total rate of all users; the times between creations are exponentially distributed.
  double files_per_s = 50;
  double lifetime_s = 60;  ///< time between creation and removal of each file
  std::uint64_t file_bytes = 0;
  std::uint64_t folders = 50;
  os::TimeNs warm_ns = 70 * model::kSecondNs;  ///< duration of the load before the measurement
  os::TimeNs measured_ns = 120 * model::kSecondNs;
  /// An additional user writes a block to a separate file and calls fsync at this interval. 0 for
  /// no such user.
  os::TimeNs fsync_every_ns = 0;
};

struct SteadyOutcome {
  std::string error;  ///< empty on success
  /// `kib_written` includes all data sent to the drive, even the journal.
  double operations = 0, kib_written = 0, requests = 0, disk_busy_s = 0;
  /// Response times of calls while no generation is being written (`beside_ms`), and while one is
  /// being written (`during_ms`).
  std::vector<double> beside_ms, during_ms;
  std::vector<double> fsync_ms;
  // The following members are set only for snapfs.
  double commits = 0, never_written = 0, freed_in_flight = 0, blocks_copied = 0;
  double held_back_most = 0;  ///< maximum number of blocks used only by committed generations
  double in_use = 0;          ///< number of blocks that the newest state uses at the end of the run

  Figure of(double value) const { return error.empty() ? Figure(value) : std::nullopt; }
  Figure per_operation(double value) const {
    return error.empty() && operations > 0 ? Figure(value / operations) : std::nullopt;
  }
};

SteadyOutcome run_steady(const Setup& setup, const SteadyLoad& load, std::uint64_t seed);

/// Returns a quantile of the response times, or nullopt if there are no response times.
Figure quantile_of(const std::vector<double>& responses, double share);

}  // namespace headcrash::experiment::soares03
