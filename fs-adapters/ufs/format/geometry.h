#pragma once
// Addresses computed from a valid superblock (format.h), in fragments:
//
//   group 0:  boot  superblock | replica | header | inodes ... | data ......................... |
//   group c:  data             | replica | header | inodes ... | data ......................... |
//             ^base              ^+superblock_offset ^+inodes_offset ^+data_offset  base of c+1 ^
//
// With the feature foreign_block, the list of foreign inodes continues in a block after the header
// (busy_marks.h). With a stagger (old file systems), everything from the replica on is shifted by
// group_start() - group_base(). An inode points directly to the first 12 blocks of the file, and to
// further blocks through one, two or three levels of indirect blocks:
//
//   block 0 ... 11 | 12 ... 11+n | ... +n*n | ... +n*n*n          n = block size / 4
//   direct         | indirect[0] | [1]      | [2]

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "fs-adapters/ufs/format/format.h"

namespace headcrash::ufs {

/// The position of an inode, `offset` bytes from the beginning of the block at `block`.
struct InodePlace {
  FragmentAddress block = 0;
  std::uint32_t offset = 0;
};

/// The path of pointers from an inode to a block. With 0 levels, the pointer is direct[index[0]].
/// Otherwise the path begins with indirect[levels - 1], continues with pointer index[0] in that
/// block, then with index[1] in the next one, and so on.
struct BlockPath {
  std::uint32_t levels = 0;
  std::array<std::uint32_t, kIndirectPointers> index = {};
};

class Geometry {
 public:
  Geometry() = default;
  bool operator==(const Geometry&) const = default;
  explicit Geometry(const Superblock& s)
      : superblock_offset_(s.superblock_offset),
        header_offset_(s.header_offset),
        inodes_offset_(s.inodes_offset),
        data_offset_(s.data_offset),
        stagger_(s.stagger),
        stagger_mask_(s.stagger_mask),
        size_fragments_(s.size_fragments),
        groups_(s.groups),
        inodes_per_group_(s.inodes_per_group),
        fragments_per_group_(s.fragments_per_group),
        header_bytes_(s.header_bytes),
        block_shift_(shift_of(s.block_bytes)),
        fragment_shift_(shift_of(s.fragment_bytes)),
        inline_target_max_(s.inline_target_max),
        features_(s.features) {}

  // Sizes.
  std::uint32_t block_bytes() const { return 1U << block_shift_; }
  std::uint32_t fragment_bytes() const { return 1U << fragment_shift_; }
  std::uint32_t fragments_per_block() const { return 1U << (block_shift_ - fragment_shift_); }
  std::uint32_t pointers_per_block() const { return block_bytes() / 4; }          // NINDIR
  std::uint32_t inodes_per_block() const { return block_bytes() / kInodeBytes; }  // INOPB
  std::uint32_t size_fragments() const { return size_fragments_; }
  std::uint32_t groups() const { return groups_; }
  std::uint32_t inodes_per_group() const { return inodes_per_group_; }
  std::uint32_t fragments_per_group() const { return fragments_per_group_; }
  std::uint32_t header_bytes() const { return header_bytes_; }
  std::uint32_t inline_target_max() const { return inline_target_max_; }
  /// Number of slots for inodes.
  std::uint32_t inodes() const { return groups_ * inodes_per_group_; }
  const Features& features() const { return features_; }

  std::uint64_t byte_of(FragmentAddress fragment) const {
    return std::uint64_t{fragment} << fragment_shift_;
  }
  std::uint64_t lba_of(FragmentAddress fragment) const { return byte_of(fragment) / kSectorBytes; }
  std::uint32_t sectors_per_fragment() const { return fragment_bytes() / kSectorBytes; }

  // Groups.
  FragmentAddress group_base(std::uint32_t group) const {
    return group * fragments_per_group_;
  }  // cgbase
  FragmentAddress group_start(std::uint32_t group) const {  // cgstart
    return group_base(group) + stagger_ * (group & ~stagger_mask_);
  }
  FragmentAddress replica(std::uint32_t group) const {
    return group_start(group) + superblock_offset_;
  }
  FragmentAddress header(std::uint32_t group) const {
    return group_start(group) + header_offset_;
  }  // cgtod
  /// Returns the block after the group's header. Requires the feature foreign_block.
  FragmentAddress foreign_block(std::uint32_t group) const {
    return header(group) + fragments_per_block();
  }
  FragmentAddress inode_table(std::uint32_t group) const {
    return group_start(group) + inodes_offset_;
  }
  /// Returns the first fragment after the inode table. Data extends from there to the end of the
  /// group.
  FragmentAddress data_start(std::uint32_t group) const {
    return group_start(group) + data_offset_;
  }  // cgdmin
  /// Returns the end of the data that precedes the replica of the superblock in this group. In
  /// group 0, no data precedes the replica, but only the boot block and the superblock.
  FragmentAddress early_data_end(std::uint32_t group) const {
    return group == 0 ? 0 : replica(group);
  }
  /// Returns the number of fragments in the group. The last group may be smaller than the others.
  std::uint32_t group_fragments(std::uint32_t group) const {
    return std::min(fragments_per_group_, size_fragments_ - group_base(group));
  }
  std::uint32_t group_of_fragment(FragmentAddress fragment) const {
    return fragment / fragments_per_group_;
  }
  std::uint32_t index_in_group(FragmentAddress fragment) const {
    return fragment % fragments_per_group_;
  }
  bool is_data(FragmentAddress fragment) const {
    if (fragment >= size_fragments_) return false;
    const std::uint32_t group = group_of_fragment(fragment);
    return fragment >= data_start(group) || fragment < early_data_end(group);
  }

