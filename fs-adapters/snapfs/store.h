#pragma once
// The mounted file system below the names: generations, copy-on-write, space and commits, as an
// InodeStore for the tree (tree/inode_store.h).
//
//   file_blocks.cc   block addresses; copy-on-write of blocks and of their address blocks
//   store.cc         in-core inodes, the generation of an operation, space for it
//   commit.cc        spawning a generation, writing the old one, its superblock
//   intent_log.cc    fsync with a log record, if there is a log; replay at mount
//   snapshots.cc     kept snapshots
//   transactions.cc  several operations in one generation
//   mount.cc         superblock and maps
//
// The cache identifies blocks by disk address. Before a change, a block of an earlier generation is
// copied to a new address in memory, and the old buffer stays unchanged until it has been written.
// The generation being written and the open one therefore do not wait for each other.
//
// Spawning only makes a new generation the open one. The committing fiber then writes the old one:
//
//   1. wait for the operations that belong to it
//   2. move inodes to records, and changed bits to the maps, in newly copied blocks
//   3. write all outstanding blocks, in any order
//   4. flush, write its superblock to the slot of its number, flush
//   5. allow allocation of the blocks that it freed
//
// Only one generation is written at a time. With an intent log, fsync skips step 2: it writes the
// outstanding blocks, flushes, writes a record of the generation's changes, and flushes. Such a
// generation stays unchanged until the next one is committed, which then includes its changes.
//
// Lock order: the commit lock, inodes; buffers one at a time. A committing fiber may hold the lock
// of the inode that it syncs, because operations that belong to a generation already have all their
// locks. Threads: only the executor's.

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fs-adapters/snapfs/format.h"
#include "fs-adapters/snapfs/generation.h"
#include "fs-adapters/snapfs/log_record.h"
#include "fs-adapters/snapfs/snapshot_table.h"
#include "fs-adapters/snapfs/space.h"
#include "fs-adapters/substrate/os/system.h"
#include "fs-adapters/substrate/tree/changes_by_fiber.h"
#include "fs-adapters/substrate/tree/inode_store.h"
#include "fs-adapters/substrate/tree/inode_table.h"

namespace headcrash::snapfs {

// For each block, the number of snapshots that contain it (snapshot_table.h).

class KeptBlocks {
 public:
  explicit KeptBlocks(std::uint32_t blocks = 0) : blocks_(blocks) {}

  std::uint32_t holders(BlockAddress address) const {
    return holders_.empty() ? 0 : holders_[address];
  }
  bool held(BlockAddress address) const { return holders(address) != 0; }
  /// Increments the number of snapshots that contain the block. That number is at most 255
  /// (snapshots_max()).
  void hold(BlockAddress address) {
    if (holders_.empty()) holders_.resize(blocks_);
    ++holders_[address];
  }
  /// Decrements the number of snapshots that contain the block.
  void release(BlockAddress address) {
    if (held(address)) --holders_[address];
  }
  std::size_t bytes_in_core() const { return holders_.size(); }

