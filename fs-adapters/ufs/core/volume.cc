// State shared by operations and schemes (volume.h).

#include "fs-adapters/ufs/core/volume.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fs-adapters/ufs/netra/busy_map.h"
#include "plugin/base/invariant.h"

namespace headcrash::ufs {

Volume::Volume(os::System& system, const Superblock& superblock, std::vector<Summary> summaries,
               std::uint64_t write_behind_bytes)
    : executor(system.executor),
      cpu(system.cpu),
      disk(system.queue),
      cache(system.cache),
      syncer(system.syncer),
      super(superblock),
      geometry(superblock),
      groups(std::move(summaries)),
      allocator(*this),
      inodes(*this),
      names(*this),
      write_behind(cache, disk, write_behind_bytes),
      changes(system.executor) {}

std::size_t Volume::bytes_in_core() const {
  return inodes.in_core() * tree::kCoreInodeBytes + names.names() * kDependencyBytes +
         groups.size() * kSummaryBytes + scheme->bytes_in_core();
}

VfsResult<os::HeldBuffer> Volume::read_block(FragmentAddress at) {
  auto buffer = cache.read(place(at), os::Content::metadata, lba(at), geometry.block_bytes());
  if (!buffer) return refuse(EIO);
  return std::move(*buffer);
}

VfsResult<void> Volume::free_extents(const std::vector<Extent>& extents) {
  VfsResult<void> result;
  for (const Extent& extent : extents)
    if (auto freed = allocator.free(extent.at, extent.fragments); !freed) result = freed;
  if (!result) stop();  // the space is lost until fsck is run
  return result;
}

VfsResult<void> Volume::free_inode(InodeNumber number, bool directory) {
  auto freed = allocator.free_inode(number, directory);
  if (!freed) stop();
  return freed;
}

void Volume::lower_links(tree::CoreInode& inode, std::uint16_t links) {
  std::uint16_t& count = inode.attributes.links;
  count = static_cast<std::uint16_t>(count - std::min(count, links));
  inodes.mark_changed(inode);
}

VfsResult<void> Volume::drop_link(Operation& operation, const DroppedLink& dropped) {
  (void)operation;
  if (dropped.links > 0) lower_links(*dropped.inode, dropped.links);
  if (dropped.parent != nullptr) lower_links(*dropped.parent, 1);
  return {};
}

namespace {

/// The arguments that are needed to hold a buffer again after its release.
struct BufferName {
  explicit BufferName(const os::HeldBuffer& buffer)
      : key(buffer.key()),
        content(buffer.content()),
        lba(buffer.lba()),
        bytes(buffer.bytes().size()) {}
  os::BufferKey key;
  os::Content content;
  std::uint64_t lba;
  std::size_t bytes;
};

VfsResult<os::HeldBuffer> hold_again(os::BufferCache& cache, const BufferName& name) {
  auto buffer = cache.read(name.key, name.content, name.lba, name.bytes);
  if (!buffer) return refuse(EIO);
  return std::move(*buffer);
}

}  // namespace

VfsResult<os::HeldBuffer> Volume::write_delayed_and_hold(os::HeldBuffer buffer) {
  const BufferName name(buffer);
  cache.write_delayed(std::move(buffer));
  return hold_again(cache, name);
}

VfsResult<os::HeldBuffer> Volume::write_async_and_hold(os::HeldBuffer buffer,
                                                       const os::Ordering& ordering,
                                                       os::RequestId& id) {
  const BufferName name(buffer);
  id = cache.write_async(std::move(buffer), ordering);
  return hold_again(cache, name);
}

VfsResult<os::HeldBuffer> Volume::write_and_hold(os::HeldBuffer buffer) {
  const BufferName name(buffer);
  if (auto written = as_result(cache.write(std::move(buffer))); !written)
    return forward_errno(written);
  return hold_again(cache, name);
}

VfsResult<void> Volume::write_last(os::HeldBuffer buffer, LastWrite how) {
  switch (how) {
    case LastWrite::delayed:
      cache.write_delayed(std::move(buffer));
      return {};
    case LastWrite::asynchronous:
      cache.write_async(std::move(buffer));
      return {};
    case LastWrite::synchronous:
      return as_result(cache.write(std::move(buffer)));
  }
  return {};
}

VfsResult<void> Volume::write_if_dirty(const os::BufferKey& key) {
  os::HeldBuffer buffer = cache.cached(key);
  if (buffer && buffer.dirty()) return as_result(cache.write(std::move(buffer)));
  const os::RequestId on_its_way = cache.being_written(key);
  cache.release(std::move(buffer));
  if (on_its_way != 0) disk.wait_for(on_its_way);
  return cache.write_failed(key) ? refuse(EIO) : VfsResult<void>();
}

os::RequestId Volume::send_if_dirty(const os::BufferKey& key, const os::Ordering& ordering) {
  os::HeldBuffer buffer = cache.cached(key);
  if (buffer && buffer.dirty()) return cache.write_async(std::move(buffer), ordering);
  cache.release(std::move(buffer));
  return 0;
}

/// Writes the summary block that begins with group `first`. Copies the summaries after acquiring
/// the block, so that of two concurrent writes, the later one has the newer summaries.
VfsResult<void> Volume::write_summary_block(std::uint32_t first, LastWrite how) {
  const std::uint32_t per_block = geometry.block_bytes() / kSummaryBytes;
  const FragmentAddress at =
      super.summary_address + first / per_block * geometry.fragments_per_block();
  const std::uint32_t count = std::min(per_block, geometry.groups() - first);
  const std::size_t length = bytes(geometry.fragments_of(count * kSummaryBytes));
  auto block = cache.read(place(at), os::Content::metadata, lba(at), length);
  if (!block) return refuse(EIO);
  for (std::uint32_t i = 0; i < count; ++i)
    encode_group_record({.counts = groups[first + i], .busy = !on_map.empty() && on_map[first + i]},
                        block->bytes().subspan(std::size_t{i} * kSummaryBytes, kSummaryBytes));
  return write_last(std::move(*block), how);
}

VfsResult<void> Volume::write_summary(std::uint32_t group, LastWrite how) {
  const std::uint32_t per_block = geometry.block_bytes() / kSummaryBytes;
  return write_summary_block(group / per_block * per_block, how);
}

VfsResult<void> Volume::write_summaries() {
  const std::uint32_t per_block = geometry.block_bytes() / kSummaryBytes;
  for (std::uint32_t first = 0; first < geometry.groups(); first += per_block)
    TRY(write_summary_block(first, LastWrite::synchronous));
  return {};
}

VfsResult<void> Volume::write_superblock(bool clean) {
  super.clean = clean;
  if (clean) {
    super.begin_generation();
    on_map.assign(on_map.size(), false);
  }
  super.modified = false;
  super.written_at = static_cast<std::uint32_t>(executor.now() / kNsPerSecond);
  auto written = write_summaries();
  if (written) {
    // The superblock is written last, because its "clean" flag also applies to the summaries.
    auto buffer = cache.read(kSuperblockKey, os::Content::metadata, kSuperblockByte / kSectorBytes,
                             kSuperblockBytes);
    if (!buffer) {
      written = refuse(EIO);
    } else {
      encode_superblock(super, buffer->bytes());
      written = as_result(cache.write(std::move(*buffer)));
    }
  }
  if (!written) super.modified = true;
  return written;
}

}  // namespace headcrash::ufs
