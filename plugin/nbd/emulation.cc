// Puts the parts of one server together (emulation.h).
#include "plugin/nbd/emulation.h"

#include <fmt/core.h>

#include <cerrno>
#include <random>

#include "plugin/model/disk.h"
#include "plugin/nbd/transport_floor.h"
#include "plugin/record/null_witness.h"

namespace headcrash::nbd {
namespace {

constexpr const char* kDeviceName = "hd0";

std::string new_instance() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// The same error, said about a parameter.
Error about(const char* key, const Error& error) {
  return Error{fmt::format("{}={}", key, error.subject), error.problem, error.remedy};
}

Result<std::uint64_t> sectors_of(const Settings& settings, const model::DiskProfile& profile) {
  if (!settings.size_bytes) return profile.capacity_sectors;
  const std::uint64_t sectors = *settings.size_bytes / model::kSectorBytes;
  if (sectors > profile.capacity_sectors)
    return fail(
        "size",
        fmt::format("{} has only {} bytes", profile.name, profile.capacity_sectors * model::kSectorBytes),
        "give a smaller size or leave it out for the whole drive");
  if (sectors % profile.physical_sector_sectors != 0)
    return fail("size", fmt::format("is not a whole number of {}'s physical sectors", profile.name),
                fmt::format("give a multiple of {}", profile.physical_sector_sectors * model::kSectorBytes));
  return sectors;
}

model::DeviceCounters difference(const model::DeviceCounters& now, const model::DeviceCounters& before) {
  return {now.reads - before.reads,
          now.writes - before.writes,
          now.flushes - before.flushes,
          now.trims - before.trims,
          now.sectors_read - before.sectors_read,
          now.sectors_written - before.sectors_written,
          now.media_writes - before.media_writes,
          now.media_sectors_written - before.media_sectors_written,
          now.cache_hits - before.cache_hits,
          now.seeks - before.seeks,
          now.busy_ns - before.busy_ns};
}

int errno_of(model::Status status) {
  switch (status) {
    case model::Status::ok:
      return 0;
    case model::Status::out_of_range:
      return EINVAL;
    case model::Status::power_lost:
    case model::Status::medium_error:
    case model::Status::store_error:
    case model::Status::device_failed:
      return EIO;
  }
  return EIO;
}

}  // namespace

Result<void> Emulation::open_store(const Settings& settings, const model::DiskProfile& profile,
                                   std::uint64_t sectors) {
  if (!settings.store) {
    auto memory = media::MemoryStore::create(sectors);
    if (!memory) return tl::unexpected<Error>(about("store", memory.error()));
    memory_ = std::move(*memory);
    return {};
  }
  auto folder = media::StoreFolder::open(*settings.store, {{kDeviceName, profile.name, sectors}});
  if (!folder) return tl::unexpected<Error>(about("store", folder.error()));
  folder_ = std::move(*folder);
  return {};
}

Result<void> Emulation::open_recording(const Settings& settings, const model::DiskProfile& profile,
                                       std::uint64_t sectors) {
  if (!settings.record) {
    nobody_ = std::make_unique<record::NullWitness>();
    return {};
  }
  record::RecordingHeader header;
  header.seed = settings.seed;
  header.devices.push_back({kDeviceName, profile.name, sectors, profile.physical_sector_sectors});
  auto recording = record::RecordingWriter::create(*settings.record, header);
  if (!recording) return tl::unexpected<Error>(about("record", recording.error()));
  recording_ = std::move(*recording);
  return {};
}

Result<std::unique_ptr<Emulation>> Emulation::create(const Settings& settings,
                                                     const model::DiskProfile& profile) {
  const auto sectors = sectors_of(settings, profile);
  if (!sectors) return pass_on(sectors);
  if (settings.write_cache == true && profile.write_cache.capacity_sectors == 0)
    return fail("write-cache", fmt::format("{} has no write cache", profile.name),
                "leave write-cache out or choose another drive");
  std::unique_ptr<Emulation> self(new Emulation());
  self->instance_ = new_instance();
  self->lead_ns_ = settings.lead_ns;
  if (auto store = self->open_store(settings, profile, *sectors); !store) return pass_on(store);
  if (auto recording = self->open_recording(settings, profile, *sectors); !recording)
    return pass_on(recording);
  self->machine_ = std::make_unique<model::Machine>(self->recording_ ? *self->recording_ : *self->nobody_);
  model::SectorStore* store = self->memory_.get();
  if (self->folder_) store = &self->folder_->store(0);
  self->machine_->add_device(kDeviceName, std::make_unique<model::Disk>(model::DiskOptions{
                                              .profile = profile,
                                              .simulation = self->machine_->simulation(),
                                              .witness = self->machine_->witness(),
                                              .store = store,
                                              .device = 0,
                                              .seed = settings.seed,
                                              .write_cache = settings.write_cache.value_or(true),
                                              .sectors = *sectors}));
  self->pacer_ = std::make_unique<Pacer>(*self->machine_, settings.clock);
  if (self->recording_)
    self->pacer_->distrust_when(
        [recording = self->recording_.get()] { return recording->error().has_value(); });
  if (settings.cut) self->arm(*settings.cut, *model::parse_cut_trigger(*settings.cut));
  self->counters_before_.resize(self->machine_->device_count());
  self->interval_wall_start_ = wall_now();
  return self;
}

Emulation::~Emulation() {
  stop();
}

void Emulation::start() {
  pacer_->start();
  if (lead_ns_) return pacer_->set_lead(*lead_ns_);
  calibration_ = std::thread([this] { pacer_->set_lead(measure_transport_floor()); });
}

void Emulation::stop() {
  if (stopped_ || !pacer_) return;
  stopped_ = true;
  if (calibration_.joinable()) calibration_.join();
  pacer_->stop();
  park();
  if (recording_) static_cast<void>(recording_->flush());
}

void Emulation::park() {
  struct : model::Initiator {
    void completed(const model::Completion&) override { done = true; }
    bool done = false;
  } owner;
  if (machine_->power() == model::PowerState::off) return;
  machine_->disarm();
  for (std::size_t index = 0; index < machine_->device_count(); ++index) {
    if (!machine_->device(index).characteristics().volatile_cache) continue;
    model::Request flush;
    flush.op = model::Op::flush;
    owner.done = false;
    machine_->submit(index, flush, owner);
    while (!owner.done && machine_->simulation().run_next()) {
    }
  }
}

int Emulation::serve(std::size_t device_index, const model::Request& request) {
  const Served served = pacer_->serve(device_index, request);
  if (served.shut_down) return ESHUTDOWN;
  if (served.distrusted) return EIO;
  return errno_of(served.status);
}

model::TimeNs Emulation::mark(std::string_view text) {
  return pacer_->with_machine([&](model::Machine& machine) {
    machine.mark(text);
    return machine.simulation().now();
  });
}

model::TimeNs Emulation::cut_power() {
  return pacer_->with_machine([](model::Machine& machine) {
    machine.power_cut();
    return machine.simulation().now();
  });
}

model::TimeNs Emulation::power_on() {
  return pacer_->with_machine([](model::Machine& machine) {
    machine.power_on();
    return machine.simulation().now();
  });
}

void Emulation::arm(const std::string& text, const model::CutTrigger& trigger) {
  pacer_->with_machine([&](model::Machine& machine) {
    machine.arm(trigger);
    armed_text_ = text;
  });
}

void Emulation::disarm() {
  pacer_->with_machine([](model::Machine& machine) { machine.disarm(); });
}

PowerStatus Emulation::power_status() {
  return pacer_->with_machine([this](model::Machine& machine) {
    PowerStatus status{machine.power(), machine.power_cuts(), machine.last_cut_at(), std::nullopt};
    if (machine.armed()) status.armed = armed_text_;
    return status;
  });
}

Statistics Emulation::statistics(Interval afterwards) {
  const Clock clock = pacer_->clock();
  const WallNs lead_ns = pacer_->lead_ns();
  return pacer_->with_machine([&](model::Machine& machine) {
    const WallNs wall = wall_now();
    Statistics all;
    all.instance = instance_;
    all.clock = clock;
    all.lead_ns = lead_ns;
    all.power = machine.power();
    all.model_now = machine.simulation().now();
    all.interval_model_ns = all.model_now - interval_model_start_;
    all.interval_wall_ns = wall - interval_wall_start_;
    if (recording_ && recording_->error()) all.recording_error = recording_->error()->message();
    for (std::size_t index = 0; index < machine.device_count(); ++index) {
      const model::Characteristics& device = machine.device(index).characteristics();
      const model::DeviceCounters counters = machine.device(index).counters();
      DeviceLatency& latency = pacer_->latency(index);
      all.devices.push_back({machine.device_name(index), device.profile, device.sectors,
                             difference(counters, counters_before_[index]), latency.target.summary(),
                             latency.achieved.summary(), latency.lateness.summary()});
      if (afterwards == Interval::goes_on) continue;
      counters_before_[index] = counters;
      latency = DeviceLatency();
    }
    if (afterwards == Interval::starts_anew) {
      interval_model_start_ = all.model_now;
      interval_wall_start_ = wall;
    }
    return all;
  });
}

}  // namespace headcrash::nbd
