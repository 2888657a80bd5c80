// Formats the outcome of a campaign as text and as JSON (campaign_outcome.h).
#include "harness/cli/campaign_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/campaign/schemes/schemes_campaign.h"
#include "harness/cli/command.h"
#include "harness/cli/host_usage.h"

namespace headcrash::cli {
namespace {

/// If the row's strategy is "other recovery: NAME", returns NAME, which says what the row counts
/// instead of states. Otherwise, returns an empty string.
std::string of_other_recovery(const nlohmann::json& coverage) {
  const std::string strategy = coverage.value("strategy", "");
  return strategy.starts_with(campaign::kOtherRecovery)
             ? strategy.substr(campaign::kOtherRecovery.size())
             : "";
}

double states_checked(const nlohmann::json& exploration, Guests guests) {
  double states = 0;
  if (guests == Guests::none)
    for (const nlohmann::json& part : exploration.at("coverage"))
      states += of_other_recovery(part).empty() ? part.value("checked", 0.0) : 0;
  else
    for (const nlohmann::json& cell : exploration.at("cells")) states += cell.value("states", 0.0);
  return states;
}

/// Prints the numbers of states that were generated and checked per second, and the duration of
/// each step. Durations are sums over all guests.
void print_speed(const nlohmann::json& exploration, Guests guests) {
  constexpr double kShareShown = 0.01;
  std::map<std::string, double> steps_ms;
  double all_ms = 0, generate_ms = 0, generated = 0;
  for (const nlohmann::json& step : exploration.at("steps")) {
    const double ms = step.value("total_ms", 0.0);
    steps_ms[step.value("step", "")] += ms;
    all_ms += ms;
    if (step.value("step", "") != "generate") continue;
    generate_ms += ms;
    generated += step.value("count", 0.0);
  }
  const double states = states_checked(exploration, guests);
  if (all_ms <= 0) return;
  if (guests == Guests::none)
    fmt::print("{:.0f} states in {:.0f} s: {:.0f} states/s", states, all_ms / 1000,
               states / all_ms * 1000);
  else
    fmt::print("{:.0f} states in {:.0f} s of guests' time: {:.1f} states/s per guest", states,
               all_ms / 1000, states / all_ms * 1000);
  if (generate_ms > 0 && guests == Guests::some)
    fmt::print("; generated and deduplicated at {:.0f} states/s", generated / generate_ms * 1000);
  std::vector<std::pair<double, std::string>> shares;
  shares.reserve(steps_ms.size());
  for (const auto& [step, ms] : steps_ms) shares.emplace_back(ms / all_ms, step);
  std::sort(shares.rbegin(), shares.rend());
  std::string text;
  for (const auto& [share, step] : shares) {
    if (share >= kShareShown)
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", step, share * 100);
  }
  fmt::print("\ntime: {}\n", text);
}

/// Prints the counters of alternative recoveries, on a line for each system that has one.
void print_other_recoveries(const std::map<std::string, std::map<std::string, double>>& systems) {
  if (systems.empty()) return;
  fmt::print("alternative recovery, compared with the full check:\n");
  for (const auto& [name, counts] : systems) {
    std::string text;
    for (const auto& [counted, count] : counts)
      text += fmt::format("{}{:.0f} {}", text.empty() ? "" : ", ", count, counted);
    fmt::print("  {:24} {}\n", name, text);
  }
}

/// Prints a table with one row per scheme. A row shows how many states had each result.
void print_schemes(const nlohmann::json& exploration) {
  struct Scheme {
    double trials = 0, states = 0, shown = 0, unconfirmed = 0;
    bool control = false;
    std::map<std::string, double> worst;
  };
  std::map<std::string, Scheme> schemes;
  std::map<std::string, std::map<std::string, double>> other_recoveries;
  for (const nlohmann::json& part : exploration.at("coverage")) {
    const std::string name = part.value("filesystem", ""), counted = of_other_recovery(part);
    (counted.empty() ? schemes[name].states : other_recoveries[name][counted]) +=
        part.value("checked", 0.0);
  }
  for (const nlohmann::json& cell : exploration.at("cells")) {
    Scheme& scheme = schemes[cell.value("filesystem", "")];
    scheme.trials += cell.value("trials", 0.0);
    scheme.shown += cell.value("states", 0.0);
    scheme.unconfirmed += cell.value("unconfirmed", 0.0);
    scheme.control |= !cell.at("control").is_null();
    for (const char* kind : {"repaired", "lost", "other"})
      if (const double count = cell.value(kind, 0.0); count > 0) scheme.worst[kind] += count;
  }
  for (const auto& [name, scheme] : schemes) {
    std::string verdict = scheme.control ? "NOT CAUGHT" : "keeps its rules";
    if (scheme.shown > 0) {
      verdict = scheme.control ? "caught, as expected:" : "BREAKS ITS RULES:";
      for (const auto& [kind, count] : scheme.worst)
        verdict += fmt::format(" {:.0f} {}", count, kind == "repaired" ? "damaged" : kind);
      verdict += " among the stored states";
    }
    if (scheme.unconfirmed > 0)
      verdict += fmt::format(", {:.0f} not confirmed", scheme.unconfirmed);
    fmt::print("  {:24} {:6.0f} workloads {:9.0f} states  {}\n", name, scheme.trials, scheme.states,
               verdict);
  }
  print_other_recoveries(other_recoveries);
}

std::string seconds_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

/// Prints each failure with the command that repeats it. States with the same verdict and command
/// share a line, which shows their number.
void print_failures(const nlohmann::json& failures, const std::string& database) {
  using Line = std::pair<std::string, std::string>;  // the failure, and the command that repeats it
  std::vector<Line> order;
  std::map<Line, std::size_t> states;
  for (const nlohmann::json& failure : failures) {
    const nlohmann::json& control = failure["control"];
    if (control == "lose" || control == "damage" || !failure.value("confirmed", false)) continue;
    const Line line(failure.value("key", "") + ": " + failure.value("verdict", ""),
                    failure.value("replay", ""));
    if (++states[line] == 1) order.push_back(line);
  }
  for (const Line& line : order)
    fmt::print("  {}{}; reproduce with: {} --db {}\n", line.first,
               states[line] > 1 ? fmt::format(" ({} states)", states[line]) : "", line.second,
               database);
}

}  // namespace

void print_outcome(const campaign::CampaignOutcome& outcome, const report::Summary& report,
                   const OutcomeText& text) {
  const bool schemes = text.guests == Guests::none;
  if (text.as_json) {
    nlohmann::json whole = report.figures;
    whole["seconds"] = text.seconds;
    whole["peak_memory_bytes"] = peak_memory_bytes();
    whole["run"] = outcome.run;
    whole["trials_planned"] = outcome.planned;
    whole["trials_done_before"] = outcome.done_before;
    whole["trials_done_now"] = outcome.done_now;
    whole["interrupted"] = outcome.interrupted;
    whole["finished_before"] = outcome.finished_before;
    print(whole);
    return;
  }
  fmt::print(
      "run {}: {} of {} trials{}, {}, {}\n", outcome.run, outcome.done_before + outcome.done_now,
      outcome.planned,
      outcome.done_before > 0 ? fmt::format(" ({} of them before)", outcome.done_before) : "",
      seconds_text(text.seconds), peak_memory_text());
  fmt::print("{}", report.status);
  if (schemes && report.figures.contains("exploration")) {
    print_schemes(report.figures["exploration"]);
  } else {
    fmt::print("{}", report.systems);
  }
  if (!report.figures.contains("exploration")) return;
  const nlohmann::json& exploration = report.figures["exploration"];
  print_failures(exploration["failures"], text.database);
  print_speed(exploration, text.guests);
}

int finish_ci_of_run(const report::CiFiles& files, const std::string& title, db::Database& database,
                     std::int64_t run, int exit_code, bool as_json) {
  if (!files.any()) return exit_code;
  const auto cases = report::report_cases(database, run);
  if (!cases) return report_error(cases.error(), as_json);
  return finish_ci(files, title, *cases, exit_code);
}

}  // namespace headcrash::cli
