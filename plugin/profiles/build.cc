// Planning and building (build.h). Both steps traverse a stack in the same order, depth first, a
// device before the devices below it. An index in the plan is therefore a device id.
//
//   size:   host -> array (whole stripes, divided among members) -> member -> ... -> drive
//   device: drive -> ... -> member -> array -> machine
#include "plugin/profiles/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plugin/base/invariant.h"
#include "plugin/base/nearest.h"
#include "plugin/base/random.h"
#include "plugin/model/array/array.h"
#include "plugin/model/disk/disk.h"
#include "plugin/model/flash/flash.h"
#include "plugin/model/nvram/nvram.h"

namespace headcrash::profiles {
namespace {

using model::ArrayProfile;
using model::DeviceId;
using model::DiskProfile;
using model::FaultKind;
using model::FlashProfile;
using model::NvramProfile;

constexpr std::size_t kDevicesMax = 4096;
constexpr std::uint32_t kPhasesPpm = 1'000'000;

/// Derives a random number from the seed. The numbers for different devices or purposes are
/// independent.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t device, std::uint64_t purpose) {
  return Random(seed + 0x9e3779b97f4a7c15U * (device * 4 + purpose)).next();
}
enum Purpose : std::uint64_t { kDeviceSeed, kFaultSeed, kPhase };

// ---- plan

/// Returns true if an array or a cache in the stack disables the write caches of its drives.
bool keeps_caches_off(const Stack& stack) {
  if (const auto* array = std::get_if<ArrayProfile>(&stack.profile);
      array != nullptr && !array->volatile_cache) {
    return true;
  }
  return !stack.below.empty() && keeps_caches_off(*stack.below.front());
}

bool is_cached(const Stack& stack) {
  return std::holds_alternative<NvramProfile>(stack.profile) ||
         (!stack.below.empty() && is_cached(*stack.below.front()));
}

bool has_write_cache(const Stack& leaf) {
  if (const auto* disk = std::get_if<DiskProfile>(&leaf.profile))
    return disk->write_cache.capacity_sectors > 0;
  return std::get<FlashProfile>(leaf.profile).buffer_sectors > 0;
}

/// Returns the default setting of the drives' write caches: the factory setting, or off if NVRAM
/// above the drives replaces the caches.
bool default_write_cache(const Stack& stack) {
  const Stack& leaf = lowest(stack);
  const auto* disk = std::get_if<DiskProfile>(&leaf.profile);
  const bool delivered_on =
      disk != nullptr ? disk->write_cache.on_by_default : has_write_cache(leaf);
  return delivered_on && !is_cached(stack);
}

/// Returns the size of the stack for a requested size. Arrays round the size up to whole stripes.
std::uint64_t exposed_sectors(const Stack& stack, std::uint64_t sectors) {
  if (stack.below.empty()) return sectors;
  const Stack& below = *stack.below.front();
  const auto* array = std::get_if<ArrayProfile>(&stack.profile);
  if (array == nullptr) return exposed_sectors(below, sectors);
  const std::uint64_t member =
      exposed_sectors(below, model::Array::member_sectors(*array, sectors));
  return model::Array::data_sectors(*array, member);
}

Result<std::uint64_t> sectors_of(const MachineDevice& device) {
  const std::uint64_t all = capacity_sectors(*device.stack);
  if (!device.size_bytes) return all;
  const std::uint64_t unit =
      std::uint64_t{physical_sector_sectors(*device.stack)} * model::kSectorBytes;
  const std::string subject = fmt::format("device {}: size", device.name);
  if (*device.size_bytes == 0 || *device.size_bytes % unit != 0) {
    return fail(subject,
                fmt::format("{} bytes are not a multiple of the sector size, {} bytes",
                            *device.size_bytes, unit),
                fmt::format("use a multiple of {}", unit));
  }
  const std::uint64_t sectors = *device.size_bytes / model::kSectorBytes;
  if (sectors > all) {
    return fail(subject,
                fmt::format("{} bytes exceed the {} bytes of {}", *device.size_bytes,
                            all * model::kSectorBytes, device.stack->name),
                fmt::format("use at most {} MiB, or omit it for the full capacity", all / 2048));
  }
  return std::min(all, exposed_sectors(*device.stack, sectors));
}

Result<void> check_write_cache(const MachineDevice& device) {
  if (!device.options.write_cache.value_or(false)) return {};
  const std::string subject = fmt::format("device {}: write-cache", device.name);
  if (keeps_caches_off(*device.stack)) {
    return fail(subject,
                fmt::format("{} disables the write caches of its members", device.stack->name),
                "omit it, or set volatile-cache = true in the array's profile");
  }
  if (!has_write_cache(lowest(*device.stack))) {
    return fail(subject, fmt::format("{} has no write cache", lowest(*device.stack).name),
                "omit it");
  }
  return {};
}

/// Checks that the range of a cache is within the used part of the lower device.
Result<void> check_range(const NvramProfile& cache, std::uint64_t sectors,
                         const std::string& name) {
  if (cache.range_lba < sectors && cache.range_sectors <= sectors - cache.range_lba) return {};
  return fail(
      fmt::format("device {}: size", name),
      fmt::format(
          "leaves {} sectors on the device below the cache {}, too few for the cached range",
          sectors, cache.name),
      "use a larger size");
}

class Planner {
 public:
  explicit Planner(Plan& plan) : plan_(plan) {}

