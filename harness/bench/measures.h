#pragma once
// From what agent and server tell to what is kept of a phase.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugin/model/result.h"
#include "results/db/database.h"

namespace headcrash::bench {

/// How much slower than life the device is: 1 for "real", K for "real:K".
double slowdown(const std::string& clock);

/// The agent's answer to `timed` (harness/guest/PROTOCOL.md), in the device's time. Latencies of single
/// operations become metrics "operation.p50" and so on.
Result<db::MeasureRecord> measure_from_answer(const nlohmann::json& answer, double slower,
                                              std::vector<db::MetricRecord>& metrics);

/// Counters of a disk since the guest's start.
/// `disk` of the answer to `settle`.
Result<db::GuestDiskRecord> disk_from_answer(const nlohmann::json& disk);
/// The text of /sys/block/DEVICE/stat.
Result<db::GuestDiskRecord> disk_from_text(const std::string& text);
/// The CPU time of the whole guest since its start, from the text of /proc/stat.
struct CpuTimes {
  double user_ms = 0, system_ms = 0;
};
Result<CpuTimes> cpu_from_text(const std::string& text);

db::GuestDiskRecord difference(const db::GuestDiskRecord& after, const db::GuestDiskRecord& before);

/// Busy time of the busiest device, of an answer to `stats`.
Result<double> busiest_ms(const nlohmann::json& stats);

/// Counters that only some devices have: "hd0.nvram.dirty_hits", "hd0.below.array.read_modify_writes".
std::vector<db::MetricRecord> device_metrics(const nlohmann::json& stats);

}  // namespace headcrash::bench
