// CH-03, CH-04, CH-07, CH-10: the delays that the equations give, on the modelled machine.
//
// Only the reading with a queue is run: if a process never waits for a block that is being written,
// its rate does not depend on the delay.
#include <algorithm>
#include <map>

#include "harness/papers/chen96/chen96.h"
#include "harness/papers/chen96/delay_model.h"
#include "harness/papers/chen96/overwrite.h"

namespace headcrash::experiment::chen96 {
namespace {

using os::TimeNs;

constexpr double kCacheMb = 85;
/// "The disk can sustain 3 MB/s" (section 6).
constexpr double kDiskMbPerS = 3;
/// The paper calls 3.0 and 3.1 MB/s "about the same".
constexpr double kAsFast = .95;
/// The syncer runs once per second, so data may be written a second after its delay has passed.
constexpr double kTickS = 1;

TimeNs ns_of(double seconds) {
  return static_cast<TimeNs>(seconds * static_cast<double>(model::kSecondNs));
}

/// A cell of figure 1: a file set that is overwritten at a given rate.
struct Workload {
  double set_mb, mb_per_s;
  std::uint64_t read_bytes = 0;

  double lifetime_s() const { return set_mb / mb_per_s; }
  std::string name() const { return fmt::format("{:g} MB at {:g} MB/s", set_mb, mb_per_s); }
};

/// Returns the rates of the workload with this delay; kNever is an infinite delay.
OverwriteRates rates_of(const Workload& workload, TimeNs delay_ns) {
  auto machine = axp3000_600(delay_ns, Reading::queue);
  if (machine) machine->reads_first = workload.read_bytes > 0;
  // Each measurement covers several lifetimes, and begins after the cache has reached its steady
  // state.
  const TimeNs lifetime_ns = ns_of(workload.lifetime_s());
  return overwrite(machine,
                   {.written_bytes = static_cast<std::uint64_t>(workload.set_mb * double{kMb}),
                    .target_mb_s = workload.mb_per_s,
                    .read_bytes = workload.read_bytes,
                    .warm_ns = std::max(40 * model::kSecondNs, 2 * lifetime_ns),
                    .measured_ns = std::max(60 * model::kSecondNs, 2 * lifetime_ns)});
}

/// Returns the rate of writes as a fraction of that with an infinite delay.
Figure relative(const OverwriteRates& one, const OverwriteRates& never) {
  return part_of(one.written, never.written);
}

/// The verdicts on the workloads to which one of the model's rules applies.
struct Cases {
  double agree = 0, all = 0;
  bool failed = false;  ///< a run failed

