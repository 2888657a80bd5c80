#pragma once
// The interface between file system operations and the schemes that order metadata updates on the
// disk.
//
// Three rules must hold on the disk at any instant (Ganger and Patt 1994, section 1): R1, an old
// pointer is never reset before the new one is set; R2, nothing is reused before all pointers to it
// are reset; R3, no pointer leads to uninitialised data. Operations change metadata in memory and
// report the change to the scheme as one of the paper's four structural changes. The scheme ensures
// that writes follow the rules: by waiting (conventional.h), by instructing the driver
// (scheduler_flag.h, scheduler_chains.h), by undoing changes in the sent bytes (soft_updates.h), by
// writing elsewhere first (journal.h), by recording in advance what a check must examine (netra.h),
// or not at all (no_order.h). Operations do not depend on the scheme, and schemes do not depend on
// system calls.
//
// An operation passes the held buffer of a change to the scheme, which writes it. All changes of an
// operation are between begin() and end(). With a journal, an operation is a handle of the running
// transaction.
//
//   begin                                        each operation that changes something
//   |  (1) block allocation: direct, indirect, a fragment that grows
//   |      set bitmap -> fill buffer -> block_allocated() -> set pointer in inode or
//   |      indirect block -> [if a fragment moved: blocks_removed(moved) for its old place]
//   |  (2) block de-allocation
//   |      reset pointers in the inode (in core) or an indirect block (held) -> blocks_removed()
//   |      the scheme, now or later: Volume::free_extents()
//   |  (3) link addition
//   |      raise the target's count in core -> add entry to the directory block -> link_added()
//   |      if the entry named another inode before: `replaced`, a link that is dropped as in (4)
//   |  (4) link removal
//   |      remove entry from the directory block -> link_removed()
//   |      the scheme, now or later: Volume::drop_link(), which lowers the count; for the last link
//   |      of a file that is not open, it clears pointers and mode and calls
//   |      (4b) inode_removed() with all its blocks
//   |      the scheme, now or later: Volume::free_extents(), then Volume::free_inode()
//   end
//
//   operation        calls, in this order
//   create, symlink  inode_allocated, [1 if the directory grows], (block of the target: 1), 3
//   mkdir            inode_allocated, 1 (its "." and ".."), [1 if the directory grows],
//                    3 with `raises_directory`
//   link             [1 if the directory grows], 3
//   write            1 for each new block, after the indirect blocks that lead to it
//   truncate, punch  2 for each remaining indirect block, deepest first, then 2 for the inode
//   unlink, rmdir    4, [4b]
//   rename           [1], 3 with `others_follow` (and `replaced` if the new name existed),
//                    [directory with a new parent: 3 with `replaced` for its ".."], 4, [4b]
//   exchange         3 with `others_follow`, twice 3 with `replaced`, [3 for each ".."], 4
//   close            [4b] for the last close of a file without names
//
// Times of release:
//
//                    blocks                                    link counts, inodes
//   No Order         at once                                   at once
//   Conventional     after the write of the pointer's holder,  after the write of the directory
//                    for which the caller waits                block, for which the caller waits
//   Scheduler Flag   at once; all later writes follow          at once
//   Scheduler Chains at once; a new owner's writes follow the  at once, likewise
//                    holder's write (freed-block table)
//   Soft Updates     work item after the holder's write        work item after the block's write
//   Netra            as Conventional; freed space has been     before the write of the directory
//                    marked busy before                        block, with a tag
//   journal          on the disk with the transaction; in      at once, in one transaction;
//                    memory after its commit                   inode numbers as blocks
//
// An in-core inode is first copied to its block (Inodes::copy_to_block -> inode_copied()), and then
// the block is written. A dependency moves from the inode to the block at the copy. before_write()
// and after_write() (buffer_cache.h) see blocks in handlers, which must not wait.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/tree/inode_store.h"
#include "fs-adapters/substrate/tree/link_changes.h"
#include "fs-adapters/ufs/core/inodes.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/vfs.h"

