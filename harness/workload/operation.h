#pragma once
// The operation language. A workload has one operation per line of text.
//
//   mkdir PATH          rmdir PATH            create PATH           unlink PATH
//   write PATH OFFSET LENGTH FILE VERSION     content stamps (stamp.h)
//   write-sync, write-dsync, write-direct     the same with O_SYNC, O_DSYNC, O_DIRECT
//   write-direct-dsync, write-uring           with O_DIRECT and O_DSYNC; the latter through
//                                             io_uring
//   write-atomic PATH OFFSET LENGTH FILE VERSION
//                                             with O_DIRECT and RWF_ATOMIC
//   write-mapped                              through a shared mapping and msync; inside the file
//   store PATH OFFSET LENGTH FILE VERSION     through a shared mapping, without msync; inside the
//                                             file
//   msync PATH OFFSET LENGTH                  of this range of a mapping: persists only the range
//   sync-range PATH OFFSET LENGTH             sync_file_range: writes the range, promises nothing
//   append PATH OFFSET LENGTH FILE VERSION    with O_APPEND; OFFSET is the file's size
//   truncate PATH SIZE
//   allocate PATH OFFSET LENGTH               fallocate; allocate-keep keeps the size
//   punch PATH OFFSET LENGTH                  punches a hole
//   zero PATH OFFSET LENGTH                   fallocate's zero range; zero-keep keeps the size
//   collapse PATH OFFSET LENGTH               removes the range and moves the rest up; ends inside
//                                             the file
//   insert PATH OFFSET LENGTH                 inserts a hole and moves the rest down; begins inside
//                                             the file
//   clone FROM OFFSET LENGTH TO OFFSET        TO shares blocks inside of FROM (FICLONERANGE)
//   dedupe FROM OFFSET LENGTH TO OFFSET       TO shares them where they are equal (FIDEDUPERANGE)
//   link EXISTING PATH                        symlink TARGET PATH                mknod PATH fifo
//   rename FROM TO      rename-noreplace FROM TO                    rename-exchange ONE OTHER
//   rename-whiteout FROM TO                   leaves a whiteout at FROM, for overlayfs
//   setxattr PATH NAME VALUE                  removexattr PATH NAME; NAME is in user., trusted.,
//                                             security. or system.; VALUE: see attribute_value.h
//   chmod PATH MODE                           octal permission bits, of a file or directory
//   chown PATH UID GID                        of a file or directory; each at most 65534
//   touch PATH SECONDS                        sets mtime of a file or directory; even, 1980 to 2038
//   access PATH SECONDS                       sets atime of a file, with the same limits
//   flags PATH LETTERS                        inode flags as in chattr: any of aACdDisSu, "-" for
//                                             none
//   project PATH NUMBER                       project ID for quotas, at most 65534
//   subvolume PATH                            creates a subvolume, if supported (btrfs)
//   snapshot FROM PATH                        PATH becomes a snapshot of FROM, a subvolume or "."
//   remove-subvolume PATH                     with its content
//   fsync PATH          fdatasync PATH        fsyncdir PATH         sync             syncfs
//   remount                                   unmounts and mounts; persists everything; needs a
//                                             single thread and no open file
//   remount-ro                                remounts read-only, then read-write; persists
//                                             everything
//   freeze                                    FIFREEZE, then FITHAW; persists everything
//   crash panic         crash power           ends with all writes on the disk, or only the flushed
//                                             ones; then recovers and mounts. The list continues
//                                             from the recovered tree. Needs the same as remount
//   evict                                     drops clean pages, inodes and names from the cache
//   rest SECONDS                              idles: older changes have then been written
//                                             (promises.h)
//   join                                      barrier for all threads
//   open PATH %NAME     close %NAME           keeps a file or directory open, even without a name
//   tmpfile %NAME                             opens a file without a name (O_TMPFILE)
//   begin               commit                the thread's operations in between are one
//                                             transaction (fs-adapters/transactions.h), if
//                                             supported
//
// Buffered writes and the ranges of allocate, punch and zero begin and end at any byte. For a block
// written by two writes, a dump reports the first 32 bytes, and only these are judged. Ranges of
// collapse, insert, clone and dedupe are multiples of 4096, the usual block size. If the file
// system's blocks are larger, the kernel refuses and the operation is skipped as unsupported.
//
// "%NAME" denotes the open file in any operation that would otherwise open a file: write,
// write-mapped, store, msync, sync-range, truncate, allocate, punch, zero, collapse, insert, fsync,
// fdatasync. It belongs to the thread that opened it. Open files are closed before unmounting. An
// open directory accepts only fsync, and keeps its inode in memory despite evict. This permits
// fsync of a file without a name:
//
//   create a    sync    open a %f    unlink a    fsync %f    close %f
//
// link accepts one, too, if it has a name or is a tmpfile that never had one:
//
//   tmpfile %f    write %f 0 4096 1 1    link %f a    fsync %f
//
// Threads. "@2 write ..." is an operation of thread 2; operations without a prefix are thread 0's.
// The operations of one thread run in order, those of different threads concurrently. A join waits
// for all operations before it:
//
//   mkdir d | join | create d/a      write d/a ..     fsync d/a (5)  | join | ...
//                  | @1 create d/b   @1 write d/b ..  @1 fsync d/b (8)
//
// Two rules keep the oracle simple. Between two joins, each file and each name belongs to one
// thread (reading a directory on the path is permitted; the oracle's ownership.h checks this). And
// persistence points are reported in list order: after its point succeeds, a thread waits until all
// earlier points have been reported. "persisted N" therefore gives the position of every thread.
// The calls themselves overlap, like the resulting commits.
//
// A workload is a list generated from a seed before the run. The agent executes it, and the oracle
// follows the same list on the host; neither needs data from the other. Paths are those of vfs.h,
// without blanks. The root is written "."; only fsyncdir and attribute operations accept it.

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
  /// The second argument. link, rename: the new name; symlink: the link's target; open, tmpfile:
  /// "%NAME"; clone, dedupe: the other file; mknod: "fifo"; crash: "panic" or "power".
  std::string target;
  std::string attribute;            ///< setxattr, removexattr
  std::string value;                ///< setxattr
  std::uint64_t offset = 0;         ///< in bytes
  std::uint64_t target_offset = 0;  ///< for clone and dedupe: offset in the target, in bytes
  /// Length in bytes. A write has at most kLongestWriteBytes. For truncate, the new size.
  std::uint64_t length = 0;
  std::uint32_t file = 0;             ///< for writes: the file's number
  std::uint32_t version = 0;          ///< for writes: increases with every write in the workload
  std::uint8_t thread = 0;            ///< below kThreadsMost; 0 for a join
  std::uint32_t mode = 0;             ///< chmod
  std::uint32_t flags = 0;            ///< for flags: FS_*_FL in linux/fs.h
  std::uint32_t project = 0;          ///< project
  std::uint32_t user = 0, group = 0;  ///< chown
  /// for touch and access: since the epoch; for rest: at most kLongestRestSeconds
  std::int64_t seconds = 0;
  bool operator==(const Operation&) const = default;
};
inline constexpr std::size_t kOperationKinds = 61;
/// the maximum that every file system can store
inline constexpr std::uint32_t kLargestOwner = 65534;
inline constexpr std::int64_t kEarliestSeconds = 315532800, kLatestSeconds = 2147483646;
inline constexpr std::int64_t kLongestRestSeconds = 3600;
inline constexpr std::size_t kOpenFilesMost = 4096;  ///< limit for all threads together
inline constexpr std::uint8_t kThreadsMost = 8;

