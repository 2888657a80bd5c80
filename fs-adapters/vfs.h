#pragma once
// The one file-system interface that workloads speak.
//
// Three kinds of implementation stand behind it: POSIX system calls inside a guest (harness/guest),
// headcrash's own file systems in virtual time (fs-adapters/ufs, lfs, snapfs), and the oracle's
// in-memory reference (harness/oracle). Calls block; in virtual time it is the calling fiber that
// waits. Paths are relative to the root of the file system, components separated by '/', without
// "." and "..". Errors are POSIX error numbers, success is the value.
//
// Where a kernel asks (fs-adapters/fuse), it knows inodes, not paths: a path may begin with an
// inode (InodeName) that stat() has told, in file systems that support it. Such a path follows
// renames, reaches files that are open and have no name any more, and never another file that has
// got the number since (ESTALE).

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash {

struct Errno {
  int value = 0;  ///< ENOENT, ENOSPC, ...; ENOTSUP where a file system lacks an operation
};
template <typename T>
using VfsResult = tl::expected<T, Errno>;
inline tl::unexpected<Errno> refuse(int error) {
  return tl::unexpected(Errno{.value = error});
}
/// The same error, of another result.
template <typename T>
tl::unexpected<Errno> pass_on_errno(const VfsResult<T>& result) {
  return tl::unexpected(result.error());
}
inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

enum class FileHandle : std::int32_t {};

struct OpenOptions {
  bool create = false;
  bool exclusive = false;  ///< with create: fail with EEXIST
  bool truncate = false;
  bool sync = false;       ///< O_SYNC
  bool data_sync = false;  ///< O_DSYNC
  bool direct = false;  ///< O_DIRECT: buffers, offsets and lengths aligned to the device's blocks
  bool no_access_time =
      false;  ///< O_NOATIME: reading leaves the time of access alone, where a kernel would not
  std::uint32_t mode = 0644;
};

/// A whiteout is a character device of number 0:0, by which overlayfs covers a name of the layer
/// below.
enum class FileType : std::uint8_t { regular, directory, symlink, whiteout, fifo, other };

struct FileStatus {
  std::uint64_t inode = 0;
  FileType type = FileType::regular;
  std::uint32_t mode = 0;  ///< permission bits
  std::uint32_t links = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::int64_t modified_ns = 0;  ///< since the epoch
  // What only some know; workloads do not look at it.
  std::int64_t accessed_ns = 0, changed_ns = 0;
  std::optional<std::int64_t> born_ns = {};  ///< of the creation of the file
  std::uint32_t user = 0, group = 0;
  std::uint64_t generation = 0;  ///< of the inode's number
};

/// What set_attributes() changes: all of it at once.
struct AttributeChanges {
  std::optional<std::uint32_t> mode, user, group;
  std::optional<std::int64_t> accessed_ns, modified_ns;
};

/// An inode as the beginning of a path: "//12.3/name" is `name` in the directory with the number 12
/// and the generation 3.
struct InodeName {
  std::uint64_t inode = 0, generation = 0;

  std::string path() const {
    return "//" + std::to_string(inode) + "." + std::to_string(generation);
  }
  /// Takes it off the front of `path`; nothing where there is none.
  static std::optional<InodeName> take(std::string_view& path) {
    if (!path.starts_with("//")) return std::nullopt;
    InodeName name;
    const char* const end = path.data() + path.size();
    const auto number = std::from_chars(path.data() + 2, end, name.inode);
    if (number.ec != std::errc{} || number.ptr == end || *number.ptr != '.') return std::nullopt;
    const auto generation = std::from_chars(number.ptr + 1, end, name.generation);
    if (generation.ec != std::errc{} || (generation.ptr != end && *generation.ptr != '/'))
      return std::nullopt;
    path.remove_prefix(static_cast<std::size_t>(generation.ptr - path.data()));
    return name;
  }
};

struct DirectoryEntry {
  std::string name;  ///< "." and ".." are left out
  FileType type = FileType::regular;
  std::uint64_t inode = 0;  ///< 0: not known
};

struct SpaceStatus {
  std::uint64_t total_bytes = 0, free_bytes = 0;
  std::uint64_t total_inodes = 0, free_inodes = 0;
};

/// renameat2(2)'s flags; `whiteout` leaves one where the object was.
enum class RenameMode : std::uint8_t { replace, no_replace, exchange, whiteout };
enum class FallocateMode : std::uint8_t {
  allocate,
  keep_size,
  punch_hole,
  zero_range,            ///< makes the file longer where it reaches beyond its end
  zero_range_keep_size,  ///< does not
  collapse_range,        ///< takes the range out; what follows moves to its place
  insert_range,          ///< makes room for a hole; what follows moves behind it
};

/// Two ranges that are to share their blocks; offsets and length are multiples of the file system's
/// blocks.
struct SharedRange {
  FileHandle from{};
  std::uint64_t from_offset = 0, length = 0;
  FileHandle to{};
  std::uint64_t to_offset = 0;
};

/// A mounted file system.
///
///  * Ownership: buffers and texts are the caller's and are not kept. A handle is valid until
///    close(), also
///    after its file has lost its last name; whoever opens closes.
///  * Failure: an Errno as of the system call of the same name; ENOTSUP for what a file system
///    lacks. An
///    operation that is refused, or finds no space for a name, has changed nothing. After a failed
///    write, truncation or allocation the range it named may hold old or new data. A failed fsync
///    promises nothing of what was to become persistent.
///  * Durability: what fsync, sync and the others keep after a power cut is in each file system's
///    Promises
///    (promises.h).
///  * Threads: in a guest any thread may call; in virtual time every call comes from a fiber of the
///    file
///    system's executor.
class Vfs {
 public:
  virtual ~Vfs() = default;

  // Files. pread returns fewer bytes only at the end of the file; pwrite writes all or fails.
  virtual VfsResult<FileHandle> open(std::string_view path, const OpenOptions& options) = 0;
  /// A file without a name (O_TMPFILE), open for reading and writing.
  virtual VfsResult<FileHandle> make_nameless() { return refuse(ENOTSUP); }
  virtual VfsResult<void> close(FileHandle file) = 0;
  virtual VfsResult<std::size_t> pread(FileHandle file, std::uint64_t offset,
                                       std::span<std::byte> into) = 0;
  virtual VfsResult<void> pwrite(FileHandle file, std::uint64_t offset,
                                 std::span<const std::byte> data) = 0;
  /// pwrite() asked for by io_uring, where there is a kernel that has it; ends when it is complete.
  virtual VfsResult<void> pwrite_by_uring(FileHandle file, std::uint64_t offset,
                                          std::span<const std::byte> data) {
    return pwrite(file, offset, data);
  }
  virtual VfsResult<void> append(FileHandle file, std::span<const std::byte> data) = 0;
  virtual VfsResult<void> truncate(FileHandle file, std::uint64_t size_bytes) = 0;
  virtual VfsResult<void> fallocate(FileHandle file, FallocateMode mode, std::uint64_t offset,
                                    std::uint64_t length) = 0;
  /// `to` gets the blocks of `from` and keeps its own copy of them from the next write on.
  virtual VfsResult<void> clone_range(const SharedRange&) { return refuse(ENOTSUP); }
  /// Shares blocks where the ranges are equal; ranges that differ stay as they are, which is not an
  /// error.
  virtual VfsResult<void> dedupe_range(const SharedRange&) { return refuse(ENOTSUP); }
  // Through a shared mapping, inside the file: EINVAL otherwise.
  virtual VfsResult<void> mmap_write(FileHandle, std::uint64_t /*offset*/,
                                     std::span<const std::byte>) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<void> msync(FileHandle, std::uint64_t /*offset*/, std::uint64_t /*length*/) {
    return refuse(ENOTSUP);
  }
  /// sync_file_range(2) with all of its flags: the pages are written and waited for, nothing else
  /// is.
  virtual VfsResult<void> sync_range(FileHandle, std::uint64_t /*offset*/,
                                     std::uint64_t /*length*/) {
    return refuse(ENOTSUP);
  }
  /// Stores through a shared mapping, then msync(MS_SYNC) of the pages touched.
  virtual VfsResult<void> mmap_write_sync(FileHandle file, std::uint64_t offset,
                                          std::span<const std::byte> data) = 0;
  /// In how many stretches of consecutive blocks the file lies on the disk, what is dirty written
  /// first; 0: it has no block of its own.
  virtual VfsResult<std::uint64_t> pieces(FileHandle) { return refuse(ENOTSUP); }
  virtual VfsResult<void> fsync(FileHandle file) = 0;
  virtual VfsResult<void> fdatasync(FileHandle file) = 0;

  // Names.
  virtual VfsResult<void> mkdir(std::string_view path, std::uint32_t mode) = 0;
  virtual VfsResult<void> rmdir(std::string_view path) = 0;
  virtual VfsResult<void> unlink(std::string_view path) = 0;
  virtual VfsResult<void> link(std::string_view existing, std::string_view path) = 0;
  /// Of an open file; ENOENT when it has lost its last name.
  virtual VfsResult<void> link_open(FileHandle, std::string_view /*path*/) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<void> make_fifo(std::string_view /*path*/, std::uint32_t /*mode*/) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<void> symlink(std::string_view target, std::string_view path) = 0;
  virtual VfsResult<std::string> readlink(std::string_view path) = 0;
  virtual VfsResult<void> rename(std::string_view from, std::string_view to, RenameMode mode) = 0;
  virtual VfsResult<std::vector<DirectoryEntry>> list(std::string_view path) = 0;
  virtual VfsResult<void> fsync_directory(std::string_view path) = 0;
  /// For fsync() and close() alone.
  virtual VfsResult<FileHandle> open_directory(std::string_view /*path*/) {
    return refuse(ENOTSUP);
  }

  // Subvolumes, of file systems that have them: directories, of which a snapshot is another one.
  virtual VfsResult<void> make_subvolume(std::string_view /*path*/) { return refuse(ENOTSUP); }
  /// `from`: a subvolume, or "" for the root.
  virtual VfsResult<void> snapshot(std::string_view /*from*/, std::string_view /*path*/) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<void> remove_subvolume(std::string_view /*path*/) { return refuse(ENOTSUP); }

  // Attributes. stat does not follow symbolic links.
  virtual VfsResult<FileStatus> stat(std::string_view path) = 0;
  virtual VfsResult<void> chmod(std::string_view path, std::uint32_t mode) = 0;
  virtual VfsResult<void> set_modified(std::string_view path, std::int64_t modified_ns) = 0;
  /// One after the other, and no owners, where a file system has not its own.
  virtual VfsResult<void> set_attributes(std::string_view path, const AttributeChanges& changes) {
    if (changes.user || changes.group || changes.accessed_ns) return refuse(ENOTSUP);
    if (changes.mode) TRY(chmod(path, *changes.mode));
    if (changes.modified_ns) return set_modified(path, *changes.modified_ns);
    return {};
  }
  /// Of a file's or directory's inode: FS_*_FL of linux/fs.h. Of all that workloads know (`of`)
  /// exactly `flags` are set; others stay as they are.
  virtual VfsResult<void> set_flags(std::string_view /*path*/, std::uint32_t /*flags*/,
                                    std::uint32_t /*of*/) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<std::uint32_t> flags(std::string_view /*path*/) { return refuse(ENOTSUP); }
  /// The project that quotas count it for.
  virtual VfsResult<void> set_project(std::string_view /*path*/, std::uint32_t /*project*/) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<std::uint32_t> project(std::string_view /*path*/) { return refuse(ENOTSUP); }
  virtual VfsResult<void> setxattr(std::string_view path, std::string_view name,
                                   std::span<const std::byte> value) = 0;
  virtual VfsResult<std::vector<std::byte>> getxattr(std::string_view path,
                                                     std::string_view name) = 0;
  virtual VfsResult<void> removexattr(std::string_view path, std::string_view name) = 0;
  virtual VfsResult<std::vector<std::string>> listxattr(std::string_view path) = 0;

  // The whole file system.
  virtual VfsResult<void> sync() = 0;    ///< sync(2): every mounted file system
  virtual VfsResult<void> syncfs() = 0;  ///< this one
  virtual VfsResult<SpaceStatus> space() = 0;
  virtual VfsResult<void> drop_caches() = 0;
  /// Unmounts it and mounts it again as it was; EBUSY while something is open.
  virtual VfsResult<void> remount() { return refuse(ENOTSUP); }
  /// Read-only for a moment, then writable again; EBUSY while a file is open for writing.
  virtual VfsResult<void> remount_read_only() { return refuse(ENOTSUP); }
  /// FIFREEZE and FITHAW: for a moment all is on the disk and nothing changes.
  virtual VfsResult<void> freeze() { return refuse(ENOTSUP); }

  /// Modelled think or compile time: burns CPU in a guest, advances the clock in virtual time.
  virtual void cpu(std::int64_t ns) = 0;
  /// A program is started and waited for: one that does nothing in a guest, the processor's time
  /// for fork and exec in virtual time.
  virtual void start_program() = 0;
};

}  // namespace headcrash
