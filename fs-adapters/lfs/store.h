#pragma once
// The mounted log as an InodeStore for the tree (tree/inode_store.h): in-core inodes, blocks in the
// buffer cache, log writer, checkpoints, cleaner and recovery.
//
//   file_blocks.cc   block addresses, holes, file sizes, free space
//   store.cc         in-core inodes, hooks for names, operations
//   log_writer.cc    flushes files to regions of the log
//   checkpoint.cc    map, usage table and checkpoint regions
//   cleaner.cc       moves live blocks out of segments
//   recovery.cc      mounting: the newest checkpoint, and the log after it
//
// Changes are dirty in the cache, or in the in-core inode, until a flush writes them to a region:
// data, then its index blocks, then the inode. An inode in the log therefore refers to matching
// blocks. A flush holds the locks of the inodes that it writes, so no inode or directory is written
// in the middle of an operation. A flush skips inodes in use. Each region contains the pending
// records of the directory log (Rosenblum 1992, 4.5.1.2): a record is never later in the log than
// the inodes and directory blocks that it describes. A flush waits until no rename is in progress.
// Records of one operation are consecutive, and recovery applies all of them or none, even across
// regions.
//
// A volatile disk cache is flushed after the regions of an fsync, before a checkpoint region (so
// that its targets are durable) and after it (so that segments it no longer refers to may be
// overwritten). Regions may be written in any order: a region is valid only if it and all regions
// before it are complete.
//
// A checkpoint waits for running operations and blocks new ones (4.5.2.1). Segments that were
// emptied before the checkpoint may be rewritten once the checkpoint is durable.
//
// Lock order: the cleaner's lock, the gate (operations and checkpoints), inodes, the log's lock.
// Threads: only the executor's.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fs-adapters/lfs/cleaning_policy.h"
#include "fs-adapters/lfs/directory_log.h"
#include "fs-adapters/lfs/format.h"
#include "fs-adapters/lfs/region.h"
#include "fs-adapters/substrate/os/system.h"
#include "fs-adapters/substrate/tree/block_budget.h"
#include "fs-adapters/substrate/tree/changes_by_fiber.h"
#include "fs-adapters/substrate/tree/inode_store.h"
#include "fs-adapters/substrate/tree/inode_table.h"

namespace headcrash::lfs {

/// The rules on which the log depends. A control breaks one of these rules, and the lab must detect
/// the violation.
enum class Rule : std::uint8_t {
  /// An emptied segment is rewritten only after a checkpoint has recorded it as clean.
  reuse_waits_for_checkpoint,
  mounts_have_numbers,     ///< roll-forward ignores regions left by an earlier mount
  records_come_first,      ///< a directory log record precedes the changes that it describes
  two_checkpoint_regions,  ///< one region stays valid while the other is written
  versions_rise,           ///< versions distinguish files that reuse an inode number
  newest_copy_wins,        ///< the cleaner never replaces a newer copy of a block
  usage_counts_all         ///< the usage table counts every live byte
};

struct MountOptions {
  bool roll_forward = true;  ///< if false, the log after the newest checkpoint is discarded
  os::TimeNs write_after_ns = 30 * model::kSecondNs;  ///< age at which dirty data is written
  /// Time between checkpoints; 0 for no timed checkpoints.
  os::TimeNs checkpoint_interval_ns = 60 * model::kSecondNs;
  /// Number of bytes written to the log between checkpoints; 0 for no limit.
  std::uint64_t checkpoint_bytes = 0;
  Selection selection = Selection::cost_benefit;
  WriteBackOrder order = WriteBackOrder::by_age;
  /// The cleaner starts when fewer than `clean_start` segments are clean, and stops when
  /// `clean_stop` segments are clean. 0 selects a value that depends on the disk size.
  std::uint32_t clean_start = 0, clean_stop = 0;
  bool background_cleaner = true;
  /// Maximum size of a request; longer writes are split. 0 for no limit.
  std::uint32_t transfer_sectors_max = 0;
  bool flushes = true;              ///< flush the volatile cache where required
  std::optional<Rule> broken = {};  ///< the rule that this mount breaks, for a control
  /// Keeps directory blocks and directory inodes in the cache until a checkpoint; the directory log
  /// contains their changes. The version of Sprite LFS whose recovery times were measured works
  /// this way (Rosenblum 1992, section 6.2.1.3).
  bool directories_wait = false;
  /// If true, recovery reads a file's index blocks to find the file's other blocks (as in 4.5.1.3),
  /// even if the log's summaries list those blocks.
  bool recovery_reads_index = false;
};

struct CoreInode : tree::TableInode {
  CoreInode(os::Executor& executor, InodeNumber its_number)
      : tree::TableInode(executor, its_number, disk) {}

