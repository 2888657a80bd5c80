#pragma once
// The mounted file system: the tree's Vfs over the store (store.h). All functions except abandon()
// must be called from a fiber.

#include "fs-adapters/examples/shadow/store.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::shadow {

class FileSystem final : public tree::FileSystem {
 public:
  /// Mounts the newest state. If commits are delayed, the syncer must be running.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system,
                                                   const MountOptions& options) {
    TRY(auto store, Store::mount(system, options));
    return std::unique_ptr<FileSystem>(new FileSystem(std::move(store)));
  }

  /// Closes open files, then commits and marks the disk clean. Unmounts even if the last commit
  /// fails.
  VfsResult<void> unmount() {
    close_all();
    return store_.unmount();
  }
  void abandon() {
    store_.abandon();
    close_all();
  }
  Space counted() const { return store_.space(); }

  VfsResult<void> sync() override {
    enter();
    return store_.sync();
  }
  VfsResult<void> syncfs() override { return sync(); }
  VfsResult<SpaceStatus> space() override {
    enter();
    const Geometry& its = store_.geometry();
    const Space space = store_.space();
    const std::uint64_t free =
        space.free_blocks - std::min<std::uint64_t>(space.free_blocks, kReserveBlocks);
    return SpaceStatus{.total_bytes = std::uint64_t{its.blocks} * its.block_bytes,
                       .free_bytes = free * its.block_bytes,
                       .total_inodes = its.inodes,
                       .free_inodes = space.free_inodes};
  }
  VfsResult<void> drop_caches() override {
    TRY(sync());
    store_.cache.drop_clean();
    return {};
  }

 private:
  explicit FileSystem(std::unique_ptr<Store> store)
      : tree::FileSystem(std::move(store)),
        store_(static_cast<Store&>(tree::FileSystem::store())) {}

  Store& store_;  ///< owned by the tree
};

}  // namespace headcrash::shadow
