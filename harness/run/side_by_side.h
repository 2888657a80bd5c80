#pragma once
// Processes the items of a run on several threads. An item is a trial of a campaign, a cell of a
// survey, or a trial in one round of a benchmark.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::run {

/// Processes items 0 to `items` - 1, in this order, on at most `jobs` threads. Returns when all
/// threads have ended. Each thread calls `make_worker` once, and then calls the worker with the
/// number of each item that it processes. After an item has failed or `*interrupted` has become
/// true, no further item is started; `interrupted` may be null. Returns the error of the first item
/// that failed. Failures after an interruption are ignored, because the interruption causes them.
template <typename MakeWorker>
Result<void> side_by_side(std::size_t jobs, std::size_t items, const std::atomic<bool>* interrupted,
                          const MakeWorker& make_worker) {
  std::mutex mutex;  // guards `next` and `error`
  std::size_t next = 0;
  std::optional<Error> error;
  const auto stopped = [&] { return error || (interrupted != nullptr && *interrupted); };
  const auto work = [&] {
    auto worker = make_worker();
    while (true) {
      std::size_t item = 0;
      {
        const std::lock_guard lock(mutex);
        if (stopped() || next == items) return;
        item = next++;
      }
      const Result<void> done = worker(item);
      const std::lock_guard lock(mutex);
      if (!done && !stopped()) error = done.error();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(std::min(jobs, items));
  for (std::size_t i = 0; i < std::min(jobs, items); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (error) return tl::unexpected(*std::move(error));
  return {};
}

}  // namespace headcrash::run
