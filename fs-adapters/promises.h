#pragma once
// What a file system promises beyond POSIX, and what it may do that looks like damage: the
// `[promise]` table of an adapter. The oracle judges by it; every key that is not a promise is a
// permission, and permissions are off unless an adapter grants them.

#include <cstdint>
#include <string>
#include <vector>

namespace headcrash::adapters {

/// How changes of names reach the disk, from the weakest to the strongest.
enum class NameOrder : std::uint8_t {
  /// Nothing orders one write of metadata after another (ext2, minix, ext4 without a journal): a
  /// name whose change was not synced may be gone, show both versions or, its inode used again,
  /// another file; a new symbolic link may be empty; a file that was growing may end anywhere in
  /// its new blocks, as fsck finds them; fsync of a directory keeps the names only of what was
  /// synced itself. Names and files that were synced and not touched since are as safe as
  /// elsewhere.
  unordered,
  /// No operation is atomic, but each write of metadata waits for those that it depends on, and
  /// fsck puts right what is left (Ganger and Patt 1994; our ordering schemes). A name shows what
  /// it was or any state that it went through since, and what stands there is that very object. A
  /// rename may show both names; what was synced is always found under one of them. Nothing is used
  /// again while something on the disk points to it.
  ordered,
  /// Every operation on names happens wholly or not at all (a journal, a log, copy-on-write).
  atomic,
};

/// How much of a tree is, after a cut, what it was at one point of the history: all operations
/// before it have been done, and none after it. With several users at once a point is one for each
/// of them. It does not lie before the last fsync or sync that has returned, nor within a
/// transaction (transactions.h).
enum class OnePoint : std::uint8_t {
  none,      ///< each name and each file may have a point of its own
  metadata,  ///< names, sizes, modes, owners, times and extended attributes
  all,       ///< and contents
};

struct Promises {
  /// fsync, fdatasync, O_SYNC and msync make anything durable. Off: only sync() and syncfs() do (a
  /// log that is mounted at its newest checkpoint; a file system mounted so that it ignores fsync).
  bool fsync_persists = true;
  // Documented tier. POSIX asks for fsync of the directory.
  bool fsync_keeps_name = false;  ///< fsync of a file or directory keeps the path it was opened by
  bool fsync_keeps_links =
      false;  ///< and every other change of that file's names: links, renames, removals
  /// The two also after RENAME_EXCHANGE. XFS changes neither of the exchanged inodes, so that fsync
  /// of one finds nothing to force to the log.
  bool fsync_keeps_exchanged_name = true;
  /// The path also where a directory on it was renamed before the object got its name: the log that
  /// holds the one holds the other. btrfs writes a log of the object and of new directories, f2fs a
  /// node that names its parent by number.
  bool fsync_keeps_renamed_parents = true;
  /// The path also where a directory on it was renamed after the object got its name: fsync writes
  /// the new names of directories that have moved (our own file systems do; of Linux's nobody says
  /// so).
  bool fsync_keeps_moved_path = false;
  /// sync() and syncfs() return when everything is on the disk, as Linux says. A FUSE file system
  /// does not hear of them (fs-adapters/fuse/server.h).
  bool sync_waits = true;
  /// fsync keeps the path of what has been made since the last sync and was neither renamed nor
  /// linked (ext4 without a journal writes the new parents too).
  bool fsync_keeps_new_name = false;

  /// What was done so many seconds ago, or longer, and not changed since, is on the disk although
  /// nobody has synced it, once the disk has done what it had been asked for by then: the delay of
  /// delayed writes, the syncer's tick, and the ticks that writes take which wait for others. 0:
  /// nothing is promised about age.
  std::int64_t keeps_after_s = 0;
  /// After a rest of so many seconds everything before it is kept.
  bool keeps_rested(std::int64_t seconds) const {
    return keeps_after_s > 0 && seconds >= keeps_after_s;
  }

  // De-facto tier: applications rely on it.
  /// A file renamed over another one shows after a cut what had been written before the rename,
  /// although it was never synced (ext4's auto_da_alloc). Without it the name may show a file of
  /// zero length: neither version (xfs, btrfs).
  bool replace_keeps_content = false;
  /// A synced file that is being renamed shows under its old or its new name even when another file
  /// has taken the old name and was synced (xfstests generic/342). f2fs in its posix mode may lose
  /// it.
  bool renamed_file_survives = true;
  NameOrder names = NameOrder::atomic;
  /// Where names are atomic. Documented tier.
  OnePoint one_point = OnePoint::none;

  // A permission: blocks that were allocated but not yet written may show what the disk held before
  // (data=writeback, ext2, ext4 without a journal).
  bool exposes_stale_data = false;
  /// They are allocated in units of this many bytes: what is next to the written ones comes with
  /// them.
  std::uint32_t allocation_bytes = 512;

  // Of an inode, beside mode and owner, which fsync and sync always keep once they were set.
  /// A time of modification that was set explicitly and made persistent.
  bool keeps_times = true;
  /// What fallocate made room for and fsync or sync made persistent stays allocated, behind a
  /// file's end, too (FALLOC_FL_KEEP_SIZE).
  bool keeps_allocation = false;

  /// Names in the root that are the file system's own (NILFS2's .nilfs) or its repair's
  /// (FSCK*.REC of FAT), as patterns of fnmatch(3). They are not judged.
  std::vector<std::string> own_names = {};
  /// Beginnings of names that an operation gives for a while, in any directory, and a cut may leave
  /// where names are not atomic: they are not judged. (What was synced must show under a name of
  /// its own all the same.)
  std::vector<std::string> passing_names = {};

  bool names_are_atomic() const { return names == NameOrder::atomic; }
};

}  // namespace headcrash::adapters
