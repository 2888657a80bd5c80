// Serves the machine and prints the options with which QEMU attaches it (serve_vhost.h).
#include "harness/cli/serve_vhost.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/cli/attach.h"
#include "harness/cli/command.h"
#include "plugin/servers/emulation/served_machine.h"
#include "plugin/servers/timetravel/calendar.h"
#include "plugin/servers/timetravel/emulated_hardware.h"
#include "plugin/servers/vhost/machine_server.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

/// Maximum number of queues in the printed options. The guest's kernel uses one queue for each
/// processor.
constexpr std::uint16_t kQueuesPrinted = 4;

/// While this object exists, newly started threads block SIGINT, SIGTERM and SIGHUP, so that only
/// the main thread receives these signals.
class InterruptsBlocked {
 public:
  InterruptsBlocked() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~InterruptsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  InterruptsBlocked(const InterruptsBlocked&) = delete;
  InterruptsBlocked& operator=(const InterruptsBlocked&) = delete;

 private:
  sigset_t before_ = {};
};

struct Served {
  std::unique_ptr<emulation::ServedMachine> machine;
  /// Declared before `calendar`, which uses it.
  std::unique_ptr<timetravel::EmulatedHardware> hardware;
  std::unique_ptr<vhost::MachineServer> disks;     ///< null in virtual time
  std::unique_ptr<timetravel::Calendar> calendar;  ///< null in real time
};

/// Performs all steps that can fail because of an invalid configuration, but starts no threads and
/// serves nothing yet.
Result<Served> open(const ServeVhost& what) {
  Served served;
  TRY(auto hardware, emulation::load_hardware(what.machine));
  std::vector<std::string> names;
  names.reserve(hardware.plan.devices.size());
  for (const auto& device : hardware.plan.devices) names.push_back(device.name);
  if (what.virtual_time()) {
    TRY(auto calendar, timetravel::Calendar::listen(what.socket, names));
    served.calendar = std::move(calendar);
  } else {
    TRY(auto disks, vhost::MachineServer::listen(what.socket, names));
    served.disks = std::move(disks);
  }
  TRY(auto machine, emulation::ServedMachine::open(what.machine, std::move(hardware)));
  served.machine = std::move(machine);
  return served;
}

/// Returns QEMU's options for keeping the guest's memory in a shared file.
std::vector<std::string> memory_words(std::uint64_t mib) {
  const std::string size = fmt::format("{}M", mib);
  return {"-m",       size,
          "-object",  fmt::format("memory-backend-memfd,id=hcmem,size={},share=on", size),
          "-machine", "memory-backend=hcmem"};
}