namespace headcrash::ufs {

class Volume;
struct CoreInode;
struct PendingName;

/// An operation in progress. With a journal, it is a handle of the running transaction.
struct Operation : tree::Operation {
  /// The journal transaction to which the operation belongs; 0 if it belongs to none.
  std::uint64_t transaction = 0;
  /// Maximum number of metadata blocks that the operation may have changed.
  std::uint32_t blocks = 0;
  std::uint32_t indirect = 0;  ///< number of new indirect blocks included in `blocks`
  /// True if the operation must be committed when it ends: an fsync, or any change if the journal
  /// is synchronous.
  bool commits = false;
  /// True if the operation has moved a partial last block because it could not grow in place.
  bool moved_block = false;
};

/// `metadata` is a block of a directory, or of a symbolic link's target.
enum class BlockKind : std::uint8_t { data, metadata, indirect };

/// (1) The file's block number `block` will be at the address `at`. The new pointer replaces a null
/// pointer (`old_at` is 0), a pointer to the same place with fewer fragments (the block was
/// extended), or a pointer to another place (the block was moved).
struct BlockAllocation {
  CoreInode& inode;
  BlockKind kind = BlockKind::data;
  /// Number of the block within the file. For an indirect block, number of the first file block
  /// below it.
  std::int64_t block = 0;
  FragmentAddress at = 0;
  std::uint32_t fragments = 0;
  FragmentAddress old_at = 0;
  std::uint32_t old_fragments = 0;
  std::uint64_t old_size_bytes = 0;  ///< size of the file before this allocation
  // The block that contains the pointer. The block is held. Null if the inode contains the pointer.
  os::HeldBuffer* holder = nullptr;
  std::uint32_t slot = 0;  ///< index of the pointer in the inode (0 to 14) or in the indirect block

  bool moved() const { return old_at != 0 && old_at != at; }
};

/// (2) The pointers to `extents` have been reset, in the inode or in the indirect block `holder`.
struct BlockRemoval {
  CoreInode& inode;
  std::vector<Extent> extents;
  /// The range of file blocks that no longer belong to the inode. Pending allocations of these
  /// blocks are cancelled. If `moved` is set, the file still contains these blocks, but at new
  /// addresses; only the old addresses are released.
  std::int64_t first_block = 0, end_block = 0;
  bool moved = false;
  /// Address of the indirect block that contained the pointers; 0 if the inode contained them.
  FragmentAddress holder = 0;
};

/// Changes (3) and (4), the addition and the removal of a link, have types that the tree defines.
using tree::DroppedLink;
using tree::LinkAddition;
using tree::LinkRemoval;

/// (4b) An inode without links and users, with its former blocks.
struct InodeRemoval {
  CoreInode& inode;
  bool directory = false;
  std::vector<Extent> extents = {};
};

/// The reason why a bmap cache is merged into its indirect block (bmap_cache.h): the cache is full,
/// or pointers are about to be released.
enum class BmapMerge : std::uint8_t { full, pointers_go };

/// How the last write of a series is issued. No other write depends on this write. Ganger and Patt
/// 1994, section 6.1, permit "asynchronous or delayed"; 4.4BSD waits until the write is complete.
enum class LastWrite : std::uint8_t { delayed, asynchronous, synchronous };

/// Scheduler Chains: how freed blocks are protected against early reuse (scheduler_chains.h).
enum class Deallocation : std::uint8_t { tracked, barrier };

struct JournalOptions {
  /// Which operations wait for a commit. `grouped`: only fsync and sync; other changes are
  /// committed within `interval_ns`. `synchronous`: also operations that change names or links, or
  /// that release blocks.
  enum class Commit : std::uint8_t { grouped, synchronous };
  /// The contents of the journal. `metadata`: only metadata; the data of new blocks is in place
  /// before the commit ("ordered"). `data`: data as well.
  enum class Contents : std::uint8_t { metadata, data };
  /// `last`: the commit record is written after everything that it covers. `unordered`: the commit
  /// record waits for nothing; this is a control, which tests must detect.
  enum class CommitRecord : std::uint8_t { last, unordered };
  /// The time at which the blocks of a file are released, once the file has lost its last name and
  /// its last user. The release may require reads of indirect blocks. `by_user`: in the same system
  /// call. `by_syncer`: at the syncer's next tick, in a separate operation, as in soft updates and
  /// in XFS since Linux 5.14 ("deferred inode inactivation"). Until then, the inode is in the
  /// journal's list of inodes without names.
  enum class Removal : std::uint8_t { by_user, by_syncer };
  /// Which callers share a commit. `all`: all callers that are waiting when a commit begins (group
  /// commit). `none`: each caller gets a separate commit, one after another, as in logs without
  /// batching (Peacock 1998, sections 4 and 6.4).
  enum class Sharing : std::uint8_t { all, none };
  /// Where the journal must be. With `external`, a mount fails unless the journal is on a separate
  /// device.
  enum class Place : std::uint8_t { anywhere, external };
  /// The rule that a control breaks. Tests must detect every value except all_kept, which breaks no
  /// rule.
  enum class Rule : std::uint8_t {
    all_kept,
    homes_early,     ///< blocks are written in place before they are in the log
    data_unawaited,  ///< the commit record waits only for writes to the log, and not for data
    answered_early,  ///< a commit is reported once its record has been issued
  };
  Commit commit = Commit::grouped;
  Sharing sharing = Sharing::all;
  Place place = Place::anywhere;
  Rule broken = Rule::all_kept;
  Contents contents = Contents::metadata;
  CommitRecord record = CommitRecord::last;
  Removal removal = Removal::by_user;
  os::TimeNs interval_ns = 5 * model::kSecondNs;
  /// If true, the journal flushes the disk before and after each commit record, and before the tail
  /// moves. Must be true if the disk has a volatile cache and the driver does not flush this cache.
  bool flushes = false;
};

struct NetraOptions {
  /// The rule that a control breaks. Tests must detect every value except all_kept, which breaks no
  /// rule.
  enum class Rule : std::uint8_t {
    all_kept,
    marks_late,            ///< an operation does not wait for the write of a mark
    freed_unmarked,        ///< freed space is not marked
    generation_unwritten,  ///< marks have the next generation before the superblock has it
    tag_late,              ///< the entry reaches the disk before the tag
    /// An operation does not wait for the write that marks a group's record as busy (busy_map.h).
    map_late,
    /// A truncation does not wait for two writes: that of the indirect block that received the
    /// pointers in the bmap cache, and that of the inode without its cache.
    cache_unmerged,
  };
  Rule broken = Rule::all_kept;
  /// The group flusher (netra.h) runs once in each interval, for at most this percentage of the
  /// interval. An interval of 0 disables the flusher.
  os::TimeNs flush_interval_ns = 30 * model::kSecondNs;
  std::uint32_t flush_share_percent = 10;
  /// If true, marks of the same group are combined: a caller waits until the header's write in
  /// flight has completed, and the next write then includes the marks of all waiting callers. If
  /// false, each inode's mark is a separate write. The paper says only that marking is synchronous.
  bool marks_together = true;
  /// For tests: maximum number of foreign inodes in a header. Additional foreign inodes are stored
  /// in the block after the header.
  std::size_t foreign_in_header_max = ~std::size_t{0};
};

struct SchemeOptions {
  /// If true, data blocks are initialised when they are allocated. Blocks of all other kinds are
  /// always initialised.
  bool allocation_initialization = false;
  LastWrite last_write = LastWrite::delayed;
  /// How No Order writes a removed inode. Sprite OFS waited for this write (Rosenblum 1992, section
  /// 6.2.1.1).
  LastWrite removed_inode = LastWrite::delayed;
  Deallocation deallocation = Deallocation::tracked;
  JournalOptions journal = {};
  NetraOptions netra = {};
  /// For soft updates: limit on the number of pending dependencies and deferred link drops. At the
  /// limit, each operation first does a sync. The default is larger than the paper's workloads
  /// need.
  std::size_t dependencies_max = 50'000;
};

/// Estimated memory for one record of a scheme: a dependency, a block that is waited for, or a
/// table entry. FreeBSD's soft updates use structures of about 60 to 200 bytes.
inline constexpr std::size_t kDependencyBytes = 128;

/// Maximum number of rounds in a sync. A sync need not include changes that are made while it runs.
inline constexpr int kSyncRoundsMax = 100;

class Scheme : public os::WriteHooks {
 public:
  Scheme(Volume& volume, const SchemeOptions& options) : volume_(volume), options_(options) {}
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;
  virtual std::string_view name() const = 0;
  const SchemeOptions& options() const { return options_; }

