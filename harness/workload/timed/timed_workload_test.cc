#include "harness/workload/timed/timed_workload.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>

#include "harness/workload/timed/dbench_load.h"
#include "harness/workload/timed/file_tree.h"
#include "harness/workload/timed/office.h"
#include "harness/workload/timed/testing/memory_vfs.h"
#include "harness/workload/timed/testing/small_workloads.h"

namespace headcrash::timed {
namespace {

class Ticks : public Pace {
 public:
  std::int64_t call_ns = 1000;  ///< the clock advances by this time at each reading
  std::int64_t now_ns() override { return now_ns_ += call_ns; }
  void sleep_until(std::int64_t at_ns) override { now_ns_ = std::max(now_ns_, at_ns); }

 private:
  std::int64_t now_ns_ = 0;
};

struct Trial {
  explicit Trial(const std::string& name, const Arguments& replaced, std::uint64_t seed_ = 7)
      : workload(*find_timed_workload(name).value()),
        arguments(arguments_of(workload, false, replaced, "test").value()),
        phases(workload.phases(arguments)),
        seed(seed_) {}

  /// Runs the users one after the other.
  PhaseResult phase(std::size_t number, const std::atomic<bool>* interrupted = nullptr) {
    tally = {};
    for (std::size_t i = 0; i < phases.at(number).users; ++i) {
      User user{.vfs = vfs,
                .pace = pace,
                .number = i,
                .arguments = arguments,
                .seed = seed,
                .interrupted = interrupted};
      if (const PhaseResult done = phases[number].body(user); !done) return done;
      tally.add(user.tally);
    }
    return {};
  }
  PhaseResult from(std::size_t first) {
    for (std::size_t i = first; i < phases.size(); ++i) {
      if (const PhaseResult done = phase(i); !done) return done;
    }
    return {};
  }

