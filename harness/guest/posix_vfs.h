#pragma once
// Implements the interface in vfs.h on top of the kernel's file systems. Every operation is one
// system call, or the shortest equivalent sequence of calls, on paths below a root directory. Paths
// with ".." are rejected with EINVAL before they reach the kernel. The kernel follows symbolic
// links inside a path, so untrusted trees must be examined only inside a guest.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

class PosixVfs : public Vfs {
 public:
  /// `root` is an existing directory, usually a mount point.
  explicit PosixVfs(std::string root) : root_(std::move(root)) {}

  /// Opens a file for reading and writing. If the file or the file system is read-only, opens it
  /// only for reading.
  VfsResult<FileHandle> open(std::string_view path, const OpenOptions& options) override;
  VfsResult<FileHandle> make_nameless() override;
  VfsResult<void> close(FileHandle file) override;
  VfsResult<std::size_t> pread(FileHandle file, std::uint64_t offset,
                               std::span<std::byte> into) override;
  VfsResult<void> pwrite(FileHandle file, std::uint64_t offset,
                         std::span<const std::byte> data) override;
  VfsResult<void> pwrite_atomic(FileHandle file, std::uint64_t offset,
                                std::span<const std::byte> data) override;
  VfsResult<void> pwrite_by_uring(FileHandle file, std::uint64_t offset,
                                  std::span<const std::byte> data) override;
  VfsResult<void> append(FileHandle file, std::span<const std::byte> data) override;
  VfsResult<void> truncate(FileHandle file, std::uint64_t size_bytes) override;
  VfsResult<void> fallocate(FileHandle file, FallocateMode mode, std::uint64_t offset,
                            std::uint64_t length) override;
  VfsResult<void> clone_range(const SharedRange& range) override;
  VfsResult<void> dedupe_range(const SharedRange& range) override;
  /// The next functions map the range, access it, and unmap it. The written data remains dirty in
  /// the page cache.
  VfsResult<void> mmap_write(FileHandle file, std::uint64_t offset,
                             std::span<const std::byte> data) override;
  VfsResult<void> msync(FileHandle file, std::uint64_t offset, std::uint64_t length) override;
  VfsResult<void> sync_range(FileHandle file, std::uint64_t offset, std::uint64_t length) override;
  /// A write to a mapping cannot extend the file, so these functions return EINVAL unless the whole
  /// range is inside the file.
  VfsResult<void> mmap_write_sync(FileHandle file, std::uint64_t offset,
                                  std::span<const std::byte> data) override;
  VfsResult<std::uint64_t> pieces(FileHandle file) override;  ///< FS_IOC_FIEMAP
  VfsResult<void> fsync(FileHandle file) override;
  VfsResult<void> fdatasync(FileHandle file) override;

  VfsResult<void> mkdir(std::string_view path, std::uint32_t mode) override;
  VfsResult<void> rmdir(std::string_view path) override;
  VfsResult<void> unlink(std::string_view path) override;
  VfsResult<void> link(std::string_view existing, std::string_view path) override;
  /// Links an open file through /proc/self/fd.
  VfsResult<void> link_open(FileHandle file, std::string_view path) override;
  VfsResult<void> make_fifo(std::string_view path, std::uint32_t mode) override;
  VfsResult<void> symlink(std::string_view target, std::string_view path) override;
  VfsResult<std::string> readlink(std::string_view path) override;
  VfsResult<void> rename(std::string_view from, std::string_view to, RenameMode mode) override;
  VfsResult<std::vector<DirectoryEntry>> list(std::string_view path) override;
  VfsResult<void> fsync_directory(std::string_view path) override;
  VfsResult<FileHandle> open_directory(std::string_view path) override;

  // Only btrfs supports the following operations.
  VfsResult<void> make_subvolume(std::string_view path) override;
  VfsResult<void> snapshot(std::string_view from, std::string_view path) override;
  VfsResult<void> remove_subvolume(std::string_view path) override;

  /// Makes inode numbers unique across subvolumes, because the kernel uses the same numbers in each
  /// subvolume.
  VfsResult<FileStatus> stat(std::string_view path) override;
  VfsResult<void> chmod(std::string_view path, std::uint32_t mode) override;
  VfsResult<void> set_modified(std::string_view path, std::int64_t modified_ns) override;
  VfsResult<void> set_attributes(std::string_view path, const AttributeChanges& changes) override;
  VfsResult<void> set_flags(std::string_view path, std::uint32_t flags, std::uint32_t of) override;
  VfsResult<std::uint32_t> flags(FileHandle file) override;
  VfsResult<void> set_project(std::string_view path, std::uint32_t project) override;
  VfsResult<std::uint32_t> project(FileHandle file) override;
  VfsResult<void> setxattr(std::string_view path, std::string_view name,
                           std::span<const std::byte> value) override;
  VfsResult<std::vector<std::byte>> getxattr(std::string_view path, std::string_view name) override;
  VfsResult<void> removexattr(std::string_view path, std::string_view name) override;
  VfsResult<std::vector<std::string>> listxattr(std::string_view path) override;

  /// Calls sync(2), which cannot report errors. To report them, a later fsync would be needed, but
  /// fsync would also send flushes that the workload did not request.
  VfsResult<void> sync() override;
  VfsResult<void> syncfs() override;
  VfsResult<SpaceStatus> space() override;
  /// Drops all clean caches of the kernel through /proc/sys/vm/drop_caches.
  VfsResult<void> drop_caches() override;
  /// Remounts the file system that mount_file_system() (kernel.h) has mounted at the root. Returns
  /// ENOTSUP if the root is not such a mount point.
  VfsResult<void> remount() override;
  VfsResult<void> remount_read_only() override;  ///< fails in the same cases as remount()
  VfsResult<void> freeze() override;

  void cpu(std::int64_t ns) override;
  void start_program() override;  ///< runs true(1) if the guest has it

 private:
  VfsResult<std::string> resolve(std::string_view path) const;
  std::uint64_t number_of(std::uint32_t major, std::uint32_t minor, std::uint64_t inode);

  std::string root_;
  std::mutex devices_mutex_;
  /// Maps each device to a number. Numbers are assigned when a device is first used.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> devices_;
};

}  // namespace headcrash::guest