  /// Called before each operation of a user. The caller holds no lock, so the scheme may wait here
  /// until less deferred work is pending.
  virtual void bound_work() {}
  virtual void begin(Operation&) {}
  virtual VfsResult<void> end(Operation&) { return {}; }

  /// Called with a new block that already has its initial contents, before the pointer to the block
  /// is set. Returns the block, which is still held. The scheme must write the initial contents,
  /// except those of a data block: the write that follows makes a data block dirty anyway.
  virtual VfsResult<os::HeldBuffer> block_allocated(Operation& operation,
                                                    const BlockAllocation& allocation,
                                                    os::HeldBuffer block) = 0;
  /// Called when a directory's inode has a new pointer and a new size. Entries in the new block
  /// must be written after the inode (R1). The inode must be written after the indirect blocks that
  /// lead to the new block, because a directory has no holes.
  virtual VfsResult<void> directory_grown(Operation& operation, CoreInode& directory,
                                          std::uint64_t old_size_bytes) = 0;
  /// Writes the holder of the pointers. `holder` is the indirect block's buffer, or empty if the
  /// holder is the inode.
  virtual VfsResult<void> blocks_removed(Operation& operation, const BlockRemoval& removal,
                                         os::HeldBuffer holder) = 0;
  virtual VfsResult<void> link_added(Operation& operation, const LinkAddition& addition,
                                     os::HeldBuffer directory_block) = 0;
  virtual VfsResult<void> link_removed(Operation& operation, const LinkRemoval& removal,
                                       os::HeldBuffer directory_block) = 0;
  /// Called when the last user releases an inode without links. Returns true if the scheme takes
  /// over the user's reference and will release it later.
  virtual bool defers_removal(CoreInode&) { return false; }
  /// (4b) Called when the inode's mode and pointers have been cleared in core.
  virtual VfsResult<void> inode_removed(Operation& operation, const InodeRemoval& removal) = 0;

