// CH-08, CH-14, CH-15: the duration of fsync as a function of the amount of written data (figures 4
// and 5).
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>

#include "harness/papers/chen96/axp3000_600.h"
#include "harness/papers/chen96/chen96.h"

namespace headcrash::experiment::chen96 {
namespace {

struct Drain {
  Figure seconds;
  std::string error;
};

using Change = std::function<void(ModelledMachineOptions&)>;

/// Returns the duration of fsync after `megabytes` have been written to a new file. No other sync
/// takes place. `name` names the machine after the change.
Drain drain(Cells& cells, double megabytes, Reading reading, const std::string& name = "",
            const Change& change = {}) {
  auto machine = axp3000_600(0, reading);
  if (!machine) return {{}, machine.error().message()};
  if (change) change(*machine);
  machine->syncer = {.policy = os::SyncerOptions::Policy::periodic, .interval_ns = kLongAfter};
  const auto kib =
      static_cast<std::uint64_t>(std::llround(megabytes * static_cast<double>(kMb) / 1024));
  const Cell& cell = cells.get(
      {.name = name + (reading == Reading::queue ? "queue" : "one command"), .machine = *machine},
      "chen-fsync", {{"burst-kib", kib}});
  return {cell.of("fsync", [](const PhaseOutcome& phase) { return phase.longest_s; }), cell.remark};
}

/// Adds rows with other machines: longer requests, and queues of other lengths.
void add_counterfactuals(Cells& cells, Reading reading, ClaimAnswer& efficient,
                         ClaimAnswer& bursts) {
  const auto add = [&](const std::string& name, const Change& change) {
    const Drain ten = drain(cells, 10, reading, name + ", ", change),
                all = drain(cells, 90, reading, name + ", ", change);
    add_row(efficient, "10 MB; " + name, "throughput", "MB/s", {},
            ten.seconds ? Figure(10 / *ten.seconds) : std::nullopt, ten.error);
    add_row(bursts, "90 MB; " + name, "drained in", "s", {}, all.seconds, all.error);
  };
  if (reading == Reading::queue) {
    for (const std::uint32_t commands : {2, 32})
      add(fmt::format("a queue of {} commands", commands),
          [&](ModelledMachineOptions& machine) { queue_commands(machine, commands); });
    add("one segment for written data",
        [](ModelledMachineOptions& machine) { machine.write_segments = 1; });
    return;
  }
  constexpr std::uint32_t kLongRequests = 1 << 20;
  add("requests of up to 1 MB", [](ModelledMachineOptions& machine) {
    machine.concatenated_sectors = kLongRequests / model::kSectorBytes;
  });
}

std::vector<ClaimAnswer> writes_in(Context& context, Reading reading) {
  const std::string end = in_title(reading);
  ClaimAnswer efficient{.id = id_of("CH-14", reading),
                        .part = "writes",
                        .title = "fsync of written data, by size (figure 4)" + end};
  ClaimAnswer bursts{.id = id_of("CH-15", reading),
                     .part = "writes",
                     .title = "fsync of bursts, some larger than the cache (figure 5)" + end};
  ClaimAnswer equation{.id = id_of("CH-08", reading),
                       .part = "writes",
                       .title = "Equation 6 compared with the drive: fsync by size" + end};
  Plot figure_4{.name = "figure4",
                .title = "Throughput of fsync by size (figure 4)",
                .x = "size (MB)",
                .y = "MB/s",
                .series = {{.name = "fsync"}}};
  Plot figure_5{.name = "figure5",
                .title = "Time to drain a burst (figure 5)",
                .x = "size (MB)",
                .y = "s",
                .series = {{.name = "fsync"}}};
  Figure best, five, longest, sixty_kb, half_mb, six_mb;
  std::vector<double> sizes{.06, .125, .25, .54, 1,  2,  3,  5,  6,   7,
                            10,  20,   40,  60,  70, 80, 85, 90, 100, 120};
  if (context.scaled) sizes = {.06, .54, 5, 6};
  for (const double size : sizes) {
    if (context.interrupted()) break;
    const Drain seen = drain(context.cells, size, reading);
    const std::string cell = fmt::format("{:g} MB", size);
    const Figure rate = seen.seconds ? Figure(size / *seen.seconds) : std::nullopt;
    if (size <= 10) add_row(efficient, cell, "throughput", "MB/s", {}, rate, seen.error);
    if (size >= 1) add_row(bursts, cell, "drained in", "s", {}, seen.seconds, seen.error);
    if (!seen.seconds) continue;
    if (size <= 10) figure_4.series[0].points.emplace_back(size, *rate);
    if (size >= 1) figure_5.series[0].points.emplace_back(size, *seen.seconds);
    if (size <= 10) best = std::max(best.value_or(0), *rate);
    longest = std::max(longest.value_or(0), *seen.seconds);
    if (size == .06) sixty_kb = rate;
    if (size == .54) half_mb = rate;
    if (size == 5) five = rate;
    if (size == 6) six_mb = rate;
  }
  const Figure share = part_of(five, best, 100);
  add_row(efficient, "5 MB", "share of best rate", "%", 97, share);
  add_row(efficient, "the best", "throughput", "MB/s", 3, best);
  add_rule(efficient, "5 MB reach 95 % of the best rate", {{"5 MB", share}},
           [&] { return *share >= 95; });
  add_row(bursts, "the longest", "drained in", "s", 30, longest);
  add_rule(bursts, "the longest drain takes 27 to 32 s", {{"longest", longest}},
           [&] { return *longest >= 27 && *longest <= 32; });
  for (const auto& [size, rate, paper] :
       {std::tuple{.06, sixty_kb, 50.}, {.54, half_mb, 90.}, {6., six_mb, 99.}}) {
    const Figure ours = part_of(rate, best, 100);
    add_row(equation, fmt::format("{:g} MB", size), "share of best rate", "%", paper, ours);
    constexpr double kPoints = 2;
    add_rule(equation,
             fmt::format("{:g} MB: efficiency is {:g} % (+-{:g} points)", size, paper, kPoints),
             {{"ours", ours}}, [&, its = paper] { return std::abs(*ours - its) <= kPoints; });
  }
  if (!context.scaled && !context.rules_only)
    add_counterfactuals(context.cells, reading, efficient, bursts);
  bursts.remarks.push_back(
      reading == Reading::queue
          ? "Counterfactuals: queues of other lengths, and a drive that cannot receive the data of "
            "a queued write in advance and therefore loses a revolution between two requests."
          : "Counterfactual: longer requests. Between two requests of 64 KiB, a drive without a "
            "write cache and without a queue loses a revolution.");
  equation.remarks.push_back(
      "The equation has one positioning per write. Our fsync also writes the inode, and the "
      "drive has an overhead for each request of 64 KiB.");
  efficient.plots.push_back(std::move(figure_4));
  bursts.plots.push_back(std::move(figure_5));
  return {efficient, bursts, equation};
}

}  // namespace

std::vector<ClaimAnswer> writes_by_size(Context& context) {
  std::vector<ClaimAnswer> answers;
  for (const Reading reading : {Reading::one_command, Reading::queue})
    std::ranges::move(writes_in(context, reading), std::back_inserter(answers));
  return answers;
}

}  // namespace headcrash::experiment::chen96