/// Formats inode flags as letters that parse_operation() accepts.
std::string format_flags(std::uint32_t flags);
/// Returns all flags that have a letter.
std::uint32_t known_flags();

/// Ranges that are moved or shared must be multiples of this size.
inline constexpr std::uint64_t kRangeUnitBytes = 4096;
inline constexpr std::uint64_t kLongestWriteBytes = 16 << 20;
/// Size of the largest file that a dump reports completely.
inline constexpr std::uint64_t kLargestFileBytes = 1 << 30;

std::string format(const Operation& operation);

/// Parses one operation. Errors name the invalid word and begin with `subject` ("workload.txt:12").
Result<Operation> parse_operation(std::string_view line, const std::string& subject);

/// Parses a list: one operation per line. Empty lines and lines that begin with '#' are ignored.
/// Errors name the file and the line.
Result<std::vector<Operation>> parse_operations(std::string_view text,
                                                const std::string& file_name);

/// Returns "FILE:LINE" for each operation of such a list.
std::vector<std::string> subjects_of(std::string_view text, const std::string& file_name);

/// Returns true if the operation, by succeeding, can promise that data or metadata survives a power
/// cut.
bool is_persistence_point(const Operation& operation);

/// Returns why this list's remounts and crashes are not allowed: the list uses a second thread, or
/// a file is open at one of them. Returns nullopt if they are allowed.
std::optional<std::string> problem_with_remounts(std::span<const Operation> operations);

/// Returns the mark "persisted N". The agent writes this mark when persistence point N has
/// succeeded.
std::string persisted_mark(std::size_t operation);
std::optional<std::size_t> parse_persisted_mark(std::string_view mark);

/// Returns true for all operations that write stamps.
bool is_write(Operation::Kind kind);

/// Returns true for writes with O_DIRECT.
bool is_direct(Operation::Kind kind);

/// Returns true for collapse and insert, which move the rest of the file.
bool moves_blocks(Operation::Kind kind);

/// Returns true for clone and dedupe, which concern two files, PATH and the target.
bool shares_blocks(Operation::Kind kind);

/// Returns the highest thread number plus one.
std::size_t threads_of(std::span<const Operation> operations);

/// Returns true for "%NAME", which denotes an open file.
bool is_open_file(std::string_view path);

/// Executes an operation. A write opens the file, writes and closes the file; only `open` keeps a
/// file open, in `open_files`. Returns ENOTSUP for a crash, because only the process that owns the
/// disk can cut its power (harness/explorer/guests/record_workload.h). Other callers skip a crash
/// as unsupported.
VfsResult<void> execute(const Operation& operation, Vfs& vfs, OpenFiles& open_files);

/// The outcome of an operation that did not succeed.
enum class Outcome : std::uint8_t {
  failed,   ///< the file system broke a promise, so the workload ends
  skipped,  ///< the file system does not support the operation, which had no effect
  partial,  ///< ENOSPC: a write may be partial; any other operation had no effect
};

/// An operation that failed. `skipped_before` is true if an earlier operation was skipped or
/// partial. Names and attributes may then be missing, so this operation may also be skipped.
struct Failure {
  int error = 0;  ///< errno
  bool skipped_before = false;
};
Outcome outcome_of(const Operation& operation, const Failure& failure);

/// An operation that was not executed completely, for the oracle.
struct FailedOperation {
  std::size_t operation = 0;
  Outcome outcome = Outcome::skipped;  ///< skipped or partial
};

}  // namespace headcrash::workload