  const TimedWorkload& workload;
  Arguments arguments;
  std::vector<Phase> phases;
  std::uint64_t seed;
  MemoryVfs vfs;
  Ticks pace;
  Tally tally;
};

TEST(TimedWorkloads, AreAllTested) {
  std::vector<std::string> tried, known;
  for (const SmallWorkload& each : small_workloads()) tried.push_back(each.name);
  for (const TimedWorkload& each : timed_workloads()) known.emplace_back(each.name);
  EXPECT_EQ(tried, known);
}

TEST(TimedWorkloads, HaveDescriptionsWithinBounds) {
  for (const TimedWorkload& each : timed_workloads()) {
    SCOPED_TRACE(each.name);
    EXPECT_FALSE(each.title.empty() || each.source.empty() || each.operation.empty());
    for (const Parameter& parameter : each.parameters) {
      SCOPED_TRACE(parameter.name);
      EXPECT_GE(parameter.least, 0);
      EXPECT_LE(parameter.least, parameter.scaled);
      EXPECT_LE(parameter.scaled, parameter.exact);
      EXPECT_LE(parameter.exact, parameter.most);
      EXPECT_FALSE(parameter.meaning.empty());
    }
    std::set<std::string> names;
    bool measured = false;
    for (const Phase& phase : each.phases(arguments_of(each, true, {}, "test").value())) {
      EXPECT_TRUE(names.insert(phase.name).second) << phase.name;
      // A phase after a cut counts as measured, because the driver measures the recovery.
      measured = measured || phase.measured || phase.after_cut;
    }
    EXPECT_TRUE(measured);
  }
}

TEST(TimedWorkloads, AreDeterministicForASeed) {
  for (const SmallWorkload& each : small_workloads()) {
    SCOPED_TRACE(each.name);
    Trial one(each.name, each.arguments), same(each.name, each.arguments);
    const PhaseResult done = one.from(0);
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(one.vfs.open_files(), 0U);
    ASSERT_TRUE(same.from(0));
    EXPECT_EQ(one.vfs.trace, same.vfs.trace);
    EXPECT_EQ(one.vfs.files(), same.vfs.files());
  }
}

TEST(TimedWorkloads, CountTheirOperations) {
  for (const SmallWorkload& each : small_workloads()) {
    SCOPED_TRACE(each.name);
    Trial run(each.name, each.arguments);
    for (std::size_t i = 0; i < run.phases.size(); ++i) {
      SCOPED_TRACE(run.phases[i].name);
      const MemoryVfs::Counts before = run.vfs.counts;
      ASSERT_TRUE(run.phase(i));
      EXPECT_EQ(run.tally.bytes_written, run.vfs.counts.bytes_written - before.bytes_written);
      EXPECT_EQ(run.tally.bytes_read, run.vfs.counts.bytes_read - before.bytes_read);
      // Directory creations are not counted as operations, although the phase that performs them is
      // timed.
      if (run.phases[i].measured && run.phases[i].name != "make-folders") {
        EXPECT_GT(run.tally.operations, 0U);
        EXPECT_LE(run.tally.latencies.count(), run.tally.operations);
      }
    }
  }
}

TEST(TimedWorkloads, DetectEveryDamagedFile) {
  for (const SmallWorkload& each : small_workloads()) {
    if (each.damage_after < 0) continue;
    SCOPED_TRACE(each.name);
    Trial model(each.name, each.arguments);
    const auto after = static_cast<std::size_t>(each.damage_after);
    for (std::size_t i = 0; i <= after; ++i) ASSERT_TRUE(model.phase(i));
    std::size_t noticed = 0, damaged = 0;
    for (const auto& [path, bytes] : model.vfs.files()) {
      // Skip inputs and temporary files of Sdet's commands. No later phase reads these files, so
      // damage to them cannot be noticed.
      const bool input =
          path.starts_with("source") || path == "input" || path.find("/tmp/") != path.npos;
      if (bytes.empty() || input || damaged >= 3) continue;
      ++damaged;
      Trial run = Trial(each.name, each.arguments);
      for (std::size_t i = 0; i <= after; ++i) ASSERT_TRUE(run.phase(i));
      auto& content = run.vfs.files()[path];
      content[content.size() / 3 * 2] ^= std::byte{4};
      const PhaseResult found = run.from(after + 1);
      ASSERT_FALSE(found) << path;
      EXPECT_EQ(found.error().error, 0) << found.error().what;
      EXPECT_NE(found.error().what.find(path), std::string::npos) << found.error().what;
      EXPECT_EQ(run.vfs.open_files(), 0U);
      ++noticed;
    }
    EXPECT_GT(noticed, 0U);
  }
}

TEST(TimedWorkloads, DetectFilesOfWrongLength) {
  for (const int change : {-1, 1}) {
    Trial run("lfs-small-file", {{"files", 5}});
    ASSERT_TRUE(run.phase(0));
    ASSERT_TRUE(run.phase(1));
    auto& content = run.vfs.files()["d0/f3"];
    content.resize(content.size() + static_cast<std::size_t>(change));
    const PhaseResult found = run.phase(2);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().error, 0);
    EXPECT_TRUE(found.error().what.starts_with("d0/f3 ")) << found.error().what;
  }
}

TEST(TimedWorkloads, DetectFilesOfAnotherSeed) {
  Trial old("lfs-small-file", {{"files", 5}}, 1), fresh("lfs-small-file", {{"files", 5}}, 2);
  for (Trial* run : {&old, &fresh}) {
    ASSERT_TRUE(run->phase(0));
    ASSERT_TRUE(run->phase(1));
  }
  fresh.vfs.files()["d0/f3"] = old.vfs.files()["d0/f3"];
  EXPECT_FALSE(fresh.phase(2));
}

TEST(TimedWorkloads, DetectFilesThatWereNotRemoved) {
  for (const auto& [name, leftover] :
       std::vector<std::pair<std::string, std::string>>{{"remove-1k", "u1/f3"},
                                                        {"create-remove-1k", "u0/x"},
                                                        {"empty-files", "d2/x"},
                                                        {"n-user-remove", "copy1"}}) {
    SCOPED_TRACE(name);
    const auto& small = *std::find_if(small_workloads().begin(), small_workloads().end(),
                                      [&](const SmallWorkload& each) { return each.name == name; });
    Trial run(name, small.arguments);
    for (std::size_t i = 0; i + 1 < run.phases.size(); ++i) ASSERT_TRUE(run.phase(i));
    ASSERT_TRUE(run.vfs.open(leftover, {.create = true}));
    const PhaseResult found = run.phase(run.phases.size() - 1);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().error, 0) << found.error().what;
  }
}

