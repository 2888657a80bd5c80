// headcrash serve: serves an emulated disk, or one crash state, to a QEMU guest or to any other NBD
// or vhost-user client.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/cli/attach.h"
#include "harness/cli/command.h"
#include "harness/cli/serve_vhost.h"
#include "harness/device/served_device.h"
#include "harness/device/state_server.h"
#include "harness/run/guest_kind.h"
#include "harness/vm/guest.h"
#include "plugin/base/scratch_folder.h"
#include "plugin/base/size.h"
#include "plugin/model/core/simulation.h"
#include "plugin/servers/emulation/settings.h"
#include "plugin/states/run_history.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultProfile = "hp-c2447";
constexpr const char* kDefaultClock = "real";

struct ServeArguments {
  emulation::Settings machine;  ///< the options that are rows of emulation::parameters()
  std::string socket, vhost_user, memory, control;
  std::string states, state;
  std::optional<double> charge;
  bool as_json = false, virtual_time = false;
  std::vector<std::string> command;

  bool has(std::string_view parameter) const {
    return std::ranges::find(machine.given, parameter) != machine.given.end();
  }
  std::string name() const { return machine.machine ? machine.machine->string() : machine.profile; }
};

/// A device of the machine, as described by the server.
struct Attached {
  std::string name, profile;
  std::uint64_t sectors = 0;
  std::uint32_t queue_depth = 1;
  std::vector<std::string> qemu;
};

/// Checks the combination of the options, and adds the default profile.
Result<device::ServedDeviceSpec> specification(ServeArguments& arguments) {
  emulation::Settings& machine = arguments.machine;
  if (!machine.machine && machine.profile.empty()) machine.profile = kDefaultProfile;
  TRY(machine.check("--"));
  device::ServedDeviceSpec spec{.machine = machine};
  if (!arguments.socket.empty()) spec.socket = fs::absolute(arguments.socket);
  if (!arguments.control.empty()) spec.machine.control = fs::absolute(arguments.control);
  return spec;
}

/// Returns the devices of the machine. Excludes the members of arrays.
Result<std::vector<Attached>> attached_devices(device::ServedDevice& served) {
  TRY(const auto stats, served.control().request({{"stats", "read"}}));
  std::vector<Attached> all;
  for (const auto& device : stats.at("devices")) {
    if (!device.at("parent").is_null()) continue;
    Attached one{device.at("name"),
                 device.at("profile"),
                 device.at("sectors"),
                 device.at("queue_depth"),
                 {}};
    one.qemu =
        vm::qemu_disk_arguments({.socket = served.socket(),
                                 .export_name = all.empty() ? "" : "disk/" + one.name,
                                 .physical_sector_bytes = device.at("physical_sector_bytes")},
                                all.size());
    all.push_back(std::move(one));
  }
  return all;
}

void report_how_to_attach(const device::ServedDevice& served, const std::vector<Attached>& devices,
                          const ServeArguments& arguments) {
  std::vector<std::string> words;
  nlohmann::json list = nlohmann::json::array();
  for (const Attached& one : devices) {
    words.insert(words.end(), one.qemu.begin(), one.qemu.end());
    list.push_back({{"name", one.name},
                    {"profile", one.profile},
                    {"sectors", one.sectors},
                    {"queue_depth", one.queue_depth},
                    {"export", "disk/" + one.name},
                    {"qemu", one.qemu}});
  }
  if (arguments.as_json) {
    print({{"socket", served.socket().string()},
           {"control", served.control_socket().string()},
           {"devices", std::move(list)},
           {"qemu", words}});
    std::fflush(stdout);
    return;
  }
  fmt::print("Serving {}. Press Ctrl-C to stop.\n\nFor QEMU:\n", arguments.name());
  for (const Attached& one : devices) fmt::print("  {}\n", shell_line(one.qemu));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].queue_depth != 1) continue;
    fmt::print(
        "\n{0} accepts only one request at a time. To let the guest queue and sort further "
        "requests, replace its -device with\n"
        "  -device virtio-scsi-pci,id=hcscsi{1},cmd_per_lun=1 -device "
        "scsi-hd,bus=hcscsi{1}.0,drive=hcnode{1}\n",
        devices[i].name, i);
  }
  fmt::print("\nFor other clients:\n");
  for (const Attached& one : devices)
    fmt::print("  nbdinfo 'nbd+unix:///disk/{}?socket={}'\n", one.name, served.socket().string());
  fmt::print("\nControl socket (JSON lines):\n  {}\n", served.control_socket().string());
  std::fflush(stdout);
}

