// JSON of agent and server into records (measures.h).
#include "harness/bench/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "plugin/model/simulation.h"
#include "plugin/model/store.h"

namespace headcrash::bench {
namespace {

using model::kNsPerMs;
using model::kSectorBytes;
using nlohmann::json;

/// Fields of /sys/block/DEVICE/stat (Linux, Documentation/block/stat.rst).
enum StatField : std::size_t {
  kReads,
  kReadMerges,
  kReadSectors,
  kReadTicks,
  kWrites,
  kWriteMerges,
  kWriteSectors,
  kWriteTicks,
  kInFlight,
  kIoTicks,
  kQueueTicks,
  kDiscards,
  kDiscardMerges,
  kDiscardSectors,
  kDiscardTicks,
  kFlushes,
  kStatFields
};

constexpr double kTickMs = 10;  // of the guest's kernel: USER_HZ is 100

Error misfit(const char* what, const std::string& problem) {
  return {what, problem, "agent, plugin and harness must be of one build"};
}

void add_latencies(const json& latency, double slower, std::vector<db::MetricRecord>& metrics) {
  if (!latency.is_object()) return;
  for (const char* key : {"mean", "p50", "p99", "max"}) {
    metrics.push_back({fmt::format("operation.{}", key), "ms",
                       latency.at(fmt::format("{}_ns", key)).get<double>() / kNsPerMs / slower});
  }
}

}  // namespace

double slowdown(const std::string& clock) {
  double slower = 1;
  if (const std::size_t colon = clock.find(':'); colon != std::string::npos)
    std::from_chars(clock.data() + colon + 1, clock.data() + clock.size(), slower);
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
    return measure;
  } catch (const json::exception& error) {
    return tl::unexpected(misfit("answer of the agent", error.what()));
  }
}

Result<db::GuestDiskRecord> disk_from_answer(const json& disk) {
  try {
    const auto count = [&](const char* key) { return disk.at(key).get<std::int64_t>(); };
    return db::GuestDiskRecord{.reads = count("reads"),
                               .writes = count("writes"),
                               .flushes = count("flushes"),
                               .bytes_read = count("read_sectors") * kSectorBytes,
                               .bytes_written = count("write_sectors") * kSectorBytes,
                               .merges = count("read_merges") + count("write_merges"),
                               .busy_ms = disk.at("busy_ms").get<double>()};
  } catch (const json::exception& error) {
    return tl::unexpected(misfit("answer of the agent", error.what()));
  }
}

Result<db::GuestDiskRecord> disk_from_text(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::int64_t> fields;
  for (std::int64_t field = 0; in >> field;) fields.push_back(field);
  if (fields.size() <= kFlushes)
    return tl::unexpected(
        misfit("the guest's disk statistics", fmt::format("only {} fields", fields.size())));
  return db::GuestDiskRecord{.reads = fields[kReads],
                             .writes = fields[kWrites],
                             .flushes = fields[kFlushes],
                             .bytes_read = fields[kReadSectors] * kSectorBytes,
                             .bytes_written = fields[kWriteSectors] * kSectorBytes,
                             .merges = fields[kReadMerges] + fields[kWriteMerges],
                             .busy_ms = static_cast<double>(fields[kIoTicks])};
}

Result<CpuTimes> cpu_from_text(const std::string& text) {
  std::istringstream in(text);
  std::string word;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0;
  if (!(in >> word >> user >> nice >> system >> idle >> wait >> irq >> softirq))
    return tl::unexpected(misfit("the guest's CPU statistics", "cannot be read"));
  return CpuTimes{.user_ms = (user + nice) * kTickMs, .system_ms = (system + irq + softirq) * kTickMs};
}

db::GuestDiskRecord difference(const db::GuestDiskRecord& after, const db::GuestDiskRecord& before) {
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
    return tl::unexpected(misfit("stats of the device", error.what()));
  }
}

std::vector<db::MetricRecord> device_metrics(const json& stats) {
  std::vector<db::MetricRecord> metrics;
  for (const json& device : stats.value("devices", json::array())) {
    for (const char* part : {"nvram", "array"}) {
      if (!device.contains(part)) continue;
      const json counters = device[part].value("counters", json::object());
      for (const auto& [key, value] : counters.items())
        metrics.push_back(
            {fmt::format("{}.{}.{}", device.value("name", ""), part, key), "", value.get<double>()});
    }
    const auto trims = device.at("counters").value("trims", 0.0);
    if (trims > 0) metrics.push_back({device.value("name", "") + ".trims", "", trims});
  }
  return metrics;
}

}  // namespace headcrash::bench
