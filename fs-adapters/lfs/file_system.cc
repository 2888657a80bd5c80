#include "fs-adapters/lfs/file_system.h"

namespace headcrash::lfs {

Result<std::unique_ptr<FileSystem>> FileSystem::mount(os::System& system,
                                                      const MountOptions& options) {
  TRY(auto store, Store::mount(system, options));
  return std::unique_ptr<FileSystem>(new FileSystem(std::move(store)));
}

VfsResult<void> FileSystem::unmount() {
  close_all();
  log_.end_daemons();
  auto done = log_.checkpoint();
  log_.abandon();
  return done;
}

void FileSystem::abandon() {
  log_.abandon();
  close_all();
}

VfsResult<void> FileSystem::sync() {
  enter();
  return log_.checkpoint();
}

VfsResult<void> FileSystem::syncfs() {
  return sync();
}

VfsResult<SpaceStatus> FileSystem::space() {
  enter();
  return log_.space();
}

VfsResult<void> FileSystem::drop_caches() {
  enter();
  TRY(log_.checkpoint());
  log_.forget_idle(0);
  log_.drop_clean();
  return {};
}

}  // namespace headcrash::lfs
