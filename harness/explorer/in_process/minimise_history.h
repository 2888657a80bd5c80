#pragma once
// Shortens a shared history that failed (record_run.h): removes operations, then change points of
// its schedule, then operations again. Each attempt is a complete run, and must fail in the same
// way.

#include <string>
#include <vector>

#include "harness/explorer/in_process/record_run.h"

namespace headcrash::in_process {

struct MinimisedHistory {
  std::vector<workload::Operation> operations;
  /// Options that repeat the failure with `operations`. Change points that the failure does not
  /// need are omitted.
  RunOptions run;
  std::string failure;

  std::string text() const;
};

/// Shortens a shared history (RunOptions::shared_names) whose run has failed
/// (RecordedRun::failure). Pass the arguments with which that run was recorded; the file
/// `recording` is overwritten. Fails for the same reasons as record_run().
Result<MinimisedHistory> minimise_history(const FormattedDisk& formatted,
                                          const adapters::SystemUnderTest& system,
                                          std::span<const workload::Operation> operations,
                                          const RunOptions& options,
                                          const std::filesystem::path& recording);

}  // namespace headcrash::in_process
