#pragma once
// The operation language. A workload is a text with one operation on each line.
//
//   mkdir PATH          rmdir PATH            create PATH           unlink PATH
//   write PATH OFFSET LENGTH FILE VERSION     writes stamps (stamp.h)
//   write-sync, write-dsync, write-direct     the same with O_SYNC, O_DSYNC, O_DIRECT
//   write-direct-dsync, write-uring           the same with O_DIRECT and O_DSYNC; write-uring uses
//                                             io_uring
//   write-atomic PATH OFFSET LENGTH FILE VERSION
//                                             with O_DIRECT and RWF_ATOMIC
//   write-mapped                              through a shared mapping and msync; inside the file
//   store PATH OFFSET LENGTH FILE VERSION     through a shared mapping, without msync; inside the
//                                             file
//   msync PATH OFFSET LENGTH                  writes and persists only this range of a mapping
//   sync-range PATH OFFSET LENGTH             sync_file_range: writes the range, promises nothing
//   append PATH OFFSET LENGTH FILE VERSION    with O_APPEND; OFFSET is the file's size
//   truncate PATH SIZE
//   allocate PATH OFFSET LENGTH               fallocate; allocate-keep keeps the size
//   punch PATH OFFSET LENGTH                  punches a hole
//   zero PATH OFFSET LENGTH                   fallocate's zero range; zero-keep keeps the size
//   collapse PATH OFFSET LENGTH               removes the range and moves the rest to its place;
//                                             the range must end inside the file
//   insert PATH OFFSET LENGTH                 inserts a hole and moves the rest behind it; the hole
//                                             must begin inside the file
//   clone FROM OFFSET LENGTH TO OFFSET        TO then shares these blocks of FROM (FICLONERANGE)
//   dedupe FROM OFFSET LENGTH TO OFFSET       the same, if both ranges are equal (FIDEDUPERANGE)
//   link EXISTING PATH                        symlink TARGET PATH                mknod PATH fifo
//   rename FROM TO      rename-noreplace FROM TO                    rename-exchange ONE OTHER
//   rename-whiteout FROM TO                   leaves a whiteout at FROM, for overlayfs
//   setxattr PATH NAME VALUE                  removexattr PATH NAME; NAME is in user., trusted.,
//                                             security. or system.; VALUE: see attribute_value.h
//   chmod PATH MODE                           octal permission bits, of a file or directory
//   chown PATH UID GID                        of a file or directory; each at most 65534
//   touch PATH SECONDS                        sets mtime of a file or directory; SECONDS is even,
//                                             from 1980 to 2038
//   access PATH SECONDS                       sets atime of a file, with the same limits
//   flags PATH LETTERS                        inode flags as in chattr: any of aACdDisSu, or "-" to
//                                             clear all
//   project PATH NUMBER                       project ID for quotas, at most 65534
//   subvolume PATH                            creates a subvolume, if supported (btrfs)
//   snapshot FROM PATH                        PATH becomes a snapshot of FROM, a subvolume or "."
//   remove-subvolume PATH                     removes a subvolume with its contents
//   fsync PATH          fdatasync PATH        fsyncdir PATH         sync             syncfs
//   remount                                   unmounts and mounts; persists everything; requires a
//                                             single thread and no open file
//   remount-ro                                remounts read-only, then read-write; persists
//                                             everything
//   freeze                                    FIFREEZE, then FITHAW; persists everything
//   crash panic         crash power           ends the kernel: with all writes on the disk, or only
//                                             the flushed ones; then recovers and mounts. The list
//                                             continues from the recovered tree. Has the same
//                                             requirements as remount
//   evict                                     drops clean pages, inodes and names from the cache
//   rest SECONDS                              waits until older changes have been written
//                                             (promises.h)
//   join                                      barrier for all threads
//   open PATH %NAME     close %NAME           keeps a file or directory open, even without a name
//   tmpfile %NAME                             opens a file without a name (O_TMPFILE)
//   begin               commit                the thread's operations in between are one
//                                             transaction (fs-adapters/transactions.h), if
//                                             supported
//
// Buffered writes, and the ranges of allocate, punch and zero, may begin and end at any byte. If
// two writes have written a block, a dump reports its first 32 bytes, and only these are judged.
// The ranges of collapse, insert, clone and dedupe are multiples of 4096, the usual block size. If
// the file system has larger blocks, the kernel rejects the operation, which is then skipped as
// unsupported.
//
// "%NAME" denotes the open file in any operation that would otherwise open a file: write,
// write-mapped, store, msync, sync-range, truncate, allocate, punch, zero, collapse, insert, fsync,
// fdatasync. An open file belongs to the thread that opened it. Open files are closed before the
// file system is unmounted. An open directory can only be used by fsync; its inode stays in memory
// despite evict. A file without a name can thus be synced:
//
//   create a    sync    open a %f    unlink a    fsync %f    close %f
//
// link also accepts an open file if it has a name, or if it is a tmpfile that never had one:
//
//   tmpfile %f    write %f 0 4096 1 1    link %f a    fsync %f
//
// Threads. "@2 write ..." is an operation of thread 2. Operations without a prefix belong to thread
// 0. The operations of one thread run in order, those of different threads run concurrently. A join
// waits for all operations before it:
//
//   mkdir d | join | create d/a      write d/a ..     fsync d/a (5)  | join | ...
//                  | @1 create d/b   @1 write d/b ..  @1 fsync d/b (8)
//
// Two rules keep the oracle simple. First, between two joins, each file and each name belongs to
// one thread. The oracle's ownership.h checks this rule. Looking up a directory on a path is always
// permitted. Second, persistence points are reported in list order: when the point of a thread has
// succeeded, the thread waits until all earlier points have been reported. "persisted N" therefore
// gives the position of every thread. The calls themselves run concurrently, as do the commits that
// they cause.
//
// A workload is a list that is generated from a seed before the run. The agent executes it, and the
// oracle follows the same list on the host; neither needs data from the other. Paths are those of
// vfs.h, without blanks. The root is written as "."; only fsyncdir and operations on attributes
// accept it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"
#include "plugin/base/result.h"

