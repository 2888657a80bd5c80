#pragma once
// The possible verdicts of a trial, and the rules that derive a verdict from a recovery and its
// findings.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::oracle {

/// The verdicts, in ascending order of severity. The verdict of a trial is the most severe one that
/// was observed.
enum class Verdict : std::uint8_t {
  clean,     ///< no recovery was needed, and all promises were kept
  replayed,  ///< all promises were kept after the file system replayed its log
  /// All promises were kept, but fsck had to repair damage that was left after the replay.
  repaired_by_fsck,
  broken_rule,        ///< a stack of block devices broke one of its rules (adapters::StackRules)
  stale_data,         ///< a file contains bytes that were never written to it
  non_atomic_rename,  ///< a rename that was in flight left both names or neither
  resurrected,        ///< an object still exists although its removal was persistent
  zero_length,        ///< a file is empty although its synced size was not zero
  wrong_data,         ///< content or objects that never existed during the workload
  lost_synced_data,   ///< persistent data is missing, or an older version of it was found
  not_repairable,
  unmountable,
  recovery_not_idempotent,
  hang,  ///< a step in the guest exceeded its time limit
  oops,  ///< the guest's kernel reported a bug
  /// An operation failed although it succeeds on a correct file system. There was no complete run
  /// to judge.
  workload_failed,
  harness_error,  ///< headcrash itself failed; the trial says nothing about the file system
};

std::string_view name(Verdict verdict);
Verdict verdict_named(std::string_view name);  ///< returns harness_error for an unknown name
bool keeps_promises(Verdict verdict);          ///< true for clean and replayed

enum class Tier : std::uint8_t {
  posix,       ///< promised by POSIX
  documented,  ///< promised by the file system's documentation
  de_facto,    ///< not documented, but applications rely on it
  integrity,   ///< must hold for every file system
  litmus,      ///< required by a litmus test (harness/contract)
};
std::string_view name(Tier tier);

struct Finding {
  Verdict kind = Verdict::wrong_data;
  Tier tier = Tier::posix;
  std::string path, expected, found;
};

struct Recovery {
  bool replayed = false;  ///< the log was not empty
  bool check_found_damage = false;
  bool repaired = true;  ///< meaningful only if damage was found
  bool mounted = true;
  /// True if the kernel mounted the file system only after the replay command had run.
  bool refused_as_cut = false;
};

struct Judgement {
  Verdict verdict = Verdict::clean;
  std::string summary;  ///< one sentence
};
Judgement judge_trial(const Recovery& recovery, const std::vector<Finding>& findings);

/// Returns the verdict for work that ended with an error of this kind.
Verdict verdict_of(ErrorKind kind);
/// Like verdict_of(), but includes the message of the error. Unprintable characters are replaced,
/// because the message may contain output of the guest.
Judgement judgement_of(const Error& error);

}  // namespace headcrash::oracle
