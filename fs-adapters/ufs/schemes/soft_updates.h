#pragma once
// Soft Updates: all metadata writes are delayed. Changes that must not reach the disk yet are
// undone in the sent bytes, and releases that are not safe yet are deferred (Ganger and Patt 1994,
// section 4.2 and the appendix).
//
//   kept per inode (number)                  kept per block (key)
//     allocdirect  undo: pointer, size         allocsafe   its write satisfies an allocdirect or
//     addsafe      its write satisfies an add              allocindirect
//     freeblocks   -> work item                add         undo: the entry's inode number
//     free file    -> work item                remove      -> work item: lower the count
//                                              indirdep    a safe copy, sent instead, with its
//                                                          allocindirects
//                                              freeblocks  of an indirect block -> work item
//
// A change of an inode passes two stages: the in-core inode must be copied to its block (`staged`)
// before a write of the block can carry the change. A write carries the contents that the block has
// when the write is issued (`carried` is the number of this write; the writes of a block are
// numbered, and complete in order). Only the completion of the write satisfies dependencies.
// Changes are undone in a copy, never in the cached bytes, so readers never wait and nothing is
// redone. A block that was sent with undone changes becomes dirty again at once. The paper instead
// releases it, and redoes the changes at the next access or after 15 seconds. Here the cache cannot
// lose anything, and the sweep writes the block at least as early.
//
// Undoing an allocation restores the file's previous size and sector count, and clears the pointers
// beyond that size. If the blocks are below an indirect block, the size and the sector count are
// not restored (fsck corrects them). The exception is a directory, which must have no hole: its
// size waits until these blocks have been written without undone changes. If a fragment has moved,
// its old place is released when the new pointer is on the disk. The entry of a symbolic link waits
// for the complete inode and its target, and the entry of a new directory also waits for its
// parent's count. If a rename has changed an entry, undoing restores the previous inode. An entry
// that is removed before it was on the disk disappears with its dependencies. An inode that was
// never on the disk is freed at once.
//
// R1 for renames: the new name is written synchronously before the old one is removed
// (settle_name), because undoing a removal could need room that other entries of the chunk have
// taken. The paper's appendix does not describe this case. For a directory, the ".." is written
// next, and finally the removal of the old name. While a directory has two names, fsck prefers the
// one that matches "..". Otherwise it might keep either name, and paths through the other one,
// which may have been synced, would be lost.
//
// If a write fails, its block stays dirty and keeps its dependencies; the next write retries them.
// After a failed write, the contents of the disk are unknown. An entry that the write carried is
// treated as possibly on the disk (`sent`), and its removal is ordered accordingly.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fs-adapters/ufs/core/inodes.h"
#include "fs-adapters/ufs/schemes/scheme.h"

namespace headcrash::ufs {

struct SoftUpdatesCounters {
  std::uint64_t dependencies = 0;  ///< dependencies created
  std::uint64_t undone_inodes = 0, undone_entries = 0,
                /// Number of changes that were undone in the bytes of a write.
      undone_indirects = 0;
  /// Number of entries that were added and removed again before they were written.
  std::uint64_t cancelled_adds = 0;
  std::uint64_t work_items = 0;
};

class SoftUpdates : public Scheme {
 public:
  using Scheme::Scheme;
  std::string_view name() const override { return "soft-updates"; }
  const SoftUpdatesCounters& counters() const { return counters_; }
  /// Returns the number of pending entries, inodes and deferred link drops. SchemeOptions limits
  /// this number.
  std::size_t waiting() const { return adds_.size() + inodes_.size() + deferred_; }

