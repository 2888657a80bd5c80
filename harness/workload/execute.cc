// Executes operations through the interface in vfs.h, and classifies errors (operation.h).
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <thread>

#include "harness/workload/open_files.h"
#include "harness/workload/operation.h"
#include "harness/workload/stamp.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

constexpr std::uint32_t kModeOfNew = 0644;
constexpr std::size_t kDirectAlignment = 4096;  // meets the alignment requirement of all devices

VfsResult<void> with_file(Vfs& vfs, const std::string& path, const OpenOptions& options,
                          auto&& act) {
  TRY(const auto file, vfs.open(path, options));
  const VfsResult<void> acted = act(file);
  const VfsResult<void> closed = vfs.close(file);
  return acted ? closed : acted;
}

struct FreeAligned {
  void operator()(std::byte* bytes) const {
    ::operator delete(bytes, std::align_val_t{kDirectAlignment});
  }
};

/// Calls `act` with a handle of the operation's file. A path "%NAME" means the open file NAME; any
/// other file is opened for this call only.
VfsResult<void> with_its_file(const Operation& operation, Vfs& vfs, OpenFiles& open_files,
                              auto&& act) {
  if (!is_open_file(operation.path)) return with_file(vfs, operation.path, {}, act);
  TRY(const auto file, open_files.find(operation.thread, operation.path));
  return act(file);
}

VfsResult<void> write(const Operation& operation, Vfs& vfs, OpenFiles& open_files) {
  const std::unique_ptr<std::byte, FreeAligned> buffer(static_cast<std::byte*>(
      ::operator new(operation.length, std::align_val_t{kDirectAlignment})));
  const std::span<std::byte> data(buffer.get(), operation.length);
  write_stamps(operation.file, operation.version, operation.offset, data);
  const OpenOptions options{.sync = operation.kind == Kind::write_sync,
                            .data_sync = operation.kind == Kind::write_dsync ||
                                         operation.kind == Kind::write_direct_dsync ||
                                         operation.kind == Kind::write_uring,
                            .direct = is_direct(operation.kind)};
  const auto put = [&](FileHandle file) {
    if (operation.kind == Kind::append) return vfs.append(file, data);
    if (operation.kind == Kind::write_uring)
      return vfs.pwrite_by_uring(file, operation.offset, data);
    if (operation.kind == Kind::write_atomic)
      return vfs.pwrite_atomic(file, operation.offset, data);
    if (operation.kind == Kind::store) return vfs.mmap_write(file, operation.offset, data);
    if (operation.kind == Kind::write_mapped)
      return vfs.mmap_write_sync(file, operation.offset, data);
    return vfs.pwrite(file, operation.offset, data);
  };
  if (is_open_file(operation.path)) return with_its_file(operation, vfs, open_files, put);
  return with_file(vfs, operation.path, options, put);
}

VfsResult<void> allocate(const Operation& operation, FallocateMode mode, Vfs& vfs,
                         OpenFiles& open_files) {
  return with_its_file(operation, vfs, open_files, [&](FileHandle file) {
    return vfs.fallocate(file, mode, operation.offset, operation.length);
  });
}

VfsResult<void> share(const Operation& operation, Vfs& vfs) {
  return with_file(vfs, operation.path, {}, [&](FileHandle from) {
    return with_file(vfs, operation.target, {}, [&](FileHandle to) {
      const SharedRange range{.from = from,
                              .from_offset = operation.offset,
                              .length = operation.length,
                              .to = to,
                              .to_offset = operation.target_offset};
      return operation.kind == Kind::clone ? vfs.clone_range(range) : vfs.dedupe_range(range);
    });
  });
}

}  // namespace

