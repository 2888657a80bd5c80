// Addresses of file blocks, and copy-on-write (store.h).
#include <algorithm>
#include <cstring>
#include <optional>

#include "fs-adapters/snapfs/store.h"
#include "fs-adapters/substrate/tree/directory.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/invariant.h"
#include "plugin/base/little_endian.h"

namespace headcrash::snapfs {
using namespace little_endian;
namespace {

// Maximum number of new address blocks that one new block can require.
constexpr std::uint32_t kAboveMax = kIndirectLevels;

/// Checks that all blocks allocated by an operation during this object's lifetime were reserved by
/// make_room(). Does nothing if the operation has no reservation.
class RoomCheck {
 public:
  explicit RoomCheck(Operation& operation) : operation_(operation), before_(operation.allocated) {}
  ~RoomCheck() {
    if (operation_.room == 0) return;
    operation_.used_room += operation_.allocated - before_;
    invariant(operation_.used_room <= operation_.room,
              "snapfs: a write must not allocate more blocks than were reserved for it");
  }
  RoomCheck(const RoomCheck&) = delete;
  RoomCheck& operator=(const RoomCheck&) = delete;

 private:
  Operation& operation_;
  std::uint32_t before_;
};

}  // namespace

std::uint64_t Store::allocated_bytes(const tree::CoreInode& inode) const {
  return std::uint64_t{static_cast<const CoreInode&>(inode).disk.blocks} * s_.block_bytes;
}

std::size_t Store::bytes_in_core() const {
  std::size_t bytes = space_.bytes_in_core() + numbers_.bytes_in_core() + kept_.bytes_in_core() +
                      live_.size() / 8 + inodes_.size() * tree::kCoreInodeBytes +
                      open_->bytes_in_core();
  for (const Generation* const each : {closing_.get(), log_.changes.get()})
    if (each != nullptr) bytes += each->bytes_in_core();
  return bytes;
}

Store::Path Store::path_to(CoreInode& inode, std::uint64_t block) const {
  const PointerPath pointers = s_.path_to(block);
  Path path{.root = &inode.disk.pointers[pointers.root], .depth = pointers.depth};
  std::ranges::copy(pointers.slots, path.slots.begin());
  return path;
}

Store::Path Store::path_to(BlockAddress& root, const TreeShape& shape, std::uint32_t leaf) {
  Path path{.root = &root, .depth = shape.depth};
  for (std::uint32_t level = 0; level < shape.depth; ++level)
    path.slots[level] = shape.slot(leaf, level);
  return path;
}

VfsResult<os::HeldBuffer> Store::read_at(BlockAddress address, Kind kind) {
  if (!s_.holds(address)) return refuse(EIO);
  const auto content = kind == Kind::metadata ? os::Content::metadata : os::Content::data;
  auto buffer = cache.read(key_of(address), content, s_.lba_of(address), s_.block_bytes);
  if (!buffer) return refuse(EIO);
  return std::move(*buffer);
}

/// Returns a new buffer of zeroes.
os::HeldBuffer Store::new_at(BlockAddress address, Kind kind) {
  const auto content = kind == Kind::metadata ? os::Content::metadata : os::Content::data;
  os::HeldBuffer buffer = cache.get(key_of(address), content, s_.lba_of(address), s_.block_bytes);
  std::ranges::fill(buffer.bytes(), std::byte{0});
  return buffer;
}

VfsResult<BlockAddress> Store::follow(const Path& path) {
  BlockAddress at = *path.root;
  for (std::uint32_t level = 0; level < path.depth && at != 0; ++level) {
    TRY(const auto buffer, read_at(at, Kind::metadata));
    at = load32(buffer.bytes(), std::size_t{path.slots[level]} * kPointerBytes);
  }
  if (at != 0 && !s_.holds(at)) return refuse(EIO);
  return at;
}

/// Called if no block is free for a copy. Stops the store and returns an error. Space for copies
/// and their address blocks has been reserved (has_room()), so the map on the disk must be damaged.
tl::unexpected<Errno> Store::no_room_kept() {
  stop();
  return refuse(EIO);
}

std::optional<BlockAddress> Store::allocate(Generation& generation, BlockAddress near) {
  changes_.note();
  const auto address = space_.allocate(near);
  if (!address) return address;
  generation.freed.erase(*address);
  // If blocks are reused at once, an operation of the previous generation may get a block that the
  // open generation has just freed. The open generation must no longer mark that block as free.
  open_->freed.erase(*address);
  if (Operation* const operation = current_operation()) ++operation->allocated;
  generation.born.insert(*address);
  return address;
}

void Store::release(Generation& generation, BlockAddress address) {
  changes_.note();
  // The disk is damaged if the block is already free or is freed a second time by the same
  // generation.
  if (!s_.holds(address) || !space_.taken(address) || generation.freed.contains(address))
    return stop();
  const bool older_writes_it = closing_ && &generation != closing_.get() &&
                               closing_->outstanding.contains(address) && !options_.drops_in_flight;
  if (older_writes_it) {
    ++counters_.freed_in_flight;
  } else {
    if (cache.unwritten(key_of(address))) ++counters_.never_written;
    cache.discard(key_of(address));
    generation.outstanding.erase(address);
    if (closing_ && options_.drops_in_flight) closing_->outstanding.erase(address);
  }
  const bool only_here = generation.born.erase(address) != 0;
  if (!only_here || reuses_at_once()) generation.freed.insert(address);
  if (only_here || reuses_at_once()) space_.give_back(address);
}

void Store::set_dirty(Generation& generation, BlockAddress address, Kind kind) {
  changes_.note();
  cache.mark_dirty(key_of(address));
  if (kind == Kind::metadata || options_.data != DataMode::unordered)
    generation.outstanding.insert(address);
}

Store::Kind Store::kind_of(const CoreInode& inode) const {
  return inode.disk.holds_metadata() ? Kind::metadata : Kind::data;
}

bool Store::copies(Kind kind, BlockAddress address) const {
  if (!options_.copy_on_write) return false;
  if (kind == Kind::metadata || options_.data == DataMode::copy_on_write) return true;
  return !options_.writes_in_snapshots && (copies_all_data_ || kept_.held(address));
}

VfsResult<BlockAddress> Store::own(Generation& generation, BlockAddress address, Kind kind) {
  if (!copies(kind, address) || generation.born.contains(address)) {
    const auto buffer = read_at(address, kind);
    if (!buffer) return forward_errno(buffer);
    set_dirty(generation, address, kind);
    return address;
  }
  std::vector<std::byte> bytes;
  {
    TRY(const auto old, read_at(address, kind));
    cpu.charge(os::Cost::copy_per_kib, s_.block_bytes);
    bytes.assign(old.bytes().begin(), old.bytes().end());
  }
  const auto to = allocate(generation, address);
  if (!to) return no_room_kept();
  {
    const os::HeldBuffer copy = new_at(*to, kind);
    std::memcpy(copy.bytes().data(), bytes.data(), bytes.size());
    set_dirty(generation, *to, kind);
  }
  release(generation, address);
  ++counters_.blocks_copied;
  return *to;
}

VfsResult<void> Store::lead_to(Generation& generation, const Path& path, BlockAddress target,
                               std::uint32_t& made) {
  std::array<BlockAddress, 8> above = {};
  BlockAddress at = *path.root;
  for (std::uint32_t level = 0; level < path.depth; ++level) {
    above[level] = at;
    if (at == 0) continue;
    TRY(const auto buffer, read_at(at, Kind::metadata));
    at = load32(buffer.bytes(), std::size_t{path.slots[level]} * kPointerBytes);
  }
  for (std::uint32_t level = path.depth; level-- > 0;) {
    const BlockAddress before = above[level];
    BlockAddress now = 0;
    if (before == 0) {
      const auto fresh = allocate(generation, target);
      if (!fresh) return no_room_kept();
      now = *fresh;
      ++made;
      const os::HeldBuffer buffer = new_at(now, Kind::metadata);
      set_dirty(generation, now, Kind::metadata);
    } else {
      TRY(const auto owned, own(generation, before, Kind::metadata));
      now = owned;
    }
    TRY(const auto buffer, read_at(now, Kind::metadata));
    store32(buffer.bytes(), std::size_t{path.slots[level]} * kPointerBytes, target);
    set_dirty(generation, now, Kind::metadata);
    if (now == before) return {};
    target = now;
  }
  *path.root = target;
  return {};
}

VfsResult<os::HeldBuffer> Store::read_block(tree::CoreInode& tree_inode, std::int64_t block) {
  CoreInode& inode = core(tree_inode);
  if (static_cast<std::uint64_t>(block) >= s_.blocks_per_file_max()) return os::HeldBuffer{};
  TRY(const auto address, follow(path_to(inode, static_cast<std::uint64_t>(block))));
  if (address == 0) return os::HeldBuffer{};
  return read_at(address, kind_of(inode));
}

VfsResult<os::HeldBuffer> Store::block_to_change(tree::Operation& operation, tree::CoreInode& inode,
                                                 std::int64_t block) {
  return change_block(static_cast<Operation&>(operation), core(inode),
                      static_cast<std::uint64_t>(block), Room::checked);
}

VfsResult<os::HeldBuffer> Store::change_block(Operation& operation, CoreInode& inode,
                                              std::uint64_t block, Room room) {
  Generation& generation = generation_of(operation);
  const Kind kind = kind_of(inode);
  const Path path = path_to(inode, block);
  TRY(const auto address, follow(path));
  if (address == 0) return os::HeldBuffer{};
  if (room == Room::checked && operation.room == 0 && kind == Kind::data && copies(kind, address) &&
      !generation.born.contains(address) && !has_room(1 + kAboveMax))
    return refuse(ENOSPC);
  std::optional<RoomCheck> check;
  if (room == Room::checked) check.emplace(operation);
  TRY(const auto owned, own(generation, address, kind));
  if (owned != address) {
    std::uint32_t made = 0;
    if (auto led = lead_to(generation, path, owned, made); !led) return forward_errno(led);
    mark_changed(inode);
  }
  auto buffer = read_at(owned, kind);
  if (buffer) set_dirty(generation, owned, kind);
  return buffer;
}

/// Reserves space for a write. Without the reservation, a write to copy-on-write data could run out
/// of space halfway, and the generation would be committed with a part of the write. If there is
/// too little space, change() commits to reclaim space and repeats the operation.
VfsResult<void> Store::make_room(tree::Operation& tree_operation, tree::CoreInode& tree_inode,
                                 const tree::BytesToChange& change) {
  if (!options_.copy_on_write || options_.data != DataMode::copy_on_write || change.length == 0)
    return {};
  auto& operation = static_cast<Operation&>(tree_operation);
  CoreInode& inode = core(tree_inode);
  const Generation& generation = generation_of(operation);
  const std::uint64_t first = change.offset / s_.block_bytes;
  const std::uint64_t end = (change.offset + change.length + s_.block_bytes - 1) / s_.block_bytes;
  std::uint32_t blocks = 0;
  for (std::uint64_t block = first; block < std::min(end, s_.blocks_per_file_max()); ++block) {
    TRY(const auto address, follow(path_to(inode, block)));
    if (address == 0 ? change.fills_holes : !generation.born.contains(address)) ++blocks;
  }
  if (blocks == 0) return {};
  // Adds the address blocks on each level, plus two per level, because the first and the last
  // address block may be used only in part.
  blocks += kAboveMax * (blocks / s_.pointers_per_block() + 2);
  if (!has_room(blocks)) return refuse(ENOSPC);
  operation.room += blocks;
  room_made_ += blocks;
  return {};
}

VfsResult<os::HeldBuffer> Store::block_for_writing(tree::Operation& tree_operation,
                                                   tree::CoreInode& tree_inode,
                                                   const tree::BlockWanted& wanted) {
  CoreInode& inode = core(tree_inode);
  if (static_cast<std::uint64_t>(wanted.block) >= s_.blocks_per_file_max()) return refuse(EFBIG);
  const Path path = path_to(inode, static_cast<std::uint64_t>(wanted.block));
  TRY(const auto address, follow(path));
  const Kind kind = kind_of(inode);
  if (address != 0) {
    if (!wanted.overwritten || copies(kind, address))
      return block_to_change(tree_operation, inode, wanted.block);
    Generation& generation = generation_of(static_cast<Operation&>(tree_operation));
    auto buffer = cache.get(key_of(address), os::Content::data, s_.lba_of(address), s_.block_bytes);
    set_dirty(generation, address, kind);
    return buffer;
  }
  cpu.charge(os::Cost::allocation);
  auto& operation = static_cast<Operation&>(tree_operation);
  if (operation.room == 0 && !has_room(1 + kAboveMax)) return refuse(ENOSPC);
  const RoomCheck check(operation);
  Generation& generation = generation_of(operation);
  BlockAddress near = s_.first_block() + inode.number % 64;
  if (wanted.block > 0)
    if (const auto before = follow(path_to(inode, static_cast<std::uint64_t>(wanted.block - 1)));
        before && *before != 0)
      near = *before + 1;
  const auto fresh = allocate(generation, near);
  if (!fresh) return refuse(ENOSPC);
  {
    const os::HeldBuffer buffer = new_at(*fresh, kind);
    if (inode.attributes.is_directory()) tree::format_chunks(buffer.bytes());
    if (!wanted.first_contents.empty())
      std::memcpy(buffer.bytes().data(), wanted.first_contents.data(),
                  std::min(wanted.first_contents.size(), buffer.bytes().size()));
    set_dirty(generation, *fresh, kind);
  }
  std::uint32_t made = 1;
  if (auto led = lead_to(generation, path, *fresh, made); !led) return forward_errno(led);
  inode.disk.blocks += made;
  mark_changed(inode);
  return read_at(*fresh, kind);
}

/// Releases a buffer whose block is already marked dirty in its generation.
void Store::write_delayed(os::HeldBuffer buffer) {
  if (options_.writes_at_once)
    cache.write_async(std::move(buffer));
  else
    cache.write_delayed(std::move(buffer));
}

/// Frees those file blocks below `at` whose numbers are from `first` up to but not including `end`.
/// Returns true if no block is left below `at`.
VfsResult<bool> Store::free_below(Generation& generation, CoreInode& inode, BlockAddress& at,
                                  std::uint64_t start, std::uint32_t level, std::uint64_t first,
                                  std::uint64_t end) {
  if (at == 0) return true;
  if (level == 0) {
    release(generation, at);
    // The store stops if the block was free already, for example because several pointers refer to
    // it.
    if (stopped_) return refuse(EIO);
    inode.disk.blocks -= std::min(inode.disk.blocks, 1U);
    at = 0;
    return true;
  }
  const std::uint32_t p = s_.pointers_per_block();
  std::uint64_t each = 1;
  for (std::uint32_t i = 1; i < level; ++i) each *= p;
  std::vector<BlockAddress> pointers(p);
  {
    TRY(const auto buffer, read_at(at, Kind::metadata));
    for (std::uint32_t i = 0; i < p; ++i)
      pointers[i] = load32(buffer.bytes(), std::size_t{i} * kPointerBytes);
  }
  bool empty = true;
  bool changed = false;
  for (std::uint32_t i = 0; i < p; ++i) {
    const BlockAddress before = pointers[i];
    if (before == 0) continue;
    const std::uint64_t from = start + each * i;
    if (from < end && from + each > first) {
      const auto gone = free_below(generation, inode, pointers[i], from, level - 1, first, end);
      if (!gone) return gone;
    }
    changed = changed || pointers[i] != before;
    empty = empty && pointers[i] == 0;
  }
  if (empty) {
    release(generation, at);
    inode.disk.blocks -= std::min(inode.disk.blocks, 1U);
    at = 0;
    return true;
  }
  if (!changed) return false;
  TRY(const auto owned, own(generation, at, Kind::metadata));
  at = owned;
  TRY(const auto buffer, read_at(at, Kind::metadata));
  for (std::uint32_t i = 0; i < p; ++i)
    store32(buffer.bytes(), std::size_t{i} * kPointerBytes, pointers[i]);
  set_dirty(generation, at, Kind::metadata);
  return false;
}

VfsResult<void> Store::free_blocks(tree::Operation& tree_operation, tree::CoreInode& tree_inode,
                                   std::int64_t first, std::int64_t end) {
  CoreInode& inode = core(tree_inode);
  Generation& generation = generation_of(static_cast<Operation&>(tree_operation));
  const auto from = static_cast<std::uint64_t>(first), behind = static_cast<std::uint64_t>(end);
  std::uint64_t start = 0, span = 1;
  for (std::uint32_t i = 0; i < inode.disk.pointers.size(); ++i) {
    const std::uint32_t level = i < kDirectPointers ? 0 : i - kDirectPointers + 1;
    if (level > 0) span *= s_.pointers_per_block();
    if (start < behind && start + span > from)
      if (auto done =
              free_below(generation, inode, inode.disk.pointers[i], start, level, from, behind);
          !done)
        return forward_errno(done);
    start += span;
  }
  mark_changed(inode);
  if (stopped_) return refuse(EIO);
  return {};
}

VfsResult<void> Store::set_size(tree::Operation& operation, tree::CoreInode& tree_inode,
                                std::uint64_t size_bytes) {
  CoreInode& inode = core(tree_inode);
  if (size_bytes > s_.file_bytes_max()) return refuse(EFBIG);
  if (size_bytes < inode.disk.size_bytes) {
    const std::uint32_t tail = size_bytes % s_.block_bytes;
    if (tail != 0) {
      // The truncation may undo a write that ran out of space. The truncation must therefore not
      // require more space; the operation's reserve suffices for a copy of this block.
      TRY(const auto buffer, change_block(static_cast<Operation&>(operation), inode,
                                          size_bytes / s_.block_bytes, Room::kept_for_operation));
      if (buffer) std::fill(buffer.bytes().begin() + tail, buffer.bytes().end(), std::byte{0});
    }
    const std::uint64_t blocks = (size_bytes + s_.block_bytes - 1) / s_.block_bytes;
    TRY(free_blocks(operation, inode, static_cast<std::int64_t>(blocks),
                    static_cast<std::int64_t>(s_.blocks_per_file_max())));
  }
  (void)generation_of(static_cast<Operation&>(operation));
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

}  // namespace headcrash::snapfs