/// A disk of a crash state.
struct StateDisk {
  std::string name, export_name;
  std::vector<std::string> qemu;
};

/// Returns the disks to serve: the array if there is one, otherwise the media of the state.
std::vector<StateDisk> disks_of_state(const ServeArguments& arguments,
                                      const record::RecordingHeader& header,
                                      const std::filesystem::path& socket) {
  std::vector<StateDisk> disks;
  const auto add = [&](const record::RecordedDevice& device) {
    const std::string at = device::StateServer::disk_export(0) + "/" + device.name;
    const vm::GuestDisk disk{
        .socket = socket,
        .export_name = at,
        .physical_sector_bytes = device.physical_sector_sectors * model::kSectorBytes};
    disks.push_back({device.name, at, vm::qemu_disk_arguments(disk, disks.size())});
  };
  if (arguments.machine.machine) {
    add(header.devices.front());
  } else {
    for (const record::RecordedDevice& one : header.devices)
      if (one.medium) add(one);
  }
  return disks;
}

void report_state(const ServeArguments& arguments, const std::string& state,
                  const std::filesystem::path& socket, const std::vector<StateDisk>& disks,
                  const std::vector<std::string>& words) {
  if (arguments.as_json) {
    nlohmann::json list = nlohmann::json::array();
    for (const StateDisk& disk : disks)
      list.push_back({{"name", disk.name}, {"export", disk.export_name}, {"qemu", disk.qemu}});
    print({{"socket", socket.string()},
           {"state", state},
           {"devices", std::move(list)},
           {"qemu", words}});
  } else {
    const auto& record = arguments.machine.record;
    fmt::print("Serving state {} of {}. Writes to it are {}. Press Ctrl-C to stop.\n\nFor QEMU:\n",
               state, arguments.states,
               record ? "recorded in " + record->string() : "discarded when the server ends");
    for (const StateDisk& disk : disks) fmt::print("  {}\n", shell_line(disk.qemu));
    fmt::print("\nFor other clients:\n");
    for (const StateDisk& disk : disks)
      fmt::print("  nbdinfo 'nbd+unix:///{}?socket={}'\n", disk.export_name, socket.string());
  }
  std::fflush(stdout);
}

/// Returns true if an option that applies only to emulated hardware is given.
bool describes_hardware(const ServeArguments& arguments) {
  const auto for_states = [](std::string_view name) {
    return name == "machine" || name == "record";
  };
  return !std::ranges::all_of(arguments.machine.given, for_states) || !arguments.socket.empty() ||
         !arguments.vhost_user.empty() || !arguments.memory.empty() || arguments.virtual_time ||
         arguments.charge || !arguments.control.empty();
}

