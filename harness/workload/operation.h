#pragma once
// The operation language: what a workload does, one line of text an operation.
//
//   mkdir PATH          rmdir PATH            create PATH           unlink PATH
//   write PATH OFFSET LENGTH FILE VERSION     content stamps (stamp.h)
//   write-sync, write-dsync, write-direct     the same through O_SYNC, O_DSYNC, O_DIRECT
//   write-direct-dsync, write-uring           through O_DIRECT and O_DSYNC; the second asked for by io_uring
//   write-mapped                              through a shared mapping and msync; inside the file
//   store PATH OFFSET LENGTH FILE VERSION     through a shared mapping, without msync; inside the file
//   msync PATH OFFSET LENGTH                  of this range of a mapping: keeps the range and promises no more
//   sync-range PATH OFFSET LENGTH             sync_file_range: writes the range and promises nothing
//   append PATH OFFSET LENGTH FILE VERSION    with O_APPEND; OFFSET is where it lands, the file's size
//   truncate PATH SIZE
//   allocate PATH OFFSET LENGTH               fallocate; allocate-keep leaves the size alone
//   punch PATH OFFSET LENGTH                  a hole
//   zero PATH OFFSET LENGTH                   fallocate's zero range; zero-keep leaves the size alone
//   collapse PATH OFFSET LENGTH               takes the range out, what follows moves up; ends inside the file
//   insert PATH OFFSET LENGTH                 a hole there, what follows moves down; begins inside the file
//   clone FROM OFFSET LENGTH TO OFFSET        TO shares the blocks of FROM, inside of FROM (FICLONERANGE)
//   dedupe FROM OFFSET LENGTH TO OFFSET       and shares them where they are equal (FIDEDUPERANGE)
//   link EXISTING PATH                        symlink TARGET PATH                mknod PATH fifo
//   rename FROM TO      rename-noreplace FROM TO                    rename-exchange ONE OTHER
//   rename-whiteout FROM TO                   leaves a whiteout at FROM, as overlayfs wants it
//   setxattr PATH NAME VALUE                  removexattr PATH NAME; of user., trusted., security. or system.; the forms
//                                             of VALUE are in attribute_value.h
//   chmod PATH MODE                           octal permission bits, of a file or directory
//   chown PATH UID GID                        of a file or directory; each at most 65534
//   touch PATH SECONDS                        sets the time of modification of a file or directory; even, 1980 to 2038
//   access PATH SECONDS                       sets a file's time of access, likewise
//   flags PATH LETTERS                        of the inode, as chattr has them: these of aACdDisSu, "-" for none
//   project PATH NUMBER                       of quotas, at most 65534
//   subvolume PATH                            a directory that can be snapshotted, where the file system has such (btrfs)
//   snapshot FROM PATH                        PATH is a subvolume with all that is in FROM, which is one, or "."
//   remove-subvolume PATH                     with all that is in it
//   fsync PATH          fdatasync PATH        fsyncdir PATH         sync             syncfs
//   remount                                   unmounted and mounted again; keeps everything. No file is open, and there
//                                             is one thread
//   remount-ro                                remounted read-only, then writable again; keeps everything, as remount does
//   freeze                                    FIFREEZE, then FITHAW; keeps everything, too
//   crash panic         crash power           what was written is on the disk, or only what was flushed is; recovery and mount.
//                                             What was found is where the rest of the list begins.
//                                             As remount
//   evict                                     clean pages, inodes and names leave the cache
//   rest SECONDS                              nothing: what is older then has been written (promises.h)
//   join                                      all threads meet
//   open PATH %NAME     close %NAME           the file or directory stays open, whatever becomes of its names
//   tmpfile %NAME                             an open file without a name (O_TMPFILE)
//   begin               commit                what the thread does in between is a transaction
//                                             (fs-adapters/transactions.h), where there are such
//
// Writes that are not direct, and ranges of allocate, punch and zero, begin and end at any byte. Of
// a block that two writes have made a dump tells the first 32 bytes, and that is what is judged of
// it. Ranges that are moved or shared do at multiples of 4096, as file systems' blocks do; where
// these are larger the kernel refuses, and the operation is skipped as one that the file system
// does not have.
//
// "%NAME" then stands for the open file wherever an operation would have opened one to work on it:
// write, write-mapped, store, msync, sync-range, truncate, fallocate's words, fsync, fdatasync. It
// belongs to the thread that opened it; what is open at the end is closed before anything is
// unmounted. A directory that is open takes fsync only, and keeps its inode in memory whatever is
// evicted. So fsync of a file without a name can be said:
//
//   create a    sync    open a %f    unlink a    fsync %f    close %f
//
// link takes one, too, as long as it has a name or is a tmpfile that never had one:
//
//   tmpfile %f    write %f 0 4096 1 1    link %f a    fsync %f
//
// Threads. "@2 write ..." is an operation of thread 2; without a prefix it is thread 0's. The
// operations of one thread run in order, those of different threads side by side; a join waits
// until all before it are done:
//
//   mkdir d | join | create d/a      write d/a ..     fsync d/a (5)  | join | ...
//                  | @1 create d/b   @1 write d/b ..  @1 fsync d/b (8)
//
// Two rules keep the oracle simple. Between two joins a file, and a name, belongs to the one thread
// that touches it (reading the directories on a path is not a touch; ownership.h of the oracle
// checks). And persistence points are reported in the order of the list: a thread whose point has
// succeeded continues only when all points before it in the list have been reported, so that
// "persisted N" alone says where every thread is. The calls themselves do overlap, and so do the
// commits behind them.
//
// A workload is a list of operations made from a seed before anything runs. The agent executes it,
// the oracle follows the same list on the host: neither needs to know what the other did. Paths are
// those of vfs.h, without blanks; the root, which only fsyncdir and the attributes take, is written
// ".".

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
  };
  Kind kind = Kind::sync;
  std::string path;
  /// link, rename: the new name; symlink: what it points to; open, tmpfile: "%NAME"; clone, dedupe:
  /// the other file; mknod: "fifo"; crash: "panic" or "power"
  std::string target;
  std::string attribute;            ///< setxattr, removexattr
  std::string value;                ///< setxattr
  std::uint64_t offset = 0;         ///< bytes
  std::uint64_t target_offset = 0;  ///< clone, dedupe: where in the target, bytes
  std::uint64_t length =
      0;                   ///< bytes; of a write at most kLongestWriteBytes; truncate: the new size
  std::uint32_t file = 0;  ///< writes: the file's number
  std::uint32_t version = 0;          ///< writes: rises with every write of the workload
  std::uint8_t thread = 0;            ///< below kThreadsMost; a join is thread 0's
  std::uint32_t mode = 0;             ///< chmod
  std::uint32_t flags = 0;            ///< flags: FS_*_FL of linux/fs.h
  std::uint32_t project = 0;          ///< project
  std::uint32_t user = 0, group = 0;  ///< chown
  std::int64_t seconds = 0;  ///< touch, access: since the epoch; rest: at most kLongestRestSeconds
  bool operator==(const Operation&) const = default;
};
inline constexpr std::size_t kOperationKinds = 60;
inline constexpr std::uint32_t kLargestOwner = 65534;  ///< what every file system can store
inline constexpr std::int64_t kEarliestSeconds = 315532800, kLatestSeconds = 2147483646;
inline constexpr std::int64_t kLongestRestSeconds = 3600;
inline constexpr std::size_t kOpenFilesMost = 4096;  ///< at once
inline constexpr std::uint8_t kThreadsMost = 8;

