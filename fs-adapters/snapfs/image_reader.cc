// Reads an image by following its trees, pointers and names (image_reader.h).
#include "fs-adapters/snapfs/image_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fs-adapters/snapfs/log_record.h"
#include "plugin/base/little_endian.h"

namespace headcrash::snapfs {
using namespace little_endian;
namespace {

std::string subject(InodeNumber number) {
  return fmt::format("snapfs inode {}", number);
}

tl::unexpected<Error> damaged_inode(std::uint64_t number, std::string problem) {
  return fail(subject(static_cast<InodeNumber>(number)), std::move(problem));
}

}  // namespace

Result<ImageReader> ImageReader::open(const model::SectorStore& store) {
  TRY(const auto superblock, read_superblock(store));
  ImageReader reader(store, superblock);
  reader.find_record_blocks(superblock.record_map, superblock.record_tree(), 0, 0);
  TRY(reader.read_log());
  return reader;
}

Result<ImageReader> ImageReader::open_snapshot(const model::SectorStore& store,
                                               const Superblock& newest,
                                               const SnapshotEntry& snapshot) {
  ImageReader reader(store, superblock_of(snapshot, newest));
  reader.find_record_blocks(reader.s_.record_map, reader.s_.record_tree(), 0, 0);
  return reader;
}

Result<void> ImageReader::read_log() {
  if (s_.log_blocks == 0) return {};
  std::vector<std::byte> log(s_.log_bytes());
  TRY(store_->read(s_.lba_of(s_.log_block()), log));
  for (const LogRecord& record : records_of(log, s_)) {
    ++logged_.records;
    for (const Inode& inode : record.inodes) logged_.inodes[inode.number] = inode;
    for (const InodeNumber number : record.removed) logged_.inodes[number] = std::nullopt;
    for (const BlockAddress address : record.born) logged_.blocks[address] = true;
    for (const BlockAddress address : record.freed) logged_.blocks[address] = false;
    for (const InodeNumber number : record.numbers_born) logged_.numbers[number] = true;
    for (const InodeNumber number : record.numbers_freed) logged_.numbers[number] = false;
    s_.generation = record.generation();
    s_.clean = false;
    s_.free_blocks = record.free_blocks;
    s_.free_inodes = record.free_inodes;
    s_.unlinked = record.unlinked;
    s_.next_generation = record.next_generation;
    s_.time = record.time;
  }
  return {};
}

/// Finds the blocks of the record map. Leaves out subtrees with invalid addresses, which the
/// checker reports.
void ImageReader::find_record_blocks(BlockAddress at, const TreeShape& shape, std::uint32_t level,
                                     std::uint64_t first_leaf) {
  if (at == 0 || first_leaf >= shape.leaves) return;
  if (level == shape.depth) {
    record_blocks_[first_leaf] = at;
    return;
  }
  const auto block = block_at(at);
  if (!block) return;
  std::uint64_t each = 1;
  for (std::uint32_t below = shape.depth - 1 - level; below > 0; --below) each *= shape.fanout;
  for (std::uint32_t i = 0; i < shape.fanout; ++i)
    find_record_blocks(load32(*block, std::size_t{i} * kPointerBytes), shape, level + 1,
                       first_leaf + each * i);
}

Result<std::vector<std::byte>> ImageReader::block_at(BlockAddress address) const {
  if (!s_.holds(address))
    return fail("snapfs", fmt::format("has the invalid block address {}", address));
  std::vector<std::byte> block(s_.block_bytes);
  TRY(store_->read(s_.lba_of(address), block));
  return block;
}

Result<bool> ImageReader::visit_tree(BlockAddress at, const TreeShape& shape, std::uint32_t level,
                                     std::uint32_t first_leaf, const VisitTree& visit) const {
  if (at == 0) return true;
  TRY(const auto block, block_at(at));
  if (level == shape.depth) return visit(at, &first_leaf, block);
  if (!visit(at, nullptr, block)) return false;
  std::uint64_t each = 1;
  for (std::uint32_t below = shape.depth - 1 - level; below > 0; --below) each *= shape.fanout;
  for (std::uint32_t i = 0; i < shape.fanout; ++i) {
    const BlockAddress child = load32(block, std::size_t{i} * kPointerBytes);
    if (child == 0) continue;
    const std::uint64_t leaf = first_leaf + each * i;
    if (leaf >= shape.leaves)
      return fail("snapfs",
                  fmt::format("block {} refers to a leaf beyond the end of the tree", at));
    auto done = visit_tree(child, shape, level + 1, static_cast<std::uint32_t>(leaf), visit);
    if (!done || !*done) return done;
  }
  return true;
}

Result<void> ImageReader::each_tree_block(BlockAddress root, const TreeShape& shape,
                                          const VisitTree& visit) const {
  TRY(visit_tree(root, shape, 0, 0, visit));
  return {};
}

BlockAddress ImageReader::record_block(InodeNumber number) const {
  const std::uint32_t leaf = number / s_.records_per_block();
  return leaf < record_blocks_.size() ? record_blocks_[leaf] : 0;
}

std::uint64_t ImageReader::place_of(InodeNumber number) const {
  const auto logged = logged_.inodes.find(number);
  if (logged == logged_.inodes.end()) return record_block(number);
  std::array<std::byte, kInodeBytes> record = {};
  if (logged->second) encode(*logged->second, record);
  constexpr std::uint64_t kNoBlock = std::uint64_t{1} << 32U;
  // Uses the checksum that the record contains. A CRC of the whole record, including that checksum,
  // would be the same number for every record.
  return kNoBlock | load32(record, kInodeBytes - 4);
}

Result<std::optional<Inode>> ImageReader::record(InodeNumber number) const {
  if (const auto logged = logged_.inodes.find(number); logged != logged_.inodes.end())
    return logged->second;
  const BlockAddress at = record_block(number);
  if (at == 0 || number >= s_.inodes) return std::optional<Inode>();
  if (!s_.holds(at)) return fail("snapfs", fmt::format("has the invalid block address {}", at));
  // Reads only the sector that contains the record. Callers that cache inodes then need not reread
  // the inode if another inode in the block changes.
  const std::size_t offset = std::size_t{number % s_.records_per_block()} * kInodeBytes;
  std::array<std::byte, kSectorBytes> sector;
  TRY(store_->read(s_.lba_of(at) + offset / kSectorBytes, sector));
  return decode_inode(std::span(sector).subspan(offset % kSectorBytes, kInodeBytes), number, s_);
}

Result<Inode> ImageReader::inode(InodeNumber number) const {
  TRY(const auto found, record(number));
  if (!found) return fail(subject(number), "is not allocated");
  return *found;
}

Result<bool> ImageReader::visit_below(const Inode& inode, const Block& block,
                                      tree::BlockBudget& budget,
                                      const std::function<bool(const Block&)>& visit) const {
  if (block.address == 0) return true;
  if (!s_.holds(block.address))
    return fail(subject(inode.number),
                fmt::format("has the invalid block address {}", block.address));
  if (!budget.take())
    return fail(subject(inode.number), "has more address blocks than the device has blocks");
  if (!visit(block)) return false;
  if (block.level == 0) return true;
  TRY(const auto bytes, block_at(block.address));
  const std::uint32_t p = s_.pointers_per_block();
  std::uint64_t each = 1;
  for (std::uint32_t i = 1; i < block.level; ++i) each *= p;
  for (std::uint32_t i = 0; i < p; ++i) {
    const Block below{block.level - 1, block.index + each * i,
                      load32(bytes, std::size_t{i} * kPointerBytes)};
    if (below.address != 0 && below.index >= s_.blocks_per_file_max())
      return fail(subject(inode.number), "has a block beyond the maximum file size");
    auto done = visit_below(inode, below, budget, visit);
    if (!done || !*done) return done;
  }
  return true;
}

Result<void> ImageReader::each_block(const Inode& inode,
                                     const std::function<bool(const Block&)>& visit) const {
  std::uint64_t start = 0, span = 1;
  tree::BlockBudget budget(s_.blocks);
  for (std::uint32_t i = 0; i < inode.pointers.size(); ++i) {
    const std::uint32_t level = i < kDirectPointers ? 0 : i - kDirectPointers + 1;
    if (level > 0) span *= s_.pointers_per_block();
    TRY(const auto done, visit_below(inode, {level, start, inode.pointers[i]}, budget, visit));
    if (!done) return {};
    start += span;
  }
  return {};
}

Result<BlockAddress> ImageReader::address_of(const Inode& inode, std::uint64_t block) const {
  const PointerPath path = s_.path_to(block);
  BlockAddress at = inode.pointers[path.root];
  for (std::uint32_t level = 0; level < path.depth && at != 0; ++level) {
    TRY(const auto bytes, block_at(at));
    at = load32(bytes, std::size_t{path.slots[level]} * kPointerBytes);
  }
  return at;
}

Result<std::vector<BlockAddress>> ImageReader::addresses(const Inode& inode,
                                                         std::uint64_t blocks) const {
  if (blocks > s_.blocks_per_file_max() || blocks > store_->sectors() * 64)
    return fail(subject(inode.number), "has too many blocks to list");
  std::vector<BlockAddress> found(blocks);
  TRY(each_block(inode, [&](const Block& block) {
    if (block.level == 0 && block.index < blocks) found[block.index] = block.address;
    return true;
  }));
  return found;
}

Result<std::size_t> ImageReader::read(const Inode& inode, std::uint64_t offset,
                                      std::span<std::byte> into) const {
  if (offset >= inode.size_bytes) return std::size_t{0};
  const std::size_t length = std::min<std::uint64_t>(into.size(), inode.size_bytes - offset);
  std::vector<std::byte> sectors;
  for (std::size_t done = 0; done < length;) {
    const std::uint64_t at = offset + done;
    const std::size_t start = at % s_.block_bytes;
    const std::size_t count = std::min<std::size_t>(s_.block_bytes - start, length - done);
    TRY(const auto address, address_of(inode, at / s_.block_bytes));
    if (address == 0) {
      std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(done), count, std::byte{0});
    } else {
      if (!s_.holds(address))
        return fail("snapfs", fmt::format("has the invalid block address {}", address));
      const std::size_t first = start / kSectorBytes,
                        end = (start + count + kSectorBytes - 1) / kSectorBytes;
      sectors.resize((end - first) * kSectorBytes);
      TRY(store_->read(s_.lba_of(address) + first, sectors));
      std::memcpy(into.data() + done, sectors.data() + start % kSectorBytes, count);
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
                                  s_.block_bytes, damaged_inode);
}

Result<std::vector<NamedInode>> ImageReader::names(InodeNumber directory) const {
  TRY(const auto found, inode(directory));
  auto all = entries(found);
  if (all)
    std::erase_if(*all, [](const NamedInode& one) { return one.name == "." || one.name == ".."; });
  return all;
}

Result<Inode> ImageReader::lookup(std::string_view path) const {
  TRY(const auto found,
      adapters::look_up_in_image(kRootInode, path, [this](std::uint64_t directory) {
        return names(static_cast<InodeNumber>(directory));
      }));
  return inode(static_cast<InodeNumber>(found));
}

Result<void> ImageReader::walk(const std::function<void(const Found&)>& visit) const {
  return adapters::walk_image(
      kRootInode,
      [this](std::uint64_t directory) { return names(static_cast<InodeNumber>(directory)); },
      [&](const std::string& path, const NamedInode& entry) -> Result<bool> {
        TRY(const auto found, inode(entry.inode));
        visit({path, found});
        return found.is_directory();
      },
      damaged_inode);
}

}  // namespace headcrash::snapfs
