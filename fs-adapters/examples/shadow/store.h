#pragma once
// The mounted file system as an InodeStore for the tree (tree/inode_store.h): all inodes in memory,
// their blocks in the buffer cache, and commits.
//
//   block    free -> fresh (new since the last commit) -> committed -> freed -> free
//
// A block of the committed state is never overwritten. A change allocates a fresh block and
// redirects the buffer to it. The cache may therefore write any dirty buffer at any time, and only
// a commit needs an order: blocks, table, header. There are two rules:
//
//   flush first   a header is written after everything that it describes is on the disk
//   keep freed    a block of the state on the disk is reused only after the next state is on disk
//
// Operations that change something run one at a time, and so do commits. Readers run concurrently
// and see the state in memory. fsync is a commit. No table contains an inode without a name, so a
// power cut frees the blocks of such an inode even if the file was open.
//
// Space. Each block change needs a free block, so without a reserve even a removal would fail on a
// full disk. New blocks of files and directories therefore leave kReserveBlocks free, and an
// operation starts with a commit if fewer than kOperationBlocks are free. Changes to existing
// blocks thus never fail with ENOSPC.
//
// All inodes are in memory and take at least kRecordBytes each; mkfs sets the maximum number of
// inodes. Lock order: the operation lock, then inodes. Thread: the executor's.

#include <memory>
#include <unordered_map>
#include <vector>

#include "fs-adapters/examples/shadow/format.h"
#include "fs-adapters/substrate/os/system.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::shadow {

/// Upper bound on the number of blocks that a name operation changes or creates. A rename needs up
/// to seven (tree/link_changes.h).
inline constexpr std::uint32_t kOperationBlocks = 12;
inline constexpr std::uint32_t kReserveBlocks = 16;
inline constexpr std::uint32_t kBlocksMin = 64;

struct MountOptions {
  // A control sets one of these rules to false; in all other systems, both are true.
  bool flush_first = true;
  bool keep_freed = true;
  os::TimeNs commit_interval_ns = 5 * model::kSecondNs;
};

struct CoreInode : tree::CoreInode {
  CoreInode(os::Executor& executor, Record its)
      : tree::CoreInode(executor, its.number, record.attributes), record(std::move(its)) {}
  Record record;
};

/// Free blocks and inodes. An inode without a name counts as free, as in the checker.
struct Space {
  std::uint64_t free_blocks = 0, free_inodes = 0;
};

class Store final : public tree::InodeStore, private tree::InodeOwner {
 public:
  /// Mounts the newest state. Fails if read_state() fails, or if two inodes share a block.
  static Result<std::unique_ptr<Store>> mount(os::System& system, const MountOptions& options);

  // InodeStore.
  InodeNumber root() const override { return kRootInode; }
  bool is_inode(std::uint64_t number) const override { return inodes_.contains(number); }
  std::uint64_t inodes_max() const override { return geometry_.inodes; }
  std::uint32_t block_bytes() const override { return geometry_.block_bytes; }
  std::uint64_t file_bytes_max() const override { return kFileBytesMax; }
  std::uint32_t new_directory_bytes() const override { return geometry_.block_bytes; }
  std::uint32_t symlink_bytes_max() const override;
  bool stopped() const override { return stopped_; }
  bool writes_through() const override { return system_.syncer.writes_through(); }
  std::size_t bytes_in_core() const override;
  std::uint64_t allocated_bytes(const tree::CoreInode& inode) const override;

  VfsResult<void> change(const std::function<VfsResult<void>(tree::Operation&)>& body) override;
  VfsResult<tree::InodeHandle> get(InodeNumber number, tree::Operation* operation) override;
  tree::InodeHandle share(tree::CoreInode& inode, tree::Operation* operation) override;
  VfsResult<tree::InodeHandle> make(tree::Operation& operation, tree::CoreInode& directory,
                                    bool is_directory) override;
  void mark_changed(tree::CoreInode&) override { ++changes_; }

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

  VfsResult<void> link_added(tree::Operation& operation, const tree::LinkAddition& addition,
                             os::HeldBuffer directory_block) override;
  VfsResult<void> link_removed(tree::Operation& operation, const tree::LinkRemoval& removal,
                               os::HeldBuffer directory_block) override;
  VfsResult<void> fsync(tree::Operation& operation, tree::CoreInode& inode,
                        tree::SyncExtent extent) override;

  /// Commits. On return, the state in memory is also on the disk. Must not be called within an
  /// operation.
  VfsResult<void> sync();
  /// Syncs everything and marks the disk clean. Afterwards, only space() and the destructor may be
  /// called.
  VfsResult<void> unmount();
  /// Stops all writes. May be called after the executor has been halted.
  void abandon();
  Space space() const;
  const Geometry& geometry() const { return geometry_; }

 private:
  enum class Use : std::uint8_t { free, fresh, committed, freed };
  enum class Clean : std::uint8_t { no, yes };

  Store(os::System& system, const State& state, const MountOptions& options);
  static CoreInode& core(tree::CoreInode& inode) { return static_cast<CoreInode&>(inode); }
  static os::BufferKey key(const tree::CoreInode& inode, std::int64_t block) {
    return {inode.number, block};
  }
  void put(tree::CoreInode& inode, tree::Operation* operation) override;

  BlockAddress allocate();
  void release(BlockAddress address);
  void make_free(BlockAddress address);
  bool may_grow() const { return free_ + freed_.size() > kReserveBlocks; }

  /// The caller must hold the operation lock.
  VfsResult<void> commit(Clean clean);
  std::vector<std::byte> table() const;
  VfsResult<void> write_table(const Header& header, std::vector<std::byte> bytes);
  void schedule_commit();

  os::System& system_;
  MountOptions options_;
  Geometry geometry_;
  Header committed_;  ///< the newest header on the disk
  std::uint32_t next_generation_;
  std::unordered_map<std::uint64_t, std::unique_ptr<CoreInode>> inodes_;
  InodeNumber last_number_ = kRootInode;

  std::vector<Use> use_;  ///< state of each block
  std::uint64_t free_ = 0;
  std::vector<BlockAddress> fresh_,
      freed_;  ///< blocks freed since the last commit; some of them may also be in `fresh_`
  BlockAddress lowest_free_ = 0;  ///< all blocks below this one are in use

  os::FiberLock operation_lock_;
  std::uint64_t changes_ = 0, committed_changes_ = 0;
  bool commit_scheduled_ = false;
  bool stopped_ = false;
  bool closing_ = false;
};

}  // namespace headcrash::shadow
