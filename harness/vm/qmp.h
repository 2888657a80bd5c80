#pragma once
// A minimal client of QEMU's machine protocol, for stopping, saving and restoring.

#include <string>

#include "plugin/base/json_socket.h"

namespace headcrash::vm {

class Qmp {
 public:
  explicit Qmp(base::JsonSocket socket) : socket_(std::move(socket)) {}

  /// Waits for QEMU's greeting and ends capability negotiation. Must be called first.
  Result<void> greet(std::chrono::milliseconds timeout);
  /// Executes a command and returns its "return" value. Errors contain QEMU's text. Asynchronous
  /// events are skipped.
  Result<nlohmann::json> execute(const std::string& command, const nlohmann::json& arguments,
                                 std::chrono::milliseconds timeout);

 private:
  base::JsonSocket socket_;
};

}  // namespace headcrash::vm
