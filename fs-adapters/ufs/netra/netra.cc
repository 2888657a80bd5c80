// Writes marks and tags before the writes of Conventional (netra.h).

#include "fs-adapters/ufs/netra/netra.h"

#include <algorithm>
#include <cerrno>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/ufs/core/file_blocks.h"
#include "fs-adapters/ufs/core/volume.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

SchemeOptions with_synchronous_end(SchemeOptions options) {
  options.last_write = LastWrite::synchronous;
  return options;
}

std::uint16_t entries_for(InodeNumber inode, std::span<const std::byte> chunk) {
  std::uint16_t count = 0;
  tree::DirectoryCursor cursor(chunk);
  while (const auto entry = cursor.next())
    count += entry->inode == inode && !entry->is_dot() && !entry->is_dot_dot() ? 1 : 0;
  return count;
}

}  // namespace

Netra::Netra(Volume& volume, const SchemeOptions& options)
    : Conventional(volume, with_synchronous_end(options)),
      busy_(volume, options.netra),
      flusher_(volume, busy_, options.netra) {}

bool Netra::fast() const {
  return volume_.super.features.fast_check;
}

void Netra::begin(Operation&) {
  busy_.operation_begins();
}

VfsResult<void> Netra::end(Operation& operation) {
  std::erase_if(tagged_, [&](const auto& one) { return one.second.operation == &operation; });
  busy_.operation_ends();
  flusher_.arm();
  return {};
}

VfsResult<void> Netra::mark(tree::CoreInode& inode) {
  return busy_.mark(volume_.geometry.group_of_inode(inode.number), inode.number,
                    inode.attributes.is_directory());
}

VfsResult<void> Netra::before_taking(std::uint32_t group, InodeNumber inode, bool is_directory) {
  return fast() ? busy_.mark(group, inode, is_directory) : VfsResult<void>();
}

bool Netra::may_take(std::uint32_t group, InodeNumber inode) const {
  return !fast() || busy_.marked(group, inode);
}

VfsResult<void> Netra::blocks_removed(Operation& operation, const BlockRemoval& removal,
                                      os::HeldBuffer holder) {
  if (fast())
    TRY(busy_.mark(removal.extents, removal.inode.number, removal.inode.disk.is_directory()));
  return Conventional::blocks_removed(operation, removal, std::move(holder));
}

VfsResult<void> Netra::inode_removed(Operation& operation, const InodeRemoval& removal) {
  if (fast()) {
    const InodeNumber number = removal.inode.number;
    auto marked = busy_.mark(volume_.geometry.group_of_inode(number), number, removal.directory);
    if (marked) marked = busy_.mark(removal.extents, number, removal.directory);
    if (!marked) return marked;
  }
  return Conventional::inode_removed(operation, removal);
}

/// Adds a tag, which replaces an older tag for the same place. Drops the tags of an earlier
/// operation. They are no longer needed, because that operation held the inode's lock until it had
/// written the tagged entries.
VfsResult<void> Netra::tag(Operation& operation, tree::CoreInode& inode, const LinkTag& tag) {
  TaggedInode& tagged = tagged_[inode.number];
  if (tagged.operation != &operation) tagged = {.operation = &operation};
  std::vector<LinkTag>& tags = tagged.tags;
  core(inode).links_tagged = inode.attributes.links;
  const auto same = std::ranges::find_if(tags, [&](const LinkTag& one) {
    return one.directory == tag.directory && one.chunk == tag.chunk;
  });
  if (same != tags.end()) {
    *same = tag;
    return {};
  }
  if (tags.size() == kLinkTagsMax) return busy_.demand_full_check();
  tags.push_back(tag);
  return {};
}

VfsResult<void> Netra::tag_entry(Operation& operation, tree::CoreInode& inode,
                                 const EntryPlace& place, std::uint16_t links) {
  const std::uint32_t in_block = place.offset / tree::kChunkBytes;
  const auto chunk =
      place.buffer.bytes().subspan(std::size_t{in_block} * tree::kChunkBytes, tree::kChunkBytes);
  const std::uint32_t chunks_of_block = volume_.geometry.block_bytes() / tree::kChunkBytes;
  return tag(operation, inode,
             {.directory = place.directory,
              .chunk = static_cast<std::uint32_t>(place.block) * chunks_of_block + in_block,
              .entries = entries_for(inode.number, chunk),
              .links = links});
}

