// Part of the tree (file_system.h): operations on file contents.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "fs-adapters/substrate/tree/directory.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::tree {
namespace {

constexpr std::size_t kOpenFilesMax = 65536;

/// Maps offsets of a file to its blocks.
class Blocks {
 public:
  explicit Blocks(const InodeStore& store) : bytes_(store.block_bytes()) {}
  std::uint32_t bytes() const { return bytes_; }
  std::uint64_t of(std::uint64_t offset) const { return offset / bytes_; }
  std::uint32_t offset_in(std::uint64_t offset) const {
    return static_cast<std::uint32_t>(offset % bytes_);
  }
  std::uint64_t of_size(std::uint64_t size) const {
    return size / bytes_ + (size % bytes_ != 0 ? 1 : 0);
  }

 private:
  std::uint32_t bytes_;
};

void charge_copy(InodeStore& store, std::size_t bytes) {
  store.cpu.charge(os::Cost::transfer_per_kib, static_cast<std::int64_t>(bytes));
}

/// Undoes the growth of a file after an operation has failed with `error`. Returns `error`. If the
/// growth cannot be undone, returns the error that prevented this: blocks beyond the file's end may
/// then be lost, so the caller must not treat the failure as a full disk.
VfsResult<void> undo_growth(InodeStore& store, Operation& operation, CoreInode& inode,
                            std::uint64_t old_size, Errno error) {
  TRY(store.set_size(operation, inode, old_size));
  return tl::unexpected(error);
}

void touch(InodeStore& store, CoreInode& inode) {
  inode.attributes.modified = inode.attributes.changed = store.now();
  store.mark_changed(inode);
}

bool too_far(const InodeStore& store, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t most = store.file_bytes_max();
  return offset > most || length > most - offset;
}

}  // namespace

VfsResult<FileSystem::OpenFile*> FileSystem::file_of(FileHandle file) {
  const auto index = static_cast<std::size_t>(file);
  if (index >= files_.size() || !files_[index]) return refuse(EBADF);
  return &*files_[index];
}

/// Returns the file at `path`. Creates the file if it does not exist.
VfsResult<InodeHandle> FileSystem::find_or_make(std::string_view path, const OpenOptions& options,
                                                Operation& operation) {
  const auto mode = static_cast<std::uint16_t>(kTypeRegular | (options.mode & kPermissionMask));
  TRY(const auto at, walk_to_parent(path, &operation));
  {
    const InodeLock lock(*at.directory);
    TRY(const auto found, find_name(*store_, *at.directory, at.name));
    if (found && options.exclusive) return refuse(EEXIST);
    if (!found) return make_node(operation, *at.directory, at.name, mode, {});
  }
  auto walked = walk(path, LastLink::follow, &operation);
  if (walked || walked.error().value != ENOENT) return walked;
  // Either another user has just removed the name, or the name is a symbolic link to a missing
  // file.
  const InodeLock lock(*at.directory);
  TRY(const auto found, find_name(*store_, *at.directory, at.name));
  if (!found) return make_node(operation, *at.directory, at.name, mode, {});
  TRY(auto inode, named_inode(*at.directory, at.name, found->inode, &operation));
  if (inode->attributes.is_symlink()) return refuse(ENOENT);
  return inode;
}

/// Opens a file as part of `operation`, which may be null if nothing is created or truncated.
VfsResult<FileHandle> FileSystem::open_file(std::string_view path, const OpenOptions& options,
                                            Operation* operation) {
  TRY(auto inode, options.create ? find_or_make(path, options, *operation)
                                 : walk(path, LastLink::follow, operation));
  if (inode->attributes.is_directory()) return refuse(EISDIR);
  if (options.truncate && inode->attributes.size_bytes != 0) {
    const InodeLock lock(*inode);
    if (auto cut = store_->set_size(*operation, *inode, 0); !cut) return forward_errno(cut);
    touch(*store_, *inode);
  }
  auto slot = std::find(files_.begin(), files_.end(), std::nullopt);
  if (slot == files_.end()) {
    if (files_.size() >= kOpenFilesMax) return refuse(ENFILE);
    slot = files_.insert(files_.end(), std::nullopt);
  }
  inode.detach_from_operation();
  slot->emplace(
      OpenFile{.inode = std::move(inode), .sync = options.sync, .data_sync = options.data_sync});
  return FileHandle{static_cast<std::int32_t>(slot - files_.begin())};
}

VfsResult<FileHandle> FileSystem::open(std::string_view path, const OpenOptions& options) {
  if (store_->takes_no_changes() && !options.create && !options.truncate) {
    enter();
    return open_file(path, options, nullptr);
  }
  VfsResult<FileHandle> file = refuse(EIO);
  auto done = change([&](Operation& operation) -> VfsResult<void> {
    file = open_file(path, options, &operation);
    if (!file) return forward_errno(file);
    return {};
  });
  if (!done) return forward_errno(done);
  return file;
}

VfsResult<void> FileSystem::close(FileHandle file) {
  enter();
  TRY(auto open, file_of(file));
  const InodeHandle last = std::move(open->inode);
  files_[static_cast<std::size_t>(file)].reset();
  return {};
}

