#pragma once
// JSON objects, one per line, over a connected socket. Used for the agent's protocol and for QMP.
// Every wait has a timeout, and every line a maximum length.

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "plugin/base/descriptor.h"
#include "plugin/base/line_framing.h"
#include "plugin/base/result.h"

namespace headcrash::base {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline after(std::chrono::milliseconds timeout) {
  return std::chrono::steady_clock::now() + timeout;
}

enum class Silence { timeout, closed, malformed };

class JsonSocket {
 public:
  /// Connects to a server's Unix socket. Fails if no server listens there, or if the path is too
  /// long.
  static Result<JsonSocket> connect(const std::filesystem::path& socket);
  explicit JsonSocket(Descriptor socket) : socket_(std::move(socket)) {}
  /// Creates two connected sockets; the second is for a child process.
  static Result<std::pair<JsonSocket, Descriptor>> make_pair();

  tl::expected<void, Silence> send(const nlohmann::json& message, Deadline deadline);
  tl::expected<nlohmann::json, Silence> receive(Deadline deadline);

 private:
  Descriptor socket_;
  LineFramer framer_;
};

}  // namespace headcrash::base
