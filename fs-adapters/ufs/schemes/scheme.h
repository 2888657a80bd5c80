#pragma once
// Between the operations of the file system and what keeps its metadata in order on the disk.
//
// Three rules must hold on the disk at every instant (Ganger and Patt 1994, section 1): R1 an old
// pointer is never reset before the new one is set; R2 nothing is used again before all pointers to
// it are reset; R3 nothing points to what is not initialised. The operations change metadata in
// memory and tell the scheme which of the paper's four structural changes they have made; the
// scheme sees to it that what goes to the disk keeps the rules, by waiting (conventional.h), by
// what it tells the driver (scheduler_flag.h, scheduler_chains.h), by undoing in what is sent
// (soft_updates.h), by writing it elsewhere first (journal.h), by telling beforehand what a check
// has to look at (netra.h), or not at all (no_order.h). No operation knows which scheme runs, and
// no scheme knows which system call is under way.
//
// A change's own buffer is held by the operation and handed to the scheme, which writes it as it
// likes. All changes of one operation lie between begin() and end(), where a journal has its
// transaction.
//
//   begin                                                              every operation that changes something
//   |
//   |  (1) block allocation: direct, indirect, a fragment that grows
//   |      bitmap set -> buffer has its first contents -> block_allocated() -> pointer set in inode or
//   |      indirect block -> [a fragment that had to move: blocks_removed(moved) for its old place]
//   |  (2) block de-allocation
//   |      pointers reset in the inode (in core) or in an indirect block (held) -> blocks_removed()
//   |      the scheme, now or later: Volume::free_extents()
//   |  (3) link addition
//   |      count of the target raised in core -> entry put into the directory's block -> link_added()
//   |      an entry that named another inode until now: `replaced`, whose link the scheme drops as in (4)
//   |  (4) link removal
//   |      entry taken out of the directory's block -> link_removed()
//   |      the scheme, now or later: Volume::drop_link(), which lowers the count and, when it was the last
//   |      one and nobody has the file open, takes its pointers and its mode away and calls
//   |      (4b) inode_removed() with all its blocks
//   |      the scheme, now or later: Volume::free_extents(), then Volume::free_inode()
//   end
//
//   operation        calls, in this order
//   create, symlink  inode_allocated, [1 directory grows], (target's block: 1), 3
//   mkdir            inode_allocated, 1 (its "." and ".."), [1 directory grows], 3 with `raises_directory`
//   link             [1 directory grows], 3
//   write            1 for each new block, before it the indirect blocks that lead to it
//   truncate, punch  2 for each indirect block that stays, deepest first, then 2 for the inode
//   unlink, rmdir    4, [4b]
//   rename           [1], 3 with `others_follow` (and `replaced` where the new name was taken),
//                    [directory to another parent: 3 with `replaced` for its ".."], 4, [4b]
//   exchange         3 with `others_follow`, twice 3 with `replaced`, [3 for each ".."], 4
//   close            [4b] when it was the last one of a file without names
//
// Who releases, and when:
//
//                    blocks                                        link counts, inodes
//   No Order         at once                                       at once
//   Conventional     when the write of the pointer's holder is     when the write of the directory's block is
//                    complete: the caller waits                    complete: the caller waits
//   Scheduler Flag   at once: every later write comes after        at once
//   Scheduler Chains at once; who takes them again writes after    at once, likewise
//                    the holder's write (freed-block table)
//   Soft Updates     a work item after the holder's write          a work item after the block's write
//   Netra            as Conventional: what is freed has     before the write of the directory's block, with
//                    been marked busy before                a tag that tells
//   journal          on the disk with the transaction, in memory   at once: all of it is one transaction;
//                    when that has committed                       inodes' numbers as blocks
//
// An in-core inode is copied to its block (Inodes::copy_to_block -> inode_copied()) and the block
// is written; these are two steps, and a dependency moves from the first to the second when the
// copy is made. Blocks are seen by before_write() and after_write() (buffer_cache.h), in handlers
// that must not wait.

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

