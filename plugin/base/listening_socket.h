#pragma once
// A listening Unix socket and its file.
//
// A socket file without a listener is assumed to be left over from a killed server, and is
// replaced. If another server listens on the socket, listen() fails. The destructor removes the
// file unless another server has replaced it.

#include <filesystem>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"
#include "plugin/base/socket_file.h"

namespace headcrash::base {

class ListeningSocket {
 public:
  ListeningSocket() = default;
  /// Binds and listens; the file has mode 0600. REQUIRES: the process has no other threads yet,
  /// since umask is per process.
  static Result<ListeningSocket> listen(const std::filesystem::path& path, int backlog);

  int get() const { return descriptor_.get(); }  ///< non-blocking
  const std::filesystem::path& path() const { return file_.path(); }
  void remove_file() { file_.remove(); }  ///< stops new connections; existing connections stay open

 private:
  Descriptor descriptor_;
  SocketFile file_;
};

}  // namespace headcrash::base
