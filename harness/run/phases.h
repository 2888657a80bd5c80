#pragma once
// Measures the phases of a trial. At the end of each phase, reads the device's statistics.

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
  /// `control` and `phases` must outlive this object.
  PhaseClock(device::ControlClient& control, std::vector<db::PhaseRecord>& phases)
      : control_(control), phases_(phases) {}

  /// Starts a phase: resets the device's statistics and adds the mark "phase NAME" to the
  /// recording.
  Result<void> begin(const std::string& name);

  /// Ends the phase and appends its record to `phases`.
  Result<void> end(std::optional<int> exit_code = std::nullopt);

 private:
  device::ControlClient& control_;
  std::vector<db::PhaseRecord>& phases_;
  std::string name_;
  std::chrono::steady_clock::time_point began_;
};

/// Converts the answer to `stats` (plugin/servers/nbd/CONTROL.md) to a record. Errors name the
/// missing field.
Result<db::PhaseRecord> phase_from_stats(const nlohmann::json& stats);

/// Returns true if completions in the real-time phases were late, on average, by more than 5 % of
/// the mean modelled response time.
bool came_late(const std::vector<db::PhaseRecord>& phases);

}  // namespace headcrash::run
