#pragma once
// What the commands that work with the lab's guests share: starting it, and findings as JSON.

#include <nlohmann/json.hpp>

#include "harness/cli/stored_trial.h"
#include "harness/explorer/guests/check_state.h"
#include "harness/explorer/guests/lab.h"
#include "harness/explorer/guests/stage_machine.h"
#include "plugin/record/event.h"

namespace headcrash::cli {

/// Another kernel than the adapter's, and another kind of guest than what is to be repeated had.
struct KernelArguments {
  std::string kernel, modules, guest;
  bool virtual_time(bool otherwise = false) const {
    return guest.empty() ? otherwise : guest == "virtual";
  }
};
/// --kernel, --modules and --guest.
void add_kernel_options(CLI::App& command, KernelArguments& arguments);
/// Errors: there is no such file, and it is not a version.
Result<void> take_kernel(const KernelArguments& arguments, adapters::LinuxAdapter& filesystem);

/// --machine, --fault and --fault-after-cut.
void add_machine_options(CLI::App& command, explorer::StageMachine& machine);

/// As given; else what a recording of an array says of itself.
explorer::StageMachine recorded_machine(const record::RecordingHeader& header,
                                        const explorer::StageMachine& given);

/// The size of the disk that the states of a recording are of. Errors: it has no medium; the file
/// system keeps its log on a disk of its own, and the recording has none of its size.
Result<std::uint64_t> recorded_disk_bytes(const std::string& recording,
                                          const record::RecordingHeader& header,
                                          const adapters::LinuxAdapter& filesystem);

/// With the user's cache and the guest that this file system wants: its log's disk, too.
/// `virtual_time`: guests of user-mode Linux. Errors: a machine whose disk has another size.
Result<std::unique_ptr<explorer::Lab>> start_lab(const adapters::LinuxAdapter& filesystem,
                                                 const explorer::StageMachine& machine,
                                                 std::uint64_t disk_bytes, std::size_t guests,
                                                 bool virtual_time);

/// With one guest whose disk has the size of the recorded one, under the trial's machine.
Result<std::unique_ptr<explorer::Lab>> one_guest(const StoredTrial& trial,
                                                 const OpenedState& opened);

/// For a state of the trial's recording, or of the recovery of one.
Result<explorer::StateChecker> checker_of(const StoredTrial& trial, const OpenedState& opened);

nlohmann::json findings_as_json(const std::vector<oracle::Finding>& findings);

}  // namespace headcrash::cli
