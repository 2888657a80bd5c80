// Implements the InodeStore of ufs (tree_store.h).

#include "fs-adapters/ufs/core/tree_store.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fs-adapters/substrate/tree/directory.h"
#include "fs-adapters/ufs/core/file_blocks.h"

namespace headcrash::ufs {
namespace {

Operation& ours(tree::Operation& operation) {
  return static_cast<Operation&>(operation);
}
Operation* ours(tree::Operation* operation) {
  return static_cast<Operation*>(operation);
}
/// Extends a directory to the end of its last fragment (newfs creates directories of one chunk).
/// The new part is filled with empty chunks, which must be on the disk before the new size is.
VfsResult<os::HeldBuffer> fill_last_fragment(Volume& volume, Operation& operation,
                                             CoreInode& directory, std::int64_t block,
                                             std::uint32_t from, std::uint32_t to) {
  TRY(const auto at, find_block(volume, directory, block));
  if (at == 0) return refuse(EIO);
  auto buffer = read_file_block(volume, directory, block, at);
  if (!buffer) return buffer;
  tree::format_chunks(buffer->bytes().subspan(from, to - from));
  // Beyond the direct blocks, our directories consist of whole blocks; only those written by other
  // systems end in the middle of a block. Schemes do not roll back the size in this case.
  if (block >= kDirectPointers) {
    volume.cache.write_delayed(std::move(*buffer));
    return read_file_block(volume, directory, block, at);
  }
  const std::uint32_t fragments = volume.geometry.fragments_of(to);
  return volume.scheme->block_allocated(operation,
                                        {.inode = directory,
                                         .kind = BlockKind::metadata,
                                         .block = block,
                                         .at = at,
                                         .fragments = fragments,
                                         .old_at = at,
                                         .old_fragments = fragments,
                                         .old_size_bytes = directory.disk.size_bytes,
                                         .slot = static_cast<std::uint32_t>(block)},
                                        std::move(*buffer));
}

// Maximum number of times that an operation runs if it fails with ENOSPC.
constexpr int kAttemptsMax = 4;

}  // namespace

TreeStore::TreeStore(std::unique_ptr<Volume> volume)
    : InodeStore(volume->executor, volume->cpu, volume->cache), volume_(std::move(volume)) {}

bool TreeStore::is_inode(std::uint64_t number) const {
  return number >> 32U == 0 && volume_->geometry.is_inode(static_cast<InodeNumber>(number));
}

std::uint32_t TreeStore::symlink_bytes_max() const {
  return std::min(std::uint32_t{tree::kPathBytesMax}, volume_->geometry.block_bytes());
}

std::uint64_t TreeStore::allocated_bytes(const tree::CoreInode& inode) const {
  return std::uint64_t{static_cast<const CoreInode&>(inode).disk.sectors} * kSectorBytes;
}

VfsResult<void> TreeStore::change(const std::function<VfsResult<void>(tree::Operation&)>& body) {
  if (volume_->stopped()) return refuse(EIO);
  volume_->scheme->bound_work();
  for (int attempts = 1;; ++attempts) {
    Operation operation;
    volume_->scheme->begin(operation);
    VfsResult<void> result;
    {
      const tree::ChangesByFiber::Watch watch(volume_->changes);
      result = body(operation);
      if (!result && result.error().value == EIO && !operation.sync_failed && watch.changed())
        volume_->stop();
    }
    const VfsResult<void> ended = volume_->scheme->end(operation);
    if (result && !ended) return ended;
    const bool full = !result && result.error().value == ENOSPC;
    const bool again = attempts == 1 || (operation.moved_block && attempts < kAttemptsMax);
    if (!full || !again) return result;
    if (!volume_->scheme->reclaim() && !operation.moved_block) return result;
  }
}

VfsResult<tree::InodeHandle> TreeStore::get(InodeNumber number, tree::Operation* operation) {
  return volume_->inodes.get(number, ours(operation));
}

tree::InodeHandle TreeStore::share(tree::CoreInode& inode, tree::Operation* operation) {
  return volume_->inodes.share(core(inode), ours(operation));
}

VfsResult<tree::InodeHandle> TreeStore::make(tree::Operation& operation, tree::CoreInode& directory,
                                             bool is_directory) {
  TRY(const auto number, volume_->allocator.allocate_inode(directory.number, is_directory));
  return volume_->inodes.make(number, &ours(operation));
}

void TreeStore::mark_changed(tree::CoreInode& inode) {
  volume_->inodes.mark_changed(core(inode));
}

VfsResult<os::HeldBuffer> TreeStore::read_block(tree::CoreInode& inode, std::int64_t block) {
  TRY(const auto at, find_block(*volume_, core(inode), block));
  if (at == 0) return os::HeldBuffer();
  return read_file_block(*volume_, core(inode), block, at);
}

VfsResult<os::HeldBuffer> TreeStore::block_for_writing(tree::Operation& operation,
                                                       tree::CoreInode& inode,
                                                       const tree::BlockWanted& wanted) {
  return ufs::block_for_writing(*volume_, ours(operation), core(inode), wanted);
}

VfsResult<void> TreeStore::free_blocks(tree::Operation& operation, tree::CoreInode& inode,
                                       std::int64_t first, std::int64_t end) {
  return ufs::free_blocks(*volume_, ours(operation), core(inode), first, end);
}

VfsResult<void> TreeStore::set_size(tree::Operation& operation, tree::CoreInode& inode,
                                    std::uint64_t size_bytes) {
  return ufs::set_size(*volume_, ours(operation), core(inode), size_bytes);
}

VfsResult<std::int64_t> TreeStore::grow_directory(tree::Operation& within, tree::CoreInode& its) {
  Operation& operation = ours(within);
  CoreInode& directory = core(its);
  const Geometry& geometry = volume_->geometry;
  const std::uint64_t old_size_bytes = directory.disk.size_bytes;
  const std::uint32_t from = geometry.offset_in_block(old_size_bytes);
  const auto block = static_cast<std::int64_t>(geometry.block_of(old_size_bytes));
  const std::uint32_t unit =
      block < kDirectPointers ? geometry.fragment_bytes() : geometry.block_bytes();
  const std::uint32_t reach = (from / unit + 1) * unit;
  TRY(auto buffer, from % unit != 0
                       ? fill_last_fragment(*volume_, operation, directory, block, from, reach)
                       : ufs::block_for_writing(*volume_, operation, directory,
                                                {.block = block, .bytes = reach}));
  volume_->cache.release(std::move(buffer));
  directory.disk.size_bytes = static_cast<std::uint64_t>(block) * geometry.block_bytes() + reach;
  tree::touch_directory(*this, directory);
  if (auto grown = volume_->scheme->directory_grown(operation, directory, old_size_bytes); !grown)
    return forward_errno(grown);
  return block;
}

VfsResult<void> TreeStore::write_target(tree::Operation& operation, tree::CoreInode& link,
                                        std::string_view target) {
  if (target.size() >= volume_->super.inline_target_max)
    return InodeStore::write_target(operation, link, target);
  core(link).disk.size_bytes = target.size();
  set_inline_target(core(link).disk, target);
  return {};
}

VfsResult<std::string> TreeStore::read_target(tree::CoreInode& link) {
  if (pointers_are_text(core(link).disk, volume_->super.inline_target_max))
    return inline_target(core(link).disk);
  return InodeStore::read_target(link);
}

VfsResult<void> TreeStore::link_added(tree::Operation& operation,
                                      const tree::LinkAddition& addition,
                                      os::HeldBuffer directory_block) {
  auto done = volume_->scheme->link_added(ours(operation), addition, std::move(directory_block));
  volume_->names.note(addition.target.number, addition.directory.number, addition.block);
  return done;
}

VfsResult<void> TreeStore::link_removed(tree::Operation& operation,
                                        const tree::LinkRemoval& removal,
                                        os::HeldBuffer directory_block) {
  return volume_->scheme->link_removed(ours(operation), removal, std::move(directory_block));
}

VfsResult<void> TreeStore::settle_name(tree::Operation& operation, tree::CoreInode& inode) {
  return volume_->scheme->settle_name(ours(operation), core(inode));
}

VfsResult<void> TreeStore::fsync(tree::Operation& operation, tree::CoreInode& inode,
                                 tree::SyncExtent extent) {
  return volume_->scheme->fsync(ours(operation), core(inode), extent);
}

}  // namespace headcrash::ufs
