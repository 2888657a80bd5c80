#include "plugin/base/json_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace headcrash::base {
namespace {

/// Returns true if the socket becomes ready before the deadline. Polls at least once, even with a
/// zero timeout.
bool wait_for(int socket, short what, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const auto ms = std::clamp<std::int64_t>(left.count(), 0, 60'000);
    pollfd watched{.fd = socket, .events = what, .revents = 0};
    if (::poll(&watched, 1, static_cast<int>(ms)) > 0) return true;
    if (left.count() <= 0) return false;
  }
}

}  // namespace

Result<JsonSocket> JsonSocket::connect(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket.string();
  if (path.size() >= sizeof address.sun_path)
    return fail(path, "is too long for a Unix socket", "use a shorter path");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Descriptor end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!end.is_open() ||
      ::connect(end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(path,
                "cannot connect: " + std::error_code(errno, std::generic_category()).message(),
                "start the server first");
  return JsonSocket(std::move(end));
}

Result<std::pair<JsonSocket, Descriptor>> JsonSocket::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail("socketpair", std::error_code(errno, std::generic_category()).message());
  }
  return std::pair(JsonSocket(Descriptor(ends[0])), Descriptor(ends[1]));
}

tl::expected<void, Silence> JsonSocket::send(const nlohmann::json& message, Deadline deadline) {
  const std::string line =
      message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    if (!wait_for(socket_.get(), POLLOUT, deadline)) return tl::unexpected(Silence::timeout);
    const ssize_t put =
        ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (put < 0) return tl::unexpected(Silence::closed);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

tl::expected<nlohmann::json, Silence> JsonSocket::receive(Deadline deadline) {
  std::array<char, 64 << 10> buffer;
  for (;;) {
    if (const auto line = framer_.next()) {
      nlohmann::json message = nlohmann::json::parse(line->text, nullptr, false);
      if (line->too_long || !message.is_object()) return tl::unexpected(Silence::malformed);
      return message;
    }
    if (!wait_for(socket_.get(), POLLIN, deadline)) return tl::unexpected(Silence::timeout);
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return tl::unexpected(Silence::closed);
    framer_.feed({buffer.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace headcrash::base
