#pragma once
// `headcrash serve --states`: one crash state as a disk.

#include <string>
#include <vector>

namespace headcrash::cli {

struct ServeState {
  std::string recording, state;  ///< state: empty for the last one
  std::string machine;           ///< stack over its media; empty: the media themselves
  std::string record;  ///< what is done to it goes into this new recording; empty: nowhere
  bool as_json = false;
  std::vector<std::string>
      command;  ///< run with the disks' options; empty: tell them, and serve until Ctrl-C
};

/// The exit code.
int serve_state(const ServeState& what);

}  // namespace headcrash::cli