  /// Returns true if a pointer may refer to these fragments: they must be data fragments within one
  /// block.
  bool is_run(FragmentAddress at, std::uint32_t fragments) const {
    return index_in_group(at) % fragments_per_block() + fragments <= fragments_per_block() &&
           is_data(at) && (fragments <= 1 || is_data(at + fragments - 1));
  }
  bool is_block(FragmentAddress at) const { return is_run(at, fragments_per_block()); }

  // Inodes.
  std::uint32_t group_of_inode(InodeNumber inode) const { return inode / inodes_per_group_; }
  std::uint32_t inode_index_in_group(InodeNumber inode) const { return inode % inodes_per_group_; }
  bool is_inode(InodeNumber inode) const {
    return inode >= kRootInode && inode < inodes() && !is_extension(inode);
  }
  /// Returns true if the slot is the extension of the preceding inode (inode_extension.h).
  bool is_extension(InodeNumber slot) const { return features_.extensions() && slot % 2 != 0; }
  InodePlace place_of(InodeNumber inode) const {
    const std::uint32_t index = inode_index_in_group(inode);
    const std::uint32_t block = index / inodes_per_block();
    return {.block = inode_table(group_of_inode(inode)) + block * fragments_per_block(),
            .offset = index % inodes_per_block() * kInodeBytes};
  }

  // Files.
  std::uint64_t block_of(std::uint64_t byte) const { return byte >> block_shift_; }  // lblkno
  std::uint32_t offset_in_block(std::uint64_t byte) const {                          // blkoff
    return static_cast<std::uint32_t>(byte & (block_bytes() - 1));
  }
  std::uint64_t blocks_of_size(std::uint64_t bytes) const {
    return (bytes >> block_shift_) + (offset_in_block(bytes) != 0 ? 1 : 0);
  }
  std::uint32_t fragments_of(std::uint32_t bytes) const {  // numfrags(fragroundup())
    return (bytes + fragment_bytes() - 1) >> fragment_shift_;
  }
  /// Returns the number of fragments in block `block` of a file of `size_bytes`. All blocks are
  /// whole, except possibly the last one if it is a direct block (blksize).
  std::uint32_t fragments_of_block(std::uint64_t size_bytes, std::uint64_t block) const {
    if (block >= kDirectPointers || size_bytes >= (block + 1) << block_shift_)
      return fragments_per_block();
    return fragments_of(offset_in_block(size_bytes));
  }
  /// Returns the first block that cannot be reached with `levels` levels of pointers.
  std::uint64_t blocks_within(std::uint32_t levels) const {
    std::uint64_t blocks = kDirectPointers;
    for (std::uint32_t level = 1; level <= levels; ++level) blocks += blocks_below(level);
    return blocks;
  }
  /// Returns the number of file blocks below a pointer with `levels` levels of indirect blocks; 1
  /// if `levels` is 0.
  std::uint64_t blocks_below(std::uint32_t levels) const {
    return std::uint64_t{1} << (levels * pointer_shift());
  }
  std::uint64_t file_blocks_max() const { return blocks_within(kIndirectPointers); }
  /// Returns the maximum file size. It is limited by the number of pointers and, as in other
  /// systems, by 31-bit block numbers.
  std::uint64_t file_bytes_max() const {
    return std::min<std::uint64_t>(file_blocks_max(), 0x7fffffff) << block_shift_;
  }
  /// Returns the first block whose pointer is in the same lowest-level indirect block as the
  /// pointer of `block`. `block` must not be a direct block.
  std::uint64_t first_of_indirect(std::uint64_t block) const {
    return block - (block - kDirectPointers) % pointers_per_block();
  }
  /// `block` must be less than file_blocks_max().
  BlockPath path_of(std::uint64_t block) const {
    if (block < kDirectPointers) return {.levels = 0, .index = {static_cast<std::uint32_t>(block)}};
    BlockPath path{.levels = 1};
    block -= kDirectPointers;
    while (block >= blocks_below(path.levels)) block -= blocks_below(path.levels++);
    for (std::uint32_t i = 0; i < path.levels; ++i)
      path.index[i] =
          static_cast<std::uint32_t>(block >> ((path.levels - 1 - i) * pointer_shift())) &
          (pointers_per_block() - 1);
    return path;
  }

 private:
  static std::uint32_t shift_of(std::uint32_t value) {
    return static_cast<std::uint32_t>(std::countr_zero(value));
  }
  std::uint32_t pointer_shift() const { return block_shift_ - 2; }

  std::uint32_t superblock_offset_ = 0, header_offset_ = 0, inodes_offset_ = 0, data_offset_ = 0;
  std::uint32_t stagger_ = 0, stagger_mask_ = 0xffffffffU;
  std::uint32_t size_fragments_ = 0, groups_ = 0, inodes_per_group_ = 0, fragments_per_group_ = 1;
  std::uint32_t header_bytes_ = 0;
  std::uint32_t block_shift_ = 13, fragment_shift_ = 10;
  std::uint32_t inline_target_max_ = 0;
  Features features_;
};

}  // namespace headcrash::ufs
