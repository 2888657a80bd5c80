// Binding, and the file of a server that has been killed (listening_socket.h).
#include "plugin/base/listening_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "plugin/base/errno_text.h"

namespace headcrash::base {
namespace {

/// Whether somebody listens on the socket file. Does not wait: one whose backlog is full (EAGAIN) is alive.
bool is_alive(const sockaddr_un& address) {
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.is_open()) return true;
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno != ECONNREFUSED;
}

/// bind(2) so that the file has mode 0600 from its first instant.
int bind_private(int fd, const sockaddr_un& address) {
  const mode_t before = ::umask(0177);
  const int error = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  ::umask(before);
  return error;
}

}  // namespace

Result<ListeningSocket> ListeningSocket::listen(const std::filesystem::path& path, int backlog) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path)
    return fail(path,
                fmt::format("is longer than the {} bytes of a socket's name", sizeof address.sun_path - 1),
                "use a shorter path");
  std::memcpy(address.sun_path, path.c_str(), path.native().size());

  ListeningSocket made;
  made.descriptor_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.descriptor_.is_open()) return fail(path, "no socket: " + errno_text(errno), "close other files");
  int error = bind_private(made.get(), address);
  if (error == EADDRINUSE) {
    struct stat status = {};
    if (::lstat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode))
      return fail(path, "exists and is not a socket", "choose another path");
    if (is_alive(address))
      return fail(path, "another server listens on it", "stop that one, or choose another path");
    ::unlink(path.c_str());
    error = bind_private(made.get(), address);
  }
  if (error != 0)
    return fail(path, "cannot be made: " + errno_text(error), "check the folder and its permissions");
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0)
    return fail(path, "vanished: " + errno_text(errno), "choose another path");
  made.path_ = path;
  made.device_ = status.st_dev;
  made.inode_ = status.st_ino;
  if (::listen(made.get(), backlog) != 0)
    return fail(path, "cannot listen: " + errno_text(errno), "choose another path");
  return made;
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      path_(std::exchange(other.path_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

ListeningSocket& ListeningSocket::operator=(ListeningSocket&& other) noexcept {
  if (this != &other) {
    remove_file();
    descriptor_ = std::move(other.descriptor_);
    path_ = std::exchange(other.path_, {});
    device_ = other.device_;
    inode_ = other.inode_;
  }
  return *this;
}

void ListeningSocket::remove_file() {
  struct stat status = {};
  if (!path_.empty() && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_)
    ::unlink(path_.c_str());
  path_.clear();
}

}  // namespace headcrash::base
