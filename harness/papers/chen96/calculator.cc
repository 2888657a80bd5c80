// Evaluates the equations with the user's numbers and with the paper's numbers. The results for the
// paper's numbers are compared with those in the paper.
#include <algorithm>
#include <cmath>

#include "harness/papers/chen96/chen96.h"
#include "harness/papers/chen96/delay_model.h"
#include "harness/papers/judge.h"
#include "plugin/profiles/profile.h"

namespace headcrash::experiment::chen96 {
namespace {

constexpr double kBytesPerMb = 1e6, kMsPerS = 1000, kPercent = 100;

ClaimAnswer claim(const char* id, std::string title) {
  return {.id = id, .part = "calculator", .title = std::move(title), .kind = RuleClass::arithmetic};
}

void add(ClaimAnswer& answer, std::string cell, std::string quantity, std::string unit,
         Figure paper, Figure ours) {
  answer.numbers.push_back({.cell = std::move(cell),
                            .quantity = std::move(quantity),
                            .unit = std::move(unit),
                            .paper = paper,
                            .ours = ours,
                            .remark = ours ? "" : "invalid value"});
}

/// Adds a number and a rule to the answer. The rule holds if the number differs from the paper's by
/// at most the fraction `within`.
void add_same(ClaimAnswer& answer, const std::string& cell, const std::string& quantity,
              const std::string& unit, double paper, Figure ours, double within) {
  add(answer, cell, quantity, unit, paper, ours);
  add_rule(answer, fmt::format("{}: {} is {:g} {}", cell, quantity, paper, unit),
           {{quantity, ours}},
           [&] { return std::abs(*ours - paper) <= within * std::max(paper, 1e-9); });
}

const char* meaning(Rule rule) {
  switch (rule) {
    case Rule::disk_keeps_up:
      return "1: the disk keeps up";
    case Rule::cache_thrashes:
      return "2: the file set does not fit into the cache";
    case Rule::lifetime:
      break;
  }
  return "3: the files' lifetime";
}

std::string text(Figure value) {
  return value ? fmt::format("{:.4g}", *value) : "none";
}

/// The machine and workload described by the user's parameters.
struct Asked {
  double memory, disk, positioning, writes, set, burst, longest;
  Traffic traffic;