/// Tags a directory that temporarily has two names: one in the directory `to`, and one in the
/// directory to which its ".." still refers. The rename has locked all three directories.
VfsResult<void> Netra::tag_moving_directory(Operation& operation, CoreInode& moving,
                                            InodeNumber to) {
  TRY(const auto at, find_block(volume_, moving, 0));
  if (at == 0 || moving.disk.size_bytes < tree::kChunkBytes) return refuse(EIO);
  TRY(auto block, read_file_block(volume_, moving, 0, at));
  const auto dot_dot = tree::find_entry(block.bytes().first(tree::kChunkBytes), "..");
  if (!dot_dot) return refuse(EIO);
  const InodeNumber from = dot_dot->inode;
  const auto whole = [&](InodeNumber directory, std::uint16_t entries) {
    return tag(operation, moving,
               {.directory = directory, .chunk = LinkTag::kWholeDirectory, .entries = entries});
  };
  if (from == to) return whole(to, 2);
  TRY(whole(to, 1));
  TRY(whole(from, 1));
  // The old parent also needs a tag, because a check that removes the old name lowers the link
  // count of this parent.
  TRY(const auto parent, volume_.inodes.get(from, &operation));
  auto done = mark(*parent);
  if (done)
    done = tag(operation, *parent,
               {.directory = moving.number, .chunk = LinkTag::kDotDot, .entries = 1});
  return done ? write_inode(*parent) : done;
}

/// Tags a moved directory before its old name is removed.
VfsResult<void> Netra::tag_moved_directory(Operation& operation, tree::CoreInode& moved,
                                           InodeNumber from) {
  const auto& tags = tagged_[moved.number].tags;
  const auto before = std::ranges::find_if(tags, [&](const LinkTag& one) {
    return one.directory == from && one.chunk == LinkTag::kWholeDirectory;
  });
  const int entries = before == tags.end() ? 0 : before->entries - 1;
  return tag(operation, moved,
             {.directory = from,
              .chunk = LinkTag::kWholeDirectory,
              .entries = static_cast<std::uint16_t>(std::max(entries, 0))});
}

VfsResult<void> Netra::drop(Operation& operation, const DroppedLink& dropped,
                            const EntryPlace& place) {
  auto done = mark(*dropped.inode);
  if (done && dropped.parent != nullptr) done = mark(*dropped.parent);
  if (!done) return done;
  done = lower(operation, dropped, place);
  if (!done) volume_.stop();
  return done;
}

/// Lowers the link counts for the entry at `place`, which is about to be removed. Tags the inodes
/// and writes them.
VfsResult<void> Netra::lower(Operation& operation, const DroppedLink& dropped,
                             const EntryPlace& place) {
  tree::CoreInode& inode = *dropped.inode;
  tree::CoreInode* const parent = dropped.parent;
  const bool moves = dropped.moved && inode.attributes.is_directory();
  auto done = volume_.drop_link(operation, dropped);
  if (done)
    done = moves ? tag_moved_directory(operation, inode, place.directory)
                 : tag_entry(operation, inode, place, dropped.links);
  if (done && parent != nullptr)
    done = tag(operation, *parent,
               {.directory = inode.number, .chunk = LinkTag::kDotDot, .entries = 0});
  if (done) done = write_inode(inode);
  if (done && parent != nullptr) done = write_inode(*parent);
  return done;
}

/// Runs one step of an exchange. Tags cannot describe an exchange, so the inodes are written with
/// their current link counts and without tags.
VfsResult<void> Netra::exchanged(std::initializer_list<tree::CoreInode*> inodes,
                                 const std::function<VfsResult<void>()>& step) {
  const auto follow = [&] {
    for (tree::CoreInode* inode : inodes)
      if (inode != nullptr) core(*inode).links_tagged = inode->attributes.links;
  };
  follow();
  auto done = step();
  follow();
  return done;
}

