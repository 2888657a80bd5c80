#pragma once
// For the tests of this directory: a scratch directory, sample records, and must() to unwrap
// results.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "results/db/database.h"

namespace headcrash::db {

class ScratchFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "headcrash-db-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file() const { return folder_ / "results.db"; }

 private:
  std::filesystem::path folder_;
};

/// Returns the value, or throws the error's message.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(*result);
}

inline RunRecord some_run() {
  RunRecord run;
  run.kind = "campaign";
  run.name = "smoke";
  run.digest = "abc";
  run.trials_planned = 4;
  run.host_json = run.versions_json = "{}";
  run.accelerator = "tcg";
  return run;
}

inline TrialRecord some_trial(const std::string& key) {
  TrialRecord trial;
  trial.key = key;
  trial.filesystem = "ext4";
  trial.device = "hp-c2447";
  trial.workload = "small-files";
  trial.clock = "real";
  trial.cut = "after-mark:persisted 12+30";
  trial.cut_at_ns = 5;
  trial.verdict = "replayed";
  trial.expected = "clean";
  trial.summary = "everything persisted is there";
  trial.started_at = "2026-01-02T03:04:05Z";
  PhaseRecord workload;
  workload.name = "workload";
  workload.clock = "real";
  workload.target = workload.achieved = LatencySummary{10, 9, 20, 30};
  workload.lateness = LatencySummary{1, 1, 2, 40};
  workload.target_buckets = {{10, 3}, {20, 4}};
  PhaseRecord fsck;
  fsck.name = "fsck";
  fsck.clock = "off";
  fsck.exit_code = 1;
  workload.devices = {{"hd0.0", 1, 2, 3, 512, 1024, 1024, 0, 2, 1.5}};
  trial.phases = {workload, fsck};
  trial.devices = {{"hd0", "netra-raid5", 4096, std::nullopt}, {"hd0.0", "sun-4.2g", 1024, 0}};
  trial.incidents = {{7'000, 1, "dead"}};
  trial.io = {{0.5, 100, 8, "write", 900.0}, {0.7, 100, 8, "media", std::nullopt, 1}};
  trial.findings = {{"zero-length", "documented", "/a", "4096 bytes", "0 bytes"}};
  trial.artefacts = {{"recording", "trial-1/recording.hcr", 4096}};
  return trial;
}

/// Returns a trial of a benchmark: the second repetition of its cell.
inline TrialRecord some_bench_trial(const std::string& key) {
  TrialRecord trial = some_trial(key);
  trial.cut.clear();
  trial.cut_at_ns.reset();
  trial.verdict = "measured";
  trial.expected = "any";
  trial.findings.clear();
  trial.repetition = 1;
  trial.parameters = "files=1000 users=4";
  trial.scale = "scaled";
  trial.host_busy = 0.25;
  PhaseRecord create = trial.phases.front();
  create.measure = MeasureRecord{.label = "create",
                                 .elapsed_ms = 1200,
                                 .quiescent_ms = 1500,
                                 .user_ms = 10,
                                 .system_ms = 90,
                                 .device_busy_ms = 900,
                                 .operation = "files",
                                 .operations = 1000,
                                 .app_bytes_read = 0,
                                 .app_bytes_written = 1'024'000,
                                 .guest = {1, 200, 3, 4096, 1'064'960, 17, 880}};
  create.flush_buckets = {{900, 2}, {1800, 1}};
  create.load = {{0, 1, 0, 4096, 0, 0.5}, {1, 2, 512, 0, 3, 2.25}};
  create.metrics = {{"hd0.nvram.dirty_hits", "", 12}, {"operation.p99", "ms", 3.5}};
  PhaseRecord verify = trial.phases.front();
  verify.load = {{0, 1, 0, 4096, 0, 0.5}};
  verify.measure = MeasureRecord{.label = "verify", .measured = false, .operation = "files"};
  trial.phases = {create, verify};
  return trial;
}

/// A trial with two states, the second of which fails.
inline TrialRecord some_explored_trial(const std::string& key) {
  TrialRecord trial = some_trial(key);
  trial.device = "stage";
  trial.workload = "ace-seq1/17";
  trial.phases.clear();
  trial.devices.clear();
  trial.incidents.clear();
  trial.io.clear();
  trial.findings.clear();
  trial.verdict = "silent-loss";
  trial.coverage = {{"prefix", 12, 12, 9, 9, ""},
                    {"reorder", 4096, 40, 31, 1, "28 of 4096 subsets"}};
  trial.steps = {{"mount", 10, 120.5}, {"dump", 10, 30}};
  CrashStateRecord clean;
  clean.name = "w20-";
  clean.strategy = "prefix";
  clean.digest = 0xffff'ffff'ffff'fff0;
  clean.verdict = "replayed";
  clean.wall_ms = 50;
  CrashStateRecord bad = clean;
  bad.name = "w24-7";
  bad.strategy = "reorder";
  bad.digest = 8;
  bad.persisted_operation = 3;
  bad.verdict = "silent-loss";
  bad.in_guest = true;
  bad.findings = {{"lost-synced-data", "posix", "/foo", "4096 bytes", "nothing"}};
  bad.failure = FailureRecord{
      true, "", "posix", "create foo\nfsync foo", "w24-7", "one write was lost", "replay"};
  trial.states = {clean, bad};
  return trial;
}

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace headcrash::db
