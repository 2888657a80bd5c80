#pragma once
// One kernel file system in one mount mode: the commands that format, recover, check and mount it,
// and its promises.
//
// Each adapter is a TOML file in this directory, or in fs-adapters/fuse for headcrash's own file
// systems. `base = "NAME"` inherits everything from another adapter. Commands are lists of words
// that run in the guest; {device}, {log}, {uuid}, {target} and {options} are replaced. ext4.toml
// explains the keys, and examples/my-ext4.toml those for a user's own file system.
//
// A layer, such as overlayfs or gocryptfs, stores its files in a folder of another file system. Its
// adapter has the key `below` (fs-adapters/layers), and inherits the disk, recovery and promises of
// the file system below.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/guest_command.h"
#include "fs-adapters/linux/stack.h"
#include "fs-adapters/promises.h"
#include "plugin/base/result.h"

namespace headcrash::adapters {

/// Where the guest mounts the file system below a layer.
inline constexpr const char* kBelow = "/tmp/below";

/// Changes made by a variant, as in "ext4+NAME".
struct Variant {
  std::vector<std::string> mkfs_extra;  ///< inserted in the format command, before the device
  std::string mount_options;            ///< appended to the adapter's options
  std::string first_mount_options;      ///< sets LinuxAdapter::first_mount_options
  bool first_mount_recovers = true;
};

/// A disk of the guest other than the first one: a log device, or a member of a stack.
struct OtherDisk {
  std::string name;  ///< one of virtual_guest::kOtherDisks
  std::uint64_t bytes = 0;
  bool operator==(const OtherDisk&) const = default;
};

struct LinuxAdapter {
  std::string name, title;
  std::string file;  ///< absolute path of the user's file; empty for a built-in adapter
  std::string type;  ///< file system type for mount(2)
  std::string mount_options;
  GuestCommand mount;     ///< instead of mount(2), for a FUSE file system; usually empty
  GuestCommand unmount;   ///< runs after umount(2); usually empty
  bool is_layer = false;  ///< `mount` leaves another file system mounted at kBelow
  /// For a layer whose file system below was selected by its name, the argument with which
  /// load_adapter() loads that file system, and its name; otherwise empty.
  std::string below, below_name;
  std::uint64_t minimum_size_bytes = 0;
  /// Size of a second device, {log}; 0 if there is no second device.
  std::uint64_t log_size_bytes = 0;
  /// The block devices between the file system and the disks; null if the file system is on the
  /// first disk itself. With a stack, {device} in the commands is replaced by the path of the
  /// stack's device.
  std::shared_ptr<const Stack> stack;
  /// The Debian package that contains the commands; empty if scripts/setup installs them anyway.
  std::string package;
  GuestParts guest;
  GuestCommand mkfs;
  /// The kernel replays the log when the file system is mounted, so a mount and an unmount suffice.
  bool replay_by_mount = false;
  GuestCommand replay;  ///< first stage of recovery; not used with replay_by_mount
  /// Strings to search for in the command's output and in the kernel log. `replay_sign` means that
  /// the log was not empty. `replay_damage_sign` means that the log was discarded instead of
  /// replayed. This counts as damage, whatever the exit code is.
  std::string replay_sign, replay_damage_sign;
  /// Offset on the disk of eight bytes that are not all zero if there is a log to replay. Used if
  /// the kernel does not always report a replay: btrfs prints at most 100 lines in five seconds. 0
  /// if unused.
  std::uint64_t replay_sign_at = 0;
  GuestCommand check;   ///< second stage of recovery, read-only; success means clean
  GuestCommand repair;  ///< runs only if the check fails
  Expectation expected = Expectation::any;
  std::string expected_reason;
  Promises promises;
  /// Options for an extra mount in each crash state, before the mount whose tree is judged; empty
  /// if there is no extra mount. With `first_mount_recovers`, the tree of the extra mount is also
  /// judged; otherwise, nothing is read during the extra mount.
  std::string first_mount_options;
  bool first_mount_recovers = true;
  std::map<std::string, Variant> variants;

