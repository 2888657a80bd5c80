// Finds the devices of a machine, and checks the machine's options (array_disk.h).
#include "harness/campaign/trial/array_disk.h"

#include <fmt/format.h>

#include "plugin/model/core/store.h"
#include "plugin/model/faults/faults.h"
#include "plugin/profiles/build.h"

namespace headcrash::campaign {
namespace {

constexpr const char* kStageDiskName =
    "hd0";  // the name that a device has in a stage (plugin/stages/rebuilt_machine.h)

Result<void> check_faults(const profiles::Plan& plan, const std::vector<std::string>& faults) {
  for (const std::string& text : faults) {
    TRY(const auto fault, model::parse_fault(text));
    if (const auto device = profiles::device_of(plan, fault); !device)
      return fail("fault " + text, fmt::format("there is no device \"{}\"", fault.device),
                  device.error().hint);
  }
  return {};
}

}  // namespace

Result<std::uint64_t> disk_bytes_of(const explorer::StageMachine& machine,
                                    const adapters::LinuxAdapter& filesystem, std::uint64_t bytes) {
  if (!machine.is_array()) {
    if (machine.faults_in_recovery().empty()) return bytes;
    return fail("fault " + machine.faults_in_recovery().front(), "requires an array",
                "use an array as the disk; faults cannot be injected into a plain disk");
  }
  if (filesystem.log_size_bytes != 0)
    return fail(filesystem.name, "has an external log, which cannot be combined with an array",
                "choose another file system, or omit the array");
  if (filesystem.stack)
    return fail(filesystem.name, "is on a stack of disks, which cannot be combined with an array",
                "omit the array, or the stack");
  TRY(auto stack, profiles::load_stack(machine.profile));
  if (stack->below.empty())
    return fail(machine.profile, "is a single drive, not an array",
                "omit it: the crash states of a single drive are computed from its writes");
  TRY(const auto plan, profiles::plan({{kStageDiskName, std::move(stack), bytes, {}}}));
  TRY(check_faults(plan, machine.faults_in_recovery()));
  return plan.all.front().sectors * model::kSectorBytes;
}

}  // namespace headcrash::campaign