VfsResult<std::size_t> FileSystem::pread(FileHandle file, std::uint64_t offset,
                                         std::span<std::byte> into) {
  enter();
  TRY(auto open, file_of(file));
  const InodeHandle inode = store_->share(*open->inode, nullptr);
  const InodeLock lock(*inode);
  const std::uint64_t size = inode->attributes.size_bytes;
  if (offset >= size) return std::size_t{0};
  const std::size_t length = std::min<std::uint64_t>(into.size(), size - offset);
  const Blocks blocks(*store_);
  for (std::size_t done = 0; done < length;) {
    const auto block = static_cast<std::int64_t>(blocks.of(offset + done));
    const std::uint32_t start = blocks.offset_in(offset + done);
    const std::size_t count = std::min<std::size_t>(blocks.bytes() - start, length - done);
    {
      TRY(const auto buffer, store_->read_block(*inode, block));
      if (buffer)
        std::memcpy(into.data() + done, buffer.bytes().data() + start, count);
      else
        std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(done), count, std::byte{0});
    }
    charge_copy(*store_, count);
    done += count;
  }
  return length;
}

VfsResult<void> FileSystem::write_bytes(Operation& operation, CoreInode& inode,
                                        std::uint64_t offset, std::span<const std::byte> data) {
  if (too_far(*store_, offset, data.size())) return refuse(EFBIG);
  const Blocks blocks(*store_);
  const std::uint64_t old_size = inode.attributes.size_bytes;
  TRY(store_->make_room(operation, inode, {.offset = offset, .length = data.size()}));
  for (std::size_t done = 0; done < data.size();) {
    const std::uint64_t at = offset + done;
    const std::uint32_t start = blocks.offset_in(at);
    const std::size_t count = std::min<std::size_t>(blocks.bytes() - start, data.size() - done);
    const auto end = static_cast<std::uint32_t>(start + count);
    const bool all =
        start == 0 && (end == blocks.bytes() || at + count >= inode.attributes.size_bytes);
    auto buffer = store_->block_for_writing(
        operation, inode,
        {.block = static_cast<std::int64_t>(blocks.of(at)), .bytes = end, .overwritten = all});
    if (!buffer) {
      if (inode.attributes.size_bytes > old_size || buffer.error().value == ENOSPC)
        return undo_growth(*store_, operation, inode, old_size, buffer.error());
      return forward_errno(buffer);
    }
    std::memcpy(buffer->bytes().data() + start, data.data() + done, count);
    inode.attributes.size_bytes = std::max(inode.attributes.size_bytes, at + count);
    if (end == blocks.bytes())
      store_->write_filled(inode, std::move(*buffer));
    else
      store_->write_delayed(std::move(*buffer));
    charge_copy(*store_, count);
    done += count;
  }
  touch(*store_, inode);
  return {};
}

VfsResult<void> FileSystem::pwrite(FileHandle file, std::uint64_t offset,
                                   std::span<const std::byte> data) {
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto open, file_of(file));
    const bool sync = open->sync || open->data_sync;
    const auto extent = open->sync ? SyncExtent::everything : SyncExtent::data;
    const InodeHandle inode = store_->share(*open->inode, &operation);
    const InodeLock lock(*inode);
    auto written = write_bytes(operation, *inode, offset, data);
    if (!written || !sync) return written;
    return sync_inode(operation, *inode, extent);
  });
}

VfsResult<void> FileSystem::append(FileHandle file, std::span<const std::byte> data) {
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto open, file_of(file));
    const bool sync = open->sync || open->data_sync;
    const InodeHandle inode = store_->share(*open->inode, &operation);
    const InodeLock lock(*inode);
    auto written = write_bytes(operation, *inode, inode->attributes.size_bytes, data);
    if (!written || !sync) return written;
    return sync_inode(operation, *inode, SyncExtent::everything);
  });
}

VfsResult<void> FileSystem::truncate(FileHandle file, std::uint64_t size_bytes) {
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto open, file_of(file));
    const InodeHandle inode = store_->share(*open->inode, &operation);
    const InodeLock lock(*inode);
    const std::uint64_t old_size = inode->attributes.size_bytes;
    auto cut = store_->set_size(operation, *inode, size_bytes);
    if (!cut && size_bytes > old_size)
      return undo_growth(*store_, operation, *inode, old_size, cut.error());
    if (cut) touch(*store_, *inode);
    return cut;
  });
}

/// Writes zeroes to those blocks in the range that exist; holes remain holes.
VfsResult<void> FileSystem::write_zeroes(Operation& operation, CoreInode& inode,
                                         std::uint64_t offset, std::uint64_t length) {
  const Blocks blocks(*store_);
  for (std::uint64_t done = 0; done < length;) {
    const std::uint32_t start = blocks.offset_in(offset + done);
    const std::uint64_t count = std::min<std::uint64_t>(blocks.bytes() - start, length - done);
    const auto block = static_cast<std::int64_t>(blocks.of(offset + done));
    done += count;
    TRY(auto buffer, store_->block_to_change(operation, inode, block));
    if (!buffer) continue;
    const auto bytes = buffer.bytes().subspan(start);
    std::fill_n(bytes.begin(), std::min<std::size_t>(count, bytes.size()), std::byte{0});
    store_->write_delayed(std::move(buffer));
  }
  return {};
}

