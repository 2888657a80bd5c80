// Reads an image by following its map, pointers and names (image_reader.h).
#include "fs-adapters/lfs/image_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "plugin/base/little_endian.h"

namespace headcrash::lfs {
using namespace little_endian;
namespace {

Result<Superblock> superblock_of(const model::SectorStore& store) {
  if (store.sectors() <= kSuperblockAddress) return fail("lfs", "the device is too small");
  std::array<std::byte, kSectorBytes> sector;
  TRY(store.read(kSuperblockAddress, sector));
  return decode_superblock(sector, store.sectors());
}

Result<Checkpoint> checkpoint_of(const model::SectorStore& store, const Superblock& superblock) {
  std::array<std::optional<Checkpoint>, 2> found;
  std::vector<std::byte> bytes(std::size_t{superblock.checkpoint_sectors} * kSectorBytes);
  for (std::size_t i = 0; i < 2; ++i) {
    TRY(store.read(superblock.checkpoints[i], bytes));
    found[i] = decode_checkpoint(bytes, superblock);
  }
  auto checkpoint = newest(std::move(found[0]), std::move(found[1]));
  if (!checkpoint)
    return fail("lfs", "no valid checkpoint region", "the file system cannot be mounted");
  return *std::move(checkpoint);
}

std::string subject(InodeNumber number) {
  return fmt::format("lfs inode {}", number);
}

tl::unexpected<Error> damaged_inode(std::uint64_t number, std::string problem) {
  return fail(subject(static_cast<InodeNumber>(number)), std::move(problem));
}

}  // namespace

std::optional<Checkpoint> newest(std::optional<Checkpoint> one, std::optional<Checkpoint> other) {
  if (!one || (other && other->sequence > one->sequence)) return other;
  return one;
}

Result<Checkpoint> newest_checkpoint(const model::SectorStore& store) {
  TRY(const auto superblock, superblock_of(store));
  return checkpoint_of(store, superblock);
}

Result<ImageReader> ImageReader::open(const model::SectorStore& store, const Contents& contents) {
  TRY(const auto superblock, superblock_of(store));
  ImageReader reader(store, superblock);
  TRY(reader.load(contents));
  return reader;
}

Result<bool> ImageReader::refresh(const Contents& contents) {
  TRY(const auto superblock, superblock_of(*store_));
  if (!(superblock == superblock_)) return fail("lfs", "the superblock has changed");
  return load(contents);
}

Result<bool> ImageReader::fetch(Known& known, SectorAddress address, const Contents& contents,
                                std::string_view table, std::uint32_t number) {
  const std::uint32_t sectors = superblock_.block_sectors();
  if (!superblock_.holds(address, sectors))
    return fail("lfs", fmt::format("address {} is outside of all segments", address));
  if (known.address == address && known.sources.unchanged(contents)) return false;
  known = {address, Sources({{address, sectors}}, true, contents)};
  block_.resize(superblock_.block_bytes);
  TRY(store_->read(address, block_));
  if (!table_block_intact(block_, superblock_))
    return fail(std::string(table), fmt::format("block {} is damaged", number));
  return true;
}

Result<bool> ImageReader::load(const Contents& contents) {
  TRY(auto checkpoint, checkpoint_of(*store_, superblock_));
  bool changed = !(checkpoint == checkpoint_) || map_known_.empty();
  checkpoint_ = std::move(checkpoint);
  const auto entries = [](std::uint32_t block, std::uint32_t in_a_block, std::uint32_t all) {
    return std::pair(block * in_a_block, std::min(all, (block + 1) * in_a_block));
  };
  map_.resize(superblock_.inodes);
  map_known_.resize(superblock_.map_blocks());
  for (std::uint32_t i = 0; i < superblock_.map_blocks(); ++i) {
    const auto [first, end] = entries(i, superblock_.map_entries_per_block(), superblock_.inodes);
    if (checkpoint_.map_blocks[i] == 0) {
      if (map_known_[i].address != 0)
        std::fill(map_.begin() + first, map_.begin() + end, MapEntry{});
      map_known_[i] = {};
      continue;
    }
    TRY(const auto anew,
        fetch(map_known_[i], checkpoint_.map_blocks[i], contents, "lfs inode map", i));
    changed = changed || anew;
    for (std::uint32_t n = first; anew && n < end; ++n)
      map_[n] =
          decode_map_entry(std::span(block_).subspan(std::size_t{n - first} * kMapEntryBytes));
  }
  usage_.resize(superblock_.segments);
  table_bytes_.assign(superblock_.segments, 0);
  for (const SectorAddress address : checkpoint_.usage_blocks)
    table_bytes_[superblock_.segment_of(address)] += superblock_.block_bytes;
  usage_known_.resize(superblock_.usage_blocks());
  for (std::uint32_t i = 0; i < superblock_.usage_blocks(); ++i) {
    const auto [first, end] =
        entries(i, superblock_.usage_entries_per_block(), superblock_.segments);
    TRY(const auto anew,
        fetch(usage_known_[i], checkpoint_.usage_blocks[i], contents, "lfs usage table", i));
    changed = changed || anew;
    for (std::uint32_t n = first; anew && n < end; ++n)
      usage_[n] =
          decode_usage(std::span(block_).subspan(std::size_t{n - first} * kUsageEntryBytes));
  }
  if (superblock_.long_usage_table()) {
    settled_usage_ = usage_;
    settle_states(superblock_, checkpoint_, settled_usage_);
  }
  return changed;
}

Result<std::vector<std::byte>> ImageReader::block_at(SectorAddress address,
                                                     std::uint32_t bytes) const {
  if (!superblock_.holds(address, bytes / kSectorBytes))
    return fail("lfs", fmt::format("address {} is outside of all segments", address));
  std::vector<std::byte> block(bytes);
  TRY(store_->read(address, block));
  return block;
}

Result<ImageReader::Summaries> ImageReader::summaries(SegmentNumber number) const {
  Summaries all;
  std::vector<std::byte> bytes;
  std::uint64_t last = 0;
  for (std::uint32_t at = 0; at < superblock_.segment_sectors;) {
    const SectorAddress start = superblock_.segment_start(number) + at;
    const std::uint32_t room = superblock_.segment_sectors - at;
    bytes.resize(kSectorBytes);
    TRY(store_->read(start, bytes));
    const auto own = lfs::summary_sectors(bytes, superblock_);
    if (!own || *own > room) break;
    bytes.resize(std::size_t{*own} * kSectorBytes);
    if (*own > 1) TRY(store_->read(start, bytes));
    const auto summary = decode_summary(bytes, superblock_, room);
    if (!summary || summary->sequence <= last) break;
    last = summary->sequence;
    SectorAddress address = start + summary->summary_sectors();
    all.own_sectors += summary->sectors;
    for (const SummaryEntry& entry : summary->entries) {
      all.blocks.push_back({address, entry});
      address += entry.sectors;
      all.own_sectors -= entry.sectors;
    }
    at += summary->sectors;
  }
  return all;
}

Result<Inode> ImageReader::inode(InodeNumber number) const {
  if (number >= map_.size() || !map_[number].allocated())
    return fail(subject(number), "is not allocated");
  TRY(const auto sector, block_at(map_[number].address, kSectorBytes));
  const auto bytes = std::span<const std::byte>(sector).subspan(
      std::size_t{map_[number].slot} * kInodeBytes, kInodeBytes);
  if (!inode_intact(bytes, superblock_)) return fail(subject(number), "bad checksum");
  const Inode inode = decode_inode(bytes);
  if (inode.number != number || !inode.allocated())
    return fail(subject(number), "is not at the address in the inode map");
  return inode;
}

Result<void> ImageReader::visit_below(const Inode& inode, const Block& block,
                                      tree::BlockBudget& sectors,
                                      const std::function<void(const Block&)>& visit) const {
  if (!superblock_.holds(block.address, block.bytes / kSectorBytes))
    return fail(subject(inode.number),
                fmt::format("address {} is outside of all segments", block.address));
  if (!sectors.take(block.bytes / kSectorBytes))
    return fail(subject(inode.number), "has more index blocks than the device has blocks");
  visit(block);
  if (block.id.level == 0) return {};
  TRY(const auto bytes, block_at(block.address, block.bytes));
  const std::uint32_t p = superblock_.pointers_per_block();
  const auto level = static_cast<std::uint8_t>(block.id.level - 1);
  const std::uint64_t first =
      std::uint64_t{block.id.index} * p + (level == 0 ? kDirectPointers : 1U);
  for (std::uint32_t i = 0; i < p; ++i) {
    const SectorAddress address = load32(bytes, std::size_t{i} * kPointerBytes);
    if (address == 0) continue;
    if (first + i >= superblock_.blocks_of_level(level))
      return fail(subject(inode.number), "has a block beyond the maximum file size");
    const BlockId id{level, static_cast<std::uint32_t>(first + i)};
    const Block below{id, address, superblock_.stored_bytes(inode.size_bytes, id)};
    TRY(visit_below(inode, below, sectors, visit));
  }
  return {};
}

Result<void> ImageReader::each_block(const Inode& inode,
                                     const std::function<void(const Block&)>& visit) const {
  tree::BlockBudget sectors(superblock_.log_sectors());
  return each_block(inode, sectors, visit);
}

Result<void> ImageReader::each_block(const Inode& inode, tree::BlockBudget& sectors,
                                     const std::function<void(const Block&)>& visit) const {
  for (std::uint32_t i = 0; i < kPointers; ++i) {
    if (inode.pointers[i] == 0) continue;
    const BlockId id = block_of_pointer(i);
    const Block block{id, inode.pointers[i], superblock_.stored_bytes(inode.size_bytes, id)};
    TRY(visit_below(inode, block, sectors, visit));
  }
  return {};
}

Result<SectorAddress> ImageReader::address_of(const Inode& inode, BlockId block) const {
  const PointerPlace place = superblock_.pointer_place(block);
  if (place.in_inode) return inode.pointers[place.slot];
  const auto parent = address_of(inode, place.parent);
  if (!parent || *parent == 0) return parent;
  TRY(const auto bytes, block_at(*parent, superblock_.block_bytes));
  return load32(bytes, std::size_t{place.slot} * kPointerBytes);
}

Result<std::size_t> ImageReader::read(const Inode& inode, std::uint64_t offset,
                                      std::span<std::byte> into) const {
  if (inode.size_bytes > superblock_.file_bytes_max())
    return fail(subject(inode.number), "exceeds the maximum file size");
  if (offset >= inode.size_bytes) return std::size_t{0};
  const std::size_t length = std::min<std::uint64_t>(into.size(), inode.size_bytes - offset);
  for (std::size_t done = 0; done < length;) {
    const std::uint64_t at = offset + done;
    const BlockId id{0, static_cast<std::uint32_t>(at / superblock_.block_bytes)};
    const std::size_t start = at % superblock_.block_bytes;
    const std::size_t count = std::min<std::size_t>(superblock_.block_bytes - start, length - done);
    TRY(const auto address, address_of(inode, id));
    if (address == 0) {
      std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(done), count, std::byte{0});
    } else {
      TRY(const auto block, block_at(address, superblock_.stored_bytes(inode.size_bytes, id)));
      std::memcpy(into.data() + done, block.data() + start, count);
    }
    done += count;
  }
  return length;
}

Result<std::string> ImageReader::readlink(const Inode& inode) const {
  return adapters::read_target(*this, inode, damaged_inode);
}

Result<std::vector<NamedInode>> ImageReader::entries(const Inode& directory) const {
  return adapters::read_directory(*this, directory, store_->sectors() * kSectorBytes,
                                  superblock_.block_bytes, damaged_inode);
}

}  // namespace headcrash::lfs