  Result<void> add(const Stack& stack, const std::string& name, std::uint64_t sectors,
                   std::optional<DeviceId> parent) {
    if (plan_.all.size() == kDevicesMax) {
      return fail(fmt::format("device {}", name),
                  fmt::format("exceeds the limit of {} devices", kDevicesMax),
                  "use a smaller machine");
    }
    const auto id = static_cast<DeviceId>(plan_.all.size());
    plan_.all.push_back(
        {name, stack.name, sectors, physical_sector_sectors(stack), parent, stack.below.empty()});
    if (const auto* cache = std::get_if<NvramProfile>(&stack.profile)) {
      TRY(check_range(*cache, sectors, name));
      return add(*stack.below.front(), name + ".below", sectors, id);
    }
    const auto* array = std::get_if<ArrayProfile>(&stack.profile);
    if (array == nullptr) return {};
    const std::uint64_t wanted = model::Array::member_sectors(*array, sectors);
    for (std::size_t i = 0; i < stack.below.size(); ++i) {
      const std::uint64_t member = exposed_sectors(*stack.below[i], wanted);
      TRY(add(*stack.below[i], fmt::format("{}.{}", name, i), member, id));
    }
    return {};
  }

 private:
  Plan& plan_;
};

// ---- build

class Builder {
 public:
  Builder(const Plan& plan, BuiltMachine& built, const BuildOptions& options)
      : plan_(plan), built_(built), options_(options) {}

  Result<std::unique_ptr<model::Device>> make(const MachineDevice& device) {
    tear_ = device.options.tear;
    return make(*device.stack,
                device.options.write_cache.value_or(default_write_cache(*device.stack)), 0);
  }

 private:
  /// Builds the device with id `next_` and the devices below it.
  Result<std::unique_ptr<model::Device>> make(const Stack& stack, bool write_cache,
                                              std::uint32_t phase_ppm) {
    const auto id = static_cast<DeviceId>(next_++);
    Result<std::unique_ptr<model::Device>> made;
    if (const auto* disk = std::get_if<DiskProfile>(&stack.profile)) {
      made = make_disk(*disk, id, write_cache, phase_ppm);
    } else if (const auto* flash = std::get_if<FlashProfile>(&stack.profile)) {
      made = make_flash(*flash, id, write_cache);
    } else if (const auto* array = std::get_if<ArrayProfile>(&stack.profile)) {
      made = make_array(*array, stack, id, write_cache, phase_ppm);
    } else {
      made = make_cache(std::get<NvramProfile>(stack.profile), stack, id, write_cache, phase_ppm);
    }
    if (!made) return made;
    invariant((*made)->characteristics().sectors == plan_.all[id].sectors,
              "a built device must have the planned size");
    built_.all[id].device = made->get();
    TRY(break_it(id));
    if (plan_.all[id].parent) built_.machine->name_part(plan_.all[id].name, **made);
    return made;
  }

