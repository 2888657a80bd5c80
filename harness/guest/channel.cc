// Lines over the virtio-serial port (channel.h).
#include "harness/guest/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace headcrash::guest {
namespace {
constexpr int kIdleMs = 1000;
constexpr useconds_t kHostAwayUs = 10'000;
}  // namespace

std::optional<std::string> find_port(const std::string& name) {
  std::error_code error;
  for (const auto& port : std::filesystem::directory_iterator("/sys/class/virtio-ports", error)) {
    std::ifstream file(port.path() / "name");
    std::string found;
    std::getline(file, found);
    if (found == name) return "/dev/" + port.path().filename().string();
  }
  return std::nullopt;
}

Channel::~Channel() {
  ::close(port_);
}

std::optional<base::LineFramer::Line> Channel::read_line() {
  if (auto line = framer_.next()) return line;
  pollfd watched{.fd = port_, .events = POLLIN, .revents = 0};
  if (::poll(&watched, 1, kIdleMs) <= 0) return std::nullopt;
  std::array<char, 64 << 10> buffer;
  const ssize_t got = (watched.revents & POLLIN) != 0 ? ::read(port_, buffer.data(), buffer.size()) : 0;
  if (got > 0) {
    framer_.feed({buffer.data(), static_cast<std::size_t>(got)});
    return framer_.next();
  }
  framer_.reset();
  ::usleep(kHostAwayUs);  // poll reports the absent host at once, again and again
  return std::nullopt;
}

void Channel::send(const nlohmann::json& message) {
  // Bytes that are no UTF-8 (a name on a damaged disk, a program's output) become U+FFFD.
  const std::string line = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    pollfd watched{.fd = port_, .events = POLLOUT, .revents = 0};
    if (::poll(&watched, 1, -1) < 0 && errno == EINTR) continue;
    if ((watched.revents & (POLLHUP | POLLERR)) != 0) return;
    const ssize_t put = ::write(port_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace headcrash::guest