VfsResult<void> FileSystem::punch(Operation& operation, CoreInode& inode, std::uint64_t offset,
                                  std::uint64_t length) {
  const Blocks blocks(*store_);
  const std::uint64_t size = inode.attributes.size_bytes;
  if (offset >= size) return {};
  const std::uint64_t end = std::min(size, offset + length);
  // The last block remains allocated, because fsck does not permit a file that ends in a hole.
  const std::uint64_t first = blocks.of_size(offset);
  const std::uint64_t behind = std::min(blocks.of(end), blocks.of(size - 1));
  const auto make_room = [&](std::uint64_t from, std::uint64_t to) {
    return store_->make_room(operation, inode,
                             {.offset = from, .length = to - from, .fills_holes = false});
  };
  if (behind > first) {
    const std::uint64_t from = first * blocks.bytes(), to = behind * blocks.bytes();
    TRY(make_room(offset, from));
    TRY(make_room(to, end));
    TRY(write_zeroes(operation, inode, offset, from - offset));
    TRY(write_zeroes(operation, inode, to, end - to));
    return store_->free_blocks(operation, inode, static_cast<std::int64_t>(first),
                               static_cast<std::int64_t>(behind));
  }
  TRY(make_room(offset, end));
  return write_zeroes(operation, inode, offset, end - offset);
}

VfsResult<void> FileSystem::allocate_range(Operation& operation, CoreInode& inode,
                                           std::uint64_t offset, std::uint64_t length) {
  const Blocks blocks(*store_);
  const std::uint64_t old_size = inode.attributes.size_bytes;
  const std::uint64_t end = offset + length;
  for (std::uint64_t block = blocks.of(offset); block * blocks.bytes() < end; ++block) {
    const std::uint64_t start = block * blocks.bytes();
    const auto reach =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks.bytes(), end - start));
    auto buffer = store_->block_for_writing(
        operation, inode, {.block = static_cast<std::int64_t>(block), .bytes = reach});
    if (!buffer) return undo_growth(*store_, operation, inode, old_size, buffer.error());
    store_->write_delayed(std::move(*buffer));
    inode.attributes.size_bytes = std::max(inode.attributes.size_bytes, start + reach);
    store_->mark_changed(inode);
  }
  return {};
}

VfsResult<void> FileSystem::fallocate(FileHandle file, FallocateMode mode, std::uint64_t offset,
                                      std::uint64_t length) {
  if (length == 0) return refuse(EINVAL);
  if (too_far(*store_, offset, length)) return refuse(EFBIG);
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto open, file_of(file));
    const InodeHandle inode = store_->share(*open->inode, &operation);
    const InodeLock lock(*inode);
    const std::uint64_t size = inode->attributes.size_bytes;
    VfsResult<void> done;
    switch (mode) {
      case FallocateMode::allocate:
        done = allocate_range(operation, *inode, offset, length);
        break;
      case FallocateMode::keep_size:
        // Allocating blocks beyond the end of a file is not supported.
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
          done = store_->set_size(operation, *inode, offset + length);
          if (!done) done = undo_growth(*store_, operation, *inode, size, done.error());
        }
        break;
      case FallocateMode::collapse_range:
      case FallocateMode::insert_range:
        return refuse(ENOTSUP);
    }
    if (done) touch(*store_, *inode);
    return done;
  });
}

VfsResult<void> FileSystem::mmap_write_sync(FileHandle file, std::uint64_t offset,
                                            std::span<const std::byte> data) {
  if (data.empty()) return {};
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto open, file_of(file));
    const InodeHandle inode = store_->share(*open->inode, &operation);
    const InodeLock lock(*inode);
    const std::uint64_t size = inode->attributes.size_bytes;
    if (offset > size || data.size() > size - offset) return refuse(EINVAL);
    auto written = write_bytes(operation, *inode, offset, data);
    if (!written) return written;
    return sync_inode(operation, *inode, SyncExtent::data);
  });
}

/// Syncs the inode, which must be locked.
VfsResult<void> FileSystem::sync_inode(Operation& operation, CoreInode& inode, SyncExtent extent) {
  auto done = store_->fsync(operation, inode, extent);
  if (done && store_->stopped()) done = refuse(EIO);
  operation.sync_failed = !done;
  return done;
}

VfsResult<void> FileSystem::sync_file(FileHandle file, SyncExtent extent) {
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto open, file_of(file));
    const InodeHandle inode = store_->share(*open->inode, &operation);
    const InodeLock lock(*inode);
    return sync_inode(operation, *inode, extent);
  });
}

VfsResult<void> FileSystem::fsync(FileHandle file) {
  return sync_file(file, SyncExtent::everything);
}
VfsResult<void> FileSystem::fdatasync(FileHandle file) {
  return sync_file(file, SyncExtent::data);
}

}  // namespace headcrash::tree
