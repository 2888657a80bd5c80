#pragma once
// The mounted file system: all inodes in core, their blocks in the buffer cache, and commits, as an
// InodeStore for the tree (tree/inode_store.h).
//
//   block    free -> fresh (allocated or copied since the last commit) -> committed -> freed -> free
//
// A block of the committed state is never written: who changes one gets a fresh block, and the
// buffer a new home. So the cache may write any dirty buffer whenever it likes, and the only order
// that there is, is the commit's: blocks, table, header. Two rules:
//
//   flush first   a header is written when all that it describes is on the disk
//   keep freed    a block that the state on the disk refers to is free when the next one is on the disk
//
// Operations that change something run one at a time, and so do commits; readers run beside them
// and see what is in core. fsync is a commit. An inode whose last name has gone is in no table, and
// its blocks are free after a cut, whoever had it open.
//
// Space. A change of a block needs a free one, so that a full disk could not even be emptied: new
// blocks of files and directories leave kReserveBlocks, and an operation begins with a commit when
// fewer than kOperationBlocks are free at once. Changing what is there therefore never fails for
// lack of room.
//
// All inodes are in core: kRecordBytes and more for each, as many as mkfs has made room for.
// Locks: the operation's, then inodes. Threads: the executor's.

#include <memory>
#include <unordered_map>
#include <vector>

#include "fs-adapters/examples/shadow/format.h"
#include "fs-adapters/substrate/os/system.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::shadow {

/// More than any operation on names changes or makes: a rename has up to seven
/// (tree/link_changes.h).
inline constexpr std::uint32_t kOperationBlocks = 12;
inline constexpr std::uint32_t kReserveBlocks = 16;
inline constexpr std::uint32_t kBlocksMin = 64;

struct MountOptions {
  // Off: what a control breaks on purpose.
  bool flush_first = true;
  bool keep_freed = true;
  os::TimeNs commit_interval_ns = 5 * model::kSecondNs;
};

struct CoreInode : tree::CoreInode {
  CoreInode(os::Executor& executor, Record its)
      : tree::CoreInode(executor, its.number, record.attributes), record(std::move(its)) {}
  Record record;
};

/// As a check counts them: what has a name.
struct Space {
  std::uint64_t free_blocks = 0, free_inodes = 0;
};

class Store final : public tree::InodeStore, private tree::InodeOwner {
 public:
  /// Errors: those of read_state(); a block that two inodes have.
  static Result<std::unique_ptr<Store>> mount(os::System& system, const MountOptions& options);

  // The tree's questions.
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

  // The whole of it.
  /// What is in core is on the disk. Not from within an operation.
  VfsResult<void> sync();
  /// The same, and the disk says that it was unmounted. Nothing may be called afterwards but
  /// space() and the destructor.
  VfsResult<void> unmount();
  /// Nothing is written any more. May be called when the executor has been halted.
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

  /// The operation lock is held.
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

  std::vector<Use> use_;  ///< of each block
  std::uint64_t free_ = 0;
  std::vector<BlockAddress> fresh_,
      freed_;                     ///< since the last commit; some of `fresh_` may be free again
  BlockAddress lowest_free_ = 0;  ///< none below it is free

  os::FiberLock operation_lock_;
  std::uint64_t changes_ = 0, committed_changes_ = 0;
  bool commit_scheduled_ = false;
  bool stopped_ = false;
  bool closing_ = false;
};

}  // namespace headcrash::shadow
