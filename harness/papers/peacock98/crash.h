#pragma once
// A server whose power goes in the middle of the load, and what it takes until it serves again
// (section 6.3).
//
// The paper cuts 5 minutes into the second of two runs of 10 minutes. Here the set is on the disk
// before model time begins, and the cut comes when the load has gone on for a while (parameter
// `crash-seconds`); what is busy or in a log follows from the last flusher rounds, not from the
// minutes before.
//
// UFS and bmap are checked whole, fast fsck by what is marked busy, VxFS replays its log at the
// mount.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/papers/peacock98/session.h"

namespace headcrash::experiment::peacock98 {

struct CrashOutcome {
  std::string error;                              ///< empty: all is well
  double elapsed_s = 0, cpu_s = 0, drives_s = 0;  ///< of the repair and the mount
  std::uint64_t requests = 0, findings = 0;
  std::uint64_t broken = 0;  ///< promises of replies that were not kept
  std::string first_broken;
  bool saturated = false;   ///< the load was more than the server could do,
  double served_per_s = 0;  ///< and it did so much
  double modelled_s = 0;

  Figure of(double value) const { return error.empty() ? Figure(value) : std::nullopt; }
};

/// `set_per_s`: the file system holds the set for so many; nothing: for its own load.
/// `operations_per_s` 0: mounted, and cut at once. From several threads.
CrashOutcome crash(const Context& context, Session& session, const ServerChoice& choice,
                   double operations_per_s, std::uint64_t seed,
                   std::optional<double> set_per_s = {});

struct Cut {
  ServerChoice choice;
  double load = 0;
  std::uint64_t seed = 1;
};

/// crash() of each, two at a time. Nothing: it was interrupted.
std::optional<std::vector<CrashOutcome>> crash_all(Context& context, const std::vector<Cut>& cuts);

/// The parameters that crash() looks for.
std::vector<Parameter> crash_parameters();

}  // namespace headcrash::experiment::peacock98