  Inode disk;
  std::uint64_t placed_size = 0;  ///< size of the file in the inode's newest copy in the log
  std::set<BlockId> dirty;        ///< blocks that are newer in the cache than in the log
  /// The blocks in `dirty` that contain data and have never been in the log.
  std::set<BlockId> unplaced;
  bool changed = false;  ///< the inode itself is dirty
  bool removed = false;
  os::TimeNs dirty_since = 0;  ///< time at which `dirty` or `changed` was set
  /// The block after the last one read, to detect sequential reads.
  std::int64_t next_sequential = 0;
  std::string target;  ///< target of a symbolic link that is being created

  bool needs_writing() const { return changed || !dirty.empty(); }
};

/// Returns the cache object of a segment's inode sectors. Each segment has a separate object, so
/// that its inode sectors can be discarded together.
std::uint64_t inode_sectors_object(SegmentNumber segment);

struct Operation : tree::Operation {
  /// True if more name changes of the same operation will follow.
  bool compound = false;
  /// Records of this operation that have not been added to the store's pending records yet. All of
  /// them are added together, so that they are consecutive.
  std::vector<NameRecord> records;
};

struct Counters {
  std::uint64_t regions = 0, sectors_written = 0, checkpoints = 0;
  /// Number of sectors written for each Content. The remaining sectors are summaries and trailers.
  std::array<std::uint64_t, kContents> sectors_of = {};
  std::uint64_t cleaner_passes = 0, segments_cleaned = 0, segments_read = 0, blocks_moved = 0;
  /// Live bytes that the cleaned segments had, according to the usage table.
  std::uint64_t cleaned_live_bytes = 0;
  /// Segments that became clean without the cleaner, because all their data was deleted or
  /// overwritten.
  std::uint64_t segments_emptied = 0;
  std::uint64_t regions_rolled_forward = 0, records_applied = 0, inodes_made_again = 0;
  std::uint64_t inodes_rolled_forward = 0;
  /// Number of recovered inodes that were unchanged except that the cleaner had moved them.
  std::uint64_t inodes_moved = 0;
};

class Store final : public tree::InodeStore, private tree::InodeOwner, private os::WriteHooks {
 public:
  /// Reads the checkpoint, rolls forward unless this is disabled, and writes a checkpoint.
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
  std::uint64_t allocated_bytes(const tree::CoreInode& inode) const override;

  VfsResult<void> change(const std::function<VfsResult<void>(tree::Operation&)>& body) override;
  VfsResult<tree::InodeHandle> get(InodeNumber number, tree::Operation* operation) override;
  tree::InodeHandle share(tree::CoreInode& inode, tree::Operation* operation) override;
  VfsResult<tree::InodeHandle> make(tree::Operation& operation, tree::CoreInode& directory,
                                    bool is_directory) override;
  void mark_changed(tree::CoreInode& inode) override;

  VfsResult<os::HeldBuffer> read_block(tree::CoreInode& inode, std::int64_t block) override;
  VfsResult<os::HeldBuffer> block_for_writing(tree::Operation& operation, tree::CoreInode& inode,
                                              const tree::BlockWanted& wanted) override;
  void write_delayed(os::HeldBuffer buffer) override;
  VfsResult<void> free_blocks(tree::Operation& operation, tree::CoreInode& inode,
                              std::int64_t first, std::int64_t end) override;
  VfsResult<void> set_size(tree::Operation& operation, tree::CoreInode& inode,
                           std::uint64_t size_bytes) override;
  VfsResult<std::int64_t> grow_directory(tree::Operation& operation,
                                         tree::CoreInode& directory) override;
  VfsResult<void> write_target(tree::Operation& operation, tree::CoreInode& link,
                               std::string_view target) override;

