// The oracle's face: history, horizon, judge (oracle.h).
#include "harness/crash/oracle.h"

#include "harness/crash/history.h"
#include "harness/crash/judge.h"

namespace headcrash::crash {

struct Oracle::History {
  WorkloadHistory workload;
  adapters::Promises promises;
};

Oracle::Oracle(std::unique_ptr<History> history) : history_(std::move(history)) {}
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle& Oracle::operator=(Oracle&&) noexcept = default;
Oracle::~Oracle() = default;

Result<Oracle> Oracle::follow(std::span<const workload::Operation> operations, const OracleOptions& options) {
  Result<WorkloadHistory> history = follow_operations(operations, options.promises, options.mishaps);
  if (!history) return pass_on(history);
  return Oracle(std::make_unique<History>(History{std::move(*history), options.promises}));
}

std::vector<Finding> Oracle::judge(std::optional<std::size_t> persisted,
                                   const std::vector<ObservedObject>& tree) const {
  const WorkloadHistory& workload = history_->workload;
  const Horizon horizon = workload.timeline.at(persisted);
  return Judge(workload, history_->promises, horizon, tree).judge();
}

}  // namespace headcrash::crash
