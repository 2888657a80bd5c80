#pragma once
// Busy inodes and fragments, marked before they change (Peacock, Kamaraju and Agrawal 1998,
// sections 5.1 and 5.2; disk format in busy_marks.h).
//
//   quiet --mark()--> busy: free fragments and one inode --mark()--> more inodes and fragments
//     ^                 |
//     +----clean()------+   or begin_generation(), for all groups at once
//
// mark() returns when the marks are on the disk; only then may the caller change maps, inodes or
// pointers. A group that becomes busy marks all its free fragments at once, so an allocation needs
// one call per inode. Callers that arrive during a write of the header share the next write.
// Marking freed space first, in any group, is our own rule; the paper does not mention it.
//
// An inode's mark reaches the disk before the marks of the inode's fragments. Otherwise a torn
// header write could leave a busy fragment whose owner is unknown, and a check would free the
// fragment.
//
// The marks of an operation stay until it ends, because the fiber that runs it holds the groups of
// the operation.
//
// With the feature busy-map (busy_map.h), a group's record is marked busy before marks are written
// to the group's header. When the group becomes quiet, the header is written first, and then the
// record, with the counts of that header.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/schemes/scheme.h"
#include "fs-adapters/vfs.h"

namespace headcrash::ufs {

class BusyMarks;
class Volume;

struct BusyCounters {
  std::uint64_t header_writes = 0;  ///< number of header writes that callers waited for
  std::uint64_t map_writes = 0;     ///< number of writes of group records
  std::uint64_t entered = 0, cleaned = 0, not_cleaned = 0, generations = 0, full_checks = 0;
};

class BusyGroups {
 public:
  BusyGroups(Volume& volume, const NetraOptions& options);

  // The calling fiber must call operation_begins() and operation_ends() around each of its
  // operations. Pairs of these calls may be nested.
  void operation_begins();
  void operation_ends();

  // mark() and demand_full_check() must be called within an operation. They may wait, and fail with
  // EIO if a header cannot be read or written.
  //
  // Marks the inode, and, if the group was quiet, all free fragments of the group. The inode may
  // belong to another group. `is_directory` describes the inode on the disk.
  VfsResult<void> mark(std::uint32_t group, InodeNumber inode, bool is_directory);
  /// In the group of each extent, marks the inode and then the extent. The extents must belong to
  /// the inode.
  VfsResult<void> mark(const std::vector<Extent>& extents, InodeNumber inode, bool is_directory);
  /// Records on the disk that only a full check is safe until the next generation begins. Called
  /// before a change that marks and tags cannot describe.
  VfsResult<void> demand_full_check();

  // Writes all busy items of the group and marks the group as quiet. Returns false if the group is
  // in use, or if it was changed while its items were being written. Must be called from a fiber
  // that has no operation and holds no lock.
  VfsResult<bool> clean(std::uint32_t group);
  /// Makes all groups quiet by beginning a new generation. Returns false if something is not on the
  /// disk yet, or if an operation is in progress.
  VfsResult<bool> begin_generation();

  /// Returns true if the calling operation has marked the inode in this group, so that the group
  /// cannot become quiet.
  bool marked(std::uint32_t group, InodeNumber inode) const;
  bool busy(std::uint32_t group) const { return groups_.contains(group); }
  bool any_busy() const { return !groups_.empty(); }
  /// Returns the generation for new marks and tags.
  std::uint64_t generation() const;
  const BusyCounters& counters() const { return counters_; }
  std::size_t bytes_in_core() const;  ///< memory used by the busy groups

 private:
  struct Group {
    struct Wanted {
      InodeNumber inode = 0;
      bool is_directory = false;
    };
    explicit Group(os::Executor& executor) : entering(executor), marking(executor) {}
    os::FiberLock entering, marking;
    std::vector<Wanted> wanted;        ///< marks to be included in the next header write
    std::set<InodeNumber> inodes;      ///< inodes that are marked on the disk
    std::vector<std::byte> fragments;  ///< bitmap, as in the header
    std::uint32_t held = 0;            ///< number of operations that are using the group
    std::uint64_t touched = 0;         ///< number of operations that have used the group so far
    bool on_disk = false;              ///< the header on the disk has the current generation
  };
  void hold(std::uint32_t group);
  VfsResult<void> enter(std::uint32_t group, InodeNumber inode, bool is_directory);
  VfsResult<void> put_on_map(std::uint32_t group);
  VfsResult<void> take_off_map(std::uint32_t group);
  VfsResult<void> mark_inode(std::uint32_t group, InodeNumber inode, bool is_directory);
  VfsResult<void> write_inode_marks(std::uint32_t group, const std::vector<Group::Wanted>& wanted);
  VfsResult<void> mark_fragments(std::uint32_t group, const std::vector<Extent>& extents);
  bool add_inode(BusyMarks& marks, std::uint32_t group, InodeNumber inode, bool is_directory) const;
  VfsResult<void> empty_foreign_block(std::uint32_t group);
  VfsResult<bool> add_to_foreign_block(std::uint32_t group, const std::vector<InodeNumber>& inodes);
  VfsResult<void> write_inode(InodeNumber number);
  bool settled(std::uint32_t group, std::uint64_t touched) const;

  /// Writes a group's marks and waits for the write.
  VfsResult<void> write_marks(os::HeldBuffer header);

  Volume& volume_;
  NetraOptions options_;
  std::map<std::uint32_t, Group> groups_;  ///< busy groups
  /// Quiet groups whose headers on the disk may still have the current generation, because the
  /// write of another generation is in flight or has failed. The busy marks in such a header are
  /// still valid. When the group becomes busy again, the generation in its header must be replaced
  /// on the disk before the marks are cleared.
  std::set<std::uint32_t> uncleaned_;
  struct Running {
    std::uint32_t depth = 0;
    std::set<std::uint32_t> groups = {};
  };
  std::map<const os::Fiber*, Running> running_;
  os::FiberLock superblock_;
  os::WaitQueue generation_changed_;
  bool changing_generation_ = false;
  bool full_check_on_disk_ = false;
  /// Number of generations that a control deliberately left unwritten.
  std::uint64_t unwritten_generations_ = 0;
  BusyCounters counters_;
};

}  // namespace headcrash::ufs
