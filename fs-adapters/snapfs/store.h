#pragma once
// The mounted file system below the names: generations, copy-on-write, space and commits, as an
// InodeStore for the tree (tree/inode_store.h).
//
//   file_blocks.cc   which block lies where; copy-on-write of a block and of the addresses that lead to it
//   store.cc         inodes in core, the generation of an operation, room for it
//   commit.cc        spawning a generation, moving the old one to the disk, its superblock
//   intent_log.cc    fsync by a record of the log, where there is one; the log's part in a mount
//   snapshots.cc     snapshots that are kept
//   transactions.cc  several operations of one generation
//   mount.cc         superblock and maps
//
// The cache has blocks by their place on the disk. A block of an earlier generation that is to be
// changed is copied to a new place, in memory, and the old buffer stays what it was until it has
// been written; so the generation that is on its way to the disk and the one that is open do not
// wait for each other.
//
// Spawning makes another generation the open one, nothing else. The old one is then moved to the
// disk by the fiber that commits:
//
//   1. it waits for the operations that belong to it;
//   2. inodes go into records, changed bits into the maps, each in blocks of their own copied for
//      it;
//   3. all that is outstanding is written, in any order;
//   4. flush, its superblock into the slot of its number, flush;
//   5. blocks that it has freed may be allocated.
//
// One generation is on its way at a time. With an intent log fsync does not take step 2: it writes
// what is outstanding, flushes, writes a record of what the generation has changed, and flushes.
// Such a generation stays what it is until the next one is committed, which then has its changes,
// too.
//
// Locks: commit lock (of who commits), inodes; buffers one at a time. Who commits may hold the lock
// of an inode that it syncs: operations that belong to a generation have all the locks that they
// need. Threads: the executor's.

#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fs-adapters/snapfs/format.h"
#include "fs-adapters/snapfs/generation.h"
#include "fs-adapters/snapfs/kept_blocks.h"
#include "fs-adapters/snapfs/log_record.h"
#include "fs-adapters/snapfs/snapshot_table.h"
#include "fs-adapters/snapfs/space.h"
#include "fs-adapters/substrate/os/system.h"
#include "fs-adapters/substrate/tree/changes_by_fiber.h"
#include "fs-adapters/substrate/tree/inode_store.h"

namespace headcrash::snapfs {

enum class DataMode : std::uint8_t {
  ordered,        ///< written in place, what a generation has written before its superblock
  unordered,      ///< written in place, whenever
  copy_on_write,  ///< as directories
};

/// When a block that a generation has freed may be allocated.
enum class Reuse : std::uint8_t {
  after_commit,  ///< III-A, the first solution: when that generation is on the disk
  /// A control. III-A, "another solution", as printed: at once; what newer generations write waits
  /// until the older one is on the disk.
  newer_writes_wait,
  at_spawn,  ///< a control: when it is on its way to the disk
  at_once,   ///< a control
};

/// Whether operations go on while a generation is spawned (III-B).
enum class Spawn : std::uint8_t {
  beside_operations,  ///< they do, each in its generation
  barrier,  ///< "a synchronization barrier": those that come wait until those under way have ended
  barrier_until_committed,  ///< and until the generation is on the disk
};

struct MountOptions {
  bool copy_on_write = true;  ///< off: metadata in place, which is KFS without snapshots
  DataMode data = DataMode::ordered;
  os::TimeNs commit_interval_ns = 10 * model::kSecondNs;  ///< after the first change since the last
  std::uint32_t dirty_blocks_max = 0;  ///< of the open generation; 0: a third of the cache
  Reuse reuse = Reuse::after_commit;
  Spawn spawn = Spawn::beside_operations;
  bool writes_at_once = false;  ///< what files and directories have, and not when a generation ends
  std::string snapshot = {};    ///< not empty: that one is mounted, read-only
  bool flushes = true;          ///< a volatile cache, before a superblock and after it