  void bound_work() override;
  VfsResult<os::HeldBuffer> block_allocated(Operation& operation, const BlockAllocation& allocation,
                                            os::HeldBuffer block) override;
  VfsResult<void> directory_grown(Operation& operation, CoreInode& directory,
                                  std::uint64_t old_size_bytes) override;
  VfsResult<void> blocks_removed(Operation& operation, const BlockRemoval& removal,
                                 os::HeldBuffer holder) override;
  VfsResult<void> link_added(Operation& operation, const LinkAddition& addition,
                             os::HeldBuffer directory_block) override;
  VfsResult<void> link_removed(Operation& operation, const LinkRemoval& removal,
                               os::HeldBuffer directory_block) override;
  VfsResult<void> inode_removed(Operation& operation, const InodeRemoval& removal) override;
  VfsResult<void> settle_name(Operation& operation, CoreInode& inode) override;
  void inode_allocated(InodeNumber number) override;
  void inode_copied(CoreInode& inode, os::HeldBuffer& block) override;
  VfsResult<void> fsync(Operation& operation, CoreInode& inode, SyncExtent extent) override;
  bool reclaim() override;
  std::size_t bytes_in_core() const override;
  bool before_write(os::Outgoing& write) override;
  void after_write(const os::BufferKey& key, os::RequestId id, model::Status status) override;

 private:
  /// Ordinal of a write among the writes of the same block, counted from 1; 0 if there is no such
  /// write.
  using WriteNumber = std::uint64_t;
  using AddId = std::uint64_t;

  /// Links that a work item will drop. The handles keep the inodes in core until then.
  struct Removal {
    InodeHandle inode, parent;
    std::uint16_t links = 1;
  };
  struct AllocDirect {
    std::uint32_t slot = 0;
    std::int64_t block = 0;
    FragmentAddress at = 0, old_at = 0;
    std::uint32_t fragments = 0, old_fragments = 0;
    std::uint64_t old_size_bytes = 0;
    bool initialised = false;
    bool staged = false, ever_staged = false;
    WriteNumber carried = 0;
    std::vector<Extent> frees;  ///< old extents of the block, to be freed
  };
  /// A directory has grown beyond its direct pointers, and the new size is not on the disk yet.
  struct GrownSize {
    std::int64_t block = 0;  ///< number of the directory's new block
    std::uint64_t old_size_bytes = 0;
    /// Indirect blocks that must be written with none of their changes undone.
    std::vector<os::BufferKey> waits_for;
    bool staged = false, ever_staged = false;
    WriteNumber carried = 0;
  };
  struct AddSafe {
    AddId add = 0;
    bool whole = false;  ///< true if the inode must be written with none of its changes undone
    bool staged = false;
    WriteNumber carried = 0;
  };
  struct FreeBlocks {
    std::vector<Extent> extents;
    bool staged = false;
    WriteNumber carried = 0;
  };
  struct FreeFile {
    InodeNumber number = 0;
    bool directory = false;
    std::vector<Extent> extents;
    /// Link drops that were deferred until a directory block was written. That block will never be
    /// written, so these link drops wait for the inode instead.
    std::vector<std::shared_ptr<Removal>> removals;
    bool staged = false;
    WriteNumber carried = 0;
  };
  struct InodeDependencies {
    std::vector<AllocDirect> allocations;
    std::vector<GrownSize> sizes;
    std::vector<AddSafe> adds;
    std::vector<FreeBlocks> frees;
    std::optional<FreeFile> free_file;
    bool empty() const {
      return allocations.empty() && sizes.empty() && adds.empty() && frees.empty() &&
             !free_file.has_value();
    }
  };
  /// Attached to a newly allocated block. Once that block is on the disk, the pointer described
  /// here may be written.
  struct AllocSafe {
    InodeNumber inode = 0;
    /// The indirect block that contains the pointer; 0 if the inode contains it.
    FragmentAddress holder = 0;
    std::uint32_t slot = 0;
    WriteNumber carried = 0;
  };
  /// Attached to an indirect block. Once that block has been written, the directory `inode` may be
  /// written with a size that includes block number `block`.
  struct SizeSafe {
    InodeNumber inode = 0;
    std::int64_t block = 0;
    WriteNumber carried = 0;
  };
  struct Add {
    os::BufferKey block;
    std::uint32_t offset = 0;
    InodeNumber inode = 0;
    InodeNumber previous = 0;  ///< the inode that the entry on the disk refers to
    std::uint8_t previous_type = 0;
    std::uint32_t waits_for = 0;  ///< number of addsafes that have not been satisfied yet
    /// The write that contained the entry may have failed, so the entry may already be on the disk.
    bool sent = false;
    bool entry_gone = false;  ///< the entry was removed after `sent` had become true
    WriteNumber carried = 0;
    std::vector<std::shared_ptr<Removal>> replaced;
  };
  struct Remove {
    std::shared_ptr<Removal> removal;
    WriteNumber carried = 0;
  };
  struct AllocIndirect {
    std::uint32_t slot = 0;
    FragmentAddress at = 0;
  };
  struct IndirectDependencies {
    std::vector<std::byte> safe;
    std::vector<AllocIndirect> allocations;
  };
  struct BlockDependencies {
    WriteNumber issued = 0, completed = 0;
    std::deque<bool> undone;  ///< for each write in flight, whether some change was undone in it
    std::optional<AllocSafe> allocation;
    std::vector<AddId> adds;
    std::vector<Remove> removes;
    std::unique_ptr<IndirectDependencies> indirect;
    std::vector<FreeBlocks> frees;
    std::vector<SizeSafe> sizes;
    bool empty() const {
      return issued == completed && !allocation && adds.empty() && removes.empty() && !indirect &&
             frees.empty() && sizes.empty();
    }
  };

