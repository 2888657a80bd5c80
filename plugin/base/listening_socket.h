#pragma once
// A Unix socket that a server listens on, and its file.
//
// A socket file that nobody listens on is what a killed server left: it is replaced. One that
// somebody listens on is refused. The file goes away with the socket, unless it has become another
// server's meanwhile.

#include <filesystem>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"
#include "plugin/base/socket_file.h"

namespace headcrash::base {

class ListeningSocket {
 public:
  ListeningSocket() = default;
  /// Binds and listens, with mode 0600. REQUIRES: there are no other threads yet, since umask is
  /// the process's.
  static Result<ListeningSocket> listen(const std::filesystem::path& path, int backlog);

  int get() const { return descriptor_.get(); }  ///< non-blocking
  const std::filesystem::path& path() const { return file_.path(); }
  void remove_file() {
    file_.remove();
  }  ///< nobody finds the server any more; who is connected stays

 private:
  Descriptor descriptor_;
  SocketFile file_;
};

}  // namespace headcrash::base
