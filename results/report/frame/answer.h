#pragma once
// A campaign's answer: a status line, a table of the file systems, and notes with fixed wording,
// all derived only from the facts. Page, terminal and JSON show the same answer.

#include <optional>
#include <string>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

/// All trials of a file system and variant that have the same expected result, on any device and
/// with any workload.
struct SystemRow {
  std::string filesystem, variant;
  std::string place;     ///< for example "hp-c2447, small-files", or "6 cells" if there are several
  std::string expected;  ///< see expectation()
  bool control = false;
  std::int64_t trials = 0, clean = 0, replayed = 0, lost = 0, known = 0, other = 0;
  std::string verdicts;             ///< for example "3 replayed, 2 silent-loss"
  std::optional<bool> as_expected;  ///< empty if the file system promises nothing
  std::string name() const {
    return variant.empty() ? filesystem : filesystem + " (" + variant + ")";
  }
};

struct Answer {
  bool valid = true;  ///< false if a control did not show its required result
  /// For example "4 of 5 file systems kept their promises; btrfs lost synced data".
  std::string status;
  std::string controls;  ///< status of the controls, such as "controls as expected: 2 of 2"
  /// Sentences such as "xfs, d, w: expected loss in at least 3; 5 trials, 2 lost, ...".
  std::vector<std::string> failed_controls;
  std::vector<SystemRow> systems;  ///< file systems with unexpected results first
  std::vector<std::string> notes;  ///< for example "late trials: 3 of 15 (...)"
};

Answer answer(const Facts& facts);

/// Returns the result that a cell must have: "clean", "clean after fsck", "damage", "loss" or
/// "any".
std::string expectation(const Cell& cell);

/// If the run is incomplete, returns a note such as "finished trials: 7 of 15 ..."; otherwise an
/// empty text.
std::string completeness_note(const Run& run);

/// Returns the text for the terminal: failed controls, status line, controls and notes, followed by
/// the table of file systems.
std::string status_text(const Answer& answer);
std::string systems_text(const Answer& answer);
/// Returns the table of the cells on stacks, or an empty text if no cell has a stack.
std::string stacks_text(const Facts& facts);

/// The run's results, as JSON and as text for the terminal (report.h).
struct Summary;
Summary summary_of(const Facts& facts);

}  // namespace headcrash::report
