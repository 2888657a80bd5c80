#pragma once
// Runs a shell command in the root file system of a program under test. The guest has this root
// file system as the squashfs image /rootfs.squashfs (scripts/build-guest).
//
// The agent's program does this in a separate process: `/init inside ROOT DISK FILES LINE`. A shell
// script would need some thirty processes for each state that is verified, and in user-mode Linux
// each process costs milliseconds.

#include <string>

namespace headcrash::guest {

struct InsideCommand {
  std::string root;  ///< mount point of the file system under test
  /// Path in the image at which the program sees the file system under test. The file system also
  /// appears at the path `root`, unless the image has files there.
  std::string disk;
  std::string files;  ///< folder that appears as /.headcrash/files
  std::string line;   ///< command line for a shell
};

/// Runs the command in new mount and process namespaces. Its root is an overlay in memory on top of
/// the image. Returns the exit code of the line, or 128 plus the number of the signal that ended
/// it. Returns 126 if it could not be started, with the reason on standard error.
int run_inside(const InsideCommand& command);

}  // namespace headcrash::guest