std::vector<std::string> disk_words(const std::string& id, const fs::path& socket,
                                    std::uint16_t queues) {
  std::string path = socket.string();
  for (std::size_t at = path.find(','); at != std::string::npos; at = path.find(',', at + 2))
    path.insert(at, ",");
  return {"-chardev", fmt::format("socket,id={},path={}", id, path), "-device",
          fmt::format("vhost-user-blk-pci,chardev={},num-queues={}", id, queues)};
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

void report_how_to_attach(const ServeVhost& what, Served& served,
                          const std::vector<std::string>& memory,
                          const std::vector<std::vector<std::string>>& disks) {
  emulation::Emulation& machine = served.machine->emulation();
  const fs::path& marks = served.disks->mark_socket();
  const std::vector<std::string> mark_words = disk_words("hcmark", marks, 1);
  const std::string control = what.machine.control->string();
  if (what.as_json) {
    nlohmann::json list = nlohmann::json::array();
    std::vector<std::string> words = memory;
    for (std::size_t i = 0; i < disks.size(); ++i) {
      const model::Characteristics& device = machine.characteristics(i);
      list.push_back({{"name", machine.device_name(i)},
                      {"profile", device.profile},
                      {"sectors", device.sectors},
                      {"queue_depth", device.queue_depth},
                      {"socket", served.disks->disk_sockets()[i].string()},
                      {"qemu", disks[i]}});
      append(words, disks[i]);
    }
    print({{"control", control},
           {"mark", {{"socket", marks.string()}, {"qemu", mark_words}}},
           {"devices", std::move(list)},
           {"qemu_memory", memory},
           {"qemu", words}});
  } else {
    fmt::print(
        "Serving {} over vhost-user. Press Ctrl-C to stop.\n\n"
        "For QEMU, which shares the guest's memory (--memory for another size):\n  {}\n",
        what.name, shell_line(memory));
    for (const auto& words : disks) fmt::print("  {}\n", shell_line(words));
    fmt::print(
        "\nTo let the guest set marks, attach another disk:\n  {}\n\nControl socket (JSON "
        "lines):\n  {}\n",
        shell_line(mark_words), control);
  }
  std::fflush(stdout);
}

/// Returns the arguments of a user-mode Linux guest. The socket of the disk for marks is inserted
/// second, because all guests see this disk as the second one.
std::vector<std::string> user_mode_words(const timetravel::Calendar& calendar) {
  std::vector<fs::path> disks = calendar.disk_sockets();
  disks.insert(disks.begin() + 1, calendar.mark_socket());
  disks.push_back(calendar.port_socket());
  std::vector<std::string> words{"time-travel=ext:" + calendar.time_socket().string()};
  for (const fs::path& disk : disks)
    words.push_back(fmt::format("virtio_uml.device={}:2", disk.string()));
  return words;
}

void report_how_to_start(const ServeVhost& what, Served& served,
                         const std::vector<std::string>& words) {
  emulation::Emulation& machine = served.machine->emulation();
  const std::string control = what.machine.control->string();
  const std::string agent = served.calendar->agent_socket().string();
  if (what.as_json) {
    nlohmann::json list = nlohmann::json::array();
    for (std::size_t i = 0; i < machine.device_count(); ++i) {
      const model::Characteristics& device = machine.characteristics(i);
      list.push_back({{"name", machine.device_name(i)},
                      {"profile", device.profile},
                      {"sectors", device.sectors},
                      {"queue_depth", device.queue_depth},
                      {"socket", served.calendar->disk_sockets()[i].string()}});
    }
    print({{"control", control}, {"agent", agent}, {"devices", std::move(list)}, {"linux", words}});
  } else {
    fmt::print(
        "Serving {} in virtual time. Press Ctrl-C to stop.\n\nFor user-mode Linux, built with "
        "UML_TIME_TRAVEL_SUPPORT and VIRTIO_UML (scripts/build-guest --uml):\n"
        "  GLIBC_TUNABLES=glibc.pthread.rseq=0 LINUX mem=256M initrd=INITRAMFS {}\n\n"
        "Disks in the guest: /dev/vda is {}, /dev/vdb takes marks, and the last disk is for the "
        "agent.\n"
        "Socket of the agent (JSON lines):\n  {}\n\nControl socket (JSON lines):\n  {}\n",
        what.name, shell_line(words), machine.device_name(0), agent, control);
  }
  std::fflush(stdout);
}

int wait_for_interrupt(Served& served) {
  PowerReport power;
  while (!interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const emulation::PowerStatus status = served.machine->emulation().power_status();
    power.observe(status.power == model::PowerState::on, status.cuts,
                  status.last_cut_at.value_or(0));
  }
  return kFine;
}

int serve_virtual_until_the_end(const ServeVhost& what, Served& served) {
  const std::vector<std::string> words = user_mode_words(*served.calendar);
  if (!what.command.empty()) return run_command(what.command, words);
  report_how_to_start(what, served, words);
  return wait_for_interrupt(served);
}

int serve_until_the_end(const ServeVhost& what, Served& served) {
  emulation::Emulation& machine = served.machine->emulation();
  const std::vector<std::string> memory = memory_words(what.guest_memory_mib);
  std::vector<std::vector<std::string>> disks;
  disks.reserve(machine.device_count());
  for (std::size_t i = 0; i < machine.device_count(); ++i)
    disks.push_back(
        disk_words(fmt::format("hcvhost{}", i), served.disks->disk_sockets()[i], kQueuesPrinted));
  if (!what.command.empty()) {
    std::vector<std::string> words = memory;
    for (const auto& one : disks) append(words, one);
    return run_command(what.command, words);
  }
  report_how_to_attach(what, served, memory, disks);
  return wait_for_interrupt(served);
}

Result<void> start_serving(Served& served, double charge) {
  const auto log = [](const std::string& line) { fmt::print(stderr, "headcrash: {}\n", line); };
  emulation::Emulation& machine = served.machine->emulation();
  if (served.calendar) {
    served.hardware = std::make_unique<timetravel::EmulatedHardware>(machine, log);
    return served.calendar->start(*served.hardware, {.charge = charge}, log);
  }
  return served.disks->start(machine, {.queues = vhost::kQueuesMax}, log);
}

}  // namespace

int serve_vhost(const ServeVhost& what) {
  auto served = open(what);
  if (!served) return report_error(served.error(), what.as_json);
  catch_interrupts();
  Result<void> started;
  {
    const InterruptsBlocked blocked;
    served->machine->start(emulation::Transport::vhost_user);
    started = start_serving(*served, what.charge);
  }
  int exit_code = kFine;
  if (started)
    exit_code = what.virtual_time() ? serve_virtual_until_the_end(what, *served)
                                    : serve_until_the_end(what, *served);
  served->machine->shut_down();  // completes pending requests, so that the sessions can end
  if (served->disks) served->disks->stop();
  if (served->calendar) served->calendar->stop();
  const auto stopped = served->machine->stop();
  if (!started) return report_error(started.error(), what.as_json);
  if (!stopped) return report_error(stopped.error(), what.as_json);
  return exit_code;
}

}  // namespace headcrash::cli