  /// Adds a rule that holds if all of these workloads agree with the model.
  void judge(ClaimAnswer& answer, const std::string& text) const {
    const Figure agreeing = failed || all == 0 ? std::nullopt : Figure(agree);
    add_rule(answer, fmt::format("{} ({:g} workloads)", text, all), {{"agree", agreeing}},
             [&] { return agree == all; });
  }
};

/// Adds the measurements of one cell. Returns the shortest measured delay that is as fast as an
/// infinite one; nullopt if none is.
Figure measure_cell(ClaimAnswer& answer, const Workload& workload, const OptimalDelay& by_model,
                    Cases& cases) {
  const OverwriteRates never = rates_of(workload, model::kNever);
  add_row(answer, workload.name() + ", infinite delay", "written into the cache", "MB/s", {},
          never.written, never.error);
  std::vector<double> delays{0};
  if (by_model.delay_s > 0) delays = {by_model.delay_s / 2, by_model.delay_s + kTickS};
  std::vector<double> shares;
  for (const double delay : delays) {
    const OverwriteRates seen = rates_of(workload, ns_of(delay));
    const std::string name = fmt::format("{}, delay {:.3g} s", workload.name(), delay);
    const Figure share = relative(seen, never);
    add_row(answer, name, "written into the cache", "MB/s", {}, seen.written, seen.error);
    add_row(answer, name, "written to the disk", "MB/s", {}, seen.written_to_disk, seen.error);
    cases.failed = cases.failed || !share;
    shares.push_back(share.value_or(0));
  }
  const bool agrees = shares.back() >= kAsFast && (shares.size() == 1 || shares.front() < kAsFast);
  cases.all += 1;
  cases.agree += agrees ? 1 : 0;
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (shares[i] >= kAsFast) return delays[i];
  return std::nullopt;
}

std::vector<ClaimAnswer> figure_1_on_machine(const Context& context) {
  ClaimAnswer grid{.id = "CH-04",
                   .part = "delays",
                   .title = "Figure 1 on the modelled machine: cache of 85 MB, disk of 3 MB/s"};
  ClaimAnswer bound{.id = "CH-03",
                    .part = "delays",
                    .title = "No optimal delay exceeds the cache size divided by the disk's rate"};
  // The sets are a quarter, half and most of the cache, and more than it; the rates are below the
  // disk's, just above it (the highest point of figure 1), and far above.
  std::vector<Workload> workloads;
  for (const double set : {20., 40., 75., 120.})
    for (const double rate : {1., 3.5, 10.}) workloads.push_back({set, rate});
  if (context.scaled) workloads = {{10, 1}, {10, 10}, {90, 10}};
  std::map<Rule, Cases> cases;
  Figure longest = 0.0;
  for (const Workload& each : workloads) {
    if (context.interrupted()) break;
    const OptimalDelay by_model = optimal_delay(each.set_mb, each.mb_per_s, kCacheMb, kDiskMbPerS);
    const Figure shortest = measure_cell(grid, each, by_model, cases[by_model.rule]);
    longest = shortest && longest ? Figure(std::max(*longest, *shortest)) : std::nullopt;
  }
  cases[Rule::disk_keeps_up].judge(
      grid, "rule 1, the disk keeps up: zero delay is as fast as infinite delay (5 %)");
  cases[Rule::cache_thrashes].judge(
      grid, "rule 2, the set exceeds the cache: zero delay is as fast as infinite delay (5 %)");
  cases[Rule::lifetime].judge(
      grid,
      "rule 3: a delay of the lifetime plus a tick is as fast as infinite delay (5 %), but a delay "
      "of half the lifetime is not");
  const double bound_s = longest_delay_s(kCacheMb, kDiskMbPerS);
  add_row(bound, "all workloads of figure 1", "longest optimal delay", "s", {}, longest,
          "one workload has no optimal delay among the tested delays");
  add_rule(bound, fmt::format("at most 85 MB / 3 MB/s = {:.3g} s", bound_s), {{"longest", longest}},
           [&] { return *longest <= bound_s; });
  return {bound, grid};
}

/// Returns the shortest of the delays with which all rates are as high as with an infinite delay.
Figure optimal_of(ClaimAnswer& answer, const Workload& workload, const char* name) {
  const OverwriteRates never = rates_of(workload, model::kNever);
  Figure optimal;
  for (const double delay : {0., 2., 4., 5., 6., 7., 8.}) {
    const OverwriteRates seen = rates_of(workload, ns_of(delay));
    const std::string cell = fmt::format("{}, delay {:g} s", name, delay);
    add_row(answer, cell, "written into the cache", "MB/s", {}, seen.written, seen.error);
    if (workload.read_bytes > 0) add_row(answer, cell, "read", "MB/s", {}, seen.read, seen.error);
    const Figure written = relative(seen, never), read = part_of(seen.read, never.read);
    const bool reads_keep_up = workload.read_bytes == 0 || (read && *read >= kAsFast);
    if (written && *written >= kAsFast && reads_keep_up && !optimal) optimal = delay;
  }
  add_row(answer, name, "optimal delay", "s", {}, optimal,
          "no tested delay is as fast as an infinite delay");
  return optimal;
}

ClaimAnswer with_reads(const Context& context) {
  ClaimAnswer answer{.id = "CH-07",
                     .part = "delays",
                     .title =
                         "60 MB are overwritten at 10 MB/s, without reads and with reads that "
                         "bypass writes"};
  const std::uint64_t scale = context.scaled ? 6 : 1;
  Workload workload{60. / static_cast<double>(scale), 10};
  const Figure alone = optimal_of(answer, workload, "without reads");
  workload.read_bytes = 120 * kMb / scale;
  const Figure reads = optimal_of(answer, workload, "with reads");
  const double bound_s = longest_delay_s(kCacheMb, kDiskMbPerS);
  add_rule(answer, "the optimal delay with reads is not longer than without",
           {{"with reads", reads}, {"without", alone}}, [&] { return *reads <= *alone; });
  add_rule(
      answer,
      fmt::format("with reads, the optimal delay does not exceed the cache size divided by the "
                  "disk's rate, {:.3g} s",
                  bound_s),
      {{"with reads", reads}}, [&] { return *reads <= bound_s; });
  return answer;
}

/// Times after a burst of 10 MB.
struct BurstTimes {
  Figure begun_s, written_s;
  std::string error;
};

constexpr double kBurstMb = 10;
constexpr std::uint64_t kBurstBytes = 10 * kMb;

/// Returns the rate at which fsync writes a burst to the disk, in MB/s.
Figure rate_of_fsync() {
  auto options = axp3000_600(0, Reading::queue);
  if (options) options->syncer.policy = os::SyncerOptions::Policy::none;
  LoadedMachine machine(options);
  TimeNs from = 0, to = 0;
  machine.run({[&] {
    const auto file = machine.vfs().open("burst", {.create = true});
    if (!machine.ok(file) || !machine.write(*file, 0, kBurstBytes)) return;
    from = machine.now();
    machine.ok(machine.vfs().fsync(*file));
    to = machine.now();
  }});
  return machine.good() ? Figure(kBurstMb / seconds_of(to - from)) : std::nullopt;
}

BurstTimes burst(const os::SyncerOptions& syncer) {
  constexpr TimeNs kStep = model::kSecondNs / 20, kLongest = 40 * model::kSecondNs;
  auto options = axp3000_600(0, Reading::queue);
  if (options) options->syncer = syncer;
  LoadedMachine machine(options);
  BurstTimes times;
  TimeNs from = 0;
  machine.run({[&] {
    const auto file = machine.vfs().open("burst", {.create = true});
    if (!machine.ok(file) || !machine.ok(machine.vfs().syncfs())) return;
    // The burst begins in the middle between two ticks of the syncer.
    machine.sleep_until(machine.now() / model::kSecondNs * model::kSecondNs +
                        3 * model::kSecondNs / 2);
    from = machine.now();
    const auto on_disk = [&] {
      return machine.modelled().device_counters().sectors_written * model::kSectorBytes;
    };
    const std::uint64_t before = on_disk();
    if (!machine.write(*file, 0, kBurstBytes)) return;
    for (TimeNs at = from; at < from + kLongest && !times.written_s; at += kStep) {
      machine.sleep_until(at);
      const std::uint64_t bytes = on_disk() - before;
      // Metadata, which is written every second, has less than a tenth of the data's size.
      if (bytes >= kBurstBytes / 10 && !times.begun_s)
        times.begun_s = seconds_of(machine.now() - from);
      if (bytes >= kBurstBytes) times.written_s = seconds_of(machine.now() - from);
    }
  }});
  times.error = machine.error();
  return times;
}

ClaimAnswer burst_in_time() {
  ClaimAnswer answer{.id = "CH-10",
                     .part = "delays",
                     .title = "A burst of 10 MB that must be on the disk within 15 s (section 4)"};
  constexpr double kLongestS = 15;
  using Policy = os::SyncerOptions::Policy;
  const Figure rate = rate_of_fsync();
  add_row(answer, "fsync of the burst", "rate", "MB/s", {}, rate, "fsync failed");
  if (!rate) return answer;
  const double begin_s = burst_start_s(kBurstMb, kLongestS, *rate);
  const BurstTimes early = burst(
                       {.policy = Policy::burst,
                        .interval_ns = ns_of(kLongestS),
                        .drain_bytes_per_s = static_cast<std::uint64_t>(*rate * double{kMb})}),
                   late = burst({.policy = Policy::interval, .interval_ns = ns_of(kLongestS)});
  add_row(answer, "written early enough", "10 % on the disk", "s", {}, early.begun_s, early.error);
  add_row(answer, "written early enough", "all on the disk", "s", {}, early.written_s, early.error);
  add_row(answer, "written at the age of 15 s", "10 % on the disk", "s", {}, late.begun_s,
          late.error);
  add_row(answer, "written at the age of 15 s", "all on the disk", "s", {}, late.written_s,
          late.error);
  add_rule(answer,
           "writing begins 15 s after the burst, minus the time to write it, or a tick later",
           {{"expected", begin_s}, {"begun", early.begun_s}}, [&] {
             const double tenth_s = kBurstMb / 10 / *rate;
             return *early.begun_s >= begin_s && *early.begun_s <= begin_s + kTickS + tenth_s;
           });
  add_rule(answer, "all of it is on the disk after 15 s, or a tick later",
           {{"written", early.written_s}}, [&] { return *early.written_s <= kLongestS + kTickS; });
  add_rule(answer, "data that is written at the age of 15 s is late", {{"written", late.written_s}},
           [&] { return *late.written_s > kLongestS + kTickS; });
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> delays(Context& context) {
  std::vector<ClaimAnswer> answers = figure_1_on_machine(context);
  answers.push_back(with_reads(context));
  answers.push_back(burst_in_time());
  return answers;
}

}  // namespace headcrash::experiment::chen96