  /// Adds faults and unreadable sectors to a device before the device above it starts.
  Result<void> break_it(DeviceId id) {
    if (options_.mark_unreadable && plan_.all[id].leaf)
      options_.mark_unreadable(id, *built_.all[id].faults);
    for (const model::FaultSpec& fault : options_.faults) {
      if (fault.device != plan_.all[id].name) continue;
      TRY(built_.add_fault(plan_, fault));
    }
    return {};
  }

  model::Simulation& simulation() { return built_.machine->simulation(); }
  model::Observer& observer() { return built_.machine->observer(); }
  std::uint64_t seed(DeviceId id, Purpose purpose) const {
    return mixed(options_.seed, id, purpose);
  }
  model::SectorStore* store(DeviceId id) const {
    return options_.store ? options_.store(id) : nullptr;
  }

  model::DeviceFaults* faults(DeviceId id) {
    auto& slot = built_.all[id].faults;
    slot =
        std::make_unique<model::DeviceFaults>(simulation(), observer(), id, seed(id, kFaultSeed));
    return slot.get();
  }

  std::unique_ptr<model::Device> make_disk(const DiskProfile& profile, DeviceId id,
                                           bool write_cache, std::uint32_t phase_ppm) {
    model::DiskOptions o{profile, simulation(), observer()};
    o.store = store(id);
    o.device = id;
    o.seed = seed(id, kDeviceSeed);
    o.write_cache = write_cache;
    o.sectors = plan_.all[id].sectors;
    o.spindle_phase_ppm = phase_ppm;
    o.faults = faults(id);
    o.tear = tear_;
    return std::make_unique<model::Disk>(o);
  }

  std::unique_ptr<model::Device> make_flash(const FlashProfile& profile, DeviceId id,
                                            bool write_cache) {
    model::FlashOptions o{profile, simulation(), observer()};
    o.store = store(id);
    o.device = id;
    o.seed = seed(id, kDeviceSeed);
    o.write_cache = write_cache;
    o.sectors = plan_.all[id].sectors;
    o.faults = faults(id);
    o.tear = tear_;
    return std::make_unique<model::Flash>(o);
  }

  Result<std::unique_ptr<model::Device>> make_array(const ArrayProfile& profile, const Stack& stack,
                                                    DeviceId id, bool write_cache,
                                                    std::uint32_t phase_ppm) {
    ArrayProfile own = profile;
    own.volatile_cache = profile.volatile_cache && write_cache;
    model::ArrayOptions o{own, simulation(), observer()};
    for (const auto& member : stack.below) {
      // next_ is the id of the member.
      const auto member_phase =
          static_cast<std::uint32_t>(mixed(options_.seed, next_, kPhase) % kPhasesPpm);
      auto made = make(*member, own.volatile_cache,
                       profile.synchronised_spindles ? phase_ppm : member_phase);
      if (!made) return made;
      o.members.push_back(*std::move(made));
    }
    o.bytes = options_.store != nullptr;
    o.device = id;
    o.seed = seed(id, kDeviceSeed);
    TRY(auto array, model::Array::create(std::move(o)));
    built_.all[id].array = array.get();
    return std::unique_ptr<model::Device>(std::move(array));
  }

