// The mounted file system (file_system.h): what is in files.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "fs-adapters/ufs/file_blocks.h"
#include "fs-adapters/ufs/file_system.h"

namespace headcrash::ufs {
namespace {

constexpr std::size_t kOpenFilesMax = 65536;
constexpr std::int64_t kBytesPerKib = 1024;

void charge_copy(Volume& volume, std::size_t bytes) {
  volume.cpu.use(static_cast<std::int64_t>(bytes) * volume.cpu.costs().transfer_per_kib / kBytesPerKib);
}

void touch(Volume& volume, CoreInode& inode) {
  inode.disk.modified = inode.disk.changed = volume.timestamp();
  volume.inodes.mark_changed(inode);
}

bool too_far(const Volume& volume, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t most = volume.geometry.file_bytes_max();
  return offset > most || length > most - offset;
}

}  // namespace

VfsResult<FileSystem::OpenFile*> FileSystem::file_of(FileHandle file) {
  const auto index = static_cast<std::size_t>(file);
  if (index >= files_.size() || !files_[index]) return refuse(EBADF);
  return &*files_[index];
}

VfsResult<FileHandle> FileSystem::open_file(std::string_view path, const OpenOptions& options,
                                            Operation& operation) {
  InodeHandle inode;
  if (options.create) {
    auto at = walk_to_parent(path, &operation);
    if (!at) return pass_on_errno(at);
    const InodeLock lock(*at->directory);
    const auto found = find_name(*volume_, *at->directory, at->name);
    if (!found) return pass_on_errno(found);
    if (*found && options.exclusive) return refuse(EEXIST);
    if (!*found) {
      const auto mode = static_cast<std::uint16_t>(kTypeRegular | (options.mode & 07777U));
      auto made = make_node(operation, *at->directory, at->name, mode, {});
      if (!made) return pass_on_errno(made);
      inode = std::move(*made);
    }
  }
  if (!inode) {
    auto walked = walk(path, LastLink::follow, &operation);
    if (!walked) return pass_on_errno(walked);
    inode = std::move(*walked);
  }
  if (inode->disk.is_directory()) return refuse(EISDIR);
  if (options.truncate && inode->disk.size_bytes != 0) {
    const InodeLock lock(*inode);
    if (auto cut = set_size(*volume_, operation, *inode, 0); !cut) return pass_on_errno(cut);
    touch(*volume_, *inode);
  }
  auto slot = std::find(files_.begin(), files_.end(), std::nullopt);
  if (slot == files_.end()) {
    if (files_.size() >= kOpenFilesMax) return refuse(ENFILE);
    slot = files_.insert(files_.end(), std::nullopt);
  }
  inode.detach_from_operation();
  slot->emplace(OpenFile{.inode = std::move(inode), .sync = options.sync, .data_sync = options.data_sync});
  return FileHandle{static_cast<std::int32_t>(slot - files_.begin())};
}

VfsResult<FileHandle> FileSystem::open(std::string_view path, const OpenOptions& options) {
  const auto open = [&](Operation& operation) { return open_file(path, options, operation); };
  if (!volume_->stopped() || options.create || options.truncate) return change<FileHandle>(open);
  // What has stopped can be read.
  enter();
  Operation none;
  return open(none);
}

VfsResult<void> FileSystem::close(FileHandle file) {
  enter();
  auto open = file_of(file);
  if (!open) return pass_on_errno(open);
  const InodeHandle last = std::move((*open)->inode);
  files_[static_cast<std::size_t>(file)].reset();
  return {};
}

VfsResult<std::size_t> FileSystem::pread(FileHandle file, std::uint64_t offset, std::span<std::byte> into) {
  enter();
  auto open = file_of(file);
  if (!open) return pass_on_errno(open);
  const InodeHandle inode = volume_->inodes.share(*(*open)->inode, nullptr);
  const InodeLock lock(*inode);
  const std::uint64_t size = inode->disk.size_bytes;
  if (offset >= size) return std::size_t{0};
  const std::size_t length = std::min<std::uint64_t>(into.size(), size - offset);
  for (std::size_t done = 0; done < length;) {
    const auto block = static_cast<std::int64_t>(volume_->geometry.block_of(offset + done));
    const std::uint32_t start = volume_->geometry.offset_in_block(offset + done);
    const std::size_t count = std::min<std::size_t>(volume_->geometry.block_bytes() - start, length - done);
    const auto at = find_block(*volume_, *inode, block);
    if (!at) return pass_on_errno(at);
    if (*at == 0) {
      std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(done), count, std::byte{0});
    } else {
      auto buffer = read_file_block(*volume_, *inode, block, *at);
      if (!buffer) return pass_on_errno(buffer);
      std::memcpy(into.data() + done, buffer->bytes().data() + start, count);
    }
    charge_copy(*volume_, count);
    done += count;
  }
  return length;
}

