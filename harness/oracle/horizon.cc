// Computes which operations must have been executed at a cut, and which may have been (horizon.h).
#include "harness/oracle/horizon.h"

#include <algorithm>

namespace headcrash::oracle {

void Timeline::add(const workload::Operation& operation, bool skipped, bool keeps) {
  const std::size_t index = thread_of_.size();
  thread_of_.push_back(operation.thread);
  threads_ = std::max<std::size_t>(threads_, operation.thread + 1U);
  if (operation.kind == workload::Operation::Kind::join) joins_.push_back(index);
  if (workload::is_persistence_point(operation) && !skipped) {
    points_.push_back(index);
    if (keeps) kept_points_.push_back(index);
  }
  if (skipped) return;
  if (operation.kind == workload::Operation::Kind::begin)
    transactions_.push_back({.thread = operation.thread, .begin = index});
  if (operation.kind == workload::Operation::Kind::commit)
    for (Transaction& one : transactions_)
      if (one.thread == operation.thread) one.commit = std::min(one.commit, index);
}

bool Timeline::splits_transaction(std::size_t done, std::size_t thread) const {
  return std::ranges::any_of(transactions_, [&](const Transaction& one) {
    return one.thread == thread && done > one.begin + 1 && done < one.commit;
  });
}

Horizon Timeline::at(std::optional<std::size_t> persisted) const {
  const auto next =
      persisted ? std::upper_bound(points_.begin(), points_.end(), *persisted) : points_.begin();
  std::size_t last = thread_of_.empty() ? 0 : thread_of_.size() - 1;
  if (next != points_.end()) {
    const auto barrier = std::upper_bound(joins_.begin(), joins_.end(), *next);
    if (barrier != joins_.end()) last = *barrier;
  }
  Horizon horizon;
  horizon.persisted_ = persisted;
  horizon.thread_of_ = thread_of_;
  horizon.reached_.assign(threads_, last);
  for (auto point = points_.end(); point != next;) {
    --point;
    std::size_t& reached = horizon.reached_[thread_of_[*point]];
    reached = std::min(reached, *point);
  }
  horizon.passed_.assign(threads_, 0);
  for (const std::size_t point : kept_points_)
    if (persisted && point <= *persisted) horizon.passed_[thread_of_[point]] = point + 1;
  return horizon;
}

Horizon Timeline::after(std::size_t done) const {
  Horizon horizon;
  horizon.persisted_ = done - 1;
  horizon.thread_of_ = thread_of_;
  horizon.reached_.assign(threads_, done - 1);
  horizon.passed_.assign(threads_, done);
  return horizon;
}

std::vector<Timeline::Section> Timeline::sections() const {
  std::vector<Section> sections;
  std::size_t first = 0;
  for (const std::size_t join : joins_) {
    sections.push_back({first, join + 1});
    first = join + 1;
  }
  sections.push_back({first, thread_of_.size()});
  return sections;
}

}  // namespace headcrash::oracle
