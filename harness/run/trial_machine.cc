// Starts the machine of a trial (trial_machine.h). For a trial with two devices, writes a machine
// file that describes them.
#include "harness/run/trial_machine.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "plugin/model/core/store.h"

namespace headcrash::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDiskName = "hd0";
constexpr const char* kLogName = "log";

/// Returns the profile as a TOML string. It is quoted as JSON, whose escapes are also valid in
/// TOML. A path is made absolute, because the reader of the machine file would resolve a relative
/// path against the folder of that file.
std::string quoted_profile(const std::string& profile) {
  const bool is_path =
      profile.find('/') != std::string::npos || fs::path(profile).extension() == ".toml";
  return nlohmann::json(is_path ? fs::absolute(profile).string() : profile).dump();
}

std::string machine_text(const TrialMachineSpec& spec, std::uint64_t log_bytes) {
  const emulation::Settings& machine = spec.disk.machine;
  const auto device = [&](const char* name, const std::string& profile, std::uint64_t bytes) {
    return fmt::format("[[device]]\nname = \"{}\"\nprofile = {}\nsize = \"{}\"\n{}", name,
                       quoted_profile(profile), bytes, profiles::toml_of(machine.options));
  };
  return device(kDiskName, machine.profile, machine.size_bytes.value()) +
         device(kLogName, spec.log_profile.empty() ? machine.profile : spec.log_profile, log_bytes);
}

/// Returns the disks that a QEMU guest sees, in device order.
Result<std::vector<vm::GuestDisk>> nbd_disks_of(device::ServedDevice& device,
                                                std::uint64_t disk_bytes,
                                                const adapters::LinuxAdapter& filesystem) {
  TRY(const auto stats, device.control().request({{"stats", "read"}}));
  const auto disk = [&](const std::string& export_name, std::uint64_t bytes) {
    return vm::GuestDisk{
        .socket = device.socket(), .export_name = export_name, .size_bytes = bytes};
  };
  std::vector<vm::GuestDisk> disks{disk("", disk_bytes), disk("mark", vm::kMarkDiskBytes)};
  const auto& devices = stats.at("devices");
  disks[0].physical_sector_bytes = devices.at(0).at("physical_sector_bytes");
  if (filesystem.log_size_bytes == 0) return disks;
  disks.push_back(disk(std::string("disk/") + kLogName, filesystem.log_size_bytes));
  for (const auto& one : devices)
    if (one.at("name") == kLogName)
      disks.back().physical_sector_bytes = one.at("physical_sector_bytes");
  return disks;
}

Result<void> meet(run::GuestSession& session, const TrialGuestSpec& spec,
                  device::ServedDevice& device, const adapters::LinuxAdapter& filesystem) {
  TRY(session.set_clock(spec.seed));
  TRY(const auto stats, device.control().request({{"stats", "read"}}));
  // User-mode Linux sees the actual size of the device, which for an array is the requested size
  // rounded down to whole stripes. A QEMU guest is restored from a saved state, so it sees the
  // requested size.
  const std::uint64_t bytes =
      spec.accelerator == vm::Accelerator::user_mode
          ? stats.at("devices").at(0).at("sectors").get<std::uint64_t>() * model::kSectorBytes
          : spec.disk_bytes;
  return session.verify_disks({.bytes = bytes,
                               .nonce = stats.value("instance", "-"),
                               .others = filesystem.other_disks(bytes)});
}

}  // namespace

Result<std::unique_ptr<device::ServedDevice>> start_trial_machine(
    const TrialMachineSpec& spec, const adapters::LinuxAdapter& filesystem,
    const fs::path& scratch) {
  if (filesystem.log_size_bytes == 0) return device::ServedDevice::start(spec.disk, scratch);
  const fs::path file = scratch / "machine.toml";
  std::ofstream out(file);
  out << machine_text(spec, filesystem.log_size_bytes);
  if (!out.flush())
    return fail(file.string(), "cannot be written", "free space in the scratch folder");
  device::ServedDeviceSpec both = spec.disk;
  both.machine.profile.clear();
  both.machine.size_bytes.reset();
  both.machine.options = {};
  both.machine.machine = file;
  return device::ServedDevice::start(both, scratch);
}

Result<TrialGuest> start_trial_guest(const TrialGuestSpec& spec, device::ServedDevice& device,
                                     const adapters::LinuxAdapter& filesystem) {
  TrialGuest started;
  TRY(auto disks, nbd_disks_of(device, spec.disk_bytes, filesystem));
  vm::GuestSpec meant{.image = spec.image,
                      .accelerator = spec.accelerator,
                      .memory_mib = static_cast<std::uint32_t>(spec.memory_mib),
                      .disks = std::move(disks)};
  if (spec.accelerator == vm::Accelerator::user_mode)
    vm::attach_user_mode(meant, device.socket(), spec.disk_bytes,
                         filesystem.other_disks(spec.disk_bytes));
  TRY(auto guest, vm::Guest::start(meant, spec.cache, spec.scratch));
  started.guest = std::move(guest);
  started.session = std::make_unique<run::GuestSession>(
      *started.guest, std::chrono::seconds(spec.step_timeout_s), spec.interrupted);
  started.met = meet(*started.session, spec, device, filesystem);
  return started;
}

}  // namespace headcrash::run
