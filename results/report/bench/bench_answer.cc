// Creates a benchmark's answer (bench_answer.h). Counts are written after labels, so that no
// sentence needs a plural form.
#include "results/report/bench/bench_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "results/report/bench/ranking.h"
#include "results/report/frame/answer.h"
#include "results/report/frame/figures.h"

namespace headcrash::report {
namespace {

constexpr std::size_t kWinnersMost = 6;
constexpr std::size_t kNamesMost = 3;
/// If the guest's count of bytes and the device's count differ by more than this fraction, a note
/// reports the difference.
constexpr double kDeviation = 0.01;
constexpr double kFewBytes = 16 << 10;
constexpr const char* kVirtualTime =
    "virtual time: processor time is zero; times consist of device time and the guest's timers, "
    "and are the same on any host";

constexpr const char* kCharged =
    "virtual time with processor time ({} times the time on this host's processor): not "
    "deterministic, and different on another host";

/// Joins names into a text such as "a, b, c, 3 more".
std::string named(const std::vector<std::string>& names, std::size_t most = kNamesMost) {
  const std::size_t shown = std::min(names.size(), most);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
  return shown == names.size() ? text : fmt::format("{}, {} more", text, names.size() - shown);
}

/// Returns the number of entrants whose rank is 1.
std::size_t winners(const Contest& contest) {
  return static_cast<std::size_t>(std::ranges::count_if(contest.entrants, [](const Entrant& e) {
    return e.standing.kind == Standing::Kind::ranked && e.standing.rank == 1;
  }));
}

/// Returns the status line, such as "comparisons: 8; fastest: xfs 5, ext4 2; no significant winner:
/// 1".
std::string status_of(const Benchmark& bench) {
  if (bench.trials.empty()) return "no trial has finished";
  std::map<std::string, std::size_t> wins;
  std::size_t open = 0, alone = 0, none = 0;
  for (const Contest& contest : bench.contests) {
    if (contest.ranked == 0) {
      ++none;
    } else if (contest.ranked == 1) {
      ++alone;
    } else if (winners(contest) == 1) {
      ++wins[contest.entrants.front().name()];
    } else {
      ++open;
    }
  }
  std::vector<std::pair<std::string, std::size_t>> order(wins.begin(), wins.end());
  std::ranges::stable_sort(order, std::greater<>(), &std::pair<std::string, std::size_t>::second);
  std::vector<std::string> fastest;
  fastest.reserve(order.size());
  for (const auto& [name, n] : order) fastest.push_back(fmt::format("{} {}", name, n));
  std::string text = fmt::format("comparisons: {}", bench.contests.size());
  if (!fastest.empty()) text += "; fastest: " + named(fastest, kWinnersMost);
  if (open > 0) text += fmt::format("; no significant winner: {}", open);
  if (alone > 0) text += fmt::format("; only one file system ranked: {}", alone);
  if (none > 0) text += fmt::format("; none ranked: {}", none);
  return text;
}

/// Returns the names of the versions that differ between the shards of a merged run. Their recorded
/// values are lists.
std::vector<std::string> mixed_versions(const Run& run) {
  std::vector<std::string> mixed;
  for (const std::string& text : {run.versions, run.host}) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) continue;
    for (const auto& [name, value] : json.items())
      if (value.is_array()) mixed.push_back(name);
  }
  return mixed;
}

/// Returns true if guest and device have counted different numbers of bytes in a cell. The numbers
/// of requests are not compared, because QEMU merges adjacent requests. Differences of a few blocks
/// are ignored, because a file system may read ahead between the times at which the two counters
/// are read.
bool counts_deviate(const Entrant& entrant) {
  for (const Measurement& m : entrant.measurements) {
    for (std::size_t i = 1; i < measures().size(); ++i) {
      const std::string_view column = measures()[i].column;
      if (!column.starts_with("bytes_") || !column.ends_with("_deviation") || !m.values[i] ||
          !m.values[i - 1])
        continue;
      // In the list of measures, guest_bytes_* precedes bytes_*_deviation.
      const double deviation = *m.values[i], guest_bytes = *m.values[i - 1];
      if (std::abs(deviation) > kDeviation &&
          std::abs(guest_bytes * deviation / (1 + deviation)) > kFewBytes)
        return true;
    }
  }
  return false;
}

