#include "fs-adapters/snapfs/file_system.h"

namespace headcrash::snapfs {

Result<std::unique_ptr<FileSystem>> FileSystem::mount(os::System& system,
                                                      const MountOptions& options) {
  TRY(auto store, Store::mount(system, options));
  return std::unique_ptr<FileSystem>(new FileSystem(std::move(store)));
}

VfsResult<void> FileSystem::unmount() {
  snapshots_.end_transactions();
  close_all();
  snapshots_.end_daemons();
  auto done = snapshots_.unmount();
  snapshots_.abandon();
  return done;
}

void FileSystem::abandon() {
  snapshots_.abandon();
  close_all();
}

VfsResult<void> FileSystem::sync() {
  enter();
  return snapshots_.sync();
}

VfsResult<void> FileSystem::syncfs() {
  return sync();
}

VfsResult<SpaceStatus> FileSystem::space() {
  enter();
  return snapshots_.space();
}

VfsResult<void> FileSystem::drop_caches() {
  enter();
  TRY(snapshots_.sync());
  snapshots_.forget_idle(0);
  snapshots_.drop_clean();
  return {};
}

VfsResult<void> FileSystem::make_snapshot(std::string_view name) {
  enter();
  return snapshots_.make_snapshot(name);
}

VfsResult<void> FileSystem::drop_snapshot(std::string_view name) {
  enter();
  return snapshots_.drop_snapshot(name);
}

std::vector<SnapshotInfo> FileSystem::kept_snapshots() {
  enter();
  return infos_of(snapshots_.snapshots());
}

VfsResult<void> FileSystem::begin_transaction() {
  enter();
  return snapshots_.begin_transaction();
}

VfsResult<void> FileSystem::commit_transaction() {
  enter();
  return snapshots_.end_transaction();
}

}  // namespace headcrash::snapfs
