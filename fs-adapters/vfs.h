#pragma once
// The file-system interface that workloads use.
//
// There are three kinds of implementations: POSIX system calls inside a guest (harness/guest),
// headcrash's file systems in virtual time (fs-adapters/ufs, lfs, snapfs), and the oracle's
// in-memory reference (harness/oracle). Calls block; in virtual time, the calling fiber waits.
// Paths are relative to the file system's root, with components separated by '/', and without "."
// and "..". A function returns either its value or a POSIX error number.
//
// A kernel (fs-adapters/fuse) uses inodes rather than paths. In file systems that support it, a
// path may therefore begin with an inode (InodeName) from stat(). Such a path follows renames, also
// reaches open files without a name, and never reaches another file that reuses the number
// (ESTALE).

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
  /// An error number such as ENOENT or ENOSPC; ENOTSUP if a file system lacks the operation.
  int value = 0;
};
template <typename T>
using VfsResult = tl::expected<T, Errno>;
inline tl::unexpected<Errno> refuse(int error) {
  return tl::unexpected(Errno{.value = error});
}
/// Returns the error in `result` as a result of another type.
template <typename T>
tl::unexpected<Errno> forward_errno(const VfsResult<T>& result) {
  return tl::unexpected(result.error());
}
inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

enum class FileHandle : std::int32_t {};

struct OpenOptions {
  bool create = false;
  bool exclusive = false;  ///< with create: fails with EEXIST if the file exists
  bool truncate = false;
  bool sync = false;       ///< O_SYNC
  bool data_sync = false;  ///< O_DSYNC
  /// O_DIRECT: buffers, offsets and lengths must be aligned to the device's blocks
  bool direct = false;
  /// Opens for reading only, and leaves the access time unchanged. Otherwise, an overlay would copy
  /// the file to its upper layer.
  bool read_only = false;
  std::uint32_t mode = 0644;
};

/// The type of a file. A whiteout is a character device with number 0:0; overlayfs uses it to hide
/// a name in the lower layer.
enum class FileType : std::uint8_t { regular, directory, symlink, whiteout, fifo, other };

struct FileStatus {
  std::uint64_t inode = 0;
  FileType type = FileType::regular;
  std::uint32_t mode = 0;  ///< permission bits
  std::uint32_t links = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::int64_t modified_ns = 0;  ///< modification time, since the epoch
  // Only some file systems set the following members. Workloads do not use them.
  std::int64_t accessed_ns = 0, changed_ns = 0;
  std::optional<std::int64_t> born_ns = {};  ///< creation time
  std::uint32_t user = 0, group = 0;
  std::uint64_t generation = 0;  ///< generation of the inode number
};

/// The changes made by one call of set_attributes().
struct AttributeChanges {
  std::optional<std::uint32_t> mode, user, group;
  std::optional<std::int64_t> accessed_ns, modified_ns;
};

/// An inode with which a path can begin: "//12.3/name" is `name` in the directory with inode 12
/// and generation 3.
struct InodeName {
  std::uint64_t inode = 0, generation = 0;

  std::string path() const {
    return "//" + std::to_string(inode) + "." + std::to_string(generation);
  }
  /// Removes the inode name from the front of `path` and returns it; nullopt if `path` does not
  /// begin with one.
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
  std::string name;  ///< never "." or ".."
  FileType type = FileType::regular;
  std::uint64_t inode = 0;  ///< 0 if unknown
};

struct SpaceStatus {
  std::uint64_t total_bytes = 0, free_bytes = 0;
  std::uint64_t total_inodes = 0, free_inodes = 0;
};

/// Flags of renameat2(2). `whiteout` leaves a whiteout under the old name.
enum class RenameMode : std::uint8_t { replace, no_replace, exchange, whiteout };
enum class FallocateMode : std::uint8_t {
  allocate,
  keep_size,
  punch_hole,
  zero_range,            ///< extends the file if the range reaches beyond its end
  zero_range_keep_size,  ///< never extends the file
  collapse_range,        ///< removes the range; later content moves to its place
  insert_range,          ///< inserts a hole; later content moves after the hole
};

/// Two ranges of equal length that are to share blocks. Offsets and length are multiples of the
/// file system's block size.
struct SharedRange {
  FileHandle from{};
  std::uint64_t from_offset = 0, length = 0;
  FileHandle to{};
  std::uint64_t to_offset = 0;
};

