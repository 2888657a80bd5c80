// The client's side of the control socket: JSON lines over a Unix socket, every wait bounded.
#include "harness/device/control_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace headcrash::device {

Result<ControlClient> ControlClient::connect(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket.string();
  if (path.size() >= sizeof address.sun_path) {
    return fail(path, "is too long for a Unix socket", "use a folder with a shorter name");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  base::Descriptor end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!end.is_open() ||
      ::connect(end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(path, "cannot connect: " + std::error_code(errno, std::generic_category()).message(),
                "is a server with control= this socket running?");
  }
  return ControlClient(base::JsonSocket(std::move(end)), socket);
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
        return fail(socket_.string(), "the server has gone");
      case base::Silence::malformed:
        break;
    }
  }
  if (!answer || !answer->contains("ok") || !(*answer)["ok"].is_boolean()) {
    return fail(socket_.string(), "the answer does not follow headcrash's control protocol",
                "is this the control socket of another program?");
  }
  return std::move(*answer);
}

Result<nlohmann::json> ControlClient::accepted(nlohmann::json answer) const {
  if (answer["ok"].get<bool>()) return answer;
  return fail(socket_.string(), answer.value("error", "refused without a reason"));
}

}  // namespace headcrash::device
