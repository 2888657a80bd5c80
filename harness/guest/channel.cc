// Sends and receives lines over a virtio-serial port or a disk (channel.h).
#include "harness/guest/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "plugin/base/descriptor.h"
#include "plugin/base/virtual_guest.h"

namespace headcrash::guest {
namespace {

constexpr int kIdleMs = 1000;
constexpr useconds_t kHostAwayUs = 10'000;
constexpr int kTries = 500;
constexpr useconds_t kTryUs = 20'000;

using virtual_guest::kLengthBytes;
using virtual_guest::kStreamOffset;
using virtual_guest::kTransferBytes;

/// Returns the path of the device DEVICE for which FOLDER/DEVICE/FILE contains the name of the
/// agent's channel. Returns an empty string if there is no such device.
std::string find_device(const std::string& folder, const char* file) {
  std::error_code error;
  for (const auto& device : std::filesystem::directory_iterator(folder, error)) {
    std::ifstream named(device.path() / file);
    std::string found;
    std::getline(named, found);
    if (found == virtual_guest::kAgentName) return "/dev/" + device.path().filename().string();
  }
  return {};
}

class PortChannel : public Channel {
 public:
  explicit PortChannel(int port) : port_(port) {}

 private:
  std::string_view receive() override {
    pollfd watched{.fd = port_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, kIdleMs) <= 0) return {};
    const ssize_t got =
        (watched.revents & POLLIN) != 0 ? ::read(port_.get(), buffer_.data(), buffer_.size()) : 0;
    if (got <= 0) ::usleep(kHostAwayUs);  // poll() returns immediately if no host is connected
    return {buffer_.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }

  void send_bytes(std::string_view rest) override {
    while (!rest.empty()) {
      pollfd watched{.fd = port_.get(), .events = POLLOUT, .revents = 0};
      if (::poll(&watched, 1, -1) < 0 && errno == EINTR) continue;
      if ((watched.revents & (POLLHUP | POLLERR)) != 0) return;
      const ssize_t put = ::write(port_.get(), rest.data(), rest.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(put));
    }
  }

  base::Descriptor port_;
  std::array<char, 64 << 10> buffer_ = {};
};

class DiskChannel : public Channel {
 public:
  explicit DiskChannel(int disk) : disk_(disk) {}

 private:
  std::string_view receive() override {
    const ssize_t got = ::pread(disk_.get(), transfer_.data(), kTransferBytes, kStreamOffset);
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, transfer_.data(), sizeof bytes);
    if (got != static_cast<ssize_t>(kTransferBytes) || bytes > kTransferBytes - kLengthBytes)
      return {};
    return {transfer_.data() + kLengthBytes, bytes};
  }

  void send_bytes(std::string_view rest) override {
    while (!rest.empty()) {
      const auto bytes =
          static_cast<std::uint32_t>(std::min(rest.size(), kTransferBytes - kLengthBytes));
      std::memcpy(transfer_.data(), &bytes, sizeof bytes);
      std::memcpy(transfer_.data() + kLengthBytes, rest.data(), bytes);
      if (::pwrite(disk_.get(), transfer_.data(), kTransferBytes, kStreamOffset) !=
          static_cast<ssize_t>(kTransferBytes))
        return;
      rest.remove_prefix(bytes);
    }
  }

  base::Descriptor disk_;
  alignas(4096) std::array<char, kTransferBytes> transfer_ = {};
};

}  // namespace

std::unique_ptr<Channel> Channel::open() {
  for (int tries = 0; tries < kTries; ++tries) {
    if (const std::string port = find_device("/sys/class/virtio-ports", "name"); !port.empty()) {
      const int fd = ::open(port.c_str(), O_RDWR | O_CLOEXEC);
      if (fd >= 0) return std::make_unique<PortChannel>(fd);
    }
    if (const std::string disk = find_device("/sys/block", "serial"); !disk.empty()) {
      const int fd = ::open(disk.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
      if (fd >= 0) return std::make_unique<DiskChannel>(fd);
    }
    ::usleep(kTryUs);
  }
  return nullptr;
}

std::optional<base::LineFramer::Line> Channel::read_line() {
  if (auto line = framer_.next()) return line;
  const std::string_view bytes = receive();
  if (bytes.empty()) {
    framer_.reset();
    return std::nullopt;
  }
  framer_.feed(bytes);
  return framer_.next();
}

void Channel::send(const nlohmann::json& message) {
  // Replaces invalid UTF-8 with U+FFFD. Names on a damaged disk and the output of a program may
  // contain invalid UTF-8.
  send_bytes(message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace headcrash::guest