  VfsResult<void> link_added(tree::Operation& operation, const tree::LinkAddition& addition,
                             os::HeldBuffer directory_block) override;
  VfsResult<void> link_removed(tree::Operation& operation, const tree::LinkRemoval& removal,
                               os::HeldBuffer directory_block) override;
  VfsResult<void> fsync(tree::Operation& operation, tree::CoreInode& inode,
                        tree::SyncExtent extent) override;

  // The following functions operate on the whole log.

  /// Writes everything and then a checkpoint, so that a mount needs no roll-forward. Must not be
  /// called within an operation.
  VfsResult<void> checkpoint();
  /// Runs one pass of the cleaner, including its checkpoint. Returns the number of clean segments
  /// gained. Must not be called within an operation.
  VfsResult<std::int64_t> clean();
  void stop() { stopped_ = true; }
  /// Returns true if nothing has changed since the last checkpoint.
  bool has_no_pending_changes() const {
    return to_write_.empty() && records_.empty() && dirty_map_blocks_.empty() &&
           moving_usage_blocks_.empty();
  }
  /// Stops the cleaner and the writer, and waits until both have ended. Called before an unmount.
  void end_daemons();
  /// Cancels deferred work. Afterwards the store may be destroyed without writing.
  void abandon();
  SpaceStatus space() const;
  void forget_idle(std::size_t keep) { inodes_.forget_idle(keep); }
  void drop_clean() { cache.drop_clean(); }
  const Superblock& superblock() const { return s_; }
  const Counters& counters() const { return counters_; }
  std::uint32_t clean_segments() const { return clean_segments_; }
  std::uint64_t live_bytes() const { return live_bytes_; }
  std::uint32_t files() const { return files_; }  ///< includes directories
  const std::vector<SegmentUsage>& usage() const { return usage_; }

 private:
  using Handle = tree::Handle<CoreInode>;
  Store(os::System& system, const Superblock& superblock, const MountOptions& options);
  static CoreInode& core(tree::CoreInode& inode) { return static_cast<CoreInode&>(inode); }

  // Implements os::WriteHooks. before_write() vetoes every write, because only the log writer may
  // write blocks.
  bool before_write(os::Outgoing&) override { return false; }
  void after_write(const os::BufferKey&, os::RequestId, model::Status) override {}

  bool keeps(Rule rule) const { return options_.broken != rule; }

  // store.cc
  VfsResult<Handle> get_core(InodeNumber number, tree::Operation* operation);
  VfsResult<void> load(CoreInode& inode);
  os::BufferKey inode_sector_key(SectorAddress address) const;
  VfsResult<os::HeldBuffer> inode_sector(SectorAddress address);
  void keep_inode_sector(SectorAddress address, std::span<const std::byte> bytes);
  void put(tree::CoreInode& inode, tree::Operation* operation) override;
  void remove(CoreInode& inode);
  void settle(CoreInode& inode);
  std::optional<InodeNumber> free_number(InodeNumber directory, bool is_directory);
  void begin_operation();
  void end_operation();
  void record(Operation& operation, NameRecord record);
  void record_links(Operation& operation, const tree::CoreInode& inode);
  /// Appends all records of the operation, consecutively, to the log's pending records.
  void log_records(Operation& operation);
  void end_compound(Operation& operation);
  VfsResult<void> make_room_for_operation();
  void wake_writer();
  void tick();
  void want_tick();
  void schedule_tick();
  os::TimeNs next_checkpoint_at() const;

  // file_blocks.cc
  VfsResult<SectorAddress> address_of(CoreInode& inode, BlockId block);
  /// Returns an index block. If the block does not exist, creates it if `make` is true, and
  /// otherwise returns an empty buffer.
  VfsResult<os::HeldBuffer> index_block(CoreInode& inode, BlockId block, bool make);
  VfsResult<os::HeldBuffer> read_at(CoreInode& inode, BlockId block, SectorAddress address);
  VfsResult<void> set_address(CoreInode& inode, BlockId block, SectorAddress address);
  void mark_dirty(CoreInode& inode, BlockId block);
  /// Marks the index blocks above `block` dirty, because they must be written when `block` is
  /// written. Adds their size to `dirty_bytes_` immediately.
  VfsResult<void> mark_index_dirty(CoreInode& inode, BlockId block);
  VfsResult<void> free_block(CoreInode& inode, BlockId block);
  VfsResult<void> free_below(CoreInode& inode, BlockId index, std::uint64_t first,
                             std::uint64_t end, tree::BlockBudget& budget, bool& empty);
  std::uint32_t buffer_bytes(const CoreInode& inode, BlockId block, std::uint32_t at_least) const;
  os::HeldBuffer resized(os::HeldBuffer buffer, std::uint32_t bytes);
  VfsResult<os::HeldBuffer> placed_block(CoreInode& inode, BlockId id);
  void read_ahead(CoreInode& inode, BlockId id);
  bool has_room(std::uint64_t bytes) const;
  std::uint64_t capacity_bytes() const;
  os::BufferKey key_of(const CoreInode& inode, BlockId block) const {
    return {inode.number, block.key()};
  }

