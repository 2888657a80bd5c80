#include "plugin/servers/vhost/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "plugin/base/errno_text.h"

namespace headcrash::vhost {

using base::Descriptor;

namespace {

void take_files(msghdr& message, std::vector<Descriptor>& files) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      files.emplace_back(fd);
    }
  }
}

}  // namespace

/// Reads until `into` is full. Returns Bytes::none if the client disconnected before the first
/// byte, or if the server is stopping.
Result<Connection::Bytes> Connection::receive_bytes(std::span<std::byte> into,
                                                    std::vector<Descriptor>& files) const {
  std::size_t got = 0;
  while (got < into.size()) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kRegionsMax)> control = {};
    iovec part{into.data() + got, into.size() - got};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t bytes = ::recvmsg(socket_, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) {
      pollfd watched[2] = {{socket_, POLLIN, 0}, {stop_, POLLIN, 0}};
      if (::poll(watched, 2, -1) < 0 && errno != EINTR)
        return fail("vhost-user", base::errno_text(errno));
      if (watched[1].revents != 0) return Bytes::none;
      continue;
    }
    if (bytes < 0 && errno != ECONNRESET) return fail("vhost-user", base::errno_text(errno));
    take_files(message, files);
    if ((message.msg_flags & MSG_CTRUNC) != 0 || files.size() > kRegionsMax)
      return fail("vhost-user message", "has too many descriptors");
    if (bytes <= 0) {
      if (got == 0) return Bytes::none;
      return fail("vhost-user message", "the connection ended in the middle of a message");
    }
    got += static_cast<std::size_t>(bytes);
  }
  return Bytes::all;
}

Result<std::optional<Received>> Connection::receive() const {
  std::array<std::byte, kMessageHeaderBytes> bytes = {};
  Received received;
  TRY(const auto begun, receive_bytes(bytes, received.files));
  if (begun == Bytes::none) return std::nullopt;
  TRY(const auto header, parse_header(bytes));
  received.header = header;
  std::vector<std::byte> rest(header.payload_bytes);
  TRY(const auto got, receive_bytes(rest, received.files));
  if (got == Bytes::none) return std::nullopt;
  TRY(auto payload, parse_payload(header.verb, rest));
  received.payload = std::move(payload);
  return std::optional<Received>(std::move(received));
}

/// Sends a reply. If the client does not read its replies, the send buffer fills up, and waiting
/// would block this thread. A full send buffer is therefore an error.
Result<void> Connection::answer(Verb verb, std::span<const std::byte> payload) const {
  const std::vector<std::byte> bytes = reply(verb, payload);
  const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(bytes.size())) return {};
  // receive() will detect that the client has disconnected
  if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return {};
  return fail("vhost-user", "the client stopped reading replies");
}

}  // namespace headcrash::vhost
