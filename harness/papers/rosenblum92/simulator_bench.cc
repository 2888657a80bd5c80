// Compares the writes per second of the cleaning simulator with those of a plain loop over arrays
// of the same sizes.
//
//   headcrash_cleaning_simulator_bench [--writes N]
//
// The plain loop does what any such simulator must do for a write: it draws a file, reads its
// place, clears its bit, decrements the count of its segment, and puts the file elsewhere. The loop
// has no cleaner, no policy and no ages. The ratio therefore shows the cost of cleaning (each write
// under the uniform pattern at 75 % causes 1.2 copies and the examination of 2.2 slots) and of the
// simulator's bookkeeping. It cannot reach 1. The simulator and the loop use one core. Their
// processor times are measured alternately, several times. The fastest time of each one counts; the
// slowest is also reported.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "harness/papers/rosenblum92/cleaning_simulator.h"

namespace {

using namespace headcrash::experiment::rosenblum92;
namespace lfs = headcrash::lfs;

constexpr int kRounds = 5;

double cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Returns the time of the plain loop in seconds. `sum` depends on all iterations, so that the
/// compiler cannot remove them.
double peer_s(std::uint64_t writes, const AccessPattern& pattern, std::uint64_t& sum) {
  const SimulatorOptions options{.pattern = pattern};
  const auto slots = static_cast<std::uint32_t>(options.files / options.utilization);
  AccessGenerator generator(pattern, options.files, 1);
  std::vector<std::uint32_t> where(options.files), owner(slots);
  std::vector<std::uint64_t> live((slots + 63) / 64, ~std::uint64_t{0});
  std::vector<std::uint32_t> count(slots / options.files_per_segment + 1);
  for (std::uint32_t i = 0; i < options.files; ++i) where[i] = i;
  std::vector<std::uint32_t> batch(128);
  const double begun = cpu_s();
  std::uint32_t slot = 0;
  for (std::uint64_t done = 0; done < writes; done += batch.size()) {
    generator.next(batch);
    for (const std::uint32_t file : batch) {
      const std::uint32_t old = where[file];
      live[old >> 6] &= ~(std::uint64_t{1} << (old & 63));
      --count[old >> 9];
      where[file] = slot;
      owner[slot] = file;
      if (++slot == slots) slot = 0;
    }
  }
  const double took = cpu_s() - begun;
  sum += owner[slots / 2] + live[0] + count[1];
  return took;
}

double simulator_s(std::uint64_t writes, const SimulatorOptions& options) {
  CleaningSimulator simulator(options);
  simulator.write(4 * std::uint64_t{options.files});
  const double begun = cpu_s();
  simulator.write(writes);
  return cpu_s() - begun;
}

void compare(const char* name, std::uint64_t writes, const SimulatorOptions& options) {
  double best = 1e9, worst = 0, peer_best = 1e9, peer_worst = 0;
  std::uint64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double one = simulator_s(writes, options), other = peer_s(writes, options.pattern, sum);
    best = std::min(best, one);
    worst = std::max(worst, one);
    peer_best = std::min(peer_best, other);
    peer_worst = std::max(peer_worst, other);
  }
  const auto rate = [&](double seconds) { return static_cast<double>(writes) / seconds * 1e-6; };
  fmt::print("{:<44} {:>6.1f} ({:>5.1f})   {:>6.1f} ({:>5.1f})   {:>5.2f}{}\n", name, rate(best),
             rate(worst), rate(peer_best), rate(peer_worst), peer_best / best, sum == 1 ? " " : "");
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t writes = 20'000'000;
  if (argc == 3 && std::strcmp(argv[1], "--writes") == 0)
    writes = std::strtoull(argv[2], nullptr, 10);
  if (writes == 0 || (argc != 1 && argc != 3)) {
    fmt::print(stderr, "usage: headcrash_cleaning_simulator_bench [--writes N]\n");
    return 2;
  }
  fmt::print(
      "{} rounds of {} million writes, 524288 files.\n"
      "Millions of writes per second of processor time: fastest round (slowest round).\n"
      "The peer is a loop that only moves files, without a cleaner.\n\n"
      "{:<44} {:>14}   {:>14}   {:>5}\n",
      kRounds, writes / 1'000'000, "", "simulator", "peer", "ratio");
  compare("uniform, greedy, 75 %", writes, {});
  compare("hot-and-cold, greedy, 75 %", writes, {.pattern = kHotCold90To10});
  compare("exponential, greedy, 75 %", writes, {.pattern = kExponentialAsPrinted});
  compare("hot-and-cold, cost-benefit by age, 75 %", writes,
          {.pattern = kHotCold90To10,
           .selection = lfs::Selection::cost_benefit,
           .order = lfs::WriteBackOrder::by_age});
  compare("uniform, greedy, 90 %", writes, {.utilization = .9});
  return 0;
}
