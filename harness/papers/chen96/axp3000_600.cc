// Configures the machine and its cost table (axp3000_600.h).
#include "harness/papers/chen96/axp3000_600.h"

#include "fs-adapters/ufs/schemes/scheme_variants.h"
#include "fs-adapters/ufs/under_test.h"

namespace headcrash::experiment::chen96 {

const char* in_title(Reading reading) {
  return reading == Reading::queue ? "; the drive queues commands, blocks in flight are locked"
                                   : "";
}

std::string id_of(const char* claim, Reading reading) {
  return std::string(claim) + (reading == Reading::queue ? ", queue" : "");
}

void queue_commands(ModelledMachineOptions& machine, std::uint32_t commands) {
  machine.outstanding = commands;
  machine.drive_queue = {.depth = commands, .policy = model::QueuePolicy::c_look};
  machine.write_segments = 2;
}

Result<ModelledMachineOptions> axp3000_600(os::TimeNs delay_ns, Reading reading) {
  TRY(auto scheme, ufs::find_scheme_variant("conventional"));
  scheme.block_copy = reading == Reading::one_command;
  Result<ModelledMachineOptions> machine = ModelledMachineOptions{};
  machine->system = ufs::system_of(scheme);
  machine->profile = "dec-rz26l";
  machine->cache_bytes = 85 * kMb;
  machine->concatenated_sectors = kRequestBytes / model::kSectorBytes;
  machine->mkfs = {{"block-size", "8192"}, {"fragment-size", "1024"}};
  machine->syncer = {.policy = os::SyncerOptions::Policy::interval, .interval_ns = delay_ns};
  machine->costs = scaled_costs(kI486At33Mhz, 1.0 / kAxpFasterThanI486);
  if (reading == Reading::queue) {
    queue_commands(*machine, kQueuedCommands);
    machine->lock_data = true;
  }
  return machine;
}

Result<ModelledMachineOptions> loss_machine(const std::string& type, const std::string& system,
                                            const os::SyncerOptions& syncer, std::uint64_t seed) {
  constexpr std::uint64_t kDiskBytes = 160 << 20, kCacheBytes = 16 << 20;
  TRY(const auto mounted, machine_with(type, system));
  auto options = axp3000_600(0);
  if (!options) return options;
  options->system = mounted.system;
  if (type != "ufs") options->mkfs = {};
  options->size_bytes = kDiskBytes;
  options->cache_bytes = kCacheBytes;
  options->syncer = syncer;
  options->seed = seed;
  return options;
}

}  // namespace headcrash::experiment::chen96