  explicit Asked(const Context& context)
      : memory(context.parameter("memory-mb")),
        disk(context.parameter("disk-mb-s")),
        positioning(context.parameter("positioning-ms") / kMsPerS),
        writes(context.parameter("write-mb-s")),
        set(context.parameter("file-set-mb")),
        burst(context.parameter("burst-mb")),
        longest(context.parameter("longest-delay-s")) {
    const double share = context.parameter("read-share");
    traffic.write_cache = writes;
    traffic.read_cache = share < 1 ? writes * share / (1 - share) : 0;
    traffic.read_disk = traffic.read_cache * context.parameter("read-misses");
  }
  /// Describes an error in the parameters. Returns an empty string if they are valid.
  static std::string wrong(const Context& context) {
    for (const char* positive : {"memory-mb", "disk-mb-s", "positioning-ms"}) {
      if (context.parameter(positive) <= 0)
        return fmt::format("{} must be greater than 0", positive);
    }
    for (const char* size : {"write-mb-s", "file-set-mb", "burst-mb", "longest-delay-s"}) {
      if (context.parameter(size) < 0) return fmt::format("{} must be at least 0", size);
    }
    const double reads = context.parameter("read-share"), misses = context.parameter("read-misses");
    if (reads < 0 || reads >= 1) return "read-share must be at least 0 and less than 1";
    if (misses < 0 || misses > 1) return "read-misses must be from 0 to 1";
    return {};
  }
};

Table delays_table(const Asked& asked) {
  Table table{.name = "delays",
              .title = "Your machine",
              .columns = {"what", "value", "unit", "from"},
              .rows = {}};
  const auto row = [&](const char* what, Figure value, const char* unit, const char* from) {
    table.rows.push_back({what, text(value), unit, from});
  };
  const double left = std::max(0.0, asked.disk - asked.traffic.read_disk);
  const OptimalDelay optimal = optimal_delay(asked.set, asked.writes, asked.memory, asked.disk);
  row("longest useful delay", longest_delay_s(asked.memory, asked.disk), "s", "equation 1");
  row("optimal delay without reads", optimal.delay_s, "s", meaning(optimal.rule));
  row("read from the cache", asked.traffic.read_cache, "MB/s", "read-share");
  row("read from the disk", asked.traffic.read_disk, "MB/s", "read-misses");
  const Figure most = most_writes_mb_s(asked.traffic, asked.disk);
  row("longest useful delay, with reads",
      delay_with_reads_s(asked.traffic, asked.memory, asked.disk), "s",
      most && asked.writes > *most
          ? "equation 2, but the disk cannot keep up under any delay (equation 4)"
          : "equation 2");
  row("disk rate available for writes", left, "MB/s", "equation 3");
  row("maximum rate of writes into the cache", most, "MB/s", "equation 4");
  for (const double percent : {50.0, 90.0, 99.0}) {
    const double size = size_for_efficiency_mb(percent / kPercent, asked.positioning, asked.disk);
    const std::string what = fmt::format("write size for {:g} % of the disk's rate", percent);
    table.rows.push_back({what, text(size), "MB", "equation 6"});
    if (asked.writes > 0)
      table.rows.push_back(
          {what + ": time to collect this data", text(size / asked.writes), "s", ""});
  }
  row("throughput of writes that contain one second of data",
      effective_throughput_mb_s(asked.writes, asked.positioning, asked.disk), "MB/s", "equation 5");
  row("minimum delay for the disk to keep up",
      least_delay_s(asked.writes, asked.positioning, asked.disk), "s", "footnote 3");
  row("delay before a burst is written", burst_start_s(asked.burst, asked.longest, asked.disk), "s",
      "section 4");
  return table;
}

ClaimAnswer asked_for(const Context& context) {
  ClaimAnswer answer = claim("delay", "The six equations for your machine");
  if (const std::string wrong = Asked::wrong(context); !wrong.empty()) {
    answer.numbers.push_back(
        {.cell = "your machine", .quantity = "longest delay", .unit = "s", .remark = wrong});
    return answer;
  }
  const Asked asked(context);
  const double longest = longest_delay_s(asked.memory, asked.disk);
  add(answer, "your machine", "longest delay", "s", {}, longest);
  add(answer, "your machine", "optimal delay without reads", "s", {},
      optimal_delay(asked.set, asked.writes, asked.memory, asked.disk).delay_s);
  answer.tables.push_back(delays_table(asked));
  Plot plot{.name = "efficiency",
            .title = "Efficiency of writes by size (equation 6)",
            .x = "write size (MB)",
            .y = "share of the disk's rate (%)",
            .logarithmic_x = true,
            .series = {{.name = "equation 6", .points = {}}}};
  for (double size = 0.001; size < 101; size *= std::sqrt(10.0))
    plot.series[0].points.emplace_back(size,
                                       kPercent * efficiency(size, asked.positioning, asked.disk));
  answer.plots.push_back(plot);
  return answer;
}

ClaimAnswer bound() {
  ClaimAnswer answer =
      claim("CH-03",
            "No delay given by rule 3 exceeds cache size divided by disk rate (equation "
            "1)");
  constexpr double kCache = 100, kDisk = 5;
  double most = 0;
  for (double set = 1; set <= 2 * kCache; set += 1) {
    for (double rate = 0.5; rate <= 6 * kDisk; rate += 0.5)
      most = std::max(most, optimal_delay(set, rate, kCache, kDisk).delay_s);
  }
  add(answer, "file sets of 1 to 200 MB, throughputs of 0.5 to 30 MB/s", "largest optimal delay",
      "s", {}, most);
  add_rule(answer, "below 100 MB / 5 MB/s = 20 s", {{"largest", most}},
           [&] { return most < longest_delay_s(kCache, kDisk); });
  return answer;
}

ClaimAnswer figure_1() {
  ClaimAnswer answer = claim(
      "CH-04",
      "Figure 1: optimal delay by file set and throughput, for a cache of 100 MB and a disk of 5 "
      "MB/s");
  constexpr double kCache = 100, kDisk = 5, kJustAbove = 5 + 1e-6;
  add_same(answer, "file set of 100 MB, throughput just above 5 MB/s", "optimal delay", "s", 20,
           optimal_delay(kCache, kJustAbove, kCache, kDisk).delay_s, 1e-3);
  add_same(answer, "file set of 100 MB, throughput of 5 MB/s", "optimal delay", "s", 0,
           optimal_delay(kCache, kDisk, kCache, kDisk).delay_s, 0);
  add_same(answer, "file set of 101 MB, throughput just above 5 MB/s", "optimal delay", "s", 0,
           optimal_delay(kCache + 1, kJustAbove, kCache, kDisk).delay_s, 0);
  Plot plot{.name = "figure1",
            .title = "Optimal delay (figure 1)",
            .x = "written (MB/s)",
            .y = "optimal delay (s)",
            .series = {}};
  for (const double set : {25.0, 50.0, 75.0, 100.0, 125.0}) {
    Series series{.name = fmt::format("file set of {:g} MB", set), .points = {}};
    for (double rate = 0; rate <= 20; rate += 0.25)
      series.points.emplace_back(rate, optimal_delay(set, rate + 1e-6, kCache, kDisk).delay_s);
    plot.series.push_back(std::move(series));
  }
  answer.plots.push_back(std::move(plot));
  return answer;
}

ClaimAnswer sprite() {
  ClaimAnswer answer = claim(
      "CH-05", "Sprite: 8 KB/s per user, caches of 0 to 24 MB (7 MB on average), disk of 1 MB/s");
  constexpr double kUser = 0.008, kCache = 7, kDisk = 1;
  add_same(answer, "8 KB/s", "optimal delay", "s", 0,
           optimal_delay(kCache, kUser, kCache, kDisk).delay_s, 0);
  add_same(answer, "cache of 7 MB, disk of 1 MB/s", "longest delay", "s", 7,
           longest_delay_s(kCache, kDisk), 1e-6);
  add(answer, "cache of 24 MB (the largest), disk of 1 MB/s", "longest delay", "s", {},
      longest_delay_s(24, kDisk));
  return answer;
}

ClaimAnswer long_lifetime() {
  ClaimAnswer answer = claim("CH-06", "Cache that rule 3 needs for a lifetime of 100 s at 2 MB/s");
  // Searches for the smallest cache, in whole megabytes, for which rule 3 determines the delay.
  constexpr double kLifetime = 100, kWrites = 2, kDisk = 1;
  double cache = 1;
  while (optimal_delay(kWrites * kLifetime, kWrites, cache, kDisk).rule != Rule::lifetime)
    cache += 1;
  add_same(answer, "100 s at 2 MB/s", "cache", "MB", 200, cache, 1e-6);
  return answer;
}

ClaimAnswer reads() {
  ClaimAnswer answer = claim("CH-07", "Reads do not increase the longest delay (equations 2 to 4)");
  constexpr double kCache = 100, kDisk = 5;
  Table table{.name = "reads",
              .title = "Cache of 100 MB, disk of 5 MB/s, reads of 4 MB/s from the cache",
              .columns = {"reads that miss (%)", "maximum writes (MB/s)", "maximum delay (s)",
                          "delay at half the rate (s)"},
              .rows = {}};
  double longest = 0, furthest = 0;
  for (const double misses : {0.05, 0.25, 0.5, 0.75, 1.0}) {
    Traffic traffic{.write_cache = 0, .read_cache = 4, .read_disk = 4 * misses};
    const double most = most_writes_mb_s(traffic, kDisk).value_or(0);
    traffic.write_cache = most / 2;
    const double half = delay_with_reads_s(traffic, kCache, kDisk).value_or(0);
    traffic.write_cache = most;
    const double at_most = delay_with_reads_s(traffic, kCache, kDisk).value_or(0);
    longest = std::max({longest, half, at_most});
    furthest = std::max(furthest, std::abs(at_most - longest_delay_s(kCache, kDisk)));
    table.rows.push_back({text(kPercent * misses), text(most), text(at_most), text(half)});
  }
  add_same(answer, "maximum rate of writes", "longest delay", "s", longest_delay_s(kCache, kDisk),
           longest, 1e-9);
  add_rule(
      answer,
      "at the maximum rate of equation 4, the delay of equation 2 is the cache size divided by "
      "the disk rate, for any miss rate",
      {{"furthest", furthest}}, [&] { return furthest < 1e-9; });
  answer.tables.push_back(std::move(table));
  return answer;
}

ClaimAnswer efficiencies() {
  ClaimAnswer answer = claim(
      "CH-08",
      "Efficiency of writes by size (equations 5 and 6), disk of 4 MB/s, positioning of 15 ms");
  constexpr double kDisk = 4, kPositioning = 0.015, kPoints = 2;
  const std::pair<double, double> kPrinted[] = {{0.060, 50}, {0.540, 90}, {6, 99}};
  for (const auto& [its_size, its_percent] : kPrinted) {
    const double size = its_size, percent = its_percent;
    const double ours = kPercent * efficiency(size, kPositioning, kDisk);
    add(answer, fmt::format("{:g} MB", size), "efficiency", "%", percent, ours);
    add_rule(answer,
             fmt::format("{:g} MB: efficiency is {:g} % (+-{:g} points)", size, percent, kPoints),
             {{"ours", ours}}, [&] { return std::abs(ours - percent) <= kPoints; });
    add(answer, fmt::format("{:g} %", percent), "size", "MB", size,
        size_for_efficiency_mb(percent / kPercent, kPositioning, kDisk));
  }
  const double collected = size_for_efficiency_mb(0.99, kPositioning, kDisk) / kDisk;
  add(answer, "99 %, data collected at the disk's rate", "delay", "s", {}, collected);
  add_rule(answer, "collecting enough data for 99 % takes at most 2 s", {{"delay", collected}},
           [&] { return collected <= 2; });
  return answer;
}

ClaimAnswer least_delay() {
  ClaimAnswer answer = claim("CH-09", "The minimum delay for the disk to keep up (footnote 3)");
  constexpr double kDisk = 4, kPositioning = 0.015;
  double furthest = 0;
  for (const double writes : {0.4, 1.0, 2.0, 3.0, 3.9}) {
    const Figure delay = least_delay_s(writes, kPositioning, kDisk);
    add(answer, fmt::format("writes of {:g} MB/s to a disk of 4 MB/s", writes), "least delay", "s",
        {}, delay);
    const double reached =
        effective_throughput_mb_s(writes * delay.value_or(0), kPositioning, kDisk);
    furthest = std::max(furthest, std::abs(reached - writes));
  }
  add_rule(answer,
           "equation 5, with the data collected during the delay, gives the workload's "
           "throughput",
           {{"furthest", furthest}}, [&] { return furthest < 1e-9; });
  add_rule(answer, "there is no minimum delay for a workload as fast as the disk",
           {{"workload", kDisk}}, [&] { return !least_delay_s(kDisk, kPositioning, kDisk); });
  return answer;
}

ClaimAnswer bursts() {
  ClaimAnswer answer = claim("CH-10", "When the writing of a burst begins (section 4)");
  add_same(answer, "burst of 10 MB, at most 15 s, disk of 5 MB/s", "begin", "s", 13,
           burst_start_s(10, 15, 5), 1e-9);
  add(answer, "burst of 100 MB, at most 15 s, disk of 5 MB/s", "begin", "s", {},
      burst_start_s(100, 15, 5));
  return answer;
}

ClaimAnswer five_megabytes() {
  ClaimAnswer answer = claim("CH-14", "Figure 4's 97 % at 5 MB, compared with equation 6");
  constexpr double kSize = 5, kShare = 0.97, kPoints = 2;
  const double by_equation = kPercent * efficiency(kSize, 0.015, 4);
  add(answer, "writes of 5 MB, positioning of 15 ms, disk of 4 MB/s", "efficiency", "%",
      kPercent * kShare, by_equation);
  add_rule(answer, "the equation agrees with the figure within 2 points",
           {{"equation 6", by_equation}},
           [&] { return std::abs(by_equation - kPercent * kShare) <= kPoints; });
  const double fixed_s = kSize / 3 * (1 / kShare - 1);
  add(answer, "97 % at the sustained rate of 3 MB/s", "fixed time of a write", "ms", {},
      kMsPerS * fixed_s);
  answer.remarks.push_back(
      "The paper's figure is measured, not computed by equation 6. At 3 MB/s, 97 % means that "
      "about 50 ms of a write do not depend on its size: three times the positioning time of "
      "section 3.");
  return answer;
}

/// Adds the delay from equation 1 for a machine: its memory divided by the rate of one of its
/// drives. The rate is taken from our profiles.
void add_machine(ClaimAnswer& answer, Table& table, const char* year, const char* machine,
                 double cache_mb, const char* profile) {
  const auto drive = profiles::summarise_profile(profile);
  if (!drive) {
    answer.numbers.push_back({.cell = machine,
                              .quantity = "longest delay",
                              .unit = "s",
                              .remark = drive.error().message()});
    return;
  }
  const double outer = drive->outer_bytes_per_second / kBytesPerMb;
  const double inner = (drive->inner_bytes_per_second > 0 ? drive->inner_bytes_per_second
                                                          : drive->outer_bytes_per_second) /
                       kBytesPerMb;
  table.rows.push_back({year, machine, text(cache_mb), profile, text(inner), text(outer),
                        text(longest_delay_s(cache_mb, outer)),
                        text(longest_delay_s(cache_mb, inner))});
}

ClaimAnswer trend() {
  ClaimAnswer answer = claim("CH-16", "The longest useful delay, by year");
  add(answer, "Mogul's estimate for 1993 (memory and rate not printed)", "longest delay", "s", 1,
      {});
  add(answer, "Mogul's estimate for 2003 (memory and rate not printed)", "longest delay", "s", 14,
      {});
  for (ClaimNumber& number : answer.numbers) number.remark = "a quotation: nothing to compute";
  constexpr double kLeast = 80, kMost = 90, kSlow = 2.7, kFast = 5.5;
  const double shortest = longest_delay_s(kLeast, kFast), longest = longest_delay_s(kMost, kSlow);
  add(answer, "the paper's machine: cache of 80 MB, disk of 5.5 MB/s", "longest delay", "s", {},
      shortest);
  add(answer, "the paper's machine: cache of 90 MB, disk of 2.7 MB/s", "longest delay", "s", {},
      longest);
  add_rule(answer, "1 to 10 s for systems of 1996: the paper's own machine",
           {{"least", shortest}, {"most", longest}},
           [&] { return shortest >= 1 && longest <= 10; });
  Table table{.name = "machines",
              .title = "The papers' machines, with one of our drives and with all memory as cache",
              .columns = {"year", "machine", "cache (MB)", "drive", "inner (MB/s)", "outer (MB/s)",
                          "least (s)", "most (s)"},
              .rows = {}};
  add_machine(answer, table, "1992", "Sun-4/260", 32, "wren-iv");
  add_machine(answer, table, "1994", "NCR 3433", 44, "hp-c2447");
  add_machine(answer, table, "1996", "DEC AXP 3000/600, its cache", 85, "dec-rz26l");
  add_machine(answer, table, "1998", "Sun Ultra-2", 1000, "sun-4.2g");
  add_machine(answer, table, "2003", "Pentium 4", 628, "ibm-60g");
  add_machine(answer, table, "today", "16 GB (our choice)", 16'000, "sata-7200");
  add_machine(answer, table, "today", "16 GB (our choice)", 16'000, "nvme-970pro");
  answer.tables.push_back(std::move(table));
  answer.remarks.push_back(
      "The abstract's \"1-10 seconds for current systems\" is shorter than the delay that "
      "follows from the numbers of section 6, where draining 80 to 90 MB takes 30 s (figure 5).");
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> calculator(Context& context) {
  return {asked_for(context), bound(),       figure_1(), sprite(),         long_lifetime(), reads(),
          efficiencies(),     least_delay(), bursts(),   five_megabytes(), trend()};
}

}  // namespace headcrash::experiment::chen96