/// One operation under way. For a journal: its handle.
struct Operation : tree::Operation {
  std::uint64_t transaction = 0;  ///< that it is part of; 0: of none
  std::uint32_t blocks = 0;       ///< of metadata that it may have changed, at most
  std::uint32_t indirect = 0;     ///< of them new indirect blocks
  bool commits = false;           ///< when it ends: fsync, or a synchronous journal
};

/// `metadata`: a directory's, or the target of a symbolic link.
enum class BlockKind : std::uint8_t { data, metadata, indirect };

/// (1) `inode`'s block `block` will be at `at`. What the new pointer replaces: nothing (`old_at`
/// 0), the same place with fewer fragments (a fragment grew), or another place (it had to move).
struct BlockAllocation {
  CoreInode& inode;
  BlockKind kind = BlockKind::data;
  std::int64_t block = 0;  ///< of the file; of an indirect block the first that it leads to
  FragmentAddress at = 0;
  std::uint32_t fragments = 0;
  FragmentAddress old_at = 0;
  std::uint32_t old_fragments = 0;
  std::uint64_t old_size_bytes = 0;  ///< the inode's size until now
  // Where the pointer is: in the inode, `slot` 0 to 14, or in a block that the operation holds.
  os::HeldBuffer* holder = nullptr;
  std::uint32_t slot = 0;  ///< of the inode, or of the indirect block

  bool moved() const { return old_at != 0 && old_at != at; }
};

/// (2) The pointers to `extents` are reset in the inode (no `holder`) or in the indirect block
/// `holder`.
struct BlockRemoval {
  CoreInode& inode;
  std::vector<Extent> extents;
  /// Blocks of the inode from this one on are no longer its (pending allocations are void); a
  /// fragment that moved is still there, elsewhere.
  std::int64_t first_block = 0, end_block = 0;
  bool moved = false;
  FragmentAddress holder = 0;  ///< the indirect block; 0: the inode
};

/// (3) and (4): changes of names, as the tree tells of them.
using tree::DroppedLink;
using tree::LinkAddition;
using tree::LinkRemoval;

/// (4b) An inode without links and users, and what it had.
struct InodeRemoval {
  CoreInode& inode;
  bool directory = false;
  std::vector<Extent> extents = {};
};

/// Why a bmap cache is merged into its indirect block (bmap_cache.h): another one begins, or
/// pointers are about to go.
enum class BmapMerge : std::uint8_t { full, pointers_go };

/// When the last write of a series goes, on which nothing depends any more (section 6.1:
/// "asynchronous or delayed"; 4.4BSD waits for it).
enum class LastWrite : std::uint8_t { delayed, asynchronous, synchronous };

/// Scheduler Chains: what keeps freed blocks from being used again too early (scheduler_chains.h).
enum class Deallocation : std::uint8_t { tracked, barrier };

/// The journal's choices (journal.h).
struct JournalOptions {
  /// Who waits for a commit. `grouped`: fsync and sync only; everybody else's changes follow within
  /// `interval_ns`. `synchronous`: also every operation that changes names, links or takes blocks
  /// away.
  enum class Commit : std::uint8_t { grouped, synchronous };
  /// What is in it. `metadata`: data of new blocks are in their places before the commit
  /// ("ordered").
  enum class Contents : std::uint8_t { metadata, data };
  /// `unordered` is for tests: nothing waits before the commit record goes, and it must be caught.
  enum class CommitRecord : std::uint8_t { last, unordered };
  /// Who takes the blocks of a file that has lost its last name and user away, which reads its
  /// indirect
  /// blocks: the user whose call it was, or the syncer at its next tick, in an operation of its
  /// own, as soft updates do and XFS since Linux 5.14 ("deferred inode inactivation"). Until then
  /// it is in the journal's list of inodes without names.
  enum class Removal : std::uint8_t { by_user, by_syncer };
  /// Who shares a commit. `all`: everybody who waits when one begins (group commit). `none`: each
  /// gets one of his own, one after the other, as logs without batching do (Peacock 1998, sections
  /// 4 and 6.4).
  enum class Sharing : std::uint8_t { all, none };
  /// Where the file system that it mounts must have its journal.
  enum class Place : std::uint8_t { anywhere, external };
  /// All but the first are for tests, and must be caught.
  enum class Rule : std::uint8_t {
    all_kept,
    homes_early,     ///< blocks go to their places before they go to the log
    data_unawaited,  ///< the commit record waits for the log's own writes, not for those of data
    answered_early,  ///< who waits for a commit is answered when its record has been issued
  };
  Commit commit = Commit::grouped;
  Sharing sharing = Sharing::all;
  Place place = Place::anywhere;
  Rule broken = Rule::all_kept;
  Contents contents = Contents::metadata;
  CommitRecord record = CommitRecord::last;
  Removal removal = Removal::by_user;
  os::TimeNs interval_ns = 5 * model::kSecondNs;
  /// A disk with a volatile cache under a driver that does not flush by itself: a flush before and
  /// after each commit record, and before the tail moves.
  bool flushes = false;
};

