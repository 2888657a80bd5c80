#pragma once
// Busy marks of a cylinder group, in the bytes of its header (Peacock, Kamaraju and Agrawal 1998,
// sections 5.1 and 5.2). Marks are valid while the group has the superblock's generation. If they
// are, then after a power cut at any point of the writes in flight,
//
//   an unmarked fragment or inode is as the group's maps say, and
//   a marked fragment is free, or belongs to an inode that is marked here or listed as foreign.
//
// Marks are on the disk before the marked items change (busy_groups.h), and a check examines only
// marked items (fsck_fast.cc).
//
//   | header, maps | inodes, 2 bits: busy, was directory | fragments: 1 busy | foreign inodes ... |
//   0              ^ first multiple of 8 after the maps                         to the block's end
//
//   144 generation   152 number of directories among its inodes when the group was last quiet
//
// A write of the header may be torn between sectors. Therefore the two bits of an inode are
// adjacent, and the list has no length field (0: empty place). A new generation is begun by
// clearing the marks while the old generation is still recorded.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

/// A separate block that continues the list of foreign inodes, with the feature foreign_block ("the
/// adjacent block containing any overflow", section 5.1). The block is valid if the header's marks
/// are valid. It is empty when a group becomes busy. Empty places contain 0 and may be anywhere.
class ForeignBlock {
 public:
  explicit ForeignBlock(std::span<std::byte> block) : block_(block) {}
  std::vector<InodeNumber> inodes() const;
  /// Adds an inode. Returns false if the block is full.
  bool add(InodeNumber inode);
  void clear();

 private:
  std::span<std::byte> block_;
};

class BusyMarks {
 public:
  static constexpr std::size_t kForeignUnbounded = ~std::size_t{0};
  /// Returns the size, in bytes, of a header that contains maps up to `maps_end`, then busy marks,
  /// and then a foreign-inode list of minimum length.
  static std::uint64_t header_bytes(std::uint64_t maps_end, std::uint32_t inodes,
                                    std::uint32_t fragments);

  /// `header` must be a whole block that contains a valid header (CylinderGroup::problem_of).
  BusyMarks(const Geometry& geometry, std::span<std::byte> header, std::uint32_t group);

  std::uint64_t generation() const;
  void set_generation(std::uint64_t generation);
  /// Returns the number of directories that the last clear() recorded.
  std::uint32_t quiet_directories() const;
  /// Clears all marks. Records `directories`, the current number of directories among the group's
  /// inodes.
  void clear(std::uint32_t directories);

  // The arguments of the following functions are numbers relative to the group.
  bool inode_busy(std::uint32_t inode) const;
  bool inode_was_directory(std::uint32_t inode) const;
  void mark_inode(std::uint32_t inode, bool is_directory);
  bool fragment_busy(std::uint32_t fragment) const;
  void mark_fragments(std::uint32_t fragment, std::uint32_t count);
  void mark_free_fragments(const CylinderGroup& map);

  /// Returns the inodes in other groups that have blocks in this group.
  std::vector<InodeNumber> foreign_inodes() const;
  /// Returns false if the list is full or already has `most` entries.
  bool add_foreign_inode(InodeNumber inode, std::size_t most = kForeignUnbounded);

 private:
  std::span<std::byte> header_;
  std::uint32_t fragments_;
  std::size_t inodes_at_, fragments_at_, foreign_at_, foreign_count_;
};

}  // namespace headcrash::ufs
