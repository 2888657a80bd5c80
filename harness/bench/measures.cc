// Converts the agent's and the server's JSON to records (measures.h).
#include "harness/bench/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "plugin/model/core/simulation.h"
#include "plugin/model/core/store.h"

namespace headcrash::bench {
namespace {

using model::kNsPerMs;
using model::kSectorBytes;
using nlohmann::json;

Error misfit(const char* what, const std::string& problem) {
  return {what, problem, "use an agent, a plugin and a harness from the same build"};
}

void add_latencies(const json& latency, double slower, std::vector<db::MetricRecord>& metrics) {
  if (!latency.is_object()) return;
  for (const char* key : {"mean", "p50", "p99", "max"}) {
    metrics.push_back({fmt::format("operation.{}", key), "ms",
                       latency.at(fmt::format("{}_ns", key)).get<double>() / kNsPerMs / slower});
  }
}

/// Adds the layout score of Smith and Seltzer 1997: the fraction of blocks that directly follow the
/// previous block of their file. The first block of each file is excluded.
void add_layout(const json& layout, std::vector<db::MetricRecord>& metrics) {
  if (!layout.is_object()) return;
  const auto files = layout.at("files").get<double>(), blocks = layout.at("blocks").get<double>(),
             pieces = layout.at("pieces").get<double>();
  metrics.push_back({"layout.files", "", files});
  metrics.push_back({"layout.pieces", "", pieces});
  if (blocks > files) metrics.push_back({"layout.score", "", (blocks - pieces) / (blocks - files)});
}

}  // namespace

double slowdown(const std::string& clock) {
  double slower = 1;
  constexpr std::string_view kSlowed = "real:";
  if (clock.starts_with(kSlowed))
    std::from_chars(clock.data() + kSlowed.size(), clock.data() + clock.size(), slower);
  return slower > 0 ? slower : 1;
}

Result<db::MeasureRecord> measure_from_answer(const json& answer, double slower,
                                              std::vector<db::MetricRecord>& metrics) {
  try {
    db::MeasureRecord measure;
    measure.elapsed_ms = answer.at("elapsed_ns").get<double>() / kNsPerMs / slower;
    measure.user_ms = answer.at("user_ms").get<double>();
    measure.system_ms = answer.at("system_ms").get<double>();
    measure.operation = answer.at("operation").get<std::string>();
    measure.operations = answer.at("operations").get<std::int64_t>();
    measure.app_bytes_read = answer.at("bytes_read").get<std::int64_t>();
    measure.app_bytes_written = answer.at("bytes_written").get<std::int64_t>();
    if (answer.contains("latency")) add_latencies(answer["latency"], slower, metrics);
    if (answer.contains("layout")) add_layout(answer["layout"], metrics);
    return measure;
  } catch (const json::exception& error) {
    return tl::unexpected(misfit("the agent's reply", error.what()));
  }
}

Result<GuestCounters> counters_from_answer(const json& answer) {
  try {
    const json& disk = answer.at("disk");
    const json& cpu = answer.at("cpu");
    const auto count = [&](const char* key) { return disk.at(key).get<std::int64_t>(); };
    return GuestCounters{.disk = {.reads = count("reads"),
                                  .writes = count("writes"),
                                  .flushes = count("flushes"),
                                  .bytes_read = count("read_sectors") * kSectorBytes,
                                  .bytes_written = count("write_sectors") * kSectorBytes,
                                  .merges = count("read_merges") + count("write_merges"),
                                  .busy_ms = disk.at("busy_ms").get<double>()},
                         .user_ms = cpu.at("user_ms").get<double>(),
                         .system_ms = cpu.at("system_ms").get<double>()};
  } catch (const json::exception& error) {
    return tl::unexpected(misfit("the agent's reply", error.what()));
  }
}

db::GuestDiskRecord difference(const db::GuestDiskRecord& after,
                               const db::GuestDiskRecord& before) {
  return {.reads = after.reads - before.reads,
          .writes = after.writes - before.writes,
          .flushes = after.flushes - before.flushes,
          .bytes_read = after.bytes_read - before.bytes_read,
          .bytes_written = after.bytes_written - before.bytes_written,
          .merges = after.merges - before.merges,
          .busy_ms = after.busy_ms - before.busy_ms};
}

Result<double> busiest_ms(const json& stats) {
  try {
    double most_ns = 0;
    for (const json& device : stats.at("devices"))
      most_ns = std::max(most_ns, device.at("counters").at("busy_ns").get<double>());
    return most_ns / kNsPerMs;
  } catch (const json::exception& error) {
    return tl::unexpected(misfit("statistics of the device", error.what()));
  }
}

std::vector<db::MetricRecord> device_metrics(const json& stats) {
  std::vector<db::MetricRecord> metrics;
  for (const json& device : stats.value("devices", json::array())) {
    for (const char* part : {"nvram", "array"}) {
      if (!device.contains(part)) continue;
      const json counters = device[part].value("counters", json::object());
      for (const auto& [key, value] : counters.items())
        metrics.push_back({fmt::format("{}.{}.{}", device.value("name", ""), part, key), "",
                           value.get<double>()});
    }
    const auto trims = device.at("counters").value("trims", 0.0);
    if (trims > 0) metrics.push_back({device.value("name", "") + ".trims", "", trims});
  }
  return metrics;
}

}  // namespace headcrash::bench
