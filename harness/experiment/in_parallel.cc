// Two threads that take the next number (in_parallel.h).
#include "harness/experiment/in_parallel.h"

#include <atomic>
#include <thread>

namespace headcrash::experiment {

bool in_parallel(const Context& context, std::size_t count, const std::function<void(std::size_t)>& run) {
  std::atomic<std::size_t> next{0}, done{0};
  const auto work = [&] {
    while (!context.interrupted()) {
      const std::size_t i = next++;
      if (i >= count) return;
      run(i);
      ++done;
    }
  };
  const bool two = count > 1 && std::thread::hardware_concurrency() > 1;
  std::thread other;
  if (two) other = std::thread(work);
  work();
  if (two) other.join();
  return done == count;
}

}  // namespace headcrash::experiment
