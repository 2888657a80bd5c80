// Operations on file contents (file_operations.h).
//
// The kernel caches pages that have been read. Unless its write-back cache is enabled, it sends
// each write to this server before write(2) returns. The code below syncs writes that have O_SYNC,
// O_DSYNC or RWF_DSYNC.
#include "fs-adapters/fuse/file_operations.h"

#include <fcntl.h>
#include <linux/falloc.h>

#include <cerrno>
#include <optional>
#include <span>
#include <vector>

#include "fs-adapters/fuse/request.h"

namespace headcrash::fuse {
namespace {

// A test for O_SYNC must compare both of its bits: O_SYNC contains the bit of O_DSYNC.
bool is_sync(int flags) {
  return (flags & O_SYNC) == O_SYNC;
}
bool is_data_sync(int flags) {
  return (flags & O_DSYNC) != 0 && !is_sync(flags);
}

OpenOptions options_of(int flags) {
  return {.truncate = (flags & O_TRUNC) != 0,
          .sync = is_sync(flags),
          .data_sync = is_data_sync(flags),
          .direct = (flags & O_DIRECT) != 0};
}

// O_SYNC and O_DSYNC of an open file, as bits of the file handle that the kernel keeps.
constexpr std::uint64_t kSyncedBit = 1ULL << 32;
constexpr std::uint64_t kDataSyncedBit = 1ULL << 33;

void fill_in(fuse_file_info& info, FileHandle file, const OpenOptions& options) {
  info.fh = static_cast<std::uint32_t>(file) | (options.sync ? kSyncedBit : 0) |
            (options.data_sync ? kDataSyncedBit : 0);
  info.keep_cache = 1;
}

/// Closes a file because a step after its open failed, so that the kernel never received the
/// handle.
void close_again(Vfs& vfs, FileHandle file) {
  static_cast<void>(vfs.close(file));
}

void create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode,
            fuse_file_info* info) {
  Service& service = service_of(request);
  const auto path = path_of(request, parent, name);
  if (!path) return reply_error(request, path.error());
  OpenOptions options = options_of(info->flags);
  options.create = options.exclusive = true;
  options.mode = mode & 07777U;
  auto file = service.vfs.open(*path, options);
  const bool is_there = !file && file.error().value == EEXIST && (info->flags & O_EXCL) == 0;
  options.exclusive = false;
  if (is_there) file = service.vfs.open(*path, options);
  if (!file) return reply_error(request, file.error());
  const auto given = is_there ? VfsResult<void>() : give_to_caller(request, *path, Made::other);
  const auto entry = given ? entry_of(service, *path) : tl::unexpected(given.error());
  if (!entry) {
    close_again(service.vfs, *file);
    return reply_error(request, entry.error());
  }
  fill_in(*info, *file, options);
  if (fuse_reply_create(request, &*entry, info) != 0) close_again(service.vfs, *file);
}

void open(fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
  Vfs& vfs = service_of(request).vfs;
  const auto path = path_of(request, node);
  if (!path) return reply_error(request, path.error());
  const OpenOptions options = options_of(info->flags);
  const auto file = vfs.open(*path, options);
  if (!file) return reply_error(request, file.error());
  fill_in(*info, *file, options);
  if (fuse_reply_open(request, info) != 0) close_again(vfs, *file);
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  reply_done(request, service_of(request).vfs.close(handle_of(info)));
}

void read(fuse_req_t request, fuse_ino_t, std::size_t bytes, off_t offset, fuse_file_info* info) {
  std::vector<std::byte> buffer(bytes);
  const auto got =
      service_of(request).vfs.pread(handle_of(info), static_cast<std::uint64_t>(offset), buffer);
  if (!got) return reply_error(request, got.error());
  fuse_reply_buf(request, reinterpret_cast<const char*>(buffer.data()), *got);
}

void write(fuse_req_t request, fuse_ino_t, const char* bytes, std::size_t count, off_t offset,
           fuse_file_info* info) {
  Vfs& vfs = service_of(request).vfs;
  const FileHandle file = handle_of(info);
  const auto data = std::as_bytes(std::span(bytes, count));
  if (const auto written = vfs.pwrite(file, static_cast<std::uint64_t>(offset), data); !written)
    return reply_error(request, written.error());
  const bool all = is_sync(info->flags) && (info->fh & kSyncedBit) == 0;
  const bool data_only =
      is_data_sync(info->flags) && (info->fh & (kSyncedBit | kDataSyncedBit)) == 0;
  if (all || data_only) {
    const auto synced = all ? vfs.fsync(file) : vfs.fdatasync(file);
    if (!synced) return reply_error(request, synced.error());
  }
  fuse_reply_write(request, count);
}

void fsync(fuse_req_t request, fuse_ino_t, int data_only, fuse_file_info* info) {
  Vfs& vfs = service_of(request).vfs;
  reply_done(request, data_only != 0 ? vfs.fdatasync(handle_of(info)) : vfs.fsync(handle_of(info)));
}

std::optional<FallocateMode> fallocate_mode(int mode) {
  switch (mode) {
    case 0:
      return FallocateMode::allocate;
    case FALLOC_FL_KEEP_SIZE:
      return FallocateMode::keep_size;
    case FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE:
      return FallocateMode::punch_hole;
    case FALLOC_FL_ZERO_RANGE:
      return FallocateMode::zero_range;
    case FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE:
      return FallocateMode::zero_range_keep_size;
    default:
      return std::nullopt;
  }
}

void fallocate(fuse_req_t request, fuse_ino_t, int mode, off_t offset, off_t length,
               fuse_file_info* info) {
  const auto how = fallocate_mode(mode);
  if (!how) return reply_error(request, Errno{.value = EOPNOTSUPP});
  reply_done(request, service_of(request).vfs.fallocate(handle_of(info), *how,
                                                        static_cast<std::uint64_t>(offset),
                                                        static_cast<std::uint64_t>(length)));
}

}  // namespace

void add_file_operations(fuse_lowlevel_ops& table) {
  table.create = create;
  table.open = open;
  table.release = release;
  table.read = read;
  table.write = write;
  table.fsync = fsync;
  table.fallocate = fallocate;
}

}  // namespace headcrash::fuse