VfsResult<void> Netra::link_added(Operation& operation, const LinkAddition& addition,
                                  os::HeldBuffer directory_block) {
  if (!fast()) return Conventional::link_added(operation, addition, std::move(directory_block));
  if (addition.cause == tree::NameCause::exchange) {
    TRY(busy_.demand_full_check());
    return exchanged(
        {&addition.target, &addition.directory, addition.replaced.inode, addition.replaced.parent},
        [&] { return Conventional::link_added(operation, addition, std::move(directory_block)); });
  }
  // The ".." of a moved directory is not a name, so it does not change a link count.
  if (addition.cause == tree::NameCause::parent)
    return as_result(volume_.cache.write(std::move(directory_block)));
  tree::CoreInode& target = addition.target;
  const bool is_directory = target.attributes.is_directory();
  const EntryPlace place{addition.directory.number, addition.block, addition.offset,
                         directory_block};
  auto done = mark(target);
  if (done && addition.raises_directory) done = mark(addition.directory);
  if (done && is_directory && addition.cause == tree::NameCause::rename)
    done = tag_moving_directory(operation, core(target), addition.directory.number);
  else if (done)
    done = tag_entry(operation, target, place, is_directory ? 2 : 1);
  if (done) done = write_inode(target);
  if (done && addition.raises_directory) {
    done = tag(operation, addition.directory,
               {.directory = target.number, .chunk = LinkTag::kDotDot, .entries = 1});
    if (done) done = write_inode(addition.directory);
  }
  if (done && addition.replaced.inode != nullptr) done = drop(operation, addition.replaced, place);
  if (!done) return done;
  return write_entry(std::move(directory_block));
}

VfsResult<void> Netra::link_removed(Operation& operation, const LinkRemoval& removal,
                                    os::HeldBuffer directory_block) {
  if (!fast()) return Conventional::link_removed(operation, removal, std::move(directory_block));
  if (removal.cause == tree::NameCause::exchange)
    return exchanged({removal.dropped.inode, removal.dropped.parent}, [&] {
      return Conventional::link_removed(operation, removal, std::move(directory_block));
    });
  const EntryPlace place{removal.directory.number, removal.block, removal.offset, directory_block};
  TRY(drop(operation, removal.dropped, place));
  return write_entry(std::move(directory_block));
}

VfsResult<void> Netra::write_entry(os::HeldBuffer directory_block) {
  auto written = as_result(volume_.cache.write(std::move(directory_block)));
  if (!written) volume_.stop();
  return written;
}

VfsResult<void> Netra::bmap_merged(CoreInode&, os::HeldBuffer indirect, BmapMerge why) {
  if (why == BmapMerge::full || options_.netra.broken != NetraOptions::Rule::cache_unmerged)
    return as_result(volume_.cache.write(std::move(indirect)));
  volume_.cache.write_delayed(std::move(indirect));
  return {};
}

VfsResult<void> Netra::bmap_ended(CoreInode& inode) {
  return options_.netra.broken == NetraOptions::Rule::cache_unmerged ? VfsResult<void>()
                                                                     : write_inode(inode);
}

void Netra::inode_copied(CoreInode& inode, os::HeldBuffer& block) {
  if (!volume_.super.features.extensions()) return;
  const auto slot = block.bytes().subspan(volume_.inodes.offset_in_block(inode.number),
                                          2 * std::size_t{kInodeBytes});
  if (fast() && inode.disk.allocated()) store16(slot, kInodeLinksOffset, inode.links_tagged);
  InodeExtension extension;
  if (inode.disk.allocated()) {
    extension.generation = busy_.generation();
    extension.bmap = inode.bmap;
    const auto tagged = tagged_.find(inode.number);
    if (tagged != tagged_.end() && options_.netra.broken != NetraOptions::Rule::tag_late)
      extension.tags = tagged->second.tags;
  }
  encode_extension(extension, slot.subspan(kInodeBytes));
}

VfsResult<void> Netra::sync() {
  if (auto synced = Conventional::sync(); !synced || !fast()) return synced;
  if (auto begun = busy_.begin_generation(); !begun) return forward_errno(begun);
  return {};
}

// ---- group flusher

void GroupFlusher::arm() {
  if (armed_ || options_.flush_interval_ns == 0 || !busy_.any_busy()) return;
  armed_ = true;
  volume_.syncer.add_work(
      [this] {
        armed_ = false;
        flush();
        arm();
      },
      volume_.executor.now() + options_.flush_interval_ns);
}

/// Cleans busy groups. If a group is in use or cannot be written, it is retried in a later round.
void GroupFlusher::flush() {
  const os::TimeNs end =
      volume_.executor.now() + options_.flush_interval_ns / 100 * options_.flush_share_percent;
  const std::uint32_t groups = volume_.geometry.groups();
  for (std::uint32_t i = 1; i <= groups && !volume_.stopped() && !volume_.abandoned; ++i) {
    const std::uint32_t group = (volume_.allocator.hot_group() + i) % groups;
    if (busy_.busy(group)) (void)busy_.clean(group);
    if (volume_.executor.now() >= end) return;
  }
}

}  // namespace headcrash::ufs