/// Netra's choices (netra.h).
struct NetraOptions {
  /// All but the first are for tests, and must be caught.
  enum class Rule : std::uint8_t {
    all_kept,
    marks_late,            ///< nobody waits for the write of a mark
    freed_unmarked,        ///< what is freed is not marked
    generation_unwritten,  ///< marks belong to the next generation before the superblock does
    tag_late,              ///< the entry is on the disk before the tag
    map_late,              ///< nobody waits for the write of a group's record (busy_map.h)
    /// a truncation waits neither for the merged bmap cache nor for an inode without it
    cache_unmerged,
  };
  Rule broken = Rule::all_kept;
  /// Of the group flusher (group_flusher.h); 0: there is none. The share is of the interval.
  os::TimeNs flush_interval_ns = 30 * model::kSecondNs;
  std::uint32_t flush_share_percent = 10;
  /// Of a group: a mark waits for the header's write that is under way, and the next one has all
  /// that wait. The paper says only that marking is synchronous; off, each inode's mark is a write
  /// of its own.
  bool marks_together = true;
  /// Of inodes of other groups in a header, before those behind it are used; for tests.
  std::size_t foreign_in_header_max = ~std::size_t{0};
};

struct SchemeOptions {
  bool allocation_initialization = false;  ///< of data blocks; all others always are
  LastWrite last_write = LastWrite::delayed;
  /// No Order: of a removed inode, as Sprite OFS waited for it (Rosenblum 1992, section 6.2.1.1).
  LastWrite removed_inode = LastWrite::delayed;
  Deallocation deallocation = Deallocation::tracked;
  JournalOptions journal = {};
  NetraOptions netra = {};
  /// Soft updates: how many dependencies and links to be dropped may wait; whoever would add to
  /// them first does a sync. More than the paper's workloads reach.
  std::size_t dependencies_max = 50'000;
};

/// What a note of a scheme's counts for in memory: a dependency, a block that is waited for, a
/// table's entry. An estimate; FreeBSD's soft updates have structures of some 60 to 200 bytes.
inline constexpr std::size_t kNoteBytes = 128;

inline constexpr int kSyncRoundsMax =
    100;  ///< of a sync: what others do meanwhile need not be waited for

class Scheme : public os::WriteHooks {
 public:
  Scheme(Volume& volume, const SchemeOptions& options) : volume_(volume), options_(options) {}
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;
  virtual std::string_view name() const = 0;
  const SchemeOptions& options() const { return options_; }

  /// Before an operation of a user begins, who holds no lock: may wait until less is deferred.
  virtual void bound_work() {}
  virtual void begin(Operation&) {}
  virtual VfsResult<void> end(Operation&) { return {}; }

