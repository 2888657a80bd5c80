#pragma once
// Commands that run in a guest, and the files that they need there.

#include <algorithm>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::base {
class StrictTable;
}

namespace headcrash::adapters {

/// A command in the guest and its successful exit codes.
struct GuestCommand {
  std::vector<std::string> argv;  ///< empty if there is no command
  std::vector<int> good_exits;    ///< contains at least one exit code
  /// The command may also run on the host, on an image file. On the host, the command needs no
  /// privileges.
  bool host = false;
  bool good(int exit_code) const {
    return std::find(good_exits.begin(), good_exits.end(), exit_code) != good_exits.end();
  }
};

/// Reads a command from the table `section`: command = [...], good = [0, 1], host = true.
Result<void> read_command(const base::StrictTable& root, const std::string& section,
                          GuestCommand& command);
/// Fails if a word contains a placeholder {name} that is not in `places`. `key` names the list of
/// words in error messages.
Result<void> check_placeholders(const base::StrictTable& root, const std::string& key,
                                const std::string& word, const std::vector<std::string>& places);

/// The expected outcome of trials. `clean`: synced data must survive. `loss`: a control that must
/// lose some synced data. `any`: unknown.
enum class Expectation : std::uint8_t { clean, loss, any };
std::string_view name(Expectation expectation);
/// Reads `expected = "clean"`. Leaves `expected` unchanged if the key is missing.
Result<void> parse_expected(const base::StrictTable& table, Expectation& expected);

/// Files that a user's file system needs in the guest; scripts/build-guest packs them. All paths
/// are absolute, and were checked when the adapter was parsed.
struct GuestParts {
  /// The path of a bzImage, or the version of one of Debian's kernels, possibly abbreviated
  /// (is_kernel_version). If empty, the kernel of the host's Debian release is used.
  std::string kernel;
  std::vector<std::string> modules;  ///< .ko files in load order, or a modules_install directory
  /// Names of modules to load from the kernel's package; their dependencies are added.
  std::vector<std::string> loads;
  /// Names of the modules that a stack or a layer needs from the kernel's package. In a user-mode
  /// kernel, these modules are built in.
  std::vector<std::string> stack_loads;
  std::vector<std::string> tools;     ///< programs and scripts; the guest finds them by file name
  std::vector<std::string> packages;  ///< Debian packages that are copied into the guest
  std::vector<std::string> application_tools;  ///< like `tools`, but for an application
  std::string rootfs;   ///< an application's root file system as a squashfs image, or empty
  bool stacks = false;  ///< the kernel must be able to record the call stack of each write
  bool any() const { return !(*this == GuestParts{}); }
  bool operator==(const GuestParts&) const = default;
};

}  // namespace headcrash::adapters
