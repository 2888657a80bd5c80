// In-core inodes (inodes.h).

#include "fs-adapters/ufs/core/inodes.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fs-adapters/ufs/core/file_blocks.h"
#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/format/inode_extension.h"
#include "plugin/base/invariant.h"

namespace headcrash::ufs {
namespace {

// The value of ufs_ninode in SVR4 for a machine of the modelled size.
constexpr std::size_t kIdleInodesMax = 600;
constexpr os::TimeNs kWriteBackNs = 30 * model::kSecondNs;

bool has_no_links(const CoreInode& inode) {
  return inode.loaded && inode.disk.allocated() && inode.disk.links == 0;
}

}  // namespace

os::BufferKey Inodes::block_key(InodeNumber number) const {
  return Volume::place(volume_.geometry.place_of(number).block);
}

std::size_t Inodes::offset_in_block(InodeNumber number) const {
  return volume_.geometry.place_of(number).offset;
}

VfsResult<os::HeldBuffer> Inodes::read_block(InodeNumber number) {
  return volume_.read_block(volume_.geometry.place_of(number).block);
}

InodeHandle Inodes::share(tree::CoreInode& inode, Operation* operation) {
  if (inode.references++ == 0) {
    idle_.remove(core(inode));
    --idle_count_;
    used_.append(core(inode));
  }
  return {*this, core(inode), operation};
}

VfsResult<InodeHandle> Inodes::get(InodeNumber number, Operation* operation) {
  if (!volume_.geometry.is_inode(number)) return refuse(EIO);
  const auto known = table_.find(number);
  if (known != table_.end()) {
    InodeHandle handle = share(*known->second, operation);
    // The lock is taken because another fiber may be reading the inode.
    InodeLock lock;
    if (!handle->loaded) lock = InodeLock(*handle);
    if (!handle->loaded) return refuse(EIO);
    return handle;
  }
  CoreInode& inode =
      *table_.emplace(number, std::make_unique<CoreInode>(volume_.executor, number)).first->second;
  inode.references = 1;
  used_.append(inode);
  InodeHandle handle(*this, inode, operation);
  const InodeLock lock = InodeLock::of_new(inode);
  TRY(auto buffer, read_block(number));
  inode.disk = decode_inode(buffer.bytes().subspan(offset_in_block(number), kInodeBytes));
  const Geometry& geometry = volume_.geometry;
  if (inode.disk.allocated() &&
      !inode.disk.has_possible_size(geometry.file_bytes_max(),
                                    geometry.byte_of(geometry.size_fragments())))
    return refuse(EIO);
  if (volume_.geometry.features().bmap_cache && inode.disk.allocated()) {
    inode.bmap = decode_bmap_cache(
        buffer.bytes().subspan(offset_in_block(number) + kInodeBytes, kInodeBytes));
    if (!inode.bmap.is_sound(volume_.geometry) || !(inode.bmap.empty() || inode.disk.is_regular()))
      return refuse(EIO);
  }
  inode.loaded = true;
  volume_.cache.release(std::move(buffer));
  volume_.scheme->inode_loaded(inode);
  forget_idle(kIdleInodesMax);
  return handle;
}

VfsResult<InodeHandle> Inodes::make(InodeNumber number, Operation* operation) {
  auto handle = get(number, operation);
  if (!handle) return handle;
  CoreInode& inode = **handle;
  // If the file system was mounted without a check, the map may simply be older than the inode.
  // After a check, either the map or the inode must be damaged.
  if (inode.disk.allocated() && !volume_.unchecked) return refuse(EIO);
  const std::uint32_t generation = inode.disk.generation + 1;
  inode.disk = Inode{{.generation = generation}};
  inode.bmap = {};
  inode.deferred_removals = 0;
  volume_.names.forget(number);
  inode.missed = {};
  inode.next_sequential = 0;
  volume_.scheme->inode_allocated(number);
  return handle;
}

void Inodes::mark_changed(tree::CoreInode& inode) {
  changed_.insert(inode.number);
  volume_.changes.note();
  if (std::exchange(write_back_scheduled_, true)) return;
  volume_.syncer.add_work(
      [this] {
        write_back_scheduled_ = false;
        // If an inode cannot be copied to its block, the inode stays dirty, and sync and unmount
        // report the error.
        (void)write_all_delayed();
      },
      volume_.syncer.due_at(os::Content::metadata, kWriteBackNs));
}

VfsResult<os::HeldBuffer> Inodes::copy_to_block(tree::CoreInode& its) {
  CoreInode& inode = core(its);
  volume_.cpu.charge(os::Cost::inode_changed);
  auto buffer = read_block(inode.number);
  if (!buffer) return buffer;
  encode_inode(inode.disk, buffer->bytes().subspan(offset_in_block(inode.number), kInodeBytes));
  changed_.erase(inode.number);
  volume_.scheme->inode_copied(inode, *buffer);
  return buffer;
}

VfsResult<void> Inodes::write_delayed(tree::CoreInode& inode) {
  TRY(auto buffer, copy_to_block(inode));
  volume_.cache.write_delayed(std::move(buffer));
  return {};
}

VfsResult<void> Inodes::write_all_delayed() {
  const std::vector<InodeNumber> changed(changed_.begin(), changed_.end());
  VfsResult<void> result;
  for (const InodeNumber number : changed) {
    const auto known = table_.find(number);
    if (known == table_.end()) continue;
    const InodeHandle handle = share(*known->second, nullptr);
    const InodeLock lock(*handle);
    if (!changed_.contains(number)) continue;
    if (auto written = write_delayed(*handle); !written) result = written;
  }
  return result;
}

/// Only inodes in use need to be searched, because an inode with neither links nor references would
/// already have been removed.
std::vector<InodeNumber> Inodes::without_links() const {
  std::vector<InodeNumber> found;
  for (const CoreInode* inode = used_.first(); inode != nullptr; inode = List::after(*inode))
    if (has_no_links(*inode)) found.push_back(inode->number);
  std::ranges::sort(found);
  return found;
}

bool Inodes::without_links(InodeNumber number) const {
  const auto known = table_.find(number);
  return known != table_.end() && has_no_links(*known->second);
}

void Inodes::remove(CoreInode& inode, Operation* operation) {
  const bool was_directory = inode.disk.is_directory();
  Operation own;
  if (operation == nullptr) {
    volume_.scheme->begin(own);
    operation = &own;
  }
  {
    const InodeLock lock(inode);
    // An error here is caused by a bad disk or a damaged inode. Blocks that cannot be freed are
    // lost until fsck is run.
    auto extents = take_all_blocks(volume_, inode);
    const auto removed =
        extents ? volume_.scheme->inode_removed(
                      *operation,
                      {.inode = inode, .directory = was_directory, .extents = std::move(*extents)})
                : forward_errno(extents);
    if (!removed) volume_.stop();
  }
  volume_.names.forget(inode.number);
  if (was_directory) volume_.names.forget_directory(inode.number);
  if (operation == &own) (void)volume_.scheme->end(own);
}

void Inodes::put(tree::CoreInode& its, tree::Operation* within) {
  auto& inode = static_cast<CoreInode&>(its);
  auto* const operation = static_cast<Operation*>(within);
  invariant(inode.references > 0, "ufs: each put of an inode must match a get");
  if (volume_.abandoned) {
    --inode.references;
    return;
  }
  // After a power cut, nothing is written or removed.
  if (!volume_.stopped() && inode.references == 1 && inode.loaded && !has_no_links(inode) &&
      changed(inode.number)) {
    const InodeLock lock(inode);
    if (changed(inode.number))
      (void)write_delayed(
          inode);  // if the inode's block cannot be read, the inode stays dirty and in core
  }
  // During the wait above, another user may have removed the inode's last name and released its
  // reference.
  if (!volume_.stopped() && inode.references == 1 && has_no_links(inode)) {
    if (volume_.scheme->defers_removal(inode)) return;
    remove(inode, operation);
  }
  if (--inode.references > 0) return;
  used_.remove(inode);
  if (!inode.loaded || !inode.disk.allocated()) {
    // If the inode could not be read, its cached blocks may have changes from an earlier use.
    if (inode.loaded) volume_.cache.discard_object(inode.number);
    changed_.erase(inode.number);
    table_.erase(inode.number);
    return;
  }
  idle_.append(inode);
  ++idle_count_;
}

void Inodes::forget_idle(std::size_t keep) {
  for (CoreInode* at = idle_.first(); at != nullptr && idle_count_ > keep;) {
    CoreInode& inode = *std::exchange(at, List::after(*at));
    if (changed(inode.number)) continue;  // the inode could not be copied to its block
    idle_.remove(inode);
    --idle_count_;
    table_.erase(inode.number);
  }
}

}  // namespace headcrash::ufs
