#pragma once
// What a trial can come to, and how its one verdict follows from recovery and findings.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headcrash::oracle {

/// Worse verdicts come later: a trial's verdict is the worst thing that was seen.
enum class Verdict : std::uint8_t {
  clean,     ///< nothing had to be recovered, everything promised is there
  replayed,  ///< after the file system's own log replay everything promised is there
  /// the check found damage after the replay and repaired it; everything promised is
  repaired_by_fsck,
  ///< there
  stale_data,         ///< a file shows bytes that were never written to it
  non_atomic_rename,  ///< both names or neither
  resurrected,        ///< an object whose removal had been made persistent is back
  zero_length,        ///< a file whose synced size was not zero is empty
  wrong_data,         ///< content or objects that no moment of the workload had
  lost_synced_data,   ///< something that had been made persistent is gone or older
  not_repairable,     ///< the repair did not succeed
  unmountable,
  recovery_not_idempotent,
  hang,  ///< a step in the guest did not end within its time
  oops,  ///< the guest's kernel reported a bug
  /// an operation failed that a correct file system does: there was no whole run to judge
  workload_failed,
  harness_error,  ///< headcrash itself failed: the trial says nothing about the file system
};

std::string_view name(Verdict verdict);
Verdict verdict_named(std::string_view name);  ///< what is none of the names is a harness error
bool keeps_promises(Verdict verdict);          ///< clean or replayed

enum class Tier : std::uint8_t {
  posix,       ///< promised by POSIX
  documented,  ///< promised by the file system's documentation
  de_facto,    ///< applications rely on it
  integrity,   ///< no promise about time: never acceptable
};
std::string_view name(Tier tier);

struct Finding {
  Verdict kind = Verdict::wrong_data;
  Tier tier = Tier::posix;
  std::string path, expected, found;
};

/// How recovery went, step by step.
struct Recovery {
  bool replayed = false;  ///< the log was not empty
  bool check_found_damage = false;
  bool repaired = true;  ///< meaningful when damage was found
  bool mounted = true;
  bool refused_as_cut = false;  ///< by the kernel, which mounted it after the replay command
};

struct Judgement {
  Verdict verdict = Verdict::clean;
  std::string summary;  ///< one sentence
};
Judgement judge_trial(const Recovery& recovery, const std::vector<Finding>& findings);

}  // namespace headcrash::oracle
