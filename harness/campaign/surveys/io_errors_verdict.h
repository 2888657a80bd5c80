#pragma once
// The result of an `io-errors` cell: the contents of the written ranges, and surprising answers.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/observed_tree.h"

namespace headcrash::campaign {

/// A write to a file, and the contents before it.
struct WrittenRange {
  std::string path;
  std::uint32_t file = 0;
  std::uint64_t first_block = 0, blocks = 0;  ///< in blocks of 512 bytes
  std::optional<std::uint32_t> old_version;   ///< nullopt if there is no file, or beyond its end
  std::uint32_t new_version = 0;
};

enum class RangeContent : std::uint8_t {
  unseen,      ///< not read
  fresh,       ///< the written contents, complete: "new"
  old,         ///< the contents before the write
  torn,        ///< a mixture of both, or too short
  zero,        ///< some blocks are zeroes, which neither version has
  foreign,     ///< some blocks are of neither version
  missing,     ///< the file is missing
  unreadable,  ///< the file or directory cannot be read
};
std::string_view name(RangeContent content);

/// Returns the worst content of any block. A file that did not exist before and is missing counts
/// as old.
RangeContent content_of(std::span<const oracle::ObservedObject> tree, const WrittenRange& range);

/// The result of an operation: an errno, 0 for success, or one of these.
inline constexpr int kNotReached = -1;
inline constexpr int kHung = -2;
/// Returns "ok", "EIO", "hang" or "-".
std::string answer_name(int answer);

enum class MountState : std::uint8_t { unknown, read_write, read_only, shut_down, hung, died };
std::string_view name(MountState state);

/// The file system's state after recovery, according to its check and the last mount.
enum class AfterRecovery : std::uint8_t {
  unknown,
  clean,
  damage,  ///< there is no way to repair it
  repaired,
  not_repaired,
  mount_refused,
};
std::string_view name(AfterRecovery state);

struct IoErrorOutcome {
  bool control = false;  ///< no fault was injected
  // Results for the file whose write fails: through the descriptor used for writing (twice),
  // through a descriptor opened later, and after sync().
  int first_fsync = kNotReached, second_fsync = kNotReached, reopened_fsync = kNotReached,
      fsync_after_sync = kNotReached;
  int syncfs = kNotReached;
  int later_write = kNotReached, later_fsync = kNotReached;  ///< the same file, other blocks
  int other_fsync = kNotReached;                             ///< another file
  int new_file_fsync = kNotReached;                          ///< a file created afterwards
  int unmount = kNotReached;
  MountState state = MountState::unknown;
  RangeContent cached = RangeContent::unseen;     ///< while mounted
  RangeContent reread = RangeContent::unseen;     ///< while mounted, after dropping clean pages
  RangeContent recovered = RangeContent::unseen;  ///< at the end
  RangeContent rest = RangeContent::unseen;       ///< data synced earlier and not written since
  RangeContent later = RangeContent::unseen, other = RangeContent::unseen,
               new_file = RangeContent::unseen;
  AfterRecovery after_recovery = AfterRecovery::unknown;
  std::string refusal;  ///< for AfterRecovery::mount_refused: first line of the reason
  /// Returns "clean", "damage repaired", "mount refused: ..."; empty if unknown.
  std::string after_recovery_text() const;
};

/// Returns one sentence for each surprise, the most severe first. Empty if all fsync results were
/// true.
std::vector<std::string> surprises_of(const IoErrorOutcome& outcome);

}  // namespace headcrash::campaign