/// The letters of these flags of an inode, as parse_operation() takes them.
std::string format_flags(std::uint32_t flags);
/// All that have a letter.
std::uint32_t known_flags();

/// Of ranges that are moved or shared.
inline constexpr std::uint64_t kRangeUnitBytes = 4096;
inline constexpr std::uint64_t kLongestWriteBytes = 16 << 20;
inline constexpr std::uint64_t kLargestFileBytes = 1 << 30;  ///< what a dump describes of a file

std::string format(const Operation& operation);

/// Errors name the word that is wrong. `subject` is put in front ("workload.txt:12").
Result<Operation> parse_operation(std::string_view line, const std::string& subject);

/// A whole list: one operation a line, empty lines and those that begin with '#' left out. Errors
/// name file and line.
Result<std::vector<Operation>> parse_operations(std::string_view text,
                                                const std::string& file_name);

/// Of each operation of such a list: "FILE:LINE".
std::vector<std::string> subjects_of(std::string_view text, const std::string& file_name);

/// After success, something may be promised to survive a power cut.
bool is_persistence_point(const Operation& operation);

/// Why a remount or crash of the list cannot be done: another thread may have a file open, or this
/// one has.
std::optional<std::string> problem_with_remounts(std::span<const Operation> operations);

/// The mark "persisted N", which the agent writes when operation N was such a point and has
/// succeeded.
std::string persisted_mark(std::size_t operation);
std::optional<std::size_t> parse_persisted_mark(std::string_view mark);

/// Writes stamps, in whichever way.
bool is_write(Operation::Kind kind);

/// Through O_DIRECT.
bool is_direct(Operation::Kind kind);

/// collapse and insert: what lies behind the range gets another place in the file.
bool moves_blocks(Operation::Kind kind);

/// clone and dedupe: of two files, PATH and the target.
bool shares_blocks(Operation::Kind kind);

/// How many threads the list needs: one more than its highest thread number.
std::size_t threads_of(std::span<const Operation> operations);

/// "%NAME": an open file in place of a path.
bool is_open_file(std::string_view path);

/// Does it. A crash is refused with ENOTSUP: only who has the disk can cut its power
/// (harness/explorer/guests/record_workload.h), elsewhere it is skipped as what the file system
/// does not have. A write opens, writes and closes; only `open` keeps a file open, in `open_files`.
VfsResult<void> execute(const Operation& operation, Vfs& vfs, OpenFiles& open_files);

/// What became of an operation that did not succeed.
enum class Outcome : std::uint8_t {
  failed,   ///< the workload ends: the file system broke its word
  skipped,  ///< the file system cannot do this; nothing happened
  partial,  ///< no room: a write may have been done in part, anything else was not done
};

/// `skipped_before`: an earlier operation was skipped or partial, so that names and attributes it
/// would have made may be missing here, which skips this one too.
struct Failure {
  int error = 0;  ///< errno
  bool skipped_before = false;
};
Outcome outcome_of(const Operation& operation, const Failure& failure);

/// What the oracle must know beside the list itself.
struct FailedOperation {
  std::size_t operation = 0;
  Outcome outcome = Outcome::skipped;  ///< skipped or partial
};

}  // namespace headcrash::workload
