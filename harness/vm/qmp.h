#pragma once
// QEMU's machine protocol: as much of a client as stopping, saving and restoring need.

#include <string>

#include "plugin/base/json_socket.h"

namespace headcrash::vm {

class Qmp {
 public:
  explicit Qmp(base::JsonSocket socket) : socket_(std::move(socket)) {}

  /// Waits for QEMU's greeting and leaves the negotiation. Comes first.
  Result<void> greet(std::chrono::milliseconds timeout);
  /// The command's "return"; QEMU's own words on an error. Asynchronous events are skipped.
  Result<nlohmann::json> execute(const std::string& command, const nlohmann::json& arguments,
                                 std::chrono::milliseconds timeout);

 private:
  base::JsonSocket socket_;
};

}  // namespace headcrash::vm
