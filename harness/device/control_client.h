#pragma once
// A client for a plugin's control socket (plugin/servers/nbd/CONTROL.md).

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "plugin/base/json_socket.h"
#include "plugin/base/result.h"

namespace headcrash::device {

class ControlClient {
 public:
  static Result<ControlClient> connect(const std::filesystem::path& socket);

  /// Sends a request and returns its answer. An answer with "ok": false is returned as an Error
  /// that contains the server's text.
  Result<nlohmann::json> request(const nlohmann::json& message,
                                 std::chrono::milliseconds timeout = std::chrono::seconds(10));

  // Sends a request and returns its answer, even if the server refused the request. After an error,
  // requests and answers no longer match, so the connection must not be used again.
  Result<nlohmann::json> exchange(const nlohmann::json& message, std::chrono::milliseconds timeout);
  Result<nlohmann::json> accepted(nlohmann::json answer) const;

 private:
  ControlClient(base::JsonSocket conversation, std::filesystem::path socket)
      : conversation_(std::move(conversation)), socket_(std::move(socket)) {}

  base::JsonSocket conversation_;
  std::filesystem::path socket_;
};

}  // namespace headcrash::device
