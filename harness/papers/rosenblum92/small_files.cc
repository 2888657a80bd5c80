// LFS-22 to LFS-27: 10 000 one-kilobyte files (section 6.2.1.1, figures 6-1 to 6-3).
#include <cmath>

#include "harness/papers/judge.h"
#include "harness/papers/rosenblum92/chapter6.h"
#include "harness/papers/rosenblum92/prototype.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr const char* kSmallFiles = "lfs-small-file";

double per_second(const PhaseOutcome& phase) {
  return phase.operations_per_s();
}
double disk_busy_percent(const PhaseOutcome& phase) {
  return 100 * phase.disk_busy_s / phase.longest_s;
}
double cpu_busy_percent(const PhaseOutcome& phase) {
  return 100 * phase.cpu_busy_s / phase.longest_s;
}
/// Returns the bytes of file data per second of disk activity, in percent of the disk's maximum
/// rate.
double disk_efficiency_percent(const PhaseOutcome& phase) {
  constexpr double kMostBytesPerS = 1.3e6;
  return 100 * static_cast<double>(phase.bytes_written) / phase.disk_busy_s / kMostBytesPerS;
}

/// The benchmark's cells on the three systems.
struct Compared {
  const Cell &lfs, &sunos, &ofs;

  explicit Compared(Cells& cells)
      : lfs(cells.get(LfsSetup{}.setup(), kSmallFiles)),
        sunos(cells.get(rosenblum92::sunos().setup(), kSmallFiles)),
        ofs(cells.get(sprite_ofs().setup(), kSmallFiles)) {}

  std::vector<Named> values(const char* phase, double (*quantity)(const PhaseOutcome&)) const {
    std::vector<Named> all;
    for (const Cell* cell : {&lfs, &sunos, &ofs})
      all.push_back({cell->setup.name, cell->of(phase, quantity)});
    return all;
  }
  void add(ClaimAnswer& answer, const char* phase, const char* unit,
           double (*quantity)(const PhaseOutcome&), std::initializer_list<Figure> paper) const {
    auto printed = paper.begin();
    for (const Cell* cell : {&lfs, &sunos, &ofs}) {
      add_number(answer, *cell, cell->setup.name, phase, unit,
                 printed == paper.end() ? Figure() : *printed, cell->of(phase, quantity));
      if (printed != paper.end()) ++printed;
    }
  }
};

void add_ratio(ClaimAnswer& answer, const std::string& text, const Named& over, const Named& under,
               double least, double most) {
  const Figure ratio = part_of(over.value, under.value);
  add_rule(answer, text, {over, under, {"ratio", ratio}},
           [&] { return *ratio >= least && *ratio <= most; });
}

ClaimAnswer creation(const Compared& compared, Cells& cells) {
  ClaimAnswer answer{
      .id = "LFS-22", .part = "small-files", .title = "Creating 10 000 files of 1 KB (6-1)"};
  compared.add(answer, "create", "files/s", per_second, {160., 1000. / 60, {}});
  const auto rates = compared.values("create", per_second);
  add_ratio(answer,
            "LFS creates 8 to 12 times as many files per second as SunOS (\"almost ten times\")",
            rates[0], rates[1], 8, 12);
  mark(answer, RuleClass::calibrated);
  const Figure each_ms = rates[1].value ? Figure(1000 / *rates[1].value) : std::nullopt;
  add_rule(answer, "SunOS creates a file in 60 ms (+-25 %)", {in_unit(each_ms, "ms")},
           [&] { return std::abs(*each_ms / 60 - 1) <= .25; });
  add_falling(answer, "LFS > OFS > SunOS", {rates[0], rates[2], rates[1]});
  add_rule(answer, "OFS is significantly below LFS (at most half)", {rates[0], rates[2]},
           [&] { return *rates[2].value <= *rates[0].value / 2; });
  // A counterfactual: the last write of a series is asynchronous, so the user does not wait for the
  // disk.
  UfsSetup gone = sunos();
  gone.name += ", without waiting for the last write";
  gone.scheme.mount.options.last_write = ufs::LastWrite::asynchronous;
  const Cell& cell = cells.get(gone.setup(), kSmallFiles);
  add_number(answer, cell, gone.name, "create", "files/s", {}, cell.of("create", per_second));
  answer.remarks.push_back(
      "The processor was calibrated to LFS's 160 files per second (sun4_260.h), so LFS's number "
      "is not a result; the numbers of SunOS and OFS are. Counterfactual: SunOS without the wait "
      "for the directory's block.");
  return answer;
}

