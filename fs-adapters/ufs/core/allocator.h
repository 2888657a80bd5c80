#pragma once
// Which blocks and inodes are taken: the policies of the Berkeley fast file system.
//
//   new directory     the group that has, of those with an average number of free inodes or more, the fewest
//                     directories
//   new file          its directory's group
//   first block       the group of the inode; behind the group's data that is in use already
//   next block        behind the block before it, if that is free; another group once a file has taken
//                     `blocks_per_file_in_group_max` in one, and for its first indirect block
//   end of a file     fragments: as few as it needs, in a block that is in use partly already (time), or that
//                     fits best (space), as the reserve comes near
//   group is full     the groups 1, 2, 4, ... further on, then all of them one by one
//
// Source: McKusick, Joy, Leffler and Fabry 1984, section 3.3; 4.4BSD book (format.h), section 8.2.
//
// A mount may choose otherwise (AllocationOptions); the format stays the same:
//
//   gap_blocks        how many blocks are left out behind each block of a file: skip-sector allocation, so that a
//                     processor and a controller that are not ready for the next block lose no
//                     revolution (1984, section 3.3; Rosenblum 1992, footnote to section 5.1)
//   Placement::spread what Rosenblum 1992 (sections 6.2.1.1 and 6.2.1.2) tells of Sprite OFS: no
//   cylinder groups
//                     keep a directory together; a file begins somewhere on the disk and its blocks
//                     lie one after another. That its number says where, and that inodes are taken
//                     from the lowest free number on, is ours.
//
//   Placement::hot_spot
//                     one group for everybody, its blocks and its inodes in the order of their
//                     numbers; where one of the two comes to its end the next group is the hot
//                     spot, from its start on. What is freed is used again a lap later, so that
//                     writes lie together and few groups are busy (Peacock, Kamaraju and Agrawal
//                     1998, section 3.4). A mount begins with the first group. Of a disk whose free
//                     space is in pieces blocks behind the hot spot that are in use in part are
//                     filled before others are broken; that is ours.
//
// Bitmaps change in the buffers of their groups, which are written delayed: no rule of order
// concerns them (fsck can say what is used), but that the schemes decide when something is free.

#include <cstdint>
#include <optional>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/ufs/core/lazy_inodes.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/vfs.h"

namespace headcrash::ufs {

class CylinderGroup;
class Geometry;
class Volume;
struct CoreInode;

/// In a group's map: what the fragments or the inode were is forgotten. False: damaged, nothing is
/// changed.
bool free_in_map(CylinderGroup& map, const Geometry& geometry, const Extent& extent);
bool free_inode_in_map(CylinderGroup& map, std::uint32_t index, bool is_directory);

/// How files are spread over the groups.
enum class Placement : std::uint8_t { by_directory, spread, hot_spot };

struct AllocationOptions {
  Placement placement = Placement::by_directory;
  std::uint32_t gap_blocks = 0;  ///< between the blocks of a file; not with `spread`
};

class Allocator {
 public:
  explicit Allocator(Volume& volume);
  void policy(const AllocationOptions& options) { options_ = options; }

  /// A place for block `block` of the file, `after` the place of the block before it (0: there is
  /// none).
  VfsResult<FragmentAddress> allocate(CoreInode& inode, std::int64_t block, FragmentAddress after,
                                      std::uint32_t fragments);
  /// More fragments behind those at `at`; false: what follows is taken.
  VfsResult<bool> extend(const CoreInode& inode, FragmentAddress at, std::uint32_t fragments,
                         std::uint32_t new_fragments);
  VfsResult<void> free(FragmentAddress at, std::uint32_t fragments);

  VfsResult<InodeNumber> allocate_inode(InodeNumber directory, bool is_directory);
  VfsResult<void> free_inode(InodeNumber number, bool is_directory);

  /// A group's header, held. EIO: what is there is none.
  VfsResult<os::HeldBuffer> read_group(std::uint32_t group);

  std::uint32_t hot_group() const { return hot_.group; }  ///< with Placement::hot_spot; else 0

  std::uint64_t free_fragments() const;  ///< in blocks and outside
  /// What users may take: without the reserve.
  std::uint64_t available_fragments() const;

 private:
  /// Which group is asked first, and for which place in it (0: any).
  struct Wanted {
    std::uint32_t group = 0;
    FragmentAddress at = 0;
  };
  Wanted wanted_place(const CoreInode& inode, std::int64_t block, FragmentAddress after) const;
  Wanted spread_place(const CoreInode& inode) const;
  std::uint32_t preferred_group(const CoreInode& inode, std::int64_t block,
                                FragmentAddress after) const;
  /// Where a search in a group begins, by numbers within it; `forward`: and does not go back behind
  /// it.
  struct Search {
    std::optional<std::uint32_t> block = {}, fragment = {};  ///< nothing: at the group's rotor
    bool forward = false;
    bool fills_blocks = false;  ///< fragments are taken behind it, too, before a block is broken
  };
  VfsResult<std::optional<FragmentAddress>> allocate_in(std::uint32_t group, const Search& from,
                                                        std::uint32_t fragments,
                                                        const CoreInode& inode);
  VfsResult<std::optional<FragmentAddress>> allocate_near(const CoreInode& inode,
                                                          std::int64_t block, FragmentAddress after,
                                                          std::uint32_t fragments);
  VfsResult<std::optional<FragmentAddress>> allocate_hot(std::uint32_t fragments,
                                                         const CoreInode& inode);
  VfsResult<std::optional<InodeNumber>> inode_in(std::uint32_t group,
                                                 std::optional<std::uint32_t> from,
                                                 bool is_directory);
  VfsResult<std::optional<InodeNumber>> inode_hot(bool is_directory);
  void leave_hot_group(std::uint32_t group);
  bool in_pieces() const;
  std::uint32_t group_for_directory() const;
  /// The sums in memory follow the group's own; its buffer is handed on.
  void changed(std::uint32_t group, const Summary& totals, os::HeldBuffer buffer);

  Volume& volume_;
  LazyInodes lazy_inodes_;
  AllocationOptions options_;
  /// The next numbers to be looked at in it.
  struct HotSpot {
    std::uint32_t group = 0, block = 0, fragment = 0, inode = 0;
  } hot_;
};

}  // namespace headcrash::ufs
