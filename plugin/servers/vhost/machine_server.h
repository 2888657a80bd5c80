#pragma once
// Serves an emulated machine over vhost-user, with a socket for each of its disks and one for its
// marks.
//
//   SOCKET         the machine's first disk
//   SOCKET.NAME    each other disk
//   SOCKET.mark    a 4 KiB disk that accepts marks (plugin/servers/emulation/mark_disk.h)

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/base/listening_socket.h"
#include "plugin/base/result.h"
#include "plugin/servers/emulation/emulation.h"
#include "plugin/servers/vhost/session.h"

namespace headcrash::vhost {

/// Returns the socket path of each disk, as described at the beginning of this file. `disks` must
/// not be empty.
std::vector<std::filesystem::path> disk_sockets_of(const std::filesystem::path& socket,
                                                   const std::vector<std::string>& disks);

class MachineServer {
 public:
  /// Receives, on any thread, lines about failed requests and disconnected clients.
  using Log = std::function<void(const std::string&)>;

  /// Listens for disks with these names. REQUIRES: the process has no other threads yet.
  static Result<std::unique_ptr<MachineServer>> listen(const std::filesystem::path& socket,
                                                       const std::vector<std::string>& disks);
  ~MachineServer();
  MachineServer(const MachineServer&) = delete;
  MachineServer& operator=(const MachineServer&) = delete;

  /// Serves `emulation`, which must have the disks passed to listen() and outlive this object.
  /// Fails if no thread can be started.
  Result<void> start(emulation::Emulation& emulation, const SessionOptions& options, Log log);
  /// Disconnects the clients once their requests have ended. To abort these requests, call
  /// Emulation::shut_down() first. Removes the socket files.
  void stop();

  const std::vector<std::filesystem::path>& disk_sockets() const { return disk_paths_; }
  const std::filesystem::path& mark_socket() const { return mark_path_; }

 private:
  /// Serves the clients of one disk, one at a time. Other clients wait until the current one has
  /// disconnected.
  class DiskServer;

  MachineServer();

  std::vector<std::filesystem::path> disk_paths_;
  std::filesystem::path mark_path_;
  /// Sockets of the disks, followed by the socket of the mark disk. Not used after start().
  std::vector<base::ListeningSocket> sockets_;
  emulation::FailureLog failures_;
  std::vector<std::unique_ptr<DiskServer>> servers_;
};

}  // namespace headcrash::vhost
