#pragma once
// Selects the file system for a FUSE program from the registry (fs-adapters/registry.h), according
// to the name under which the program was started. The rest of fs-adapters/fuse uses only vfs.h.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fs-adapters/fuse/mount_options.h"
#include "fs-adapters/fuse/real_machine.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::fuse {

/// The machine that the mount options require, and a function that mounts the file system on this
/// machine. The function must be called from a fiber.
struct MountPlan {
  MachineOptions machine;
  std::size_t devices = 1;  ///< 2 if there is an external log
  std::function<Result<std::unique_ptr<adapters::MountedSystem>>(os::System& system)> mount;
};

/// Consumes these options: `scheme=NAME` (one of the type's systems), `force`, `flush=WHEN`,
/// `snapshot=NAME` if the type has snapshots, and `log=DEVICE` if the type supports external logs.
/// Fails if the system needs an external log but `log` is missing.
Result<MountPlan> plan_mount(const adapters::FileSystemType& type, MountOptions& options);
/// Consumes `update=POLICY` (os/update_policy.h). The cache size in `machine` must already be set.
Result<void> take_update_policy(MountOptions& options, MachineOptions& machine);
/// Describes all of the options above, for --help.
std::string mount_words(const adapters::FileSystemType& type);

/// Returns the file system type that a program's name contains: `prefix`, followed by the type's
/// name. `program` may be a path. The error lists all known programs.
Result<const adapters::FileSystemType*> type_of_program(std::string_view program,
                                                        std::string_view prefix);
inline constexpr std::string_view kMountPrefix = "mount.headcrash-",
                                  kMkfsPrefix = "mkfs.headcrash-", kFsckPrefix = "fsck.headcrash-";

}  // namespace headcrash::fuse
