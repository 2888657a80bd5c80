// Implements the interface in vfs.h with POSIX calls (posix_vfs.h).
#include "harness/guest/posix_vfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/falloc.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <utility>

#include "fs-adapters/fuse/ioctls.h"
#include "harness/guest/kernel.h"
#include "harness/guest/uring.h"

namespace headcrash::guest {
namespace {

constexpr std::size_t kLongestLinkBytes = 64 << 10;
constexpr std::size_t kLongestAttributeBytes = 64 << 10;  // XATTR_SIZE_MAX

VfsResult<void> outcome(int returned) {
  if (returned != 0) return refuse(errno);
  return {};
}

/// Opens the object for reading, which is possible even for an immutable file, and calls `act` with
/// the descriptor.
auto with_inode(const VfsResult<std::string>& full, auto&& act) -> decltype(act(0)) {
  if (!full) return refuse(full.error().value);
  const int inode = ::open(full->c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (inode < 0) return refuse(errno);
  auto acted = act(inode);
  ::close(inode);
  return acted;
}

/// Opens the parent directory, and calls `act` with its descriptor and the last component of the
/// path.
VfsResult<void> with_parent(const VfsResult<std::string>& full, auto&& act) {
  if (!full) return refuse(full.error().value);
  const std::size_t slash = full->rfind('/');
  if (slash == std::string::npos) return refuse(EINVAL);
  const int parent = ::open(full->substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) return refuse(errno);
  const VfsResult<void> acted = act(parent, full->substr(slash + 1));
  ::close(parent);
  return acted;
}

timespec as_timespec(const std::optional<std::int64_t>& ns) {
  if (!ns) return {.tv_sec = 0, .tv_nsec = UTIME_OMIT};
  const std::int64_t rest = (*ns % kNsPerSecond + kNsPerSecond) % kNsPerSecond;
  return {.tv_sec = (*ns - rest) / kNsPerSecond, .tv_nsec = rest};
}

int descriptor(FileHandle file) {
  return static_cast<int>(file);
}

bool fits_offset(std::uint64_t offset, std::uint64_t length) {
  constexpr std::uint64_t kMax = std::numeric_limits<off_t>::max();
  return offset <= kMax && length <= kMax - offset;
}

FileType type_of(mode_t mode, dev_t device) {
  if (S_ISREG(mode)) return FileType::regular;
  if (S_ISDIR(mode)) return FileType::directory;
  if (S_ISLNK(mode)) return FileType::symlink;
  if (S_ISFIFO(mode)) return FileType::fifo;
  return S_ISCHR(mode) && device == 0 ? FileType::whiteout : FileType::other;
}

FileType type_of_entry(int folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN && entry.d_type != DT_CHR) return type_of(DTTOIF(entry.d_type), 0);
  struct stat status{};
  if (::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return FileType::other;
  return type_of(status.st_mode, status.st_rdev);
}

// A write to a shared mapping can raise SIGBUS because of ENOSPC or an I/O error. This would kill
// process 1 and thus the guest. MADV_POPULATE_WRITE causes the same page faults in advance, and
// reports errors as EFAULT.
int fault_in(void* pages, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(pages, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL)
    return errno == EFAULT ? EIO : errno;
#endif
  return 0;
}

/// The whole pages that contain a requested range of a file, mapped into memory.
struct Mapping {
  std::byte* pages = nullptr;
  std::size_t bytes = 0;  ///< length of the mapping
  std::size_t start = 0;  ///< offset of the requested range in the mapping
};

VfsResult<void> store(const Mapping& mapping, std::span<const std::byte> data) {
  if (const int error = fault_in(mapping.pages, mapping.bytes); error != 0) return refuse(error);
  std::memcpy(mapping.pages + mapping.start, data.data(), data.size());
  return {};
}

VfsResult<void> sync_mapping(const Mapping& mapping) {
  return outcome(::msync(mapping.pages, mapping.bytes, MS_SYNC));
}

VfsResult<void> with_mapping(FileHandle file, std::uint64_t offset, std::uint64_t length,
                             auto&& act) {
  if (length == 0) return {};
  struct stat status{};
  if (::fstat(descriptor(file), &status) != 0) return refuse(errno);
  if (!fits_offset(offset, length) || offset + length > static_cast<std::uint64_t>(status.st_size))
    return refuse(EINVAL);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t start = offset / page * page;
  const std::size_t bytes = offset + length - start;
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(file),
                             static_cast<off_t>(start));
  if (pages == MAP_FAILED) return refuse(errno);
  const VfsResult<void> acted = act(Mapping{static_cast<std::byte*>(pages), bytes, offset - start});
  ::munmap(pages, bytes);
  return acted;
}

}  // namespace

VfsResult<std::string> PosixVfs::resolve(std::string_view path) const {
  if (path.find('\0') != std::string_view::npos) return refuse(EINVAL);
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (rest.substr(0, slash) == "..") return refuse(EINVAL);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return root_ + "/" + std::string(path);
}

VfsResult<FileHandle> PosixVfs::open(std::string_view path, const OpenOptions& options) {
  const auto full = resolve(path);
  if (!full) return refuse(full.error().value);
  int flags = O_CLOEXEC | O_NOCTTY;
  if (options.create) flags |= O_CREAT;
  if (options.exclusive) flags |= O_EXCL;
  if (options.truncate) flags |= O_TRUNC;
  if (options.sync) flags |= O_SYNC;
  if (options.data_sync) flags |= O_DSYNC;
  if (options.direct) flags |= O_DIRECT;
  flags |= options.read_only ? O_RDONLY | O_NOATIME : O_RDWR;
  int file = ::open(full->c_str(), flags, options.mode);
  // open() fails with EPERM for O_NOATIME if another user owns the file.
  if (file < 0 && errno == EPERM && options.read_only) {
    flags &= ~O_NOATIME;
    file = ::open(full->c_str(), flags, options.mode);
  }
  if (file < 0 && (errno == EROFS || errno == EACCES || errno == EPERM) && !options.create &&
      !options.truncate) {
    file = ::open(full->c_str(), (flags & ~O_ACCMODE) | O_RDONLY);
  }
  if (file < 0) return refuse(errno);
  return FileHandle{file};
}

VfsResult<FileHandle> PosixVfs::make_nameless() {
  const int file = ::open(root_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, OpenOptions{}.mode);
  if (file < 0) return refuse(errno);
  return FileHandle{file};
}

VfsResult<void> PosixVfs::close(FileHandle file) {
  return outcome(::close(descriptor(file)));
}

VfsResult<std::size_t> PosixVfs::pread(FileHandle file, std::uint64_t offset,
                                       std::span<std::byte> into) {
  if (!fits_offset(offset, into.size())) return refuse(EINVAL);
  std::size_t got = 0;
  while (got < into.size()) {
    const ssize_t n = ::pread(descriptor(file), into.data() + got, into.size() - got,
                              static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refuse(errno);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

VfsResult<void> PosixVfs::pwrite(FileHandle file, std::uint64_t offset,
                                 std::span<const std::byte> data) {
  if (!fits_offset(offset, data.size())) return refuse(EFBIG);
  std::size_t put = 0;
  while (put < data.size()) {
    const ssize_t n = ::pwrite(descriptor(file), data.data() + put, data.size() - put,
                               static_cast<off_t>(offset + put));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refuse(errno);
    if (n == 0) return refuse(EIO);
    put += static_cast<std::size_t>(n);
  }
  return {};
}

VfsResult<void> PosixVfs::pwrite_by_uring(FileHandle file, std::uint64_t offset,
                                          std::span<const std::byte> data) {
  if (!fits_offset(offset, data.size())) return refuse(EFBIG);
  return write_by_uring(descriptor(file), offset, data);
}

VfsResult<void> PosixVfs::pwrite_atomic(FileHandle file, std::uint64_t offset,
                                        std::span<const std::byte> data) {
  constexpr int kAtomic = 0x40;  // RWF_ATOMIC of Linux 6.11, which older headers lack
  if (!fits_offset(offset, data.size())) return refuse(EFBIG);
  const iovec all{.iov_base = const_cast<std::byte*>(data.data()), .iov_len = data.size()};
  const ssize_t n = ::pwritev2(descriptor(file), &all, 1, static_cast<off_t>(offset), kAtomic);
  if (n < 0) return refuse(errno);
  // An atomic write has to write all bytes or none, so a short write is an error.
  if (static_cast<std::size_t>(n) != data.size()) return refuse(EIO);
  return {};
}

VfsResult<void> PosixVfs::append(FileHandle file, std::span<const std::byte> data) {
  std::size_t put = 0;
  while (put < data.size()) {
    iovec rest{.iov_base = const_cast<std::byte*>(data.data() + put), .iov_len = data.size() - put};
    const ssize_t n = ::pwritev2(descriptor(file), &rest, 1, 0, RWF_APPEND);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refuse(errno);
    if (n == 0) return refuse(EIO);
    put += static_cast<std::size_t>(n);
  }
  return {};
}

VfsResult<void> PosixVfs::truncate(FileHandle file, std::uint64_t size_bytes) {
  if (!fits_offset(size_bytes, 0)) return refuse(EFBIG);
  return outcome(::ftruncate(descriptor(file), static_cast<off_t>(size_bytes)));
}

VfsResult<void> PosixVfs::fallocate(FileHandle file, FallocateMode mode, std::uint64_t offset,
                                    std::uint64_t length) {
  if (!fits_offset(offset, length)) return refuse(EFBIG);
  int flags = 0;
  switch (mode) {
    case FallocateMode::allocate:
      break;
    case FallocateMode::keep_size:
      flags = FALLOC_FL_KEEP_SIZE;
      break;
    case FallocateMode::punch_hole:
      flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
      break;
    case FallocateMode::zero_range:
      flags = FALLOC_FL_ZERO_RANGE;
      break;
    case FallocateMode::zero_range_keep_size:
      flags = FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE;
      break;
    case FallocateMode::collapse_range:
      flags = FALLOC_FL_COLLAPSE_RANGE;
      break;
    case FallocateMode::insert_range:
      flags = FALLOC_FL_INSERT_RANGE;
      break;
  }
  return outcome(
      ::fallocate(descriptor(file), flags, static_cast<off_t>(offset), static_cast<off_t>(length)));
}

VfsResult<void> PosixVfs::clone_range(const SharedRange& range) {
  file_clone_range request{.src_fd = descriptor(range.from),
                           .src_offset = range.from_offset,
                           .src_length = range.length,
                           .dest_offset = range.to_offset};
  return outcome(::ioctl(descriptor(range.to), FICLONERANGE, &request));
}

VfsResult<void> PosixVfs::dedupe_range(const SharedRange& range) {
  // One call may deduplicate only part of the range, so repeat it for the rest.
  for (std::uint64_t done = 0; done < range.length;) {
    alignas(file_dedupe_range)
        std::array<std::byte, sizeof(file_dedupe_range) + sizeof(file_dedupe_range_info)>
            room{};
    auto* const request = reinterpret_cast<file_dedupe_range*>(room.data());
    auto* const one = reinterpret_cast<file_dedupe_range_info*>(room.data() + sizeof *request);
    request->src_offset = range.from_offset + done;
    request->src_length = range.length - done;
    request->dest_count = 1;
    one->dest_fd = descriptor(range.to);
    one->dest_offset = range.to_offset + done;
    if (::ioctl(descriptor(range.from), FIDEDUPERANGE, request) != 0) return refuse(errno);
    if (one->status < 0) return refuse(-one->status);
    if (one->status == FILE_DEDUPE_RANGE_DIFFERS || one->bytes_deduped == 0) return {};
    done += one->bytes_deduped;
  }
  return {};
}

/// Counts the runs of consecutive blocks. The kernel may report adjacent extents separately, so the
/// number of extents can be larger.
VfsResult<std::uint64_t> PosixVfs::pieces(FileHandle file) {
  constexpr std::size_t kAtOnce = 128;
  alignas(fiemap) std::array<std::byte, sizeof(fiemap) + kAtOnce * sizeof(fiemap_extent)> room{};
  auto* const request = reinterpret_cast<fiemap*>(room.data());
  const auto* const extents = reinterpret_cast<const fiemap_extent*>(room.data() + sizeof *request);
  std::uint64_t pieces = 0, from = 0, goes_on_at = 0;
  while (true) {
    room = {};
    request->fm_start = from;
    request->fm_length = FIEMAP_MAX_OFFSET - from;
    request->fm_flags = FIEMAP_FLAG_SYNC;
    request->fm_extent_count = kAtOnce;
    if (::ioctl(descriptor(file), FS_IOC_FIEMAP, request) != 0)
      return refuse(errno == ENOTTY || errno == EOPNOTSUPP ? ENOTSUP : errno);
    for (std::uint32_t i = 0; i < request->fm_mapped_extents; ++i) {
      const fiemap_extent& extent = extents[i];
      from = extent.fe_logical + extent.fe_length;
      if ((extent.fe_flags & FIEMAP_EXTENT_DATA_INLINE) != 0) continue;
      if (pieces == 0 || extent.fe_physical != goes_on_at) ++pieces;
      goes_on_at = extent.fe_physical + extent.fe_length;
      if ((extent.fe_flags & FIEMAP_EXTENT_LAST) != 0) return pieces;
    }
    if (request->fm_mapped_extents < kAtOnce) return pieces;
  }
}

VfsResult<void> PosixVfs::mmap_write(FileHandle file, std::uint64_t offset,
                                     std::span<const std::byte> data) {
  return with_mapping(file, offset, data.size(),
                      [&](const Mapping& mapping) { return store(mapping, data); });
}

VfsResult<void> PosixVfs::msync(FileHandle file, std::uint64_t offset, std::uint64_t length) {
  return with_mapping(file, offset, length, sync_mapping);
}

VfsResult<void> PosixVfs::mmap_write_sync(FileHandle file, std::uint64_t offset,
                                          std::span<const std::byte> data) {
  return with_mapping(file, offset, data.size(), [&](const Mapping& mapping) {
    const VfsResult<void> stored = store(mapping, data);
    return stored ? sync_mapping(mapping) : stored;
  });
}

VfsResult<void> PosixVfs::sync_range(FileHandle file, std::uint64_t offset, std::uint64_t length) {
  if (!fits_offset(offset, length)) return refuse(EINVAL);
  constexpr unsigned kWriteAndWait =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  return outcome(::sync_file_range(descriptor(file), static_cast<off_t>(offset),
                                   static_cast<off_t>(length), kWriteAndWait));
}

VfsResult<void> PosixVfs::fsync(FileHandle file) {
  return outcome(::fsync(descriptor(file)));
}
VfsResult<void> PosixVfs::fdatasync(FileHandle file) {
  return outcome(::fdatasync(descriptor(file)));
}

VfsResult<void> PosixVfs::mkdir(std::string_view path, std::uint32_t mode) {
  return resolve(path).and_then(
      [&](const std::string& full) { return outcome(::mkdir(full.c_str(), mode)); });
}

VfsResult<void> PosixVfs::rmdir(std::string_view path) {
  return resolve(path).and_then(
      [](const std::string& full) { return outcome(::rmdir(full.c_str())); });
}

VfsResult<void> PosixVfs::unlink(std::string_view path) {
  return resolve(path).and_then(
      [](const std::string& full) { return outcome(::unlink(full.c_str())); });
}

VfsResult<void> PosixVfs::link(std::string_view existing, std::string_view path) {
  const auto from = resolve(existing);
  const auto to = resolve(path);
  if (!from || !to) return refuse(EINVAL);
  return outcome(::link(from->c_str(), to->c_str()));
}

VfsResult<void> PosixVfs::link_open(FileHandle file, std::string_view path) {
  const auto to = resolve(path);
  if (!to) return refuse(to.error().value);
  const std::string from = "/proc/self/fd/" + std::to_string(descriptor(file));
  return outcome(::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to->c_str(), AT_SYMLINK_FOLLOW));
}

VfsResult<void> PosixVfs::make_fifo(std::string_view path, std::uint32_t mode) {
  return resolve(path).and_then(
      [&](const std::string& full) { return outcome(::mkfifo(full.c_str(), mode)); });
}

VfsResult<void> PosixVfs::symlink(std::string_view target, std::string_view path) {
  const auto full = resolve(path);
  if (!full || target.find('\0') != std::string_view::npos) return refuse(EINVAL);
  return outcome(::symlink(std::string(target).c_str(), full->c_str()));
}

VfsResult<std::string> PosixVfs::readlink(std::string_view path) {
  const auto full = resolve(path);
  if (!full) return refuse(full.error().value);
  std::string target(kLongestLinkBytes, '\0');
  const ssize_t n = ::readlink(full->c_str(), target.data(), target.size());
  if (n < 0) return refuse(errno);
  target.resize(static_cast<std::size_t>(n));
  return target;
}

VfsResult<void> PosixVfs::rename(std::string_view from, std::string_view to, RenameMode mode) {
  const auto old_name = resolve(from);
  const auto new_name = resolve(to);
  if (!old_name || !new_name) return refuse(EINVAL);
  unsigned flags = 0;
  if (mode == RenameMode::no_replace) flags = RENAME_NOREPLACE;
  if (mode == RenameMode::exchange) flags = RENAME_EXCHANGE;
  if (mode == RenameMode::whiteout) flags = RENAME_WHITEOUT;
  return outcome(::renameat2(AT_FDCWD, old_name->c_str(), AT_FDCWD, new_name->c_str(), flags));
}

VfsResult<std::vector<DirectoryEntry>> PosixVfs::list(std::string_view path) {
  const auto full = resolve(path);
  if (!full) return refuse(full.error().value);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(full->c_str()), ::closedir);
  if (!folder) return refuse(errno);
  std::vector<DirectoryEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    entries.push_back(
        {.name = std::string(name), .type = type_of_entry(::dirfd(folder.get()), *entry)});
  }
  if (errno != 0) return refuse(errno);
  return entries;
}

VfsResult<void> PosixVfs::fsync_directory(std::string_view path) {
  const auto full = resolve(path);
  if (!full) return refuse(full.error().value);
  const int folder = ::open(full->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return refuse(errno);
  const VfsResult<void> synced = outcome(::fsync(folder));
  ::close(folder);
  return synced;
}

VfsResult<FileHandle> PosixVfs::open_directory(std::string_view path) {
  const auto full = resolve(path);
  if (!full) return refuse(full.error().value);
  const int folder = ::open(full->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return refuse(errno);
  return FileHandle{folder};
}

VfsResult<void> PosixVfs::make_subvolume(std::string_view path) {
  return with_parent(resolve(path), [&](int parent, const std::string& name) -> VfsResult<void> {
    btrfs_ioctl_vol_args arguments{};
    if (name.size() >= sizeof arguments.name) return refuse(ENAMETOOLONG);
    name.copy(arguments.name, name.size());
    return outcome(::ioctl(parent, BTRFS_IOC_SUBVOL_CREATE, &arguments));
  });
}

VfsResult<void> PosixVfs::snapshot(std::string_view from, std::string_view path) {
  return with_inode(resolve(from), [&](int source) {
    return with_parent(resolve(path), [&](int parent, const std::string& name) -> VfsResult<void> {
      btrfs_ioctl_vol_args_v2 arguments{};
      if (name.size() >= sizeof arguments.name) return refuse(ENAMETOOLONG);
      arguments.fd = source;
      name.copy(arguments.name, name.size());
      return outcome(::ioctl(parent, BTRFS_IOC_SNAP_CREATE_V2, &arguments));
    });
  });
}

VfsResult<void> PosixVfs::remove_subvolume(std::string_view path) {
  return with_parent(resolve(path), [&](int parent, const std::string& name) -> VfsResult<void> {
    btrfs_ioctl_vol_args arguments{};
    if (name.size() >= sizeof arguments.name) return refuse(ENAMETOOLONG);
    name.copy(arguments.name, name.size());
    return outcome(::ioctl(parent, BTRFS_IOC_SNAP_DESTROY, &arguments));
  });
}

/// Returns an inode number that is unique across devices. The inode numbers on the root's device
/// remain unchanged.
std::uint64_t PosixVfs::number_of(std::uint32_t major, std::uint32_t minor, std::uint64_t inode) {
  constexpr unsigned kInodeBits = 48;
  const std::lock_guard lock(devices_mutex_);
  struct statx root{};
  if (devices_.empty() && ::statx(AT_FDCWD, root_.c_str(), 0, STATX_INO, &root) == 0)
    devices_[{root.stx_dev_major, root.stx_dev_minor}] = 0;
  const std::uint64_t device = devices_.try_emplace({major, minor}, devices_.size()).first->second;
  return inode | device << kInodeBits;
}

VfsResult<FileStatus> PosixVfs::stat(std::string_view path) {
  const auto full = resolve(path);
  if (!full) return refuse(full.error().value);
  struct statx status{};
  if (::statx(AT_FDCWD, full->c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME,
              &status) != 0)
    return refuse(errno);
  const auto ns = [](const statx_timestamp& time) {
    return time.tv_sec * kNsPerSecond + time.tv_nsec;
  };
  FileStatus result{
      .inode = number_of(status.stx_dev_major, status.stx_dev_minor, status.stx_ino),
      .type = type_of(status.stx_mode, makedev(status.stx_rdev_major, status.stx_rdev_minor)),
      .mode = status.stx_mode & 07777U,
      .links = status.stx_nlink,
      .size_bytes = status.stx_size,
      .allocated_bytes = status.stx_blocks * 512,
      .modified_ns = ns(status.stx_mtime),
      .accessed_ns = ns(status.stx_atime),
      .changed_ns = ns(status.stx_ctime),
      .user = status.stx_uid,
      .group = status.stx_gid};
  if ((status.stx_mask & STATX_BTIME) != 0) result.born_ns = ns(status.stx_btime);
  return result;
}

VfsResult<void> PosixVfs::chmod(std::string_view path, std::uint32_t mode) {
  return resolve(path).and_then(
      [&](const std::string& full) { return outcome(::chmod(full.c_str(), mode)); });
}

VfsResult<void> PosixVfs::set_modified(std::string_view path, std::int64_t modified_ns) {
  return set_attributes(path, {.modified_ns = modified_ns});
}

/// Changes the owners before the mode, because chown may clear bits of the mode.
VfsResult<void> PosixVfs::set_attributes(std::string_view path, const AttributeChanges& changes) {
  if (changes.user || changes.group) {
    constexpr auto kAsItIs = static_cast<std::uint32_t>(-1);
    const auto full = resolve(path);
    if (!full) return refuse(full.error().value);
    if (::lchown(full->c_str(), changes.user.value_or(kAsItIs), changes.group.value_or(kAsItIs)) !=
        0)
      return refuse(errno);
  }
  if (changes.mode) TRY(chmod(path, *changes.mode));
  if (!changes.accessed_ns && !changes.modified_ns) return {};
  const auto full = resolve(path);
  if (!full) return refuse(full.error().value);
  const timespec times[2] = {as_timespec(changes.accessed_ns), as_timespec(changes.modified_ns)};
  return outcome(::utimensat(AT_FDCWD, full->c_str(), times, AT_SYMLINK_NOFOLLOW));
}

VfsResult<void> PosixVfs::set_flags(std::string_view path, std::uint32_t flags, std::uint32_t of) {
  return with_inode(resolve(path), [&](int inode) -> VfsResult<void> {
    unsigned now = 0;
    if (::ioctl(inode, FS_IOC_GETFLAGS, &now) != 0) return refuse(errno);
    now = (now & ~of) | flags;
    if (::ioctl(inode, FS_IOC_SETFLAGS, &now) != 0 || ::ioctl(inode, FS_IOC_GETFLAGS, &now) != 0)
      return refuse(errno);
    // F2FS accepts FS_NOCOW_FL without an error but does not store it.
    if ((now & of) != flags) return refuse(EOPNOTSUPP);
    return {};
  });
}

VfsResult<std::uint32_t> PosixVfs::flags(FileHandle file) {
  unsigned now = 0;
  if (::ioctl(descriptor(file), FS_IOC_GETFLAGS, &now) != 0) return refuse(errno);
  return now;
}

VfsResult<void> PosixVfs::set_project(std::string_view path, std::uint32_t project) {
  return with_inode(resolve(path), [&](int inode) -> VfsResult<void> {
    fsxattr now{};
    if (::ioctl(inode, FS_IOC_FSGETXATTR, &now) != 0) return refuse(errno);
    now.fsx_projid = project;
    return outcome(::ioctl(inode, FS_IOC_FSSETXATTR, &now));
  });
}

VfsResult<std::uint32_t> PosixVfs::project(FileHandle file) {
  fsxattr now{};
  if (::ioctl(descriptor(file), FS_IOC_FSGETXATTR, &now) != 0) return refuse(errno);
  return now.fsx_projid;
}

VfsResult<void> PosixVfs::setxattr(std::string_view path, std::string_view name,
                                   std::span<const std::byte> value) {
  return resolve(path).and_then([&](const std::string& full) {
    return outcome(
        ::lsetxattr(full.c_str(), std::string(name).c_str(), value.data(), value.size(), 0));
  });
}

VfsResult<std::vector<std::byte>> PosixVfs::getxattr(std::string_view path, std::string_view name) {
  const auto full = resolve(path);
  if (!full) return refuse(full.error().value);
  std::vector<std::byte> value(kLongestAttributeBytes);
  const ssize_t n =
      ::lgetxattr(full->c_str(), std::string(name).c_str(), value.data(), value.size());
  if (n < 0) return refuse(errno);
  value.resize(static_cast<std::size_t>(n));
  return value;
}

VfsResult<void> PosixVfs::removexattr(std::string_view path, std::string_view name) {
  return resolve(path).and_then([&](const std::string& full) {
    return outcome(::lremovexattr(full.c_str(), std::string(name).c_str()));
  });
}

VfsResult<std::vector<std::string>> PosixVfs::listxattr(std::string_view path) {
  const auto full = resolve(path);
  if (!full) return refuse(full.error().value);
  std::vector<char> list(kLongestAttributeBytes);  // also XATTR_LIST_MAX
  const ssize_t n = ::llistxattr(full->c_str(), list.data(), list.size());
  if (n < 0) return refuse(errno);
  std::vector<std::string> names;
  for (std::string_view rest(list.data(), static_cast<std::size_t>(n)); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

VfsResult<void> PosixVfs::sync() {
  ::sync();
  return {};
}

VfsResult<void> PosixVfs::syncfs() {
  const int folder = ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return refuse(errno);
  const VfsResult<void> synced = outcome(::syncfs(folder));
  ::close(folder);
  return synced;
}

VfsResult<SpaceStatus> PosixVfs::space() {
  struct statvfs status{};
  if (::statvfs(root_.c_str(), &status) != 0) return refuse(errno);
  return SpaceStatus{.total_bytes = status.f_blocks * status.f_frsize,
                     .free_bytes = status.f_bfree * status.f_frsize,
                     .total_inodes = status.f_files,
                     .free_inodes = status.f_ffree};
}

VfsResult<void> PosixVfs::drop_caches() {
  const int control = ::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
  if (control < 0) return refuse(errno);
  const bool written = ::write(control, "3\n", 2) == 2;
  const int error = errno;
  ::close(control);
  if (!written) return refuse(error);
  // Our own file systems cache data in a user process. The kernel cannot drop the caches of this
  // process, so an ioctl makes the process drop them.
  const int folder = ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return refuse(errno);
  // fails with ENOTTY on other file systems, which is ignored
  static_cast<void>(::ioctl(folder, fuse::kDropCaches));
  ::close(folder);
  return {};
}

VfsResult<void> PosixVfs::remount() {
  return mount_again(root_);
}

VfsResult<void> PosixVfs::remount_read_only() {
  return read_only_for_a_moment(root_);
}

VfsResult<void> PosixVfs::freeze() {
  const int folder = ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return refuse(errno);
  VfsResult<void> done = outcome(::ioctl(folder, FIFREEZE, 0));
  if (done) done = outcome(::ioctl(folder, FITHAW, 0));
  ::close(folder);
  return done;
}

void PosixVfs::cpu(std::int64_t ns) {
  const auto used_ns = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * kNsPerSecond + now.tv_nsec;
  };
  const std::int64_t start_ns = used_ns();
  while (used_ns() - start_ns < ns) {
  }
}

void PosixVfs::start_program() {
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  pid_t process = 0;
  if (::posix_spawnp(&process, name, nullptr, nullptr, arguments, environ) != 0) return;
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace headcrash::guest
