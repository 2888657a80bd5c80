// A file system is one subject of the paragraph, over all its devices and workloads; those that kept
// everything share a sentence, and each that did not has its own.
#include "results/report/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "results/report/figures.h"

namespace headcrash::report {
namespace {

constexpr std::size_t kNamesInASentence = 6;
constexpr std::size_t kControlsInSentences = 3;

/// The cells of one file system with one expectation, added up.
struct Subject {
  std::string filesystem;
  std::int64_t trials = 0, lost = 0, lost_synced = 0, kept = 0, unexpected = 0, cells = 0, cells_met = 0;
};

std::string control_name(const Cell& cell) {
  return cell.variant.empty() ? cell.filesystem : fmt::format("{} ({})", cell.filesystem, cell.variant);
}

std::vector<Subject> subjects(const Facts& facts, const std::string& expected) {
  std::vector<Subject> all;
  for (const auto& cell : facts.cells) {
    // What a control must do counts, not what its adapter expects. Those that must keep everything, or show
    // damage, have a sentence of their own.
    const std::string duty = cell.must == "lose" ? "loss" : cell.is_control() ? "" : cell.expected;
    if (duty != expected) continue;
    const std::string name = cell.is_control() ? control_name(cell) : cell.filesystem;
    if (all.empty() || all.back().filesystem != name) {
      all.push_back({});
      all.back().filesystem = name;
    }
    auto& s = all.back();
    s.trials += cell.trials;
    s.lost += cell.lost;
    s.lost_synced += cell.lost_synced;
    s.kept += cell.clean + cell.replayed;
    s.unexpected += cell.unexpected;
    s.cells += 1;
    s.cells_met += cell.met.value_or(false) ? 1 : 0;
  }
  return all;
}

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  if (names.size() == 1) return names.front();
  const std::size_t shown = names.size() <= kNamesInASentence ? names.size() - 1 : kNamesInASentence;
  std::string text = names.front();
  for (std::size_t i = 1; i < shown; ++i) text += ", " + names[i];
  return names.size() <= kNamesInASentence ? text + " and " + names.back()
                                           : text + fmt::format(" and {} more", names.size() - shown);
}

/// "power cuts" where each trial had one, else "trials".
std::string unit(const Facts& facts, std::int64_t n) {
  if (!facts.explored.empty()) return n == 1 ? "explored workload" : "explored workloads";
  const bool all_cut = std::ranges::all_of(facts.cells, [](const Cell& c) { return c.uncut == 0; });
  if (all_cut) return n == 1 ? "power cut" : "power cuts";
  return n == 1 ? "trial" : "trials";
}

std::string verdict_list(const Facts& facts, const std::string& filesystem, const std::string& outcome) {
  std::string text;
  for (const auto& v : facts.verdicts) {
    if (v.filesystem != filesystem || v.expected != "clean" || v.outcome != outcome || !v.must.empty())
      continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", v.trials, v.verdict);
  }
  return text;
}

/// "btrfs lost data it had promised to keep in 1 of 5 power cuts (1 unmountable) and ended otherwise in 1 (1
/// hang)."
std::string about_a_broken_promise(const Facts& facts, const Subject& s) {
  const std::string of_all = fmt::format(" of {} {}", s.trials, unit(facts, s.trials));
  std::string text = s.filesystem;
  if (s.lost > 0) {
    text += fmt::format(" lost data it had promised to keep in {}{} ({})", s.lost, of_all,
                        verdict_list(facts, s.filesystem, "lost"));
  }
  if (const auto other = s.unexpected - s.lost; other > 0) {
    text += fmt::format("{} came out neither clean nor as a loss in {}{} ({})", s.lost > 0 ? " and" : "",
                        other, s.lost > 0 ? "" : of_all, verdict_list(facts, s.filesystem, "other"));
  }
  return text + ".";
}

std::string about_promises(const Facts& facts) {
  std::vector<std::string> keepers;
  std::int64_t kept = 0;
  std::string broken;
  for (const auto& s : subjects(facts, "clean")) {
    if (s.unexpected == 0) {
      keepers.push_back(s.filesystem);
      kept += s.trials;
      continue;
    }
    broken += (broken.empty() ? "" : " ") + about_a_broken_promise(facts, s);
  }
  if (keepers.empty()) return broken;
  const std::string whole = fmt::format("{} kept everything {} had promised in {} of {} {}.", listed(keepers),
                                        keepers.size() == 1 ? "it" : "they", kept, kept, unit(facts, kept));
  return broken.empty() ? whole : broken + " " + whole;
}

std::string about_the_rest(const Facts& facts) {
  std::string text;
  const auto controls = subjects(facts, "loss");
  for (const auto& s : controls) {
    if (controls.size() > kControlsInSentences) break;  // the line about controls has them
    text += fmt::format(" {}, the control that must lose, {} in {} of {}.", s.filesystem,
                        s.lost > 0 && s.lost_synced == s.lost ? "lost synced data" : "lost data", s.lost,
                        s.trials);
  }
  for (const auto& s : subjects(facts, "any")) {
    text += fmt::format(" {}, of which nothing is promised, lost data in {} of {}.", s.filesystem, s.lost,
                        s.trials);
  }
  return text;
}

/// Why a control did not come out as it must.
std::string failed_control(const Cell& cell) {
  const auto name = fmt::format("{} on {} with {}", control_name(cell), cell.device, cell.workload);
  const auto trials = counted(cell.trials, "trial", "trials");
  if (cell.must == "damage") {
    return fmt::format("The control {} must show damage to the check and did not in {}.", name, trials);
  }
  if (cell.must == "keep" || cell.must == "keep-after-fsck") {
    return fmt::format("The control {} must keep everything{} and did not in {} of {}.", name,
                       cell.must == "keep" ? "" : " after fsck", cell.unexpected, trials);
  }
  return fmt::format("The control {} must lose data and did so in {} of {} ({} needed).", name, cell.lost,
                     trials, cell.losses_needed);
}

/// "ext4-nobarrier lost data", "xfs kept everything", ...
std::string what_controls_did(const std::map<std::string, std::vector<std::string>>& by_duty) {
  std::string text;
  const auto add = [&](const char* duty, const char* did) {
    const auto names = by_duty.find(duty);
    if (names == by_duty.end()) return;
    auto unique = names->second;
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", listed(unique), did);
  };
  add("lose", "lost data");
  add("damage", "showed damage to the check");
  add("keep", "kept everything");
  add("keep-after-fsck", "kept everything after fsck");
  return text;
}

void judge_controls(const Facts& facts, Answer& answer) {
  std::map<std::string, std::vector<std::string>> good;
  std::int64_t n = 0;
  bool must_lose = false;
  for (const auto& cell : facts.cells) {
    if (!cell.is_control()) continue;
    must_lose = must_lose || cell.must == "lose" || cell.must == "damage";
    if (cell.met.value_or(false)) {
      good[cell.must].push_back(control_name(cell));
      ++n;
    } else {
      answer.failed_controls.push_back(failed_control(cell));
    }
  }
  answer.valid = answer.failed_controls.empty();
  if (facts.cells.empty()) return;
  if (!must_lose && answer.valid) {
    answer.controls =
        facts.run.interrupted()
            ? "No control that must lose data has been run so far: the run is not finished."
            : "This run had no control that must lose data: nothing here shows that a loss would have been "
              "noticed.";
  } else if (n > 0 && answer.valid) {
    const std::string who = n == 1   ? "The control came out as it must"
                            : n == 2 ? "Both controls came out as they must"
                                     : fmt::format("All {} controls came out as they must", n);
    answer.controls = fmt::format("{}: {}.", who, what_controls_did(good));
  } else if (n > 0) {
    answer.controls = fmt::format("{} came out as {} must.", counted(n, "other control", "other controls"),
                                  n == 1 ? "it" : "they");
  }
}

void add_cautions(const Facts& facts, Answer& answer) {
  std::int64_t uncut = 0, late = 0, harness = 0, clockless = 0;
  for (const auto& cell : facts.cells) {
    uncut += cell.uncut;
    late += cell.late;
    harness += cell.harness_errors;
  }
  for (const auto& trial : facts.trials) clockless += trial.clock == "off" && trial.device != "stage" ? 1 : 0;
  const auto n = static_cast<std::int64_t>(facts.trials.size());
  auto& say = answer.cautions;
  if (uncut > 0) {
    say.push_back(fmt::format("In {} the power cut never came; such a trial shows nothing about crashes.",
                              counted(uncut, "trial", "trials")));
  }
  std::int64_t unconfirmed = 0;
  for (const auto& cell : facts.explored) unconfirmed += cell.unconfirmed;
  if (unconfirmed > 0) {
    say.push_back(
        fmt::format("{} not seen again on a fresh guest: that is a failure of the laboratory, not of a "
                    "file system.",
                    counted(unconfirmed, "failing state was", "failing states were")));
  }
  if (harness > 0) {
    say.push_back(fmt::format("{} failed in the harness and could not be judged.",
                              counted(harness, "trial", "trials")));
  }
  if (late > 0) {
    say.push_back(
        fmt::format("{} of {} were late: requests took over 5 % longer than the modelled drive. Their "
                    "timings are partly the host's.",
                    late, counted(n, "trial", "trials")));
  }
  if (clockless > 0) {
    say.push_back(fmt::format(
        "{} of {} ran with clock=off: model times hold, but nothing was delivered at the speed of the drive.",
        clockless, counted(n, "trial", "trials")));
  }
}

}  // namespace

Answer answer(const Facts& facts) {
  Answer result;
  judge_controls(facts, result);
  const auto& run = facts.run;
  if (run.interrupted()) {
    result.cautions.push_back(
        fmt::format("interrupted: {} of {}. The run has no end (it may still be going on); "
                    "what follows is about the finished trials only.",
                    run.recorded, counted(run.planned, "trial", "trials")));
  } else if (run.recorded < run.planned) {
    result.cautions.push_back(
        fmt::format("{} of {} planned trials were recorded.", run.recorded, run.planned));
  }
  if (facts.cells.empty()) {
    result.paragraph = "No trial of this run has finished, so there is nothing to tell yet.";
    return result;
  }
  result.paragraph = about_promises(facts) + about_the_rest(facts);
  if (result.paragraph.starts_with(' ')) result.paragraph.erase(0, 1);
  add_cautions(facts, result);
  return result;
}

}  // namespace headcrash::report
