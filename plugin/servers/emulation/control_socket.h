#pragma once
// The Unix socket for control requests. Each client is served by a thread, which reads a line,
// passes it to a function, and sends the returned line as the answer. stop() removes the socket's
// file.

#include <atomic>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "plugin/base/descriptor.h"
#include "plugin/base/listening_socket.h"
#include "plugin/base/result.h"

namespace headcrash::emulation {

inline constexpr std::size_t kControlLineBytesMax = 64 << 10;
inline constexpr std::size_t kControlClientsMax = 16;

class ControlSocket {
 public:
  /// May be called concurrently. `given_up()` returns true if the client has disconnected or the
  /// socket is stopping.
  using Answer =
      std::function<std::string(std::string_view line, const std::function<bool()>& given_up)>;

  /// Binds the socket (mode 0600) and listens. Starts no thread.
  static Result<std::unique_ptr<ControlSocket>> listen(const std::filesystem::path& path);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  void start(Answer answer);
  void stop();  ///< disconnects all clients, joins their threads and removes the file

 private:
  struct Client {
    int fd;
    std::thread thread;
    std::atomic<bool> finished = false;
  };
  ControlSocket() = default;
  void accept_clients();
  void admit(int fd);
  void serve(Client& client);
  bool receive(int fd, std::string& pending) const;
  bool send_line(int fd, std::string line) const;
  bool answer_lines(Client& client, std::string& pending) const;
  bool wait_for(int fd, short events) const;
  void reap();

  base::ListeningSocket listener_;
  base::Descriptor stop_fd_;  ///< an eventfd, which stop() makes readable
  std::atomic<bool> stopping_ = false;
  Answer answer_;
  std::thread acceptor_;
  std::list<Client> clients_;  ///< used only by the acceptor
};

}  // namespace headcrash::emulation
