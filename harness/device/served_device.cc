// Starts the server for an emulated device (served_device.h).
#include "harness/device/served_device.h"

#include <fmt/format.h>

#include "harness/device/parameters.h"
#include "harness/device/server_child.h"
#include "plugin/base/installation.h"

namespace headcrash::device {

namespace fs = std::filesystem;

std::vector<std::string> parameters_of(const ServedDeviceSpec& spec) {
  std::vector<std::string> all{"clock=" + spec.clock, fmt::format("seed={}", spec.seed)};
  all.push_back(spec.machine ? "machine=" + fs::absolute(*spec.machine).string()
                             : "profile=" + spec.profile);
  if (spec.write_cache)
    all.push_back(fmt::format("write-cache={}", *spec.write_cache ? "on" : "off"));
  if (!spec.tear.empty()) all.push_back("tear=" + spec.tear);
  for (const std::string& fault : spec.faults) all.push_back("fault=" + fault);
  if (spec.size_bytes != 0) all.push_back(fmt::format("size={}", spec.size_bytes));
  if (!spec.cut.empty()) all.push_back("cut=" + spec.cut);
  if (spec.store) all.push_back("store=" + fs::absolute(*spec.store).string());
  if (spec.recording) all.push_back("record=" + fs::absolute(*spec.recording).string());
  return all;
}

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
                                 control,
                                 "--seed",
                                 std::to_string(spec.seed)};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (spec.machine) add("--machine", fs::absolute(*spec.machine));
  if (!spec.machine) add("--profile", spec.profile);
  if (spec.charge > 0) add("--charge", fmt::format("{}", spec.charge));
  if (spec.write_cache) add("--write-cache", *spec.write_cache ? "on" : "off");
  if (!spec.tear.empty()) add("--tear", spec.tear);
  for (const std::string& fault : spec.faults) add("--fault", fault);
  if (spec.size_bytes != 0) add("--size", std::to_string(spec.size_bytes));
  if (!spec.cut.empty()) add("--cut", spec.cut);
  if (spec.store) add("--store", fs::absolute(*spec.store));
  if (spec.recording) add("--record", fs::absolute(*spec.recording));
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
      .control_socket = spec.control_socket.value_or(scratch / "control.sock")};
  if (spec.virtual_time) server.argv = virtual_server(spec, server.socket, server.control_socket);
  TRY(auto child, spec.virtual_time ? ServerChild::start(server)
                                    : ServerChild::start_nbdkit(server, parameters_of(spec)));
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
