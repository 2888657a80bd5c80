// The Unix socket of the control commands (control_socket.h).
#include "plugin/emulation/control_socket.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace headcrash::emulation {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// Whether somebody listens on the socket file. Does not wait: one whose backlog is full (EAGAIN) is alive.
bool is_alive(const sockaddr_un& address) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return true;
  const bool refused =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno == ECONNREFUSED;
  close(fd);
  return !refused;
}

/// bind(2) so that the file has mode 0600 from its first instant. Only before threads exist: umask is the
/// process's.
int bind_private(int fd, const sockaddr_un& address) {
  const mode_t before = umask(0177);
  const int error = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  umask(before);
  return error;
}

}  // namespace

Result<std::unique_ptr<ControlSocket>> ControlSocket::listen(const std::filesystem::path& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path)
    return fail(path,
                fmt::format("is longer than the {} bytes of a socket's name", sizeof address.sun_path - 1),
                "use a shorter path");
  std::memcpy(address.sun_path, path.c_str(), path.native().size());

  std::unique_ptr<ControlSocket> self(new ControlSocket());
  self->listen_fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  self->stop_fd_ = eventfd(0, EFD_CLOEXEC);
  if (self->listen_fd_ < 0 || self->stop_fd_ < 0)
    return fail(path, "no socket: " + reason(errno), "close other files");
  int error = bind_private(self->listen_fd_, address);
  if (error == EADDRINUSE) {
    struct stat status = {};
    if (lstat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode))
      return fail(path, "exists and is not a socket", "choose another path");
    if (is_alive(address))
      return fail(path, "another server listens on it", "stop that one, or choose another path");
    unlink(path.c_str());
    error = bind_private(self->listen_fd_, address);
  }
  if (error != 0)
    return fail(path, "cannot be made: " + reason(error), "check the folder and its permissions");
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0)
    return fail(path, "vanished: " + reason(errno), "choose another path");
  self->path_ = path;
  self->device_ = status.st_dev;
  self->inode_ = status.st_ino;
  if (::listen(self->listen_fd_, kControlClientsMax) != 0)
    return fail(path, "cannot listen: " + reason(errno), "choose another path");
  return self;
}

ControlSocket::~ControlSocket() {
  stop();
  if (listen_fd_ >= 0) close(listen_fd_);
  if (stop_fd_ >= 0) close(stop_fd_);
}

void ControlSocket::start(Answer answer) {
  answer_ = std::move(answer);
  acceptor_ = std::thread([this] { accept_clients(); });
}

void ControlSocket::stop() {
  if (stopping_.exchange(true)) return;
  const std::uint64_t one = 1;
  static_cast<void>(!write(stop_fd_, &one, sizeof one));
  if (acceptor_.joinable()) acceptor_.join();
  for (Client& client : clients_) client.thread.join();
  clients_.clear();
  struct stat status = {};
  if (!path_.empty() && lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_)
    unlink(path_.c_str());
}

/// True when `fd` is ready, false when the socket is stopping.
bool ControlSocket::wait_for(int fd, short events) const {
  std::array<pollfd, 2> fds = {pollfd{fd, events, 0}, pollfd{stop_fd_, POLLIN, 0}};
  while (poll(fds.data(), fds.size(), -1) < 0)
    if (errno != EINTR) return false;
  return !stopping_ && fds[1].revents == 0;
}

void ControlSocket::accept_clients() {
  while (wait_for(listen_fd_, POLLIN)) {
    reap();
    const int fd = accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      admit(fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the client stays in the backlog
    }
  }
}

void ControlSocket::admit(int fd) {
  if (clients_.size() >= kControlClientsMax) {
    send_line(fd,
              fmt::format(R"({{"ok":false,"error":"control socket: {} clients are connected; close one"}})",
                          kControlClientsMax));
    close(fd);
    return;
  }
  Client& client = clients_.emplace_back();
  client.fd = fd;
  try {
    client.thread = std::thread([this, &client] { serve(client); });
  } catch (const std::system_error&) {  // no more threads: the client sees its connection closed
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
        pending += '\n';  // a last line without its end
      if (!answer_lines(client, pending)) break;
    }
  } catch (const std::exception&) {  // out of memory: this client loses its connection, nobody else anything
  }
  close(client.fd);
  client.finished = true;
}

/// Appends what has come; false at the end of the stream.
bool ControlSocket::receive(int fd, std::string& pending) const {
  std::array<char, 4096> bytes;
  const ssize_t n = recv(fd, bytes.data(), bytes.size(), 0);
  if (n > 0) pending.append(bytes.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/// Answers every whole line in `pending` and leaves the rest there; false when the client is to go.
bool ControlSocket::answer_lines(Client& client, std::string& pending) const {
  const auto given_up = [&] {
    pollfd peer = {client.fd, 0, 0};
    return stopping_ || (poll(&peer, 1, 0) > 0 && (peer.revents & (POLLHUP | POLLERR)) != 0);
  };
  std::size_t begin = 0;
  for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n', begin)) {
    if (end - begin > kControlLineBytesMax) break;
    if (!send_line(client.fd, answer_(std::string_view(pending).substr(begin, end - begin), given_up)))
      return false;
    begin = end + 1;
  }
  pending.erase(0, begin);
  if (pending.size() <= kControlLineBytesMax) return true;
  send_line(client.fd,
            fmt::format(R"({{"ok":false,"error":"request: is longer than {} bytes; send shorter lines"}})",
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
