// Implements the oracle, using a history, a horizon and a judge (oracle.h).
#include "harness/oracle/oracle.h"

#include "harness/oracle/judge.h"
#include "harness/oracle/oracle_history.h"

namespace headcrash::oracle {

Oracle::Oracle(std::unique_ptr<History> history) : history_(std::move(history)) {}
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle& Oracle::operator=(Oracle&&) noexcept = default;
Oracle::~Oracle() = default;

Result<Oracle> Oracle::follow(std::span<const workload::Operation> operations,
                              const OracleOptions& options) {
  TRY(auto history,
      follow_operations(operations, options.promises, options.failed_operations, options.subjects));
  LoneNames lone_names = mark_lone_names(history);
  return Oracle(std::make_unique<History>(
      History{std::move(history), options.promises, std::move(lone_names)}));
}

const Aspects& Oracle::judged() const {
  return history_->workload.judged;
}

std::vector<Finding> Oracle::judge(std::optional<std::size_t> persisted,
                                   const std::vector<ObservedObject>& tree) const {
  const WorkloadHistory& workload = history_->workload;
  const Horizon horizon = workload.timeline.at(persisted);
  const PromisedTokens promised = promised_tokens(workload, horizon, history_->promises);
  const OmittedNames nothing;
  std::vector<const ObservedObject*> all;
  all.reserve(tree.size());
  for (const ObservedObject& object : tree) all.push_back(&object);
  return Judge({workload, history_->promises, horizon, promised, nothing}, all).judge();
}

}  // namespace headcrash::oracle
