#pragma once
// Soft Updates: all metadata writes are delayed; what must not be seen on the disk yet is undone in
// what is sent, and what must not be released yet is deferred (Ganger and Patt 1994, section 4.2
// and the appendix).
//
//   kept for an inode (number)               kept for a block (key)
//     allocdirect  undo: pointer, size         allocsafe   its write satisfies an allocdirect, -indirect
//     addsafe      its write satisfies an add  add         undo: the entry's inode number
//     freeblocks   -> work item                remove      -> work item: lower the count
//     free file    -> work item                indirdep    a safe copy, sent in its place, and its
//                                                          allocindirects
//                                              freeblocks  of an indirect block -> work item
//
// An inode passes two stages: what was changed in core must have been copied to the block
// (`staged`) before a write of the block can carry it. A write carries what is in the block when it
// is issued (`carried` is the write's number among those of this block, whose writes complete in
// order); only its completion satisfies. The bytes in the cache are never undone, a copy is: nobody
// has to wait for them or to redo them. A block that was sent undone is dirty again at once, where
// the paper lets go of it and redoes what it finds undone at the next access, or after 15 seconds:
// so nothing here can be lost from the cache, and the sweep brings it to the disk no later.
//
// Undoing an allocation takes the file's size back to what it was before, with all pointers behind
// it, and its count of sectors; of blocks that an indirect block leads to size and count stay
// (fsck's business), but for a directory, which must have no hole: its size waits until they have
// been written as they are. Fragments that move give up their old place when the new pointer is on
// the disk. A symbolic link's entry waits for its whole inode, its target included; a new
// directory's, too, and for its parent's count. An entry that was taken over by a rename is undone
// to the inode that it named. An entry that is removed before it was on the disk vanishes together
// with what it waited for; an inode that was never on the disk is freed at once.
//
// R1 for renames: the new name is written, synchronously, before the old one is removed
// (settle_name): undoing a removal could need room in a chunk that others have taken meanwhile. The
// paper's appendix does not say how its authors did it. Of a directory the ".." is written then,
// and at the end the removal of the old name: while it has two, fsck believes the "..", and else
// takes either, with all paths that lead through the other and may have been synced.
//
// A write that fails satisfies nothing: its block stays dirty and its notes stay with it, to be
// carried by the next write. What a failed write has left on the disk nobody knows: an entry that
// it carried counts as one that may be there (`sent`), and is removed as such.

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

/// How much work there was, for reports.
struct SoftUpdatesCounters {
  std::uint64_t dependencies = 0;                                             ///< made
  std::uint64_t undone_inodes = 0, undone_entries = 0, undone_indirects = 0;  ///< in blocks sent
  std::uint64_t cancelled_adds = 0;  ///< added and removed without a write
  std::uint64_t work_items = 0;
};

class SoftUpdates : public Scheme {
 public:
  using Scheme::Scheme;
  std::string_view name() const override { return "soft-updates"; }
  const SoftUpdatesCounters& counters() const { return counters_; }
  /// Entries, inodes and links to be dropped that something waits for: bounded, see SchemeOptions.
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
  using WriteNumber = std::uint64_t;  ///< of a block's writes; 0: none
  using AddId = std::uint64_t;

