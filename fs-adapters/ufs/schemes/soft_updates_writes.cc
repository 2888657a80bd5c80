// Soft updates (soft_updates.h): undoes changes in the bytes of a write, and satisfies dependencies
// when the write is complete.

#include <algorithm>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/schemes/soft_updates.h"
#include "plugin/base/invariant.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

template <typename Note>
void carry(Note& note, std::uint64_t number) {
  if (note.carried == 0) note.carried = number;
}

template <typename Note>
bool arrived(const Note& note, std::uint64_t completed) {
  return note.carried != 0 && note.carried <= completed;
}

}  // namespace

/// Returns the bytes in which changes are undone: a copy that is sent instead of the buffer's
/// bytes.
std::span<std::byte> SoftUpdates::undoing(os::Outgoing& write) {
  if (write.source.data() != sent_.data()) {
    sent_.assign(write.bytes.begin(), write.bytes.end());
    write.source = sent_;
  }
  volume_.cpu.interrupt(os::Cost::dependency);
  return sent_;
}

/// If the key is that of an inode block, returns the block's first inode.
std::optional<InodeNumber> SoftUpdates::first_inode_in(const os::BufferKey& key) const {
  if (key.object != 0 || key.block < 0) return std::nullopt;
  const Geometry& geometry = volume_.geometry;
  const auto at = static_cast<FragmentAddress>(key.block);
  const std::uint32_t group = geometry.group_of_fragment(at);
  const FragmentAddress table = geometry.inode_table(group);
  if (at < table || at >= geometry.data_start(group)) return std::nullopt;
  return group * geometry.inodes_per_group() +
         (at - table) / geometry.fragments_per_block() * geometry.inodes_per_block();
}