TEST(TimedWorkloads, FailWhenTheDiskIsFull) {
  for (const SmallWorkload& each : small_workloads()) {
    SCOPED_TRACE(each.name);
    Trial no_names(each.name, each.arguments);
    no_names.vfs.capacity_names = 0;
    const PhaseResult done = no_names.from(0);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().error, ENOSPC) << done.error().what;

    Trial no_bytes(each.name, each.arguments);
    no_bytes.vfs.capacity_bytes = 900;
    const PhaseResult written = no_bytes.from(0);
    if (each.name == "empty-files") continue;
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().error, ENOSPC) << written.error().what;
    EXPECT_NE(written.error().what.find("No space left"), std::string::npos);
    EXPECT_EQ(no_bytes.vfs.open_files(), 0U);
  }
}

TEST(TimedWorkloads, StopAfterAnotherUsersFailure) {
  const std::atomic<bool> interrupted = true;
  for (const SmallWorkload& each : small_workloads()) {
    SCOPED_TRACE(each.name);
    Trial run(each.name, each.arguments);
    const PhaseResult done = run.phase(0, &interrupted);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().error, ECANCELED);
    EXPECT_EQ(run.vfs.counts.creates + run.vfs.counts.mkdirs, 0U);
  }
}

TEST(TimedWorkloads, CopyAndRemoveTheTreesOfThePaper) {
  Trial copy("n-user-copy", {{"users", 1}});
  ASSERT_TRUE(copy.phase(0));
  const MemoryVfs::Counts before = copy.vfs.counts;
  ASSERT_TRUE(copy.phase(1));
  EXPECT_EQ(copy.tally.operations, 535U);
  EXPECT_EQ(copy.vfs.counts.creates - before.creates, 535U);
  EXPECT_EQ(copy.tally.bytes_written, 14'300'000U);
  EXPECT_EQ(copy.tally.bytes_read, 14'300'000U);
  EXPECT_EQ(copy.vfs.counts.mkdirs - before.mkdirs, 27U);

  Trial remove("n-user-remove", {{"users", 2}, {"tree-bytes", 1000}});
  ASSERT_TRUE(remove.from(0));
  EXPECT_EQ(remove.vfs.counts.unlinks, 2 * 535U);
  EXPECT_EQ(remove.vfs.counts.rmdirs, 2 * 27U);
}

