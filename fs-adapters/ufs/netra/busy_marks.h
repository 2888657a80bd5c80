#pragma once
// What is busy in a cylinder group, over the bytes of its header (Peacock, Kamaraju and Agrawal
// 1998, sections 5.1 and 5.2). The marks count while the group's generation is the superblock's;
// then
//
//   a fragment or an inode that is not marked is what the group's maps say,
//   a fragment that is marked is free, or belongs to an inode that is marked here or listed as a
//   foreign one,
//
// whatever of the writes under way a power cut leaves. They are on the disk before what they are
// about changes (busy_groups.h), and a check needs to look at nothing else (fsck_fast.cc).
//
//   | header, maps | inodes: 2 bits each: busy, was a directory | fragments: 1 busy | foreign inodes ... |
//   0              ^ the first multiple of 8 behind the maps                         to the block's end
//
//   144 generation   152 directories among its inodes when none was busy
//
// A write of the header may be torn between sectors. Hence the two bits of an inode are side by
// side, the list has no length (0: nothing), and whoever begins a generation here clears the marks
// while the old one stands.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

/// The list goes on in a block of its own, with the feature foreign_block ("the adjacent block
/// containing any overflow", section 5.1). It counts when the header's marks do, and holds nothing
/// when a group becomes busy. Empty places are 0, wherever they are.
class ForeignBlock {
 public:
  explicit ForeignBlock(std::span<std::byte> block) : block_(block) {}
  std::vector<InodeNumber> inodes() const;
  /// False: it is full.
  bool add(InodeNumber inode);
  void clear();

 private:
  std::span<std::byte> block_;
};

class BusyMarks {
 public:
  static constexpr std::size_t kForeignUnbounded = ~std::size_t{0};
  /// So many bytes of a header beside `maps_end`, with room for the least number of foreign inodes.
  static std::uint64_t header_bytes(std::uint64_t maps_end, std::uint32_t inodes,
                                    std::uint32_t fragments);

  /// A header without a problem (CylinderGroup::problem_of), a whole block.
  BusyMarks(const Geometry& geometry, std::span<std::byte> header, std::uint32_t group);

  std::uint64_t generation() const;
  void set_generation(std::uint64_t generation);
  std::uint32_t quiet_directories() const;  ///< when the marks were cleared
  /// No inode and no fragment is busy; so many of the inodes are directories.
  void clear(std::uint32_t directories);

  // By the number within the group.
  bool inode_busy(std::uint32_t inode) const;
  bool inode_was_directory(std::uint32_t inode) const;
  void mark_inode(std::uint32_t inode, bool is_directory);
  bool fragment_busy(std::uint32_t fragment) const;
  void mark_fragments(std::uint32_t fragment, std::uint32_t count);
  void mark_free_fragments(const CylinderGroup& map);

  /// Of other groups, with blocks of this one.
  std::vector<InodeNumber> foreign_inodes() const;
  /// False: the list is full, or has `most`.
  bool add_foreign_inode(InodeNumber inode, std::size_t most = kForeignUnbounded);

 private:
  std::span<std::byte> header_;
  std::uint32_t fragments_;
  std::size_t inodes_at_, fragments_at_, foreign_at_, foreign_count_;
};

}  // namespace headcrash::ufs
