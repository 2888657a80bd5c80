#pragma once
// Groups failures into bugs. A bug consists of all failures that have the same verdict on one file
// system and variant. Within a bug, the failure with the shortest list of operations is first.

#include <filesystem>
#include <string>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

/// A failed crash state, a failed trial with a single cut, or a trial with a broken rule of its
/// stack.
struct Instance {
  std::string key, state;  ///< `state` is empty for a trial with a single cut
  std::int64_t trial_id = 0;
  /// Full name of the minimised state, which loses the fewest writes. Empty for a trial with a
  /// single cut.
  std::string shown_state;
  std::string operations;  ///< one per line; empty if the failure has not been minimised
  std::string summary;     ///< describes the failure
  /// The failure's operations, its lost writes, and the expected and found contents. Empty if there
  /// are only findings.
  std::string account;
  std::string command;  ///< command that reproduces the failure; may be empty
  /// File name of the instance's page in the report's directory, even if the page does not exist.
  /// Empty for a broken rule.
  std::string page;
  std::string disagreement;
  const Trial* trial = nullptr;  ///< the trial, if it has a single cut or a broken rule
};

struct Bug {
  /// Kinds of bugs. A `found` bug breaks a promise. A `wanted` bug is the result that a negative
  /// control must have.
  enum class Kind : std::uint8_t { found, not_reproduced, unpromised, wanted };
  Kind kind = Kind::found;
  std::string filesystem, variant, verdict, tier;
  std::vector<Instance> instances;  ///< the instance with the fewest operations is first
  std::size_t trials = 0;           ///< number of trials that show the bug
};

/// Maximum number of instances shown on a card.
inline constexpr std::size_t kInstancesMost = 200;

/// Returns the bugs, those of the kind `found` first. Within a kind, the bugs are sorted by the
/// number of trials in which they occurred, the most frequent first.
std::vector<Bug> bugs_of(const Facts& facts);

/// Returns the last changing operation with the promise that follows it, such as "rename, then
/// fsyncdir". Returns an empty text if the instance has no list of operations.
std::string operation_of(const Instance& instance);
/// Returns the last operations on one line, such as "create foo; sync; rename foo bar".
std::string in_a_line(const std::string& operations);

}  // namespace headcrash::report
