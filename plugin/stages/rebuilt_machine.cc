#include "plugin/stages/rebuilt_machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "plugin/model/array/array.h"
#include "plugin/model/core/run_request.h"
#include "plugin/profiles/shutdown.h"
#include "plugin/states/run_history.h"

namespace headcrash::stages {
namespace {

constexpr const char* kDeviceName = "hd0";

int errno_of(model::Status status) {
  if (status == model::Status::ok) return 0;
  return status == model::Status::out_of_range ? EINVAL : EIO;
}

}  // namespace

Result<profiles::Plan> plan_machine(const std::string& profile, std::uint64_t sectors) {
  TRY(auto stack, profiles::load_stack(profile));
  return profiles::plan({{kDeviceName, std::move(stack), sectors * model::kSectorBytes, {}}});
}

std::vector<record::RecordedDevice> recorded_devices(const profiles::Plan& plan) {
  std::vector<record::RecordedDevice> devices;
  devices.reserve(plan.all.size());
  for (const profiles::PlannedDevice& device : plan.all)
    devices.push_back(
        {device.name, device.profile, device.sectors, device.physical_sector_sectors, device.leaf});
  return devices;
}

Result<void> check_fit(const profiles::Plan& plan, const std::string& profile,
                       const std::vector<record::RecordedDevice>& recorded,
                       const std::string& recording) {
  const auto refuse = [&](const std::string& difference) {
    return fail("machine=" + profile, fmt::format("does not fit {}: {}", recording, difference),
                "use the profile of the recording; `headcrash recording info` lists its devices");
  };
  if (plan.all.size() != recorded.size())
    return refuse(fmt::format("the machine has {} devices, but the recording has {}",
                              plan.all.size(), recorded.size()));
  for (std::size_t id = 0; id < recorded.size(); ++id) {
    const profiles::PlannedDevice& planned = plan.all[id];
    const record::RecordedDevice& was = recorded[id];
    if (planned.name != was.name)
      return refuse(fmt::format("device {} is named {} in the recording, but {} in this machine",
                                id, was.name, planned.name));
    if (planned.leaf != was.medium)
      return refuse(fmt::format("{} {} a medium in the recording, unlike in this machine", was.name,
                                was.medium ? "has" : "does not have"));
    if (planned.sectors != was.sectors)
      return refuse(fmt::format("{} has {} sectors in the recording, but {} in this machine",
                                was.name, was.sectors, planned.sectors));
  }
  return {};
}

Result<std::unique_ptr<RebuiltMachine>> RebuiltMachine::create(profiles::Plan plan,
                                                               const PowerOn& with,
                                                               std::uint64_t overlay_bytes_max,
                                                               StageRecording* recording) {
  std::unique_ptr<RebuiltMachine> self(new RebuiltMachine(std::move(plan), recording));
  self->stores_.resize(self->plan_.all.size());
  for (const Medium& medium : with.media)
    self->stores_.at(medium.device) =
        std::make_unique<MemberStore>(medium.image, overlay_bytes_max);
  model::MachineObserver& observer = recording != nullptr
                                         ? static_cast<model::MachineObserver&>(*recording)
                                         : self->null_observer_;
  profiles::BuildOptions options;
  options.store = [&stores = self->stores_](model::DeviceId id) { return stores.at(id).get(); };
  options.faults = with.faults;
  // The array's recovery must encounter the unreadable sectors. Caches over drives are written back
  // before the array is built, so the sectors that they contain are readable again.
  options.mark_unreadable = [&stores = self->stores_](model::DeviceId id,
                                                      model::DeviceFaults& faults) {
    if (const auto& store = stores.at(id)) store->mark_unreadable(faults);
  };
  TRY(self->write_back(with, true));
  TRY(auto built, profiles::build(self->plan_, observer, options));
  self->built_ = std::move(built);
  TRY(self->check_started());
  for (std::size_t i = 0; i < self->built_.machine->device_count(); ++i)
    self->disk_infos_.push_back({self->built_.machine->device_name(i),
                                 self->built_.machine->device(i).characteristics().sectors});
  TRY(self->write_back(with, false));
  if (recording != nullptr && !with.caches.empty()) self->mark(states::kCachesWrittenBackMark);
  return self;
}

/// Writes a cache's sectors back to the device below. A drive is written directly, and the write is
/// added to the recording. Any other device is written through the machine.
Result<void> RebuiltMachine::write_back_range(const Medium& cache, model::DeviceId below,
                                              std::uint64_t lba, std::uint64_t sectors) {
  std::vector<std::byte> bytes(sectors * model::kSectorBytes);
  TRY(cache.image.read(lba, bytes));
  if (plan_.all[below].leaf) {
    if (recording_ != nullptr)
      recording_->media_written(below, 0,
                                {.lba = lba,
                                 .sectors = static_cast<std::uint32_t>(sectors),
                                 .outcome = {},
                                 .bytes = bytes});
    return stores_[below]->write(lba, bytes);
  }
  model::Request write;
  write.op = model::Op::write;
  write.lba = lba;
  write.sectors = static_cast<std::uint32_t>(sectors);
  write.data = bytes;
  if (run(0, write) == model::Status::ok) return {};
  return fail(cache.name,
              fmt::format("sectors {} to {} cannot be written back", lba, lba + sectors - 1),
              "check the state of the array below it");
}

Result<void> RebuiltMachine::write_back(const PowerOn& with, bool to_drives) {
  constexpr std::uint64_t kStepSectors = 128;
  for (const Medium& cache : with.caches) {
    const bool lost =
        std::any_of(with.faults.begin(), with.faults.end(), [&](const model::FaultSpec& fault) {
          return fault.kind == model::FaultKind::battery_dead && fault.device == cache.name;
        });
    // Ids are assigned depth first, so the device below has the next id.
    const auto below = static_cast<model::DeviceId>(cache.device + 1);
    if (lost || plan_.all.at(below).leaf != to_drives) continue;
    if (!to_drives && plan_.all[cache.device].parent)
      return fail(cache.name, "is above an array that is itself a member",
                  "this is not supported; add the fault battery-dead:" + cache.name);
    Result<void> done;
    cache.image.visit_written([&](std::uint64_t lba, std::uint64_t sectors) {
      for (; done && sectors > 0;) {
        const std::uint64_t step = std::min(sectors, kStepSectors);
        done = write_back_range(cache, below, lba, step);
        lba += step;
        sectors -= step;
      }
    });
    if (!done) return done;
  }
  return {};
}

void RebuiltMachine::MemberStore::mark_unreadable(model::DeviceFaults& faults) const {
  std::uint64_t at = 0;
  while (const auto bad =
             at < sectors() ? overlay_.first_unreadable(at, sectors() - at) : std::nullopt) {
    faults.make_unreadable(*bad, 1);
    at = *bad + 1;
  }
}

Result<void> RebuiltMachine::check_started() const {
  for (std::size_t id = 0; id < built_.all.size(); ++id) {
    const model::Array* array = built_.all[id].array;
    if (array == nullptr) continue;
    if (const auto refused = array->status().refused)
      return fail(ErrorKind::does_not_start, plan_.all[id].name,
                  fmt::format("{} does not start: {}", plan_.all[id].profile, *refused),
                  "set accept-dirty-degraded in the array's profile to accept the data");
  }
  return {};
}

model::Status RebuiltMachine::run(std::size_t disk_index, const model::Request& request) {
  if (unanswered_) return model::Status::device_failed;
  const auto status = model::run_request(*built_.machine, disk_index, request);
  if (!status)
    unanswered_ = disk_infos_.empty() ? plan_.all.front().name : disk_infos_[disk_index].name;
  return status.value_or(model::Status::device_failed);
}

std::optional<std::string> RebuiltMachine::error() const {
  if (!unanswered_) return std::nullopt;
  return *unanswered_ + ": did not answer a request and cannot be used further; load a state again";
}

int RebuiltMachine::serve(std::size_t disk_index, model::Request& request) {
  if (recording_ != nullptr && recording_->is_open() && recording_->error()) return EIO;
  const int error = errno_of(run(disk_index, request));
  // If a member's overlay is full, the array's contents are invalid, even if the array reports no
  // error.
  const bool full = std::any_of(stores_.begin(), stores_.end(),
                                [](const auto& store) { return store && store->is_full(); });
  return full && request.op != model::Op::read ? ENOSPC : error;
}

/// Returns EIO instead of success if the recording has failed. The acknowledgement is not recorded
/// here, because the array reports it to the recording.
int RebuiltMachine::acknowledge(std::size_t, const model::Request&, int error) {
  return error == 0 && recording_ != nullptr && recording_->is_open() && recording_->error()
             ? EIO
             : error;
}

void RebuiltMachine::shut_down() {
  if (unanswered_) return;
  profiles::shut_down(built_);
}

/// All sectors count as written, because an array may change the contents of unwritten sectors.
media::WrittenMap::Run RebuiltMachine::written(std::size_t, std::uint64_t, std::uint64_t limit) {
  return {limit, true};
}

std::uint64_t RebuiltMachine::overlay_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& store : stores_)
    if (store) bytes += store->overlay_bytes();
  return bytes;
}

Result<std::uint64_t> RebuiltMachine::digest() {
  constexpr std::uint32_t kStepSectors = 2048;
  std::vector<std::byte> bytes(std::size_t{kStepSectors} * model::kSectorBytes);
  std::uint64_t joined = 0;
  for (std::size_t disk_index = 0; disk_index < disk_infos_.size(); ++disk_index) {
    for (std::uint64_t lba = 0; lba < disk_infos_[disk_index].sectors; lba += kStepSectors) {
      model::Request read;
      read.lba = lba;
      read.sectors = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(kStepSectors, disk_infos_[disk_index].sectors - lba));
      read.into = std::span(bytes).first(std::size_t{read.sectors} * model::kSectorBytes);
      if (run(disk_index, read) != model::Status::ok)
        return fail(disk_infos_[disk_index].name,
                    fmt::format("sectors {} to {} cannot be read", lba, lba + read.sectors - 1),
                    "check the array's state");
      for (std::size_t i = 0; i < read.into.size(); i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, read.into.data() + i, sizeof word);
        joined = joined_digest(joined, word, false);
      }
    }
  }
  return joined;
}

}  // namespace headcrash::stages
