#pragma once
// The mounted log: inodes in core, their blocks in the buffer cache, the log's writer, checkpoints,
// the cleaner and recovery, as an InodeStore for the tree (tree/inode_store.h).
//
//   file_blocks.cc   which block lies where; holes, sizes, room
//   store.cc         inodes in core, names' hooks, operations
//   log_writer.cc    flushing files into regions of the log
//   checkpoint.cc    map, usage table and checkpoint regions
//   cleaner.cc       segments whose live blocks are written again elsewhere
//   recovery.cc      mounting: the newest checkpoint, and the log since
//
// What is changed is dirty in the cache, or in the inode in core, until a flush puts it into a
// region: data, the index blocks that lead to it, the inode, in this order, so that an inode in the
// log leads to what belongs to it. A flush holds the locks of the inodes that it writes, so that no
// inode or directory is written in the middle of an operation; what others are at work on it passes
// over. Each region has the directory log's records up to that moment (Rosenblum 1992, 4.5.1.2): a
// record is never later in the log than the inodes and directory blocks that it tells of. A flush
// waits until no rename is half done. The records of one operation follow one another, and recovery
// applies all of them or none, however regions divide them.
//
// Where the disk has a volatile cache it is flushed after the regions of an fsync, before a
// checkpoint region (what it names is there) and after it (what it no longer names may be written
// over). Regions need no order among each other: one counts when it is whole and all before it are.
//
// A checkpoint waits until no operation is under way and keeps new ones waiting (4.5.2.1). What has
// become empty before it may be written again when it is durable, and not before.
//
// Locks: the cleaner's, gate (operations and checkpoints), inodes, then the log's lock. Threads:
// the executor's.

#include <array>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "fs-adapters/lfs/cleaning_policy.h"
#include "fs-adapters/lfs/directory_log.h"
#include "fs-adapters/lfs/format.h"
#include "fs-adapters/lfs/region.h"
#include "fs-adapters/substrate/os/system.h"
#include "fs-adapters/substrate/tree/block_budget.h"
#include "fs-adapters/substrate/tree/changes_by_fiber.h"
#include "fs-adapters/substrate/tree/inode_store.h"

namespace headcrash::lfs {

/// What the log stands on. A control breaks one of them, and the lab has to notice.
enum class Rule : std::uint8_t {
  /// what has become empty is written again when a checkpoint has said so
  reuse_waits_for_checkpoint,
  mounts_have_numbers,     ///< what an earlier mount left behind its end is not followed
  records_come_first,      ///< the directory log is not later than what it tells of
  two_checkpoint_regions,  ///< one is whole while the other is written
  versions_rise,           ///< a number's next file is told from the one before
  newest_copy_wins,        ///< the cleaner moves what is live, and nothing else
  usage_counts_all         ///< of what is live
};

struct MountOptions {
  bool roll_forward = true;  ///< off: the newest checkpoint as it is; what came after it is gone
  os::TimeNs write_after_ns = 30 * model::kSecondNs;          ///< age at which data is written
  os::TimeNs checkpoint_interval_ns = 60 * model::kSecondNs;  ///< 0: not by time
  std::uint64_t checkpoint_bytes = 0;  ///< of the log between two checkpoints; 0: not by bytes
  Selection selection = Selection::cost_benefit;
  WriteBackOrder order = WriteBackOrder::by_age;
  std::uint32_t clean_start = 0, clean_stop = 0;  ///< clean segments; 0: by the disk's size
  bool background_cleaner = true;
  std::uint32_t transfer_sectors_max =
      0;                ///< of a request; longer writes are several. 0: any length
  bool flushes = true;  ///< a volatile cache, where what follows relies on what is in it
  std::optional<Rule> broken = {};  ///< for controls
  /// Directories' blocks and inodes stay in the cache until a checkpoint; the directory log has
  /// their changes. As the special version of Sprite LFS that recovery times were measured with
  /// (Rosenblum 1992, section 6.2.1.3).
  bool directories_wait = false;
  /// Recovery learns from index blocks which blocks a file has (as 4.5.1.3), also where the log's
  /// summaries have told it.
  bool recovery_reads_index = false;
};

struct CoreInode : tree::CoreInode {
  CoreInode(os::Executor& executor, InodeNumber its_number)
      : tree::CoreInode(executor, its_number, disk) {}