  /// Links to be dropped by a work item; keeps the inodes in core.
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
    std::vector<Extent> frees;  ///< places that it has left
  };
  /// A directory's size that reaches behind its direct pointers.
  struct GrownSize {
    std::int64_t block = 0;  ///< the new one
    std::uint64_t old_size_bytes = 0;
    std::vector<os::BufferKey>
        waits_for;  ///< indirect blocks, until they were sent with nothing undone
    bool staged = false, ever_staged = false;
    WriteNumber carried = 0;
  };
  struct AddSafe {
    AddId add = 0;
    bool whole = false;  ///< only an inode without anything undone will do
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
    std::vector<std::shared_ptr<Removal>>
        removals;  ///< of a directory's blocks that were never written
    bool staged = false;
    WriteNumber carried = 0;
  };
  struct InodeNotes {
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
  /// The write of a block makes this pointer good.
  struct AllocSafe {
    InodeNumber inode = 0;
    FragmentAddress holder = 0;  ///< indirect block; 0: the inode
    std::uint32_t slot = 0;
    WriteNumber carried = 0;
  };
  /// The write of an indirect block lets a directory's size go.
  struct SizeSafe {
    InodeNumber inode = 0;
    std::int64_t block = 0;
    WriteNumber carried = 0;
  };
  struct Add {
    os::BufferKey block;
    std::uint32_t offset = 0;
    InodeNumber inode = 0;
    InodeNumber previous = 0;  ///< what the entry names on the disk
    std::uint8_t previous_type = 0;
    std::uint32_t waits_for = 0;  ///< addsafes
    bool sent = false;            ///< in a write, which may have failed: it may be on the disk
    bool entry_gone = false;      ///< removed when it had been sent
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
  struct IndirectNotes {
    std::vector<std::byte> safe;
    std::vector<AllocIndirect> allocations;
  };
  struct BlockNotes {
    WriteNumber issued = 0, completed = 0;
    std::deque<bool> undone;  ///< of the writes under way
    std::optional<AllocSafe> allocation;
    std::vector<AddId> adds;
    std::vector<Remove> removes;
    std::unique_ptr<IndirectNotes> indirect;
    std::vector<FreeBlocks> frees;
    std::vector<SizeSafe> sizes;
    bool empty() const {
      return issued == completed && !allocation && adds.empty() && removes.empty() && !indirect &&
             frees.empty() && sizes.empty();
    }
  };

  // soft_updates.cc
  void note_made();
  void allocate_direct(const BlockAllocation& allocation);
  void allocate_indirect(const BlockAllocation& allocation);
  void cancel_blocks(InodeNumber inode, std::int64_t first, std::int64_t end);
  void cancel_allocations(const CoreInode& inode, std::int64_t first, std::int64_t end,
                          std::vector<Extent>& frees);
  void cancel_indirect(std::vector<Extent>& extents);
  std::shared_ptr<Removal> put_off(const DroppedLink& dropped);
  Add* add_at(const os::BufferKey& block, std::uint32_t offset);
  void forget_add(AddId id);
  std::map<os::BufferKey, BlockNotes>::iterator first_block_of(InodeNumber inode);
  bool owes(InodeNumber inode);
  bool shows(InodeNumber inode, const PendingName& name) const override;
  VfsResult<void> write_way_to(InodeNumber inode, int round);
  VfsResult<void> write_targets(InodeNumber directory);
  VfsResult<void> write_adds_of(InodeNumber inode);
  void forget_directory_blocks(InodeNumber inode, FreeFile& file);
  void work(std::function<void()> item);
  void drop(const std::shared_ptr<Removal>& removal);

  // soft_updates_writes.cc
  std::optional<InodeNumber> first_inode_in(const os::BufferKey& key) const;
  std::span<std::byte> undoing(os::Outgoing& write);
  /// False if the block does not hold the pointers and entries that may have to be undone in it.
  /// Then the volume is damaged: two pointers lead to the block.
  bool shows_what_is_noted(const os::Outgoing& write, const BlockNotes& notes) const;
  bool shows_inodes(const os::Outgoing& write, InodeNumber first) const;
  bool undo_inodes(os::Outgoing& write, InodeNumber first, WriteNumber number);
  bool undo_inode(os::Outgoing& write, InodeNumber inode, InodeNotes& notes, WriteNumber number);
  bool undo_adds(os::Outgoing& write, BlockNotes& notes, WriteNumber number);
  bool undo_indirect(os::Outgoing& write, BlockNotes& notes);
  void satisfied(const AllocSafe& allocation);
  void shown(const os::BufferKey& holder, const SizeSafe& size);
  void inode_written(InodeNotes& notes, WriteNumber completed);
  void block_written(const os::BufferKey& key, BlockNotes& notes);
  void put_back(const os::BufferKey& key, BlockNotes& notes);

  std::map<InodeNumber, InodeNotes> inodes_;
  std::map<os::BufferKey, BlockNotes> blocks_;
  std::unordered_map<AddId, Add> adds_;
  std::unordered_map<InodeNumber, std::uint32_t> adds_of_;  ///< how many lead to an inode
  std::unordered_set<InodeNumber> never_written_;  ///< allocated, and still free on the disk
  AddId last_add_ = 0;
  std::size_t deferred_ = 0;     ///< links deferred and not yet dropped
  std::vector<std::byte> sent_;  ///< the copy in which before_write() undoes
  SoftUpdatesCounters counters_;
};

}  // namespace headcrash::ufs