ClaimAnswer deletion(const Compared& compared, Cells& cells) {
  ClaimAnswer answer{
      .id = "LFS-23", .part = "small-files", .title = "Deleting 10 000 files of 1 KB (6-1)"};
  compared.add(answer, "delete", "files/s", per_second, {});
  const auto rates = compared.values("delete", per_second);
  constexpr double kAny = 1e9;
  add_ratio(answer, "LFS deletes over 3 times as fast as SunOS", rates[0], rates[1], 3, kAny);
  add_ratio(answer, "LFS deletes over 3 times as fast as OFS", rates[0], rates[2], 3, kAny);
  add_ratio(
      answer,
      "OFS deletes 1.7 to 2.5 times as fast as SunOS (\"twice\", because it waits only for the "
      "inode)",
      rates[2], rates[1], 1.7, 2.5);
  UfsSetup free = sprite_ofs();
  free.name += ", without waiting";
  free.scheme.mount.options.removed_inode = ufs::LastWrite::delayed;
  const Cell& cell = cells.get(free.setup(), kSmallFiles);
  add_number(answer, cell, free.name, "delete", "files/s", {}, cell.of("delete", per_second));
  answer.remarks.push_back("Counterfactual: OFS without the wait for the inode.");
  return answer;
}

ClaimAnswer reading(const Compared& compared, Cells& cells) {
  ClaimAnswer answer{.id = "LFS-24",
                     .part = "small-files",
                     .title = "Reading the files in the order of their creation (6-1)"};
  compared.add(answer, "read", "files/s", per_second, {});
  const auto rates = compared.values("read", per_second);
  add_falling(answer, "LFS >= SunOS > OFS", {rates[0], rates[1], rates[2]});
  UfsSetup whole_blocks = sunos();
  whole_blocks.name += ", a block for each file";
  whole_blocks.fragment_bytes = whole_blocks.block_bytes;
  const Cell& spaced = cells.get(whole_blocks.setup(), kSmallFiles);
  add_number(answer, spaced, whole_blocks.name, "read", "files/s", {},
             spaced.of("read", per_second));
  timed::Arguments one_folder{{"files-per-folder", 10'000}};
  if (cells.options().scaled) one_folder = {{"files-per-folder", 1'000}};
  for (const Setup& setup : {LfsSetup{}.setup(), sunos().setup(), sprite_ofs().setup()}) {
    const Cell& cell = cells.get(setup, kSmallFiles, one_folder);
    add_number(answer, cell, setup.name + ", one directory", "create", "files/s", {},
               cell.of("create", per_second));
    add_number(answer, cell, setup.name + ", one directory", "read", "files/s", {},
               cell.of("read", per_second));
  }
  answer.remarks.push_back(
      "100 files per directory are our choice; the dissertation only says that \"many\" share a "
      "directory. Second interpretation: all files in one directory. Counterfactual: SunOS packs "
      "eight files of a directory into a block, and the drive reads ahead; a separate block for "
      "each file gives the spacing that the text describes.");
  return answer;
}

ClaimAnswer utilization(const Compared& compared) {
  ClaimAnswer answer{
      .id = "LFS-25", .part = "small-files", .title = "Busy times while files are created (6-2)"};
  compared.add(answer, "create", "% disk", disk_busy_percent, {17., 85., {}});
  compared.add(answer, "create", "% processor", cpu_busy_percent, {100., {}, {}});
  const auto disk = compared.values("create", disk_busy_percent);
  const auto cpu = compared.values("create", cpu_busy_percent);
  add_rule(answer, "LFS: the disk is busy for 17 % (+-5 points)", {disk[0]},
           [&] { return std::abs(*disk[0].value - 17) <= 5; });
  add_rule(answer, "LFS: the processor is always busy (at least 95 %)", {cpu[0]},
           [&] { return *cpu[0].value >= 95; });
  add_rule(answer, "SunOS: the disk is busy for 85 % (+-10 points)", {disk[1]},
           [&] { return std::abs(*disk[1].value - 85) <= 10; });
  answer.remarks.push_back("In one place, the text has 15 % instead of the 17 % of figure 6-2.");
  return answer;
}

ClaimAnswer efficiency(const Compared& compared) {
  ClaimAnswer answer{
      .id = "LFS-26", .part = "small-files", .title = "Use of the disk's bandwidth (6.2.1.1)"};
  compared.add(answer, "create", "% of 1.3 MB/s", disk_efficiency_percent, {97., 2., {}});
  const auto share = compared.values("create", disk_efficiency_percent);
  add_rule(answer, "SunOS gets less than 2 % of the maximum", {share[1]},
           [&] { return *share[1].value < 2; });
  constexpr double kAny = 1e9;
  add_ratio(answer, "LFS uses the disk at least 40 times as efficiently (\"40 to 60 times\")",
            share[0], share[1], 40, kAny);
  answer.remarks.push_back(
      "Only bytes of files count. The printed 97 % would be 150 KB/s divided by .15 x 1.3 MB/s = "
      "77 %, unless metadata is included.");
  return answer;
}

ClaimAnswer faster_processors(Cells& cells) {
  ClaimAnswer answer{
      .id = "LFS-27", .part = "small-files", .title = "Creating files on faster processors (6-3)"};
  Plot plot{.name = "figure6-3",
            .title = "Files created per second, by processor speed",
            .x = "processor speed relative to a Sun-4/260",
            .y = "files/s",
            .logarithmic_x = true,
            .series = {}};
  std::vector<Named> lfs, sunos_rates;
  for (const double times : {1., 2., 4., 16.}) {
    for (const bool log : {true, false}) {
      const Setup setup =
          log ? (times == 1 ? LfsSetup{} : on_faster_processor(LfsSetup{}, times)).setup()
              : (times == 1 ? sunos() : on_faster_processor(sunos(), times)).setup();
      const Cell& cell = cells.get(setup, kSmallFiles);
      const Figure rate = cell.of("create", per_second);
      (log ? lfs : sunos_rates).push_back({fmt::format("x{:g}", times), rate});
      add_number(answer, cell, setup.name, "create", "files/s", {}, rate);
    }
  }
  for (const auto& [name, rates] :
       {std::pair{"Sprite LFS", &lfs}, std::pair{"SunOS", &sunos_rates}}) {
    Series series{.name = name, .points = {}};
    for (const Named& each : *rates)
      if (each.value) series.points.emplace_back(std::stod(each.name.substr(1)), *each.value);
    plot.series.push_back(std::move(series));
  }
  answer.plots.push_back(std::move(plot));
  add_ratio(answer, "LFS: 3 to 4 times as fast on a processor that is 4 times as fast", lfs[2],
            lfs[0], 3, 4.05);
  add_ratio(answer, "LFS: another factor of 4 to 6 before the disk is saturated (processor x16)",
            lfs[3], lfs[0], 4, 6);
  add_ratio(answer,
            "SunOS gains little: less than 1.3 times with a processor that is 4 times as fast",
            sunos_rates[2], sunos_rates[0], .9, 1.3);
  answer.remarks.push_back("The dissertation's figure is a prediction; ours is measured in a run.");
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> small_files(Context& context) {
  const Compared compared(context.cells);
  return {creation(compared, context.cells),
          deletion(compared, context.cells),
          reading(compared, context.cells),
          utilization(compared),
          efficiency(compared),
          faster_processors(context.cells)};
}

}  // namespace headcrash::experiment::rosenblum92