class Notes {
 public:
  explicit Notes(const Benchmark& bench) : bench_(bench) {}

  std::vector<std::string> all() {
    about_the_run();
    about_marked_trials();
    about_cells();
    return std::move(notes_);
  }

 private:
  void about_the_run() {
    const Run& run = bench_.facts.run;
    if (auto note = completeness_note(run); !note.empty()) notes_.push_back(std::move(note));
    if (bench_.failed() > 0)
      add("failed trials: {} of {} (listed with their reasons)", bench_.failed(),
          bench_.trials.size());
    if (std::ranges::any_of(bench_.contests, [](const Contest& c) { return c.scale == "scaled"; }))
      add("scaled: the workload is smaller than defined by its source");
    if (std::ranges::any_of(bench_.contests, &Contest::has_own_sizes))
      add("custom: this benchmark sets the sizes of the workload; \"headcrash list timed\" lists "
          "the sizes of the source");
    if (const auto mixed = mixed_versions(run); !mixed.empty())
      add("versions that differ between shards: {}", named(mixed));
    if (run.accelerator == "tcg")
      add("accelerator tcg: guests ran under software emulation; their CPU times do not apply to "
          "a real machine");
    for (const auto& [device, clock] : slowed_devices())
      add("{}, clock={}: times are scaled back to the drive's speed, so the guest's CPU appears "
          "faster",
          device, clock);
  }

  std::map<std::string, std::string> slowed_devices() const {
    std::map<std::string, std::string> slowed;
    for (const BenchTrial& trial : bench_.trials)
      if (trial.clock != "real" && trial.clock != "real:1" && !trial.in_virtual_time())
        slowed[trial.device] = trial.clock;
    return slowed;
  }

  void about_marked_trials() {
    std::size_t late = 0, busy = 0;
    for (const BenchTrial& trial : bench_.trials) {
      if (trial.failed()) continue;
      late += trial.late ? 1 : 0;
      busy += trial.host_busy.value_or(0) > kBusyHost && !trial.in_virtual_time() ? 1 : 0;
    }
    const std::size_t measured = bench_.trials.size() - bench_.failed();
    if (late > 0)
      add("late trials: {} of {} (requests took over 5 % longer than on the modelled drive, so times partly measure the "
          "host)",
          late, measured);
    if (busy > 0)
      add("trials on a busy host: {} of {} (other processes used more than {:.0f} % of its CPU)",
          busy, measured, kBusyHost * 100);
  }

  void about_cells() {
    std::vector<std::string> wide, few, deviating;
    std::size_t outliers = 0, by_processor = 0, idle = 0;
    for (const Contest& contest : bench_.contests) {
      for (const Entrant& entrant : contest.entrants) {
        if (entrant.standing.kind == Standing::Kind::unmeasured) continue;
        const std::string name = entrant.name() + " (" + title_of(contest) + ")";
        outliers += entrant.standing.ranking.outliers.size();
        if (entrant.standing.kind == Standing::Kind::cpu_bound) ++by_processor;
        if (entrant.standing.kind == Standing::Kind::idle) ++idle;
        if (entrant.standing.spread() > kWideSpread) wide.push_back(name);
        if (!entrant.standing.ranking.mean_interval) few.push_back(name);
        if (counts_deviate(entrant)) deviating.push_back(name);
      }
    }
    if (by_processor > 0)
      add("CPU-bound cells: {} (not ranked: the device was busy less than half of the time)",
          by_processor);
    if (idle > 0)
      add("idle cells: {} (not ranked: the time is mostly that of a timer or a write-back delay)",
          idle);
    if (!few.empty()) add("fewer than three repetitions, no interval: {}", named(few));
    if (!wide.empty())
      add("spread above 5 % (standard deviation divided by mean): {}", named(wide));
    if (outliers > 0)
      add("outliers: {} (more than 1.5 interquartile ranges from the quartiles; shown, not dropped)",
          outliers);
    if (!deviating.empty())
      add("guest and device byte counts differ by more than 1 %: {}", named(deviating));
  }

  template <typename... Values>
  void add(fmt::format_string<Values...> text, Values&&... values) {
    notes_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  const Benchmark& bench_;
  std::vector<std::string> notes_;
};

}  // namespace

