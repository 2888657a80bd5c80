// Recovery by the size of the file system, not in the paper: the time of a check, a fast check and
// a log replay on 1, 10 and 44 GB after the same work. The work is the timed workload `recovery`.
// Benchmarks also run it in guests, with ext4 and XFS on the same arrays
// (harness/bench/benches/netra-sizes.toml).
#include <array>

#include "harness/papers/judge.h"
#include "harness/papers/peacock98/peacock98.h"
#include "harness/papers/peacock98/ultra2.h"
#include "harness/papers/run_workload.h"

namespace headcrash::experiment::peacock98 {
namespace {

struct Recovered {
  Figure seconds;
  std::string error;
};

struct Row {
  const char* label;
  Tuning tuning;
  Repair repair;
  bool busy_map = false;
};
constexpr std::array kRows{
    Row{"UFS, full fsck", Tuning::ufs, Repair::always},
    Row{"bmap + fast fsck", Tuning::bmap_fast_fsck, Repair::fast},
    Row{"VxFS, log inside", Tuning::vxfs, Repair::as_needed},
    Row{"VxFS/VxLD, log on a separate device", Tuning::vxld, Repair::as_needed},
    Row{"bmap + fast fsck with a map of busy groups", Tuning::bmap_fast_fsck, Repair::fast, true}};

/// Measures the recovery on a file system of `bytes`, or on the whole drives without `bytes`.
Recovered recovered(Context& context, const Row& row, std::optional<std::uint64_t> bytes) {
  const auto options = machine_of({.raid = Raid::raid0,
                                   .presto = Presto::both,
                                   .tuning = row.tuning,
                                   .size_bytes = bytes,
                                   .busy_map = row.busy_map});
  if (!options) return {.seconds = {}, .error = Cell::kNotBuilt};
  const auto machine = ModelledMachine::start(*options);
  if (!machine) return {.seconds = {}, .error = machine.error().message()};
  WorkloadRun run{
      .workload = "recovery", .scaled = true, .seed = context.seed, .repair = row.repair};
  run.replaced = {
      {"files", static_cast<std::int64_t>(context.scaled ? 20 : context.parameter("files"))},
      {"dirty", static_cast<std::int64_t>(context.scaled ? 10 : context.parameter("dirty"))}};
  const auto outcome = run_workload(**machine, run);
  if (!outcome) return {.seconds = {}, .error = outcome.error().message()};
  context.modelled_s += seconds_of((*machine)->now());
  double seconds = 0;
  for (const char* const step : {"repair", "mount"})
    for (const PhaseOutcome& phase : outcome->phases)
      if (phase.name == step) seconds += phase.elapsed_s;
  return {.seconds = seconds, .error = {}};
}

}  // namespace

std::vector<Parameter> sizes_parameters() {
  return {{"files", 1000, "on the disk, synced, as in the guests"},
          {"dirty", 400, "written since then, each with fsync, as in the guests"}};
}

std::vector<ClaimAnswer> sizes(Context& context) {
  ClaimAnswer answer{
      .id = "recovery by size",
      .part = "sizes",
      .title = "Recovery by size after the same work; RAID-0, Presto (not in the paper)"};
  Plot plot{.name = "sizes",
            .title = answer.title,
            .x = "file system (GB)",
            .y = "recovery (s)",
            .logarithmic_x = true};
  const std::vector<double> gigabytes =
      context.scaled ? std::vector<double>{1} : std::vector<double>{1, 10, 44};
  std::array<std::vector<Figure>, kRows.size()> all;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    Series series{.name = kRows[i].label};
    for (const double size : gigabytes) {
      if (context.interrupted()) return {};
      constexpr double kWholeGb = 44;
      const auto bytes =
          size == kWholeGb
              ? std::nullopt
              : std::optional(static_cast<std::uint64_t>(size * static_cast<double>(kGib)));
      const Recovered one = recovered(context, kRows[i], bytes);
      add_row(answer, fmt::format("{}, {:g} GB", kRows[i].label, size), "recovery", "s", {},
              one.seconds, one.error);
      if (one.seconds) series.points.emplace_back(size, *one.seconds);
      all[i].push_back(one.seconds);
    }
    plot.series.push_back(std::move(series));
  }
  answer.plots.push_back(std::move(plot));
  const auto of = [&](std::size_t row, std::size_t size) { return all[row][size]; };
  const std::size_t last = gigabytes.size() - 1;
  add_rule(answer, "on the largest file system: a log < fast fsck < full fsck",
           {{"VxFS", of(2, last)}, {"fast fsck", of(1, last)}, {"full fsck", of(0, last)}},
           [&] { return *of(2, last) < *of(1, last) && *of(1, last) < *of(0, last); });
  if (last > 0)
    add_rule(answer, "a log's recovery does not depend on the size (+-25 %)",
             {{"smallest", of(2, 0), "s"}, {"largest", of(2, last), "s"}},
             [&] { return *of(2, last) <= *of(2, 0) * 1.25 && *of(2, last) >= *of(2, 0) * .75; });
  answer.remarks.emplace_back(
      "The recovery begins at once, so its time includes the concurrent write-back of the caches.");
  return {answer};
}

}  // namespace headcrash::experiment::peacock98
