#pragma once
// Runs litmus tests on a kernel file system. The guests boot once, the file system is formatted
// once, and each test is recorded on a copy of the formatted disk and explored.

#include "harness/contract/in_process_cell.h"
#include "harness/contract/litmus_test.h"
#include "harness/explorer/guests/exploration.h"
#include "harness/explorer/guests/guest_pool.h"

namespace headcrash::contract {

class GuestCells {
 public:
  /// Formats the disk. All arguments must outlive this object. Recordings are stored in `folder`.
  static Result<GuestCells> start(explorer::GuestPool& pool,
                                  const adapters::LinuxAdapter& filesystem,
                                  const std::filesystem::path& folder, const CellOptions& options);

  /// Records and explores a test. If sync(2) does not reach the file system, the initial state is
  /// made durable with fsyncs. Fails only for errors that would recur with every test.
  Result<Cell> run(const LitmusTest& test);
  /// The workload of the last test, and the outcome of that test's smallest failing state.
  const explorer::RecordedWorkload& workload() const { return workload_; }
  const explorer::StateOutcome& outcome() const { return outcome_; }

 private:
  GuestCells(explorer::GuestPool& pool, const adapters::LinuxAdapter& filesystem,
             std::filesystem::path folder, const CellOptions& options)
      : pool_(&pool), filesystem_(&filesystem), folder_(std::move(folder)), options_(options) {}
  Result<void> explore(const states::RunHistory& run, Cell& cell);

  explorer::GuestPool* pool_;
  const adapters::LinuxAdapter* filesystem_;
  std::filesystem::path folder_;
  CellOptions options_;
  explorer::FormattedDisk disk_;
  LitmusTest test_;  ///< the last test, which `workload_` uses
  explorer::RecordedWorkload workload_;
  explorer::StateOutcome outcome_;
};

}  // namespace headcrash::contract
