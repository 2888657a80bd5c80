#pragma once
// A minimal client of QEMU's machine protocol (QMP). It can stop the guest, and save and restore
// the guest's state.

#include <string>

#include "plugin/base/json_socket.h"

namespace headcrash::vm {

class Qmp {
 public:
  explicit Qmp(base::JsonSocket socket) : socket_(std::move(socket)) {}

  /// Waits for QEMU's greeting and completes the negotiation of capabilities. Must be called first.
  Result<void> greet(std::chrono::milliseconds timeout);
  /// Executes a command and returns the "return" value of the answer. Errors contain QEMU's text.
  /// Asynchronous events are ignored.
  Result<nlohmann::json> execute(const std::string& command, const nlohmann::json& arguments,
                                 std::chrono::milliseconds timeout);

 private:
  base::JsonSocket socket_;
};

}  // namespace headcrash::vm
