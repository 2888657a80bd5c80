#include "plugin/servers/emulation/control_socket.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "plugin/base/errno_text.h"

namespace headcrash::emulation {
Result<std::unique_ptr<ControlSocket>> ControlSocket::listen(const std::filesystem::path& path) {
  TRY(auto listener, base::ListeningSocket::listen(path, kControlClientsMax));
  std::unique_ptr<ControlSocket> self(new ControlSocket());
  self->listener_ = std::move(listener);
  self->stop_fd_ = base::Descriptor(eventfd(0, EFD_CLOEXEC));
  if (!self->stop_fd_.is_open())
    return fail(path, base::errno_text(errno), "raise the limit on open files (ulimit -n)");
  return self;
}

ControlSocket::~ControlSocket() {
  stop();
}

void ControlSocket::start(Answer answer) {
  answer_ = std::move(answer);
  acceptor_ = std::thread([this] { accept_clients(); });
}

void ControlSocket::stop() {
  if (stopping_.exchange(true)) return;
  const std::uint64_t one = 1;
  static_cast<void>(!write(stop_fd_.get(), &one, sizeof one));
  if (acceptor_.joinable()) acceptor_.join();
  for (Client& client : clients_) client.thread.join();
  clients_.clear();
  listener_.remove_file();
}

/// Waits for `fd`. Returns true once it is ready, or false if the socket is stopping.
bool ControlSocket::wait_for(int fd, short events) const {
  std::array<pollfd, 2> fds = {pollfd{fd, events, 0}, pollfd{stop_fd_.get(), POLLIN, 0}};
  while (poll(fds.data(), fds.size(), -1) < 0)
    if (errno != EINTR) return false;
  return !stopping_ && fds[1].revents == 0;
}

void ControlSocket::accept_clients() {
  while (wait_for(listener_.get(), POLLIN)) {
    reap();
    const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      admit(fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      // The client stays in the backlog, so poll() would report it again at once.
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

void ControlSocket::admit(int fd) {
  if (clients_.size() >= kControlClientsMax) {
    send_line(fd,
              fmt::format(
                  R"({{"ok":false,"error":"control socket: {} clients are connected; close one"}})",
                  kControlClientsMax));
    close(fd);
    return;
  }
  Client& client = clients_.emplace_back();
  client.fd = fd;
  try {
    client.thread = std::thread([this, &client] { serve(client); });
  } catch (const std::system_error&) {
    // No more threads can be started, so the client's connection is closed.
    close(fd);
    clients_.pop_back();
  }
}

void ControlSocket::reap() {
  clients_.remove_if([](Client& client) {
    if (!client.finished) return false;
    client.thread.join();
    return true;
  });
}

void ControlSocket::serve(Client& client) {
  try {
    std::string pending;
    bool open = true;
    while (open && wait_for(client.fd, POLLIN)) {
      open = receive(client.fd, pending);
      if (!open && !pending.empty() && pending.back() != '\n')
        pending += '\n';  // the last line may lack a newline
      if (!answer_lines(client, pending)) break;
    }
  } catch (const std::exception&) {
    // An exception (such as std::bad_alloc) disconnects only this client.
  }
  close(client.fd);
  client.finished = true;
}

/// Appends received bytes to `pending`; returns false at the end of the stream.
bool ControlSocket::receive(int fd, std::string& pending) const {
  std::array<char, 4096> bytes;
  const ssize_t n = recv(fd, bytes.data(), bytes.size(), 0);
  if (n > 0) pending.append(bytes.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/// Answers every complete line in `pending` and keeps an incomplete last line. Returns false if the
/// client must be disconnected.
bool ControlSocket::answer_lines(Client& client, std::string& pending) const {
  const auto given_up = [&] {
    pollfd peer = {client.fd, 0, 0};
    return stopping_ || (poll(&peer, 1, 0) > 0 && (peer.revents & (POLLHUP | POLLERR)) != 0);
  };
  std::size_t begin = 0;
  for (std::size_t end = pending.find('\n'); end != std::string::npos;
       end = pending.find('\n', begin)) {
    if (end - begin > kControlLineBytesMax) break;
    if (!send_line(client.fd,
                   answer_(std::string_view(pending).substr(begin, end - begin), given_up)))
      return false;
    begin = end + 1;
  }
  pending.erase(0, begin);
  if (pending.size() <= kControlLineBytesMax) return true;
  send_line(client.fd,
            fmt::format(
                R"({{"ok":false,"error":"request: is longer than {} bytes; send shorter lines"}})",
                kControlLineBytesMax));
  return false;
}

bool ControlSocket::send_line(int fd, std::string line) const {
  line += '\n';
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t n = send(fd, left.data(), left.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      left.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      if (!wait_for(fd, POLLOUT)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace headcrash::emulation