namespace headcrash::workload {

class OpenFiles;  // open_files.h

struct Operation {
  enum class Kind : std::uint8_t {
    mkdir,
    rmdir,
    create,
    unlink,
    write,
    write_sync,
    write_dsync,
    write_direct,
    write_mapped,
    append,
    truncate,
    allocate,
    allocate_keep,
    punch,
    zero,
    zero_keep,
    link,
    symlink,
    rename,
    rename_noreplace,
    rename_exchange,
    rename_whiteout,
    setxattr,
    removexattr,
    fsync,
    fdatasync,
    fsync_directory,
    sync,
    syncfs,
    join,
    open,
    close,
    chmod,
    chown,
    touch,
    rest,
    begin,
    commit,
    collapse,
    insert,
    clone,
    dedupe,
    store,
    msync,
    sync_range,
    tmpfile,
    mknod,
    remount,
    freeze,
    evict,
    flags,
    project,
    write_direct_dsync,
    write_uring,
    remount_read_only,
    access,
    subvolume,
    snapshot,
    remove_subvolume,
    crash,
    write_atomic,
  };
  Kind kind = Kind::sync;
  std::string path;
  /// The second argument. For link and rename, the new name; for symlink, the target of the link;
  /// for open and tmpfile, "%NAME"; for clone and dedupe, the other file; for mknod, "fifo"; for
  /// crash, "panic" or "power".
  std::string target;
  std::string attribute;            ///< setxattr, removexattr
  std::string value;                ///< setxattr
  std::uint64_t offset = 0;         ///< in bytes
  std::uint64_t target_offset = 0;  ///< for clone and dedupe: offset in the target, in bytes
  /// Length in bytes; at most kLongestWriteBytes for a write. For truncate, the new size.
  std::uint64_t length = 0;
  std::uint32_t file = 0;             ///< for writes: number of the file
  std::uint32_t version = 0;          ///< for writes: increases with every write of the workload
  std::uint8_t thread = 0;            ///< below kThreadsMost; 0 for a join
  std::uint32_t mode = 0;             ///< chmod
  std::uint32_t flags = 0;            ///< for flags: FS_*_FL in linux/fs.h
  std::uint32_t project = 0;          ///< project
  std::uint32_t user = 0, group = 0;  ///< chown
  /// For touch and access, the new time in seconds since the epoch. For rest, the duration, at most
  /// kLongestRestSeconds.
  std::int64_t seconds = 0;
  bool operator==(const Operation&) const = default;
};
inline constexpr std::size_t kOperationKinds = 61;
/// The largest user, group or project ID that every file system can store.
inline constexpr std::uint32_t kLargestOwner = 65534;
inline constexpr std::int64_t kEarliestSeconds = 315532800, kLatestSeconds = 2147483646;
inline constexpr std::int64_t kLongestRestSeconds = 3600;
inline constexpr std::size_t kOpenFilesMost = 4096;  ///< limit for all threads together
inline constexpr std::uint8_t kThreadsMost = 8;

/// Formats inode flags as the letters that parse_operation() accepts.
std::string format_flags(std::uint32_t flags);
/// Returns all flags that have a letter.
std::uint32_t known_flags();

/// Alignment of ranges that are moved or shared.
inline constexpr std::uint64_t kRangeUnitBytes = 4096;
inline constexpr std::uint64_t kLongestWriteBytes = 16 << 20;
/// Size of the largest file that a dump reports completely.
inline constexpr std::uint64_t kLargestFileBytes = 1 << 30;

std::string format(const Operation& operation);

/// Parses one operation. Errors begin with `subject` ("workload.txt:12") and quote the invalid
/// word.
Result<Operation> parse_operation(std::string_view line, const std::string& subject);

/// Parses a list with one operation on each line. Ignores empty lines and lines that begin with
/// '#'. Errors name the file and the line.
Result<std::vector<Operation>> parse_operations(std::string_view text,
                                                const std::string& file_name);

/// Returns "FILE:LINE" for each operation of a list that parse_operations() parses.
std::vector<std::string> subjects_of(std::string_view text, const std::string& file_name);

/// Returns true for an operation that, if it succeeds, may promise that data or metadata survives a
/// power cut. What it promises depends on the file system.
bool is_persistence_point(const Operation& operation);

/// Returns nullopt if the remounts and crashes of this list are permitted. Otherwise, returns the
/// reason: the list uses a second thread, or a file is open when a remount or crash begins.
std::optional<std::string> problem_with_remounts(std::span<const Operation> operations);

/// Returns the text of the mark "persisted N". The agent writes this mark when persistence point N
/// has succeeded.
std::string persisted_mark(std::size_t operation);
std::optional<std::size_t> parse_persisted_mark(std::string_view mark);

/// Returns true for every operation that writes stamps.
bool is_write(Operation::Kind kind);

/// Returns true for writes with O_DIRECT.
bool is_direct(Operation::Kind kind);

/// Returns true for collapse and insert, which move the rest of the file.
bool moves_blocks(Operation::Kind kind);

/// Returns true for clone and dedupe, which use two files: `path` and `target`.
bool shares_blocks(Operation::Kind kind);

/// Returns the number of threads, that is, the highest thread number plus one.
std::size_t threads_of(std::span<const Operation> operations);

/// Returns true for a path "%NAME", which denotes an open file.
bool is_open_file(std::string_view path);

/// Executes an operation. A write opens the file, writes to it and closes it; only the operation
/// `open` leaves a file open, in `open_files`. Returns ENOTSUP for a crash, because only the
/// process that owns the disk can cut its power (harness/explorer/guests/record_workload.h). All
/// other callers therefore skip crashes as unsupported.
VfsResult<void> execute(const Operation& operation, Vfs& vfs, OpenFiles& open_files);

/// The outcome of an operation that did not succeed.
enum class Outcome : std::uint8_t {
  failed,   ///< an error that is not permitted; it ends the workload
  skipped,  ///< the file system does not support the operation, so it had no effect
  partial,  ///< ENOSPC: a write may have been executed in part; any other operation had no effect
};

/// The error of an operation. If an earlier operation was skipped or partial (`skipped_before`),
/// this operation may have failed because a name or an attribute is missing. outcome_of() may then
/// return `skipped`.
struct Failure {
  int error = 0;  ///< errno
  bool skipped_before = false;
};
Outcome outcome_of(const Operation& operation, const Failure& failure);

/// An operation that was skipped or executed only in part. The oracle needs this information to
/// predict the tree.
struct FailedOperation {
  std::size_t operation = 0;
  Outcome outcome = Outcome::skipped;  ///< either skipped or partial
};

}  // namespace headcrash::workload