 private:
  std::uint32_t blocks_;
  std::vector<std::uint8_t> holders_;  ///< empty if there are no snapshots
};

enum class DataMode : std::uint8_t {
  ordered,  ///< changed in place; written before the generation's superblock
  /// Changed in place; may be written at any time, before or after the superblock.
  unordered,
  copy_on_write,  ///< copied on write, like directory blocks
};

/// The time at which a block that a generation has freed may be allocated again.
enum class Reuse : std::uint8_t {
  after_commit,  ///< once the freeing generation is on the disk (III-A, the first solution)
  /// For a control: at once, but writes of newer generations wait until the freeing generation is
  /// on the disk. This is "another solution" in III-A, exactly as printed.
  newer_writes_wait,
  /// For a control: once the next generation has been spawned, before the generation that freed the
  /// block is written.
  at_spawn,
  at_once,  ///< for a control: as soon as the block is freed
};

/// Treatment of operations while a generation is spawned (III-B).
enum class Spawn : std::uint8_t {
  concurrent,  ///< operations in progress continue, each in its own generation
  barrier,     ///< "a synchronization barrier": new operations wait until running ones have ended
  /// Like `barrier`, but new operations wait until the old generation is on the disk.
  barrier_until_committed,
};

struct MountOptions {
  /// If false, metadata is changed in place, as in the paper's KFS without snapshots.
  bool copy_on_write = true;
  DataMode data = DataMode::ordered;
  /// Time from the first change after a commit to the next commit.
  os::TimeNs commit_interval_ns = 10 * model::kSecondNs;
  /// Limit on the outstanding blocks of the open generation; 0 for a third of the cache.
  std::uint32_t dirty_blocks_max = 0;
  Reuse reuse = Reuse::after_commit;
  Spawn spawn = Spawn::concurrent;
  /// If true, file and directory blocks are written immediately, not only when their generation
  /// ends.
  bool writes_at_once = false;
  std::string snapshot = {};  ///< if not empty, this snapshot is mounted read-only
  /// If true, a volatile cache is flushed before and after each write of a superblock.
  bool flushes = true;

  // Controls. Each of these breaks one rule.
  bool one_superblock = false;  ///< superblocks are always written to the same slot
  /// Each change belongs to the generation that is open when the change is made. Changes of one
  /// operation may thus belong to two generations.
  bool operations_straddle = false;
  bool commits_early = false;  ///< a commit does not wait for the last outstanding block
  /// When a block is freed, it is also removed from the generation that is being written.
  bool drops_in_flight = false;
  bool logs_early = false;           ///< a log record does not wait for the generation's blocks
  bool reuses_snapshots = false;     ///< blocks that only snapshots contain count as free
  bool writes_in_snapshots = false;  ///< data of snapshots is overwritten in place
  bool splits_transactions = false;  ///< generations are spawned during transactions
  /// A change of mode, owner or time also affects the generation that is being written.
  bool mixes_generations = false;
};

struct CoreInode : tree::TableInode {
  CoreInode(os::Executor& executor, InodeNumber its_number)
      : tree::TableInode(executor, its_number, disk) {}

  Inode disk;
  std::uint64_t changed_in = 0;  ///< number of the newest generation in which the inode was changed
  bool removed = false;
};

struct Counters {
  std::uint64_t commits = 0;        ///< number of commits of generations that had changes
  std::uint64_t records = 0;        ///< records written to the intent log
  std::uint64_t blocks_copied = 0;  ///< blocks copied by copy-on-write
  /// Number of blocks that were outstanding at a commit, including ordered data.
  std::uint64_t blocks_written = 0;
  /// Number of dirty blocks that were created and freed in the same generation.
  std::uint64_t never_written = 0;
  /// Number of dirty blocks that were freed while the older generation to which they belong was
  /// being written.
  std::uint64_t freed_in_flight = 0;
  /// Maximum number of operations that were still in progress in the old generation when a new one
  /// was spawned.
  std::uint64_t most_concurrent = 0;
};

struct SnapshotChange {
  std::string name;
  bool drops = false;  ///< true to drop the snapshot, false to create it
};

/// The state of the intent log. `changes` are those made since the newest superblock was written;
/// only the log contains them.
struct LogState {
  std::size_t end_bytes = 0;  ///< position of the end of the last record
  std::uint32_t records = 0;
  std::uint32_t checksum = 0;                      ///< checksum of the last record
  std::uint32_t free_blocks = 0, free_inodes = 0;  ///< counts in the last record
  /// The changes in all records of the log; null if the log has no records.
  std::unique_ptr<Generation> changes = {};
};

class Store final : public tree::InodeStore, private tree::InodeOwner, private os::WriteHooks {
 public:
  /// Reads the superblock and the maps, and removes files that were open but had no name. Writes
  /// nothing to the disk.
  static Result<std::unique_ptr<Store>> mount(os::System& system, const MountOptions& options);
  ~Store() override;

