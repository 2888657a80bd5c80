#include "fs-adapters/snapfs/mkfs.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/little_endian.h"

namespace headcrash::snapfs {
using namespace little_endian;
namespace {

constexpr std::uint32_t kInodesMin = 16;
constexpr std::uint64_t kBlocksMax = 0xffff'ffff;
constexpr std::uint32_t kFreeBlocksMin = 64;  // copy-on-write does not work without free blocks

/// Allocates consecutive blocks and writes them.
class Writer {
 public:
  Writer(model::SectorStore& store, const Superblock& s)
      : store_(store), s_(s), next_(s.first_block()) {}

  BlockAddress next() const { return next_; }
  Result<BlockAddress> put(std::span<const std::byte> block) {
    TRY(store_.write(s_.lba_of(next_), block));
    return next_++;
  }
  /// Writes the address blocks that lead to a tree's first leaf.
  Result<BlockAddress> put_above(BlockAddress leaf, const TreeShape& shape) {
    Result<BlockAddress> at = leaf;
    for (std::uint32_t level = 0; level < shape.depth && at; ++level) {
      std::vector<std::byte> node(s_.block_bytes);
      store32(node, 0, *at);
      at = put(node);
    }
    return at;
  }

 private:
  model::SectorStore& store_;
  const Superblock& s_;
  BlockAddress next_;
};

void set_bits(std::span<std::byte> map, std::uint32_t end) {
  for (std::uint32_t i = 0; i < end; ++i) map[i / 8] |= std::byte{1} << (i % 8);
}

Result<Superblock> lay_out(std::uint64_t device_sectors, const MkfsOptions& o) {
  if (!std::has_single_bit(o.block_bytes) || o.block_bytes < kBlockBytesMin ||
      o.block_bytes > kBlockBytesMax)
    return fail("mkfs", fmt::format("invalid block size: {} bytes", o.block_bytes),
                fmt::format("use a power of 2 from {} to {}", kBlockBytesMin, kBlockBytesMax));
  if (o.bytes_per_inode < kInodeBytes)
    return fail("mkfs", "the inodes do not fit on the device", "use more bytes per inode");
  Superblock s{.id = o.id,
               .block_bytes = o.block_bytes,
               .version_check = o.version_check,
               .log_blocks = (o.log_bytes + o.block_bytes - 1) / o.block_bytes,
               .generation = 1,
               .clean = true,
               .time = o.time};
  if (device_sectors / s.sectors_per_block() > kBlocksMax)
    return fail(
        "mkfs",
        fmt::format(
            "a device of {} bytes exceeds the limit of {} blocks of {} bytes for 32-bit addresses",
            device_sectors * kSectorBytes, kBlocksMax, s.block_bytes),
        "use a smaller device or larger blocks");
  s.blocks = static_cast<std::uint32_t>(device_sectors / s.sectors_per_block());
  const std::uint64_t inodes_max =
      std::min<std::uint64_t>(1U << 28, std::uint64_t{s.blocks} * s.records_per_block());
  if (o.inodes > inodes_max)
    return fail("mkfs --inodes",
                fmt::format("{} inodes exceed the device's limit of {}", o.inodes, inodes_max),
                fmt::format("use at most {}", inodes_max));
  const std::uint64_t by_size = device_sectors * kSectorBytes / o.bytes_per_inode;
  s.inodes = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      std::min<std::uint64_t>(o.inodes != 0 ? o.inodes : by_size, inodes_max), kInodesMin));
  const std::uint64_t taken = s.first_block() + std::uint64_t{s.block_tree().blocks()} +
                              s.inode_tree().blocks() + s.record_tree().nodes + 2;
  if (s.blocks < taken + kFreeBlocksMin)
    return fail("mkfs", fmt::format("{} blocks of {} bytes are too few", s.blocks, s.block_bytes),
                fmt::format("use a device of {} bytes or more, or smaller blocks",
                            (taken + kFreeBlocksMin) * s.block_bytes));
  return s;
}

}  // namespace

Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options) {
  auto laid_out = lay_out(store.sectors(), options);
  if (!laid_out) return laid_out;
  Superblock& s = *laid_out;
  Writer writer(store, s);
  // Erases the superblocks and the log of the previous file system.
  TRY(store.write_zeroes(s.lba_of(s.log_block()), s.log_bytes() / kSectorBytes));
  for (const std::uint64_t at : kSlotAt)
    TRY(store.write_zeroes(at / kSectorBytes, kSuperblockBytes / kSectorBytes));

  std::vector<std::byte> block(s.block_bytes);
  tree::format_chunks(block);
  tree::format_directory(std::span(block).first(tree::kChunkBytes), kRootInode, kRootInode);
  TRY(const auto directory, writer.put(block));

  Inode root;
  root.number = kRootInode;
  root.mode = tree::kTypeDirectory | 0755;
  root.links = 2;
  root.size_bytes = tree::kChunkBytes;
  root.accessed = root.modified = root.changed = options.time;
  root.blocks = 1;
  root.pointers[0] = directory;
  std::ranges::fill(block, std::byte{0});
  encode(root, std::span(block).subspan(std::size_t{kRootInode} * kInodeBytes, kInodeBytes));
  TRY(const auto records, writer.put(block));
  TRY(s.record_map, writer.put_above(records, s.record_tree()));

  std::ranges::fill(block, std::byte{0});
  set_bits(block, kRootInode + 1);
  TRY(const auto inodes, writer.put(block));
  TRY(s.inode_map, writer.put_above(inodes, s.inode_tree()));

  // The block map's own blocks are also in use and must be marked. The map's first leaf covers all
  // blocks in use.
  const std::uint32_t used = writer.next() + 1 + s.block_tree().depth;
  std::ranges::fill(block, std::byte{0});
  set_bits(block, used);
  TRY(const auto blocks, writer.put(block));
  TRY(s.block_map, writer.put_above(blocks, s.block_tree()));

  s.free_blocks = s.blocks - used;
  s.free_inodes = s.inodes - kRootInode - 1;
  TRY(store.write(slot_lba(1), encode(s)));
  return s;
}

}  // namespace headcrash::snapfs