  Inode disk;
  std::uint64_t placed_size = 0;  ///< of the copy in the log: how long its blocks are there
  std::set<BlockId> dirty;        ///< newer in the cache than in the log
  std::set<BlockId> unplaced;     ///< data among them that never was in the log
  bool changed = false;           ///< the inode itself
  bool loading = false;
  bool removed = false;
  bool is_idle = false;
  os::TimeNs dirty_since = 0;        ///< when `dirty` or `changed` came to be
  std::int64_t next_sequential = 0;  ///< block behind the one that was read last
  std::string target;                ///< of a symbolic link that is being made
  std::list<InodeNumber>::iterator idle = {};

  bool needs_writing() const { return changed || !dirty.empty(); }
};

/// Under which the cache has a segment's sectors of inodes: they are forgotten together.
std::uint64_t inode_sectors_object(SegmentNumber segment);

struct Operation : tree::Operation {
  bool compound = false;  ///< more changes of names follow, which belong to the same records
  std::vector<NameRecord>
      records;  ///< not yet among those of the store: they follow one another there
};

struct Counters {
  std::uint64_t regions = 0, sectors_written = 0, checkpoints = 0;
  std::array<std::uint64_t, kContents> sectors_of =
      {};  ///< by Content; the rest is summaries and trailers
  std::uint64_t cleaner_passes = 0, segments_cleaned = 0, segments_read = 0, blocks_moved = 0;
  std::uint64_t cleaned_live_bytes = 0;  ///< of the cleaned ones, as the usage table had it
  std::uint64_t segments_emptied =
      0;  ///< clean again with no cleaner's work: nothing in them was live
  std::uint64_t regions_rolled_forward = 0, records_applied = 0, inodes_made_again = 0;
  std::uint64_t inodes_rolled_forward = 0;
  std::uint64_t inodes_moved =
      0;  ///< of these: unchanged, but elsewhere, which is the cleaner's work
};

class Store final : public tree::InodeStore, private tree::InodeOwner, private os::WriteHooks {
 public:
  /// Reads the checkpoint, rolls forward unless the options say otherwise, and writes a checkpoint.
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

  // The whole of it.
  /// Everything is on the disk, and a mount needs no roll-forward. Not from within an operation.
  VfsResult<void> checkpoint();
  /// One pass of the cleaner, and its checkpoint: how many segments more are clean. Not from an
  /// operation.
  VfsResult<std::int64_t> clean();
  void stop() { stopped_ = true; }
  /// Nothing has been changed since the last checkpoint.
  bool owes_nothing() const {
    return to_write_.empty() && records_.empty() && dirty_map_blocks_.empty() &&
           moving_usage_blocks_.empty();
  }
  /// The cleaner and the writer have ended when it returns, and are not asked for again: before an
  /// unmount.
  void end_daemons();
  /// No work is asked for any more: before it goes.
  void abandon();
  SpaceStatus space() const;
  void forget_idle(std::size_t keep);
  void drop_clean() { cache.drop_clean(); }
  const Superblock& superblock() const { return s_; }
  const Counters& counters() const { return counters_; }
  std::uint32_t clean_segments() const { return clean_segments_; }
  std::uint64_t live_bytes() const { return live_bytes_; }
  std::uint32_t files() const { return files_; }  ///< directories are among them
  const std::vector<SegmentUsage>& usage() const { return usage_; }

 private:
  using Handle = tree::Handle<CoreInode>;
  Store(os::System& system, const Superblock& superblock, const MountOptions& options);
  static CoreInode& core(tree::CoreInode& inode) { return static_cast<CoreInode&>(inode); }

