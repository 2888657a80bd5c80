#pragma once
// Shortens a shared history that failed (record_run.h): operations, then change points in its
// schedule, then operations again. Each attempt is a run, which must fail in the same way.

#include <string>
#include <vector>

#include "harness/explorer/in_process/record_run.h"

namespace headcrash::in_process {

struct MinimisedHistory {
  std::vector<workload::Operation> operations;
  RunOptions run;       ///< with the remaining change points
  std::string failure;  ///< of this run

  std::string text() const;
};

/// The arguments must equal those of a run with RecordedRun::failure and RunOptions::shared_names.
/// Replaces `recording`. Fails as record_run() does.
Result<MinimisedHistory> minimise_history(const FormattedDisk& formatted,
                                          const adapters::SystemUnderTest& system,
                                          std::span<const workload::Operation> operations,
                                          const RunOptions& options,
                                          const std::filesystem::path& recording);

}  // namespace headcrash::in_process