  /// Takes the block with its first contents and gives it back, held. The pointer is not yet set.
  /// The first contents of a block that is not data are the scheme's to write; what is put into a
  /// file's block next makes it dirty anyway.
  virtual VfsResult<os::HeldBuffer> block_allocated(Operation& operation,
                                                    const BlockAllocation& allocation,
                                                    os::HeldBuffer block) = 0;
  /// A directory's inode has a new pointer and size: entries in the new block come after it (R1),
  /// and it comes after the indirect blocks that lead to the new block (a directory has no holes).
  virtual VfsResult<void> directory_grown(Operation& operation, CoreInode& directory,
                                          std::uint64_t old_size_bytes) = 0;
  /// `holder` is the indirect block's buffer, empty when the inode is it. Writes it.
  virtual VfsResult<void> blocks_removed(Operation& operation, const BlockRemoval& removal,
                                         os::HeldBuffer holder) = 0;
  virtual VfsResult<void> link_added(Operation& operation, const LinkAddition& addition,
                                     os::HeldBuffer directory_block) = 0;
  virtual VfsResult<void> link_removed(Operation& operation, const LinkRemoval& removal,
                                       os::HeldBuffer directory_block) = 0;
  /// An inode without links is put by its last user. True: the scheme takes the reference over, and
  /// puts it later.
  virtual bool puts_off_removal(CoreInode&) { return false; }
  /// (4b) The inode has no mode and no pointers any more, in core.
  virtual VfsResult<void> inode_removed(Operation& operation, const InodeRemoval& removal) = 0;

  /// What was in the inode's bmap cache is in `indirect`, too, which it writes: before the inode
  /// has another cache on the disk, or none. Only for files that have such caches.
  virtual VfsResult<void> bmap_merged(CoreInode& inode, os::HeldBuffer indirect, BmapMerge why);
  /// After that: the inode has none any more. Before pointers are reset that it had.
  virtual VfsResult<void> bmap_ended(CoreInode& inode);

  /// A rename is about to remove another name of the inode: the new one must be first (R1). Both
  /// are locked, no block is held.
  virtual VfsResult<void> settle_name(Operation&, CoreInode& inode) {
    (void)inode;
    return {};
  }

  /// The allocator is about to take something in the group for the inode: maps and memory are as
  /// they were. `is_directory`: what it was until now. No header is held; may wait, for the disk
  /// too.
  virtual VfsResult<void> before_taking(std::uint32_t group, InodeNumber inode, bool is_directory) {
    (void)group, (void)inode, (void)is_directory;
    return {};
  }
  /// That call has been made, or would do nothing.
  virtual bool may_take(std::uint32_t group, InodeNumber inode) const {
    (void)group, (void)inode;
    return true;
  }
  /// The bitmap's bit has been set; nothing has been written into the inode yet.
  virtual void inode_allocated(InodeNumber) {}
  /// The in-core inode has been copied to its place in `block`.
  virtual void inode_copied(CoreInode&, os::HeldBuffer& block) { (void)block; }
  /// Brought in core: what was undone on the disk must be seen.
  virtual void inode_loaded(CoreInode&) {}
  /// A directory's block as its users are to see it.
  virtual void directory_block_read(os::HeldBuffer& block) { (void)block; }

  using SyncExtent = tree::SyncExtent;
  /// What fsync promises. The inode is locked by the caller. `data`: what is needed to read it
  /// back.
  virtual VfsResult<void> fsync(Operation& operation, CoreInode& inode, SyncExtent extent);
  /// Nothing is dirty or deferred when it returns, but for what another fiber's work item has begun
  /// to do. No inode is locked by the caller.
  virtual VfsResult<void> sync();
  /// What its own structures count for (tree::InodeStore::bytes_in_core).
  virtual std::size_t bytes_in_core() const { return 0; }
  /// No space left: does what has been deferred. False: there is nothing.
  virtual bool reclaim() { return false; }

  // A scheme's own must do what these do.
  /// Says what is written (write_kind.h). Nothing is when the volume is stopped.
  bool before_write(os::Outgoing& write) override;
  void after_write(const os::BufferKey&, os::RequestId, model::Status) override {}
  /// Stops the volume when too much cannot be written.
  void write_failed(const os::BufferKey& key, os::Content content) override;

 protected:
  /// An fsync's writes: the file, then the blocks with the names that lead to it (pending_names.h).
  VfsResult<void> write_with_names(Operation& operation, CoreInode& inode);
  /// After them. True: all those names are on the disk, and notes up to `noted`, which was the
  /// newest one before the first write, have come to their end.
  VfsResult<bool> names_arrived(Operation& operation, InodeNumber inode, std::uint64_t noted);
  /// The name's block has been written: was the name in what was sent, and does the directory lead
  /// there?
  virtual bool shows(InodeNumber, const PendingName&) const { return true; }

  Volume& volume_;
  SchemeOptions options_;
};

}  // namespace headcrash::ufs
