#pragma once
// The mounted file system as users see it: the tree's Vfs over the store (store.h). Every function
// is called from within a fiber, but for abandon().

#include "fs-adapters/examples/shadow/store.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::shadow {

class FileSystem final : public tree::FileSystem {
 public:
  /// The syncer has to run for commits that nobody asks for.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system,
                                                   const MountOptions& options) {
    auto store = Store::mount(system, options);
    if (!store) return forward_error(store);
    return std::unique_ptr<FileSystem>(new FileSystem(*std::move(store)));
  }

  /// What is open is closed. An error: the last commit failed; it is unmounted all the same.
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

  Store& store_;  ///< the tree's
};

}  // namespace headcrash::shadow