  Result<std::unique_ptr<model::Device>> make_cache(const NvramProfile& profile, const Stack& stack,
                                                    DeviceId id, bool write_cache,
                                                    std::uint32_t phase_ppm) {
    auto below = make(*stack.below.front(), write_cache, phase_ppm);
    if (!below) return below;
    model::NvramOptions o{profile, simulation(), observer(), *std::move(below)};
    o.bytes = options_.store != nullptr;
    o.device = id;
    o.seed = seed(id, kDeviceSeed);
    o.battery = faults(id);
    auto cache = std::make_unique<model::Nvram>(std::move(o));
    built_.all[id].nvram = cache.get();
    return std::unique_ptr<model::Device>(std::move(cache));
  }

  const Plan& plan_;
  BuiltMachine& built_;
  const BuildOptions& options_;
  std::size_t next_ = 0;
  std::optional<model::Tear> tear_;  ///< the tear setting for the device that is being built
};

bool is_of_battery(FaultKind kind) {
  return kind == FaultKind::battery_low || kind == FaultKind::battery_dead;
}

std::string subject_of(const model::FaultSpec& fault) {
  return fmt::format("fault {}", model::to_text(fault));
}

}  // namespace

Result<Plan> plan(std::vector<MachineDevice> devices) {
  Plan plan;
  plan.devices = std::move(devices);
  std::set<std::string> names;
  for (const MachineDevice& device : plan.devices) {
    if (!names.insert(device.name).second) {
      return fail(fmt::format("device {}", device.name), "duplicate device name",
                  "rename one of them");
    }
    TRY(const auto sectors, sectors_of(device));
    TRY(check_write_cache(device));
    TRY(Planner(plan).add(*device.stack, device.name, sectors, std::nullopt));
  }
  if (plan.devices.empty()) return fail("machine", "has no devices", "add at least one");
  return plan;
}

Result<DeviceId> device_of(const Plan& plan, const model::FaultSpec& fault) {
  std::vector<std::string> names;
  names.reserve(plan.all.size());
  for (const PlannedDevice& device : plan.all) names.push_back(device.name);
  const auto found = std::find(names.begin(), names.end(), fault.device);
  if (found != names.end()) return static_cast<DeviceId>(found - names.begin());
  return fail(subject_of(fault), fmt::format("there is no device '{}'", fault.device),
              base::suggest(fault.device, names));
}

Result<BuiltMachine> build(const Plan& plan, model::MachineObserver& observer,
                           const BuildOptions& options) {
  for (const model::FaultSpec& fault : options.faults) TRY(device_of(plan, fault));
  BuiltMachine built;
  built.all.resize(plan.all.size());
  built.machine = std::make_unique<model::Machine>(observer);
  Builder builder(plan, built, options);
  for (const MachineDevice& device : plan.devices) {
    TRY(auto made, builder.make(device));
    built.machine->add_device(device.name, std::move(made));
  }
  return built;
}

Result<void> BuiltMachine::add_fault(const Plan& plan, const model::FaultSpec& fault) {
  const std::string subject = subject_of(fault);
  TRY(const auto named, device_of(plan, fault));
  const DeviceId id = named;
  const PlannedDevice& planned = plan.all[id];
  const bool battery = is_of_battery(fault.kind);
  if (all[id].faults == nullptr || planned.leaf == battery) {
    return fail(subject, fmt::format("this kind of fault does not apply to {}", fault.device),
                battery ? "name a battery-backed cache" : "name a drive or flash device");
  }
  const auto outside = [&](std::uint64_t lba, std::uint64_t sectors) {
    return lba >= planned.sectors || sectors > planned.sectors - lba;
  };
  if (outside(fault.lba, fault.sectors) ||
      (fault.kind == FaultKind::misdirected_write && fault.to_lba >= planned.sectors)) {
    return fail(subject,
                fmt::format("reaches beyond the {} sectors of {}", planned.sectors, fault.device),
                "correct the range");
  }
  return all[id].faults->add(fault);
}

}  // namespace headcrash::profiles