  /// Returns all disks except the first one. `disk_bytes` is the size of the first disk. All
  /// members of a stack have the same size.
  std::vector<OtherDisk> other_disks(std::uint64_t disk_bytes) const;
  /// Returns true if the file system uses several disks. A crash state then contains a state of
  /// each disk.
  bool has_several_disks() const { return log_size_bytes != 0 || (stack && stack->disks > 1); }

  bool shows_replay(std::string_view words) const;
  bool shows_damage(std::string_view words) const;
};

/// Values of the placeholders {device}, {log}, {uuid} and {target}.
struct Places {
  std::string_view device, log, uuid, target;
};
/// Replaces the placeholders. {options} is replaced first; the replacement may contain other
/// placeholders.
std::vector<std::string> fill_in(const std::vector<std::string>& argv, const Places& places,
                                 std::string_view options = {});
std::string fill_in(const std::string& text, const Places& places, std::string_view options = {});

/// Returns the path of a program in the directory of the headcrash binary.
std::string beside_headcrash(const std::string& program);

/// Returns a hint for the user whose guest lacks one of this adapter's commands.
std::string missing_tool_hint(const LinuxAdapter& adapter);

/// Loads a built-in adapter by name, or a file by path (a name with a '/' or ending in .toml).
/// "ext4+tiny-journal" and "mine.toml+tiny-journal" select a variant. "xfs@6.12" and
/// "ext4+tiny-journal@7.3" select one of Debian's kernels, and "xfs@./linux" selects the user's own
/// (set_kernel). "ext4:md-raid1" and "ext4:mine.toml" put the file system on a stack (set_stack).
Result<LinuxAdapter> load_adapter(const std::string& name_or_path);

/// Returns true for a version number or the beginning of one, as accepted by scripts/build-guest
/// --kernel: "6.12", "7.3.4", "6.1-rt".
bool is_kernel_version(std::string_view text);

/// Puts the file system on a stack of block devices, and adds the stack's name to the adapter's
/// name. Fails for a file system with a separate log.
Result<void> set_stack(LinuxAdapter& adapter, std::shared_ptr<const Stack> stack);

/// Selects a kernel and adds its name to the adapter's name: "xfs@6.12". A word with a '/' is the
/// path of a bzImage or of a kernel source directory; only the path's last component is added:
/// "xfs@linux". A QEMU guest needs a bzImage, and a guest in virtual time needs sources; this is
/// checked only when the guest is created. Fails if there is no such kernel, or if the adapter has
/// its own kernel or modules.
Result<void> set_kernel(LinuxAdapter& adapter, const std::string& kernel);

/// Returns the argument with which load_adapter() loads this adapter again: its name, or the path
/// of the user's file with the same variant and kernel.
std::string name_to_load(const LinuxAdapter& adapter);

/// Adds a stack to an adapter's name: "ext4:md-raid1@6.12" for "ext4@6.12". Returns the name
/// unchanged if the stack is empty.
std::string name_on_stack(const std::string& name_or_path, const std::string& stack);
/// Like name_to_load(), but without the stack.
std::string name_without_stack(const LinuxAdapter& adapter);

/// Returns the name without the kernel: "xfs" for "xfs@6.12".
std::string name_without_kernel(const std::string& name);

/// Like set_kernel(), but replaces a kernel that was selected earlier, accepts a path without '/',
/// and leaves the adapter's name unchanged.
Result<void> replace_kernel(LinuxAdapter& adapter, const std::string& version_or_path);

/// Returns all combinations of an adapter name and a kernel, grouped by kernel. Returns the names
/// unchanged if `kernels` is empty.
std::vector<std::string> under_kernels(const std::vector<std::string>& names,
                                       const std::vector<std::string>& kernels);

/// Parses an adapter. `file_name` appears in messages.
Result<LinuxAdapter> parse_adapter(std::string_view text, const std::string& file_name);

std::vector<std::string> built_in_adapters();

}  // namespace headcrash::adapters
