#pragma once
// From what agent and server tell to what is kept of a phase.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugin/base/result.h"
#include "results/db/database.h"

namespace headcrash::bench {

/// How much slower than life the device is: 1 for "real", K for "real:K".
double slowdown(const std::string& clock);

/// The agent's answer to `timed` (harness/guest/PROTOCOL.md), in the device's time. Latencies of
/// single operations become metrics "operation.p50" and so on.
Result<db::MeasureRecord> measure_from_answer(const nlohmann::json& answer, double slower,
                                              std::vector<db::MetricRecord>& metrics);

/// What a guest has done since its start: its first disk, and its processors.
struct GuestCounters {
  db::GuestDiskRecord disk;
  double user_ms = 0, system_ms = 0;
};
/// The agent's answer to `counters` or `settle`.
Result<GuestCounters> counters_from_answer(const nlohmann::json& answer);

db::GuestDiskRecord difference(const db::GuestDiskRecord& after, const db::GuestDiskRecord& before);

/// Busy time of the busiest device, of an answer to `stats`.
Result<double> busiest_ms(const nlohmann::json& stats);

/// Counters that only some devices have: "hd0.nvram.dirty_hits",
/// "hd0.below.array.read_modify_writes".
std::vector<db::MetricRecord> device_metrics(const nlohmann::json& stats);

}  // namespace headcrash::bench
