#pragma once
// Times the phases of a trial and takes the device's statistics at their ends.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/control_client.h"
#include "results/db/database.h"

namespace headcrash::run {

class PhaseClock {
 public:
  /// Both must outlive this.
  PhaseClock(device::ControlClient& control, std::vector<db::PhaseRecord>& phases)
      : control_(control), phases_(phases) {}

  /// Starts a phase: new statistics interval, and a mark "phase NAME" in the recording.
  Result<void> begin(const std::string& name);

  /// Ends it and appends its record.
  Result<void> end(std::optional<int> exit_code = std::nullopt);

 private:
  device::ControlClient& control_;
  std::vector<db::PhaseRecord>& phases_;
  std::string name_;
  std::chrono::steady_clock::time_point began_;
};

/// From an answer to `stats` (plugin/servers/nbd/CONTROL.md). Errors name the field that is
/// missing.
Result<db::PhaseRecord> phase_from_stats(const nlohmann::json& stats);

/// True when completions came late by more than 5 % of the mean modelled response time, over all
/// phases that were served in real time.
bool came_late(const std::vector<db::PhaseRecord>& phases);

}  // namespace headcrash::run
