// Finds and assigns the log addresses of file blocks (store.h).
#include <algorithm>
#include <cstring>

#include "fs-adapters/lfs/store.h"
#include "fs-adapters/substrate/tree/directory.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/little_endian.h"

namespace headcrash::lfs {
using namespace little_endian;

namespace {
// Space, in blocks, for the index blocks and inodes that a new block makes dirty.
constexpr std::uint32_t kMarginBlocks = 8;
}  // namespace

std::uint64_t Store::allocated_bytes(const tree::CoreInode& inode) const {
  const auto& own = static_cast<const CoreInode&>(inode);
  return std::uint64_t{own.disk.sectors} * kSectorBytes + own.unplaced.size() * s_.block_bytes;
}

/// Returns the estimated memory for in-core structures. Of the inode map, counts only the blocks
/// that are in the log. Counts the usage table twice, because the store has two copies of it.
std::size_t Store::bytes_in_core() const {
  // Estimated memory for each entry of CoreInode::dirty.
  constexpr std::size_t kDirtyBlockBytes = 32;
  return std::size_t{map_blocks_in_log_} * s_.block_bytes + taken_.size() / 8 +
         2 * usage_.size() * kUsageEntryBytes + inodes_.size() * tree::kCoreInodeBytes +
         dirty_bytes_ / s_.block_bytes * kDirtyBlockBytes + records_.size();
}

/// Returns the maximum amount of live data on the disk. The cleaner needs the rest of the space.
std::uint64_t Store::capacity_bytes() const {
  // Space lost in each segment: its summaries, and the unusable space at its end.
  const std::uint64_t overhead =
      s_.segment_bytes() / s_.block_bytes * kSummaryEntryBytes + 2 * s_.block_bytes;
  return (s_.segments - s_.reserve_segments) * (s_.segment_bytes() - overhead);
}

/// Returns true if `bytes` fit on the disk and also fit in the log before the next cleaning pass.
bool Store::has_room(std::uint64_t bytes) const {
  if (recovering_) return true;
  const std::uint64_t wanted = bytes + std::uint64_t{kMarginBlocks} * s_.block_bytes;
  // The last clean segments are reserved for removals and for the cleaner. Otherwise, it might be
  // impossible to free space.
  return live_bytes_ + dirty_bytes_ + wanted <= capacity_bytes() &&
         dirty_bytes_ + wanted + overhead_bytes() + pass_room_bytes() <= log_room_bytes();
}

void Store::mark_dirty(CoreInode& inode, BlockId block) {
  changes_.note();
  if (inode.dirty.insert(block).second) dirty_bytes_ += s_.block_bytes;
  if (to_write_.insert(inode.number).second) inode.dirty_since = executor.now();
  cache.mark_dirty(key_of(inode, block));
  want_tick();
}

VfsResult<void> Store::mark_index_dirty(CoreInode& inode, BlockId block) {
  for (PointerPlace place = s_.pointer_place(block); !place.in_inode;
       place = s_.pointer_place(place.parent)) {
    if (inode.dirty.contains(place.parent)) continue;
    const auto buffer = index_block(inode, place.parent, true);
    if (!buffer) return forward_errno(buffer);
    mark_dirty(inode, place.parent);
  }
  return {};
}

/// Returns the buffer of the block at this log address, or an empty buffer if the address is 0.
VfsResult<os::HeldBuffer> Store::read_at(CoreInode& inode, BlockId block, SectorAddress address) {
  const os::BufferKey key = key_of(inode, block);
  if (auto buffer = cache.cached(key)) return buffer;
  if (address == 0) return os::HeldBuffer{};
  const std::uint32_t bytes = s_.stored_bytes(inode.placed_size, block);
  if (!s_.holds(address, bytes / kSectorBytes)) return refuse(EIO);
  auto buffer = cache.read(key, os::Content::data, address, bytes);
  if (!buffer) return refuse(EIO);
  return std::move(*buffer);
}

VfsResult<os::HeldBuffer> Store::index_block(CoreInode& inode, BlockId block, bool make) {
  TRY(const auto address, address_of(inode, block));
  auto buffer = read_at(inode, block, address);
  if (!buffer || *buffer || !make) return buffer;
  os::HeldBuffer made = cache.get(key_of(inode, block), os::Content::data, 0, s_.block_bytes);
  mark_dirty(inode, block);
  return made;
}

VfsResult<SectorAddress> Store::address_of(CoreInode& inode, BlockId block) {
  const PointerPlace place = s_.pointer_place(block);
  if (place.in_inode) return inode.disk.pointers[place.slot];
  TRY(const auto parent, index_block(inode, place.parent, false));
  if (!parent) return SectorAddress{0};
  return load32(parent.bytes(), std::size_t{place.slot} * kPointerBytes);
}

VfsResult<void> Store::set_address(CoreInode& inode, BlockId block, SectorAddress address) {
  const PointerPlace place = s_.pointer_place(block);
  if (place.in_inode) {
    inode.disk.pointers[place.slot] = address;
    mark_changed(inode);
    return {};
  }
  TRY(const auto parent, index_block(inode, place.parent, true));
  store32(parent.bytes(), std::size_t{place.slot} * kPointerBytes, address);
  mark_dirty(inode, place.parent);
  return {};
}

/// Returns the length of a block's buffer. In a directory, the buffer has only the bytes up to the
/// end of the directory, or `at_least` if that is more.
std::uint32_t Store::buffer_bytes(const CoreInode& inode, BlockId block,
                                  std::uint32_t at_least) const {
  if (!inode.attributes.is_directory() || block.level != 0) return s_.block_bytes;
  const std::uint64_t start = std::uint64_t{block.index} * s_.block_bytes;
  const std::uint64_t left = inode.disk.size_bytes - std::min(inode.disk.size_bytes, start);
  const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, s_.block_bytes));
  return (std::max(bytes, at_least) + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
}

