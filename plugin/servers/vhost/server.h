#pragma once
// Serves the clients of one disk, one at a time. Other clients wait until the current one has
// disconnected.

#include <functional>
#include <memory>
#include <thread>

#include "plugin/base/descriptor.h"
#include "plugin/base/listening_socket.h"
#include "plugin/base/result.h"
#include "plugin/servers/vhost/session.h"

namespace headcrash::vhost {

class Server {
 public:
  /// Receives, on the server's thread, the error of a client that violates the protocol.
  using Report = std::function<void(const Error&)>;

  static Result<std::unique_ptr<Server>> start(base::ListeningSocket socket, Disk disk,
                                               const SessionOptions& options, Report report);
  /// Removes the socket's file, stops accepting requests, and waits for the requests in flight.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void begin_to_stop() const;  ///< stops accepting requests

 private:
  Server() = default;
  void run();
  bool wait_for_client();

  base::ListeningSocket listener_;
  base::Descriptor stop_;
  Disk disk_;
  SessionOptions options_;
  Report report_;
  std::thread thread_;
};

}  // namespace headcrash::vhost
