#pragma once
// Talks to a plugin's control socket (plugin/servers/nbd/CONTROL.md).

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "plugin/base/json_socket.h"
#include "plugin/base/result.h"

namespace headcrash::device {

class ControlClient {
 public:
  static Result<ControlClient> connect(const std::filesystem::path& socket);

  /// One request, one answer. An answer with "ok": false is an Error with the server's words.
  Result<nlohmann::json> request(const nlohmann::json& message,
                                 std::chrono::milliseconds timeout = std::chrono::seconds(10));

  // The same in two steps, for whoever continues after a refusal. After an error of the first one
  // the conversation is out of step and good for nothing any more.
  Result<nlohmann::json> exchange(const nlohmann::json& message, std::chrono::milliseconds timeout);
  Result<nlohmann::json> accepted(nlohmann::json answer) const;

 private:
  ControlClient(base::JsonSocket conversation, std::filesystem::path socket)
      : conversation_(std::move(conversation)), socket_(std::move(socket)) {}

  base::JsonSocket conversation_;
  std::filesystem::path socket_;
};

}  // namespace headcrash::device