  // Controls: each breaks one rule.
  bool one_superblock = false;  ///< always the same slot
  bool operations_straddle =
      false;                   ///< a change belongs to the generation that is open when it is made
  bool commits_early = false;  ///< does not wait for the last of the outstanding blocks
  bool drops_in_flight = false;   ///< what is freed is taken out of the generation on its way, too
  bool logs_early = false;        ///< a record of the log does not wait for the generation's blocks
  bool reuses_snapshots = false;  ///< blocks that only snapshots have are free
  bool writes_in_snapshots = false;  ///< data that snapshots have is written over in place
  bool splits_transactions = false;  ///< a generation is spawned whoever has begun one
  bool mixes_generations =
      false;  ///< a changed mode, owner or time gets into the generation on its way, too
};

struct CoreInode : tree::CoreInode {
  CoreInode(os::Executor& executor, InodeNumber its_number)
      : tree::CoreInode(executor, its_number, disk) {}

  Inode disk;
  std::uint64_t changed_in = 0;  ///< the newest generation that has changed it
  bool loading = false;
  bool removed = false;
  bool is_idle = false;
  std::list<InodeNumber>::iterator idle = {};
};

struct Counters {
  std::uint64_t commits = 0;         ///< of generations that changed something
  std::uint64_t records = 0;         ///< of the intent log
  std::uint64_t blocks_copied = 0;   ///< copy-on-write
  std::uint64_t blocks_written = 0;  ///< outstanding at commits, data that is ordered, too
  std::uint64_t never_written = 0;  ///< dirty blocks of what was made and removed in one generation
  /// Dirty blocks that were freed while the older generation, to which they belong, was on its way.
  std::uint64_t freed_in_flight = 0;
  std::uint64_t most_concurrent = 0;  ///< operations of the old generation when one was spawned
};

struct SnapshotChange {
  std::string name;
  bool drops = false;  ///< or makes one
};

/// The intent log, and what is only there: since the newest superblock.
struct LogState {
  std::size_t end_bytes = 0;  ///< of its last record
  std::uint32_t records = 0;
  std::uint32_t checksum = 0;                      ///< of the last record
  std::uint32_t free_blocks = 0, free_inodes = 0;  ///< as of the last record
  std::unique_ptr<Generation> changes = {};        ///< of all of them; null: there are none
};

class Store final : public tree::InodeStore, private tree::InodeOwner, private os::WriteHooks {
 public:
  /// Reads superblock and maps; removes what was unlinked while open. Writes nothing.
  static Result<std::unique_ptr<Store>> mount(os::System& system, const MountOptions& options);
  ~Store() override;

  // The tree's questions.
  InodeNumber root() const override { return kRootInode; }
  bool is_inode(std::uint64_t number) const override {
    return number >= kRootInode && number < s_.inodes;
  }
  std::uint64_t inodes_max() const override { return s_.inodes; }
  std::uint32_t block_bytes() const override { return s_.block_bytes; }
  std::uint64_t file_bytes_max() const override { return s_.file_bytes_max(); }
  std::uint32_t new_directory_bytes() const override { return kSectorBytes; }
  std::uint32_t symlink_bytes_max() const override { return std::min(s_.block_bytes, 4095U); }
  bool stopped() const override { return stopped_; }
  bool writes_through() const override { return system_.syncer.writes_through(); }
  std::size_t bytes_in_core() const override;
  bool takes_no_changes() const override { return stopped_ || read_only_ || is_full_for_good(); }
  std::uint64_t allocated_bytes(const tree::CoreInode& inode) const override;

  VfsResult<void> change(const std::function<VfsResult<void>(tree::Operation&)>& body) override;
  VfsResult<tree::InodeHandle> get(InodeNumber number, tree::Operation* operation) override;
  tree::InodeHandle share(tree::CoreInode& inode, tree::Operation* operation) override;
  VfsResult<tree::InodeHandle> make(tree::Operation& operation, tree::CoreInode& directory,
                                    bool is_directory) override;
  void mark_changed(tree::CoreInode& inode) override;