  // log_writer.cc
  /// Writes the inodes and their dirty blocks to the log. The caller must hold the locks of the
  /// inodes.
  VfsResult<void> flush(const std::vector<CoreInode*>& inodes);
  VfsResult<void> flush_unlocked(os::TimeNs changed_before, std::uint64_t until_dirty_bytes);
  VfsResult<void> prepare(CoreInode& inode);
  struct PlannedBlock {
    CoreInode* inode = nullptr;
    BlockId block;
    std::size_t item = 0;  ///< index of the block's item in the region
  };
  /// The planned contents of the next region.
  struct Plan {
    Plan(const Superblock& superblock, std::uint32_t room_sectors)
        : region(superblock, room_sectors) {}
    Region region;
    std::vector<PlannedBlock> blocks;
    std::vector<CoreInode*> inodes;
    std::vector<std::pair<std::uint32_t, std::size_t>> map_blocks,
        usage_blocks;  ///< pairs of block number and item
    bool empty() const {
      return blocks.empty() && inodes.empty() && map_blocks.empty() && usage_blocks.empty();
    }
  };
  std::uint32_t room_in_segment() const { return s_.segment_sectors - offset_; }
  VfsResult<std::unique_ptr<Plan>> new_plan();
  VfsResult<void> plan_inode(std::unique_ptr<Plan>& plan, CoreInode& inode);
  /// Returns true if the region has room for `blocks` more items with `sectors` sectors in total,
  /// and for `more_inodes` inodes.
  bool room_for(const Plan& plan, std::size_t more_inodes, std::uint32_t blocks,
                std::uint32_t sectors) const;
  /// Writes the region as planned, and starts a new plan.
  VfsResult<void> emit(std::unique_ptr<Plan>& plan);
  VfsResult<void> send(std::unique_ptr<Plan>& plan);
  VfsResult<void> replan(std::unique_ptr<Plan>& plan);
  VfsResult<void> write_records();
  std::uint32_t record_sectors_max() const;
  void fill_block(Plan& plan, const PlannedBlock& planned);
  void fill_inodes(Plan& plan, std::size_t first_item);
  VfsResult<void> write_region(Region& region);
  VfsResult<void> advance_segment();
  void add_live(SectorAddress address, std::uint32_t bytes, std::int64_t modified_ns);
  void drop_live(SectorAddress address, std::uint32_t bytes);

  // checkpoint.cc
  class UsageTable;
  VfsResult<void> checkpoint_locked();
  VfsResult<void> flush_everything();
  VfsResult<void> write_tables();
  void fill_map_blocks(Plan& plan);
  void fill_usage_blocks(Plan& plan);
  std::set<std::uint32_t> changed_usage_blocks(const Plan& plan,
                                               const std::set<std::uint32_t>& written) const;
  void plan_usage_blocks(Plan& plan, const std::set<std::uint32_t>& numbers);
  VfsResult<void> write_checkpoint_region();
  std::vector<SegmentNumber> emptied_segments() const;
  void give_back(const std::vector<SegmentNumber>& emptied);
  SectorAddress checkpoint_region(std::uint64_t sequence) const {
    return s_.checkpoints[keeps(Rule::two_checkpoint_regions) ? (sequence + 1) % 2 : 0];
  }

