#pragma once
// JSON objects, one a line, over a connected socket: the agent's protocol and QMP alike. Every wait
// has a limit and every line a longest length.

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
  /// To a server's Unix socket. Error: there is none, or its name is too long.
  static Result<JsonSocket> connect(const std::filesystem::path& socket);
  explicit JsonSocket(Descriptor socket) : socket_(std::move(socket)) {}
  /// Two connected ends; the second is for a child process.
  static Result<std::pair<JsonSocket, Descriptor>> make_pair();

  tl::expected<void, Silence> send(const nlohmann::json& message, Deadline deadline);
  tl::expected<nlohmann::json, Silence> receive(Deadline deadline);

 private:
  Descriptor socket_;
  LineFramer framer_;
};

}  // namespace headcrash::base