VfsResult<void> execute(const Operation& operation, Vfs& vfs, OpenFiles& open_files) {
  switch (operation.kind) {
    case Kind::mkdir:
      return vfs.mkdir(operation.path, 0755);
    case Kind::rmdir:
      return vfs.rmdir(operation.path);
    case Kind::subvolume:
      return vfs.make_subvolume(operation.path);
    case Kind::snapshot:
      return vfs.snapshot(operation.path, operation.target);
    case Kind::remove_subvolume:
      return vfs.remove_subvolume(operation.path);
    case Kind::create:
      return with_file(vfs, operation.path, {.create = true, .exclusive = true},
                       [](FileHandle) { return VfsResult<void>{}; });
    case Kind::unlink:
      return vfs.unlink(operation.path);
    case Kind::write:
    case Kind::write_sync:
    case Kind::write_dsync:
    case Kind::write_direct:
    case Kind::write_direct_dsync:
    case Kind::write_uring:
    case Kind::write_atomic:
    case Kind::write_mapped:
    case Kind::store:
    case Kind::append:
      return write(operation, vfs, open_files);
    case Kind::truncate:
      return with_its_file(operation, vfs, open_files,
                           [&](FileHandle file) { return vfs.truncate(file, operation.length); });
    case Kind::allocate:
      return allocate(operation, FallocateMode::allocate, vfs, open_files);
    case Kind::allocate_keep:
      return allocate(operation, FallocateMode::keep_size, vfs, open_files);
    case Kind::punch:
      return allocate(operation, FallocateMode::punch_hole, vfs, open_files);
    case Kind::zero:
      return allocate(operation, FallocateMode::zero_range, vfs, open_files);
    case Kind::zero_keep:
      return allocate(operation, FallocateMode::zero_range_keep_size, vfs, open_files);
    case Kind::msync:
      return with_its_file(operation, vfs, open_files, [&](FileHandle file) {
        return vfs.msync(file, operation.offset, operation.length);
      });
    case Kind::sync_range:
      return with_its_file(operation, vfs, open_files, [&](FileHandle file) {
        return vfs.sync_range(file, operation.offset, operation.length);
      });
    case Kind::collapse:
      return allocate(operation, FallocateMode::collapse_range, vfs, open_files);
    case Kind::insert:
      return allocate(operation, FallocateMode::insert_range, vfs, open_files);
    case Kind::clone:
    case Kind::dedupe:
      return share(operation, vfs);
    case Kind::remount:
      return vfs.remount();
    case Kind::remount_read_only:
      return vfs.remount_read_only();
    case Kind::freeze:
      return vfs.freeze();
    case Kind::evict:
      return vfs.drop_caches();
    case Kind::crash:
      return tl::unexpected(Errno{.value = ENOTSUP});
    case Kind::mknod:
      return vfs.make_fifo(operation.path, kModeOfNew);
    case Kind::tmpfile:
      return open_files.make_nameless(operation.thread, operation.target);
    case Kind::link:
      if (is_open_file(operation.path))
        return with_its_file(operation, vfs, open_files, [&](FileHandle file) {
          return vfs.link_open(file, operation.target);
        });
      return vfs.link(operation.path, operation.target);
    case Kind::symlink:
      return vfs.symlink(operation.target, operation.path);
    case Kind::rename:
      return vfs.rename(operation.path, operation.target, RenameMode::replace);
    case Kind::rename_noreplace:
      return vfs.rename(operation.path, operation.target, RenameMode::no_replace);
    case Kind::rename_exchange:
      return vfs.rename(operation.path, operation.target, RenameMode::exchange);
    case Kind::rename_whiteout:
      return vfs.rename(operation.path, operation.target, RenameMode::whiteout);
    case Kind::setxattr:
      return vfs.setxattr(operation.path, operation.attribute,
                          std::as_bytes(std::span(operation.value)));
    case Kind::removexattr:
      return vfs.removexattr(operation.path, operation.attribute);
    case Kind::chmod:
      return vfs.chmod(operation.path, operation.mode);
    case Kind::chown:
      return vfs.set_attributes(operation.path, {.user = operation.user, .group = operation.group});
    case Kind::touch:
      return vfs.set_modified(operation.path, operation.seconds * kNsPerSecond);
    case Kind::access:
      return vfs.set_attributes(operation.path, {.accessed_ns = operation.seconds * kNsPerSecond});
    case Kind::flags:
      return vfs.set_flags(operation.path, operation.flags, known_flags());
    case Kind::project:
      return vfs.set_project(operation.path, operation.project);
    case Kind::fsync:
      return with_its_file(operation, vfs, open_files,
                           [&](FileHandle file) { return vfs.fsync(file); });
    case Kind::fdatasync:
      return with_its_file(operation, vfs, open_files,
                           [&](FileHandle file) { return vfs.fdatasync(file); });
    case Kind::fsync_directory:
      if (is_open_file(operation.path))
        return with_its_file(operation, vfs, open_files,
                             [&](FileHandle file) { return vfs.fsync(file); });
      return vfs.fsync_directory(operation.path);
    case Kind::sync:
      return vfs.sync();
    case Kind::syncfs:
      return vfs.syncfs();
    case Kind::join:  // the caller, which runs the threads, handles joins
      return {};
    case Kind::rest:  // rests in real time; in virtual time, the owner of the clock handles rests
      std::this_thread::sleep_for(std::chrono::seconds(operation.seconds));
      return {};
    case Kind::begin:  // vfs.h has no transactions; callers that support them handle these
    case Kind::commit:
      return tl::unexpected(Errno{.value = ENOSYS});
    case Kind::open:
      return open_files.open(operation.thread, operation.target, operation.path);
    case Kind::close:
      return open_files.close(operation.thread, operation.path);
  }
  return tl::unexpected(Errno{.value = EINVAL});
}

