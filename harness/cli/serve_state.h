#pragma once
// Implements `headcrash serve --states`, which serves one crash state as a disk.

#include <string>
#include <vector>

namespace headcrash::cli {

struct ServeState {
  std::string recording, state;  ///< if `state` is empty, serves the last state of the recording
  /// The stack above the media (a name or a path); empty to serve the media themselves.
  std::string machine;
  std::string record;  ///< file for a new recording of the requests; empty to record nothing
  bool as_json = false;
  /// A command to run with the options that attach the disks. If empty, prints the options and
  /// serves until Ctrl-C.
  std::vector<std::string> command;
};

/// Serves the state. Returns the exit code.
int serve_state(const ServeState& what);

}  // namespace headcrash::cli
