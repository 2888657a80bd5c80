#include "plugin/servers/vhost/machine_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <thread>

#include "plugin/base/descriptor.h"
#include "plugin/base/errno_text.h"
#include "plugin/base/invariant.h"

namespace headcrash::vhost {
namespace {

constexpr int kBacklog = 4;
constexpr int kNoDescriptorsPauseMs = 100;

}  // namespace

class MachineServer::DiskServer {
 public:
  /// Receives, on the server's thread, the error of a client that violates the protocol.
  using Report = std::function<void(const Error&)>;

  static Result<std::unique_ptr<DiskServer>> start(base::ListeningSocket socket, Disk disk,
                                                   const SessionOptions& options, Report report);
  /// Removes the socket's file, stops accepting requests, and waits for the requests in flight.
  ~DiskServer();
  DiskServer(const DiskServer&) = delete;
  DiskServer& operator=(const DiskServer&) = delete;

  void begin_to_stop() const;  ///< stops accepting requests

 private:
  DiskServer() = default;
  void run();
  bool wait_for_client();

  base::ListeningSocket listener_;
  base::Descriptor stop_;
  Disk disk_;
  SessionOptions options_;
  Report report_;
  std::thread thread_;
};

Result<std::unique_ptr<MachineServer::DiskServer>> MachineServer::DiskServer::start(
    base::ListeningSocket socket, Disk disk, const SessionOptions& options, Report report) {
  std::unique_ptr<DiskServer> self(new DiskServer());
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

MachineServer::DiskServer::~DiskServer() {
  begin_to_stop();
  if (thread_.joinable()) thread_.join();
}

void MachineServer::DiskServer::begin_to_stop() const {
  const std::uint64_t one = 1;
  if (stop_.is_open()) static_cast<void>(::write(stop_.get(), &one, sizeof one) == sizeof one);
}

/// Waits for a client. Returns false if the server is stopping.
bool MachineServer::DiskServer::wait_for_client() {
  pollfd watched[2] = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  while (::poll(watched, 2, -1) < 0 && errno == EINTR) {
  }
  return watched[0].revents == 0;
}

void MachineServer::DiskServer::run() {
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

MachineServer::MachineServer() = default;

MachineServer::~MachineServer() {
  stop();
}

std::vector<std::filesystem::path> disk_sockets_of(const std::filesystem::path& socket,
                                                   const std::vector<std::string>& disks) {
  std::vector<std::filesystem::path> paths{socket};
  for (std::size_t i = 1; i < disks.size(); ++i)
    paths.push_back(base::socket_beside(socket, disks[i]));
  return paths;
}

Result<std::unique_ptr<MachineServer>> MachineServer::listen(
    const std::filesystem::path& socket, const std::vector<std::string>& disks) {
  std::unique_ptr<MachineServer> self(new MachineServer());
  self->disk_paths_ = disk_sockets_of(socket, disks);
  self->mark_path_ = base::socket_beside(socket, emulation::kMarkDiskName);
  std::vector<std::filesystem::path> all = self->disk_paths_;
  all.push_back(self->mark_path_);
  for (const std::filesystem::path& path : all) {
    TRY(auto listening, base::ListeningSocket::listen(path, kBacklog));
    self->sockets_.push_back(std::move(listening));
  }
  return self;
}

Result<void> MachineServer::start(emulation::Emulation& emulation, const SessionOptions& options,
                                  Log log) {
  invariant(sockets_.size() == emulation.device_count() + 1,
            "there must be a socket for each disk and one for marks");
  const auto add = [&](Disk disk,
                       const std::function<emulation::Answer(const model::Request&)>& serve) {
    const std::string name = disk.name;
    disk.serve = [this, name, serve, log](const model::Request& request) {
      return failures_.note(name, request, serve(request), log);
    };
    auto server = DiskServer::start(
        std::move(sockets_[servers_.size()]), std::move(disk), options,
        [log, name](const Error& error) {
          log(fmt::format("{}: its client was disconnected: {}", name, error.message()));
        });
    if (!server) return Result<void>(forward_error(server));
    servers_.push_back(std::move(*server));
    return Result<void>();
  };
  for (std::size_t i = 0; i < emulation.device_count(); ++i) {
    const model::Characteristics& device = emulation.characteristics(i);
    auto added =
        add({.name = emulation.device_name(i),
             .sectors = device.sectors,
             .physical_sector_sectors = device.physical_sector_sectors,
             .trim = device.trim,
             .answers_at_once = [&emulation] { return emulation.answers_at_once(); }},
            [&emulation, i](const model::Request& request) { return emulation.serve(i, request); });
    if (!added) return added;
  }
  return add(
      {.name = emulation::kMarkDiskName,
       .sectors = emulation::kMarkDiskBytes / model::kSectorBytes,
       .answers_at_once = [] { return true; }},
      [&emulation](const model::Request& request) { return emulation.serve_marks(request); });
}

void MachineServer::stop() {
  for (const auto& server : servers_) server->begin_to_stop();
  servers_.clear();
  sockets_.clear();
}

}  // namespace headcrash::vhost
