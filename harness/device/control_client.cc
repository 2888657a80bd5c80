// The client's side of the control socket: JSON lines over a Unix socket, every wait bounded.
#include "harness/device/control_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace headcrash::device {
namespace {
constexpr std::size_t kLongestAnswerBytes = 4 << 20;
}

ControlClient::ControlClient(int descriptor, std::filesystem::path socket)
    : descriptor_(descriptor), socket_(std::move(socket)) {}

ControlClient::ControlClient(ControlClient&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      socket_(std::move(other.socket_)),
      pending_(std::move(other.pending_)) {}

ControlClient& ControlClient::operator=(ControlClient&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(socket_, other.socket_);
  std::swap(pending_, other.pending_);
  return *this;
}

ControlClient::~ControlClient() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<ControlClient> ControlClient::connect(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket.string();
  if (path.size() >= sizeof address.sun_path) {
    return fail(path, "is too long for a Unix socket", "use a folder with a shorter name");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ControlClient client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), socket);
  if (client.descriptor_ < 0 ||
      ::connect(client.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(path, fmt::format("cannot connect: {}", std::strerror(errno)),
                "is a server with control= this socket running?");
  }
  return client;
}

Result<void> ControlClient::send_line(const std::string& line) {
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = ::send(descriptor_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return fail(socket_.string(), fmt::format("the server does not listen: {}", std::strerror(errno)));
    sent += static_cast<std::size_t>(count);
  }
  return {};
}

Result<std::string> ControlClient::receive_line(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (pending_.size() > kLongestAnswerBytes)
      return fail(socket_.string(), "the server's answer is too long");
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{descriptor_, POLLIN, 0};
    const int ready = left.count() > 0 ? ::poll(&waiting, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail(socket_.string(), fmt::format("no answer within {} ms", timeout.count()));
    std::array<char, 65536> buffer;
    const ssize_t count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(socket_.string(), "the server has gone");
    pending_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

Result<nlohmann::json> ControlClient::request(const nlohmann::json& message,
                                              std::chrono::milliseconds timeout) {
  if (const auto sent = send_line(message.dump() + "\n"); !sent) return pass_on(sent);
  const Result<std::string> line = receive_line(timeout);
  if (!line) return pass_on(line);
  nlohmann::json answer = nlohmann::json::parse(*line, nullptr, false);
  if (!answer.is_object() || !answer.contains("ok") || !answer["ok"].is_boolean()) {
    return fail(socket_.string(), "the answer is not of headcrash's control protocol",
                "is this the control socket of another program?");
  }
  if (!answer["ok"].get<bool>())
    return fail(socket_.string(), answer.value("error", "refused without a reason"));
  return answer;
}

}  // namespace headcrash::device
