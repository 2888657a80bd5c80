#pragma once
// Writes the page of a crash (results/report/crash/crash_page.h) for commands.

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
  oracle::Judgement judgement;  ///< of the state, if checked
  bool checked = false;
  std::vector<oracle::Finding> findings;
  std::string log;
  std::vector<std::string> faults;  ///< of an array, when the power returned
  /// By full name; states of other recordings are ignored.
  std::vector<explorer::JudgedState> states;
  explorer::FindGeometry hardware;  ///< if set, also shows heads, caches and other series over time
  std::string recovery_of;          ///< state whose recovery was recorded; empty for a workload
  std::vector<std::string> reproduce;
};

/// Checks that the file of an option (--html) can be written, before the command runs for minutes.
Result<void> check_output_path(const std::filesystem::path& path, const std::string& option);

/// Writes the page. Replaces an existing file. Fails if the recording cannot be read or the file
/// cannot be written.
Result<void> save_crash_file(const CrashFile& of, const std::filesystem::path& path);

/// Writes the page, and prints its path to stderr.
Result<void> write_crash_file(const CrashFile& of, const std::filesystem::path& path);

/// Returns the number of lost or torn writes of a state, or of members that stopped before others.
/// A physical state counts as lacking all.
std::size_t missing_writes(const states::RunHistory& run, const states::CrashState& state);

}  // namespace headcrash::cli
