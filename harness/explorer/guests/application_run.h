#pragma once
// Explores a real application (harness/workload/application.h). The application runs once and is
// recorded. Its verifier then judges every crash state of the recording.
//
//   record   mount, copy its files, prepare, sync | mark, run with its marks, mark | seal, unmount
//   verify   after recovery and second recovery: mount, copy files, verify with the marks before
//            the cut, unmount
//
// NAME.application.txt, next to the recording, contains the name of the application or the path of
// its file, so that a replay can load it.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/guests/stage_guest.h"
#include "harness/oracle/verdict.h"

namespace headcrash::explorer {

/// Copies the application's files and runs `prepare`. The file system must be mounted. If the guest
/// lacks a program, the error is a harness error with a hint.
Result<void> prepare_application(StageGuest& guest, const workload::Application& application);

/// Reads the report that `run` has written. Returns an empty text if Application::report is empty.
/// Fails if the file is missing.
Result<std::string> read_report(StageGuest& guest, const workload::Application& application);

struct VerifierResult {
  std::vector<oracle::Finding> findings;
  std::string permitted;  ///< result of oracle::permitted_losses()
};

/// Mounts the file system, runs the verifier and unmounts. `marks` holds the texts of the marks
/// before the cut, in order.
Result<VerifierResult> run_verifier(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                    const workload::Application& application,
                                    const std::vector<std::string>& marks);

std::filesystem::path application_file(const std::filesystem::path& recording);
Result<void> write_application_name(const std::filesystem::path& recording,
                                    const workload::Application& application);
/// Returns the application that was recorded, or nullopt if the recording is of another workload.
Result<std::optional<workload::Application>> read_application(
    const std::filesystem::path& recording);

}  // namespace headcrash::explorer