  // InodeStore.
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
  bool takes_no_changes() const override { return stopped_ || read_only_ || is_permanently_full(); }
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
  /// Makes the whole generation durable, by committing it or by writing a log record (section III-B
  /// of the paper).
  VfsResult<void> fsync(tree::Operation& operation, tree::CoreInode& inode,
                        tree::SyncExtent extent) override;

  // The following functions operate on the whole file system.

  /// Makes durable all changes that were made before the call. Must not be called within an
  /// operation.
  VfsResult<void> sync();
  /// Like sync(), but also marks the superblock clean.
  VfsResult<void> unmount();
  void stop() { stopped_ = true; }
  /// Returns the errors documented in fs-adapters/snapshots.h. Must not be called within an
  /// operation.
  VfsResult<void> make_snapshot(std::string_view name);
  VfsResult<void> drop_snapshot(std::string_view name);
  /// Returns the errors documented in fs-adapters/transactions.h. A transaction belongs to the
  /// calling fiber.
  VfsResult<void> begin_transaction();
  VfsResult<void> end_transaction();
  /// Ends all transactions in progress. Called before an unmount.
  void end_transactions();
  const std::vector<SnapshotEntry>& snapshots() const { return snapshots_; }
  /// Stops the spawner and the timer, and waits until both have ended. Called before an unmount.
  void end_daemons();
  /// Cancels deferred work; the store may then be destroyed.
  void abandon();
  SpaceStatus space() const;
  void forget_idle(std::size_t keep) { inodes_.forget_idle(keep); }
  void drop_clean() { cache.drop_clean(); }
  /// Returns the superblock of the newest committed generation.
  const Superblock& superblock() const { return s_; }
  const Counters& counters() const { return counters_; }
  std::uint32_t free_blocks_now() const { return space_.free(); }
  std::uint32_t free_inodes_now() const { return numbers_.free(); }
  const Generation& open_generation() const { return *open_; }
  /// Returns true while the generation before the open one is being written.
  bool commit_under_way() const { return closing_ != nullptr; }
  /// Returns the number of blocks that would be free if no committed generation contained them.
  std::size_t blocks_held_back() const {
    return open_->freed.size() + (closing_ ? closing_->freed.size() : 0);
  }

 private:
  using Handle = tree::Handle<CoreInode>;
  enum class Kind : std::uint8_t { metadata, data };
  /// Maximum number of blocks that one operation may copy when the disk is full. This number
  /// suffices for an exchange of two names. An exchange changes two entries in each of two
  /// directories, and two ".." entries; the block of each entry may be below three address blocks.
  /// An exchange also changes as many record blocks as entries.
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
  bool is_permanently_full() const;
  VfsResult<void> wait_for_room();
  VfsResult<void> wait_for_barrier_and_room();
  void wake_spawner();
  void schedule_commit();