/// A mounted file system.
///
/// * Ownership: buffers and strings belong to the caller, and are not kept. A handle is valid until
///   close(), even after its file has lost its last name. The caller must close all handles.
/// * Failure: the result is the Errno with which the system call of the same name would fail, or
///   ENOTSUP if the file system lacks the operation. An operation that is refused, or that fails
///   with ENOSPC, has no effect. After a failed write, truncation or allocation, each byte of the
///   range may be old or new. After a failed fsync, nothing is guaranteed about the durability of
///   the file's data.
/// * Durability: each file system's Promises (promises.h) define what fsync, sync and the other
///   calls guarantee after a power cut.
/// * Threads: in a guest, any thread may call; in virtual time, only fibers of the file system's
///   executor.
class Vfs {
 public:
  virtual ~Vfs() = default;

  // Operations on files. pread returns fewer bytes than requested only at the end of the file;
  // pwrite either writes all bytes or fails.
  virtual VfsResult<FileHandle> open(std::string_view path, const OpenOptions& options) = 0;
  /// Opens a nameless file for reading and writing, like open(2) with O_TMPFILE.
  virtual VfsResult<FileHandle> make_nameless() { return refuse(ENOTSUP); }
  virtual VfsResult<void> close(FileHandle file) = 0;
  virtual VfsResult<std::size_t> pread(FileHandle file, std::uint64_t offset,
                                       std::span<std::byte> into) = 0;
  virtual VfsResult<void> pwrite(FileHandle file, std::uint64_t offset,
                                 std::span<const std::byte> data) = 0;
  /// Writes like pwrite(), but through io_uring if the kernel supports it. Returns once the write
  /// is complete.
  virtual VfsResult<void> pwrite_by_uring(FileHandle file, std::uint64_t offset,
                                          std::span<const std::byte> data) {
    return pwrite(file, offset, data);
  }
  /// Writes with RWF_ATOMIC: after a power cut, the file contains either all of the new data or
  /// none of it. Fails with ENOTSUP or EINVAL unless the file system and the device support atomic
  /// writes of this size.
  virtual VfsResult<void> pwrite_atomic(FileHandle, std::uint64_t /*offset*/,
                                        std::span<const std::byte> /*data*/) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<void> append(FileHandle file, std::span<const std::byte> data) = 0;
  virtual VfsResult<void> truncate(FileHandle file, std::uint64_t size_bytes) = 0;
  virtual VfsResult<void> fallocate(FileHandle file, FallocateMode mode, std::uint64_t offset,
                                    std::uint64_t length) = 0;
  /// Shares the blocks of the first range with the second one. A later write to either file affects
  /// only that file.
  virtual VfsResult<void> clone_range(const SharedRange&) { return refuse(ENOTSUP); }
  /// Makes the two ranges share blocks if their contents are equal. Otherwise leaves them
  /// unchanged, without an error.
  virtual VfsResult<void> dedupe_range(const SharedRange&) { return refuse(ENOTSUP); }
  // Writes through a shared mapping. Fails with EINVAL if the range extends past the end of the
  // file.
  virtual VfsResult<void> mmap_write(FileHandle, std::uint64_t /*offset*/,
                                     std::span<const std::byte>) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<void> msync(FileHandle, std::uint64_t /*offset*/, std::uint64_t /*length*/) {
    return refuse(ENOTSUP);
  }
  /// Writes the pages in the range and waits for these writes, like sync_file_range(2) with all
  /// flags.
  virtual VfsResult<void> sync_range(FileHandle, std::uint64_t /*offset*/,
                                     std::uint64_t /*length*/) {
    return refuse(ENOTSUP);
  }
  /// Writes through a shared mapping, then calls msync(MS_SYNC) on these pages.
  virtual VfsResult<void> mmap_write_sync(FileHandle file, std::uint64_t offset,
                                          std::span<const std::byte> data) = 0;
  /// Writes the file's dirty data, and returns the number of extents (contiguous runs of blocks). A
  /// file without blocks has 0 extents.
  virtual VfsResult<std::uint64_t> pieces(FileHandle) { return refuse(ENOTSUP); }
  virtual VfsResult<void> fsync(FileHandle file) = 0;
  virtual VfsResult<void> fdatasync(FileHandle file) = 0;

