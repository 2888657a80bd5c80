// Serves one crash state to a QEMU guest or to any other NBD client (serve_state.h).
#include "harness/cli/serve_state.h"

#include <fmt/format.h>

#include <thread>

#include "harness/cli/attach.h"
#include "harness/cli/command.h"
#include "harness/device/state_server.h"
#include "harness/vm/guest.h"
#include "plugin/base/scratch_folder.h"
#include "plugin/states/run_history.h"

namespace headcrash::cli {
namespace {

struct ServedDisk {
  std::string name, export_name;
  std::vector<std::string> qemu;
};

/// Returns the disks to serve: the array if there is one, otherwise the media of the state.
std::vector<ServedDisk> disks_of(const ServeState& what, const record::RecordingHeader& header,
                                 const std::filesystem::path& socket) {
  std::vector<ServedDisk> disks;
  const auto add = [&](const record::RecordedDevice& device) {
    const std::string at = device::StateServer::disk_export(0) + "/" + device.name;
    const vm::GuestDisk disk{
        .socket = socket,
        .export_name = at,
        .physical_sector_bytes = device.physical_sector_sectors * model::kSectorBytes};
    disks.push_back({device.name, at, vm::qemu_disk_arguments(disk, disks.size())});
  };
  if (!what.machine.empty()) {
    add(header.devices.front());
  } else {
    for (const record::RecordedDevice& one : header.devices)
      if (one.medium) add(one);
  }
  return disks;
}

void report_how(const ServeState& what, const std::string& state,
                const std::filesystem::path& socket, const std::vector<ServedDisk>& disks,
                const std::vector<std::string>& words) {
  if (what.as_json) {
    nlohmann::json list = nlohmann::json::array();
    for (const ServedDisk& disk : disks)
      list.push_back({{"name", disk.name}, {"export", disk.export_name}, {"qemu", disk.qemu}});
    print({{"socket", socket.string()},
           {"state", state},
           {"devices", std::move(list)},
           {"qemu", words}});
  } else {
    fmt::print(
        "Serving state {} of {}. Writes to it are {}. Press Ctrl-C to stop.\n\nFor QEMU:\n", state,
        what.recording,
        what.record.empty() ? "discarded when the server ends" : "recorded in " + what.record);
    for (const ServedDisk& disk : disks) fmt::print("  {}\n", shell_line(disk.qemu));
    fmt::print("\nFor other clients:\n");
    for (const ServedDisk& disk : disks)
      fmt::print("  nbdinfo 'nbd+unix:///{}?socket={}'\n", disk.export_name, socket.string());
  }
  std::fflush(stdout);
}

}  // namespace

int serve_state(const ServeState& what) {
  const auto run = states::RunHistory::load(what.recording);
  if (!run) return report_error(run.error(), what.as_json);
  const std::string state =
      !what.state.empty()
          ? what.state
          : fmt::format("{}{}", (*run)->has_media_events() ? 'p' : 'w', (*run)->events());
  catch_interrupts();
  const auto folder = base::ScratchFolder::make();
  if (!folder) return report_error(folder.error(), what.as_json);
  const auto server = device::StateServer::start(1, folder->path());
  if (!server) return report_error(server.error(), what.as_json);
  device::StageLoad load{
      .stage = 0, .recording = what.recording, .state = state, .machine = what.machine};
  if (!what.record.empty()) load.record = what.record;
  if (const auto loaded = (*server)->load(load); !loaded)
    return report_error(loaded.error(), what.as_json);

  const auto disks = disks_of(what, (*run)->header(), (*server)->socket());
  std::vector<std::string> words;
  for (const ServedDisk& disk : disks)
    words.insert(words.end(), disk.qemu.begin(), disk.qemu.end());
  int exit_code = kFine;
  if (!what.command.empty()) {
    exit_code = run_command(what.command, words);
  } else {
    report_how(what, state, (*server)->socket(), disks, words);
    while (!interrupted() && (*server)->alive())
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  // Ctrl-C also sends SIGINT to the server, which then completes the recording and exits by itself.
  const bool ends_by_itself = interrupted();
  if (!what.record.empty() && !ends_by_itself)
    if (const auto sealed = (*server)->seal(0); !sealed)
      return report_error(sealed.error(), what.as_json);
  if (const auto stopped = (*server)->stop(); !stopped && !ends_by_itself)
    return report_error(stopped.error(), what.as_json);
  return exit_code;
}

}  // namespace headcrash::cli
