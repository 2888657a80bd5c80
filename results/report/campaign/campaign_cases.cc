#include "results/report/campaign/campaign_cases.h"

#include <fmt/format.h>

namespace headcrash::report {
namespace {

constexpr std::size_t kTrialsShown = 5;  // for each cell

/// Describes the first trials of a cell that did not keep their promises.
std::string failed_trials(const Facts& facts, const Cell& cell) {
  std::string text;
  std::size_t shown = 0;
  for (const Trial& trial : facts.trials) {
    if (!is_of(trial, cell) || trial.outcome == "clean" || trial.outcome == "replayed") continue;
    if (++shown > kTrialsShown) return text + "\n...";
    text += fmt::format("{}trial {}: {}", text.empty() ? "" : "\n", trial.id, trial.summary);
  }
  return text;
}

CiCase case_of(const Facts& facts, const Cell& cell) {
  using enum CiCase::Verdict;
  CiCase made{.group = cell.filesystem,
              .name = fmt::format("{} on {}", cell.workload, cell.device)};
  if (!cell.variant.empty()) made.name += ", " + cell.variant;
  const std::string counts =
      fmt::format("{} of {} trials clean, {} replayed, {} lost, {} other", cell.clean, cell.trials,
                  cell.replayed, cell.lost, cell.other);
  if (cell.harness_errors > 0) {
    made.verdict = error;
    made.message = fmt::format("{} of {} trials ended with an error of headcrash",
                               cell.harness_errors, cell.trials);
  } else if (!cell.met) {
    made.verdict = skipped;
    made.message = "nothing is promised: " + counts;
  } else if (!*cell.met) {
    made.verdict = failed;
    made.message = (cell.is_control() ? "a control without the required effect: " : "") + counts;
  }
  if (made.verdict == failed || made.verdict == error) made.details = failed_trials(facts, cell);
  return made;
}

}  // namespace

std::vector<CiCase> campaign_cases(const Facts& facts) {
  std::vector<CiCase> cases;
  cases.reserve(facts.cells.size());
  for (const Cell& cell : facts.cells) cases.push_back(case_of(facts, cell));
  return cases;
}

}  // namespace headcrash::report