  VfsResult<os::HeldBuffer> read_block(tree::CoreInode& inode, std::int64_t block) override;
  VfsResult<os::HeldBuffer> block_to_change(tree::Operation& operation, tree::CoreInode& inode,
                                            std::int64_t block) override;
  VfsResult<void> make_room(tree::Operation& operation, tree::CoreInode& inode,
                            const tree::BytesToChange& change) override;
  VfsResult<os::HeldBuffer> block_for_writing(tree::Operation& operation, tree::CoreInode& inode,
                                              const tree::BlockWanted& wanted) override;
  void write_delayed(os::HeldBuffer buffer) override;
  VfsResult<void> free_blocks(tree::Operation& operation, tree::CoreInode& inode,
                              std::int64_t first, std::int64_t end) override;
  VfsResult<void> set_size(tree::Operation& operation, tree::CoreInode& inode,
                           std::uint64_t size_bytes) override;
  VfsResult<std::int64_t> grow_directory(tree::Operation& operation,
                                         tree::CoreInode& directory) override;

  VfsResult<void> link_added(tree::Operation& operation, const tree::LinkAddition& addition,
                             os::HeldBuffer directory_block) override;
  VfsResult<void> link_removed(tree::Operation& operation, const tree::LinkRemoval& removal,
                               os::HeldBuffer directory_block) override;
  /// The whole generation (III-B): by its superblock, or by a record of the log.
  VfsResult<void> fsync(tree::Operation& operation, tree::CoreInode& inode,
                        tree::SyncExtent extent) override;

  // The whole of it.
  /// All that has been done is on the disk. Not from within an operation.
  VfsResult<void> sync();
  /// As sync(), and the superblock says that the file system is clean.
  VfsResult<void> unmount();
  void stop() { stopped_ = true; }
  /// Errors: fs-adapters/snapshots.h. Not from within an operation.
  VfsResult<void> make_snapshot(std::string_view name);
  VfsResult<void> drop_snapshot(std::string_view name);
  /// Errors: fs-adapters/transactions.h. Of the fiber that calls.
  VfsResult<void> begin_transaction();
  VfsResult<void> end_transaction();
  /// All that are under way, before an unmount.
  void end_transactions();
  const std::vector<SnapshotEntry>& snapshots() const { return snapshots_; }
  /// The spawner and the timer have ended when it returns, and are not asked for again: before an
  /// unmount.
  void end_daemons();
  /// No work is asked for any more: before it goes.
  void abandon();
  SpaceStatus space() const;
  void forget_idle(std::size_t keep);
  void drop_clean() { cache.drop_clean(); }
  /// Of the newest committed generation.
  const Superblock& superblock() const { return s_; }
  const Counters& counters() const { return counters_; }
  std::uint32_t free_blocks_now() const { return space_.free(); }
  std::uint32_t free_inodes_now() const { return numbers_.free(); }
  const Generation& open_generation() const { return *open_; }
  /// A generation has been spawned whose predecessor is not on the disk yet.
  bool commit_under_way() const { return closing_ != nullptr; }
  /// Blocks that the newest state does not have and that a committed one still needs.
  std::size_t blocks_held_back() const {
    return open_->freed.size() + (closing_ ? closing_->freed.size() : 0);
  }

 private:
  using Handle = tree::Handle<CoreInode>;
  enum class Kind : std::uint8_t { metadata, data };
  /// Blocks that one operation may copy although the disk is full: an exchange changes two entries
  /// of each of two directories and two "..", each perhaps below three blocks of addresses, and as
  /// many blocks of records.
  static constexpr std::uint32_t kOperationBlocks = 24;
  Store(os::System& system, const Superblock& superblock, std::size_t slot,
        const MountOptions& options);
  static CoreInode& core(tree::CoreInode& inode) { return static_cast<CoreInode&>(inode); }

  // os::WriteHooks
  bool before_write(os::Outgoing& write) override;
  void after_write(const os::BufferKey&, os::RequestId, model::Status) override {}

