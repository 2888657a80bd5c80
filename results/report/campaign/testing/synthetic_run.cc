#include "results/report/campaign/testing/synthetic_run.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "results/db/statement.h"

namespace headcrash::report {
namespace {

// Synthetic runs must be the same with every standard library. The standard defines the sequence of
// this generator, but not the sequences of the standard distributions.
using Random = std::mt19937_64;

double uniform(Random& random) {
  return static_cast<double>(random() >> 11) / 9007199254740992.0;
}

bool is_loss(const std::string& verdict) {
  return verdict != "clean" && verdict != "replayed";
}

void add_latency(db::PhaseRecord& phase, Random& random, double mean_us, double late_us) {
  const auto summary = [](double mean) {
    return db::LatencySummary{mean, mean * 0.8, mean * 3.1, mean * 6};
  };
  phase.target = summary(mean_us);
  phase.achieved = summary(mean_us + late_us);
  phase.lateness = db::LatencySummary{late_us, late_us * 0.7, late_us * 4, late_us * 30};
  for (int i = 0; i < 60; ++i) {
    const double upper = mean_us / 30 * std::pow(1.12, i);
    const double distance = std::log(upper / mean_us / 0.8);
    const double bump = 600 * std::exp(-distance * distance * 2) +
                        90 * std::exp(-std::pow(std::log(upper / mean_us * 9), 2) * 4);
    const auto n = static_cast<std::int64_t>(bump + uniform(random) * 3);
    if (n == 0) continue;
    phase.target_buckets.push_back({upper, n});
    phase.achieved_buckets.push_back({upper + late_us, n});
  }
}

db::PhaseRecord phase(const std::string& name, const std::string& clock, double model_ms,
                      double wall_ms) {
  db::PhaseRecord p;
  p.name = name;
  p.clock = clock;
  p.model_ms = model_ms;
  p.wall_ms = wall_ms;
  p.reads = static_cast<std::int64_t>(model_ms / 5) + 1;
  p.writes = p.reads / 2;
  p.bytes_read = p.reads * 16384;
  p.bytes_written = p.writes * 8192;
  p.busy_ms = model_ms * 0.8;
  return p;
}

void add_phases(db::TrialRecord& trial, Random& random, const SyntheticCell& cell) {
  const double mean_us = cell.device.find("ssd") == std::string::npos ? 7400 : 310;
  const double slow = cell.speed * mean_us / 7400;
  const auto jitter = [&](double ms) { return ms * slow * (0.8 + 0.5 * uniform(random)); };
  trial.phases.push_back(phase("mkfs", "off", jitter(2500), 310));
  auto workload = phase("workload", "real", jitter(4200), 4400);
  add_latency(workload, random, mean_us, trial.late ? mean_us * 0.08 : 62);
  trial.phases.push_back(workload);
  trial.phases.push_back(phase("cut", "real", 0, 3));
  const double replay = jitter(180), check = jitter(1400), mount = jitter(45);
  trial.phases.push_back(phase("replay", "real", replay, replay + 210));
  add_latency(trial.phases.back(), random, mean_us * 1.2, 55);
  auto fsck = phase("fsck", "real", check, check + 350);
  fsck.exit_code = is_loss(trial.verdict) ? 4 : 0;
  trial.phases.push_back(fsck);
  trial.phases.push_back(phase("mount", "real", mount, mount + 40));
}

/// Adds requests: a circular log, data at ascending addresses, scattered metadata at low addresses,
/// flushes, and a recovery.
void add_io(db::TrialRecord& trial, Random& random, int requests) {
  constexpr std::int64_t kDisk = 2'100'000;
  constexpr double kFlushUs = 21'000;
  const double cut_ms = static_cast<double>(*trial.cut_at_ns) / 1e6;
  for (int i = 0; i < requests; ++i) {
    const double at = cut_ms * (i + uniform(random)) / requests;
    const double kind = uniform(random);
    std::int64_t lba = 0;
    if (kind < 0.4) {
      lba = kDisk / 2 + static_cast<std::int64_t>(at * 90) % 65536;
    } else if (kind < 0.75) {
      lba = 200'000 + static_cast<std::int64_t>(at * 160 + uniform(random) * 30'000);
    } else {
      lba = static_cast<std::int64_t>(uniform(random) * uniform(random) * kDisk);
    }
    const bool read = kind >= 0.75 && uniform(random) < 0.6;
    trial.io.push_back({at, lba, 8, read ? "read" : "write", 900.0});
    if (!read && at + 60 < cut_ms)
      trial.io.push_back({at + 60 * uniform(random), lba, 8, "media", std::nullopt});
    if (i % 12 == 11) trial.io.push_back({at, 0, 0, "flush", kFlushUs});
  }
  // Four seconds after the cut, the recovery reads the log from its beginning.
  for (int i = 0; i < requests / 10; ++i)
    trial.io.push_back({cut_ms + 4000 + i * 3, kDisk / 2 + i * 64, 64, "read", 2000.0});
}

std::string told(const std::string& verdict) {
  if (verdict == "clean") return "everything persisted is there; the log was empty";
  if (verdict == "replayed")
    return "everything persisted is there after the file system replayed its log";
  if (verdict == "lost-synced-data")
    return "3 files that fsync had promised are shorter than they were";
  if (verdict == "harness-error") return "the guest did not answer within 60 s";
  return "the tree after recovery is not one that the workload could have left";
}

db::TrialRecord make_trial(const SyntheticShape& shape, const SyntheticCell& cell,
                           std::size_t index, Random& random) {
  db::TrialRecord t;
  t.key = fmt::format("{}/{}/{}/{}", cell.filesystem, cell.device, cell.workload, index);
  t.filesystem = cell.filesystem;
  t.device = cell.device;
  t.workload = cell.workload;
  t.expected = cell.expected;
  t.verdict = cell.verdicts[index];
  t.seed = static_cast<std::int64_t>(random() % 1'000'000);
  t.clock = "real";
  const auto operation = 20 + static_cast<std::int64_t>(random() % 90);
  const auto after_ns = static_cast<std::int64_t>(uniform(random) * 90e6);
  t.cut = fmt::format("after-mark:persisted {}+{}", operation, after_ns / 1'000'000);
  t.cut_at_ns = 2'400'000'000 + static_cast<std::int64_t>(uniform(random) * 2e9);
  t.after_persistence_ns = after_ns;
  t.persisted_operation = operation;
  t.operations = 140;
  t.summary = told(t.verdict);
  t.started_at = "2026-03-14T09:26:53Z";
  t.wall_ms = 9000;
  t.late = shape.timings && uniform(random) < 0.06;
  t.devices = {{"hd0", cell.device, 2'054'864, std::nullopt}};
  if (is_loss(t.verdict) && t.verdict != "harness-error") {
    t.incidents.push_back({*t.cut_at_ns - 5'000'000, 0, "lost-write at sector 4096"});
    t.findings.push_back(
        {t.verdict, "posix", "/mail/inbox/17", "12288 bytes of version 4", "0 bytes"});
    t.findings.push_back(
        {t.verdict, "documented", "/mail/inbox/18", "version 2 of block 1", "version 1"});
    t.artefacts.push_back({"recording", fmt::format("trial-{}/recording.hcr", index), 7'340'032});
  }
  if (shape.timings) {
    add_phases(t, random, cell);
    add_io(t, random, shape.requests);
  }
  return t;
}

}  // namespace