std::string title_of(const Contest& contest) {
  std::string text = contest.setting();
  if (!contest.phase.empty()) text += ", phase " + contest.phase;
  text += ", on " + contest.device;
  if (const std::string mark = contest.scale_mark(); !mark.empty()) text += " (" + mark + ")";
  return text;
}

std::string time_name(const Contest& contest) {
  const char* kind = !contest.in_virtual_time()   ? ""
                     : contest.clock == "virtual" ? "virtual "
                                                  : "charged virtual ";
  if (contest.by_operation) return fmt::format("{}time of an operation", kind);
  return contest.to_quiescence ? fmt::format("{}time to quiescence", kind)
                               : fmt::format("elapsed {}time", kind);
}

std::string difference(const Standing& s) {
  const auto points = [](double ratio) { return (ratio - 1) * 100; };
  const double change = points(s.to_best.ratio);
  if (!s.to_best.interval) {
    return s.pairs == 0 ? fmt::format("{:+.1f} %, no paired repetitions", change)
                        : fmt::format("{:+.1f} %, pairs: {}", change, s.pairs);
  }
  const double low = points(s.to_best.interval->low), high = points(s.to_best.interval->high);
  const char* means = s.to_best.change == statistics::Change::same          ? ": a tie"
                      : s.to_best.change == statistics::Change::cannot_tell ? ": not significant"
                                                                            : "";
  return fmt::format("{:+.1f} %, {:.1f} to {:.1f}{}", change, low, high, means);
}

std::string unranked_because(const Entrant& entrant) {
  const Standing& s = entrant.standing;
  if (Standing::is_unranked_number(s.kind)) {
    const std::string processor =
        s.processor_share ? fmt::format(", the processor {}", percent(*s.processor_share))
                          : std::string();
    return fmt::format("{}: the device was busy {} of the time{}; {}", unranked_name(s.kind),
                       percent(s.busy_share), processor, milliseconds(s.ranking.mean));
  }
  if (entrant.failed > 0)
    return fmt::format("failed trials: {} of {}", entrant.failed,
                       entrant.failed + entrant.measurements.size());
  return "no time was measured";
}

std::vector<std::string> marks_of(const Entrant& entrant) {
  std::vector<std::string> marks;
  const auto of = [&](std::size_t n) {
    return fmt::format("{} of {}", n, entrant.measurements.size());
  };
  if (entrant.failed > 0 && entrant.standing.kind != Standing::Kind::unmeasured)
    marks.push_back(fmt::format("{} failed", entrant.failed));
  if (entrant.late > 0) marks.push_back(of(entrant.late) + " late");
  if (entrant.busy_host > 0) marks.push_back(of(entrant.busy_host) + " on a busy host");
  if (entrant.standing.spread() > kWideSpread)
    marks.push_back("spread " + percent(entrant.standing.spread()));
  if (const auto n = entrant.standing.ranking.outliers.size(); n > 0)
    marks.push_back(fmt::format("outliers: {}", n));
  // If processor time is not charged in virtual time, computing takes no time, so the fraction of
  // time for which the device is busy has no meaning.
  const bool others_took_time = entrant.standing.processor_share.has_value();
  if (entrant.standing.kind == Standing::Kind::ranked && others_took_time &&
      entrant.standing.elapsed_busy_share < kDeviceBusy)
    marks.push_back(fmt::format("device busy {} of the elapsed time",
                                percent(entrant.standing.elapsed_busy_share)));
  return marks;
}

std::string verdict_line(const BaselineComparison& comparison) {
  using statistics::Change;
  std::string text;
  for (const Change change : {Change::worse, Change::better, Change::same, Change::cannot_tell}) {
    const std::size_t n = comparison.count(change);
    if (n > 0) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", change_name(change), n);
  }
  return text.empty() ? "nothing to compare" : text;
}

BenchAnswer answer_of(const Benchmark& bench) {
  const std::string clock = bench.clock();
  const bool charged = clock.starts_with(kChargedPrefix);
  return {.clock = charged ? fmt::format(kCharged, clock.substr(kChargedPrefix.size()))
                   : bench.in_virtual_time() ? kVirtualTime
                                             : "",
          .status = status_of(bench),
          .notes = Notes(bench).all()};
}

}  // namespace headcrash::report
