#pragma once
// A load of several minutes, like a server's: users create small files at a rate and remove each
// after a while. It shows the effect of successive generations, which a benchmark of a few seconds
// cannot.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/papers/claim.h"
#include "harness/papers/soares03/pentium4.h"

namespace headcrash::experiment::soares03 {

struct SteadyLoad {
  std::size_t users = 4;
  double files_per_s = 50;  ///< of all users together, random (exponential)
  double lifetime_s = 60;   ///< of a file
  std::uint64_t file_bytes = 0;
  std::uint64_t folders = 50;
  os::TimeNs warm_ns = 70 * model::kSecondNs;  ///< before the measurement
  os::TimeNs measured_ns = 120 * model::kSecondNs;
  /// Interval at which an additional user writes a block to a separate file and syncs it; 0 for no
  /// such user.
  os::TimeNs fsync_every_ns = 0;
};

struct SteadyOutcome {
  std::string error;  ///< empty on success
  /// `kib_written`: sent to the drive, including a journal's log.
  double operations = 0, kib_written = 0, requests = 0, disk_busy_s = 0;
  std::vector<double> beside_ms,
      during_ms;  ///< responses outside of, and during, the write of a generation
  std::vector<double> fsync_ms;
  // Only for snapfs.
  double commits = 0, never_written = 0, freed_in_flight = 0, blocks_copied = 0;
  double held_back_most = 0;  ///< maximum number of blocks that only committed generations use
  double in_use = 0;          ///< number of blocks that the newest state uses at the end

  Figure of(double value) const { return error.empty() ? Figure(value) : std::nullopt; }
  Figure per_operation(double value) const {
    return error.empty() && operations > 0 ? Figure(value / operations) : std::nullopt;
  }
};

SteadyOutcome run_steady(const Setup& setup, const SteadyLoad& load, std::uint64_t seed);

/// Returns a quantile of the responses; nullopt without responses.
Figure quantile_of(const std::vector<double>& responses, double share);

}  // namespace headcrash::experiment::soares03
