#pragma once
// What a cell of `io-errors` shows: the contents of a written range, and which of the answers
// surprise.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/observed_tree.h"

namespace headcrash::campaign {

/// A write to a file, and what was there before.
struct WrittenRange {
  std::string path;
  std::uint32_t file = 0;
  std::uint64_t first_block = 0, blocks = 0;  ///< of 512 bytes
  std::optional<std::uint32_t> old_version;   ///< none: the file ended before, or was not there
  std::uint32_t new_version = 0;
};

enum class RangeContent : std::uint8_t {
  unseen,      ///< nobody looked
  fresh,       ///< the write, wholly: "new"
  old,         ///< what was there before
  torn,        ///< some of each, or too short
  zero,        ///< some blocks are zero which neither version is
  foreign,     ///< some blocks are neither version
  missing,     ///< the file is not there
  unreadable,  ///< reading the file, or the directory, fails
};
std::string_view name(RangeContent content);

/// The worst of its blocks decides. A file that was not there before and is missing is old.
RangeContent content_of(std::span<const oracle::ObservedObject> tree, const WrittenRange& range);

/// What an operation answered: an errno, 0 for success; or one of these.
inline constexpr int kNotReached = -1;
inline constexpr int kHung = -2;
/// "ok", "EIO", "hang", "-".
std::string answer_name(int answer);

enum class MountState : std::uint8_t { unknown, read_write, read_only, shut_down, hung, died };
std::string_view name(MountState state);

/// State of the file system after recovery, by its own check and the last mount.
enum class AfterRecovery : std::uint8_t {
  unknown,
  clean,
  damage,  ///< it has no repair
  repaired,
  not_repaired,
  mount_refused,
};
std::string_view name(AfterRecovery state);

struct IoErrorOutcome {
  bool control = false;  ///< nothing was failed
  // Of the file whose write fails: through the descriptor that wrote (twice), one opened
  // afterwards, and after sync().
  int first_fsync = kNotReached, second_fsync = kNotReached, reopened_fsync = kNotReached,
      fsync_after_sync = kNotReached;
  int syncfs = kNotReached;
  int later_write = kNotReached, later_fsync = kNotReached;  ///< the same file, other blocks
  int other_fsync = kNotReached;                             ///< another file
  int new_file_fsync = kNotReached;                          ///< a file created afterwards
  int unmount = kNotReached;
  MountState state = MountState::unknown;
  RangeContent cached = RangeContent::unseen;     ///< while mounted
  RangeContent reread = RangeContent::unseen;     ///< while mounted, with the clean pages dropped
  RangeContent recovered = RangeContent::unseen;  ///< at the end
  RangeContent rest = RangeContent::unseen;       ///< what was synced before and nobody wrote again
  RangeContent later = RangeContent::unseen, other = RangeContent::unseen,
               new_file = RangeContent::unseen;
  AfterRecovery after_recovery = AfterRecovery::unknown;
  std::string refusal;  ///< first line of the reason for AfterRecovery::mount_refused
  /// "clean", "damage repaired", "mount refused: ..."; empty if unknown.
  std::string after_recovery_text() const;
};

/// One sentence each, the gravest first; empty for a cell in which everything that fsync said is
/// true.
std::vector<std::string> surprises_of(const IoErrorOutcome& outcome);

}  // namespace headcrash::campaign