  // file_blocks.cc
  /// A path to a block: a root pointer, and a slot in each address block.
  struct Path {
    BlockAddress* root = nullptr;
    std::uint32_t depth = 0;
    std::array<std::uint32_t, 8> slots = {};
  };
  Path path_to(CoreInode& inode, std::uint64_t block) const;
  static Path path_to(BlockAddress& root, const TreeShape& shape, std::uint32_t leaf);
  enum class Room : std::uint8_t { checked, kept_for_operation };
  VfsResult<os::HeldBuffer> change_block(Operation& operation, CoreInode& inode,
                                         std::uint64_t block, Room room);
  /// Returns the address of the block at the end of the path; 0 if there is no block.
  VfsResult<BlockAddress> follow(const Path& path);
  VfsResult<os::HeldBuffer> read_at(BlockAddress address, Kind kind);
  os::HeldBuffer new_at(BlockAddress address, Kind kind);
  tl::unexpected<Errno> no_room_kept();
  bool reuses_at_once() const {
    return options_.reuse == Reuse::newer_writes_wait || options_.reuse == Reuse::at_once ||
           !options_.copy_on_write;
  }
  std::optional<BlockAddress> allocate(Generation& generation, BlockAddress near);
  void release(Generation& generation, BlockAddress address);
  /// Returns the address at which the block may be changed in this generation, and marks it dirty.
  /// Copies the block if necessary.
  VfsResult<BlockAddress> own(Generation& generation, BlockAddress address, Kind kind);
  /// Makes the last pointer of the path refer to `target`. Adds the number of new address blocks to
  /// `made`.
  VfsResult<void> lead_to(Generation& generation, const Path& path, BlockAddress target,
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
  VfsResult<void> clear_clean_flag();
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
  void release_freed(Generation& generation);
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
  Result<void> start_up();
  Result<void> read_maps();
  Result<void> read_map(
      BlockAddress& root, const TreeShape& shape,
      const std::function<void(std::uint64_t first_bit, std::span<const std::byte>)>& see);
  Result<void> remove_unlinked();

  os::System& system_;
  os::DiskQueue& disk_;
  MountOptions options_;
  Superblock s_;          ///< superblock of the newest committed generation
  std::size_t slot_ = 0;  ///< the slot that contains `s_`
  TreeShape record_tree_, inode_tree_, block_tree_;
  /// Root of the record map in the newest generation whose inodes have been copied to records.
  /// Records are looked up in this map.
  BlockAddress record_map_ = 0;

  BlockSpace space_;
  BlockSpace numbers_;  ///< free inode numbers
  std::uint32_t next_inode_generation_ = 1;
  /// Inodes that were open but had no links when they were last copied to records.
  std::set<InodeNumber> unlinked_;

  std::vector<SnapshotEntry> snapshots_;
  /// The snapshots that will exist once the generation that is being written has been committed.
  std::vector<SnapshotEntry> snapshots_to_be_;
  /// The snapshot that the generation being written creates or drops, if any.
  std::optional<SnapshotChange> snapshot_change_;
  KeptBlocks kept_;
  std::vector<bool> live_;  ///< for each block, whether the newest committed generation contains it
  std::unordered_set<const os::Fiber*> transactions_;  ///< fibers that are in a transaction
  std::uint64_t transactions_begun_ = 0;
  bool spawn_waits_ = false;  ///< a spawn waits for all transactions to end; none may begin
  os::WaitQueue transactions_changed_;
  bool copies_all_data_ = false;  ///< set while a snapshot is being created
  bool read_only_ = false;

  std::unique_ptr<Generation> open_;
  /// The generation that is being written; null if there is no such generation.
  std::unique_ptr<Generation> closing_;
  /// True if the inodes of `closing_` have been copied to records. The commit of `closing_` then
  /// needs no further free blocks.
  bool closing_is_moved_ = false;
  bool barrier_ = false;  ///< no operation may begin now
  /// Number of the newest generation whose superblock is on the disk.
  std::uint64_t committed_ = 0;
  LogState log_;
  bool commit_scheduled_ = false;
  tree::ChangesByFiber changes_;
  os::FiberLock commit_lock_;
  os::WaitQueue operation_ended_;
  std::unordered_map<const os::Fiber*, Operation*> operations_;
  std::uint32_t reserving_ = 0;  ///< number of operations with reserved blocks
  std::uint32_t room_made_ = 0;  ///< sum of Operation::room

  tree::InodeTable inodes_;
  bool spawner_runs_ = false;
  os::WaitQueue spawner_ended_;
  bool stopped_ = false;
  bool abandoned_ = false;
  bool closing_down_ = false;
  os::Account spawner_account_{.name = "spawner"};
  Counters counters_;
};

}  // namespace headcrash::snapfs
