#pragma once
// A mounted FUSE file system: serves each request of the kernel on its own fiber.
//
//    /dev/fuse -> reader thread -> WallClock::post() -> fiber: libfuse -> table (operations.h) ->
//    vfs.h -> reply
//
// Only the reader thread blocks in read(2); the syncer and all other fibers continue. The number of
// concurrent requests is limited; further requests wait in the kernel.
//
// After umount(2) everything is on the disk if the kernel waits for the reply to DESTROY. The
// kernel waits if the mount has the type fuseblk, that is, if it is on a block device. The kernel
// does not wait for plain FUSE mounts.
//
// sync(2) and syncfs(2) do not reach a FUSE file system before Linux 6.18. Earlier kernels send
// FUSE_SYNCFS only to virtiofs; they wait for dirty pages, but only until these have been copied to
// temporary pages. Since 6.18, the kernel also sends FUSE_SYNCFS to fuseblk, and this server
// replies once everything is on the disk, but libfuse 3.14 does not pass the request on yet. Until
// libfuse does, callers can use the ioctl kSyncEverything (ioctls.h).

#include <memory>
#include <string>

#include "fs-adapters/fuse/file_systems.h"

namespace headcrash::fuse {

struct ServeOptions {
  std::string program, device, target;
  std::string type;          ///< "ufs"
  std::string kernel_words;  ///< options passed to mount(2), such as noatime and nosuid
  bool write_back_cache = false;
};

class Server {
 public:
  /// Opens the device, mounts its file system, and attaches it at `target`.
  static Result<std::unique_ptr<Server>> mount(const MountPlan& plan, const ServeOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves until unmounted. Fails if something could not be written.
  Result<void> serve();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::fuse
