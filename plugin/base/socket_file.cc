#include "plugin/base/socket_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "plugin/base/descriptor.h"
#include "plugin/base/errno_text.h"

namespace headcrash::base {
namespace {

namespace fs = std::filesystem;

/// Returns true if a server listens on the socket, that is, if the kernel does not refuse a
/// connection. A full backlog (EAGAIN) also means that a server listens.
Result<bool> somebody_listens(const fs::path& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.native().size());
  const Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor.is_open())
    return fail(path.string(), "cannot create a socket: " + errno_text(errno),
                "raise the limit on open files (ulimit -n)");
  const bool connected =
      ::connect(descriptor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return connected || errno != ECONNREFUSED;
}

}  // namespace

Result<void> make_way_for_socket(const fs::path& path) {
  constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.native().size() > kLongest)
    return fail(path.string(),
                "is too long for a Unix socket (at most " + std::to_string(kLongest) + " bytes)",
                "use a shorter path");
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode))
    return fail(path.string(), "exists and is not a socket", "choose another path");
  TRY(const auto alive, somebody_listens(path));
  if (alive)
    return fail(path.string(), "another server listens on it",
                "stop that server, or choose another path");
  if (::unlink(path.c_str()) != 0)
    return fail(path.string(),
                "is left over from an earlier server and cannot be removed: " + errno_text(errno),
                "remove the file, or choose another path");
  return {};
}

SocketFile::SocketFile(fs::path path) : path_(std::move(path)), is_(identity(path_)) {}

SocketFile& SocketFile::operator=(SocketFile&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    is_ = other.is_;
  }
  return *this;
}

void SocketFile::remove() {
  if (!path_.empty() && identity(path_) == is_) ::unlink(path_.c_str());
  path_.clear();
}

SocketFile::Identity SocketFile::identity(const fs::path& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

}  // namespace headcrash::base