  /// Called when the pointers in an inode's bmap cache have been copied to `indirect`. `indirect`
  /// must be written before the inode, because the inode will be written without these pointers.
  /// Called only for files that have a bmap cache.
  virtual VfsResult<void> bmap_merged(CoreInode& inode, os::HeldBuffer indirect, BmapMerge why);
  /// Called after bmap_merged(), when the inode's cache has been removed in core. The inode's
  /// pointers are still set.
  virtual VfsResult<void> bmap_ended(CoreInode& inode);

  /// Called before a rename removes another name of the inode. The new name must be on the disk
  /// first (R1). Both directories are locked; no block is held.
  virtual VfsResult<void> settle_name(Operation&, CoreInode& inode) {
    (void)inode;
    return {};
  }

  /// Called before the allocator takes a fragment of the group for `inode`, or takes `inode`
  /// itself. The maps and the in-core inode have not changed yet. `is_directory` is true if the
  /// in-core inode is already a directory. No header is held. May wait, even for the disk.
  virtual VfsResult<void> before_taking(std::uint32_t group, InodeNumber inode, bool is_directory) {
    (void)group, (void)inode, (void)is_directory;
    return {};
  }
  /// Returns true if before_taking() has already been called for this group and inode, or would
  /// have no effect.
  virtual bool may_take(std::uint32_t group, InodeNumber inode) const {
    (void)group, (void)inode;
    return true;
  }
  /// Called when the inode's bit in the map has been set, before anything is written to the inode.
  virtual void inode_allocated(InodeNumber) {}
  /// Called when the in-core inode has been copied to `block`.
  virtual void inode_copied(CoreInode&, os::HeldBuffer& block) { (void)block; }
  /// Called when an inode has been loaded. Restores changes that had been undone in the bytes on
  /// the disk.
  virtual void inode_loaded(CoreInode&) {}
  /// Called when a directory block has been read. Restores the contents that users must see.
  virtual void directory_block_read(os::HeldBuffer& block) { (void)block; }

  using SyncExtent = tree::SyncExtent;
  /// Implements fsync. The caller must hold the inode's lock. If `extent` is SyncExtent::data,
  /// writes only what is needed to read the data back.
  virtual VfsResult<void> fsync(Operation& operation, CoreInode& inode, SyncExtent extent);
  /// Writes everything and does all deferred work. Returns when nothing is dirty or deferred any
  /// longer, except for work items that other fibers have begun. The caller must not hold an
  /// inode's lock.
  virtual VfsResult<void> sync();
  /// Returns the memory used by the scheme's structures (tree::InodeStore::bytes_in_core).
  virtual std::size_t bytes_in_core() const { return 0; }
  /// Called when there is no free space. Does deferred work, which may free some space. Returns
  /// false if there was no such work.
  virtual bool reclaim() { return false; }

  // An override of one of the following three functions must call the implementation in this class.
  //
  // Sets the kind of the write (write_kind.h), and vetoes every write if the volume has stopped.
  bool before_write(os::Outgoing& write) override;
  void after_write(const os::BufferKey&, os::RequestId, model::Status) override {}
  /// Stops the volume if too many blocks cannot be written.
  void write_failed(const os::BufferKey& key, os::Content content) override;

 protected:
  /// For fsync: writes a file, and then the blocks that contain its pending names
  /// (pending_names.h).
  VfsResult<void> write_with_names(Operation& operation, CoreInode& inode);
  /// Call after the file and its pending names have been written. `noted` is the value that
  /// PendingNames::noted() returned before the first of these writes. If all pending names are on
  /// the disk, removes the names up to `noted` from the index and returns true.
  VfsResult<bool> names_arrived(Operation& operation, InodeNumber inode, std::uint64_t noted);
  /// Called when the block that contains a name has been written. Returns true if the name is now
  /// visible on the disk: the written bytes contained the name, and the directory on the disk leads
  /// to the block.
  virtual bool shows(InodeNumber, const PendingName&) const { return true; }

  Volume& volume_;
  SchemeOptions options_;
};

}  // namespace headcrash::ufs