  // cleaner.cc
  std::uint64_t log_room_bytes() const;
  std::uint64_t overhead_bytes() const;
  std::uint64_t pass_room_bytes() const;
  VfsResult<std::int64_t> clean_now();
  VfsResult<void> clean_segment(SegmentNumber segment);
  VfsResult<void> move_live(const SummaryEntry& entry, SectorAddress address,
                            std::span<const std::byte> bytes);
  VfsResult<void> move_block(const SummaryEntry& entry, SectorAddress address,
                             std::span<const std::byte> bytes);
  VfsResult<void> overwrite(CoreInode& inode, BlockId block, std::span<const std::byte> bytes);
  VfsResult<void> move_inodes(SectorAddress address, std::span<const std::byte> bytes);
  void wake_cleaner();
  std::uint32_t clean_start() const;
  std::uint32_t clean_stop() const;

  // recovery.cc
  friend class Recovery;
  Result<void> start_up();
  Result<void> load_tables(const Checkpoint& checkpoint);
  VfsResult<void> read_sectors(SectorAddress address, std::span<std::byte> into);
  struct Piece {
    SectorAddress address = 0;
    std::span<std::byte> into;
  };
  /// Issues a request for each piece, and then waits for all of them.
  VfsResult<void> read_pieces(const std::vector<Piece>& pieces);
  VfsResult<void> write_sectors(SectorAddress address, std::span<const std::byte> data);
  /// Makes all completed writes durable.
  VfsResult<void> flush_device();

  os::System& system_;
  os::DiskQueue& disk_;
  MountOptions options_;
  Superblock s_;
  Checkpoint checkpoint_;  ///< the newest durable checkpoint, but with current counters
  std::vector<MapEntry> map_;
  std::vector<SegmentUsage> usage_;
  /// The usage entries in the blocks of the newest checkpoint. They do not count the table's own
  /// blocks.
  std::vector<SegmentUsage> usage_in_log_;
  /// Inode numbers in use, whether allocated in the map or, so far, only in memory.
  std::vector<bool> taken_;
  std::set<std::uint32_t> dirty_map_blocks_;
  /// Numbers of usage table blocks that must be moved out of segments that are being cleaned.
  std::set<std::uint32_t> moving_usage_blocks_;
  std::uint64_t live_bytes_ = 0;
  std::uint32_t files_ = 0;
  std::uint32_t clean_segments_ = 0;
  std::uint32_t map_blocks_in_log_ = 0;

  // Position of the end of the log.
  SegmentNumber segment_ = 0, next_segment_ = 0;
  std::uint32_t offset_ = 0;
  std::uint64_t sequence_ = 0;  ///< number of the last region
  std::uint64_t epoch_ = 0;
  SectorAddress last_summary_ = 0;
  std::uint64_t sectors_since_checkpoint_ = 0;
  os::FiberLock log_lock_;

  tree::InodeTable inodes_;
  std::set<InodeNumber> to_write_;
  std::uint64_t dirty_bytes_ = 0;  ///< total size of dirty blocks
  std::vector<InodeNumber> deferred_removals_;

  std::vector<std::byte> records_;  ///< encoded records that are not in the log yet
  std::size_t records_made_ = 0;
  /// Number of operations that have made only some of their name changes.
  std::uint32_t compounds_ = 0;
  os::WaitQueue no_compound_;

  std::uint32_t operations_ = 0;
  bool checkpoint_wanted_ = false;
  os::WaitQueue gate_;
  os::FiberLock checkpoint_lock_;
  bool cleaner_runs_ = false, writer_runs_ = false, ticks_ = false;
  os::FiberLock clean_lock_;
  std::uint64_t passes_done_ = 0;
  std::int64_t given_by_last_pass_ = 0;  ///< number of clean segments that the last pass gained
  os::TimeNs checkpoint_at_ = 0;
  /// Number of segments that have been cleaned, but that no checkpoint has recorded as clean yet.
  std::uint64_t cleaned_unfinished_ = 0;
  tree::ChangesByFiber changes_;
  std::uint64_t random_ = 0;
  bool recovering_ = false;
  /// True during a mount, until the mount has written its first checkpoint.
  bool coming_up_ = false;
  bool stopped_ = false;
  bool abandoned_ = false;
  bool closing_ = false;
  os::Account cleaner_account_{.name = "cleaner"}, writer_account_{.name = "log writer"};
  Counters counters_;
};

}  // namespace headcrash::lfs
