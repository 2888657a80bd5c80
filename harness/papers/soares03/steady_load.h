#pragma once
// A load that goes on for minutes, as a server's does: users who make small files and remove them
// again, each some time after, at a rate. What a benchmark that is over in seconds cannot show:
// generations, one after the other.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/papers/claim.h"
#include "harness/papers/soares03/pentium4.h"

namespace headcrash::experiment::soares03 {

struct SteadyLoad {
  std::size_t users = 4;
  double files_per_s = 50;  ///< of all users together, at random (exponential)
  double lifetime_s = 60;   ///< of a file
  std::uint64_t file_bytes = 0;
  std::uint64_t folders = 50;
  os::TimeNs warm_ns = 70 * model::kSecondNs;  ///< before anything is counted
  os::TimeNs measured_ns = 120 * model::kSecondNs;
  /// One more user writes a block to a file of its own and fsyncs it, so often; 0: nobody does.
  os::TimeNs fsync_every_ns = 0;
};

struct SteadyOutcome {
  std::string error;  ///< empty: all is well
  /// `kib_written`: what the drive was sent, a journal's log too.
  double operations = 0, kib_written = 0, requests = 0, disk_busy_s = 0;
  std::vector<double> beside_ms,
      during_ms;  ///< responses: when no generation was on its way, and when one was
  std::vector<double> fsync_ms;
  // Of snapfs.
  double commits = 0, never_written = 0, freed_in_flight = 0, blocks_copied = 0;
  double held_back_most = 0;  ///< blocks that only committed generations have, at the worst instant
  double in_use = 0;          ///< blocks of the disk that the newest state has, at the end

  Figure of(double value) const { return error.empty() ? Figure(value) : std::nullopt; }
  Figure per_operation(double value) const {
    return error.empty() && operations > 0 ? Figure(value / operations) : std::nullopt;
  }
};

SteadyOutcome run_steady(const Setup& setup, const SteadyLoad& load, std::uint64_t seed);

/// A quantile of responses; none of none.
Figure quantile_of(const std::vector<double>& responses, double share);

}  // namespace headcrash::experiment::soares03