  // store.cc
  VfsResult<Handle> get_core(InodeNumber number, tree::Operation* operation);
  VfsResult<void> load(CoreInode& inode);
  VfsResult<void> load_record(CoreInode& inode);
  void put(tree::CoreInode& inode, tree::Operation* operation) override;
  void remove(CoreInode& inode, Operation& operation);
  void settle(CoreInode& inode);
  void mix_into_closing(const Inode& inode);
  std::optional<InodeNumber> free_number(InodeNumber near) const;
  Generation& generation_of(Operation& operation);
  Generation& generation_to_change();
  Operation* current_operation() const;
  void begin_operation(Operation& operation);
  void leave(Operation& operation);
  void end_operation(Operation& operation);
  bool something_deferred() const;
  std::uint32_t kept_for_commits() const;
  std::uint32_t blocks_of_maps() const;
  bool has_room(std::uint32_t blocks) const;
  bool is_short_of_room() const;
  bool is_full_for_good() const;
  VfsResult<void> wait_for_room();
  VfsResult<void> wait_for_barrier_and_room();
  void wake_spawner();
  void schedule_commit();

  // file_blocks.cc
  /// A way from a pointer through blocks of addresses to a block.
  struct Way {
    BlockAddress* root = nullptr;
    std::uint32_t depth = 0;
    std::array<std::uint32_t, 8> slots = {};
  };
  Way way_to(CoreInode& inode, std::uint64_t block) const;
  static Way way_to(BlockAddress& root, const TreeShape& shape, std::uint32_t leaf);
  enum class Room : std::uint8_t { checked, kept_for_operation };
  VfsResult<os::HeldBuffer> change_block(Operation& operation, CoreInode& inode,
                                         std::uint64_t block, Room room);
  /// 0: there is none.
  VfsResult<BlockAddress> follow(const Way& way);
  VfsResult<os::HeldBuffer> read_at(BlockAddress address, Kind kind);
  os::HeldBuffer new_at(BlockAddress address, Kind kind);
  tl::unexpected<Errno> no_room_kept();
  bool reuses_at_once() const {
    return options_.reuse == Reuse::newer_writes_wait || options_.reuse == Reuse::at_once ||
           !options_.copy_on_write;
  }
  std::optional<BlockAddress> allocate(Generation& generation, BlockAddress near);
  void release(Generation& generation, BlockAddress address);
  /// The block is going to be changed: where it may be. Dirty from now on.
  VfsResult<BlockAddress> own(Generation& generation, BlockAddress address, Kind kind);
  /// The last pointer of the way leads to `target`; `made` counts blocks of addresses that are new.
  VfsResult<void> lead_to(Generation& generation, const Way& way, BlockAddress target,
                          std::uint32_t& made);
  void set_dirty(Generation& generation, BlockAddress address, Kind kind);
  Kind kind_of(const CoreInode& inode) const;
  bool copies(Kind kind, BlockAddress address) const;
  void give_back(BlockAddress address);
  VfsResult<bool> free_below(Generation& generation, CoreInode& inode, BlockAddress& at,
                             std::uint64_t start, std::uint32_t level, std::uint64_t first,
                             std::uint64_t end);
  os::BufferKey key_of(BlockAddress address) const { return {0, address}; }

  // commit.cc
  enum class Clean : std::uint8_t { no, yes };
  VfsResult<void> commit_all();
  VfsResult<void> say_in_use();
  VfsResult<void> write_unordered();
  std::uint64_t newest_with_changes() const {
    return open_->empty() ? open_->number - 1 : open_->number;
  }
  VfsResult<void> spawn();
  VfsResult<void> commit_open(Clean clean);
  VfsResult<void> commit_closing(Clean clean);
  void lift_barrier();
  struct LiftBarrier {
    Store& store;
    ~LiftBarrier() { store.lift_barrier(); }
  };
  void note_if_unlinked(InodeNumber number, const Inode& inode);
  VfsResult<void> move_to_blocks(Generation& generation, Superblock& next);
  VfsResult<os::HeldBuffer> own_leaf(Generation& generation, BlockAddress& root,
                                     const TreeShape& shape, std::uint32_t leaf);
  VfsResult<void> move_inodes(Generation& generation, Superblock& next);
  VfsResult<void> move_inode_bits(Generation& generation, Superblock& next);
  VfsResult<void> move_block_bits(Generation& generation, Superblock& next);
  VfsResult<void> write_outstanding(Generation& generation);
  VfsResult<void> write_superblock(const Superblock& next);
  VfsResult<void> write_to_disk(std::uint64_t lba, std::span<const std::byte> bytes);
  VfsResult<void> flush_device();
  void let_go_of_freed(Generation& generation);
  void note_live(const Generation& generation);

