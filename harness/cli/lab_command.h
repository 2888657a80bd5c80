#pragma once
// Shared by commands that use guests of the explorer: options, starting guests, and findings as
// JSON.

#include <nlohmann/json.hpp>

#include "harness/cli/stored_trial.h"
#include "harness/explorer/guests/check_state.h"
#include "harness/explorer/guests/guest_pool.h"
#include "harness/explorer/guests/stage_machine.h"
#include "plugin/record/event.h"

namespace headcrash::cli {

/// Overrides of the adapter's kernel and of the kind of guest.
struct KernelArguments {
  std::string kernel, modules, guest;
  bool virtual_time(bool otherwise = false) const {
    return guest.empty() ? otherwise : guest == "virtual";
  }
};
/// Adds --kernel, --modules and --guest.
void add_kernel_options(CLI::App& command, KernelArguments& arguments);
/// Applies the kernel options. Fails if the kernel is neither a file nor a version.
Result<void> apply_kernel(const KernelArguments& arguments, adapters::LinuxAdapter& filesystem);

/// Adds --machine, --fault and --fault-after-cut.
void add_machine_options(CLI::App& command, explorer::StageMachine& machine);

/// Returns the given machine, or the array of the recording by default.
explorer::StageMachine recorded_machine(const record::RecordingHeader& header,
                                        const explorer::StageMachine& given);

/// Returns the size of the disk of the recorded states. Fails if the recording has no medium, or
/// lacks the log disk of the file system in the right size.
Result<std::uint64_t> recorded_disk_bytes(const std::string& recording,
                                          const record::RecordingHeader& header,
                                          const adapters::LinuxAdapter& filesystem);

/// Starts a state server and guests for this file system, including its log disk, with the user's
/// cache. `virtual_time` selects user-mode Linux. Fails if the machine's disk has a different size.
Result<std::unique_ptr<explorer::GuestPool>> start_guests(const adapters::LinuxAdapter& filesystem,
                                                          const explorer::StageMachine& machine,
                                                          std::uint64_t disk_bytes,
                                                          std::size_t guests, bool virtual_time);

/// Starts one guest under the trial's machine, with a disk of the recorded size.
Result<std::unique_ptr<explorer::GuestPool>> start_guest(const StoredTrial& trial,
                                                         const OpenedState& opened);

/// Returns a checker for a state of the trial's recording, or of the recording of a recovery.
Result<explorer::StateChecker> checker_of(const StoredTrial& trial, const OpenedState& opened);

nlohmann::json findings_as_json(const std::vector<oracle::Finding>& findings);

}  // namespace headcrash::cli