VfsResult<void> FileSystem::write_bytes(Operation& operation, CoreInode& inode, std::uint64_t offset,
                                        std::span<const std::byte> data) {
  if (too_far(*volume_, offset, data.size())) return refuse(EFBIG);
  const Geometry& geometry = volume_->geometry;
  const std::uint64_t old_size = inode.disk.size_bytes;
  for (std::size_t done = 0; done < data.size();) {
    const std::uint64_t at = offset + done;
    const std::uint32_t start = geometry.offset_in_block(at);
    const std::size_t count = std::min<std::size_t>(geometry.block_bytes() - start, data.size() - done);
    const auto end = static_cast<std::uint32_t>(start + count);
    const bool all = start == 0 && (end == geometry.block_bytes() || at + count >= inode.disk.size_bytes);
    auto buffer = block_for_writing(
        *volume_, operation, inode,
        {.block = static_cast<std::int64_t>(geometry.block_of(at)), .bytes = end, .overwritten = all});
    if (!buffer) {
      if (inode.disk.size_bytes > old_size || buffer.error().value == ENOSPC)
        (void)set_size(*volume_, operation, inode, old_size);
      return pass_on_errno(buffer);
    }
    std::memcpy(buffer->bytes().data() + start, data.data() + done, count);
    volume_->cache.write_delayed(std::move(*buffer));
    charge_copy(*volume_, count);
    inode.disk.size_bytes = std::max(inode.disk.size_bytes, at + count);
    done += count;
  }
  touch(*volume_, inode);
  return {};
}

VfsResult<void> FileSystem::pwrite(FileHandle file, std::uint64_t offset, std::span<const std::byte> data) {
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto open = file_of(file);
    if (!open) return pass_on_errno(open);
    const bool sync = (*open)->sync || (*open)->data_sync;
    const auto extent = (*open)->sync ? Scheme::SyncExtent::everything : Scheme::SyncExtent::data;
    const InodeHandle inode = volume_->inodes.share(*(*open)->inode, &operation);
    const InodeLock lock(*inode);
    auto written = write_bytes(operation, *inode, offset, data);
    if (!written || !sync) return written;
    return sync_inode(operation, *inode, extent);
  });
}

VfsResult<void> FileSystem::append(FileHandle file, std::span<const std::byte> data) {
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto open = file_of(file);
    if (!open) return pass_on_errno(open);
    const bool sync = (*open)->sync || (*open)->data_sync;
    const InodeHandle inode = volume_->inodes.share(*(*open)->inode, &operation);
    const InodeLock lock(*inode);
    auto written = write_bytes(operation, *inode, inode->disk.size_bytes, data);
    if (!written || !sync) return written;
    return sync_inode(operation, *inode, Scheme::SyncExtent::everything);
  });
}

VfsResult<void> FileSystem::truncate(FileHandle file, std::uint64_t size_bytes) {
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto open = file_of(file);
    if (!open) return pass_on_errno(open);
    const InodeHandle inode = volume_->inodes.share(*(*open)->inode, &operation);
    const InodeLock lock(*inode);
    const std::uint64_t old_size = inode->disk.size_bytes;
    auto cut = set_size(*volume_, operation, *inode, size_bytes);
    if (cut) touch(*volume_, *inode);
    if (!cut && size_bytes > old_size) (void)set_size(*volume_, operation, *inode, old_size);
    return cut;
  });
}

/// Zeroes where there are blocks; holes stay. Within the file.
VfsResult<void> FileSystem::write_zeroes(Operation&, CoreInode& inode, std::uint64_t offset,
                                         std::uint64_t length) {
  const Geometry& geometry = volume_->geometry;
  for (std::uint64_t done = 0; done < length;) {
    const std::uint32_t start = geometry.offset_in_block(offset + done);
    const std::uint64_t count = std::min<std::uint64_t>(geometry.block_bytes() - start, length - done);
    const auto block = static_cast<std::int64_t>(geometry.block_of(offset + done));
    done += count;
    const auto at = find_block(*volume_, inode, block);
    if (!at) return pass_on_errno(at);
    if (*at == 0) continue;
    auto buffer = read_file_block(*volume_, inode, block, *at);
    if (!buffer) return pass_on_errno(buffer);
    const auto bytes = buffer->bytes().subspan(start);
    std::fill_n(bytes.begin(), std::min<std::size_t>(count, bytes.size()), std::byte{0});
    volume_->cache.write_delayed(std::move(*buffer));
  }
  return {};
}

