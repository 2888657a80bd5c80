// Starts the server for an emulated device (served_device.h).
#include "harness/device/served_device.h"

#include <fmt/format.h>

#include "harness/device/server_child.h"
#include "plugin/base/installation.h"

namespace headcrash::device {

namespace fs = std::filesystem;

namespace {

/// Returns the command line of `headcrash serve` for virtual time, with the parameters as options.
std::vector<std::string> virtual_server(const ServedDeviceSpec& spec, const fs::path& socket,
                                        const fs::path& control) {
  std::vector<std::string> words{base::installation().command,
                                 "serve",
                                 "--virtual-time",
                                 "--json",
                                 "--vhost-user",
                                 socket,
                                 "--control",
                                 control};
  emulation::Settings machine = spec.machine;
  machine.clock = {};
  for (const auto& [name, value] : machine.texts()) words.insert(words.end(), {"--" + name, value});
  if (spec.charge > 0) words.insert(words.end(), {"--charge", fmt::format("{}", spec.charge)});
  return words;
}

/// Returns the parameters as nbdkit's words.
std::vector<std::string> plugin_words(const emulation::Settings& machine) {
  std::vector<std::string> words;
  for (const auto& [name, value] : machine.texts()) words.push_back(name + "=" + value);
  return words;
}

}  // namespace

struct ServedDevice::State {
  std::unique_ptr<ServerChild> child;
  bool virtual_time = false;
};

ServedDevice::ServedDevice(std::unique_ptr<State> state) : state_(std::move(state)) {}

ServedDevice::~ServedDevice() = default;

Result<std::unique_ptr<ServedDevice>> ServedDevice::start(const ServedDeviceSpec& spec,
                                                          const fs::path& scratch) {
  ServerChild::Spec server{
      .subject = "the emulated device",
      .scratch = scratch,
      .socket = spec.socket.value_or(scratch / (spec.virtual_time ? "vhost.sock" : "nbd.sock")),
      .control_socket = spec.machine.control.value_or(scratch / "control.sock")};
  if (spec.virtual_time) server.argv = virtual_server(spec, server.socket, server.control_socket);
  TRY(auto child, spec.virtual_time
                      ? ServerChild::start(server)
                      : ServerChild::start_nbdkit(server, plugin_words(spec.machine)));
  return std::unique_ptr<ServedDevice>(
      new ServedDevice(std::make_unique<State>(State{std::move(child), spec.virtual_time})));
}

fs::path ServedDevice::socket() const {
  return state_->child->socket();
}
fs::path ServedDevice::control_socket() const {
  return state_->child->control_socket();
}
ControlClient& ServedDevice::control() {
  return state_->child->control();
}
Result<void> ServedDevice::set_clock(const std::string& clock) {
  if (state_->virtual_time) return {};
  TRY(control().request({{"clock", clock}}));
  return {};
}
bool ServedDevice::alive() const {
  return state_->child->alive();
}
Result<void> ServedDevice::stop() {
  return state_->child->stop();
}

}  // namespace headcrash::device