  // soft_updates.cc
  void count_dependency();
  void allocate_direct(const BlockAllocation& allocation);
  void allocate_indirect(const BlockAllocation& allocation);
  void cancel_blocks(InodeNumber inode, std::int64_t first, std::int64_t end);
  void cancel_allocations(const CoreInode& inode, std::int64_t first, std::int64_t end,
                          std::vector<Extent>& frees);
  void cancel_indirect(std::vector<Extent>& extents);
  std::shared_ptr<Removal> defer_link_drop(const DroppedLink& dropped);
  Add* add_at(const os::BufferKey& block, std::uint32_t offset);
  void forget_add(AddId id);
  std::map<os::BufferKey, BlockDependencies>::iterator first_block_of(InodeNumber inode);
  bool has_pending_dependencies(InodeNumber inode);
  bool shows(InodeNumber inode, const PendingName& name) const override;
  VfsResult<void> write_path_to(InodeNumber inode, int round);
  VfsResult<void> write_targets(InodeNumber directory);
  VfsResult<void> write_adds_of(InodeNumber inode);
  void forget_directory_blocks(InodeNumber inode, FreeFile& file);
  void work(std::function<void()> item);
  void drop(const std::shared_ptr<Removal>& removal);

  // soft_updates_writes.cc
  std::optional<InodeNumber> first_inode_in(const os::BufferKey& key) const;
  std::span<std::byte> undoing(os::Outgoing& write);
  /// Returns false if an entry or pointer that would have to be undone is missing in the block. The
  /// volume is then damaged, because two pointers refer to this block.
  bool contains_recorded_changes(const os::Outgoing& write,
                                 const BlockDependencies& dependencies) const;
  bool shows_inodes(const os::Outgoing& write, InodeNumber first) const;
  bool undo_inodes(os::Outgoing& write, InodeNumber first, WriteNumber number);
  bool undo_inode(os::Outgoing& write, InodeNumber inode, InodeDependencies& dependencies,
                  WriteNumber number);
  bool undo_adds(os::Outgoing& write, BlockDependencies& dependencies, WriteNumber number);
  bool undo_indirect(os::Outgoing& write, BlockDependencies& dependencies);
  void satisfied(const AllocSafe& allocation);
  void shown(const os::BufferKey& holder, const SizeSafe& size);
  void inode_written(InodeDependencies& dependencies, WriteNumber completed);
  void block_written(const os::BufferKey& key, BlockDependencies& dependencies);
  void put_back(const os::BufferKey& key, BlockDependencies& dependencies);

  std::map<InodeNumber, InodeDependencies> inodes_;
  std::map<os::BufferKey, BlockDependencies> blocks_;
  std::unordered_map<AddId, Add> adds_;
  /// Number of pending adds that refer to the inode.
  std::unordered_map<InodeNumber, std::uint32_t> adds_of_;
  /// Inodes that are allocated in memory but still free on the disk.
  std::unordered_set<InodeNumber> never_written_;
  AddId last_add_ = 0;
  std::size_t deferred_ = 0;     ///< number of deferred links that have not been dropped yet
  std::vector<std::byte> sent_;  ///< the copy in which before_write() undoes changes
  SoftUpdatesCounters counters_;
};

}  // namespace headcrash::ufs
