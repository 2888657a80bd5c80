#include "plugin/servers/vhost/machine_server.h"

#include <fmt/format.h>

#include "plugin/base/invariant.h"

namespace headcrash::vhost {
namespace {

constexpr int kBacklog = 4;

}  // namespace

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
    auto server = Server::start(
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
