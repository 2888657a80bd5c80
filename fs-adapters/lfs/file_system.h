#pragma once
// The mounted log-structured file system: the tree's Vfs on top of the log's store.
//
// All functions except abandon() must be called from a fiber.

#include "fs-adapters/lfs/store.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::lfs {

class FileSystem final : public tree::FileSystem {
 public:
  /// Mounts the file system. The syncer must be running, because it writes old dirty data and
  /// triggers timed checkpoints.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system, const MountOptions& options);

  /// Closes open files and writes a checkpoint. Unmounts even after an I/O error.
  VfsResult<void> unmount();
  /// Ends the mount after a power cut, without writing anything. The executor must be halted before
  /// the destructor is called.
  void abandon();

  Store& log() { return log_; }

  VfsResult<void> sync() override;
  VfsResult<void> syncfs() override;
  VfsResult<SpaceStatus> space() override;
  VfsResult<void> drop_caches() override;

 private:
  explicit FileSystem(std::unique_ptr<Store> store)
      : tree::FileSystem(std::move(store)), log_(static_cast<Store&>(tree::FileSystem::store())) {}
  Store& log_;  ///< owned by the tree
};

}  // namespace headcrash::lfs
