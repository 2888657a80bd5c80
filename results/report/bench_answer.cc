// Sentences about a benchmark (bench_answer.h).
#include "results/report/bench_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "results/report/figures.h"
#include "results/report/ranking.h"

namespace headcrash::report {
namespace {

constexpr std::size_t kNamesMost = 3;
constexpr std::size_t kDevicesMost = 6;
/// Guest and device count the same requests; what differs by more is told.
constexpr double kDeviation = 0.01;
constexpr double kFewBytes = 16 << 10;

/// "a", "a and b", "a, b and 3 more"
std::string named(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = std::min(names.size(), kNamesMost);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == shown && shown == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

std::string times(std::size_t n) {
  return n == 1 ? "once" : n == 2 ? "twice" : fmt::format("{} times", n);
}

std::string comparisons(std::size_t n) {
  return counted(static_cast<std::int64_t>(n), "comparison", "comparisons");
}

/// Who shares the first rank.
std::size_t winners(const Contest& contest) {
  return static_cast<std::size_t>(std::ranges::count_if(contest.entrants, [](const Entrant& e) {
    return e.standing.kind == Standing::Kind::ranked && e.standing.rank == 1;
  }));
}

/// How contests came out.
struct Tally {
  std::map<std::string, std::size_t> wins;
  std::size_t decided = 0, open = 0, alone = 0, none = 0;

  void add(const Contest& contest) {
    if (contest.ranked == 0) {
      ++none;
    } else if (contest.ranked == 1) {
      ++alone;
    } else if (winners(contest) == 1) {
      ++decided;
      ++wins[contest.entrants.front().name()];
    } else {
      ++open;
    }
  }
};

/// "of 8 comparisons, the fastest was xfs 5 times"; empty where nothing could be compared.
std::string fastest_of(const Tally& tally) {
  std::vector<std::pair<std::string, std::size_t>> order(tally.wins.begin(), tally.wins.end());
  std::ranges::stable_sort(order, std::greater<>(), &std::pair<std::string, std::size_t>::second);
  const std::size_t all = tally.decided + tally.open;
  if (all == 0) return {};
  if (all == 1) {
    return order.empty() ? "no file system can be told to be the fastest"
                         : fmt::format("{} was the fastest", order.front().first);
  }
  if (order.empty())
    return fmt::format("in none of {} one file system can be told to be the fastest", comparisons(all));
  std::vector<std::string> words;
  words.reserve(order.size());
  for (const auto& [name, n] : order) words.push_back(fmt::format("{} {}", name, times(n)));
  std::string text = fmt::format("of {}, the fastest was {}", comparisons(all), named(words));
  if (tally.open > 0) {
    text += fmt::format("; in the other {} the first cannot be told apart",
                        tally.open == 1 ? "one" : fmt::format("{}", tally.open));
  }
  return text;
}

std::string unranked_sentences(const Tally& tally) {
  const auto have = [](std::size_t n) {
    return n == 1 ? std::string("One comparison has") : fmt::format("{} comparisons have", n);
  };
  std::string text;
  if (tally.alone > 0)
    text += fmt::format(" {} only one file system that could be ranked.", have(tally.alone));
  if (tally.none > 0)
    text += fmt::format(" {} no ranking: all was CPU-bound, idle or failed.", have(tally.none));
  return text;
}

std::string paragraph_of(const Benchmark& bench) {
  if (bench.trials.empty()) return "No trial of this run has finished, so there is nothing to tell yet.";
  Tally all;
  std::map<std::string, Tally> by_device;
  for (const Contest& contest : bench.contests) {
    all.add(contest);
    by_device[contest.device].add(contest);
  }
  std::string text;
  if (by_device.size() > 1 && by_device.size() <= kDevicesMost) {
    for (const auto& [device, tally] : by_device) {
      if (const std::string fastest = fastest_of(tally); !fastest.empty())
        text += fmt::format(" On {}, {}.", device, fastest);
    }
  } else if (const std::string fastest = fastest_of(all); !fastest.empty()) {
    text = " " + fastest + ".";
    const bool sentence = all.decided + all.open > 1 || all.decided == 0;
    if (sentence)
      text[1] = static_cast<char>(text[1] - 'a' + 'A');  // the name of a file system stays as it is
  }
  text += unranked_sentences(all);
  return text.empty() ? text : text.substr(1);
}

std::string standing_of(const Contest& contest) {
  std::string ranked;
  std::vector<std::string> others;
  for (const Entrant& entrant : contest.entrants) {
    const Standing& s = entrant.standing;
    if (s.kind != Standing::Kind::ranked) {
      others.push_back(fmt::format("{} ({})", entrant.name(), unranked_because(entrant)));
      continue;
    }
    ranked +=
        fmt::format("{}{} {}", ranked.empty() ? "" : ", ", entrant.name(), milliseconds(s.ranking.mean));
    if (&entrant != &contest.entrants.front()) ranked += fmt::format(" ({})", difference(s));
  }
  std::string text = title_of(contest) + ": ";
  text += ranked.empty() ? "no ranking"
                         : (contest.to_quiescence ? "" : "until the last call returned, ") + ranked;
  if (!others.empty()) text += fmt::format(". Not ranked: {}", fmt::join(others, ", "));
  return text + ".";
}

/// Versions that differ between merged shards stand as a list of their values.
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

/// Guest and device have counted other bytes in a cell. Requests do not tell: QEMU joins neighbouring ones;
/// nor do a few blocks, which a file system reads ahead between the two looks at the counters.
bool counts_deviate(const Entrant& entrant) {
  for (const Measurement& m : entrant.measurements) {
    for (std::size_t i = 1; i < measures().size(); ++i) {
      const std::string_view column = measures()[i].column;
      if (!column.starts_with("bytes_") || !column.ends_with("_deviation") || !m.values[i] ||
          !m.values[i - 1])
        continue;
      const double deviation = *m.values[i], guest_bytes = *m.values[i - 1];  // beside each other in the list
      if (std::abs(deviation) > kDeviation && std::abs(guest_bytes * deviation / (1 + deviation)) > kFewBytes)
        return true;
    }
  }
  return false;
}

class Cautions {
 public:
  explicit Cautions(const Benchmark& bench) : bench_(bench) {}

  std::vector<std::string> all() {
    about_the_run();
    about_marked_trials();
    about_cells();
    return std::move(said_);
  }

 private:
  void about_the_run() {
    const Run& run = bench_.facts.run;
    if (run.interrupted()) {
      say("interrupted: {} of {}. The run has no end (it may still be going on); what follows is about the "
          "finished "
          "trials only.",
          run.recorded, counted(run.planned, "trial", "trials"));
    } else if (run.recorded < run.planned) {
      say("{} of {} planned trials were recorded.", run.recorded, run.planned);
    }
    if (bench_.failed() > 0) {
      say("{} of {} failed and have no number; they are listed with their reasons.", bench_.failed(),
          counted(static_cast<std::int64_t>(bench_.trials.size()), "trial", "trials"));
    }
    const bool scaled =
        std::ranges::any_of(bench_.contests, [](const Contest& c) { return c.scale == "scaled"; });
    if (scaled) say("Workloads marked as scaled are smaller than their sources define them.");
    if (std::ranges::any_of(bench_.contests, &Contest::has_own_sizes)) {
      say("Workloads marked as custom have sizes of this benchmark's own, which stand with their names; "
          "\"headcrash list timed\" tells those of their sources.");
    }
    if (const auto mixed = mixed_versions(run); !mixed.empty())
      say("The shards of this run were made with different {}.", named(mixed));
    if (run.accelerator == "tcg")
      say("The guests ran under software emulation: their CPU times say nothing about real machines.");
    for (const auto& [device, clock] : slowed_devices())
      say("{} ran with clock={}: so many times slower than life, and all times divided by that. It is "
          "measured "
          "against a processor that is so many times as fast as the guest's.",
          device, clock);
  }

  std::map<std::string, std::string> slowed_devices() const {
    std::map<std::string, std::string> slowed;
    for (const BenchTrial& trial : bench_.trials)
      if (trial.clock != "real" && trial.clock != "real:1") slowed[trial.device] = trial.clock;
    return slowed;
  }

  void about_marked_trials() {
    std::size_t late = 0, busy = 0;
    for (const BenchTrial& trial : bench_.trials) {
      if (trial.failed()) continue;
      late += trial.late ? 1 : 0;
      busy += trial.host_busy.value_or(0) > kBusyHost ? 1 : 0;
    }
    const std::size_t measured = bench_.trials.size() - bench_.failed();
    if (late > 0) {
      say("{} of {} had late completions: requests took over 5 % longer than the modelled drive. Their times "
          "are partly "
          "the host's.",
          late, counted(static_cast<std::int64_t>(measured), "trial", "trials"));
    }
    if (busy > 0) {
      say("The host was busy during {} of {}: others used more than {:.0f} % of its CPU.", busy,
          counted(static_cast<std::int64_t>(measured), "trial", "trials"), kBusyHost * 100);
    }
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
    const auto cells = [](std::size_t n) { return n == 1 ? "One cell is" : fmt::format("{} cells are", n); };
    if (by_processor > 0)
      say("{} CPU-bound and left out of the rankings: the device was busy less than half of the time.",
          cells(by_processor));
    if (idle > 0)
      say("{} idle and left out of the rankings: for most of the time neither the device nor the processor "
          "had "
          "work, so that a cache's delay before it writes back, or a timer, was measured.",
          cells(idle));
    if (!few.empty())
      say("Fewer than three repetitions, and so no interval and nothing certain: {}.", named(few));
    if (!wide.empty())
      say("The repetitions spread by more than 5 % (standard deviation by mean): {}.", named(wide));
    if (outliers > 0)
      say("{} beyond the quartiles by more than 1.5 times their distance; {} shown, not dropped.",
          counted(static_cast<std::int64_t>(outliers), "measurement lies", "measurements lie"),
          outliers == 1 ? "it is" : "they are");
    if (!deviating.empty())
      say("The guest has counted other bytes than the device, by more than 1 %: {}.", named(deviating));
  }

  template <typename... Values>
  void say(fmt::format_string<Values...> text, Values&&... values) {
    said_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  const Benchmark& bench_;
  std::vector<std::string> said_;
};

}  // namespace

std::string title_of(const Contest& contest) {
  std::string text = contest.setting();
  if (!contest.phase.empty()) text += ", phase " + contest.phase;
  text += ", on " + contest.device;
  if (const std::string mark = contest.scale_mark(); !mark.empty()) text += " (" + mark + ")";
  return text;
}

std::string difference(const Standing& s) {
  const auto points = [](double ratio) { return (ratio - 1) * 100; };
  const double change = points(s.to_best.ratio);
  if (!s.to_best.interval) {
    return fmt::format(
        "{:+.1f} %, from {}", change,
        s.pairs == 0 ? "unpaired repetitions" : counted(static_cast<std::int64_t>(s.pairs), "pair", "pairs"));
  }
  const double low = points(s.to_best.interval->low), high = points(s.to_best.interval->high);
  const bool apart =
      s.to_best.change == statistics::Change::worse || s.to_best.change == statistics::Change::better;
  return fmt::format("{:+.1f} %, {:.1f} to {:.1f}{}", change, low, high, apart ? "" : ": not told apart");
}

std::string unranked_because(const Entrant& entrant) {
  const Standing& s = entrant.standing;
  if (Standing::is_unranked_number(s.kind)) {
    return fmt::format("{}: the device was busy {} of the time, the processor {}; {}", unranked_name(s.kind),
                       percent(s.busy_share), percent(s.processor_share), milliseconds(s.ranking.mean));
  }
  if (entrant.failed > 0)
    return fmt::format(
        "failed in {} of {}", entrant.failed,
        counted(static_cast<std::int64_t>(entrant.failed + entrant.measurements.size()), "trial", "trials"));
  return "no time was measured";
}

std::vector<std::string> marks_of(const Entrant& entrant) {
  std::vector<std::string> marks;
  const auto of = [&](std::size_t n) { return fmt::format("{} of {}", n, entrant.measurements.size()); };
  if (entrant.failed > 0 && entrant.standing.kind != Standing::Kind::unmeasured)
    marks.push_back(fmt::format("{} failed", entrant.failed));
  if (entrant.late > 0) marks.push_back(of(entrant.late) + " late");
  if (entrant.busy_host > 0) marks.push_back(of(entrant.busy_host) + " on a busy host");
  if (entrant.standing.spread() > kWideSpread)
    marks.push_back("spread " + percent(entrant.standing.spread()));
  if (const auto n = entrant.standing.ranking.outliers.size(); n > 0)
    marks.push_back(counted(static_cast<std::int64_t>(n), "outlier", "outliers"));
  if (entrant.standing.kind == Standing::Kind::ranked && entrant.standing.elapsed_busy_share < kDeviceBusy)
    marks.push_back(
        fmt::format("device busy {} of the elapsed time", percent(entrant.standing.elapsed_busy_share)));
  return marks;
}

std::string verdict_line(const BaselineComparison& comparison) {
  using statistics::Change;
  std::string text;
  for (const Change change : {Change::worse, Change::better, Change::same, Change::cannot_tell}) {
    const std::size_t n = comparison.count(change);
    if (n > 0)
      text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", change_name(change),
                          counted(static_cast<std::int64_t>(n), "cell", "cells"));
  }
  return text.empty() ? "nothing to compare" : text;
}

BenchAnswer answer_of(const Benchmark& bench) {
  BenchAnswer answer;
  answer.paragraph = paragraph_of(bench);
  for (const Contest& contest : bench.contests) answer.standings.push_back(standing_of(contest));
  answer.cautions = Cautions(bench).all();
  return answer;
}

}  // namespace headcrash::report
