// Putting the pieces together, and taking them apart in the right order (modelled_machine.h).
#include "harness/experiment/modelled_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "fs-adapters/ufs/mkfs.h"

namespace headcrash::experiment {
namespace {

constexpr std::string_view kMissingScheme = "there is no such ordering scheme";

}  // namespace

bool is_missing_scheme(const Error& error) {
  return error.problem == kMissingScheme;
}

Result<std::unique_ptr<ModelledMachine>> ModelledMachine::start(const ModelledMachineOptions& options) {
  std::unique_ptr<ModelledMachine> machine(new ModelledMachine());
  if (auto assembled = machine->assemble(options); !assembled) return pass_on(assembled);
  return machine;
}

Result<void> ModelledMachine::assemble(const ModelledMachineOptions& options) {
  auto stack = profiles::load_stack(options.profile);
  if (!stack) return pass_on(stack);
  profiles::MachineDevice device{.name = "hd0", .stack = *std::move(stack), .size_bytes = std::nullopt};
  device.write_cache = false;
  const auto plan = profiles::plan({device});
  if (!plan) return pass_on(plan);
  const auto leaf = std::ranges::find(plan->all, true, &profiles::PlannedDevice::leaf);
  if (std::ranges::count(plan->all, true, &profiles::PlannedDevice::leaf) != 1)
    return fail(options.profile, "is more than one drive", "take a single drive, with NVRAM or without");
  drive_ = static_cast<std::size_t>(leaf - plan->all.begin());
  auto store = media::MemoryStore::create(leaf->sectors);
  if (!store) return pass_on(store);
  store_ = *std::move(store);
  const auto made =
      ufs::mkfs(*store_, {.block_bytes = options.block_bytes, .fragment_bytes = options.fragment_bytes});
  if (!made) return pass_on(made);
  auto built = profiles::build(
      *plan, witness_, {.seed = options.seed, .store = [this](model::DeviceId) { return store_.get(); }});
  if (!built) return pass_on(built);
  built_ = *std::move(built);
  clock_ = std::make_unique<os::VirtualClock>(built_.machine->simulation());
  device_ = std::make_unique<os::ModelDisk>(*built_.machine);
  system_ = std::make_unique<os::System>(
      *clock_, *device_,
      os::SystemOptions{.costs = options.costs,
                        .queue = {.schedule = options.schedule,
                                  .flag = options.flag,
                                  .reads_bypass = options.reads_bypass,
                                  .concatenated_sectors = options.concatenated_sectors},
                        .cache = {.bytes = options.cache_bytes,
                                  .block_copy = options.block_copy,
                                  .copies_bytes = options.copies_bytes},
                        .syncer = options.syncer});
  system_->queue.trace(this);
  Result<void> done;
  system_->run_as(operator_, [&] {
    auto mounted =
        ufs::FileSystem::mount(*system_, {.scheme = options.scheme, .options = options.scheme_options});
    if (mounted) {
      file_system_ = *std::move(mounted);
      system_->syncer.start();
    } else {
      done = pass_on(mounted);
    }
  });
  return done;
}

ModelledMachine::~ModelledMachine() {
  if (!system_) return;
  if (file_system_) system_->run_as(operator_, [this] { file_system_->abandon(); });
  system_->executor.halt();
  file_system_.reset();
}

Result<os::TimeNs> ModelledMachine::become_quiet(os::TimeNs most_ns) {
  const os::TimeNs begun_at = now();
  trace_.last_completed_at = begun_at;
  while (true) {
    const os::DiskQueueCounters& disk = system_->queue.counters();
    const bool under_way = under_way_before_ + disk.issued_reads + disk.issued_writes != trace_.completed;
    if (!under_way && !system_->cache.any_dirty() && system_->syncer.work_waiting() == 0) break;
    if (now() - begun_at > most_ns) {
      return fail("the modelled machine", fmt::format("is not quiet after {} s", most_ns / model::kSecondNs),
                  "this is a bug of the ordering scheme: something stays dirty for ever");
    }
    system_->executor.run_until(now() + model::kSecondNs);
  }
  return trace_.last_completed_at;
}

model::DeviceCounters ModelledMachine::device_counters() const {
  return built_.all[drive_].device->counters();
}

void ModelledMachine::clear_trace() {
  const os::DiskQueueCounters& disk = system_->queue.counters();
  under_way_before_ += disk.issued_reads + disk.issued_writes - trace_.completed;
  system_->queue.clear_counters();
  trace_ = {};
}

void ModelledMachine::completed(const os::DiskTrace& request) {
  ++trace_.completed;
  trace_.response_ns += request.completed_at - request.issued_at;
  trace_.last_completed_at = request.completed_at;
}

}  // namespace headcrash::experiment
