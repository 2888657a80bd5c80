#pragma once
// A server whose power is cut under load, and the time until it serves requests again (section
// 6.3).
//
// The paper cuts the power 5 minutes into the second of two runs of 10 minutes. Here the file set
// is on the disk before model time begins, and the power is cut after a period of load (parameter
// `crash-seconds`). This period suffices, because busy marks and the contents of the log depend
// only on the last few rounds of the flusher.
//
// UFS and bmap are checked completely, fast fsck checks only the parts with busy marks, and VxFS
// replays its log during the mount.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/papers/peacock98/session.h"

namespace headcrash::experiment::peacock98 {

struct CrashOutcome {
  std::string error;                              ///< empty on success
  double elapsed_s = 0, cpu_s = 0, drives_s = 0;  ///< totals for repair and mount
  std::uint64_t requests = 0, findings = 0;
  std::uint64_t broken = 0;  ///< promises made in replies and broken after the recovery
  std::string first_broken;
  bool saturated = false;   ///< the load exceeded the server's capacity
  double served_per_s = 0;  ///< rate of replies before the power cut
  double modelled_s = 0;

  Figure of(double value) const { return error.empty() ? Figure(value) : std::nullopt; }
};

/// Runs a server, cuts its power and recovers it. `set_per_s` is the rate for which the file set is
/// sized; nullopt selects `operations_per_s`. If `operations_per_s` is 0, the power is cut directly
/// after the mount. Thread-safe.
CrashOutcome crash(const Context& context, Session& session, const ServerChoice& choice,
                   double operations_per_s, std::uint64_t seed,
                   std::optional<double> set_per_s = {});

struct Cut {
  ServerChoice choice;
  double load = 0;
  std::uint64_t seed = 1;
};

/// Calls crash() for each element. Two calls run at a time. Returns nullopt if interrupted.
std::optional<std::vector<CrashOutcome>> crash_all(Context& context, const std::vector<Cut>& cuts);

/// Returns the parameters that crash() reads.
std::vector<Parameter> crash_parameters();

}  // namespace headcrash::experiment::peacock98
