#pragma once
// Groups failures into bugs. A bug consists of the failures of one file system and variant that
// have the same verdict. The failure with the shortest list of operations comes first.

#include <filesystem>
#include <string>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

/// A failing state, or a failing trial with a single cut.
struct Instance {
  std::string key, state;  ///< `state` is empty for a trial with a single cut
  std::int64_t trial_id = 0;
  /// Full name of the state with the fewest lost writes; empty for a trial with a single cut.
  std::string shown_state;
  std::string operations;  ///< operations, one per line; empty if not minimised
  std::string summary;     ///< description of the failure
  /// operations, lost writes, expected, found; empty if there are only findings
  std::string account;
  std::string command;  ///< reproduces it; may be empty
  /// File name of its page in the report's folder, even if the page does not exist.
  std::string page;
  std::string disagreement;
  const Trial* trial = nullptr;  ///< the trial, if it has a single cut
};

struct Bug {
  /// Kinds of bugs. `found` breaks a promise; `wanted` is a negative control's required result.
  enum class Kind : std::uint8_t { found, not_reproduced, unpromised, wanted };
  Kind kind = Kind::found;
  std::string filesystem, variant, verdict, tier;
  std::vector<Instance> instances;  ///< the instance with the fewest operations is first
  std::size_t trials = 0;           ///< number of trials that show the bug
};

/// Maximum number of instances shown on a card.
inline constexpr std::size_t kInstancesMost = 200;

/// Returns the bugs: the `found` ones first, and within each kind, those shown by the most trials
/// first.
std::vector<Bug> bugs_of(const Facts& facts);

/// Returns the last operation that changes something and the promise after it, such as "rename,
/// then fsyncdir"; empty if the instance has no list of operations.
std::string operation_of(const Instance& instance);
/// Returns the last operations on one line, such as "create foo; sync; rename foo bar".
std::string in_a_line(const std::string& operations);

}  // namespace headcrash::report