  // os::WriteHooks: the cache writes nothing by itself.
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
  /// Its records go into the log together, one after the other.
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
  /// An index block, or an empty buffer where there is none and `make` is false.
  VfsResult<os::HeldBuffer> index_block(CoreInode& inode, BlockId block, bool make);
  VfsResult<os::HeldBuffer> read_at(CoreInode& inode, BlockId block, SectorAddress address);
  VfsResult<void> set_address(CoreInode& inode, BlockId block, SectorAddress address);
  void mark_dirty(CoreInode& inode, BlockId block);
  /// The index blocks that lead to it will be written with it: their room is counted from now on.
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
  VfsResult<void> flush(const std::vector<CoreInode*>& inodes);  ///< whose locks are held
  VfsResult<void> flush_unlocked(os::TimeNs changed_before, std::uint64_t until_dirty_bytes);
  VfsResult<void> prepare(CoreInode& inode);
  struct PlannedBlock {
    CoreInode* inode = nullptr;
    BlockId block;
    std::size_t item = 0;  ///< in the region
  };
  /// What the next region is to hold.
  struct Plan {
    Plan(const Superblock& superblock, std::uint32_t room_sectors)
        : region(superblock, room_sectors) {}
    Region region;
    std::vector<PlannedBlock> blocks;
    std::vector<CoreInode*> inodes;
    std::vector<std::pair<std::uint32_t, std::size_t>> map_blocks, usage_blocks;  ///< number, item
    bool empty() const {
      return blocks.empty() && inodes.empty() && map_blocks.empty() && usage_blocks.empty();
    }
  };
  std::uint32_t room_in_segment() const { return s_.segment_sectors - offset_; }
  VfsResult<std::unique_ptr<Plan>> new_plan();
  VfsResult<void> plan_inode(std::unique_ptr<Plan>& plan, CoreInode& inode);
  /// As well as the inodes that the plan has.
  bool room_for(const Plan& plan, std::size_t more_inodes, std::uint32_t blocks,
                std::uint32_t sectors) const;
  /// Writes what is planned and begins again.
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
  Result<void> come_up();
  Result<void> load_tables(const Checkpoint& checkpoint);
  VfsResult<void> read_sectors(SectorAddress address, std::span<std::byte> into);
  struct Piece {
    SectorAddress address = 0;
    std::span<std::byte> into;
  };
  /// Several requests at a time.
  VfsResult<void> read_pieces(const std::vector<Piece>& pieces);
  VfsResult<void> write_sectors(SectorAddress address, std::span<const std::byte> data);
  /// What has been written is durable.
  VfsResult<void> flush_device();

  os::System& system_;
  os::DiskQueue& disk_;
  MountOptions options_;
  Superblock s_;
  Checkpoint checkpoint_;  ///< the newest durable one, and the counters that go on
  std::vector<MapEntry> map_;
  std::vector<SegmentUsage> usage_;
  std::vector<SegmentUsage>
      usage_in_log_;         ///< as the newest checkpoint's blocks have it, without themselves
  std::vector<bool> taken_;  ///< numbers: allocated, or in core and not yet in the log
  std::set<std::uint32_t> dirty_map_blocks_;
  std::set<std::uint32_t> moving_usage_blocks_;  ///< they lie in a segment that is being cleaned
  std::uint64_t live_bytes_ = 0;
  std::uint32_t files_ = 0;
  std::uint32_t clean_segments_ = 0;
  std::uint32_t map_blocks_in_log_ = 0;

  // The log's end.
  SegmentNumber segment_ = 0, next_segment_ = 0;
  std::uint32_t offset_ = 0;
  std::uint64_t sequence_ = 0;  ///< of the last region
  std::uint64_t epoch_ = 0;
  SectorAddress last_summary_ = 0;
  std::uint64_t sectors_since_checkpoint_ = 0;
  os::FiberLock log_lock_;

  std::unordered_map<InodeNumber, std::unique_ptr<CoreInode>> inodes_;
  std::list<InodeNumber> idle_;
  os::WaitQueue loaded_;
  std::set<InodeNumber> to_write_;  ///< those that need it
  std::uint64_t dirty_bytes_ = 0;   ///< of blocks
  std::vector<InodeNumber> removals_put_off_;

  std::vector<std::byte> records_;  ///< not yet in the log
  std::size_t records_made_ = 0;
  std::uint32_t compounds_ = 0;  ///< operations that have changed some of their names
  os::WaitQueue no_compound_;

  std::uint32_t operations_ = 0;
  bool checkpoint_wanted_ = false;
  os::WaitQueue gate_;
  os::FiberLock checkpoint_lock_;
  bool cleaner_runs_ = false, writer_runs_ = false, ticks_ = false;
  os::FiberLock clean_lock_;
  std::uint64_t passes_done_ = 0;
  std::int64_t given_by_last_pass_ = 0;  ///< segments
  os::TimeNs checkpoint_at_ = 0;
  std::uint64_t cleaned_unfinished_ = 0;  ///< cleaned, and not yet clean for a checkpoint
  tree::ChangesByFiber changes_;
  std::uint64_t random_ = 0;
  bool recovering_ = false;
  bool coming_up_ = false;  ///< until the mount's own checkpoint
  bool stopped_ = false;
  bool abandoned_ = false;
  bool closing_ = false;
  os::Account cleaner_account_{.name = "cleaner"}, writer_account_{.name = "log writer"};
  Counters counters_;
};

}  // namespace headcrash::lfs
