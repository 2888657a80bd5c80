#pragma once
// Runs a program in a separate root file system, that of the program under test. The guest has this
// root file system as the squashfs image /rootfs.squashfs (scripts/build-guest).
//
// The agent's program does this in a separate process:
//
//   /init inside ROOT DISK FILES FOLDER [NAME=VALUE...] -- PROGRAM [ARGUMENT...]
//
// A shell script would need some thirty processes for each state that is verified, and in user-mode
// Linux each process costs milliseconds.

#include <optional>
#include <string>
#include <vector>

namespace headcrash::guest {

struct InsideCommand {
  std::string root;  ///< mount point of the file system under test
  /// Path in the image at which the program sees the file system under test. The file system also
  /// appears at the path `root`, unless the image has files there.
  std::string disk;
  std::string files;                     ///< folder that the program sees as /.headcrash/files
  std::string folder;                    ///< working folder of the program
  std::vector<std::string> environment;  ///< "NAME=VALUE"; if empty, the caller's environment
  std::vector<std::string> argv;         ///< a name without '/' is searched for in PATH
};

/// Parses the arguments after "inside"; nullopt if some are missing.
std::optional<InsideCommand> parse_inside(const std::vector<std::string>& arguments);

/// Runs the program in new mount and process namespaces, in an overlay in memory over the image.
/// Returns its exit code, or 128 plus the signal that ended it. If it could not be started, returns
/// 127 (not found) or 126, and the reason is on standard error. Changes this process's environment.
int run_inside(const InsideCommand& command);

}  // namespace headcrash::guest
