#pragma once
// Failures folded into bugs: those of one file system that came to the same verdict, with the
// shortest list of operations that shows it first.

#include <filesystem>
#include <string>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

/// One failing state, or one failing trial of a single cut.
struct Instance {
  std::string key, state;  ///< a trial of a single cut has no state
  std::int64_t trial_id = 0;
  std::string
      shown_state;  ///< that with the fewest lost writes, by its full name; empty: of a single cut
  std::string operations;  ///< one a line; empty: not minimised
  std::string summary;     ///< what was wrong
  std::string account;     ///< operations, lost writes, expected, found; empty: only findings
  std::string command;     ///< that shows it again; empty: there is none
  std::string page;  ///< file name of its page beside the report, whether or not it has been made
  std::string disagreement;
  const Trial* trial = nullptr;  ///< of a single cut
};

struct Bug {
  /// What the run says of it: `found` breaks a promise; `wanted` is what a negative control had to
  /// show.
  enum class Kind : std::uint8_t { found, not_reproduced, unpromised, wanted };
  Kind kind = Kind::found;
  std::string filesystem, variant, verdict, tier;
  std::vector<Instance> instances;  ///< the one with the fewest operations first
  std::size_t trials = 0;           ///< that show it
};

/// Instances that a card lists.
inline constexpr std::size_t kInstancesMost = 200;

/// Found ones first, and of those the ones that more trials show.
std::vector<Bug> bugs_of(const Facts& facts);

/// "rename, then fsyncdir": the last operation that changes something, and the promise after it;
/// empty without a list.
std::string operation_of(const Instance& instance);
/// "create foo; sync; rename foo bar", the last of them.
std::string in_a_line(const std::string& operations);

}  // namespace headcrash::report
