#pragma once
// A real application (harness/workload/application.h) in the lab: recorded once, then every crash
// state of the recording is put to its verifier.
//
//   record   mount, put its files, prepare, sync | mark, run with its marks, mark | seal, unmount
//   verify   after recovery and second recovery: mount, put, verify with the marks before the cut, unmount
//
// Beside the recording lies NAME.application.txt, the name or path of the application's file, so
// that a replay knows whom to ask.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/guests/stage_guest.h"
#include "harness/oracle/verdict.h"

namespace headcrash::explorer {

/// Puts its files and makes ready; the file system is mounted. A program that the guest lacks is a
/// harness error with a hint.
run::Step<void> prepare_application(StageGuest& guest, const workload::Application& application);

struct Verified {
  std::vector<oracle::Finding> findings;
  std::string permitted;  ///< oracle::permitted_losses()
};

/// Mounts, verifies and unmounts. `told`: the texts of its marks before the cut, in order.
run::Step<Verified> put_to_verifier(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                    const workload::Application& application,
                                    const std::vector<std::string>& told);

std::filesystem::path application_file(const std::filesystem::path& recording);
Result<void> write_application_name(const std::filesystem::path& recording,
                                    const workload::Application& application);
/// Nothing where the recording is of no application.
Result<std::optional<workload::Application>> read_application(
    const std::filesystem::path& recording);

}  // namespace headcrash::explorer
