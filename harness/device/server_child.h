#pragma once
// A server of emulated disks as a child process: started, waited for until both its sockets answer,
// and ended in order. It is nbdkit with headcrash's plugin, or the command itself for a guest in
// virtual time.

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
    std::string subject;  ///< in errors: "the emulated device"
    std::vector<std::string> argv;
    std::filesystem::path scratch;  ///< existing folder, for its words
    std::filesystem::path socket, control_socket;
  };
  /// Errors are the server's own last words when it refuses the configuration, or that another
  /// server listens on a socket. `control` is connected. Both sockets go with the child; those of
  /// servers that were killed are replaced.
  static Result<std::unique_ptr<ServerChild>> start(const Spec& spec);
  /// With the plugin's parameters in place of argv; control= is added.
  static Result<std::unique_ptr<ServerChild>> start_nbdkit(
      Spec spec, const std::vector<std::string>& parameters);
  ~ServerChild();
  ServerChild(const ServerChild&) = delete;
  ServerChild& operator=(const ServerChild&) = delete;

  const std::filesystem::path& socket() const { return spec_.socket; }
  const std::filesystem::path& control_socket() const { return spec_.control_socket; }
  ControlClient& control() { return *control_; }
  bool alive() const { return server_.running(); }
  Error death() const;  ///< why it is not alive any more

  /// SIGTERM, then SIGKILL after 10 s, and waits. Errors: it had died on its own before.
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
