// Starts nbdkit and waits until both its sockets answer (served_device.h).
#include "harness/device/served_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "harness/process/process.h"

namespace headcrash::device {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kStartLimit{20};
constexpr std::chrono::seconds kStopLimit{10};

/// nbdkit runs one thread a request: more than any client here keeps in flight.
constexpr const char* kThreads = "64";

std::vector<std::string> nbdkit_command(const ServedDeviceSpec& spec, const fs::path& socket,
                                        const fs::path& control_socket) {
  std::vector<std::string> argv{"nbdkit",
                                "--foreground",
                                "--exit-with-parent",
                                "--threads",
                                kThreads,
                                "--unix",
                                socket,
                                plugin_path(),
                                "clock=" + spec.clock,
                                fmt::format("seed={}", spec.seed),
                                "control=" + control_socket.string()};
  argv.push_back(spec.machine ? "machine=" + fs::absolute(*spec.machine).string()
                              : "profile=" + spec.profile);
  if (spec.write_cache) argv.push_back(fmt::format("write-cache={}", *spec.write_cache ? "on" : "off"));
  for (const std::string& fault : spec.faults) argv.push_back("fault=" + fault);
  if (spec.size_bytes != 0) argv.push_back(fmt::format("size={}", spec.size_bytes));
  if (!spec.cut.empty()) argv.push_back("cut=" + spec.cut);
  if (spec.store) argv.push_back("store=" + fs::absolute(*spec.store).string());
  if (spec.recording) argv.push_back("record=" + fs::absolute(*spec.recording).string());
  return argv;
}

/// What nbdkit said when it refused, without its own prefix; one line.
std::string last_words(const fs::path& errors) {
  std::ifstream in(errors);
  std::string words;
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find("error: ");
    const std::string said = at == std::string::npos ? line : line.substr(at + 7);
    if (!said.empty()) words += (words.empty() ? "" : " | ") + said;
  }
  return words.empty() ? "nbdkit ended without a word" : words;
}

}  // namespace

struct ServedDevice::State {
  fs::path scratch, socket, control_socket;
  process::Process server;
  std::optional<ControlClient> control;
};

fs::path plugin_path() {
  if (const char* plugin = std::getenv("HEADCRASH_PLUGIN"); plugin != nullptr && *plugin != '\0')
    return plugin;
  return HEADCRASH_PLUGIN_FILE;
}

ServedDevice::ServedDevice(std::unique_ptr<State> state) : state_(std::move(state)) {}

ServedDevice::~ServedDevice() {
  (void)stop();
}

Result<std::unique_ptr<ServedDevice>> ServedDevice::start(const ServedDeviceSpec& spec,
                                                          const fs::path& scratch) {
  if (!fs::exists(plugin_path())) {
    return fail(plugin_path().string(), "the plugin is not there",
                "build it: cmake --build --preset release");
  }
  const fs::path socket = spec.socket.value_or(scratch / "nbd.sock");
  const fs::path control_socket = spec.control_socket.value_or(scratch / "control.sock");
  for (const fs::path& path : {socket, control_socket}) {
    if (fs::exists(path))
      return fail(path.string(), "exists already",
                  "end the server that uses it, remove it, or choose another");
  }
  const fs::path errors = scratch / "nbdkit.log";
  const int log = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (log < 0) return fail(errors.string(), "cannot be written", "make the folder writable");
  Result<process::Process> started =
      process::Process::start({.argv = nbdkit_command(spec, socket, control_socket), .errors = log});
  ::close(log);
  if (!started) return pass_on(started);
  std::unique_ptr<ServedDevice> device(new ServedDevice(
      std::make_unique<State>(State{scratch, socket, control_socket, std::move(*started), std::nullopt})));

  const auto deadline = steady_clock::now() + kStartLimit;
  while (true) {
    Result<ControlClient> control = ControlClient::connect(control_socket);
    if (control && fs::exists(socket)) {
      device->state_->control.emplace(std::move(*control));
      return device;
    }
    if (!device->alive()) return fail("the emulated device", last_words(errors));
    if (steady_clock::now() > deadline)
      return fail("the emulated device", "its server did not start within 20 s", last_words(errors));
    std::this_thread::sleep_for(milliseconds(5));
  }
}

fs::path ServedDevice::socket() const {
  return state_->socket;
}
fs::path ServedDevice::control_socket() const {
  return state_->control_socket;
}
ControlClient& ServedDevice::control() {
  return *state_->control;
}
bool ServedDevice::alive() const {
  return state_->server.running();
}

Result<void> ServedDevice::stop() {
  if (!state_->control) return {};
  state_->control.reset();
  const bool died_before = !alive();
  if (!died_before) {
    ::kill(state_->server.pid(), SIGTERM);
    (void)state_->server.wait(kStopLimit);
    state_->server.kill();
  }
  if (died_before)
    return fail("the emulated device", "its server died: " + last_words(state_->scratch / "nbdkit.log"));
  return {};
}

}  // namespace headcrash::device
