#pragma once
// Converts answers of agent and server to the stored records of a phase.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugin/base/result.h"
#include "results/db/database.h"

namespace headcrash::bench {

/// Returns the slowdown of the device: 1 for "real", K for "real:K".
double slowdown(const std::string& clock);

/// Converts the agent's answer to `timed` (harness/guest/PROTOCOL.md) to the device's time.
/// Latencies of single operations become metrics "operation.p50" and so on.
Result<db::MeasureRecord> measure_from_answer(const nlohmann::json& answer, double slower,
                                              std::vector<db::MetricRecord>& metrics);

/// Counters of a guest since boot: its first disk, and its processors.
struct GuestCounters {
  db::GuestDiskRecord disk;
  double user_ms = 0, system_ms = 0;
};
/// Converts the agent's answer to `counters` or `settle`.
Result<GuestCounters> counters_from_answer(const nlohmann::json& answer);

db::GuestDiskRecord difference(const db::GuestDiskRecord& after, const db::GuestDiskRecord& before);

/// Returns the busy time of the busiest device in an answer to `stats`.
Result<double> busiest_ms(const nlohmann::json& stats);

/// Returns the counters that only some devices have: "hd0.nvram.dirty_hits",
/// "hd0.below.array.read_modify_writes".
std::vector<db::MetricRecord> device_metrics(const nlohmann::json& stats);

}  // namespace headcrash::bench
