// Creates the answer (answer.h). Counts are in the table or after labels, so that no sentence needs
// a plural form.
#include "results/report/frame/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "results/report/frame/text_table.h"

namespace headcrash::report {
namespace {

constexpr std::size_t kNamesInStatus = 6;

using Key = std::tuple<std::string, std::string, std::string, std::string>;

/// Returns the key of a cell or trial. Cells and trials with equal keys share a row.
template <typename Of>
Key key_of(const Of& of) {
  return {of.filesystem, of.variant, of.expected, of.must};
}

std::map<Key, std::string> verdict_counts(const Facts& facts) {
  std::map<Key, std::map<std::string, std::int64_t>> counts;
  for (const Trial& trial : facts.trials) {
    const char* apart = trial.outcome == "known" ? " (known)" : "";
    ++counts[key_of(trial)][trial.verdict + apart];
  }
  std::map<Key, std::string> texts;
  for (const auto& [key, verdicts] : counts)
    for (const auto& [verdict, n] : verdicts)
      texts[key] += fmt::format("{}{} {}", texts[key].empty() ? "" : ", ", n, verdict);
  return texts;
}

std::vector<SystemRow> rows_of(const Facts& facts) {
  auto verdicts = verdict_counts(facts);
  std::vector<SystemRow> rows;
  std::map<Key, std::size_t> places;
  std::map<Key, std::size_t> cells;
  for (const Cell& cell : facts.cells) {
    const Key key = key_of(cell);
    const auto [place, is_new] = places.emplace(key, rows.size());
    if (is_new) {
      rows.push_back({.filesystem = cell.filesystem,
                      .variant = cell.variant,
                      .place = cell.device + ", " + cell.workload,
                      .expected = expectation(cell),
                      .control = cell.is_control(),
                      .verdicts = verdicts[key],
                      .as_expected = cell.met});
    }
    SystemRow& row = rows[place->second];
    if (const std::size_t n = ++cells[key]; n > 1) row.place = fmt::format("{} cells", n);
    row.trials += cell.trials;
    row.clean += cell.clean;
    row.replayed += cell.replayed;
    row.lost += cell.lost;
    row.known += cell.known;
    row.other += cell.other;
    if (cell.met && !*cell.met) row.as_expected = false;
  }
  std::stable_partition(rows.begin(), rows.end(),
                        [](const SystemRow& row) { return row.as_expected == false; });
  return rows;
}

/// Describes how a file system broke its promise. Controls are ignored.
std::string breach(const Facts& facts, const std::string& filesystem) {
  std::int64_t lost = 0, lost_synced = 0;
  for (const Cell& cell : facts.cells) {
    if (cell.is_control() || cell.filesystem != filesystem || cell.met.value_or(true)) continue;
    lost += cell.lost;
    lost_synced += cell.lost_synced;
  }
  return lost == 0         ? "was not clean, but lost no data"
         : lost_synced > 0 ? "lost synced data"
                           : "lost data";
}

std::string status_of(const Facts& facts, const Answer& answer) {
  if (facts.cells.empty()) return "no trial has finished";
  std::map<std::string, bool> kept;
  for (const SystemRow& row : answer.systems) {
    if (row.control || !row.as_expected) continue;
    const auto place = kept.emplace(row.filesystem, true).first;
    place->second = place->second && *row.as_expected;
  }
  if (kept.empty()) return answer.controls.empty() ? "nothing was promised" : answer.controls;
  std::size_t broken = 0;
  std::string breaches;
  for (const auto& [filesystem, all_kept] : kept) {
    if (all_kept) continue;
    if (++broken <= kNamesInStatus)
      breaches += fmt::format("; {} {}", filesystem, breach(facts, filesystem));
  }
  if (broken > kNamesInStatus) breaches += fmt::format("; {} more below", broken - kNamesInStatus);
  return fmt::format("{} of {} file systems kept their promises{}", kept.size() - broken,
                     kept.size(), breaches);
}

void judge_controls(const Facts& facts, Answer& answer) {
  std::set<std::string> all, failed;
  bool must_lose = false;
  for (const Cell& cell : facts.cells) {
    if (!cell.is_control()) continue;
    must_lose = must_lose || cell.must == "lose" || cell.must == "damage";
    const std::string name =
        cell.variant.empty() ? cell.filesystem : cell.filesystem + " (" + cell.variant + ")";
    all.insert(name);
    if (cell.met.value_or(false)) continue;
    failed.insert(name);
    answer.failed_controls.push_back(
        fmt::format("{}, {}, {}: expected {}{}; trials {}, kept {}, lost {}, other {}", name,
                    cell.device, cell.workload, expectation(cell),
                    cell.must == "lose" ? fmt::format(" in at least {}", cell.losses_needed) : "",
                    cell.trials, cell.clean + cell.replayed, cell.lost, cell.other));
  }
  answer.valid = failed.empty();
  if (!all.empty())
    answer.controls =
        fmt::format("controls as expected: {} of {}", all.size() - failed.size(), all.size());
  if (facts.cells.empty() || must_lose) return;
  answer.notes.push_back(
      facts.run.interrupted()
          ? "negative controls: none has run yet"
          : "negative controls: none (this run does not show that losses are detected)");
}

void add_notes(const Facts& facts, std::vector<std::string>& notes) {
  std::int64_t uncut = 0, late = 0, harness = 0, clockless = 0, unconfirmed = 0;
  for (const Cell& cell : facts.cells) {
    uncut += cell.uncut;
    late += cell.late;
    harness += cell.harness_errors;
  }
  for (const Trial& trial : facts.trials)
    clockless += trial.clock == "off" && trial.device != "stage" ? 1 : 0;
  for (const ExploredCell& cell : facts.explored) unconfirmed += cell.unconfirmed;
  const auto note = [&](const char* what, std::int64_t n, const char* meaning) {
    if (n > 0)
      notes.push_back(fmt::format("{}: {} of {} ({})", what, n, facts.trials.size(), meaning));
  };
  note("trials without a power cut", uncut, "they do not test crashes");
  note("harness errors", harness, "not judged");
  note(
      "late trials", late,
      "requests took over 5 % longer than on the modelled drive, so times partly measure the host");
  note("trials with clock=off", clockless,
       "model times are valid; no request was completed at the drive's speed");
  if (unconfirmed > 0)
    notes.push_back(fmt::format(
        "failing states not reproduced on a fresh guest: {} (a bug in headcrash, not in a file "
        "system)",
        unconfirmed));
}

}  // namespace

std::string expectation(const Cell& cell) {
  if (cell.must == "lose") return "loss";
  if (cell.must == "damage") return "damage";
  if (cell.must == "keep") return "clean";
  if (cell.must == "keep-after-fsck") return "clean after fsck";
  return cell.expected;
}

std::string completeness_note(const Run& run) {
  if (!run.interrupted() && run.recorded >= run.planned) return {};
  return fmt::format("finished trials: {} of {}{}", run.recorded, run.planned,
                     run.interrupted() ? " (the run was interrupted or is still running)" : "");
}

Answer answer(const Facts& facts) {
  Answer result;
  if (auto note = completeness_note(facts.run); !note.empty())
    result.notes.push_back(std::move(note));
  judge_controls(facts, result);
  result.systems = rows_of(facts);
  result.status = status_of(facts, result);
  add_notes(facts, result.notes);
  return result;
}

std::string status_text(const Answer& answer) {
  std::string text;
  for (const std::string& control : answer.failed_controls) text += "INVALID: " + control + "\n";
  text += answer.status + "\n";
  if (!answer.controls.empty() && answer.controls != answer.status) text += answer.controls + "\n";
  for (const std::string& note : answer.notes) text += "! " + note + "\n";
  return text;
}

std::string systems_text(const Answer& answer) {
  TextTable table({"file system", ">trials", ">kept", ">lost", ">other", "expected", "as expected?",
                   "verdicts"});
  for (const SystemRow& row : answer.systems) {
    table.add({row.name(), fmt::format("{}", row.trials),
               fmt::format("{}", row.clean + row.replayed), fmt::format("{}", row.lost),
               fmt::format("{}", row.other), row.expected + (row.control ? " (control)" : ""),
               !row.as_expected   ? "nothing promised"
               : *row.as_expected ? "yes"
                                  : "NO",
               row.verdicts});
  }
  return answer.systems.empty() ? "" : table.text();
}

std::string stacks_text(const Facts& facts) {
  TextTable table({"stack", "fs", "kernel", "workload", ">states", ">failed", ">s", "verdict"});
  for (const StackCell& cell : facts.stacks)
    table.add({cell.stack, cell.filesystem, cell.kernel,
               cell.workload + (cell.variant.empty() ? "" : " (" + cell.variant + ")"),
               fmt::format("{}", cell.states), fmt::format("{}", cell.failed),
               fmt::format("{:.0f}", cell.seconds), cell.verdict});
  return facts.stacks.empty() ? "" : table.text();
}

}  // namespace headcrash::report
