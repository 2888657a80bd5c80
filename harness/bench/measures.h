#pragma once
// Converts the agent's and the server's answers to the stored records of a phase.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugin/base/result.h"
#include "results/db/database.h"

namespace headcrash::bench {

/// Returns the factor by which the device is slowed down: 1 for "real", K for "real:K".
double slowdown(const std::string& clock);

/// Converts the agent's answer to `timed` (harness/guest/PROTOCOL.md). Divides all times by
/// `slower`, the factor by which the device was slowed down. Converts the latencies of operations
/// to metrics such as "operation.p50".
Result<db::MeasureRecord> measure_from_answer(const nlohmann::json& answer, double slower,
                                              std::vector<db::MetricRecord>& metrics);

/// A guest's counters since boot, for its first disk and its processors.
struct GuestCounters {
  db::GuestDiskRecord disk;
  double user_ms = 0, system_ms = 0;
};
/// Converts the agent's answer to `counters` or `settle`.
Result<GuestCounters> counters_from_answer(const nlohmann::json& answer);

db::GuestDiskRecord difference(const db::GuestDiskRecord& after, const db::GuestDiskRecord& before);

/// Returns the busiest device's busy time, from an answer to `stats`.
Result<double> busiest_ms(const nlohmann::json& stats);

/// Returns the counters that exist only for some devices, such as "hd0.nvram.dirty_hits" or
/// "hd0.below.array.read_modify_writes".
std::vector<db::MetricRecord> device_metrics(const nlohmann::json& stats);

}  // namespace headcrash::bench
