#pragma once
// One kernel file system in one mount mode: how to make, recover, check and mount it, and what it
// promises.
//
// Each adapter is a TOML file in this folder, those of our own file systems in fs-adapters/fuse;
// `base = "NAME"` takes everything from another one first. Commands are lists of words run in the
// guest, with {device}, {log}, {uuid}, {target} and {options} replaced. The keys are explained in
// ext4.toml, those of a file system that a user brings in examples/my-ext4.toml.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/promises.h"
#include "plugin/base/result.h"

namespace headcrash::base {
class StrictTable;
}

namespace headcrash::adapters {

/// A command in the guest and the exit codes that mean what its name says.
struct GuestCommand {
  std::vector<std::string> argv;  ///< empty: there is none
  std::vector<int> good_exits;    ///< at least one
  /// It may also run outside the guest, without privileges, on a file that holds the disk's image.
  bool host = false;
  bool good(int exit_code) const;
};

/// What must come out of a trial: `clean` for a file system that promises synced data, `loss` for a
/// control that has to lose some, `any` where nothing is known.
enum class Expectation : std::uint8_t { clean, loss, any };
std::string_view name(Expectation expectation);
/// `expected = "clean"`; left as it is where the key is missing.
Result<void> take_expected(const base::StrictTable& table, Expectation& expected);

/// What a file system that a user brings needs in the guest. Absolute paths of what was there when
/// the adapter was read; scripts/build-guest packs it.
struct GuestParts {
  /// A bzImage, or the beginning of a version of Debian's kernels (is_kernel_version); empty: the
  /// one that the host's release has.
  std::string kernel;
  std::vector<std::string>
      modules;  ///< .ko files in the order of loading, or what modules_install made
  std::vector<std::string>
      loads;  ///< modules by name, of the kernel's package, with what they depend on
  std::vector<std::string> tools;  ///< programs and scripts, found in the guest by their file names
  std::vector<std::string>
      packages;  ///< of Debian, of an application: their files go into the guest
  std::vector<std::string> application_tools;  ///< as tools, of an application
  std::string rootfs;  ///< squashfs image of an application's root file system; empty: none
  bool any() const { return !(*this == GuestParts{}); }
  bool operator==(const GuestParts&) const = default;
};

/// What "ext4+NAME" adds.
struct Variant {
  std::vector<std::string> mkfs_extra;  ///< words of the format command, in front of the device
  std::string mount_options;            ///< behind the adapter's
  std::string first_mount_options;      ///< LinuxAdapter's
  bool first_mount_recovers = true;
};

struct LinuxAdapter {
  std::string name, title;
  std::string type;  ///< of mount(2)
  std::string mount_options;
  GuestCommand mount;  ///< in place of mount(2), for a FUSE file system; usually empty
  std::uint64_t minimum_size_bytes = 0;
  std::uint64_t log_size_bytes = 0;  ///< of a second device, {log}; 0: there is none
  std::string package;  ///< of Debian, with its commands; empty: scripts/setup asks for it anyway
  GuestParts guest;
  GuestCommand mkfs;
  bool replay_by_mount = false;  ///< the kernel replays the log: mount and unmount
  GuestCommand replay;           ///< first stage of recovery; unused with replay_by_mount
  /// Text in its output, or in the kernel log, that says that the log was not empty; that it threw
  /// the log away instead, which is damage whatever its exit code is.
  std::string replay_sign, replay_damage_sign;
  /// Where eight bytes of the disk are not all zero when there is a log to replay: for a kernel
  /// that does not say so each time (btrfs prints 100 lines in five seconds and no more). 0:
  /// nowhere.
  std::uint64_t replay_sign_at = 0;
  GuestCommand check;   ///< second stage, read-only: a good exit means clean
  GuestCommand repair;  ///< only when the check found something
  Expectation expected = Expectation::any;
  std::string expected_reason;
  Promises promises;
  /// Options of a mount that comes before the one whose tree is judged, in each crash state; empty:
  /// there is none. With `first_mount_recovers` its tree is judged, too; else nothing is read by
  /// it.
  std::string first_mount_options;
  bool first_mount_recovers = true;
  std::map<std::string, Variant> variants;

  bool shows_replay(std::string_view words) const;
  bool shows_damage(std::string_view words) const;
};

/// What stands for {device}, {log}, {uuid} and {target}.
struct Places {
  std::string_view device, log, uuid, target;
};
/// Words with their places filled in; {options} first, which may name others.
std::vector<std::string> fill_in(const std::vector<std::string>& argv, const Places& places,
                                 std::string_view options = {});
std::string fill_in(const std::string& text, const Places& places, std::string_view options = {});

/// Where a program is that is built together with this one.
std::string beside_headcrash(const std::string& program);

/// What to say when a command of this adapter was not found in the guest.
std::string missing_tool_remedy(const LinuxAdapter& adapter);

/// A built-in adapter by name, or a file by path (any name with a '/' or ending in .toml).
/// "ext4+tiny-journal" and "mine.toml+tiny-journal" are such a one formatted in a variant of its
/// own, "xfs@6.12" and "ext4+tiny-journal@7.3" run under that kernel of Debian's, "xfs@./linux"
/// under one of the user's (set_kernel).
Result<LinuxAdapter> load_adapter(const std::string& name_or_path);

/// "6.12", "7.3.4", "6.1-rt": what scripts/build-guest --kernel takes for the beginning of a
/// version.
bool is_kernel_version(std::string_view text);

/// Under that kernel, and called after it. A word with a '/' is the path of a bzImage or of a
/// folder with a kernel's source, whose last part then names the file system: "xfs@6.12",
/// "xfs@linux". A guest of QEMU runs no source, one in virtual time no bzImage: that is told when
/// the guest is made. Errors: no such kernel, an adapter that brings its own kernel or modules.
Result<void> set_kernel(LinuxAdapter& adapter, const std::string& kernel);

/// "xfs" of "xfs@6.12"; a name without a kernel as it is.
std::string name_without_kernel(const std::string& name);

/// Under that kernel in place of any other: as set_kernel, but a path needs no '/', and leaves the
/// name as it is.
Result<void> replace_kernel(LinuxAdapter& adapter, const std::string& version_or_path);

/// Each of them under each kernel, the kernels of one after another; without kernels as they are.
std::vector<std::string> under_kernels(const std::vector<std::string>& names,
                                       const std::vector<std::string>& kernels);

/// `file_name` is for messages.
Result<LinuxAdapter> parse_adapter(std::string_view text, const std::string& file_name);

std::vector<std::string> built_in_adapters();

}  // namespace headcrash::adapters