void set_times(db::Database& database, std::int64_t run, const std::string& ended) {
  const std::string finished_at = ended.empty() ? "NULL" : fmt::format("'2026-03-14T{}Z'", ended);
  certain(db::execute(
      database.handle(),
      fmt::format(
          "UPDATE run SET started_at = '2026-03-14T09:26:53Z', finished_at = {} WHERE id = {}",
          finished_at, run)));
}

SyntheticShape three_cells() {
  SyntheticShape shape;
  shape.cells = {
      {"ext4",
       "hp-c2447",
       "small-files",
       "clean",
       {"replayed", "replayed", "clean", "replayed", "replayed"},
       1},
      {"ext4-nobarrier",
       "hp-c2447",
       "small-files",
       "loss",
       {"lost-synced-data", "replayed", "lost-synced-data", "lost-synced-data", "lost-synced-data"},
       1.1},
      {"xfs",
       "hp-c2447",
       "small-files",
       "clean",
       {"replayed", "replayed", "replayed", "clean", "replayed"},
       0.6}};
  shape.requests = 60;
  return shape;
}

SyntheticShape a_real_campaign() {
  SyntheticShape shape;
  const std::vector<std::string> kept = {"replayed", "replayed", "clean", "replayed", "replayed"};
  const std::vector<std::string> lost = {"lost-synced-data", "lost-synced-data", "replayed",
                                         "lost-synced-data", "silent-loss"};
  for (const char* device : {"hp-c2447", "sata-ssd-2014"}) {
    shape.cells.push_back({"ext4", device, "small-files", "clean", kept, 1});
    shape.cells.push_back({"ext4-nobarrier", device, "small-files", "loss", lost, 1.1});
    shape.cells.push_back({"xfs", device, "small-files", "clean", kept, 0.6});
    shape.cells.push_back(
        {"btrfs", device, "small-files", "clean",
         std::string(device) == "hp-c2447"
             ? kept
             : std::vector<std::string>{"clean", "unmountable", "clean", "harness-error", "clean"},
         0.4});
    shape.cells.push_back({"f2fs", device, "small-files", "clean", kept, 2.1});
    shape.cells.push_back(
        {"vfat",
         device,
         "small-files",
         "any",
         {"repaired-by-fsck", "zero-length", "clean", "repaired-by-fsck", "clean"},
         3});
  }
  shape.requests = 2500;
  return shape;
}

std::int64_t fill(db::Database& database, const SyntheticShape& shape) {
  db::RunRecord run;
  run.kind = "campaign";
  run.name = "smoke";
  run.configuration =
      "name = \"smoke\"\nseed = 42\ntrials = 5\n\n[workload]\nname = \"small-files\"\nfiles = 140\n";
  run.digest = "5f1c0d9e";
  run.seed = 42;
  std::size_t trials = 0;
  for (const auto& cell : shape.cells) trials += cell.verdicts.size();
  run.trials_planned = shape.planned >= 0 ? shape.planned : static_cast<std::int64_t>(trials);
  run.host_json =
      R"({"cpu":"Example CPU 3000","cores":4,"memory":"16 GiB","kernel":"6.1.0","os":"Debian 12"})";
  run.versions_json =
      R"({"headcrash":"0.1.0","nbdkit":"1.32.5","qemu":"7.2","guest kernel":"6.1.0-amd64","e2fsprogs":"1.47.0"})";
  run.accelerator = "tcg";
  const auto id = certain(database.begin_run(run));
  Random random(42);
  for (const auto& cell : shape.cells) {
    for (std::size_t i = 0; i < cell.verdicts.size(); ++i) {
      certain(database.record_trial(id, make_trial(shape, cell, i, random)));
    }
  }
  set_times(database, id, shape.finished ? "09:31:03" : "");
  return id;
}

}  // namespace headcrash::report