/// Serves one state of a recording as a disk. Only a stack above the media, such as an array, is
/// emulated; the drive is not.
int serve_one_state(const ServeArguments& arguments) {
  if (describes_hardware(arguments))
    return report_error(
        {"--states", "serves a crash state without emulated hardware",
         "omit all other options except --state, --machine, --record, --json and a command"},
        arguments.as_json);
  const auto run = states::RunHistory::load(arguments.states);
  if (!run) return report_error(run.error(), arguments.as_json);
  const std::string state =
      !arguments.state.empty()
          ? arguments.state
          : fmt::format("{}{}", (*run)->has_media_events() ? 'p' : 'w', (*run)->events());
  catch_interrupts();
  const auto folder = base::ScratchFolder::make();
  if (!folder) return report_error(folder.error(), arguments.as_json);
  const auto server = device::StateServer::start(1, folder->path());
  if (!server) return report_error(server.error(), arguments.as_json);
  const device::StageLoad load{.stage = 0,
                               .recording = arguments.states,
                               .state = state,
                               .record = arguments.machine.record,
                               .machine = arguments.machine.machine.value_or(fs::path())};
  if (const auto loaded = (*server)->load(load); !loaded)
    return report_error(loaded.error(), arguments.as_json);

  const auto disks = disks_of_state(arguments, (*run)->header(), (*server)->socket());
  std::vector<std::string> words;
  for (const StateDisk& disk : disks) words.insert(words.end(), disk.qemu.begin(), disk.qemu.end());
  int exit_code = kFine;
  if (!arguments.command.empty()) {
    exit_code = run_command(arguments.command, words);
  } else {
    report_state(arguments, state, (*server)->socket(), disks, words);
    while (!interrupted() && (*server)->alive())
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  // Ctrl-C also sends SIGINT to the server, which then completes the recording and exits by itself.
  const bool ends_by_itself = interrupted();
  if (load.record && !ends_by_itself)
    if (const auto sealed = (*server)->seal(0); !sealed)
      return report_error(sealed.error(), arguments.as_json);
  if (const auto stopped = (*server)->stop(); !stopped && !ends_by_itself)
    return report_error(stopped.error(), arguments.as_json);
  return exit_code;
}

constexpr const char* kDefaultGuestMemory = "1G";
constexpr std::uint64_t kMiB = 1 << 20;

int serve_over_vhost(const ServeArguments& arguments, device::ServedDeviceSpec machine) {
  const auto refuse = [&](const Error& error) { return report_error(error, arguments.as_json); };
  if (!arguments.socket.empty())
    return refuse({"--socket", "applies only to NBD, but --vhost-user does not use NBD",
                   "omit one of these options"});
  if (arguments.virtual_time && !arguments.memory.empty())
    return refuse({"--memory", "applies only to QEMU, but --virtual-time is for user-mode Linux",
                   "omit --memory, and pass mem=SIZE to the guest"});
  if (arguments.virtual_time && arguments.has("clock"))
    return refuse({"--clock",
                   "cannot be combined with --virtual-time, where the guest controls the clock",
                   "omit one of these options"});
  if (arguments.charge &&
      !(*arguments.charge >= run::kChargeLeast && *arguments.charge <= run::kChargeMost))
    return refuse(
        {"--charge", fmt::format("must be from {} to {}", run::kChargeLeast, run::kChargeMost),
         "use 1 to charge the host's processor time unscaled, or omit --charge to charge none"});
  const auto& words = arguments.command;
  if (!arguments.virtual_time && std::find(words.begin(), words.end(), "-m") != words.end())
    return refuse(
        {"-m",
         "is added to the command by headcrash, because QEMU shares this memory with the server",
         "omit -m, and use --memory SIZE"});
  const auto memory = base::parse_size(
      arguments.memory.empty() ? kDefaultGuestMemory : arguments.memory, "--memory");
  if (!memory) return refuse(memory.error());
  if (*memory == 0 || *memory % kMiB != 0)
    return refuse({"--memory", arguments.memory + " is not a whole number of MiB",
                   "use, for example, 512M or 2G"});
  const fs::path socket = fs::absolute(arguments.vhost_user);
  if (!machine.machine.control) machine.machine.control = socket.string() + ".control";
  if (arguments.virtual_time)
    machine.machine.clock = {.kind = emulation::Clock::Kind::virtual_time};
  return serve_vhost({.machine = std::move(machine.machine),
                      .socket = socket,
                      .guest_memory_mib = *memory / kMiB,
                      .charge = arguments.charge.value_or(0),
                      .name = arguments.name(),
                      .as_json = arguments.as_json,
                      .command = arguments.command});
}

int serve(ServeArguments& arguments) {
  if (arguments.charge && !arguments.virtual_time)
    return report_error(
        {"--charge", "requires a guest in virtual time", "add --virtual-time, or omit --charge"},
        arguments.as_json);
  if (!arguments.states.empty()) return serve_one_state(arguments);
  if (!arguments.state.empty())
    return report_error({"--state", "needs a recording", "add --states RECORDING"},
                        arguments.as_json);
  const Result<device::ServedDeviceSpec> spec = specification(arguments);
  if (!spec) return report_error(spec.error(), arguments.as_json);
  if (!arguments.vhost_user.empty()) return serve_over_vhost(arguments, *spec);
  if (arguments.virtual_time)
    return report_error(
        {"--virtual-time", "requires a guest whose disk is attached over vhost-user",
         "add --vhost-user SOCKET"},
        arguments.as_json);
  if (!arguments.memory.empty())
    return report_error(
        {"--memory", "applies only to a guest that shares its memory over vhost-user",
         "add --vhost-user SOCKET"},
        arguments.as_json);
  catch_interrupts();
  // If the user has not named the sockets, they are in a temporary directory.
  const Result<base::ScratchFolder> folder = base::ScratchFolder::make();
  if (!folder) return report_error(folder.error(), arguments.as_json);
  auto served = device::ServedDevice::start(*spec, folder->path());
  if (!served) return report_error(served.error(), arguments.as_json);
  const auto devices = attached_devices(**served);
  if (!devices) return report_error(devices.error(), arguments.as_json);
  if (!arguments.command.empty()) {
    std::vector<std::string> words;
    for (const Attached& one : *devices)
      words.insert(words.end(), one.qemu.begin(), one.qemu.end());
    return run_command(arguments.command, words);
  }
  report_how_to_attach(**served, *devices, arguments);
  PowerReport power;
  while (!interrupted() && (*served)->alive()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto status = (*served)->control().request({{"power", "status"}});
    if (!status) continue;  // the server is about to exit, and the next alive() will be false
    const auto& last_cut = status->at("last_cut_ns");
    power.observe(status->at("power") == "on", status->at("cuts"),
                  last_cut.is_null() ? 0 : last_cut.get<model::TimeNs>());
  }
  if (const auto stopped = (*served)->stop(); !stopped)
    return report_error(stopped.error(), arguments.as_json);
  return kFine;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "serve", "Serves an emulated disk over NBD or vhost-user and prints how to attach it");
  const auto arguments = std::make_shared<ServeArguments>();
  for (const emulation::Parameter& row : emulation::parameters()) {
    if (!row.in_serve) continue;
    CLI::Option* const option =
        add_row(*command, row, [arguments, name = row.name](const std::string& value) {
          return arguments->machine.set(name, value, "--");
        });
    if (row.name == "profile") option->default_str(kDefaultProfile);
    if (row.name == "machine")
      option->description(std::string(row.help) +
                          "; with --states: the array on top of the state's media");
    if (row.name == "clock") option->default_str(kDefaultClock);
    if (row.name == "seed") option->default_str("1")->type_name("UINT");
  }
  command->add_option("--states", arguments->states,
                      "Serve a crash state of this recording, instead of emulating hardware");
  command->add_option(
      "--state", arguments->state,
      "Crash state, for example w1234-17; default: the last one, which contains all writes");
  command->add_option("--socket", arguments->socket,
                      "NBD socket; default: a socket in a folder that is removed when the server "
                      "ends");
  command->add_option(
      "--vhost-user", arguments->vhost_user,
      "Serve over vhost-user instead of NBD. The argument is the socket of the first disk; the "
      "socket of each other disk has .NAME appended");
  command->add_option("--memory", arguments->memory,
                      "With --vhost-user: size of the guest's memory, which QEMU shares with the "
                      "server; default: 1G");
  command->add_flag(
      "--virtual-time", arguments->virtual_time,
      "With --vhost-user: serve user-mode Linux in virtual time. The guest and the disk share a "
      "clock, which stops while the guest computes");
  command->add_option(
      "--charge", arguments->charge,
      "With --virtual-time: charge the host's processor time to the guest's clock, multiplied by "
      "K; default: no charge, so that times are reproducible");
  command->add_option(
      "--control", arguments->control,
      "Control socket; default: next to the NBD socket, or, with --vhost-user, SOCKET.control");
  command->add_flag("--json", arguments->as_json, "Print the sockets and QEMU's options as JSON");
  command->add_option("COMMAND", arguments->command,
                      "After --: the command to run, such as QEMU; the options of the disk are "
                      "appended");
  command->footer(
      "Examples:\n  headcrash serve --profile hp-c2447 --size 512M\n"
      "  headcrash serve --profile hp-c2447 --size 512M --store disk --record run.hcrec --cut at-flush:20\n"
      "  headcrash serve --profile raid5-5 --size 1G --fault dead:hd0.3,after-ms=60000\n"
      "  headcrash serve --profile hp-c2447 -- qemu-system-x86_64 -m 1G -nographic -cdrom installer.iso\n"
      "  headcrash serve --profile hp-c2447 --size 512M --vhost-user disk.sock\n"
      "  headcrash serve --profile hp-c2447 --size 512M --vhost-user disk.sock --virtual-time\n"
      "  headcrash serve --states run.hcrec --state w1234-17\n"
      "  headcrash serve --states array.hcrec --state p1234 --machine raid5-5");
  command->callback([arguments, &exit_code] { exit_code = serve(*arguments); });
}

}  // namespace headcrash::cli
