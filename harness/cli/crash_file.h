#pragma once
// The page of a crash (results/report/crash/crash_page.h) as the commands make it.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/explorer/explain/crash_timeline.h"

namespace headcrash::cli {

struct CrashFile {
  const states::RunHistory* run = nullptr;
  const adapters::LinuxAdapter* filesystem = nullptr;    ///< null: not known
  const explorer::RecordedWorkload* workload = nullptr;  ///< null: not known
  std::optional<states::CrashState> state;
  oracle::Judgement judgement;  ///< of the state, if it was checked
  bool checked = false;
  std::vector<oracle::Finding> findings;
  std::string log;
  std::vector<std::string> faults;  ///< of an array, when the power returned
  std::vector<explorer::JudgedState>
      states;                       ///< by full name; those of other recordings are left out
  explorer::FindGeometry hardware;  ///< set: heads, caches and the like over time, too
  std::string recovery_of;          ///< the recording is that of the recovery of this state
  std::vector<std::string> reproduce;
};

/// Before the minutes that it takes to fill the file of an option (--html). Errors: it cannot be
/// written.
Result<void> check_output_path(const std::filesystem::path& path, const std::string& option);

/// Replaces the file if there is one. Errors: the recording's, or that the file cannot be written.
Result<void> save_crash_file(const CrashFile& of, const std::filesystem::path& path);

/// The same, and says on stderr where it is.
Result<void> write_crash_file(const CrashFile& of, const std::filesystem::path& path);

/// How many writes a state lacks, wholly or in part, or how many members stopped before the others;
/// a physical state counts as lacking all.
std::size_t missing_writes(const states::RunHistory& run, const states::CrashState& state);

}  // namespace headcrash::cli
