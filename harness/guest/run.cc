// Runs the threads, joins and reports of a workload (run.h). A single lock protects all shared
// state. No thread holds this lock while executing an operation.
#include "harness/guest/run.h"

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "harness/workload/open_files.h"

namespace headcrash::guest {
namespace {

using workload::Operation;
using Lock = std::unique_lock<std::mutex>;

class Run {
 public:
  Run(std::span<const Operation> operations, Vfs& vfs, const RunReports& reports,
      const RunOptions& options)
      : operations_(operations),
        open_files_(vfs),
        vfs_(vfs),
        reports_(reports),
        threads_(workload::threads_of(operations)),
        continue_after_failure_(options.continue_after_failure),
        skipped_(options.skipped_before) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (workload::is_persistence_point(operations[i])) unreported_.insert(i);
    }
  }

  RunEnd run() {
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads_; ++thread)
      others.emplace_back([this, thread] { work(thread); });
    work(0);
    others.clear();  // waits for the threads to end
    return end_;
  }

 private:
  void work(std::size_t thread) {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (operation.kind == Operation::Kind::join) {
        if (!meet()) return;
      } else if (operation.thread == thread) {
        if (!step(i)) return;
      }
    }
  }

  // Each of the following functions returns false once the run has ended.

  bool meet() {
    Lock lock(lock_);
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++meetings_;
      ++end_.done;
      changed_.notify_all();
      return !over_;
    }
    changed_.wait(lock, [this, meeting = meetings_] { return over_ || meetings_ != meeting; });
    return !over_;
  }

  bool step(std::size_t index) {
    {
      const Lock lock(lock_);
      if (over_) return false;
    }
    const VfsResult<void> executed = workload::execute(operations_[index], vfs_, open_files_);
    Lock lock(lock_);
    if (!executed) return note(index, executed.error().value);
    if (!workload::is_persistence_point(operations_[index])) {
      ++end_.done;
      return true;
    }
    changed_.wait(lock, [&] { return over_ || *unreported_.begin() == index; });
    if (over_) return false;
    if (const auto reported = reports_.persisted(index); !reported) {
      end_.report_error = reported.error().value;
      return stop();
    }
    ++end_.done;
    unreported_.erase(index);
    changed_.notify_all();
    return true;
  }

  bool note(std::size_t index, int error) {
    const workload::Outcome outcome =
        workload::outcome_of(operations_[index], {.error = error, .skipped_before = skipped_});
    if (!over_) reports_.failed(index, outcome, error);
    if (outcome == workload::Outcome::failed && !continue_after_failure_) return stop();
    if (outcome != workload::Outcome::failed) skipped_ = true;
    ++end_.done;
    unreported_.erase(index);
    changed_.notify_all();
    return true;
  }

  bool stop() {
    over_ = true;
    changed_.notify_all();
    return false;
  }

  std::span<const Operation> operations_;
  workload::OpenFiles open_files_;  // the destructor closes the files that are still open
  Vfs& vfs_;
  const RunReports& reports_;
  std::size_t threads_;
  bool continue_after_failure_;

  std::mutex lock_;
  std::condition_variable changed_;
  std::set<std::size_t> unreported_;  // persistence points that have not been reported yet
  std::size_t arrived_ = 0, meetings_ = 0;
  bool over_ = false, skipped_;
  RunEnd end_;
};

}  // namespace

RunEnd run_operations(std::span<const Operation> operations, Vfs& vfs, const RunReports& reports,
                      const RunOptions& options) {
  return Run(operations, vfs, reports, options).run();
}

}  // namespace headcrash::guest
