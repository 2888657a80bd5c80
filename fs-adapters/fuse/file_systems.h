#pragma once
// Which file systems of our own the programs behind FUSE make, mount and check: those of the
// registry (fs-adapters/registry.h). A program finds its type in its own name; everything else here
// knows vfs.h only.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fs-adapters/fuse/mount_options.h"
#include "fs-adapters/fuse/real_machine.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::fuse {

/// What its options ask of the machine, and how it is mounted on it: from within a fiber.
struct MountPlan {
  MachineOptions machine;
  std::size_t devices = 1;  ///< that it wants: with 2 its log is on one of its own
  std::function<Result<std::unique_ptr<adapters::MountedSystem>>(os::System& system)> mount;
};

/// Takes these words out of the options: `scheme=NAME`, one of the type's systems, `force`,
/// `flush=WHEN`, of a type with snapshots `snapshot=NAME`, and of one whose log may have a device
/// of its own `log=DEVICE`. Errors: a system that wants such a device and has none.
Result<MountPlan> plan_mount(const adapters::FileSystemType& type, MountOptions& options);
/// `update=POLICY` (os/update_policy.h), when the machine's cache is known.
Result<void> take_update_policy(MountOptions& options, MachineOptions& machine);
/// These words, for --help.
std::string mount_words(const adapters::FileSystemType& type);

/// By the name of the program, which may be a path: "mount.headcrash-" and a type. Errors name
/// those that are known.
Result<const adapters::FileSystemType*> type_of_program(std::string_view program,
                                                        std::string_view prefix);
inline constexpr std::string_view kMountPrefix = "mount.headcrash-",
                                  kMkfsPrefix = "mkfs.headcrash-", kFsckPrefix = "fsck.headcrash-";

}  // namespace headcrash::fuse
