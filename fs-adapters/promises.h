#pragma once
// A file system's promises beyond POSIX, and its permissions: behaviour that looks like damage but
// is permitted. An adapter declares both in its `[promise]` table, and the oracle judges the file
// system by them. An adapter has only the permissions that it declares.

#include <cstdint>
#include <string>
#include <vector>

namespace headcrash::adapters {

/// The order in which name changes reach the disk. The values are sorted from weakest to strongest.
enum class NameOrder : std::uint8_t {
  /// Metadata is written in any order (ext2, minix, ext4 without a journal). If a name change was
  /// not synced, the name may be missing, the old and the new name may both exist, or the name may
  /// refer to another file that reuses the inode. A new symbolic link may be empty. fsck may
  /// truncate a growing file at any point in its new blocks. fsync of a directory keeps only the
  /// names of objects that were synced themselves. Names and files that were synced and have not
  /// changed since are safe.
  unordered,
  /// No operation is atomic, but each metadata write waits for the writes on which it depends, and
  /// fsck repairs the rest (Ganger and Patt 1994; the ordering schemes of ufs). After a power cut,
  /// a name is in its last synced state or in any later one, and always refers to the right object.
  /// A rename may leave both names; a synced file always has at least one of them. Nothing is
  /// reused while something on the disk refers to it.
  ordered,
  /// Every operation on names is atomic (journal, log, copy-on-write).
  atomic,
};

/// The part of the tree that is consistent after a power cut: it reflects all operations up to some
/// point in the history and none after it. With several users, there is one such point for each
/// user. No point is before the last completed fsync or sync, or within a transaction
/// (transactions.h).
enum class OnePoint : std::uint8_t {
  none,      ///< no part; names and files may each reflect a different point
  metadata,  ///< names, sizes, modes, owners, times and extended attributes
  all,       ///< everything in `metadata`, and file contents
};

struct Promises {
  /// True if fsync, fdatasync, O_SYNC and msync make data durable. If false, only sync() and
  /// syncfs() do. Examples are a log-structured file system that recovers only its newest
  /// checkpoint, and a mount option that makes fsync do nothing.
  bool fsync_persists = true;
  // A documented promise: fsync of a file or directory persists the path by which the file or
  // directory was opened. POSIX requires a separate fsync of the parent directory for this.
  bool fsync_keeps_name = false;
  /// fsync also persists all other changes to the object's names: added links, renames and
  /// removals.
  bool fsync_keeps_links = false;
  /// Both promises above also hold after RENAME_EXCHANGE. False for XFS: an exchange changes
  /// neither of the two inodes, so a later fsync of either one writes no log record.
  bool fsync_keeps_exchanged_name = true;
  /// The path is also kept if a directory in it was renamed before the object's name was created.
  /// In btrfs this holds because fsync logs the object together with its new directories; in f2fs,
  /// because a node stores its parent's number.
  bool fsync_keeps_renamed_parents = true;
  /// The path is also kept if a directory in it was renamed after the object's name was created,
  /// because fsync also writes the new names of moved directories. headcrash's own file systems
  /// keep this promise; no Linux file system documents it.
  bool fsync_keeps_moved_path = false;
  /// sync() and syncfs() return only after everything is on the disk, as on Linux. A FUSE file
  /// system does not receive these calls (fs-adapters/fuse/server.h).
  bool sync_waits = true;
  /// fsync persists the path of an object that was created since the last sync, and was neither
  /// renamed nor linked. For example, ext4 without a journal also writes the new parent
  /// directories.
  bool fsync_keeps_new_name = false;

  /// Changes are durable after this number of seconds even without a sync, provided that the disk
  /// has completed all requests issued in that time. The value is the sum of the write delay, the
  /// syncer's tick, and one tick for each write that must wait for another write. 0 if nothing is
  /// promised.
  std::int64_t keeps_after_s = 0;
  /// Returns true if a pause of this length makes all earlier changes durable.
  bool keeps_rested(std::int64_t seconds) const {
    return keeps_after_s > 0 && seconds >= keeps_after_s;
  }

  // A de-facto promise: undocumented, but applications rely on it. After a power cut, a file that
  // was renamed over another one has the contents written before the rename, even without fsync
  // (auto_da_alloc in ext4). Without this promise, the name may refer to an empty file, which is
  // neither the old nor the new version (xfs, btrfs).
  bool replace_keeps_content = false;
  /// After a rename, a synced file appears under its old or its new name, even if another file took
  /// the old name and was synced (xfstests generic/342). f2fs may lose such a file in its posix
  /// mode.
  bool renamed_file_survives = true;
  NameOrder names = NameOrder::atomic;
  /// A documented promise. Any value except `none` requires atomic names.
  OnePoint one_point = OnePoint::none;

  // Permission: blocks that were allocated but not yet written may show old disk content
  // (data=writeback, ext2, ext4 without a journal).
  bool exposes_stale_data = false;
  /// Allocation unit in bytes. Within one unit, stale data may appear next to written data.
  std::uint32_t allocation_bytes = 512;

  // Inode attributes. Each object's mode and owner are stored, and fsync and sync make them
  // durable.
  bool keeps_modes = true;
  /// If a modification time was set explicitly and then synced, that time is preserved.
  bool keeps_times = true;
  /// Space that was allocated by fallocate and synced remains allocated, even beyond the end of the
  /// file (FALLOC_FL_KEEP_SIZE).
  bool keeps_allocation = false;

  /// Patterns (fnmatch(3)) for names in the root that belong to the file system (NILFS2's .nilfs)
  /// or that a repair creates (FAT's FSCK*.REC). The oracle does not judge these names.
  std::vector<std::string> own_names = {};
  /// Prefixes of temporary names that an operation creates, in any directory. If names are not
  /// atomic, a power cut may leave temporary names on the disk; the oracle does not judge them. A
  /// synced file must still appear under one of its real names.
  std::vector<std::string> passing_names = {};

  bool names_are_atomic() const { return names == NameOrder::atomic; }
};

}  // namespace headcrash::adapters
