#pragma once
// The mounted log-structured file system: the tree's Vfs over the log's store.
//
// Every function is called from within a fiber, but for abandon().

#include "fs-adapters/lfs/store.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::lfs {

class FileSystem final : public tree::FileSystem {
 public:
  /// The syncer has to run for data to be written by age and checkpoints to be made by time.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system, const MountOptions& options);

  /// A checkpoint; what is open is closed. An error: the disk has gone; it is unmounted all the
  /// same.
  VfsResult<void> unmount();
  /// Without a write: the power is gone. The executor is halted before it goes.
  void abandon();

  Store& log() { return log_; }

  VfsResult<void> sync() override;
  VfsResult<void> syncfs() override;
  VfsResult<SpaceStatus> space() override;
  VfsResult<void> drop_caches() override;

 private:
  explicit FileSystem(std::unique_ptr<Store> store)
      : tree::FileSystem(std::move(store)), log_(static_cast<Store&>(tree::FileSystem::store())) {}
  Store& log_;  ///< the tree's
};

}  // namespace headcrash::lfs
