// Creates a benchmark's trials in the form in which `headcrash bench` records them
// (synthetic_bench.h).
#include "results/report/bench/testing/synthetic_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "results/db/statement.h"
#include "results/report/bench/bench_facts.h"
#include "results/report/campaign/testing/synthetic_run.h"

namespace headcrash::report {
namespace {

constexpr std::int64_t kFiles = 1000;
constexpr std::int64_t kAppBytes = kFiles * 16384;

/// Returns reproducible noise between -1 and 1.
double wobble(std::size_t n) {
  return std::sin(static_cast<double>(n) * 12.9898);
}

db::PhaseRecord phase_of(const SyntheticBench& shape, const SyntheticContest& contest,
                         const SyntheticEntrant& entrant, double seconds) {
  const double amplification = 1.1 + 0.1 * static_cast<double>(entrant.filesystem.size());
  const double ms = seconds * 1e3;
  db::PhaseRecord phase;
  phase.name = "workload";
  phase.clock = shape.virtual_time ? "virtual" : "real";
  phase.wall_ms = phase.model_ms = ms * 1.05;
  phase.reads = 120;
  phase.writes = 1500;
  phase.flushes = 25;
  phase.bytes_read = 120 * 4096;
  phase.bytes_written = static_cast<std::int64_t>(static_cast<double>(kAppBytes) * amplification);
  phase.media_writes = 900;
  phase.media_bytes_written = phase.bytes_written;
  phase.cache_hits = 70;
  phase.seeks = 800;
  phase.busy_ms = ms * entrant.busy;
  const double mean_us = std::max(phase.busy_ms, 1.0) * 1000 / 1645;
  phase.target = db::LatencySummary{mean_us, mean_us * 0.8, mean_us * 4, mean_us * 9};
  if (!shape.virtual_time) {
    phase.achieved =
        db::LatencySummary{mean_us * 1.01, mean_us * 0.81, mean_us * 4.1, mean_us * 9.4};
    phase.lateness = db::LatencySummary{mean_us * 0.01, 60, 400, 900};
  }
  for (int i = 0; i < 24; ++i) {
    const double upper = mean_us * std::pow(1.35, i - 12);
    phase.target_buckets.push_back(
        {upper, 1 + static_cast<std::int64_t>(300 * std::exp(-std::pow((i - 13) / 4.0, 2)))});
  }
  // The load is four times as high in the first half. Each interval has flushes.
  constexpr int kStretches = 8;
  for (int i = 0; i < kStretches && phase.model_ms > 0; ++i) {
    const double width_ms = phase.model_ms / kStretches, share = i < 4 ? 0.2 : 0.05;
    phase.load.push_back({.begin_ms = i * width_ms,
                          .end_ms = (i + 1) * width_ms,
                          .bytes_written = static_cast<std::int64_t>(
                              static_cast<double>(phase.bytes_written) * share),
                          .flushes = 3,
                          .inside = 1 + share * 10});
    phase.flush_buckets.push_back({mean_us * (i + 2), 3});
  }
  db::MeasureRecord measure;
  measure.label = contest.phase;
  measure.elapsed_ms = ms * 0.9;
  if (shape.quiescence) measure.quiescent_ms = ms;
  measure.user_ms = ms * entrant.processor / 4;
  measure.system_ms = ms * entrant.processor * 3 / 4;
  measure.device_busy_ms = measure.elapsed_ms * entrant.busy;
  measure.operation = "files";
  measure.operations = kFiles;
  measure.app_bytes_read = 4096;
  measure.app_bytes_written = kAppBytes;
  measure.guest = {
      120, 1500, 25, phase.bytes_read, phase.bytes_written, 2400, phase.busy_ms * 1.02};
  if (contest.device.find("raid") != std::string::npos) {
    phase.devices = {{"hd0.0", 60, 2000, 0, 60 * 4096, phase.bytes_written, phase.bytes_written, 10,
                      400, phase.busy_ms * 0.7},
                     {"hd0.1", 60, 2000, 0, 60 * 4096, phase.bytes_written, phase.bytes_written, 12,
                      420, phase.busy_ms * 0.7}};
    phase.metrics = {{"hd0.array.read_modify_writes", "", 410},
                     {"hd0.nvram.dirty_hits", "", 77},
                     {"hd0.nvram.read_hits", "", 3}};
  }
  phase.metrics.push_back({"operation.p99", "ms", seconds * 11});
  if (entrant.layout_score > 0) phase.metrics.push_back({"layout.score", "", entrant.layout_score});
  phase.measure = measure;
  return phase;
}

db::TrialRecord trial_of(const SyntheticBench& shape, const SyntheticContest& contest,
                         const SyntheticEntrant& entrant, std::size_t repetition,
                         std::size_t number) {
  const bool failed = repetition >= entrant.seconds.size();
  db::TrialRecord t;
  t.key = fmt::format("{}/{}/{}{}/{}/{}/{}", contest.device, contest.workload, contest.parameters,
                      contest.phase, entrant.filesystem, entrant.variant, repetition);
  t.filesystem = entrant.filesystem;
  t.variant = entrant.variant;
  t.device = contest.device;
  t.workload = contest.workload;
  t.parameters = contest.parameters;
  t.scale = contest.scale.empty() ? "exact" : contest.scale;
  t.repetition = static_cast<std::int64_t>(repetition);
  t.seed = 7;
  t.clock = shape.charge > 0     ? fmt::format("{}{}", kChargedPrefix, shape.charge)
            : shape.virtual_time ? "virtual"
                                 : "real";
  t.operations = kFiles;
  t.verdict = failed ? "failed" : "measured";
  t.expected = "any";
  t.summary = failed ? "tree0/d3/f17: no space left on device" : "";
  t.started_at = "2026-03-14T09:26:53Z";
  t.wall_ms = 9000;
  t.late = shape.late_every > 0 && number % static_cast<std::size_t>(shape.late_every) == 0;
  t.host_busy = shape.host_busy;
  t.devices = {{"hd0", contest.profile.empty() ? contest.device : contest.profile,
                contest.device_bytes / 512, std::nullopt}};
  if (contest.device.find("raid") != std::string::npos) {
    t.devices.push_back({"hd0.0", "sun-4.2g", 1'027'432, 0});
    t.devices.push_back({"hd0.1", "sun-4.2g", 1'027'432, 0});
  }
  // A failed trial may have recorded a measurement, which must not count.
  t.phases = {phase_of(shape, contest, entrant, failed ? 0.001 : entrant.seconds[repetition])};
  for (int i = 0; i < shape.requests; ++i) {
    const double share = static_cast<double>(i) / shape.requests;
    const auto scattered =
        static_cast<std::int64_t>((wobble(static_cast<std::size_t>(i) * 7 + number) + 1) * 9e5);
    const bool read = i % 11 == 0;
    t.io.push_back({share * 9000,
                    read ? scattered : static_cast<std::int64_t>(share * 1.2e6) + i % 97, 8,
                    read         ? "read"
                    : i % 3 == 0 ? "media"
                                 : "write",
                    900.0});
  }
  return t;
}

std::vector<double> around(double seconds, std::size_t repetitions, double spread,
                           std::size_t start) {
  std::vector<double> values;
  for (std::size_t i = 0; i < repetitions; ++i)
    values.push_back(seconds * (1 + spread * wobble(start + i)));
  return values;
}

}  // namespace

SyntheticBench four_filesystems() {
  SyntheticBench shape;
  shape.contests = {{"hp-c2447",
                     "copy",
                     "users=4",
                     "copy",
                     "",
                     {{"ext4", {12.0, 12.1, 11.9, 12.06, 11.94}},
                      {"xfs", {10.0, 10.1, 9.9, 10.05, 9.95}},
                      {"btrfs", {20.0, 20.2, 19.8, 20.1, 19.9}},
                      {"f2fs", {8.0, 8.0, 8.0, 8.0, 8.0}, 0.3, 0, "", 0.6}}}};
  return shape;
}

SyntheticBench a_real_bench() {
  SyntheticBench shape;
  shape.name = "five-filesystems";
  shape.accelerator = "tcg";
  shape.requests = 400;
  shape.late_every = 37;
  std::size_t n = 0;
  for (const char* device : {"hp-c2447", "netra-raid5-presto", "sata-ssd-2014"}) {
    const double speed = n == 0 ? 1 : device[0] == 'n' ? 0.3 : 0.05;
    const auto add = [&](const char* workload, const std::string& parameters, const char* phase,
                         double base, double users) {
      SyntheticContest contest{device, workload, parameters, phase, "scaled", {}};
      const std::vector<std::pair<const char*, double>> factors = {
          {"btrfs", 1.7}, {"ext4", 1.0}, {"f2fs", 0.62}, {"nilfs2", 0.66}, {"xfs", 1.01}};
      for (const auto& [name, factor] : factors) {
        const double spread = std::string(name) == "btrfs" ? 0.08 : 0.012;
        SyntheticEntrant entrant{name, around(base * speed * factor * users, 5, spread, n += 5)};
        if (device[0] == 's' && factor < 0.7)
          entrant.busy = 0.31, entrant.processor = factor < 0.65 ? 0.6 : 0.1;
        contest.entrants.push_back(entrant);
      }
      shape.contests.push_back(contest);
    };
    for (const int users : {1, 2, 4, 8})
      add("copy", fmt::format("files=107 users={}", users), "copy", 12, 0.4 + 0.6 * users);
    add("remove", "files=107 users=4", "remove", 6, 1);
    add("lfs-small-file", "file-bytes=1024 files=1000", "create", 21, 1);
    add("lfs-small-file", "file-bytes=1024 files=1000", "read", 9, 1);
    add("postmark", "files=2000 transactions=10000", "transactions", 44, 1);
  }
  auto& first = shape.contests.front();
  first.entrants[4].seconds[2] *= 1.4;
  first.entrants[3].seconds.resize(2);
  first.entrants[3].failed = 3;
  shape.contests[5].entrants[0].seconds.clear();
  shape.contests[5].entrants[0].failed = 5;
  return shape;
}

SyntheticBench a_large_bench(int trials) {
  SyntheticBench shape;
  shape.name = "large";
  std::size_t n = 0;
  for (int done = 0; done < trials; done += 50) {
    SyntheticContest contest{"hp-c2447", "copy", fmt::format("files={} users=4", 100 + done),
                             "copy",     "",     {}};
    for (const char* name : {"btrfs", "ext4", "f2fs", "nilfs2", "xfs"})
      contest.entrants.push_back(
          {name, around(10 + static_cast<double>(name[0] % 7), 10, 0.02, n += 10)});
    shape.contests.push_back(contest);
  }
  return shape;
}

std::int64_t fill(db::Database& database, const SyntheticBench& shape) {
  db::RunRecord run;
  run.kind = "bench";
  run.name = shape.name;
  run.configuration =
      "name = \"compare\"\nfilesystems = [\"ext4\", \"xfs\", \"btrfs\", \"f2fs\"]\nrepetitions = 5\n";
  run.digest = "b3a7c001";
  run.seed = 7;
  for (const auto& contest : shape.contests)
    for (const auto& entrant : contest.entrants)
      run.trials_planned += static_cast<std::int64_t>(entrant.seconds.size() + entrant.failed);
  run.host_json =
      R"({"cpu":"Example CPU 3000","cores":4,"memory":"16 GiB","kernel":"6.1.0","os":"Debian 12"})";
  run.versions_json = fmt::format(
      R"({{"headcrash":"0.1.0","nbdkit":"1.32.5","qemu":"{}","guest kernel":"6.1.0-amd64"}})",
      shape.qemu);
  run.accelerator = shape.accelerator;
  const auto id = certain(database.begin_run(run));
  std::size_t number = 0;
  for (const auto& contest : shape.contests) {
    for (const auto& entrant : contest.entrants) {
      for (std::size_t i = 0; i < entrant.seconds.size() + entrant.failed; ++i)
        certain(database.record_trial(id, trial_of(shape, contest, entrant, i, ++number)));
    }
  }
  set_times(database, id, shape.finished ? "10:41:03" : "");
  return id;
}

}  // namespace headcrash::report
