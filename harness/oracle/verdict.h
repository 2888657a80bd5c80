#pragma once
// The verdicts of a trial, and their derivation from recovery and findings.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headcrash::oracle {

/// In ascending order of severity. The verdict of a trial is the most severe one observed.
enum class Verdict : std::uint8_t {
  clean,     ///< no recovery was needed; everything promised is there
  replayed,  ///< everything promised is there after the file system's log replay
  /// the check repaired damage that remained after the replay; everything promised is there
  repaired_by_fsck,
  stale_data,         ///< a file shows bytes that were never written to it
  non_atomic_rename,  ///< both names or neither
  resurrected,        ///< an object is back although its removal was persistent
  zero_length,        ///< a file whose synced size was not zero is empty
  wrong_data,         ///< content or objects that existed at no moment of the workload
  lost_synced_data,   ///< persistent data is missing or older
  not_repairable,     ///< the repair failed
  unmountable,
  recovery_not_idempotent,
  hang,  ///< a step in the guest exceeded its time limit
  oops,  ///< the guest's kernel reported a bug
  /// an operation failed that a correct file system executes, so no complete run could be judged
  workload_failed,
  harness_error,  ///< headcrash itself failed; the trial says nothing about the file system
};

std::string_view name(Verdict verdict);
Verdict verdict_named(std::string_view name);  ///< an unknown name is a harness error
bool keeps_promises(Verdict verdict);          ///< true for clean and replayed

enum class Tier : std::uint8_t {
  posix,       ///< promised by POSIX
  documented,  ///< promised by the file system's documentation
  de_facto,    ///< applications rely on it
  integrity,   ///< unconditional; never acceptable
};
std::string_view name(Tier tier);

struct Finding {
  Verdict kind = Verdict::wrong_data;
  Tier tier = Tier::posix;
  std::string path, expected, found;
};

/// The steps of a recovery and their results.
struct Recovery {
  bool replayed = false;  ///< the log was not empty
  bool check_found_damage = false;
  bool repaired = true;  ///< meaningful if damage was found
  bool mounted = true;
  bool refused_as_cut = false;  ///< the kernel mounted it only after the replay command
};

struct Judgement {
  Verdict verdict = Verdict::clean;
  std::string summary;  ///< one sentence
};
Judgement judge_trial(const Recovery& recovery, const std::vector<Finding>& findings);

}  // namespace headcrash::oracle
