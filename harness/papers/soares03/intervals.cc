// MS-12, MS-13: the number of writes that a longer interval saves, the effect of snapshots on
// short-lived files, and the space that snapshots use.
#include "harness/papers/soares03/measures.h"
#include "harness/papers/soares03/soares03.h"
#include "harness/papers/soares03/steady_load.h"

namespace headcrash::experiment::soares03 {
namespace {

constexpr std::uint32_t kIntervalsS[] = {1, 5, 10, 30};

SteadyLoad load_of(const Context& context, double lifetime_s, std::uint64_t file_bytes) {
  SteadyLoad load{.lifetime_s = lifetime_s, .file_bytes = file_bytes};
  if (context.scaled) {
    load.warm_ns = 5 * model::kSecondNs;
    load.measured_ns = 10 * model::kSecondNs;
  }
  return load;
}

}  // namespace

std::vector<ClaimAnswer> intervals(Context& context) {
  ClaimAnswer answer{
      .id = "MS-13", .part = "intervals", .title = "Metadata written per operation, by interval"};
  Plot plot{.name = "writes",
            .title = "Metadata written per operation, by interval",
            .x = "interval (s)",
            .y = "KiB per operation",
            .logarithmic_x = true};
  const SteadyLoad load = load_of(context, 60, 0);
  Figure of_snap, of_kfs, of_journal, of_ext2, of_soft_updates, of_lfs, amplification;
  std::vector<Named> falling;
  for (const System system :
       {System::ext2, System::ext3, System::kfs, System::snap, System::soft_updates, System::lfs}) {
    Series series{.name = name(system)};
    for (const std::uint32_t interval_s : kIntervalsS) {
      if (context.interrupted()) break;
      const Setup setup = setup_of(system, {.interval_s = interval_s});
      const SteadyOutcome seen = run_steady(setup, load, context.seed);
      context.modelled_s += seconds_of(load.warm_ns + load.measured_ns);
      const Figure writes = seen.per_operation(seen.kib_written);
      add_row(answer, setup.name, "written", "KiB/operation", {}, writes, seen.error);
      add_row(answer, setup.name, "requests", "/operation", {}, seen.per_operation(seen.requests),
              seen.error);
      add_row(answer, setup.name, "operations", "/s", {},
              seen.of(seen.operations / seconds_of(load.measured_ns)), seen.error);
      if (writes) series.points.emplace_back(interval_s, *writes);
      if (system == System::snap) {
        const Figure held =
            seen.in_use > 0 ? seen.of(100 * seen.held_back_most / seen.in_use) : std::nullopt;
        add_row(answer, setup.name, "maximum space held back for the committed generation",
                "% of blocks in use", {}, held, seen.error);
        add_row(answer, setup.name, "blocks copied", "/operation", {},
                seen.per_operation(seen.blocks_copied), seen.error);
        falling.push_back({fmt::format("{} s", interval_s), writes});
        if (interval_s == 10) amplification = held;
      }
      if (interval_s != 10) continue;
      if (system == System::snap) of_snap = writes;
      if (system == System::kfs) of_kfs = writes;
      if (system == System::ext3) of_journal = writes;
      if (system == System::ext2) of_ext2 = writes;
      if (system == System::soft_updates) of_soft_updates = writes;
      if (system == System::lfs) of_lfs = writes;
    }
    plot.series.push_back(std::move(series));
  }
  answer.plots.push_back(std::move(plot));
  // Repeat the measurement of the space with files that contain data and fill most of the disk.
  SteadyLoad with_data = load_of(context, 60, 8192);
  const Setup usual = setup_of(System::snap);
  const SteadyOutcome seen = run_steady(usual, with_data, context.seed);
  context.modelled_s += seconds_of(with_data.warm_ns + with_data.measured_ns);
  add_row(answer, usual.name + ", files of 8 KiB",
          "maximum space held back for the committed generation", "% of blocks in use", {},
          seen.in_use > 0 ? seen.of(100 * seen.held_back_most / seen.in_use) : std::nullopt,
          seen.error);
  add_rule(answer, "with an interval of 10 s, less is written than with the journal",
           {{"KFS+snap", of_snap}, {"ext3", of_journal}}, [&] { return *of_snap < *of_journal; });
  add_rule(answer, "with an interval of 10 s, less is written than with soft updates",
           {{"KFS+snap", of_snap}, {"soft updates", of_soft_updates}},
           [&] { return *of_snap < *of_soft_updates; });
  add_rule(answer, "with an interval of 10 s, less is written than with LFS",
           {{"KFS+snap", of_snap}, {"LFS", of_lfs}}, [&] { return *of_snap < *of_lfs; });
  add_rule(answer,
           "with an interval of 10 s, at most 10 % more is written than with all updates "
           "in place",
           {{"KFS+snap", of_snap}, {"KFS", of_kfs}, {"ext2", of_ext2}},
           [&] { return *of_snap <= *of_kfs * 1.1; });
  mark(answer, RuleClass::ours);
  add_falling(answer, "longer intervals write less", falling);
  mark(answer, RuleClass::ours);
  add_rule(answer, "the committed generation holds back less than a tenth of the blocks in use",
           {in_unit(amplification, "%")}, [&] { return *amplification < 10; });
  mark(answer, RuleClass::ours);
  answer.remarks.push_back(
      "Four users create 50 empty files per second in 50 directories, and remove each file a "
      "minute later. All systems have equal intervals. A change copies its block and all blocks "
      "above it, once per generation, so the number of operations that share a generation "
      "determines the cost. A file system that contains only metadata holds back a larger share "
      "than a file system with data. Blocks of removed data also wait: see the row with files of "
      "8 KiB.");
  return {answer};
}

std::vector<ClaimAnswer> short_lives(Context& context) {
  ClaimAnswer answer{.id = "MS-12",
                     .part = "short-lives",
                     .title = "Files removed soon after their creation (III-C)"};
  Figure shortest, longest, in_flight;
  for (const double lifetime_s : {1., 5., 15., 60.}) {
    for (const System system : {System::kfs, System::snap_ordered}) {
      if (context.interrupted()) break;
      const SteadyLoad load = load_of(context, lifetime_s, 8192);
      const SteadyOutcome seen = run_steady(setup_of(system), load, context.seed);
      context.modelled_s += seconds_of(load.warm_ns + load.measured_ns);
      const std::string cell = fmt::format("{}, removed after {:g} s", name(system), lifetime_s);
      const Figure writes = seen.per_operation(seen.kib_written);
      add_row(answer, cell, "written", "KiB/operation", {}, writes, seen.error);
      if (system == System::kfs) continue;
      add_row(answer, cell, "blocks that were never written", "/operation", {},
              seen.per_operation(seen.never_written), seen.error);
      constexpr double kKibPerBlock = 4;
      const double touched = seen.kib_written / kKibPerBlock + seen.never_written;
      const Figure saved =
          touched > 0 ? seen.of(100 * seen.freed_in_flight / touched) : std::nullopt;
      add_row(answer, cell, "removed while their generation was being written", "% of dirty blocks",
              {}, saved, seen.error);
      if (lifetime_s == 1) shortest = writes, in_flight = saved;
      if (lifetime_s == 60) longest = writes;
    }
  }
  add_rule(answer,
           "files that live for 1 s cost less than half the writes of files that live for 60 s",
           {{"1 s", shortest}, {"60 s", longest}}, [&] { return *shortest < *longest / 2; });
  mark(answer, RuleClass::ours);
  add_rule(answer, "removal from older generations (III-C) would save at least 5 % of the writes",
           {in_unit(in_flight, "%")}, [&] { return *in_flight >= 5; });
  mark(answer, RuleClass::ours);
  answer.remarks.push_back(
      "Files that are created and removed in one generation are never written. Removal from an "
      "older, uncommitted generation is not implemented. The last rule shows its maximum saving, "
      "with files of 8 KiB that live for 1 s. Writing a generation takes some tenths of a second "
      "here, not the 30 s that kupdate may take in the paper.");
  return {answer};
}

}  // namespace headcrash::experiment::soares03
