#include "plugin/base/listening_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "plugin/base/errno_text.h"

namespace headcrash::base {
namespace {

/// Binds the socket so that its file is created with mode 0600.
int bind_private(int fd, const sockaddr_un& address) {
  const mode_t before = ::umask(0177);
  const int error =
      ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  ::umask(before);
  return error;
}

}  // namespace

Result<ListeningSocket> ListeningSocket::listen(const std::filesystem::path& path, int backlog) {
  TRY(make_way_for_socket(path));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.native().size());

  ListeningSocket made;
  made.descriptor_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.descriptor_.is_open())
    return fail(path, "cannot create a socket: " + errno_text(errno),
                "raise the limit on open files (ulimit -n)");
  if (const int error = bind_private(made.get(), address); error != 0)
    return fail(path, "cannot bind: " + errno_text(error), "check the folder and its permissions");
  made.file_ = SocketFile(path);
  if (::listen(made.get(), backlog) != 0)
    return fail(path, "cannot listen: " + errno_text(errno), "choose another path");
  return made;
}

}  // namespace headcrash::base
