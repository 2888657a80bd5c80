#pragma once
// `headcrash serve --states`: serves one crash state as a disk.

#include <string>
#include <vector>

namespace headcrash::cli {

struct ServeState {
  std::string recording, state;  ///< state: empty for the last one
  std::string machine;           ///< stack above its media; empty for the media themselves
  std::string record;            ///< new recording of the requests; empty for none
  bool as_json = false;
  /// Run with the disks' options; if empty, prints them and serves until Ctrl-C.
  std::vector<std::string> command;
};

/// Returns the exit code.
int serve_state(const ServeState& what);

}  // namespace headcrash::cli
