// CH-08, CH-14, CH-15: the duration of fsync as a function of the amount of written data (figures 4
// and 5).
#include <algorithm>
#include <cmath>
#include <tuple>

#include "harness/papers/chen96/axp3000_600.h"
#include "harness/papers/chen96/chen96.h"

namespace headcrash::experiment::chen96 {
namespace {

struct Drain {
  Figure seconds;
  std::string error;
};

/// Returns the duration of fsync after `megabytes` have been written to a new file. No other sync
/// takes place.
Drain drain(Cells& cells, double megabytes, std::uint32_t request_bytes = kRequestBytes) {
  auto machine = axp3000_600(0, request_bytes);
  if (!machine) return {{}, machine.error().message()};
  machine->syncer = {.policy = os::SyncerOptions::Policy::periodic, .interval_ns = kLongAfter};
  const auto kib =
      static_cast<std::uint64_t>(std::llround(megabytes * static_cast<double>(kMb) / 1024));
  const Cell& cell = cells.get(
      {.name = fmt::format("requests of {} KiB", request_bytes >> 10), .machine = *machine},
      "chen-fsync", {{"burst-kib", kib}});
  return {cell.of("fsync", [](const PhaseOutcome& phase) { return phase.longest_s; }), cell.remark};
}

}  // namespace

std::vector<ClaimAnswer> writes_by_size(Context& context) {
  ClaimAnswer efficient{
      .id = "CH-14", .part = "writes", .title = "fsync of written data, by size (figure 4)"};
  ClaimAnswer bursts{.id = "CH-15",
                     .part = "writes",
                     .title = "fsync of bursts, the largest beyond the cache (figure 5)"};
  ClaimAnswer equation{.id = "CH-08",
                       .part = "writes",
                       .title =
                           "Equation 6 compared with the drive: fsync by "
                           "size"};
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
    const Drain seen = drain(context.cells, size);
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
  add_rule(efficient, "5 MB reach 95 % of the best", {{"5 MB", share}},
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
             fmt::format("{:g} MB: efficiency is {:g} % within {:g} points", size, paper, kPoints),
             {{"ours", ours}}, [&, its = paper] { return std::abs(*ours - its) <= kPoints; });
  }
  if (!context.scaled && !context.rules_only) {
    constexpr std::uint32_t kLongRequests = 1 << 20;
    const Drain ten = drain(context.cells, 10, kLongRequests),
                all = drain(context.cells, 90, kLongRequests);
    add_row(efficient, "burst of 10 MB; requests of up to 1 MB", "throughput", "MB/s", {},
            ten.seconds ? Figure(10 / *ten.seconds) : std::nullopt, ten.error);
    add_row(bursts, "burst of 90 MB; requests of up to 1 MB", "drained in", "s", {}, all.seconds,
            all.error);
  }
  bursts.remarks.push_back(
      "Counterfactual: longer requests. Between two requests of 64 KiB, a drive without a write "
      "cache loses a revolution. The queue of the paper's drive may have hidden this loss.");
  equation.remarks.push_back(
      "The equation has one positioning per write. Our fsync also writes the inode, and the "
      "drive has an overhead for each request of 64 KiB.");
  efficient.plots.push_back(std::move(figure_4));
  bursts.plots.push_back(std::move(figure_5));
  return {efficient, bursts, equation};
}

}  // namespace headcrash::experiment::chen96
