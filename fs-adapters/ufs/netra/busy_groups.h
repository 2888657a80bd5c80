#pragma once
// Which inodes and fragments are busy, kept ahead of the changes (Peacock, Kamaraju and Agrawal
// 1998, sections 5.1 and 5.2; on the disk: busy_marks.h).
//
//   quiet --mark()--> busy: free fragments, and who asked --mark()--> more inodes, more fragments
//     ^                 |
//     +----clean()------+   or begin_generation(), for all groups at once
//
// mark() returns when the marks are on the disk; only then the caller changes maps, inodes or
// pointers. A group that becomes busy marks all its free fragments at once, so that allocations in
// it ask once for each inode. Who asks while the header is being written shares the next write with
// all who do. That what is freed is marked first, wherever it lies, is our rule: the paper is
// silent.
//
// An inode's mark reaches the disk before those of fragments that are its own: a torn write of the
// header could else leave a busy fragment whose owner is not known, and a check would free it.
//
// What an operation has marked stays so until it ends: it holds its groups, by the fiber that runs
// it.
//
// With the feature busy-map (busy_map.h) the group's record says that it is busy before its header
// does, and that it is quiet after its header, with the counts that the header then has.

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
  std::uint64_t header_writes = 0;  ///< that somebody waited for
  std::uint64_t map_writes = 0;     ///< of groups' records
  std::uint64_t entered = 0, cleaned = 0, not_cleaned = 0, generations = 0, full_checks = 0;
};

class BusyGroups {
 public:
  BusyGroups(Volume& volume, const NetraOptions& options);

  // Around each operation of the calling fiber; one may lie within another.
  void operation_begins();
  void operation_ends();

  // Within an operation; may wait. EIO: a header cannot be read or written.
  /// The inode, and all free fragments of the group, which may be another one than the inode's own.
  /// `is_directory`: the inode on the disk.
  VfsResult<void> mark(std::uint32_t group, InodeNumber inode, bool is_directory);
  /// The inode in the group of each extent, then the extents, which are its own.
  VfsResult<void> mark(const std::vector<Extent>& extents, InodeNumber inode, bool is_directory);
  /// What follows cannot be told by marks and tags: until the next generation only a full check
  /// will do. On the disk when it returns.
  VfsResult<void> demand_full_check();

  // From any fiber that is in no operation and holds no lock.
  /// Writes all that is busy in the group and calls it quiet. False: it is in use, or was changed
  /// meanwhile.
  VfsResult<bool> clean(std::uint32_t group);
  /// All is on the disk: all groups are quiet. False: it is not, or operations are under way.
  VfsResult<bool> begin_generation();

  /// The calling operation has it marked: the group cannot become quiet.
  bool marked(std::uint32_t group, InodeNumber inode) const;
  bool busy(std::uint32_t group) const { return groups_.contains(group); }
  bool any_busy() const { return !groups_.empty(); }
  /// Of marks and tags that are made now.
  std::uint64_t generation() const;
  const BusyCounters& counters() const { return counters_; }
  std::size_t bytes_in_core() const;  ///< of the busy groups

 private:
  struct Group {
    struct Wanted {
      InodeNumber inode = 0;
      bool is_directory = false;
    };
    explicit Group(os::Executor& executor) : entering(executor), marking(executor) {}
    os::FiberLock entering, marking;
    std::vector<Wanted> wanted;        ///< for the next write of the header
    std::set<InodeNumber> inodes;      ///< marked on the disk
    std::vector<std::byte> fragments;  ///< a bit for each, as in the header's map
    std::uint32_t held = 0;            ///< by operations
    std::uint64_t touched = 0;         ///< by how many so far
    bool on_disk = false;              ///< the group has the generation
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

  /// Of a group's marks: the caller waits.
  VfsResult<void> write_marks(os::HeldBuffer header);

  Volume& volume_;
  NetraOptions options_;
  std::map<std::uint32_t, Group> groups_;  ///< busy ones
  /// Quiet ones whose header may still have the generation on the disk: writing it is under way, or
  /// has failed. Their marks count there, so that the generation goes before the marks do.
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
  std::uint64_t unwritten_generations_ = 0;  ///< of the control that does not write them
  BusyCounters counters_;
};

}  // namespace headcrash::ufs