bool SoftUpdates::undo_inode(os::Outgoing& write, InodeNumber inode,
                             InodeDependencies& dependencies, WriteNumber number) {
  const auto good = [](const AllocDirect& one) { return one.initialised && one.staged; };
  bool undone = false;
  std::uint64_t size_bytes = std::numeric_limits<std::uint64_t>::max();
  for (const AllocDirect& one : dependencies.allocations)
    if (!good(one)) size_bytes = std::min(size_bytes, one.old_size_bytes);
  for (const GrownSize& one : dependencies.sizes)
    if (!one.waits_for.empty() || !one.staged)
      size_bytes = std::min(size_bytes, one.old_size_bytes);
  const std::uint64_t block_bytes = volume_.geometry.block_bytes();
  const std::size_t offset = volume_.geometry.place_of(inode).offset;
  for (AllocDirect& one : dependencies.allocations) {
    // Pointers to blocks beyond the permitted size must be cleared, even if they are valid.
    const bool behind = static_cast<std::uint64_t>(one.block) * block_bytes >= size_bytes;
    if (good(one) && !behind) {
      carry(one, number);
      continue;
    }
    if (!one.ever_staged) continue;
    undone = true;
    ++counters_.undone_inodes;
    const auto bytes = undoing(write).subspan(offset, kInodeBytes);
    store32(bytes, kInodeDirectOffset + std::size_t{one.slot} * 4, one.old_at);
    const std::uint32_t spare =
        (one.fragments - one.old_fragments) * volume_.geometry.sectors_per_fragment();
    const std::uint32_t sectors = load32(bytes, kInodeSectorsOffset);
    store32(bytes, kInodeSectorsOffset, sectors - std::min(sectors, spare));
    store64(bytes, kInodeSizeOffset, std::min(load64(bytes, kInodeSizeOffset), size_bytes));
  }
  for (GrownSize& one : dependencies.sizes) {
    if (one.old_size_bytes < size_bytes) {
      carry(one, number);
    } else if (one.ever_staged) {
      undone = true;
      ++counters_.undone_inodes;
      const auto bytes = undoing(write).subspan(offset, kInodeBytes);
      store64(bytes, kInodeSizeOffset, std::min(load64(bytes, kInodeSizeOffset), size_bytes));
    }
  }
  // Hide a new directory until its first block has been written. This is safe, because nothing on
  // the disk refers to the directory yet.
  const std::uint16_t mode = load16(write.bytes, offset + kInodeModeOffset);
  const bool hidden =
      undone && (mode & kTypeMask) == kTypeDirectory && never_written_.contains(inode);
  if (hidden) {
    const auto bytes = undoing(write).subspan(offset, kInodeBytes);
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
  for (AddSafe& one : dependencies.adds)
    if (one.staged && !hidden && (!one.whole || !undone)) carry(one, number);
  for (FreeBlocks& one : dependencies.frees)
    if (one.staged) carry(one, number);
  if (dependencies.free_file && dependencies.free_file->staged)
    carry(*dependencies.free_file, number);
  return undone;
}

bool SoftUpdates::undo_inodes(os::Outgoing& write, InodeNumber first, WriteNumber number) {
  bool undone = false;
  const InodeNumber end = first + volume_.geometry.inodes_per_block();
  for (auto at = inodes_.lower_bound(first); at != inodes_.end() && at->first < end; ++at)
    undone = undo_inode(write, at->first, at->second, number) || undone;
  if (!never_written_.empty())
    for (InodeNumber inode = first; inode < end; ++inode) {
      const std::size_t offset = volume_.geometry.place_of(inode).offset;
      if (load16(write.source, offset + kInodeModeOffset) != 0) never_written_.erase(inode);
    }
  return undone;
}

bool SoftUpdates::undo_adds(os::Outgoing& write, BlockDependencies& dependencies,
                            WriteNumber number) {
  bool undone = false;
  for (const AddId id : dependencies.adds) {
    Add& add = adds_.at(id);
    // If the entry has been removed, any completed write of the block satisfies the entry's
    // dependency.
    if (add.entry_gone || add.waits_for == 0) {
      carry(add, number);
      add.sent = true;
      continue;
    }
    undone = true;
    ++counters_.undone_entries;
    const auto bytes = undoing(write);
    store32(bytes, add.offset + tree::kEntryInodeOffset, add.previous);
    if (add.previous != 0) store8(bytes, add.offset + tree::kEntryTypeOffset, add.previous_type);
  }
  return undone;
}

bool SoftUpdates::undo_indirect(os::Outgoing& write, BlockDependencies& dependencies) {
  if (dependencies.indirect->allocations.empty()) {
    dependencies.indirect.reset();
    return false;
  }
  ++counters_.undone_indirects;
  const auto bytes = undoing(write);
  std::copy(dependencies.indirect->safe.begin(), dependencies.indirect->safe.end(), bytes.begin());
  return true;
}

bool SoftUpdates::shows_inodes(const os::Outgoing& write, InodeNumber first) const {
  const InodeNumber end = first + volume_.geometry.inodes_per_block();
  for (auto at = inodes_.lower_bound(first); at != inodes_.end() && at->first < end; ++at) {
    const std::size_t direct = volume_.geometry.place_of(at->first).offset + kInodeDirectOffset;
    for (const AllocDirect& one : at->second.allocations)
      if (one.staged && load32(write.bytes, direct + std::size_t{one.slot} * 4) != one.at)
        return false;
  }
  return true;
}

bool SoftUpdates::contains_recorded_changes(const os::Outgoing& write,
                                            const BlockDependencies& dependencies) const {
  if (const auto first = first_inode_in(write.key); first && !shows_inodes(write, *first))
    return false;
  if (dependencies.indirect)
    for (const AllocIndirect& one : dependencies.indirect->allocations)
      if (load32(write.bytes, std::size_t{one.slot} * 4) != one.at ||
          load32(dependencies.indirect->safe, std::size_t{one.slot} * 4) != 0)
        return false;
  return std::ranges::all_of(dependencies.adds, [&](AddId id) {
    const Add& add = adds_.at(id);
    return add.entry_gone || add.waits_for == 0 ||
           load32(write.bytes, add.offset + tree::kEntryInodeOffset) == add.inode;
  });
}

bool SoftUpdates::before_write(os::Outgoing& write) {
  if (!Scheme::before_write(write)) return false;
  BlockDependencies& dependencies = blocks_[write.key];
  if (!contains_recorded_changes(write, dependencies)) {
    volume_.stop();
    return false;
  }
  const WriteNumber number = ++dependencies.issued;
  bool undone = false;
  if (const auto first = first_inode_in(write.key)) undone = undo_inodes(write, *first, number);
  if (dependencies.indirect) undone = undo_indirect(write, dependencies) || undone;
  if (!dependencies.adds.empty()) undone = undo_adds(write, dependencies, number) || undone;
  if (dependencies.allocation) carry(*dependencies.allocation, number);
  for (Remove& one : dependencies.removes) carry(one, number);
  for (FreeBlocks& one : dependencies.frees) carry(one, number);
  if (!undone)
    for (SizeSafe& one : dependencies.sizes) carry(one, number);
  dependencies.undone.push_back(undone);
  return true;
}

void SoftUpdates::satisfied(const AllocSafe& allocation) {
  if (allocation.holder == 0) {
    const auto dependencies = inodes_.find(allocation.inode);
    if (dependencies == inodes_.end()) return;
    for (AllocDirect& one : dependencies->second.allocations)
      if (one.slot == allocation.slot) one.initialised = true;
    return;
  }
  const auto holder = blocks_.find(Volume::place(allocation.holder));
  if (holder == blocks_.end() || !holder->second.indirect) return;
  IndirectDependencies& indirect = *holder->second.indirect;
  std::erase_if(indirect.allocations, [&](const AllocIndirect& one) {
    if (one.slot != allocation.slot) return false;
    store32(indirect.safe, std::size_t{one.slot} * 4, one.at);
    return true;
  });
}

void SoftUpdates::shown(const os::BufferKey& holder, const SizeSafe& size) {
  const auto dependencies = inodes_.find(size.inode);
  if (dependencies == inodes_.end()) return;
  for (GrownSize& one : dependencies->second.sizes)
    if (one.block == size.block) std::erase(one.waits_for, holder);
}

void SoftUpdates::inode_written(InodeDependencies& dependencies, WriteNumber completed) {
  std::erase_if(dependencies.sizes, [&](const GrownSize& one) { return arrived(one, completed); });
  std::erase_if(dependencies.allocations, [&](AllocDirect& one) {
    if (!arrived(one, completed)) return false;
    if (!one.frees.empty())
      work([this, extents = std::move(one.frees)] { (void)volume_.free_extents(extents); });
    return true;
  });
  std::erase_if(dependencies.adds, [&](const AddSafe& one) {
    if (!arrived(one, completed)) return false;
    const auto add = adds_.find(one.add);
    if (add == adds_.end()) return true;
    invariant(add->second.waits_for > 0,
              "soft updates: the dependency count of an entry must not become negative");
    --add->second.waits_for;
    return true;
  });
  std::erase_if(dependencies.frees, [&](FreeBlocks& one) {
    if (!arrived(one, completed)) return false;
    work([this, extents = std::move(one.extents)] { (void)volume_.free_extents(extents); });
    return true;
  });
  if (!dependencies.free_file || !arrived(*dependencies.free_file, completed)) return;
  auto file = std::make_shared<FreeFile>(std::move(*dependencies.free_file));
  dependencies.free_file.reset();
  work([this, file] {
    (void)volume_.free_extents(file->extents);
    (void)volume_.free_inode(file->number, file->directory);
    for (const auto& removal : file->removals) drop(removal);
  });
}

void SoftUpdates::block_written(const os::BufferKey& key, BlockDependencies& dependencies) {
  const WriteNumber completed = dependencies.completed;
  const std::vector<AddId> adds = dependencies.adds;
  for (const AddId id : adds) {
    Add& add = adds_.at(id);
    if (!arrived(add, completed)) continue;
    for (const auto& removal : add.replaced) work([this, removal] { drop(removal); });
    forget_add(id);
  }
  std::erase_if(dependencies.removes, [&](const Remove& one) {
    if (!arrived(one, completed)) return false;
    work([this, removal = one.removal] { drop(removal); });
    return true;
  });
  std::erase_if(dependencies.frees, [&](FreeBlocks& one) {
    if (!arrived(one, completed)) return false;
    work([this, extents = std::move(one.extents)] { (void)volume_.free_extents(extents); });
    return true;
  });
  std::erase_if(dependencies.sizes, [&](const SizeSafe& one) {
    if (!arrived(one, completed)) return false;
    shown(key, one);
    return true;
  });
  if (dependencies.allocation && arrived(*dependencies.allocation, completed)) {
    const AllocSafe allocation = *dependencies.allocation;
    dependencies.allocation.reset();
    satisfied(allocation);
  }
}

/// Called after a failed write. Detaches the block's dependencies from that write, so that the next
/// write of the block carries them.
void SoftUpdates::put_back(const os::BufferKey& key, BlockDependencies& dependencies) {
  const auto not_carried = [&](auto& note) {
    if (note.carried == dependencies.completed) note.carried = 0;
  };
  if (const auto first = first_inode_in(key)) {
    const InodeNumber end = *first + volume_.geometry.inodes_per_block();
    for (auto at = inodes_.lower_bound(*first); at != inodes_.end() && at->first < end; ++at) {
      std::for_each(at->second.allocations.begin(), at->second.allocations.end(), not_carried);
      std::for_each(at->second.sizes.begin(), at->second.sizes.end(), not_carried);
      std::for_each(at->second.adds.begin(), at->second.adds.end(), not_carried);
      std::for_each(at->second.frees.begin(), at->second.frees.end(), not_carried);
      if (at->second.free_file) not_carried(*at->second.free_file);
    }
  }
  for (const AddId id : dependencies.adds) not_carried(adds_.at(id));
  std::for_each(dependencies.removes.begin(), dependencies.removes.end(), not_carried);
  std::for_each(dependencies.frees.begin(), dependencies.frees.end(), not_carried);
  std::for_each(dependencies.sizes.begin(), dependencies.sizes.end(), not_carried);
  if (dependencies.allocation) not_carried(*dependencies.allocation);
}

void SoftUpdates::after_write(const os::BufferKey& key, os::RequestId, model::Status status) {
  const auto found = blocks_.find(key);
  if (found == blocks_.end() || found->second.undone.empty()) return;
  BlockDependencies& dependencies = found->second;
  ++dependencies.completed;
  invariant(dependencies.completed + dependencies.undone.size() == dependencies.issued + 1,
            "soft updates: every completed write must have been issued");
  const bool undone = dependencies.undone.front();
  dependencies.undone.pop_front();
  if (status != model::Status::ok) {
    put_back(key, dependencies);
    return;
  }
  if (undone) volume_.cache.mark_dirty(key);
  if (const auto first = first_inode_in(key)) {
    const InodeNumber end = *first + volume_.geometry.inodes_per_block();
    for (auto at = inodes_.lower_bound(*first); at != inodes_.end() && at->first < end;) {
      inode_written(at->second, dependencies.completed);
      at = at->second.empty() ? inodes_.erase(at) : std::next(at);
    }
  }
  block_written(key, dependencies);
  if (dependencies.empty()) blocks_.erase(found);
}

}  // namespace headcrash::ufs
