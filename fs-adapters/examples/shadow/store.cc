// The in-memory inodes and blocks (store.h).
#include "fs-adapters/examples/shadow/store.h"

#include <algorithm>
#include <cerrno>

#include "fs-adapters/substrate/tree/directory.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/invariant.h"

namespace headcrash::shadow {
namespace {

// The store stops if blocks whose last write failed take more than 1/kShareOfFailures of the cache.
constexpr std::uint64_t kShareOfFailures = 4;

}  // namespace

std::uint32_t Store::symlink_bytes_max() const {
  return std::min<std::uint32_t>(geometry_.block_bytes, tree::kPathBytesMax);
}

std::uint64_t Store::allocated_bytes(const tree::CoreInode& inode) const {
  return static_cast<const CoreInode&>(inode).record.blocks.size() * geometry_.block_bytes;
}

std::size_t Store::bytes_in_core() const {
  constexpr std::size_t kBlockBytes = 32;  // estimated memory for each block
  return inodes_.size() * tree::kCoreInodeBytes + (geometry_.blocks - free_) * kBlockBytes +
         use_.size();
}

// ---- operations

VfsResult<void> Store::change(const std::function<VfsResult<void>(tree::Operation&)>& body) {
  const tree::FiberLockGuard lock(operation_lock_);
  if (cache.failed_bytes() > cache.size_bytes() / kShareOfFailures) stopped_ = true;
  if (stopped_) return refuse(EIO);
  if (free_ < kOperationBlocks) TRY(commit(Clean::no));
  const std::uint64_t changes = changes_;
  tree::Operation operation;
  auto result = body(operation);
  // The operation has failed halfway, but it has changed only memory. All writes stop, so that the
  // disk keeps the previous state.
  if (!result && result.error().value == EIO && !operation.sync_failed && changes_ != changes)
    stopped_ = true;
  schedule_commit();
  return result;
}

// ---- inodes

VfsResult<tree::InodeHandle> Store::get(InodeNumber number, tree::Operation* operation) {
  const auto found = inodes_.find(number);
  if (found == inodes_.end()) return refuse(EIO);
  return share(*found->second, operation);
}

tree::InodeHandle Store::share(tree::CoreInode& inode, tree::Operation* operation) {
  ++inode.references;
  return {*this, inode, operation};
}

VfsResult<tree::InodeHandle> Store::make(tree::Operation& operation, tree::CoreInode&, bool) {
  if (inodes_.size() >= geometry_.inodes) return refuse(ENOSPC);
  do {
    last_number_ = last_number_ - kRootInode + 1 < geometry_.inodes ? last_number_ + 1 : kRootInode;
  } while (inodes_.contains(last_number_));
  Record record{.number = last_number_};
  record.attributes.generation = next_generation_++;
  auto& inode = inodes_[last_number_];
  inode = std::make_unique<CoreInode>(executor, std::move(record));
  ++changes_;
  return share(*inode, &operation);
}

/// Releases a reference to an inode. If this was the last reference and the inode has no links,
/// removes the inode. No table contains such an inode, so nothing is written and no commit is
/// needed.
void Store::put(tree::CoreInode& tree_inode, tree::Operation*) {
  CoreInode& inode = core(tree_inode);
  if (--inode.references != 0 || inode.attributes.links != 0) return;
  for (const auto& [block, address] : inode.record.blocks) release(address);
  cache.discard_object(inode.number);
  inodes_.erase(inode.number);
}

// ---- blocks

BlockAddress Store::allocate() {
  invariant(free_ > 0, "shadow: there must be a free block for every reservation");
  while (use_[lowest_free_] != Use::free) ++lowest_free_;
  use_[lowest_free_] = Use::fresh;
  fresh_.push_back(lowest_free_);
  --free_;
  ++changes_;
  return lowest_free_;
}

void Store::release(BlockAddress address) {
  ++changes_;
  if (use_[address] == Use::committed && options_.keep_freed) {
    use_[address] = Use::freed;
    freed_.push_back(address);
    return;
  }
  make_free(address);
}

void Store::make_free(BlockAddress address) {
  use_[address] = Use::free;
  lowest_free_ = std::min(lowest_free_, address);
  ++free_;
}

VfsResult<os::HeldBuffer> Store::read_block(tree::CoreInode& inode, std::int64_t block) {
  const auto& blocks = core(inode).record.blocks;
  const auto found = blocks.find(block);
  if (found == blocks.end()) return os::HeldBuffer();
  auto buffer = cache.read(key(inode, block), os::Content::data, geometry_.lba_of(found->second),
                           geometry_.block_bytes);
  if (!buffer) return refuse(EIO);
  return std::move(*buffer);
}

VfsResult<os::HeldBuffer> Store::block_for_writing(tree::Operation&, tree::CoreInode& inode,
                                                   const tree::BlockWanted& wanted) {
  // A long write may need more blocks than are reserved for an operation, so it may have to commit
  // before it is complete. After a power cut, the file may then be partly written. Name changes
  // must stay atomic, but they never need more blocks than are reserved.
  if (inode.attributes.is_regular() && free_ < kOperationBlocks)
    if (auto done = commit(Clean::no); !done) return forward_errno(done);
  auto& blocks = core(inode).record.blocks;
  const auto found = blocks.find(wanted.block);
  if (found != blocks.end() && !wanted.overwritten) return read_block(inode, wanted.block);
  if (found != blocks.end())
    return cache.get(key(inode, wanted.block), os::Content::data, geometry_.lba_of(found->second),
                     geometry_.block_bytes);
  if (!may_grow()) return refuse(ENOSPC);
  const BlockAddress address = allocate();
  blocks.emplace(wanted.block, address);
  auto buffer = cache.get(key(inode, wanted.block), os::Content::data, geometry_.lba_of(address),
                          geometry_.block_bytes);
  std::ranges::fill(buffer.bytes(), std::byte{0});
  if (inode.attributes.is_directory()) tree::format_chunks(buffer.bytes());
  std::ranges::copy(wanted.first_contents, buffer.bytes().begin());
  cache.write_delayed(std::move(buffer));
  return read_block(inode, wanted.block);
}

/// Marks a block dirty. If the block is committed, first moves it to a newly allocated address; no
/// other function moves blocks.
void Store::write_delayed(os::HeldBuffer buffer) {
  const os::BufferKey key = buffer.key();
  BlockAddress& address = inodes_.at(key.object)->record.blocks.at(key.block);
  ++changes_;
  if (use_[address] == Use::fresh) return cache.write_delayed(std::move(buffer));
  release(address);
  address = allocate();
  cache.moved(std::move(buffer), geometry_.lba_of(address));
  invariant(cache.mark_dirty(key), "shadow: a buffer must stay cached until it is written");
}

VfsResult<void> Store::free_blocks(tree::Operation&, tree::CoreInode& inode, std::int64_t first,
                                   std::int64_t end) {
  auto& blocks = core(inode).record.blocks;
  for (auto at = blocks.lower_bound(first); at != blocks.end() && at->first < end;) {
    release(at->second);
    cache.discard(key(inode, at->first));
    at = blocks.erase(at);
  }
  return {};
}

VfsResult<void> Store::set_size(tree::Operation& operation, tree::CoreInode& inode,
                                std::uint64_t size_bytes) {
  const auto last = static_cast<std::int64_t>(size_bytes / geometry_.block_bytes);
  const std::uint64_t kept = size_bytes % geometry_.block_bytes;
  if (kept != 0 && size_bytes < inode.attributes.size_bytes) {
    TRY(auto buffer, read_block(inode, last));
    if (buffer) {
      std::ranges::fill(buffer.bytes().subspan(kept), std::byte{0});
      write_delayed(std::move(buffer));
    }
  }
  inode.attributes.size_bytes = size_bytes;
  ++changes_;
  return free_blocks(operation, inode, last + (kept != 0 ? 1 : 0), INT64_MAX);
}

/// Adds a block of empty chunks to the directory.
VfsResult<std::int64_t> Store::grow_directory(tree::Operation& operation,
                                              tree::CoreInode& directory) {
  const auto block =
      static_cast<std::int64_t>(directory.attributes.size_bytes / geometry_.block_bytes);
  const auto buffer =
      block_for_writing(operation, directory, {.block = block, .bytes = geometry_.block_bytes});
  if (!buffer) return forward_errno(buffer);
  directory.attributes.size_bytes += geometry_.block_bytes;
  tree::touch_directory(*this, directory);
  return block;
}

// ---- names: a commit contains whole operations, so no write has to wait for another

VfsResult<void> Store::link_added(tree::Operation&, const tree::LinkAddition& addition,
                                  os::HeldBuffer directory_block) {
  write_delayed(std::move(directory_block));
  drop_link(addition.replaced);
  return {};
}

VfsResult<void> Store::link_removed(tree::Operation&, const tree::LinkRemoval& removal,
                                    os::HeldBuffer directory_block) {
  write_delayed(std::move(directory_block));
  drop_link(removal.dropped);
  return {};
}

VfsResult<void> Store::fsync(tree::Operation&, tree::CoreInode&, tree::SyncExtent) {
  return commit(Clean::no);
}

Space Store::space() const {
  Space space{.free_blocks = geometry_.blocks, .free_inodes = geometry_.inodes};
  for (const auto& [number, inode] : inodes_) {
    if (inode->attributes.links == 0) continue;
    space.free_blocks -= inode->record.blocks.size();
    --space.free_inodes;
  }
  return space;
}

}  // namespace headcrash::shadow