TEST(TimedWorkloads, DefaultToTheCountsOfTheirSources) {
  Trial small("lfs-small-file", {});
  ASSERT_TRUE(small.from(0));
  EXPECT_EQ(small.vfs.counts.creates, 10'000U);
  EXPECT_EQ(small.vfs.counts.unlinks, 10'000U);
  EXPECT_EQ(small.vfs.counts.bytes_written, 10'240'000U);
  EXPECT_EQ(small.vfs.counts.bytes_read, 10'240'000U);
  EXPECT_TRUE(small.phases[2].cold);

  Trial shares("create-remove-1k", {{"users", 7}, {"file-bytes", 0}});
  ASSERT_TRUE(shares.from(0));
  EXPECT_EQ(shares.vfs.counts.creates, 10'000U);
  EXPECT_EQ(shares.vfs.counts.unlinks, 10'000U);

  Trial empty("empty-files", {{"files", 600}, {"folders", 10}});
  ASSERT_TRUE(empty.from(0));
  EXPECT_EQ(empty.vfs.counts.creates, 3 * 600U);
  EXPECT_EQ(empty.vfs.counts.unlinks, 3 * 600U);
  EXPECT_EQ(empty.vfs.counts.mkdirs, 10U);
  EXPECT_EQ(empty.vfs.counts.bytes_written, 0U);

  Trial large("lfs-large-file", {{"file-bytes", 1 << 20}});
  ASSERT_TRUE(large.from(0));
  EXPECT_EQ(large.vfs.counts.bytes_written, 2U << 20);
  EXPECT_EQ(large.vfs.counts.bytes_read, 3U << 20);
  EXPECT_EQ(large.vfs.counts.writes, 2 * 128U);
  EXPECT_EQ(large.vfs.counts.fsyncs, 2U);
}

TEST(TimedWorkloads, AndrewHasFivePhasesOverTheTree) {
  Trial run("andrew-modified", {{"compile-cpu-ms", 0}});
  const std::vector<std::uint64_t> operations{0, 0, 70, 70, 70, 70};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    ASSERT_TRUE(run.phase(i)) << i;
    EXPECT_EQ(run.tally.operations, operations[i]) << run.phases[i].name;
    if (run.phases[i].name == "copy") {
      EXPECT_EQ(run.tally.bytes_written, 70 * 4860U);
    }
    if (run.phases[i].name == "scan") {
      EXPECT_EQ(run.tally.bytes_read, 70 * 4860U);
    }
    // Each compilation writes an intermediate file, which is twice as large as the source, and an
    // object, which is as large as the source. At the end, the program is written.
    if (run.phases[i].name == "compile") {
      EXPECT_EQ(run.tally.bytes_written, 4 * 70 * 4860U);
    }
  }
}

/// The benchmark starts mkdir and cp for each directory, ls and grep for each file, and make once.
/// For each compiled file, it starts a shell, cc and its five programs. At the end, it starts a
/// shell, cc and ld. The compiler of Seventh Edition UNIX uses nine files for each compilation.
TEST(TimedWorkloads, AndrewStartsProgramsIfRequested) {
  Trial run("andrew", {{"compile-cpu-ms", 0}, {"programs", 1}});
  const std::vector<std::uint64_t> programs{0, 20, 20, 70, 70, 1 + 26 * 7 + 3, 0};
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const std::uint64_t before = run.vfs.programs_started;
    const MemoryVfs::Counts counts = run.vfs.counts;
    ASSERT_TRUE(run.phase(i)) << run.phases[i].name;
    EXPECT_EQ(run.vfs.programs_started - before, programs[i]) << run.phases[i].name;
    if (run.phases[i].name != "compile") continue;
    EXPECT_EQ(run.vfs.counts.unlinks - counts.unlinks, 26 * 9U);
    EXPECT_EQ(run.vfs.counts.creates - counts.creates, 26 * (9 + 1U) + 1)
        << "the objects and the program remain";
  }
  Trial none("andrew", {{"compile-cpu-ms", 0}});
  ASSERT_TRUE(none.from(0));
  EXPECT_EQ(none.vfs.programs_started, 0U);
}

TEST(TimedWorkloads, SdetStartsAProgramForEachCommand) {
  const Arguments two{{"scripts", 1}, {"files", 6}, {"home-bytes", 20'000},
                      {"folders", 3}, {"each", 2},  {"programs", 1}};
  Trial run("sdet", two);
  ASSERT_TRUE(run.phase(0));
  EXPECT_EQ(run.vfs.programs_started, 0U);
  ASSERT_TRUE(run.phase(1));
  EXPECT_EQ(run.vfs.programs_started, 2 * (96U + 2 * 3U)) << "plus three for each of two makes";
}

/// Simulates three weeks and checks the rules of a day in office.h: working hours, weekends,
/// amounts written, and the files that are left in the evening.
TEST(TimedWorkloads, OfficeWorkObservesWorkingHoursAndWeekends) {
  constexpr std::int64_t kHour = 3600 * kNsPerSecond;
  const Arguments weeks{{"users", 1},         {"days", 21},         {"every-days", 1},
                        {"in-use-kib", 4096}, {"written-kib", 400}, {"probe-kib", 8}};
  Trial run("ageing", weeks);
  run.pace.call_ns = 0;
  ASSERT_TRUE(run.phase(0));
  std::uint64_t day = 0;
  for (std::size_t i = 1; i < run.phases.size(); ++i) {
    const bool works = run.phases[i].name.starts_with("work until day ");
    const std::int64_t start_ns = run.pace.now_ns();
    const std::uint64_t written = run.vfs.counts.bytes_written;
    run.vfs.first_write_at = run.vfs.last_write_at = -1;
    run.vfs.clock = [&] { return run.pace.now_ns(); };
    ASSERT_TRUE(run.phase(i)) << run.phases[i].name;
    if (!works) continue;
    SCOPED_TRACE(run.phases[i].name);
    EXPECT_EQ(run.pace.now_ns() - start_ns, 24 * kHour) << "the phase includes the night";
    const std::uint64_t today = run.vfs.counts.bytes_written - written;
    if (day++ % 7 >= 5) {
      EXPECT_EQ(today, 0U);
      continue;
    }
    EXPECT_GE(today, 400U << 10);
    EXPECT_LE(today, (400U << 10) + (2U << 20)) << "the last job may exceed the limit";
    EXPECT_EQ(run.vfs.first_write_at - start_ns, 9 * kHour);
    EXPECT_LE(run.vfs.last_write_at - start_ns, 17 * kHour);
    std::uint64_t kept = 0;
    for (const auto& [path, bytes] : run.vfs.files()) {
      EXPECT_EQ(path.find("/tmp/"), std::string::npos)
          << "temporary files are removed in the evening";
      kept += bytes.size();
    }
    EXPECT_LE(kept, (4096U << 10) + 3 * (1U << 20) + (9U << 10)) << "kept files and three logs";
    EXPECT_GE(kept, 2048U << 10);
  }
  EXPECT_EQ(day, 21U);
}

TEST(TimedWorkloads, OfficeFilesHaveTheMeanOfTheirSource) {
  RandomSource random(1);
  double sum = 0;
  std::size_t small = 0;
  constexpr int kFiles = 200'000;
  for (int i = 0; i < kFiles; ++i) {
    const std::uint64_t bytes = office_file_bytes(random);
    ASSERT_GE(bytes, 2U);
    ASSERT_LE(bytes, 2U << 20);
    sum += static_cast<double>(bytes);
    small += bytes <= 4096 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kFiles, 23.1 * 1024, 0.1 * 23.1 * 1024);
  EXPECT_NEAR(static_cast<double>(small) / kFiles, 0.6, 0.05);
}

/// The files at a given age must not depend on whether measurements were made at earlier ages.
TEST(TimedWorkloads, AgedFilesDoNotDependOnEarlierMeasurements) {
  const Arguments often{{"users", 2},         {"days", 8},          {"every-days", 2},
                        {"in-use-kib", 1024}, {"written-kib", 300}, {"probe-kib", 64}};
  Arguments once = often;
  once["every-days"] = 8;
  Trial one("ageing", often), other("ageing", once);
  ASSERT_TRUE(one.from(0));
  ASSERT_TRUE(other.from(0));
  EXPECT_EQ(one.vfs.files(), other.vfs.files());
}

TEST(TimedWorkloads, ReportTheLayoutOfFiles) {
  Trial run("ageing",
            {{"users", 1}, {"days", 0}, {"in-use-kib", 2048}, {"probe-kib", 256}, {"day-s", 0}});
  run.vfs.pieces_of_a_file = 3;
  ASSERT_TRUE(run.phase(0));
  for (std::size_t i = 1; i + 1 < run.phases.size(); ++i) {
    ASSERT_TRUE(run.phase(i));
    SCOPED_TRACE(run.phases[i].name);
    const Layout& layout = run.tally.layout;
    if (!run.phases[i].name.starts_with("read")) {
      EXPECT_EQ(layout.files, 0U);
      continue;
    }
    EXPECT_GT(layout.files, 0U);
    EXPECT_LT(layout.files, run.tally.operations) << "files of one block are not counted";
    EXPECT_EQ(layout.pieces, 3 * layout.files);
    EXPECT_GE(layout.blocks, 2 * layout.files);
  }
}

TEST(TimedWorkloads, PostmarkBalancesCreationsAndRemovals) {
  Trial run("postmark", {{"files", 50}, {"transactions", 400}, {"folders", 7}});
  ASSERT_TRUE(run.phase(0));
  ASSERT_TRUE(run.phase(1));
  EXPECT_EQ(run.vfs.counts.creates, 50U);
  for (const auto& [path, bytes] : run.vfs.files()) {
    EXPECT_GE(bytes.size(), 500U);
    EXPECT_LE(bytes.size(), 16'384U);
  }
  ASSERT_TRUE(run.phase(2));
  EXPECT_EQ(run.tally.operations, 400U);
  EXPECT_EQ(run.vfs.counts.creates - 50 + run.vfs.counts.unlinks, 400U);
  EXPECT_NEAR(static_cast<double>(run.vfs.counts.unlinks), 200, 60);
  ASSERT_TRUE(run.phase(3));
  ASSERT_TRUE(run.phase(4));
  EXPECT_TRUE(run.vfs.files().empty());

  Trial reading("postmark",
                {{"files", 50}, {"transactions", 100}, {"read-bias", 10}, {"create-bias", 10}});
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(reading.phase(i));
  EXPECT_EQ(reading.vfs.counts.creates, 150U);
  EXPECT_EQ(reading.vfs.counts.unlinks, 0U);
}

TEST(TimedWorkloads, LaddisHasTheSpecifiedMixAndSyncsLikeAServer) {
  Trial run("laddis", {{"operations-per-s", 500},
                       {"seconds", 20},
                       {"warm-up-s", 4},
                       {"threads", 4},
                       {"kib-per-operation", 16},
                       {"file-kib", 16}});
  ASSERT_TRUE(run.phase(0));
  EXPECT_EQ(run.vfs.counts.creates, 500U) << "a working set of 16 KB per operation per second";
  const MemoryVfs::Counts before = run.vfs.counts;
  ASSERT_TRUE(run.phase(1));
  const double all = 500 * 24;
  EXPECT_NEAR(static_cast<double>(run.tally.operations), 500 * 20, 400)
      << "operations of the warm-up are not counted";
  EXPECT_EQ(run.tally.latencies.count(), run.tally.operations);
  const auto share = [&](std::uint64_t now, std::uint64_t then) {
    return 100 * static_cast<double>(now - then) / all;
  };
  EXPECT_NEAR(share(run.vfs.counts.stats, before.stats), 34 + 13, 2.5);
  EXPECT_NEAR(share(run.vfs.counts.reads, before.reads), 22, 1.5);
  EXPECT_NEAR(share(run.vfs.counts.writes, before.writes), 15, 1.5);
  EXPECT_NEAR(share(run.vfs.counts.lists, before.lists), 3, 1);
  EXPECT_NEAR(share(run.vfs.counts.creates, before.creates), 2, .7);
  EXPECT_NEAR(share(run.vfs.counts.unlinks, before.unlinks), 1, .5);
  // A write needs one fsync; a create needs two (file and directory); a removal needs one
  // (directory); a change of attributes needs one.
  EXPECT_NEAR(share(run.vfs.counts.fsyncs, before.fsyncs), 15 + 2 * 2 + 1 + 1, 2);
  ASSERT_TRUE(run.phase(2));
}

/// A request that arrives while its thread is busy must wait. Its response time must include this
/// wait.
TEST(TimedWorkloads, LaddisResponseTimesIncludeQueueing) {
  const Arguments arguments{{"operations-per-s", 100}, {"seconds", 5},
                            {"warm-up-s", 0},          {"threads", 1},
                            {"kib-per-operation", 8},  {"file-kib", 8}};
  Trial quick("laddis", arguments), slow("laddis", arguments);
  // Longer than the interval between requests, so requests queue up.
  slow.pace.call_ns = 15'000'000;
  for (Trial* run : {&quick, &slow})
    for (std::size_t phase = 0; phase < 2; ++phase) ASSERT_TRUE(run->phase(phase));
  EXPECT_EQ(quick.tally.operations, slow.tally.operations)
      << "arrivals do not depend on the server";
  EXPECT_LT(quick.tally.latencies.quantile_ns(.99), 1'000'000);
  EXPECT_GT(slow.tally.latencies.quantile_ns(.99), 1'000'000'000);
}

TEST(TimedWorkloads, SdetScriptsHaveTheSameCommandsInDifferentOrders) {
  Trial one("sdet", {{"scripts", 1}}, 1), other("sdet", {{"scripts", 1}}, 2);
  ASSERT_TRUE(one.from(0));
  ASSERT_TRUE(other.from(0));
  EXPECT_NE(one.vfs.trace, other.vfs.trace);
  // The commands create these files: one for each ed or cp; two for each cc, spell or nroff; two
  // for each of make's three compilations.
  EXPECT_EQ(one.vfs.counts.creates, 40 + 14 + 2 * (10 + 4 + 4 + 2 * 3) + 8U);
  EXPECT_EQ(one.vfs.counts.creates, other.vfs.counts.creates);
  EXPECT_EQ(one.vfs.counts.mkdirs, other.vfs.counts.mkdirs);
}

/// The reader and the writer alternate, so the writer is in the middle of a pass when the reader
/// has finished.
TEST(TimedWorkloads, ARewrittenFileHasDataOfAtMostTwoPasses) {
  Trial run("chen-r3", {{"read-kib", 1024}, {"write-kib", 5 << 10}});
  ASSERT_TRUE(run.phase(0));
  ASSERT_TRUE(run.phase(1));
  class Ending : public Ticks {
   public:
    std::function<void()> end;
    void sleep_until(std::int64_t) override {
      if (++units == 8) end();
    }
    int units = 0;
  };
  Ending pace;
  User reader{
      .vfs = run.vfs, .pace = run.pace, .number = 0, .arguments = run.arguments, .seed = run.seed};
  pace.end = [&] { ASSERT_TRUE(run.phases[2].body(reader)); };
  User writer{
      .vfs = run.vfs, .pace = pace, .number = 1, .arguments = run.arguments, .seed = run.seed};
  ASSERT_TRUE(run.phases[2].body(writer));
  EXPECT_EQ(writer.tally.bytes_written, 8U << 20);
  const PhaseResult intact = run.phase(3);
  ASSERT_TRUE(intact) << intact.error().what;

  // Simulates the loss of a unit that the second pass wrote: the unit has its previous contents.
  // The file then has three boundaries between old and new contents, but only one is permitted.
  auto& content = run.vfs.files()["output"];
  std::copy_n(content.begin() + (4 << 20), 1 << 20, content.begin() + (1 << 20));
  EXPECT_FALSE(run.phase(3));
}

TEST(FileTrees, MatchTheRequestedTotalsExactly) {
  const FileTree tree(535, 14'300'000, 27);
  std::uint64_t bytes = 0, largest = 0;
  std::size_t files = 0, deepest = 0;
  for (std::size_t i = 0; i < tree.files(); ++i) {
    const TimedFile file = tree.file("t", i, 3);
    bytes += file.bytes;
    largest = std::max(largest, file.bytes);
    deepest = std::max<std::size_t>(
        deepest, static_cast<std::size_t>(std::count(file.path.begin(), file.path.end(), '/')));
  }
  for (std::size_t i = 0; i < tree.folders(); ++i) files += tree.files_in(i).size();
  EXPECT_EQ(bytes, 14'300'000U);
  EXPECT_EQ(files, 535U);
  EXPECT_EQ(deepest, 4U);
  EXPECT_GT(largest, 10 * bytes / 535);
  EXPECT_LT(largest, bytes / 5);
}

using DbenchCounts = std::map<std::string, std::uint64_t>;

DbenchCounts counts_of(const DbenchLoad& load) {
  DbenchCounts counts;
  for (const DbenchOperation& each : load.operations) {
    switch (each.kind) {
      case DbenchKind::create:
      case DbenchKind::open:
      case DbenchKind::missing:
        ++counts["NTCreateX"];
        break;
      case DbenchKind::close:
        ++counts["Close"];
        break;
      case DbenchKind::read:
        ++counts["ReadX"];
        counts["read bytes"] += each.length;
        break;
      case DbenchKind::write:
        ++counts["WriteX"];
        counts["written bytes"] += each.length;
        break;
      case DbenchKind::flush:
        ++counts["Flush"];
        break;
      case DbenchKind::unlink:
        ++counts["Unlink"];
        break;
      case DbenchKind::rename:
        ++counts["Rename"];
        break;
      case DbenchKind::list:
        ++counts["FIND_FIRST"];
        break;
      case DbenchKind::query_path:
        ++counts["QUERY_PATH_INFORMATION"];
        break;
      case DbenchKind::query_file:
        ++counts["QUERY_FILE_INFORMATION"];
        break;
      case DbenchKind::query_space:
        ++counts["QUERY_FS_INFORMATION"];
        break;
    }
  }
  return counts;
}

TEST(DbenchLoad, HasTheOperationCountsOfTheOriginal) {
  const DbenchLoad load = dbench_load(100);
  EXPECT_EQ(load.operations.size(), 122'808U);
  EXPECT_EQ(counts_of(load), (DbenchCounts{{"NTCreateX", 12'257},
                                           {"Close", 10'067},
                                           {"ReadX", 65'933},
                                           {"WriteX", 14'074},
                                           {"Flush", 598},
                                           {"Unlink", 1'683},
                                           {"Rename", 358},
                                           {"FIND_FIRST", 2'981},
                                           {"QUERY_PATH_INFORMATION", 6'269},
                                           {"QUERY_FILE_INFORMATION", 7'183},
                                           {"QUERY_FS_INFORMATION", 1'405},
                                           {"read bytes", 204'929'923},
                                           {"written bytes", 136'325'491}}));
}

/// Compares the totals with those of the original load file, if the file is available.
TEST(DbenchLoad, MatchesTheOriginalLoadFile) {
  const std::filesystem::path file = HEADCRASH_DBENCH_LOAD;
  if (!exists(file)) GTEST_SKIP() << "no " << file;
  DbenchCounts counts;
  std::FILE* lines = ::popen(("zcat '" + file.string() + "'").c_str(), "r");
  ASSERT_NE(lines, nullptr);
  char word[64], line[512];
  unsigned long handle = 0, offset = 0, length = 0;
  while (std::fgets(line, sizeof line, lines) != nullptr) {
    if (std::sscanf(line, "%63s", word) != 1) continue;
    ++counts[word];
    if (std::sscanf(line, "%*s %lu %lu %lu", &handle, &offset, &length) == 3) {
      if (std::string_view(word) == "ReadX") counts["read bytes"] += length;
      if (std::string_view(word) == "WriteX") counts["written bytes"] += length;
    }
  }
  ::pclose(lines);
  EXPECT_EQ(counts, counts_of(dbench_load(100)));
}

TEST(DbenchLoad, RunsAtReducedScale) {
  for (const std::int64_t percent : {1, 4}) {
    Trial run("dbench", {{"clients", 1}, {"percent", percent}, {"fsync", 1}});
    const PhaseResult done = run.from(0);
    ASSERT_TRUE(done) << percent << ": " << done.error().what;
    EXPECT_EQ(run.vfs.counts.fsyncs, static_cast<std::uint64_t>(598 * percent / 100));
  }
}

TEST(TimedArguments, RejectsInvalidArguments) {
  const TimedWorkload& workload = **find_timed_workload("lfs-small-file");
  EXPECT_EQ(arguments_of(workload, true, {{"files", 3}}, "x").value(),
            (Arguments{{"files", 3}, {"file-bytes", 1024}, {"files-per-folder", 100}}));
  const auto misspelt = arguments_of(workload, false, {{"flies", 3}}, "bench.toml: workload");
  ASSERT_FALSE(misspelt);
  EXPECT_NE(misspelt.error().message().find("bench.toml: workload: flies"), std::string::npos);
  EXPECT_NE(misspelt.error().message().find("did you mean \"files\"?"), std::string::npos);
  const auto small = arguments_of(workload, false, {{"files", 0}}, "x");
  ASSERT_FALSE(small);
  EXPECT_NE(small.error().message().find("use 1 to 10000000"), std::string::npos);
  const auto unknown = find_timed_workload("postmork");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("did you mean \"postmark\"?"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::timed
