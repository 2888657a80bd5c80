#pragma once
// Runs litmus tests on headcrash's own file systems, in this process.

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "fs-adapters/system_under_test.h"
#include "harness/contract/cell.h"
#include "harness/explorer/in_process/disk_explorers.h"

namespace headcrash::contract {

struct CellOptions {
  std::uint64_t states = 1000;  ///< maximum number of distinct states
  std::uint64_t seed = 1;
  std::uint64_t time_s = 0;  ///< time limit for guests, in seconds; 0 for no limit
  const std::atomic<bool>* interrupted = nullptr;
};

/// Explores one test. Replaces the file `recording`. Fails if the directory cannot be written, or
/// if headcrash's own results contradict each other.
Result<Cell> run_in_process(const LitmusTest& test, const adapters::SystemUnderTest& system,
                            in_process::DiskExplorers& explorers, const CellOptions& options,
                            const std::filesystem::path& recording);

/// Judges trees by the test's allowed set. `test` must outlive the result.
oracle::TreeJudge judge_of(const LitmusTest& test);

/// Returns a description of the test's operation that could not run, or an empty string if all of
/// them ran.
std::string unsupported_operation(const LitmusTest& test,
                                  const std::vector<workload::FailedOperation>& failed);

}  // namespace headcrash::contract
