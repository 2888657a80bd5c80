#pragma once
// The file of a Unix socket that a server is to listen on, and of what it leaves behind.

#include <filesystem>
#include <string>
#include <utility>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Removes a socket on which nobody listens any more (its server was killed). Errors: a server
/// listens on it, or it is something else than a socket. Does not wait for that server.
Result<void> make_way_for_socket(const std::filesystem::path& path);

/// SOCKET.NAME, for a server that has several.
inline std::filesystem::path socket_beside(std::filesystem::path socket, const std::string& name) {
  socket += "." + name;
  return socket;
}

/// Removes a socket at its end, if the file is still the one that was there when it was made.
class SocketFile {
 public:
  SocketFile() = default;
  explicit SocketFile(std::filesystem::path path);  ///< that exists now
  ~SocketFile() { remove(); }
  SocketFile(SocketFile&& other) noexcept
      : path_(std::exchange(other.path_, {})), is_(std::exchange(other.is_, {})) {}
  SocketFile& operator=(SocketFile&& other) noexcept;
  void remove();
  const std::filesystem::path& path() const { return path_; }  ///< empty: there is no file of ours

 private:
  using Identity = std::pair<unsigned long long, unsigned long long>;  // device and inode
  static Identity identity(const std::filesystem::path& path);

  std::filesystem::path path_;
  Identity is_;
};

}  // namespace headcrash::base
