#pragma once
// Runs a program in a separate root file system, that of the program under test. The guest has this
// root file system as the squashfs image /rootfs.squashfs (scripts/build-guest).
//
// The command of such a program is:
//
//   /init inside ROOT DISK FILES FOLDER [NAME=VALUE...] -- PROGRAM [ARGUMENT...]
//
// The agent is itself /init, so it recognises this command and does not start /init again. In
// user-mode Linux, an additional process would cost milliseconds for each state that is verified.

#include <optional>
#include <string>
#include <vector>

#include "harness/guest/exec.h"

namespace headcrash::guest {

struct InsideCommand {
  std::string root;  ///< mount point of the file system under test
  /// Path at which the program in the image sees the file system under test. The program can also
  /// use the path `root`, unless the image has files at that path.
  std::string disk;
  std::string files;                     ///< directory that the program sees as /.headcrash/files
  std::string folder;                    ///< working directory of the program
  std::vector<std::string> environment;  ///< "NAME=VALUE"; if empty, the caller's environment
  std::vector<std::string> argv;         ///< a name without '/' is searched for in PATH
};

/// Parses a command of the form shown above. Returns nullopt for other commands.
std::optional<InsideCommand> parse_inside(const std::vector<std::string>& argv);

/// Returns the program that executes the command. If the command has the form above, the program
/// runs in new mount and process namespaces; its root is an overlay in memory over the image. If
/// the overlay cannot be mounted, the program exits with 126, and the reason is on standard error.
/// Any other command runs unchanged.
Program program_of(std::vector<std::string> argv);

}  // namespace headcrash::guest
