// Implements a client for the control socket: JSON lines over a Unix socket. Every wait has a time
// limit.
#include "harness/device/control_client.h"

#include <fmt/format.h>

#include <utility>

#include "plugin/base/result.h"

namespace headcrash::device {

Result<ControlClient> ControlClient::connect(const std::filesystem::path& socket) {
  auto conversation = base::JsonSocket::connect(socket);
  if (conversation) return ControlClient(std::move(*conversation), socket);
  Error error = conversation.error();
  error.hint = "check that a server with this control socket is running";
  return tl::unexpected<Error>(std::move(error));
}

Result<nlohmann::json> ControlClient::request(const nlohmann::json& message,
                                              std::chrono::milliseconds timeout) {
  auto answer = exchange(message, timeout);
  return answer ? accepted(std::move(*answer)) : answer;
}

Result<nlohmann::json> ControlClient::exchange(const nlohmann::json& message,
                                               std::chrono::milliseconds timeout) {
  const base::Deadline deadline = base::after(timeout);
  const auto sent = conversation_.send(message, deadline);
  auto answer = sent ? conversation_.receive(deadline) : tl::unexpected(sent.error());
  if (!answer) {
    switch (answer.error()) {
      case base::Silence::timeout:
        return fail(socket_.string(), fmt::format("no answer within {} ms", timeout.count()));
      case base::Silence::closed:
        return fail(socket_.string(), "the server has exited");
      case base::Silence::malformed:
        break;
    }
  }
  if (!answer || !answer->contains("ok") || !(*answer)["ok"].is_boolean()) {
    return fail(socket_.string(), "the reply violates headcrash's control protocol",
                "check whether the socket belongs to another program");
  }
  return std::move(*answer);
}

Result<nlohmann::json> ControlClient::accepted(nlohmann::json answer) const {
  if (answer["ok"].get<bool>()) return answer;
  Error error = base::error_of(
      socket_.string(),
      answer.value("error", "the server refused the command without giving a reason"));
  error.kind = kErrorKinds.parse(answer.value("kind", "")).value_or(ErrorKind::other);
  return tl::unexpected(std::move(error));
}

}  // namespace headcrash::device
