#include "plugin/servers/emulation/hardware.h"

#include <fmt/core.h>

namespace headcrash::emulation {
namespace {

constexpr const char* kDeviceName = "hd0";

/// Returns the error with the parameter as its subject.
tl::unexpected<Error> about(const std::string& parameter, Error error) {
  error.subject = parameter + (error.subject.empty() ? "" : ": " + error.subject);
  return tl::unexpected<Error>(std::move(error));
}

Result<profiles::MachineFile> load_devices(const Settings& settings) {
  if (settings.machine) {
    auto file = profiles::load_machine_file(settings.machine->string());
    if (!file) return about("machine", file.error());
    return file;
  }
  auto stack = profiles::load_stack(settings.profile);
  if (!stack) return about("profile=" + settings.profile, stack.error());
  profiles::MachineFile one;
  one.devices.push_back(
      {kDeviceName, std::move(*stack), settings.size_bytes, settings.write_cache, settings.tear});
  return one;
}

}  // namespace

Result<Hardware> load_hardware(const Settings& settings) {
  TRY(auto machine, load_devices(settings));
  auto plan = profiles::plan(std::move(machine.devices));
  if (!plan)
    return about(
        settings.machine ? "machine=" + settings.machine->string() : "profile=" + settings.profile,
        plan.error());
  Hardware hardware{std::move(*plan), std::move(machine.faults)};
  hardware.faults.insert(hardware.faults.end(), settings.faults.begin(), settings.faults.end());
  return hardware;
}

}  // namespace headcrash::emulation
