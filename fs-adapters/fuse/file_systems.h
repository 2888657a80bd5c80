#pragma once
// Which file systems of our own can be mounted. A new one is a function that reads its words of -o, and its
// line in the table (file_systems.cc); everything else here knows vfs.h only.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fs-adapters/fuse/mount_options.h"
#include "fs-adapters/fuse/real_machine.h"
#include "fs-adapters/vfs.h"

namespace headcrash::fuse {

struct MountedFileSystem {
  std::unique_ptr<Vfs> vfs;
  /// Writes everything and says so on the disk. From within a fiber, when nobody uses it any more.
  std::function<VfsResult<void>()> unmount;
};

/// What its options ask of the machine, and how it is mounted on it: from within a fiber.
struct MountPlan {
  MachineOptions machine;
  std::function<Result<MountedFileSystem>(os::System& system)> mount;
};

struct KnownFileSystem {
  std::string_view type;   ///< mount.headcrash-TYPE
  std::string (*words)();  ///< of -o, for --help
  Result<MountPlan> (*plan)(MountOptions& options);
};

std::span<const KnownFileSystem> known_file_systems();
/// By the name of the program, which may be a path. Errors name those that are known.
Result<const KnownFileSystem*> file_system_of_program(std::string_view program);

}  // namespace headcrash::fuse
