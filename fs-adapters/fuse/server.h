#pragma once
// A mounted file system at work: the kernel's requests, each on a fiber of its own.
//
//   /dev/fuse -> reader thread -> WallClock::post() -> fiber: libfuse -> table (operations.h) ->
//   vfs.h -> answer
//
// The reader blocks in read(2) and nothing else does: the syncer and all other fibers continue. So
// many requests are under way at most; the others wait in the kernel.
//
// Everything is on the disk when umount(2) returns if the kernel waits for the answer to DESTROY.
// It does so for mounts of the type fuseblk, that is for block devices, and not for plain ones.
//
// sync(2) and syncfs(2) do not reach a FUSE file system before Linux 6.18: before that the kernel
// has a request for it (FUSE_SYNCFS) and sends it to virtiofs only, and what it waits for in
// inodes' pages is its own temporary copies. From 6.18 on fuseblk gets it and we answer when
// everything is on the disk; libfuse 3.14 does not know it yet. Until then the ioctl
// kSyncEverything (ioctls.h) does the same for who knows it.

#include <memory>
#include <string>

#include "fs-adapters/fuse/file_systems.h"

namespace headcrash::fuse {

struct ServeOptions {
  std::string program, device, target;
  std::string type;          ///< "ufs"
  std::string kernel_words;  ///< noatime, nosuid, ...: handed to mount(2)
  bool write_back_cache = false;
};

class Server {
 public:
  /// Opens the device and mounts its file system, and that at `target`.
  static Result<std::unique_ptr<Server>> mount(const MountPlan& plan, const ServeOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves until it is unmounted. An error: not everything could be written.
  Result<void> serve();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::fuse
