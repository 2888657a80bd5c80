#pragma once
// Helpers for commands that use the explorer's guests: add options, start guests, and format
// findings as JSON.

#include <nlohmann/json.hpp>

#include "harness/cli/stored_trial.h"
#include "harness/explorer/guests/check_state.h"
#include "harness/explorer/guests/guest_pool.h"
#include "harness/explorer/guests/stage_machine.h"
#include "plugin/record/event.h"

namespace headcrash::cli {

/// The values of --kernel, --modules and --guest, which override the settings of the adapter.
struct KernelArguments {
  std::string kernel, modules, guest;
  bool virtual_time(bool otherwise = false) const {
    return guest.empty() ? otherwise : guest == "virtual";
  }
  adapters::GuestParts parts() const {
    adapters::GuestParts parts{.kernel = kernel};
    if (!modules.empty()) parts.modules = {modules};
    return parts;
  }
};
/// Adds --kernel, --modules and --guest. `otherwise` describes the default of --guest in the help
/// text.
void add_kernel_options(CLI::App& command, KernelArguments& arguments,
                        const std::string& otherwise = "that of the trial, else qemu");

/// Returns the default guest of commands that make their own recordings. User-mode Linux is
/// preferred, because it is faster than QEMU and does not need KVM. QEMU is the default if the
/// user-mode kernel in `parts` has not been built, or if `parts` names a kernel image or modules,
/// which user-mode Linux cannot use.
std::string fastest_guest(const adapters::GuestParts& parts);
/// Returns true if the guests run in virtual time: because of --guest, or by default.
bool in_virtual_time(const KernelArguments& arguments, const adapters::GuestParts& parts);
inline constexpr const char* kFastestGuest = "virtual if its kernel has been built, else qemu";
/// Applies the kernel options to `filesystem`. Fails if the kernel is neither a file nor a version
/// number.
Result<void> apply_kernel(const KernelArguments& arguments, adapters::LinuxAdapter& filesystem);

/// Adds --stack, which puts a stack of block devices below the file system.
void add_stack_option(CLI::App& command, std::string& stack);

/// Adds --machine, --fault and --fault-after-cut.
void add_machine_options(CLI::App& command, explorer::StageMachine& machine);

/// Returns the machine that the user has specified or, by default, the array in the recording.
explorer::StageMachine recorded_machine(const record::RecordingHeader& header,
                                        const explorer::StageMachine& given);

/// Returns the size of the recorded disk. Fails if the recording has no medium. Also fails if the
/// file system needs a log disk and the recording has no log disk of the right size.
Result<std::uint64_t> recorded_disk_bytes(const std::string& recording,
                                          const record::RecordingHeader& header,
                                          const adapters::LinuxAdapter& filesystem);

/// Starts a state server and guests for this file system, with a log disk if it needs one. Uses the
/// guest cache of the current user. `virtual_time` selects user-mode Linux. Fails if `machine` is
/// an array whose size is not `disk_bytes`.
Result<std::unique_ptr<explorer::GuestPool>> start_guests(const adapters::LinuxAdapter& filesystem,
                                                          const explorer::StageMachine& machine,
                                                          std::uint64_t disk_bytes,
                                                          std::size_t guests, bool virtual_time);

/// Starts one guest, which uses the trial's machine and a disk of the recorded size.
Result<std::unique_ptr<explorer::GuestPool>> start_guest(const StoredTrial& trial,
                                                         const OpenedState& opened);

/// Returns a checker for a state in the recording of the trial, or in the recording of a recovery.
Result<explorer::StateChecker> checker_of(const StoredTrial& trial, const OpenedState& opened);

nlohmann::json findings_as_json(const std::vector<oracle::Finding>& findings);

}  // namespace headcrash::cli