  // Names.
  virtual VfsResult<void> mkdir(std::string_view path, std::uint32_t mode) = 0;
  virtual VfsResult<void> rmdir(std::string_view path) = 0;
  virtual VfsResult<void> unlink(std::string_view path) = 0;
  virtual VfsResult<void> link(std::string_view existing, std::string_view path) = 0;
  /// Links an open file. Fails with ENOENT if the file has lost its last name.
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
  /// The handle supports only fsync(), flags(), project() and close().
  virtual VfsResult<FileHandle> open_directory(std::string_view /*path*/) {
    return refuse(ENOTSUP);
  }

  // Subvolumes: directories that can be snapshotted. A snapshot is another subvolume.
  virtual VfsResult<void> make_subvolume(std::string_view /*path*/) { return refuse(ENOTSUP); }
  /// Snapshots a subvolume. `from` is its path, or "" for the root.
  virtual VfsResult<void> snapshot(std::string_view /*from*/, std::string_view /*path*/) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<void> remove_subvolume(std::string_view /*path*/) { return refuse(ENOTSUP); }

  // Attributes. stat() does not follow symbolic links.
  virtual VfsResult<FileStatus> stat(std::string_view path) = 0;
  virtual VfsResult<void> chmod(std::string_view path, std::uint32_t mode) = 0;
  virtual VfsResult<void> set_modified(std::string_view path, std::int64_t modified_ns) = 0;
  /// Makes the changes one after another. This default implementation does not support changes of
  /// owner or access time.
  virtual VfsResult<void> set_attributes(std::string_view path, const AttributeChanges& changes) {
    if (changes.user || changes.group || changes.accessed_ns) return refuse(ENOTSUP);
    if (changes.mode) TRY(chmod(path, *changes.mode));
    if (changes.modified_ns) return set_modified(path, *changes.modified_ns);
    return {};
  }
  /// Changes inode flags (FS_*_FL in linux/fs.h) of a file or directory. Only flags in the mask
  /// `of` can change: those that are also in `flags` are set, and the others are cleared.
  virtual VfsResult<void> set_flags(std::string_view /*path*/, std::uint32_t /*flags*/,
                                    std::uint32_t /*of*/) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<std::uint32_t> flags(FileHandle /*file*/) { return refuse(ENOTSUP); }
  virtual VfsResult<void> set_project(std::string_view /*path*/, std::uint32_t /*project*/) {
    return refuse(ENOTSUP);
  }
  virtual VfsResult<std::uint32_t> project(FileHandle /*file*/) { return refuse(ENOTSUP); }
  virtual VfsResult<void> setxattr(std::string_view path, std::string_view name,
                                   std::span<const std::byte> value) = 0;
  virtual VfsResult<std::vector<std::byte>> getxattr(std::string_view path,
                                                     std::string_view name) = 0;
  virtual VfsResult<void> removexattr(std::string_view path, std::string_view name) = 0;
  virtual VfsResult<std::vector<std::string>> listxattr(std::string_view path) = 0;

  // Operations on the whole file system.
  virtual VfsResult<void> sync() = 0;    ///< like sync(2), applies to all mounted file systems
  virtual VfsResult<void> syncfs() = 0;  ///< this file system only
  virtual VfsResult<SpaceStatus> space() = 0;
  virtual VfsResult<void> drop_caches() = 0;
  /// Unmounts and remounts with the same options. Fails with EBUSY while a file is open.
  virtual VfsResult<void> remount() { return refuse(ENOTSUP); }
  /// Remounts read-only, then writable again. Fails with EBUSY while a file is open for writing.
  virtual VfsResult<void> remount_read_only() { return refuse(ENOTSUP); }
  /// Freezes the file system, that is, writes everything to the disk and blocks changes. Then thaws
  /// it (FIFREEZE, FITHAW).
  virtual VfsResult<void> freeze() { return refuse(ENOTSUP); }

  /// Simulates think time or compile time. In a guest, keeps the processor busy; in virtual time,
  /// advances the clock.
  virtual void cpu(std::int64_t ns) = 0;
  /// Simulates the start of a program. In a guest, runs a program that does nothing, and waits
  /// until it ends. In virtual time, the call only takes the CPU time of fork and exec.
  virtual void start_program() = 0;
};

}  // namespace headcrash
