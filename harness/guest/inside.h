#pragma once
// Runs a shell command in the root file system of a program under test, which the guest has as the
// squashfs image /rootfs.squashfs (scripts/build-guest).
//
// The agent's program does this in a separate process: `/init inside ROOT DISK FILES LINE`. A shell
// script would start some thirty programs for each verified state, and in user-mode Linux each of
// them costs milliseconds.

#include <string>

namespace headcrash::guest {

struct InsideCommand {
  std::string root;  ///< mount point of the file system under test
  /// Its path in the image. It is also at `root` there, unless the image has files at this path.
  std::string disk;
  std::string files;  ///< folder that is /.headcrash/files there
  std::string line;   ///< for a shell
};

/// Runs the command in new mount and process namespaces, in an overlay in memory over the image.
/// Returns the exit code of the line, 128 plus the signal that ended it, or 126 if it could not be
/// started; the reason is then on standard error.
int run_inside(const InsideCommand& command);

}  // namespace headcrash::guest
