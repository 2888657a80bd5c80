// CH-11 to CH-13: the three rules of write cancellation (section 6, figure 3).
#include <cmath>

#include "harness/papers/chen96/chen96.h"
#include "harness/papers/chen96/overwrite.h"

namespace headcrash::experiment::chen96 {
namespace {

using model::kNever;
using os::TimeNs;

constexpr std::uint64_t kLargeBytes = 120 * kMb;
constexpr double kTargetMbPerS = OverwriteLoad{}.target_mb_s;

/// Read and write rates while one 120 MB file is read and another is written (rule 2).
struct Together {
  Figure mb_per_s, mb_per_busy_s;
  std::string error;
};
Together read_and_write(Cells& cells, TimeNs delay_ns, Reading reading,
                        std::uint32_t request_bytes = kRequestBytes) {
  auto machine = axp3000_600(delay_ns, reading);
  if (!machine) return {{}, {}, machine.error().message()};
  machine->concatenated_sectors = request_bytes / model::kSectorBytes;
  const Cell& cell =
      cells.get({.name = fmt::format("delay {:g} s, requests of {} KiB{}", seconds_of(delay_ns),
                                     request_bytes >> 10, in_title(reading)),
                 .machine = *machine},
                "chen-r2");
  const auto rate = [&](double PhaseOutcome::* until) {
    return cell.of("read-and-write", [until](const PhaseOutcome& phase) {
      return megabytes(phase.bytes_read + phase.bytes_written) / phase.*until;
    });
  };
  return {rate(&PhaseOutcome::longest_s), rate(&PhaseOutcome::disk_busy_s), cell.remark};
}

/// Returns the rates of rule 3, with a reader at full speed.
OverwriteRates overwritten(TimeNs delay_ns, Reading reading, const Context& context) {
  const std::uint64_t scale = context.scaled ? 20 : 1;
  auto options = axp3000_600(delay_ns, reading);
  if (options) options->cache_bytes /= scale;
  OverwriteLoad load{.read_bytes = kLargeBytes / scale};
  load.written_bytes /= scale;
  load.target_mb_s /= static_cast<double>(scale);
  if (context.scaled) load.measured_ns = 10 * model::kSecondNs;
  return overwrite(options, load);
}

ClaimAnswer rule_1(Context& context, Reading reading) {
  // Calibrated so that 26 compilations take 16.3 s in total with an infinite delay.
  constexpr std::uint64_t kCompileMs = 460;
  ClaimAnswer answer{
      .id = id_of("CH-11", reading),
      .part = "rules",
      .title = std::string("Rule 1: the disk keeps up, and no delay helps (Andrew)") +
               in_title(reading)};
  struct Andrew {
    const char* name;
    os::SyncerOptions::Policy policy;
    TimeNs delay_ns;
    Figure paper_s;
    std::uint64_t passes = 1;
  };
  using enum os::SyncerOptions::Policy;
  std::vector<Named> seconds;
  for (const Andrew& row :
       {Andrew{"infinite delay", interval, kLongAfter, 16.3},
        {"zero delay", interval, 0, 16.7},
        {"write-through", write_through, 0, 300},
        {"infinite delay; eight programs per compilation", interval, kLongAfter, {}, 8},
        {"write-through; eight programs per compilation", write_through, 0, {}, 8}}) {
    if ((context.scaled || context.rules_only || reading == Reading::queue) && row.passes > 1)
      continue;
    auto machine = axp3000_600(row.delay_ns, reading);
    if (!machine) {
      add_row(answer, row.name, "elapsed", "s", row.paper_s, {}, machine.error().message());
      continue;
    }
    machine->syncer.policy = row.policy;
    const Cell& cell =
        context.cells.get({.name = std::string(row.name) + in_title(reading), .machine = *machine},
                          "andrew", {{"compile-cpu-ms", kCompileMs}, {"passes", row.passes}});
    Figure all = cell.outcome ? Figure(0.0) : std::nullopt;
    if (cell.outcome)
      for (const PhaseOutcome& phase : cell.outcome->phases)
        if (phase.measured) *all += phase.longest_s;
    add_number(answer, cell, row.name, "elapsed", "s", row.paper_s, all);
    seconds.push_back({row.name, all});
  }
  seconds.resize(3);
  add_rule(answer, "infinite and zero delay take the same time (within 5 %)",
           {seconds[0], seconds[1]},
           [&] { return std::abs(*seconds[1].value / *seconds[0].value - 1) <= .05; });
  add_rule(answer, "write-through takes over 300 s", {seconds[2]},
           [&] { return *seconds[2].value > 300; });
  answer.remarks.push_back(
      "The paper does not print the processor time of a compilation. It is set so that infinite "
      "delay gives 16.3 s; only the difference is a result. Write-through: each call returns "
      "when all its changes are on the disk. Counterfactual: a compilation with more files, "
      "because the paper does not print its number of writes.");
  return answer;
}

ClaimAnswer rule_2(Context& context, Reading reading) {
  ClaimAnswer answer{
      .id = id_of("CH-12", reading),
      .part = "rules",
      .title = std::string("Rule 2: 120 MB are read while 120 MB are written") + in_title(reading)};
  const Together never = read_and_write(context.cells, kLongAfter, reading),
                 at_once = read_and_write(context.cells, 0, reading);
  add_row(answer, "infinite delay", "read and written", "MB/s", 3.1, never.mb_per_s, never.error);
  add_row(answer, "zero delay", "read and written", "MB/s", 3.0, at_once.mb_per_s, at_once.error);
  add_row(answer, "infinite delay, relative to the disk's busy time until all data is on the disk",
          "read and written", "MB/s", {}, never.mb_per_busy_s, never.error);
  add_row(answer, "zero delay, relative to the disk's busy time until all data is on the disk",
          "read and written", "MB/s", {}, at_once.mb_per_busy_s, at_once.error);
  add_rule(answer, "each rate is within 10 % of the paper's",
           {{"infinite", never.mb_per_s}, {"zero", at_once.mb_per_s}}, [&] {
             return std::abs(*never.mb_per_s / 3.1 - 1) <= .1 &&
                    std::abs(*at_once.mb_per_s / 3.0 - 1) <= .1;
           });
  add_rule(answer, "zero delay is as fast as infinite delay (within 5 %)",
           {{"infinite", never.mb_per_s}, {"zero", at_once.mb_per_s}},
           [&] { return std::abs(*at_once.mb_per_s / *never.mb_per_s - 1) <= .05; });
  add_rule(
      answer,
      "the same holds relative to the disk's busy time until all data is on the disk (within 5 %)",
      {{"infinite", never.mb_per_busy_s}, {"zero", at_once.mb_per_busy_s}},
      [&] { return std::abs(*at_once.mb_per_busy_s / *never.mb_per_busy_s - 1) <= .05; });
  mark(answer, RuleClass::ours);
  if (context.rules_only || reading == Reading::queue) return answer;
  constexpr std::uint32_t kLongRequests = 1 << 20;
  const Together longer_never = read_and_write(context.cells, kLongAfter, reading, kLongRequests);
  const Together longer = read_and_write(context.cells, 0, reading, kLongRequests);
  add_row(answer, "infinite delay; requests of up to 1 MB", "read and written", "MB/s", {},
          longer_never.mb_per_s, longer_never.error);
  add_row(answer, "zero delay; requests of up to 1 MB", "read and written", "MB/s", {},
          longer.mb_per_s, longer.error);
  answer.remarks.push_back(
      "At the end, infinite delay leaves a cache full of unwritten data. Measured by the disk's "
      "busy time until all data is on the disk, both do the same work. Counterfactual: longer "
      "requests. Without a write cache and without a queue, a write loses a revolution between "
      "two requests.");
  return answer;
}

ClaimAnswer rule_3(Context& context, Reading reading) {
  ClaimAnswer answer = {
      .id = id_of("CH-13", reading),
      .part = "rules",
      .title = std::string("Rule 3: data overwritten after 6 s is never written (figure 3)") +
               in_title(reading)};
  Plot plot{
      .name = "figure3",
      .title = "Data read and written, by delay (figure 3)",
      .x = "delay (s)",
      .y = "MB/s",
      .series = {
          {.name = "read"}, {.name = "written into the cache"}, {.name = "written to the disk"}}};
  Figure before, after, never_read, never_disk, disk_after, write_before;
  for (const double delay : {0., 1., 2., 3., 4., 5., 6., 7., 8., 10., 15., 30., 1e9}) {
    if (context.interrupted()) break;
    const bool never = delay > 1e6;
    if (context.rules_only && delay != 5 && delay != 7 && !never) continue;
    const OverwriteRates seen = overwritten(
        never ? kNever : static_cast<TimeNs>(delay) * model::kSecondNs, reading, context);
    const std::string cell = never ? "infinite delay" : fmt::format("delay {:g} s", delay);
    add_row(answer, cell, "read", "MB/s", {}, seen.read, seen.error);
    add_row(answer, cell, "written into the cache", "MB/s", never ? Figure(10) : std::nullopt,
            seen.written, seen.error);
    add_row(answer, cell, "written to the disk", "MB/s", {}, seen.written_to_disk, seen.error);
    if (!seen.error.empty()) continue;
    if (!never) {
      plot.series[0].points.emplace_back(delay, *seen.read);
      plot.series[1].points.emplace_back(delay, *seen.written);
      plot.series[2].points.emplace_back(delay, *seen.written_to_disk);
    }
    if (delay == 5) before = seen.read, write_before = seen.written;
    if (delay == 7) after = seen.read, disk_after = seen.written_to_disk;
    if (never) never_read = seen.read, never_disk = seen.written_to_disk;
  }
  add_rule(answer, "writes slow down reads: reads are slower with a delay of 5 s than with 7 s",
           {{"5 s", before}, {"7 s", after}}, [&] { return *before < *after; });
  add_rule(
      answer,
      "reads are not starved: with a delay of 5 s, they reach at least a tenth of the rate with "
      "7 s",
      {{"5 s", before}, {"7 s", after}}, [&] { return *before >= *after / 10; });
  mark(answer, RuleClass::ours);
  add_rule(answer, "with a delay of 5 s, the writer does not reach 10 MB/s",
           {{"5 s", write_before}}, [&] { return *write_before < .95 * kTargetMbPerS; });
  add_rule(
      answer,
      "with a delay of 7 s, no file data is written to the disk (at most 5 % of the data written "
      "into the cache)",
      {{"7 s", disk_after}}, [&] { return *disk_after < .05 * kTargetMbPerS; });
  add_rule(answer, "an infinite delay is no better than 7 s (within 5 %)",
           {{"7 s", after}, {"infinite", never_read}},
           [&] { return *never_read <= *after * 1.05; });
  answer.plots.push_back(std::move(plot));
  answer.remarks.push_back(
      "\"No writes\" from 7 s on contradicts the text, in which metadata is written every second; "
      "the remaining writes are this metadata.");
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> rules(Context& context) {
  std::vector<ClaimAnswer> answers;
  for (const Reading reading : {Reading::one_command, Reading::queue})
    for (const auto& rule : {rule_1, rule_2, rule_3}) answers.push_back(rule(context, reading));
  return answers;
}

}  // namespace headcrash::experiment::chen96
