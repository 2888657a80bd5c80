// Starts guests for commands (lab_command.h).
#include "harness/cli/lab_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/campaign/campaign.h"
#include "harness/campaign/trial/array_disk.h"
#include "harness/explorer/guests/application_run.h"
#include "harness/run/guest_kind.h"
#include "harness/vm/guest.h"

namespace headcrash::cli {
namespace {

constexpr const char* kLogName = "log";  // name of the log disk in a stage and in a trial

}  // namespace

Result<std::uint64_t> recorded_disk_bytes(const std::string& recording,
                                          const record::RecordingHeader& header,
                                          const adapters::LinuxAdapter& filesystem) {
  if (header.of_array()) return header.devices.front().sectors * model::kSectorBytes;
  const record::RecordedDevice* disk = nullptr;
  const record::RecordedDevice* log = nullptr;
  for (const record::RecordedDevice& device : header.devices) {
    if (!device.medium) continue;
    if (disk == nullptr) {
      disk = &device;
    } else if (device.name == kLogName) {
      log = &device;
    }
  }
  if (disk == nullptr) return fail(recording, "contains no disk");
  if (filesystem.log_size_bytes != 0 &&
      (log == nullptr || log->sectors * model::kSectorBytes != filesystem.log_size_bytes)) {
    return fail(recording,
                fmt::format("has no disk \"{}\" of {} bytes for the log of {}", kLogName,
                            filesystem.log_size_bytes, filesystem.name),
                "use the file system of the recording");
  }
  const auto disks = std::ranges::count_if(header.devices, &record::RecordedDevice::medium);
  const std::size_t wanted = filesystem.other_disks(0).size() + 1;
  if (filesystem.stack && static_cast<std::size_t>(disks) != wanted)
    return fail(
        recording,
        fmt::format("has {} disks, but the stack {} has {}", disks, filesystem.stack->name, wanted),
        "use the stack of the recording");
  return disk->sectors * model::kSectorBytes;
}

void add_kernel_options(CLI::App& command, KernelArguments& arguments,
                        const std::string& otherwise) {
  command.add_option(
      "--kernel", arguments.kernel,
      "The guest's kernel: a Debian version (6.12, 6.1-rt), a bzImage, or, with --guest virtual, a "
      "folder with the kernel's source; default: the kernel of the host's release");
  command.add_option("--modules", arguments.modules,
                     "Modules for a bzImage: the folder that modules_install created, or a .ko "
                     "file");
  add_guest_option(command, arguments.guest, otherwise);
}

void add_stack_option(CLI::App& command, std::string& stack) {
  command.add_option("--stack", stack,
                     "Stack of devices below the file system, such as md-raid1: a name (headcrash "
                     "list stacks) or .toml file; --fs ext4:md-raid1 is the same");
}

std::string fastest_guest(const adapters::GuestParts& parts) {
  std::error_code error;
  if (!parts.modules.empty() || std::filesystem::is_regular_file(parts.kernel, error))
    return "qemu";
  if (std::filesystem::is_directory(parts.kernel, error)) return "virtual";
  return vm::user_mode_kernel_is_built(campaign::default_cache(), parts) ? "virtual" : "qemu";
}

bool in_virtual_time(const KernelArguments& arguments, const adapters::GuestParts& parts) {
  return (arguments.guest.empty() ? fastest_guest(parts) : arguments.guest) == "virtual";
}

Result<void> apply_kernel(const KernelArguments& arguments, adapters::LinuxAdapter& filesystem) {
  namespace fs = std::filesystem;
  if (!arguments.kernel.empty()) TRY(adapters::replace_kernel(filesystem, arguments.kernel));
  if (arguments.modules.empty()) return {};
  std::error_code error;
  if (!fs::exists(arguments.modules, error))
    return fail(arguments.modules, "does not exist",
                "use the folder created by modules_install, or a .ko file");
  filesystem.guest.modules = {fs::absolute(arguments.modules).string()};
  return {};
}

void add_machine_options(CLI::App& command, explorer::StageMachine& machine) {
  command.add_option(
      "--machine", machine.profile,
      "Array to use as the disk: a built-in name (headcrash list profiles) or a .toml file; "
      "default for a recording: the array that it was made on");
  command
      .add_option("--fault", machine.faults,
                  "Fault that the array has from the start of the workload, for example dead:hd0.3")
      ->allow_extra_args(false);
  command
      .add_option("--fault-after-cut", machine.faults_after_cut,
                  "Fault that the array has when the power returns")
      ->allow_extra_args(false);
}

explorer::StageMachine recorded_machine(const record::RecordingHeader& header,
                                        const explorer::StageMachine& given) {
  explorer::StageMachine machine = given;
  if (!machine.is_array() && header.of_array()) machine.profile = header.devices.front().profile;
  return machine;
}

Result<std::unique_ptr<explorer::GuestPool>> start_guests(const adapters::LinuxAdapter& filesystem,
                                                          const explorer::StageMachine& machine,
                                                          std::uint64_t disk_bytes,
                                                          std::size_t guests, bool virtual_time) {
  TRY(const auto whole, campaign::disk_bytes_of(machine, filesystem, disk_bytes));
  if (whole != disk_bytes)
    return fail(machine.profile,
                fmt::format("provides a disk of {} bytes, but {} are required", whole, disk_bytes),
                "use the array that the recording was made on, or omit --size");
  const std::filesystem::path cache = campaign::default_cache();
  const vm::Accelerator accelerator = run::accelerator_of(virtual_time, cache);
  TRY(const auto image, vm::guest_image(cache, filesystem.guest, accelerator));
  const std::uint32_t memory_mib =
      explorer::StageGuestOptions{}.memory_mib +
      (filesystem.guest.rootfs.empty()
           ? 0
           : static_cast<std::uint32_t>(2 * std::filesystem::file_size(filesystem.guest.rootfs) >>
                                        20U));
  auto pool = explorer::GuestPool::start(guests, {.image = image,
                                                  .accelerator = accelerator,
                                                  .memory_mib = memory_mib,
                                                  .disk_bytes = disk_bytes,
                                                  .others = filesystem.other_disks(disk_bytes),
                                                  .cache = cache,
                                                  .interrupted = &interrupted()});
  if (pool)
    for (explorer::StageGuest* guest : (*pool)->guests()) guest->set_machine(machine);
  return pool;
}

Result<std::unique_ptr<explorer::GuestPool>> start_guest(const StoredTrial& trial,
                                                         const OpenedState& opened) {
  TRY(const auto bytes,
      recorded_disk_bytes(opened.recording.string(), opened.run->header(), trial.filesystem));
  TRY(const auto application, explorer::read_application(trial.recording));
  adapters::LinuxAdapter filesystem = trial.filesystem;
  if (application) application->add_to(filesystem.guest);
  return start_guests(filesystem, recorded_machine(opened.run->header(), trial.machine), bytes, 1,
                      trial.virtual_time);
}

Result<explorer::StateChecker> checker_of(const StoredTrial& trial, const OpenedState& opened) {
  TRY(auto workload, explorer::open_recorded_workload(trial.recording));
  if (opened.recovery_of.empty())
    return explorer::StateChecker::create(trial.filesystem, workload, opened.run);
  TRY(auto run, states::RunHistory::load(trial.recording));
  TRY(const auto before, states::parse_crash_state(opened.recovery_of));
  TRY(auto checker, explorer::StateChecker::create(trial.filesystem, workload, run));
  explorer::StateOutcome of;
  of.state = opened.recovery_of;
  of.persisted_operation = explorer::persisted_before(*run, before.event);
  of.persisted_texts = explorer::persisted_texts_before(*run, before.event);
  return checker.for_recovery(of, opened.run);
}

nlohmann::json findings_as_json(const std::vector<oracle::Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const oracle::Finding& finding : findings) {
    list.push_back({{"kind", oracle::name(finding.kind)},
                    {"tier", oracle::name(finding.tier)},
                    {"path", finding.path},
                    {"expected", finding.expected},
                    {"found", finding.found}});
  }
  return list;
}

}  // namespace headcrash::cli
