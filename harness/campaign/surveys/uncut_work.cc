// Runs the parts of the workload one after the other, and compares the tree after each part
// (uncut_work.h).
#include "harness/campaign/surveys/uncut_work.h"

#include <fmt/format.h>

#include "harness/oracle/oracle.h"

namespace headcrash::campaign {

using workload::Operation;

RestedWorkload with_rests(const std::vector<Operation>& operations, std::size_t every) {
  RestedWorkload rested;
  const bool side_by_side = workload::threads_of(operations) > 1;
  const auto rest = [&] {
    if (side_by_side) rested.operations.push_back({.kind = Operation::Kind::join});
    rested.operations.push_back({.kind = Operation::Kind::sync});
    rested.rests.push_back(rested.operations.size());
  };
  std::size_t open = 0, since = 0;
  for (const Operation& operation : operations) {
    rested.operations.push_back(operation);
    if (operation.kind == Operation::Kind::open) ++open;
    if (operation.kind == Operation::Kind::close && open > 0) --open;
    if (++since < every || open > 0) continue;
    rest();
    since = 0;
  }
  if (since > 0 || rested.rests.empty()) rest();
  return rested;
}

Result<std::vector<oracle::Finding>> differences(
    std::span<const Operation> operations,
    const std::vector<workload::FailedOperation>& failed_operations,
    const adapters::LinuxAdapter& filesystem, const std::vector<oracle::ObservedObject>& tree) {
  // Without a power cut, every difference is an error, so use the strictest promises.
  const adapters::Promises promises{.fsync_keeps_name = true,
                                    .fsync_keeps_links = true,
                                    .replace_keeps_content = true,
                                    .own_names = filesystem.promises.own_names};
  TRY(const auto oracle,
      oracle::Oracle::follow(operations,
                             {.promises = promises, .failed_operations = failed_operations}));
  return oracle.judge(operations.size() - 1, tree);
}

Result<ComparedWork> work_and_compare(run::GuestSession& guest, const RestedWorkload& workload,
                                      const adapters::LinuxAdapter& filesystem) {
  ComparedWork work;
  const std::span<const Operation> all(workload.operations);
  for (const std::size_t rest : workload.rests) {
    const auto part = all.subspan(work.operations, rest - work.operations);
    TRY(const auto ran, guest.run({part.begin(), part.end()}, work.failed_operations));
    if (ran.failure)
      return run::stop(ErrorKind::workload, fmt::format("after {} operations that succeeded: {}",
                                                        work.operations, *ran.failure));
    for (workload::FailedOperation failed : ran.failed_operations) {
      failed.operation += work.operations;
      work.failed_operations.push_back(failed);
    }
    work.operations = rest;
    TRY(const auto tree, guest.dump());
    TRY(auto found, differences(all.first(rest), work.failed_operations, filesystem, tree));
    work.findings = std::move(found);
    if (!work.findings.empty()) break;
  }
  return work;
}

}  // namespace headcrash::campaign
