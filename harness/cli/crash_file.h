#pragma once
// Writes a crash state's page (results/report/crash/crash_page.h), for several commands.

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
  oracle::Judgement judgement;  ///< the state's verdict, if it was checked
  bool checked = false;
  std::vector<oracle::Finding> findings;
  std::string log;
  std::vector<std::string> faults;  ///< array faults injected when the power returned
  /// All judged states, by full name. States from other recordings are ignored.
  std::vector<explorer::JudgedState> states;
  explorer::FindGeometry hardware;  ///< if set, also shows heads, caches and other series over time
  /// The state whose recovery was recorded; empty if a workload was recorded.
  std::string recovery_of;
  std::vector<std::string> reproduce;
};

/// Checks that the file named by an option (--html) can be written, before a command that runs for
/// minutes starts.
Result<void> check_output_path(const std::filesystem::path& path, const std::string& option);

/// Writes the page. Replaces an existing file. Fails if the recording cannot be read or the file
/// cannot be written.
Result<void> save_crash_file(const CrashFile& of, const std::filesystem::path& path);

/// Writes the page, and prints its path to stderr.
Result<void> write_crash_file(const CrashFile& of, const std::filesystem::path& path);

/// Returns the number of writes that are lost or torn in a state, or the number of members that
/// stopped before others. For a physical state, returns the number of all unflushed writes.
std::size_t missing_writes(const states::RunHistory& run, const states::CrashState& state);

}  // namespace headcrash::cli
