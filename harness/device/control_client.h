#pragma once
// Talks to a plugin's control socket (plugin/nbd/CONTROL.md).

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "plugin/model/result.h"

namespace headcrash::device {

class ControlClient {
 public:
  static Result<ControlClient> connect(const std::filesystem::path& socket);
  ControlClient(ControlClient&& other) noexcept;
  ControlClient& operator=(ControlClient&& other) noexcept;
  ~ControlClient();

  /// One request, one answer. An answer with "ok": false is an Error with the server's words.
  Result<nlohmann::json> request(const nlohmann::json& message,
                                 std::chrono::milliseconds timeout = std::chrono::seconds(10));

 private:
  ControlClient(int descriptor, std::filesystem::path socket);
  Result<void> send_line(const std::string& line);
  Result<std::string> receive_line(std::chrono::milliseconds timeout);

  int descriptor_ = -1;
  std::filesystem::path socket_;
  std::string pending_;  ///< received, but not yet a whole line
};

}  // namespace headcrash::device
