// Combines storage, recording, machine and pacer of one emulation (emulation.h).
#include "plugin/servers/emulation/emulation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "plugin/base/result.h"
#include "plugin/profiles/shutdown.h"
#include "plugin/servers/emulation/transport_time.h"

namespace headcrash::emulation {
namespace {

constexpr std::size_t kMember = static_cast<std::size_t>(-1);

std::string new_instance() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

Answer answer_of(const Served& served) {
  if (served.shut_down) return {ESHUTDOWN, "the server is stopping"};
  if (served.backing_failed)
    return {EIO, "host storage failed earlier; results are no longer valid"};
  switch (served.status) {
    case model::Status::ok:
      return {};
    case model::Status::out_of_range:
      return {EINVAL, "the request extends beyond the end of the device"};
    case model::Status::power_lost:
      return {EIO, "the power is off"};
    case model::Status::medium_error:
      return {EIO, "a sector cannot be read or written"};
    case model::Status::store_error:
      return {EIO, "host storage failed (disk full?)"};
    case model::Status::device_failed:
      break;
  }
  return {EIO, "the device is dead, or its array has lost too many members or refuses to start"};
}

/// Returns true if the storage that the settings name does not exist yet.
bool is_new(const Settings& settings) {
  std::error_code error;
  if (settings.store) return !std::filesystem::exists(*settings.store / "store.json", error);
  return !settings.record || !std::filesystem::exists(*settings.record, error);
}

}  // namespace

Result<void> Emulation::open_backing(const Settings& settings) {
  record::BackingOptions options{.store = settings.store, .record = settings.record};
  options.machine.seed = settings.seed;
  for (const profiles::PlannedDevice& device : plan_.all)
    options.machine.devices.push_back(
        {device.name, device.profile, device.sectors, device.physical_sector_sectors, device.leaf});
  TRY(auto backing, record::Backing::open(options));
  backing_ = std::move(backing);
  return {};
}

void Emulation::make_written_maps(bool fresh) {
  for (model::DeviceId id = 0, count = plan_.device_count(); id < count; ++id) {
    const profiles::PlannedDevice& device = plan_.all[id];
    machine_index_.push_back(device.parent ? kMember : written_.size());
    if (device.parent) continue;
    // Only a new device without devices below it has a map of its written sectors. An array has no
    // map, because it may rebuild unwritten sectors from inconsistent parity, which makes them
    // nonzero.
    written_.push_back(fresh && device.leaf ? std::make_unique<media::WrittenMap>(device.sectors)
                                            : nullptr);
  }
}

Result<std::unique_ptr<Emulation>> Emulation::create(const Settings& settings, Hardware hardware) {
  std::unique_ptr<Emulation> self(new Emulation());
  self->instance_ = new_instance();
  self->lead_ns_ = settings.lead_ns;
  self->plan_ = std::move(hardware.plan);
  self->make_written_maps(is_new(settings));
  TRY(self->open_backing(settings));
  profiles::BuildOptions options{.seed = settings.seed};
  options.store = [backing = self->backing_.get()](model::DeviceId id) {
    return backing->store(id);
  };
  TRY(auto built, profiles::build(self->plan_, self->backing_->observer(), options));
  self->built_ = std::move(built);
  self->pacer_ = std::make_unique<Pacer>(*self->built_.machine, settings.clock);
  if (self->backing_->recorded())
    self->pacer_->fail_when(
        [backing = self->backing_.get()] { return backing->error().has_value(); });
  for (const model::FaultSpec& fault : hardware.faults) TRY(self->add_fault_now(fault));
  if (settings.cut) {
    const auto armed = self->arm(*settings.cut, *model::parse_cut_trigger(*settings.cut));
    if (!armed) return tl::unexpected(base::within("cut", armed.error()));
  }
  self->totals_before_.resize(self->plan_.all.size());
  self->interval_wall_start_ = wall_now();
  return self;
}

Emulation::~Emulation() {
  static_cast<void>(stop());
}

void Emulation::start(Transport transport) {
  pacer_->start();
  if (pacer_->clock().kind == Clock::Kind::virtual_time) return;
  if (lead_ns_) return pacer_->set_lead(*lead_ns_);
  calibration_ = std::jthread([this, transport](const std::stop_token& stopped) {
    pacer_->set_lead(measure_transport_time(transport, stopped));
  });
}

Result<void> Emulation::stop() {
  if (stopped_ || !pacer_) return {};
  stopped_ = true;
  calibration_ = {};
  pacer_->stop();
  profiles::shut_down(built_);
  return backing_->flush();
}

Answer Emulation::serve(std::size_t device_index, const model::Request& request) {
  note_written(device_index, request);
  return answer_of(pacer_->serve(device_index, request));
}

void Emulation::submit(std::size_t device_index, const model::Request& request,
                       model::Initiator& initiator) {
  note_written(device_index, request);
  pacer_->submit(device_index, request, initiator);
}

Answer Emulation::account(std::size_t device_index, const model::Request& request,
                          const model::Completion& completion) {
  return answer_of(pacer_->account(device_index, request, completion));
}

void Emulation::note_written(std::size_t device_index, const model::Request& request) {
  media::WrittenMap* written = written_[device_index].get();
  if (written != nullptr && request.op == model::Op::write)
    written->mark(request.lba, request.sectors);
}

Result<void> Emulation::set_clock(const Clock& clock) {
  if (pacer_->clock().kind == Clock::Kind::virtual_time)
    return fail("clock", "cannot be set in virtual time, where the guest controls the clock");
  pacer_->set_clock(clock);
  return {};
}

model::TimeNs Emulation::mark(std::string_view text) {
  return pacer_->with_machine([&](model::Machine& machine) {
    machine.mark(text);
    return machine.simulation().now();
  });
}

Answer Emulation::serve_marks(const model::Request& request) {
  return serve_mark_disk(request, instance_, [this](std::string_view text) {
    return mark_of_guest(text) ? Answer{} : Answer{EIO, "the power is off"};
  });
}

bool Emulation::mark_of_guest(std::string_view text) {
  return pacer_->with_machine([&](model::Machine& machine) {
    if (machine.power() == model::PowerState::off) return false;
    machine.mark(text);
    return true;
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

Result<void> Emulation::arm(const std::string& text, const model::CutTrigger& trigger) {
  return pacer_->with_machine([&](model::Machine& machine) -> Result<void> {
    TRY(machine.arm(trigger));
    armed_text_ = text;
    return {};
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

// ---- statistics

DeviceStatistics Emulation::device_statistics(model::DeviceId id, const DeviceTotals& totals) {
  const profiles::PlannedDevice& planned = plan_.all[id];
  const DeviceTotals interval = difference(totals, totals_before_[id]);
  DeviceStatistics told{
      .name = planned.name, .profile = planned.profile, .sectors = planned.sectors};
  told.physical_sector_bytes =
      built_.all[id].device->characteristics().physical_sector_sectors * model::kSectorBytes;
  told.queue_depth = built_.all[id].device->characteristics().queue_depth;
  told.counters = interval.device;
  if (planned.parent) told.parent = plan_.all[*planned.parent].name;
  if (const model::Array* array = built_.all[id].array)
    told.array = ArrayStatistics{array->status(), *interval.array};
  if (const model::Nvram* nvram = built_.all[id].nvram)
    told.nvram = NvramStatistics{nvram->battery(), nvram->state(), *interval.nvram};
  if (machine_index_[id] == kMember) return told;
  const DeviceLatency& latency = pacer_->latency(machine_index_[id]);
  told.response_times = ResponseTimes{latency.target.summary(), latency.achieved.summary(),
                                      latency.lateness.summary(), latency.flush.summary()};
  told.load = latency.load;
  return told;
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
    all.threads = threads_;
    all.in_flight_max = pacer_->in_flight_max();
    if (const auto error = backing_->error()) all.recording_error = error->message();
    all.quiet_since = 0;
    for (model::DeviceId id = 0, count = plan_.device_count(); id < count; ++id) {
      const auto quiet = built_.all[id].device->quiet_since();
      all.quiet_since = quiet && all.quiet_since ? std::optional(std::max(*quiet, *all.quiet_since))
                                                 : std::nullopt;
      const DeviceTotals totals = totals_of(built_.all[id]);
      all.devices.push_back(device_statistics(id, totals));
      if (afterwards == Interval::restarts) totals_before_[id] = totals;
    }
    if (afterwards == Interval::restarts) {
      for (std::size_t index = 0; index < machine.device_count(); ++index)
        pacer_->latency(index) = DeviceLatency{.load = LoadSeries(all.model_now)};
      pacer_->in_flight_max() = 0;
      interval_model_start_ = all.model_now;
      interval_wall_start_ = wall;
    }
    return all;
  });
}

// ---- hardware

namespace {

constexpr const char* kDeviceName = "hd0";

/// Prepends the parameter to the error's subject.
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
  one.devices.push_back({kDeviceName, std::move(*stack), settings.size_bytes, settings.options});
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