/// Returns the buffer, resized to `bytes`; added bytes are zero. In the log, the last block of a
/// small file may be shorter than a full block.
os::HeldBuffer Store::resized(os::HeldBuffer buffer, std::uint32_t bytes) {
  if (buffer.bytes().size() == bytes) return buffer;
  const os::BufferKey key = buffer.key();
  const std::uint64_t home = buffer.lba();
  // The content is copied, because the buffer may be evicted once it is released.
  std::vector<std::byte> kept(buffer.bytes().begin(), buffer.bytes().end());
  kept.resize(bytes);
  cache.release(std::move(buffer));
  os::HeldBuffer again = cache.get(key, os::Content::data, home, bytes);
  std::memcpy(again.bytes().data(), kept.data(), bytes);
  return again;
}

/// If reads are sequential and the next block follows this block in the log, requests both. If the
/// next block is elsewhere, does not read ahead: the block may not be needed, and the seek would
/// cost more than is saved on average.
void Store::read_ahead(CoreInode& inode, BlockId id) {
  const bool sequential = inode.next_sequential == id.index;
  inode.next_sequential = std::int64_t{id.index} + 1;
  const BlockId next{0, id.index + 1};
  if (!sequential || std::uint64_t{next.index} * s_.block_bytes >= inode.placed_size) return;
  const auto here = address_of(inode, id), there = address_of(inode, next);
  if (!here || !there || *here == 0 || *there != *here + s_.block_sectors()) return;
  for (const auto& [one, address] : {std::pair{id, *here}, std::pair{next, *there}}) {
    const std::uint32_t bytes = s_.stored_bytes(inode.placed_size, one);
    if (!s_.holds(address, bytes / kSectorBytes)) return;
    cache.read_ahead(key_of(inode, one), os::Content::data, address, bytes);
  }
}

/// Returns the block from the cache or the log; empty for a hole.
VfsResult<os::HeldBuffer> Store::placed_block(CoreInode& inode, BlockId id) {
  TRY(const auto address, address_of(inode, id));
  return read_at(inode, id, address);
}

VfsResult<os::HeldBuffer> Store::read_block(tree::CoreInode& tree_inode, std::int64_t block) {
  CoreInode& inode = core(tree_inode);
  const BlockId id{0, static_cast<std::uint32_t>(block)};
  if (static_cast<std::uint64_t>(block) >= s_.blocks_per_file_max()) return os::HeldBuffer{};
  if (!recovering_) read_ahead(inode, id);
  auto buffer = placed_block(inode, id);
  if (!buffer || !*buffer) return buffer;
  return resized(std::move(*buffer), buffer_bytes(inode, id, kSectorBytes));
}

