#pragma once
// A mounted meta-data snapshotting file system (store.h) with its names (tree/file_system.h).

#include <memory>

#include "fs-adapters/snapfs/store.h"
#include "fs-adapters/snapshots.h"
#include "fs-adapters/substrate/tree/file_system.h"
#include "fs-adapters/transactions.h"

namespace headcrash::snapfs {

class FileSystem final : public tree::FileSystem {
 public:
  /// The syncer has to run for generations to be committed by time.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system, const MountOptions& options);

  /// Commits; what is open is closed. An error: the disk has gone; it is unmounted all the same.
  VfsResult<void> unmount();
  /// Without a write: the power is gone. The executor is halted before it goes.
  void abandon();

  // fs-adapters/snapshots.h.
  VfsResult<void> make_snapshot(std::string_view name);
  VfsResult<void> drop_snapshot(std::string_view name);
  std::vector<SnapshotInfo> kept_snapshots();

  // fs-adapters/transactions.h.
  VfsResult<void> begin_transaction();
  VfsResult<void> commit_transaction();

  Store& snapshots() { return snapshots_; }
  const Store& snapshots() const { return snapshots_; }

  VfsResult<void> sync() override;
  VfsResult<void> syncfs() override;
  VfsResult<SpaceStatus> space() override;
  VfsResult<void> drop_caches() override;

 private:
  explicit FileSystem(std::unique_ptr<Store> store)
      : tree::FileSystem(std::move(store)),
        snapshots_(static_cast<Store&>(tree::FileSystem::store())) {}
  Store& snapshots_;  ///< the tree's
};

}  // namespace headcrash::snapfs
