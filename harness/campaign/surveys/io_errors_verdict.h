#pragma once
// The result of an `io-errors` cell: the contents of the written ranges, and unexpected results,
// such as the loss of data although fsync succeeded.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/observed_tree.h"

namespace headcrash::campaign {

/// A range of a file that an operation wrote, and the versions of the range before and after the
/// write.
struct WrittenRange {
  std::string path;
  std::uint32_t file = 0;
  std::uint64_t first_block = 0, blocks = 0;  ///< in blocks of 512 bytes
  /// The version before the write; nullopt if the file did not exist or ended before the range.
  std::optional<std::uint32_t> old_version;
  std::uint32_t new_version = 0;
};

enum class RangeContent : std::uint8_t {
  unseen,   ///< not read
  fresh,    ///< the written contents, complete; displayed as "new"
  old,      ///< the contents before the write
  torn,     ///< old and written contents are mixed, or the file is too short
  zero,     ///< some blocks are zeroes, although neither version has zeroes
  foreign,  ///< some blocks belong to neither version
  missing,
  unreadable,
};
std::string_view name(RangeContent content);

/// Returns the worst content of any block in the range. If the file is missing, and did not exist
/// before the write, returns `old`.
RangeContent content_of(std::span<const oracle::ObservedObject> tree, const WrittenRange& range);

/// Results of operations are 0 for success, an errno, or one of these constants.
inline constexpr int kNotReached = -1;
inline constexpr int kHung = -2;
/// Returns "ok", "-", "hang", or the name of the errno, such as "EIO".
std::string answer_name(int answer);

enum class MountState : std::uint8_t { unknown, read_write, read_only, shut_down, hung, died };
std::string_view name(MountState state);

/// The file system's state after recovery, as determined by its check program and the last mount.
enum class AfterRecovery : std::uint8_t {
  unknown,
  clean,
  damage,  ///< there is damage, and no repair tool exists
  repaired,
  not_repaired,
  mount_refused,
};
std::string_view name(AfterRecovery state);

struct IoErrorOutcome {
  bool control = false;  ///< true for a control, in which no fault was injected
  // Results of fsync for the file whose write fails: through the descriptor of the write (first and
  // second call), through a descriptor opened later, and after sync().
  int first_fsync = kNotReached, second_fsync = kNotReached, reopened_fsync = kNotReached,
      fsync_after_sync = kNotReached;
  int syncfs = kNotReached;
  /// Result of a later write to other blocks of the same file, and result of the fsync after this
  /// later write.
  int later_write = kNotReached, later_fsync = kNotReached;
  int other_fsync = kNotReached;  ///< another file
  /// Result of fsync for a file that is created after the write error.
  int new_file_fsync = kNotReached;
  int unmount = kNotReached;
  MountState state = MountState::unknown;
  RangeContent cached = RangeContent::unseen;  ///< while mounted
  /// Content read from the mounted file system after its clean pages have been dropped from the
  /// page cache.
  RangeContent reread = RangeContent::unseen;
  RangeContent recovered = RangeContent::unseen;  ///< after recovery
  /// Content of the blocks that were synced in the setup and have not been written since.
  RangeContent rest = RangeContent::unseen;
  RangeContent later = RangeContent::unseen, other = RangeContent::unseen,
               new_file = RangeContent::unseen;
  AfterRecovery after_recovery = AfterRecovery::unknown;
  std::string refusal;  ///< first line of the kernel's error for AfterRecovery::mount_refused
  /// Returns, for example, "clean", "damage repaired" or "mount refused: ..."; an empty string if
  /// unknown.
  std::string after_recovery_text() const;
};

/// Returns one sentence for each unexpected result, the most severe one first.
std::vector<std::string> surprises_of(const IoErrorOutcome& outcome);

}  // namespace headcrash::campaign