VfsResult<os::HeldBuffer> Store::block_for_writing(tree::Operation& operation,
                                                   tree::CoreInode& tree_inode,
                                                   const tree::BlockWanted& wanted) {
  CoreInode& inode = core(tree_inode);
  const BlockId id{0, static_cast<std::uint32_t>(wanted.block)};
  if (static_cast<std::uint64_t>(wanted.block) >= s_.blocks_per_file_max()) return refuse(EFBIG);
  if (!inode.dirty.contains(id)) {
    const bool may_flush = !recovering_ && !static_cast<Operation&>(operation).compound;
    if (may_flush && dirty_bytes_ > cache.size_bytes() / 2)
      if (auto flushed = flush({&inode}); !flushed) return forward_errno(flushed);
    if (!has_room(s_.block_bytes)) return refuse(ENOSPC);
  }
  const std::uint32_t bytes = buffer_bytes(inode, id, wanted.bytes);
  VfsResult<os::HeldBuffer> buffer = os::HeldBuffer{};
  TRY(const auto address, wanted.overwritten ? address_of(inode, id) : SectorAddress{0});
  if (address != 0)
    *buffer = cache.get(key_of(inode, id), os::Content::data, address, bytes);
  else if (buffer = placed_block(inode, id); !buffer)
    return buffer;
  if (*buffer) {
    *buffer = resized(std::move(*buffer), bytes);
  } else {
    *buffer = cache.get(key_of(inode, id), os::Content::data, 0, bytes);
    inode.unplaced.insert(id);
    if (inode.attributes.is_directory()) tree::format_chunks(buffer->bytes());
    if (!wanted.first_contents.empty())
      std::memcpy(buffer->bytes().data(), wanted.first_contents.data(),
                  std::min(wanted.first_contents.size(), buffer->bytes().size()));
  }
  mark_dirty(inode, id);
  if (auto marked = mark_index_dirty(inode, id); !marked) return forward_errno(marked);
  return buffer;
}

void Store::write_delayed(os::HeldBuffer buffer) {
  const os::BufferKey key = buffer.key();
  tree::TableInode* const inode = inodes_.find(static_cast<InodeNumber>(key.object));
  cache.write_delayed(std::move(buffer));
  if (inode != nullptr) mark_dirty(core(*inode), BlockId::of_key(key.block));
}

/// Replaces a block by a hole. The block must be dirty or have an address.
VfsResult<void> Store::free_block(CoreInode& inode, BlockId block) {
  TRY(const auto address, address_of(inode, block));
  if (address != 0) {
    const std::uint32_t bytes = s_.stored_bytes(inode.placed_size, block);
    drop_live(address, bytes);
    inode.disk.sectors -= std::min(inode.disk.sectors, bytes / kSectorBytes);
    TRY(set_address(inode, block, 0));
  }
  if (inode.dirty.erase(block) != 0) dirty_bytes_ -= s_.block_bytes;
  inode.unplaced.erase(block);
  cache.discard(key_of(inode, block));
  changes_.note();
  return {};
}

/// Frees the data blocks below the index block, from number `first` up to but not including `end`.
/// Sets `empty` if the index block has no pointers left.
VfsResult<void> Store::free_below(CoreInode& inode, BlockId index, std::uint64_t first,
                                  std::uint64_t end, tree::BlockBudget& budget, bool& empty) {
  if (!budget.take()) return refuse(EIO);
  const std::uint32_t p = s_.pointers_per_block();
  std::vector<SectorAddress> pointers(p);
  {
    TRY(const auto buffer, index_block(inode, index, false));
    if (buffer)
      for (std::uint32_t i = 0; i < p; ++i)
        pointers[i] = load32(buffer.bytes(), std::size_t{i} * kPointerBytes);
  }
  const auto level = static_cast<std::uint8_t>(index.level - 1);
  const std::uint64_t base = std::uint64_t{index.index} * p + (level == 0 ? kDirectPointers : 1U);
  // Computes `each`, the number of data blocks below one pointer, and `start`, the first data block
  // below the index block.
  std::uint64_t each = 1;
  for (std::uint8_t i = 0; i < level; ++i) each *= p;
  std::uint64_t start = base;
  for (std::uint8_t above = level; above > 0; --above)
    start = (start)*p + (above == 1 ? kDirectPointers : 1U);
  empty = true;
  for (std::uint32_t i = 0; i < p; ++i) {
    const BlockId child{level, static_cast<std::uint32_t>(base + i)};
    if (base + i >= s_.blocks_of_level(level)) break;
    const bool there = pointers[i] != 0 || inode.dirty.contains(child);
    if (!there) continue;
    const std::uint64_t from = start + each * i;
    if (from >= end || from + each <= first) {
      empty = false;
      continue;
    }
    bool child_empty = true;
    if (level != 0) TRY(free_below(inode, child, first, end, budget, child_empty));
    if (!child_empty) {
      empty = false;
      continue;
    }
    TRY(free_block(inode, child));
  }
  return {};
}

