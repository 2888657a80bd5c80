#pragma once
// The mounted file system: its store (store.h), and the tree of names above it
// (tree/file_system.h).

#include <memory>

#include "fs-adapters/snapfs/store.h"
#include "fs-adapters/snapshots.h"
#include "fs-adapters/substrate/tree/file_system.h"
#include "fs-adapters/transactions.h"

namespace headcrash::snapfs {

class FileSystem final : public tree::FileSystem {
 public:
  /// Mounts the file system. The syncer must be running, because it commits generations
  /// periodically.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system, const MountOptions& options);

  /// Closes open files and commits. Even if an I/O error occurs, the file system is unmounted.
  VfsResult<void> unmount();
  /// Ends the mount after a power cut, without writing anything. The executor must be halted before
  /// the destructor is called.
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
  Store& snapshots_;  ///< owned by the tree
};

}  // namespace headcrash::snapfs
