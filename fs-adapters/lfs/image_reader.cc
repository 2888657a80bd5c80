// Follows the map, pointers and names of an image (image_reader.h).
#include "fs-adapters/lfs/image_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "fs-adapters/image_tree.h"
#include "fs-adapters/tree/directory_block.h"
#include "plugin/base/little_endian.h"

namespace headcrash::lfs {
using namespace little_endian;
namespace {

std::string subject(InodeNumber number) {
  return fmt::format("lfs inode {}", number);
}

}  // namespace

std::optional<Checkpoint> newest(std::optional<Checkpoint> one, std::optional<Checkpoint> other) {
  if (!one || (other && other->sequence > one->sequence)) return other;
  return one;
}

Result<ImageReader> ImageReader::open(const model::SectorStore& store) {
  if (store.sectors() <= kSuperblockAddress) return fail("lfs", "the device is too small");
  std::vector<std::byte> sector(kSectorBytes);
  if (auto got = store.read(kSuperblockAddress, sector); !got) return pass_on(got);
  const auto superblock = decode_superblock(sector, store.sectors());
  if (!superblock) return pass_on(superblock);
  ImageReader reader(store, *superblock);
  if (auto loaded = reader.load(); !loaded) return pass_on(loaded);
  return reader;
}

Result<void> ImageReader::load() {
  std::array<std::optional<Checkpoint>, 2> found;
  std::vector<std::byte> bytes(std::size_t{superblock_.checkpoint_sectors} * kSectorBytes);
  for (std::size_t i = 0; i < 2; ++i) {
    if (auto got = store_->read(superblock_.checkpoints[i], bytes); !got) return got;
    found[i] = decode_checkpoint(bytes, superblock_);
  }
  auto checkpoint = newest(std::move(found[0]), std::move(found[1]));
  if (!checkpoint) return fail("lfs", "neither checkpoint region is whole", "nothing can be mounted");
  checkpoint_ = std::move(*checkpoint);
  map_.resize(superblock_.inodes);
  const std::uint32_t per_block = superblock_.map_entries_per_block();
  for (std::uint32_t i = 0; i < superblock_.map_blocks(); ++i) {
    if (checkpoint_.map_blocks[i] == 0) continue;
    const auto block = block_at(checkpoint_.map_blocks[i], superblock_.block_bytes);
    if (!block) return pass_on(block);
    if (!table_block_intact(*block, superblock_)) return fail("lfs inode map", fmt::format("block {}", i));
    for (std::uint32_t k = 0; k < per_block && i * per_block + k < superblock_.inodes; ++k)
      map_[i * per_block + k] = decode_map_entry(std::span(*block).subspan(std::size_t{k} * kMapEntryBytes));
  }
  usage_.resize(superblock_.segments);
  const std::uint32_t usages = superblock_.usage_entries_per_block();
  for (std::uint32_t i = 0; i < superblock_.usage_blocks(); ++i) {
    const auto block = block_at(checkpoint_.usage_blocks[i], superblock_.block_bytes);
    if (!block) return pass_on(block);
    if (!table_block_intact(*block, superblock_)) return fail("lfs usage table", fmt::format("block {}", i));
    for (std::uint32_t k = 0; k < usages && i * usages + k < superblock_.segments; ++k)
      usage_[i * usages + k] = decode_usage(std::span(*block).subspan(std::size_t{k} * kUsageEntryBytes));
  }
  return {};
}

Result<std::vector<std::byte>> ImageReader::block_at(SectorAddress address, std::uint32_t bytes) const {
  if (!superblock_.holds(address, bytes / kSectorBytes))
    return fail("lfs", fmt::format("address {} is in no segment", address));
  std::vector<std::byte> block(bytes);
  if (auto got = store_->read(address, block); !got) return pass_on(got);
  return block;
}

Result<std::vector<std::byte>> ImageReader::segment(SegmentNumber number) const {
  std::vector<std::byte> bytes(superblock_.segment_bytes());
  if (auto got = store_->read(superblock_.segment_start(number), bytes); !got) return pass_on(got);
  return bytes;
}

Result<Inode> ImageReader::inode(InodeNumber number) const {
  if (number >= map_.size() || !map_[number].allocated()) return fail(subject(number), "it is not allocated");
  const auto sector = block_at(map_[number].address, kSectorBytes);
  if (!sector) return pass_on(sector);
  const auto bytes =
      std::span<const std::byte>(*sector).subspan(std::size_t{map_[number].slot} * kInodeBytes, kInodeBytes);
  if (!inode_intact(bytes, superblock_)) return fail(subject(number), "its checksum is wrong");
  const Inode inode = decode_inode(bytes);
  if (inode.number != number || !inode.allocated())
    return fail(subject(number), "another one, or none, is where the map says");
  return inode;
}

Result<void> ImageReader::visit_below(const Inode& inode, const Block& block,
                                      const std::function<void(const Block&)>& visit) const {
  if (!superblock_.holds(block.address, block.bytes / kSectorBytes))
    return fail(subject(inode.number), fmt::format("address {} is in no segment", block.address));
  visit(block);
  if (block.id.level == 0) return {};
  const auto bytes = block_at(block.address, block.bytes);
  if (!bytes) return pass_on(bytes);
  const std::uint32_t p = superblock_.pointers_per_block();
  const auto level = static_cast<std::uint8_t>(block.id.level - 1);
  const std::uint64_t first = std::uint64_t{block.id.index} * p + (level == 0 ? kDirectPointers : 1U);
  for (std::uint32_t i = 0; i < p; ++i) {
    const SectorAddress address = load32(*bytes, std::size_t{i} * kPointerBytes);
    if (address == 0) continue;
    if (first + i >= superblock_.blocks_of_level(level))
      return fail(subject(inode.number), "a block beyond the largest file");
    const BlockId id{level, static_cast<std::uint32_t>(first + i)};
    const Block below{id, address, superblock_.stored_bytes(inode.size_bytes, id)};
    if (auto done = visit_below(inode, below, visit); !done) return done;
  }
  return {};
}

Result<void> ImageReader::each_block(const Inode& inode,
                                     const std::function<void(const Block&)>& visit) const {
  for (std::uint32_t i = 0; i < kPointers; ++i) {
    if (inode.pointers[i] == 0) continue;
    const BlockId id =
        i < kDirectPointers ? BlockId{0, i} : BlockId{static_cast<std::uint8_t>(i - kDirectPointers + 1), 0};
    const Block block{id, inode.pointers[i], superblock_.stored_bytes(inode.size_bytes, id)};
    if (auto done = visit_below(inode, block, visit); !done) return done;
  }
  return {};
}

Result<SectorAddress> ImageReader::address_of(const Inode& inode, BlockId block) const {
  const PointerPlace place = superblock_.pointer_place(block);
  if (place.in_inode) return inode.pointers[place.slot];
  const auto parent = address_of(inode, place.parent);
  if (!parent || *parent == 0) return parent;
  const auto bytes = block_at(*parent, superblock_.block_bytes);
  if (!bytes) return pass_on(bytes);
  return load32(*bytes, std::size_t{place.slot} * kPointerBytes);
}

Result<std::size_t> ImageReader::read(const Inode& inode, std::uint64_t offset,
                                      std::span<std::byte> into) const {
  if (inode.size_bytes > superblock_.file_bytes_max())
    return fail(subject(inode.number), "it is larger than a file can be");
  if (offset >= inode.size_bytes) return std::size_t{0};
  const std::size_t length = std::min<std::uint64_t>(into.size(), inode.size_bytes - offset);
  for (std::size_t done = 0; done < length;) {
    const std::uint64_t at = offset + done;
    const BlockId id{0, static_cast<std::uint32_t>(at / superblock_.block_bytes)};
    const std::size_t start = at % superblock_.block_bytes;
    const std::size_t count = std::min<std::size_t>(superblock_.block_bytes - start, length - done);
    const auto address = address_of(inode, id);
    if (!address) return pass_on(address);
    if (*address == 0) {
      std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(done), count, std::byte{0});
    } else {
      const auto block = block_at(*address, superblock_.stored_bytes(inode.size_bytes, id));
      if (!block) return pass_on(block);
      std::memcpy(into.data() + done, block->data() + start, count);
    }
    done += count;
  }
  return length;
}

