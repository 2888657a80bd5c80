#pragma once
// Allocation of blocks and inodes, with the policies of the Berkeley fast file system:
//
//   new directory   of the groups whose number of free inodes is at least the average, the one with
//                   the fewest directories
//   new file        its directory's group
//   first block     the inode's group, after the data already in use there
//   next block      after the previous block if that is free; another group for the first indirect
//                   block, and once a file has `blocks_per_file_in_group_max` blocks in one group
//   end of a file   as few fragments as needed, in a partly used block (time), or in the best fit
//                   (space) when the reserve is nearly reached
//   group is full   the groups 1, 2, 4, ... further on, then all groups in turn
//
// Source: McKusick, Joy, Leffler and Fabry 1984, section 3.3; 4.4BSD book (format.h), section 8.2.
//
// A mount may select other policies (AllocationOptions); the format stays the same:
//
//   gap_blocks           number of blocks skipped after each block of a file: skip-sector
//                        allocation, so that a processor and a controller that are not ready for
//                        the next block lose no revolution (1984, section 3.3; Rosenblum 1992,
//                        footnote to section 5.1)
//   Placement::spread    Sprite OFS as described by Rosenblum 1992 (sections 6.2.1.1 and 6.2.1.2):
//                        no cylinder groups keep a directory together; a file begins anywhere on
//                        the disk and its blocks are contiguous. We derive the place from the
//                        file's number, and take the lowest free inode number.
//   Placement::hot_spot  a single group for all files, with blocks and inodes in ascending order;
//                        when either is exhausted, the next group becomes the hot spot. Freed
//                        space is reused when the hot spot reaches its group again, so writes are
//                        close together and few groups are busy (Peacock, Kamaraju and Agrawal
//                        1998, section 3.4). A mount begins with the first group. If free space is
//                        fragmented, we fill partly used blocks after the hot spot before breaking
//                        whole ones.
//
// Bitmaps change in the buffers of their groups. These buffers are written with write_delayed(). No
// ordering rule applies to bitmaps, because fsck can recompute them. The ordering schemes decide
// when a block or an inode becomes free.

#include <cstdint>
#include <optional>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/vfs.h"

namespace headcrash::ufs {

// Inode blocks that mkfs has not written (Peacock, Kamaraju and Agrawal 1998, section 5.4: the
// last-inode counter). The first allocation in a block zeroes it and all blocks before it. The
// group's header records the progress. Inode blocks after the recorded position are never read,
// because their content is arbitrary.
//
//   write zeroes (sync) -> write header (sync) -> allocate inodes in the block

class Volume;

class LazyInodes {
 public:
  explicit LazyInodes(Volume& volume);
  /// Ensures that the group's slots up to `slot` are initialised on the disk, and that the header
  /// counts them as initialised. The caller must not hold a header.
  VfsResult<void> initialise(std::uint32_t group, std::uint32_t slot);

 private:
  Volume& volume_;
  os::FiberLock lock_;
};

class CylinderGroup;
class Geometry;
class Volume;
struct CoreInode;

/// Marks fragments, or an inode, as free in a group's map. If the map is damaged, changes nothing
/// and returns false.
bool free_in_map(CylinderGroup& map, const Geometry& geometry, const Extent& extent);
bool free_inode_in_map(CylinderGroup& map, std::uint32_t index, bool is_directory);

enum class Placement : std::uint8_t { by_directory, spread, hot_spot };

struct AllocationOptions {
  Placement placement = Placement::by_directory;
  /// Number of blocks that are skipped between successive blocks of a file. Not used with `spread`.
  std::uint32_t gap_blocks = 0;
};

class Allocator {
 public:
  explicit Allocator(Volume& volume);
  void policy(const AllocationOptions& options) { options_ = options; }

  /// Allocates space for block number `block` of the file. `after` is the address of the previous
  /// block; 0 if no block precedes it.
  VfsResult<FragmentAddress> allocate(CoreInode& inode, std::int64_t block, FragmentAddress after,
                                      std::uint32_t fragments);
  /// Extends the fragments at `at` without moving them. Returns false if the following fragments
  /// are in use.
  VfsResult<bool> extend(const CoreInode& inode, FragmentAddress at, std::uint32_t fragments,
                         std::uint32_t new_fragments);
  VfsResult<void> free(FragmentAddress at, std::uint32_t fragments);

  VfsResult<InodeNumber> allocate_inode(InodeNumber directory, bool is_directory);
  VfsResult<void> free_inode(InodeNumber number, bool is_directory);

  /// Returns the held buffer of a group's header. Fails with EIO if the header is invalid.
  VfsResult<os::HeldBuffer> read_group(std::uint32_t group);

  /// The group that contains the hot spot if Placement::hot_spot is used; otherwise 0.
  std::uint32_t hot_group() const { return hot_.group; }

  /// Total number of free fragments, including those in partially free blocks.
  std::uint64_t free_fragments() const;
  /// Returns the number of free fragments that users may allocate. The reserve is not included.
  std::uint64_t available_fragments() const;

 private:
  /// The preferred group, and the preferred address in that group (0 if any address will do).
  struct Wanted {
    std::uint32_t group = 0;
    FragmentAddress at = 0;
  };
  Wanted wanted_place(const CoreInode& inode, std::int64_t block, FragmentAddress after) const;
  Wanted spread_place(const CoreInode& inode) const;
  std::uint32_t preferred_group(const CoreInode& inode, std::int64_t block,
                                FragmentAddress after) const;
  /// Where a search within a group begins. Positions are relative to the group. If `forward` is
  /// true, the search does not wrap around.
  struct Search {
    /// If nullopt, the search begins at the group's rotor.
    std::optional<std::uint32_t> block = {}, fragment = {};
    bool forward = false;
    /// If true, the search first looks for free fragments in the partly used blocks after the
    /// start, and breaks up a whole block only if it finds no such fragments.
    bool fills_blocks = false;
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
  /// Must be called after a change in a group. Updates the totals in memory, and marks the group's
  /// buffer dirty.
  void changed(std::uint32_t group, const Summary& totals, os::HeldBuffer buffer);

  Volume& volume_;
  LazyInodes lazy_inodes_;
  AllocationOptions options_;
  /// The hot spot: the positions in a group at which the next searches begin.
  struct HotSpot {
    std::uint32_t group = 0, block = 0, fragment = 0, inode = 0;
  } hot_;
};

}  // namespace headcrash::ufs