VfsResult<void> FileSystem::punch(Operation& operation, CoreInode& inode, std::uint64_t offset,
                                  std::uint64_t length) {
  const Geometry& geometry = volume_->geometry;
  const std::uint64_t size = inode.disk.size_bytes;
  if (offset >= size) return {};
  const std::uint64_t end = std::min(size, offset + length);
  // The file's last block stays: a file must not end in a hole, says the format's fsck.
  const std::uint64_t first = geometry.blocks_of_size(offset);
  const std::uint64_t behind = std::min(geometry.block_of(end), geometry.block_of(size - 1));
  if (behind > first) {
    const std::uint64_t from = first * geometry.block_bytes(), to = behind * geometry.block_bytes();
    if (auto zeroed = write_zeroes(operation, inode, offset, from - offset); !zeroed) return zeroed;
    if (auto zeroed = write_zeroes(operation, inode, to, end - to); !zeroed) return zeroed;
    return free_blocks(*volume_, operation, inode, static_cast<std::int64_t>(first),
                       static_cast<std::int64_t>(behind));
  }
  return write_zeroes(operation, inode, offset, end - offset);
}

VfsResult<void> FileSystem::allocate_range(Operation& operation, CoreInode& inode, std::uint64_t offset,
                                           std::uint64_t length) {
  const Geometry& geometry = volume_->geometry;
  const std::uint64_t old_size = inode.disk.size_bytes;
  const std::uint64_t end = offset + length;
  for (std::uint64_t block = geometry.block_of(offset); block * geometry.block_bytes() < end; ++block) {
    const std::uint64_t start = block * geometry.block_bytes();
    const auto reach =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(geometry.block_bytes(), end - start));
    auto buffer = block_for_writing(*volume_, operation, inode,
                                    {.block = static_cast<std::int64_t>(block), .bytes = reach});
    if (!buffer) {
      (void)set_size(*volume_, operation, inode, old_size);
      return pass_on_errno(buffer);
    }
    volume_->cache.write_delayed(std::move(*buffer));
    inode.disk.size_bytes = std::max(inode.disk.size_bytes, start + reach);
    volume_->inodes.mark_changed(inode);
  }
  return {};
}

VfsResult<void> FileSystem::fallocate(FileHandle file, FallocateMode mode, std::uint64_t offset,
                                      std::uint64_t length) {
  if (length == 0) return refuse(EINVAL);
  if (too_far(*volume_, offset, length)) return refuse(EFBIG);
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto open = file_of(file);
    if (!open) return pass_on_errno(open);
    const InodeHandle inode = volume_->inodes.share(*(*open)->inode, &operation);
    const InodeLock lock(*inode);
    const std::uint64_t size = inode->disk.size_bytes;
    VfsResult<void> done;
    switch (mode) {
      case FallocateMode::allocate:
        done = allocate_range(operation, *inode, offset, length);
        break;
      case FallocateMode::keep_size:
        // Blocks behind a file's end have no place in this format.
        if (offset + length > size) return refuse(ENOTSUP);
        done = allocate_range(operation, *inode, offset, length);
        break;
      case FallocateMode::punch_hole:
      case FallocateMode::zero_range_keep_size:
        done = punch(operation, *inode, offset, length);
        break;
      case FallocateMode::zero_range:
        done = punch(operation, *inode, offset, length);
        if (done && offset + length > size) {
          done = set_size(*volume_, operation, *inode, offset + length);
          if (!done) (void)set_size(*volume_, operation, *inode, size);
        }
        break;
    }
    if (done) touch(*volume_, *inode);
    return done;
  });
}

VfsResult<void> FileSystem::mmap_write_sync(FileHandle file, std::uint64_t offset,
                                            std::span<const std::byte> data) {
  if (data.empty()) return {};
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto open = file_of(file);
    if (!open) return pass_on_errno(open);
    const InodeHandle inode = volume_->inodes.share(*(*open)->inode, &operation);
    const InodeLock lock(*inode);
    const std::uint64_t size = inode->disk.size_bytes;
    if (offset > size || data.size() > size - offset) return refuse(EINVAL);
    auto written = write_bytes(operation, *inode, offset, data);
    if (!written) return written;
    return sync_inode(operation, *inode, Scheme::SyncExtent::data);
  });
}

/// The inode is locked.
VfsResult<void> FileSystem::sync_inode(Operation& operation, CoreInode& inode, Scheme::SyncExtent extent) {
  auto done = volume_->scheme->fsync(operation, inode, extent);
  if (done && volume_->stopped()) done = refuse(EIO);
  operation.sync_failed = !done;
  return done;
}

VfsResult<void> FileSystem::sync_file(FileHandle file, Scheme::SyncExtent extent) {
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto open = file_of(file);
    if (!open) return pass_on_errno(open);
    const InodeHandle inode = volume_->inodes.share(*(*open)->inode, &operation);
    const InodeLock lock(*inode);
    return sync_inode(operation, *inode, extent);
  });
}

VfsResult<void> FileSystem::fsync(FileHandle file) {
  return sync_file(file, Scheme::SyncExtent::everything);
}
VfsResult<void> FileSystem::fdatasync(FileHandle file) {
  return sync_file(file, Scheme::SyncExtent::data);
}

}  // namespace headcrash::ufs