VfsResult<void> Store::free_blocks(tree::Operation&, tree::CoreInode& tree_inode,
                                   std::int64_t first, std::int64_t end) {
  CoreInode& inode = core(tree_inode);
  for (std::uint32_t i = 0; i < kDirectPointers; ++i) {
    const BlockId block{0, i};
    if (i < first || i >= end || (inode.disk.pointers[i] == 0 && !inode.dirty.contains(block)))
      continue;
    TRY(free_block(inode, block));
  }
  tree::BlockBudget budget(s_.log_sectors());  // ends the walk if damaged pointers form a cycle
  for (std::uint8_t level = 1; level <= 3; ++level) {
    const BlockId index{level, 0};
    if (inode.disk.pointers[kDirectPointers + level - 1U] == 0 && !inode.dirty.contains(index))
      continue;
    bool empty = true;
    TRY(free_below(inode, index, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end),
                   budget, empty));
    if (!empty) continue;
    TRY(free_block(inode, index));
  }
  mark_changed(inode);
  return {};
}

VfsResult<void> Store::set_size(tree::Operation& operation, tree::CoreInode& tree_inode,
                                std::uint64_t size_bytes) {
  CoreInode& inode = core(tree_inode);
  if (size_bytes > s_.file_bytes_max()) return refuse(EFBIG);
  const std::uint64_t old = inode.disk.size_bytes;
  if (size_bytes < old) {
    const std::uint64_t blocks = (size_bytes + s_.block_bytes - 1) / s_.block_bytes;
    TRY(free_blocks(operation, inode, static_cast<std::int64_t>(blocks),
                    static_cast<std::int64_t>(s_.blocks_per_file_max())));
    const std::uint32_t tail = size_bytes % s_.block_bytes;
    if (tail != 0) {
      const auto block = static_cast<std::int64_t>(size_bytes / s_.block_bytes);
      TRY(auto buffer, read_block(inode, block));
      if (buffer) {
        if (buffer.bytes().size() > tail)
          std::fill(buffer.bytes().begin() + tail, buffer.bytes().end(), std::byte{0});
        mark_dirty(inode, {0, static_cast<std::uint32_t>(block)});
      }
    }
    // A new version lets the cleaner recognise, without reading the inode, that the file's old
    // blocks are dead.
    if (size_bytes == 0) {
      if (keeps(Rule::versions_rise)) ++map_[inode.number].version;
      dirty_map_blocks_.insert(inode.number / s_.map_entries_per_block());
    }
  }
  inode.disk.size_bytes = size_bytes;
  mark_changed(inode);
  return {};
}

VfsResult<std::int64_t> Store::grow_directory(tree::Operation& operation,
                                              tree::CoreInode& directory) {
  const std::uint64_t size = directory.attributes.size_bytes;
  const auto block = static_cast<std::int64_t>(size / s_.block_bytes);
  const std::uint64_t within = size % s_.block_bytes;
  TRY(const auto buffer,
      block_for_writing(
          operation, directory,
          {.block = block, .bytes = static_cast<std::uint32_t>(within + tree::kChunkBytes)}));
  tree::format_chunks(buffer.bytes().subspan(within, tree::kChunkBytes));
  directory.attributes.size_bytes = size + tree::kChunkBytes;
  tree::touch_directory(*this, directory);
  return block;
}

VfsResult<void> Store::write_target(tree::Operation& operation, tree::CoreInode& link,
                                    std::string_view target) {
  core(link).target = target;
  return InodeStore::write_target(operation, link, target);
}

}  // namespace headcrash::lfs
