#pragma once
// Writes the page of a crash state (results/report/crash/crash_page.h).

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/explorer/explain/crash_timeline.h"

namespace headcrash::cli {

struct CrashFile {
  const states::RunHistory* run = nullptr;
  const adapters::LinuxAdapter* filesystem = nullptr;    ///< null if unknown
  const explorer::RecordedWorkload* workload = nullptr;  ///< null if unknown
  std::optional<states::CrashState> state;
  oracle::Judgement judgement;  ///< verdict on the state, if it was checked
  bool checked = false;
  std::vector<oracle::Finding> findings;
  std::string log;
  /// Faults to inject into an array when its power returns.
  std::vector<std::string> faults;
  /// All judged states. Each state's full name identifies its recording; states of other recordings
  /// are ignored.
  std::vector<explorer::JudgedState> states;
  /// If set, the page also shows heads, caches and other series over time.
  explorer::FindGeometry hardware;
  /// Name of the state that was recovered, if the recording is of a recovery; otherwise empty.
  std::string recovery_of;
  std::vector<std::string> reproduce;
};

/// Checks that the file named by an option (--html) can be written. Called before work that takes
/// minutes.
Result<void> check_output_path(const std::filesystem::path& path, const std::string& option);

/// Writes the page. Replaces an existing file. Fails if the recording cannot be read or the file is
/// not writable.
Result<void> save_crash_file(const CrashFile& of, const std::filesystem::path& path);

/// Calls save_crash_file(), and prints the path of the page to standard error.
Result<void> write_crash_file(const CrashFile& of, const std::filesystem::path& path);

/// Returns the number of lost or torn writes in a state. If the state's base is `member`, returns
/// instead the number of members that stopped before the others. For a physical state, returns the
/// number of all unflushed writes.
std::size_t missing_writes(const states::RunHistory& run, const states::CrashState& state);

}  // namespace headcrash::cli