Outcome outcome_of(const Operation& operation, const Failure& failure) {
  switch (failure.error) {
    case EOPNOTSUPP:  // the same number as ENOTSUP on Linux
    case ENOSYS:
    case ENOTTY:
      return Outcome::skipped;
    // Kernels return EINVAL if the file system does not support a flag of renameat2() or open().
    case EINVAL:
      if (operation.kind == Kind::rename_exchange || operation.kind == Kind::rename_noreplace ||
          operation.kind == Kind::rename_whiteout || is_direct(operation.kind) ||
          operation.kind == Kind::flags || operation.kind == Kind::project)
        return Outcome::skipped;
      // Kernels also return EINVAL if a range is not aligned to the file system's blocks.
      if (moves_blocks(operation.kind) || shares_blocks(operation.kind)) return Outcome::skipped;
      break;
    case EPERM:  // file systems without links, devices, modes or owners return EPERM
      if (operation.kind == Kind::link || operation.kind == Kind::symlink ||
          operation.kind == Kind::rename_whiteout || operation.kind == Kind::mknod ||
          operation.kind == Kind::chmod || operation.kind == Kind::chown ||
          operation.kind == Kind::flags || operation.kind == Kind::project)
        return Outcome::skipped;
      break;
    case ENOSPC:
    case EDQUOT:
      return Outcome::partial;
    case E2BIG:  // values that the file system cannot store
    case ERANGE:
    case ENAMETOOLONG:
      if (operation.kind == Kind::setxattr) return Outcome::skipped;
      break;
    case ENOENT:
    case EBADF:  // an earlier operation could not open the file
    case EEXIST:
    case ENODATA:
    case ENOTEMPTY:
    case ENOTDIR:
    case EISDIR:
      if (failure.skipped_before) return Outcome::skipped;
      break;
    default:
      break;
  }
  // An earlier partial write left the file shorter than the list assumes. The mapping therefore
  // extends beyond the end of the file.
  const bool mapped = operation.kind == Kind::write_mapped || operation.kind == Kind::store ||
                      operation.kind == Kind::msync;
  if (failure.error == EINVAL && failure.skipped_before && mapped) return Outcome::skipped;
  return Outcome::failed;
}

}  // namespace headcrash::workload