Result<std::string> ImageReader::readlink(const Inode& inode) const {
  if (!inode.is_symlink() || inode.size_bytes > 4095) return fail(subject(inode.number), "no symbolic link");
  std::string target(inode.size_bytes, '\0');
  const auto got = read(inode, 0, std::as_writable_bytes(std::span(target.data(), target.size())));
  if (!got) return pass_on(got);
  return target;
}

Result<std::vector<NamedInode>> ImageReader::entries(const Inode& directory) const {
  if (!directory.is_directory()) return fail(subject(directory.number), "no directory");
  const std::uint64_t device_bytes = store_->sectors() * kSectorBytes;
  if (directory.size_bytes > device_bytes || directory.size_bytes % tree::kChunkBytes != 0)
    return fail(subject(directory.number), "the directory's size makes no sense");
  std::vector<NamedInode> names;
  std::vector<std::byte> block(superblock_.block_bytes);
  for (std::uint64_t at = 0; at < directory.size_bytes; at += block.size()) {
    const auto got = read(directory, at, block);
    if (!got) return pass_on(got);
    const std::span<const std::byte> bytes = std::span(block).first(*got);
    for (std::uint32_t chunk = 0; chunk < bytes.size() / tree::kChunkBytes; ++chunk)
      if (const auto damage = tree::damage_of_chunk(bytes, chunk))
        return fail(subject(directory.number), fmt::format("block at {}: {}", at, damage->text));
    tree::DirectoryCursor cursor(bytes);
    while (const auto entry = cursor.next())
      if (entry->inode != 0) names.push_back({std::string(entry->name), entry->inode, entry->type});
  }
  return names;
}

Result<std::vector<NamedInode>> ImageReader::names(std::uint64_t directory) const {
  const auto found = inode(static_cast<InodeNumber>(directory));
  if (!found) return pass_on(found);
  auto all = entries(*found);
  if (all) std::erase_if(*all, [](const NamedInode& one) { return one.name == "." || one.name == ".."; });
  return all;
}

Result<Inode> ImageReader::lookup(std::string_view path) const {
  const auto found = adapters::look_up_in_image(kRootInode, path,
                                                [this](std::uint64_t directory) { return names(directory); });
  if (!found) return pass_on(found);
  return inode(static_cast<InodeNumber>(*found));
}

Result<void> ImageReader::walk(const std::function<void(const Found&)>& visit) const {
  return adapters::walk_image(
      kRootInode, [this](std::uint64_t directory) { return names(directory); },
      [&](const std::string& path, const NamedInode& entry) -> Result<bool> {
        const auto found = inode(entry.inode);
        if (!found) return pass_on(found);
        visit({path, *found});
        return found->is_directory();
      },
      [](std::uint64_t number, std::string problem) {
        return fail(subject(static_cast<InodeNumber>(number)), std::move(problem));
      });
}

}  // namespace headcrash::lfs