  // intent_log.cc
  VfsResult<void> log_all();
  LogRecord record_of(const Generation& generation);
  VfsResult<void> log_closing(LogRecord& record);
  Result<void> replay_log();
  Result<void> replay(const LogRecord& record);

  // snapshots.cc
  VfsResult<void> change_snapshots(SnapshotChange change);
  VfsResult<void> own_snapshot_table(Generation& generation, Superblock& next);
  VfsResult<void> write_snapshot_table(Generation& generation, Superblock& next);
  VfsResult<void> settle_snapshots();
  VfsResult<std::vector<BlockAddress>> blocks_in_map(BlockAddress root);
  Result<void> hold_snapshots();

  // transactions.cc
  bool in_transaction() const { return transactions_.contains(executor.current()); }
  void wait_for_transactions();

  // mount.cc
  Result<void> come_up();
  Result<void> read_maps();
  Result<void> read_map(
      BlockAddress& root, const TreeShape& shape,
      const std::function<void(std::uint64_t first_bit, std::span<const std::byte>)>& see);
  Result<void> remove_unlinked();

  os::System& system_;
  os::DiskQueue& disk_;
  MountOptions options_;
  Superblock s_;          ///< of the newest committed generation
  std::size_t slot_ = 0;  ///< that it is in
  TreeShape record_tree_, inode_tree_, block_tree_;
  /// As of the newest generation whose inodes have been moved: where records are looked up.
  BlockAddress record_map_ = 0;

  BlockSpace space_;
  BlockSpace numbers_;  ///< of inodes
  std::uint32_t next_inode_generation_ = 1;
  std::set<InodeNumber> unlinked_;  ///< in the newest generation that has been moved

  std::vector<SnapshotEntry> snapshots_;
  std::vector<SnapshotEntry> snapshots_to_be_;     ///< of the generation on its way
  std::optional<SnapshotChange> snapshot_change_;  ///< that it makes
  KeptBlocks kept_;
  std::vector<bool> live_;  ///< blocks of the newest committed generation
  std::unordered_set<const os::Fiber*> transactions_;  ///< who has begun one
  bool spawn_waits_ = false;                           ///< for their end: none begins
  os::WaitQueue transactions_changed_;
  bool copies_all_data_ = false;  ///< a snapshot is being made
  bool read_only_ = false;

  std::unique_ptr<Generation> open_;
  std::unique_ptr<Generation> closing_;  ///< null: none is on its way
  bool closing_is_moved_ = false;        ///< it needs no more blocks
  bool barrier_ = false;                 ///< no operation may begin
  std::uint64_t committed_ = 0;          ///< by a superblock
  LogState log_;
  bool commit_scheduled_ = false;
  tree::ChangesByFiber changes_;
  os::FiberLock commit_lock_;
  os::WaitQueue operation_ended_;
  std::unordered_map<const os::Fiber*, Operation*> operations_;
  std::uint32_t reserving_ = 0;  ///< operations for which blocks are kept
  std::uint32_t room_made_ = 0;  ///< sum of Operation::room

  std::unordered_map<InodeNumber, std::unique_ptr<CoreInode>> inodes_;
  std::list<InodeNumber> idle_;
  os::WaitQueue loaded_;
  bool spawner_runs_ = false;
  os::WaitQueue spawner_ended_;
  bool stopped_ = false;
  bool abandoned_ = false;
  bool closing_down_ = false;
  os::Account spawner_account_{.name = "spawner"};
  Counters counters_;
};

}  // namespace headcrash::snapfs
