#pragma once
// The file of a Unix socket. A server removes a stale file before it listens, and its own file
// after it stops.

#include <filesystem>
#include <string>
#include <utility>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Removes a socket file whose server no longer runs. Fails if a server listens on the socket, or
/// if the file is not a socket. Does not wait for a server to exit.
Result<void> make_way_for_socket(const std::filesystem::path& path);

/// Returns SOCKET.NAME, the path of an additional socket of the server.
inline std::filesystem::path socket_beside(std::filesystem::path socket, const std::string& name) {
  socket += "." + name;
  return socket;
}

/// Owns a socket file. The destructor removes the file unless another server has replaced it.
class SocketFile {
 public:
  SocketFile() = default;
  explicit SocketFile(std::filesystem::path path);  ///< REQUIRES: the file exists
  ~SocketFile() { remove(); }
  SocketFile(SocketFile&& other) noexcept
      : path_(std::exchange(other.path_, {})), is_(std::exchange(other.is_, {})) {}
  SocketFile& operator=(SocketFile&& other) noexcept;
  void remove();
  const std::filesystem::path& path() const { return path_; }  ///< empty if no file is owned

 private:
  using Identity = std::pair<unsigned long long, unsigned long long>;  // device and inode
  static Identity identity(const std::filesystem::path& path);

  std::filesystem::path path_;
  Identity is_;
};

}  // namespace headcrash::base
