// Measures the duration of phases and reads their device statistics (phases.h).
#include "harness/run/phases.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plugin/model/core/simulation.h"
#include "plugin/model/core/store.h"

namespace headcrash::run {
namespace {

using nlohmann::json;

constexpr double kNsPerUs = 1e3;
using model::kNsPerMs;
using model::kSectorBytes;
constexpr double kLateShare = 0.05;

std::optional<db::LatencySummary> summary(const json& latency) {
  if (latency.at("count").get<std::int64_t>() == 0) return std::nullopt;
  const auto us = [&](const char* key) { return latency.at(key).get<double>() / kNsPerUs; };
  return db::LatencySummary{.mean_us = us("mean_ns"),
                            .p50_us = us("p50_ns"),
                            .p99_us = us("p99_ns"),
                            .max_us = us("max_ns")};
}

std::vector<db::LatencyBucket> buckets(const json& latency) {
  std::vector<db::LatencyBucket> list;
  for (const json& bucket : latency.at("buckets")) {
    list.push_back({bucket.at(0).get<double>() / kNsPerUs, bucket.at(1).get<std::int64_t>()});
  }
  return list;
}

std::vector<db::LoadRecord> load_of(const json& load) {
  std::vector<db::LoadRecord> list;
  const double width_ns = load.at("bin_ns").get<double>();
  for (const json& bin : load.at("bins")) {
    const auto begin_ms = static_cast<double>(list.size()) * width_ns / kNsPerMs;
    list.push_back({.begin_ms = begin_ms,
                    .end_ms = begin_ms + width_ns / kNsPerMs,
                    .bytes_read = bin.at(0).get<std::int64_t>() * kSectorBytes,
                    .bytes_written = bin.at(1).get<std::int64_t>() * kSectorBytes,
                    .flushes = bin.at(2).get<std::int64_t>(),
                    .inside = bin.at(3).get<double>() / width_ns});
  }
  return list;
}

/// Reads one set of a phase's counters. There is one set for the machine, and one for each member
/// of an array.
template <typename Record>
void read_counters(const json& counters, Record& into) {
  const auto count = [&](const char* key) { return counters.at(key).get<std::int64_t>(); };
  into.reads = count("reads");
  into.writes = count("writes");
  into.flushes = count("flushes");
  into.bytes_read = count("sectors_read") * kSectorBytes;
  into.bytes_written = count("sectors_written") * kSectorBytes;
  into.media_bytes_written = count("media_sectors_written") * kSectorBytes;
  into.cache_hits = count("cache_hits");
  into.seeks = count("seeks");
  into.busy_ms = counters.at("busy_ns").get<double>() / kNsPerMs;
}

db::DevicePhaseRecord read_device(const json& device) {
  db::DevicePhaseRecord record{.name = device.at("name").get<std::string>()};
  read_counters(device.at("counters"), record);
  return record;
}

db::PhaseRecord read_stats(const json& stats) {
  const json& device = stats.at("devices").at(0);
  db::PhaseRecord phase;
  phase.clock = stats.at("clock").get<std::string>();
  phase.model_ms = stats.at("interval_model_ns").get<double>() / kNsPerMs;
  read_counters(device.at("counters"), phase);
  phase.media_writes = device.at("counters").at("media_writes").get<std::int64_t>();
  const json& latency = device.at("latency");
  phase.target = summary(latency.at("target"));
  phase.achieved = summary(latency.at("achieved"));
  phase.lateness = summary(latency.at("lateness"));
  phase.target_buckets = buckets(latency.at("target"));
  phase.achieved_buckets = buckets(latency.at("achieved"));
  phase.flush_buckets = buckets(latency.at("flush"));
  phase.load = load_of(device.at("load"));
  for (std::size_t i = 1; i < stats.at("devices").size(); ++i)
    phase.devices.push_back(read_device(stats.at("devices").at(i)));
  return phase;
}

}  // namespace

Result<db::PhaseRecord> phase_from_stats(const json& stats) {
  try {
    return read_stats(stats);
  } catch (const json::exception& error) {
    return fail("statistics of the device", error.what(),
                "use a plugin and a harness from the same build");
  }
}

Result<void> PhaseClock::begin(const std::string& name) {
  TRY(control_.request({{"stats", "take"}}));
  TRY(control_.request({{"mark", "phase " + name}}));
  name_ = name;
  began_ = std::chrono::steady_clock::now();
  return {};
}

Result<void> PhaseClock::end(std::optional<int> exit_code) {
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - began_;
  TRY(const auto stats, control_.request({{"stats", "take"}}));
  TRY(auto phase, phase_from_stats(stats));
  phase.name = name_;
  phase.wall_ms = wall.count();
  phase.exit_code = exit_code;
  phases_.push_back(std::move(phase));
  return {};
}

bool came_late(const std::vector<db::PhaseRecord>& phases) {
  double lateness_us = 0, target_us = 0;
  for (const db::PhaseRecord& phase : phases) {
    if (!phase.lateness || !phase.target) continue;
    const auto requests = static_cast<double>(phase.reads + phase.writes);
    lateness_us += phase.lateness->mean_us * requests;
    target_us += phase.target->mean_us * requests;
  }
  return lateness_us > kLateShare * target_us;
}

}  // namespace headcrash::run
