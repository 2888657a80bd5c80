#pragma once
// A server of emulated disks, running as a child process. It is nbdkit with headcrash's plugin or,
// for a guest in virtual time, headcrash itself.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/device/control_client.h"
#include "plugin/base/process.h"
#include "plugin/base/socket_file.h"

namespace headcrash::device {

class ServerChild {
 public:
  struct Spec {
    std::string subject;  ///< the server's name in errors, for example "the emulated device"
    std::vector<std::string> argv;
    std::filesystem::path scratch;  ///< existing directory for the server's log
    std::filesystem::path socket, control_socket;
  };
  /// Starts the server, waits until both sockets answer, and connects `control`. Fails if another
  /// server listens on a socket. If the server rejects its configuration, the error quotes its last
  /// output. Replaces sockets left by a killed server. The destructor removes both sockets.
  static Result<std::unique_ptr<ServerChild>> start(const Spec& spec);
  /// Starts nbdkit. argv consists of the plugin's parameters and control=SOCKET.
  static Result<std::unique_ptr<ServerChild>> start_nbdkit(
      Spec spec, const std::vector<std::string>& parameters);
  ~ServerChild();
  ServerChild(const ServerChild&) = delete;
  ServerChild& operator=(const ServerChild&) = delete;

  const std::filesystem::path& socket() const { return spec_.socket; }
  const std::filesystem::path& control_socket() const { return spec_.control_socket; }
  ControlClient& control() { return *control_; }
  bool alive() const { return server_.running(); }
  Error death() const;  ///< describes why the server is no longer alive

  /// Sends SIGTERM, then SIGKILL after 10 s, and waits for the server. Fails if the server had
  /// already died.
  Result<void> stop();

 private:
  ServerChild(Spec spec, base::Process server)
      : spec_(std::move(spec)), server_(std::move(server)) {}

  Spec spec_;
  base::Process server_;
  std::vector<base::SocketFile> sockets_;
  std::optional<ControlClient> control_;
};

}  // namespace headcrash::device
