#include "plugin/servers/vhost/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include "plugin/base/errno_text.h"

namespace headcrash::vhost {
namespace {

constexpr int kNoDescriptorsPauseMs = 100;

}  // namespace

Result<std::unique_ptr<Server>> Server::start(base::ListeningSocket socket, Disk disk,
                                              const SessionOptions& options, Report report) {
  std::unique_ptr<Server> self(new Server());
  self->listener_ = std::move(socket);
  self->stop_ = base::Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!self->stop_.is_open())
    return fail(self->listener_.path(), base::errno_text(errno),
                "raise the limit on open files (ulimit -n)");
  self->disk_ = std::move(disk);
  self->options_ = options;
  self->report_ = std::move(report);
  try {
    self->thread_ = std::thread([server = self.get()] { server->run(); });
  } catch (const std::system_error& error) {
    return fail(self->listener_.path(), "cannot start a thread", error.what());
  }
  return self;
}

Server::~Server() {
  begin_to_stop();
  if (thread_.joinable()) thread_.join();
}

void Server::begin_to_stop() const {
  const std::uint64_t one = 1;
  if (stop_.is_open()) static_cast<void>(::write(stop_.get(), &one, sizeof one) == sizeof one);
}

/// Waits for a client. Returns false if the server is stopping.
bool Server::wait_for_client() {
  pollfd watched[2] = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  while (::poll(watched, 2, -1) < 0 && errno == EINTR) {
  }
  return watched[0].revents == 0;
}

void Server::run() {
  while (wait_for_client()) {
    const base::Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.is_open()) {
      // No descriptor is available. The client stays in the backlog, so poll() would report it
      // again at once. The thread therefore pauses first.
      pollfd stop = {stop_.get(), POLLIN, 0};
      ::poll(&stop, 1, kNoDescriptorsPauseMs);
      continue;
    }
    try {
      const auto served = serve_client(client.get(), stop_.get(), disk_, options_);
      if (!served) report_(served.error());
    } catch (const std::exception& error) {
      // An exception (such as std::bad_alloc) disconnects only this client.
      report_({"vhost-user", error.what(), ""});
    }
  }
}

}  // namespace headcrash::vhost
