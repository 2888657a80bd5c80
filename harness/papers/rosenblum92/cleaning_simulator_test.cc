// Tests the chapter 5 simulator on small disks (cleaning_simulator.h).
#include "harness/papers/rosenblum92/cleaning_simulator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>

#include "harness/papers/rosenblum92/closed_forms.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

SimulatorOptions small(double utilization = .75) {
  return {.files = 1 << 14,
          .files_per_segment = 64,
          .utilization = utilization,
          .files_cleaned_at_once = 320};
}

SimulatorCounts counts_of(const SimulatorOptions& options, std::uint64_t turnovers = 12) {
  CleaningSimulator simulator(options);
  simulator.write(turnovers / 2 * options.files);
  const SimulatorCounts before = simulator.counts();
  simulator.write(turnovers / 2 * options.files);
  simulator.verify();
  return simulator.counts() - before;
}

double cost_of(const SimulatorOptions& options, std::uint64_t turnovers = 12) {
  return write_cost(counts_of(options, turnovers), options.files_per_segment);
}

/// A simple simulator with the same rules, for comparison. It keeps a list of files for each
/// segment, and each pass examines and sorts all segments. No clean segment is reserved, cleaned
/// data shares the log, and the age of a segment is that of its youngest file.
class PlainSimulator {
 public:
  explicit PlainSimulator(const SimulatorOptions& options)
      : options_(options), generator_(options.pattern, options.files, options.seed) {
    const auto size = options.files_per_segment;
    const auto slots =
        static_cast<std::uint32_t>(std::ceil(options.files / options.utilization / size));
    segments_.resize(slots);
    for (std::uint32_t file = 0; file < options.files; ++file) append(file / size, file);
    for (std::uint32_t s = (options.files + size - 1) / size; s < slots; ++s) clean_.push_back(s);
    open_ = clean_.front();
    clean_.pop_front();
  }
  void write(std::uint64_t files) {
    // The simulator may stop inside a batch, but this does not change the sequence of draws.
    std::vector<std::uint32_t> drawn(files);
    generator_.next(drawn);
    for (const std::uint32_t file : drawn) {
      make_room();
      modified_[file] = ++now_;
      append(open_, file);
    }
    counts_.written += files;
  }
  SimulatorCounts counts_;

 private:
  struct Segment {
    std::map<std::uint32_t, std::uint32_t> live;  ///< maps each live place to its file
    std::uint32_t used = 0;
    std::uint64_t youngest = 0;
  };
  void append(std::uint32_t segment, std::uint32_t file) {
    if (const auto at = where_.find(file); at != where_.end())
      segments_[at->second.first].live.erase(at->second.second);
    Segment& s = segments_[segment];
    where_[file] = {segment, s.used};
    s.live[s.used++] = file;
    s.youngest = std::max(s.youngest, modified_[file]);
  }
  double worth_of(const Segment& s) const {
    const double n = options_.files_per_segment, u = static_cast<double>(s.live.size()) / n;
    if (u == 0) return 1e300;
    if (options_.selection == lfs::Selection::greedy) return 1 - u;
    return (1 - u) * static_cast<double>(now_ - s.youngest) / (1 + u);
  }
  void make_room() {
    while (segments_[open_].used == options_.files_per_segment) {
      if (clean_.empty()) clean();
      if (segments_[open_].used == options_.files_per_segment && !clean_.empty()) next();
    }
  }
  void next() {
    open_ = clean_.front();
    clean_.pop_front();
  }
  void clean() {
    std::vector<std::uint32_t> order(segments_.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](std::uint32_t s) {
      return segments_[s].live.size() == options_.files_per_segment;
    });
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return worth_of(segments_[a]) > worth_of(segments_[b]) * (1 + 1e-12);
    });
    std::vector<std::uint32_t> files;
    for (const std::uint32_t s : order) {
      if (files.size() >= options_.files_cleaned_at_once) break;
      ++counts_.segments_cleaned;
      if (!segments_[s].live.empty()) ++counts_.segments_read;
      for (const auto& [place, file] : segments_[s].live) files.push_back(file);
      segments_[s] = {};
      clean_.push_back(s);
    }
    if (options_.order == lfs::WriteBackOrder::by_age)
      std::stable_sort(files.begin(), files.end(), [&](std::uint32_t a, std::uint32_t b) {
        return modified_[a] < modified_[b];
      });
    counts_.files_copied += files.size();
    for (const std::uint32_t file : files) where_.erase(file);
    next();
    for (const std::uint32_t file : files) {
      if (segments_[open_].used == options_.files_per_segment) next();
      append(open_, file);
    }
  }

  SimulatorOptions options_;
  AccessGenerator generator_;
  std::vector<Segment> segments_;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> where_;
  std::map<std::uint32_t, std::uint64_t> modified_;
  std::uint64_t now_ = 0;
  std::deque<std::uint32_t> clean_;
  std::uint32_t open_ = 0;
};

TEST(CleaningSimulator, MatchesASimpleImplementation) {
  for (const auto selection : {lfs::Selection::greedy, lfs::Selection::cost_benefit}) {
    for (const auto order : {lfs::WriteBackOrder::as_read, lfs::WriteBackOrder::by_age}) {
      for (const double utilization : {.1, .5, .75, .9}) {
        const SimulatorOptions options{.files = 2048,
                                       .files_per_segment = 16,
                                       .utilization = utilization,
                                       .pattern = kHotCold90To10,
                                       .selection = selection,
                                       .order = order,
                                       .files_cleaned_at_once = 80};
        CleaningSimulator simulator(options);
        PlainSimulator plain(options);
        simulator.write(20'000);
        plain.write(20'000);
        simulator.verify();
        const std::string which =
            fmt::format("{} {} {}", name(selection), name(order), utilization);
        EXPECT_EQ(simulator.counts().segments_cleaned, plain.counts_.segments_cleaned) << which;
        EXPECT_EQ(simulator.counts().segments_read, plain.counts_.segments_read) << which;
        EXPECT_EQ(simulator.counts().files_copied, plain.counts_.files_copied) << which;
      }
    }
  }
}

TEST(CleaningSimulator, StartsWithFullAndCleanSegments) {
  CleaningSimulator simulator(small(.5));
  simulator.verify();
  EXPECT_EQ(simulator.segments(), 512U);
  EXPECT_EQ(simulator.clean_segments(), 256U);
  EXPECT_EQ(simulator.counts().passes, 0U);
}

TEST(CleaningSimulator, DoesNotCleanWhileSegmentsAreClean) {
  CleaningSimulator simulator(small(.5));
  simulator.write(256 * 64);
  EXPECT_EQ(simulator.counts().passes, 0U);
  simulator.write(1);
  EXPECT_EQ(simulator.counts().passes, 1U);
}

TEST(CleaningSimulator, UniformGreedyReachesTheSteadyState) {
  for (const double utilization : {.3, .5, .75, .85}) {
    const SimulatorCounts counts = counts_of(small(utilization));
    EXPECT_NEAR(utilization_cleaned(counts, 64), uniform_steady_state(utilization), .02)
        << utilization;
  }
}

TEST(CleaningSimulator, CostsLessThanTheFormulaWithoutVariance) {
  for (const double utilization : {.2, .4, .6, .8, .9})
    EXPECT_LT(cost_of(small(utilization)), no_variance_cost(utilization)) << utilization;
}

TEST(CleaningSimulator, DoesNotReadAnEmptySegment) {
  const SimulatorCounts counts = counts_of(small(.1));
  EXPECT_LT(counts.segments_read, counts.segments_cleaned);
  EXPECT_LT(write_cost(counts, 64), 2);
}

TEST(CleaningSimulator, LocalityMakesGreedyWorse) {
  SimulatorOptions options = small();
  const double uniform = cost_of(options);
  options.pattern = kHotCold90To10;
  EXPECT_GT(cost_of(options), uniform * 1.05);
}

TEST(CleaningSimulator, CostBenefitCleansColdSegmentsAtHigherUtilization) {
  SimulatorOptions options = small();
  options.pattern = kHotCold90To10;
  options.histograms = true;
  const double greedy = cost_of(options);
  options.selection = lfs::Selection::cost_benefit;
  options.order = lfs::WriteBackOrder::by_age;
  options.segment_age = SegmentAge::last_write;
  CleaningSimulator simulator(options);
  simulator.write(10 * options.files);
  simulator.forget_histograms();
  const SimulatorCounts before = simulator.counts();
  simulator.write(5 * options.files);
  EXPECT_LT(write_cost(simulator.counts() - before, 64), .8 * greedy);
  EXPECT_NEAR(simulator.cold_cleaned().mean(), .75, .1);
  EXPECT_NEAR(simulator.hot_cleaned().mean(), .15, .1);
  EXPECT_GT(simulator.at_cleaning().total(), 0U);
}

TEST(CleaningSimulator, EveryPolicyKeepsEveryFile) {
  for (const auto selection :
       {lfs::Selection::greedy, lfs::Selection::cost_benefit, lfs::Selection::min_declining_cost}) {
    for (const auto order : {lfs::WriteBackOrder::as_read, lfs::WriteBackOrder::by_age}) {
      for (const auto cleaned : {CleanedData::shares_log, CleanedData::own_log}) {
        for (const std::uint32_t per_segment : {6U, 64U, 100U, 512U}) {
          SimulatorOptions options = small(.9);
          options.files_per_segment = per_segment;
          options.pattern = kExponentialAsPrinted;
          options.selection = selection;
          options.order = order;
          options.cleaned_data = cleaned;
          CleaningSimulator simulator(options);
          simulator.write(3 * options.files + 17);
          simulator.verify();
          EXPECT_EQ(simulator.counts().written, 3 * options.files + 17);
        }
      }
    }
  }
}

TEST(CleaningSimulator, AReserveCostsAsMuchAsASmallerDisk) {
  SimulatorOptions reserved = small(.8);
  reserved.reserved_segments = 20;
  SimulatorOptions smaller = small(256.0 / (320 - 20));
  EXPECT_NEAR(cost_of(reserved) / cost_of(smaller), 1, .03);
}

TEST(CleaningSimulator, CountsDependOnlyOnTheSeed) {
  SimulatorOptions options = small();
  options.pattern = kHotCold90To10;
  options.selection = lfs::Selection::cost_benefit;
  CleaningSimulator once(options), often(options);
  once.write(100'000);
  for (int i = 0; i < 1000; ++i) often.write(100);
  EXPECT_EQ(once.counts().files_copied, often.counts().files_copied);
  EXPECT_EQ(once.counts().segments_read, often.counts().segments_read);
  options.seed = 2;
  EXPECT_NE(counts_of(options).files_copied, counts_of(small()).files_copied);
}

TEST(CleaningSimulator, RunsUntilTheCostIsStable) {
  CleaningSimulator simulator(small());
  const StableCost stable = run_until_stable(simulator);
  EXPECT_TRUE(stable.stable);
  EXPECT_GE(stable.written, 16 * small().files);
  EXPECT_LT(stable.spread, .1);
  CleaningSimulator other(small());
  EXPECT_FALSE(
      run_until_stable(other, {.windows_min = 2, .windows_max = 3, .tolerance = 0}).stable);
}

TEST(CleaningSimulator, WriteCostIsBlocksMovedOverNewBlocks) {
  // 10 segments of 100 files are read, 300 files copied, and 700 files written: (1000 + 300 + 700)
  // / 700.
  const SimulatorCounts counts{
      .written = 700, .segments_cleaned = 12, .segments_read = 10, .files_copied = 300};
  EXPECT_DOUBLE_EQ(write_cost(counts, 100), 2000.0 / 700);
  EXPECT_DOUBLE_EQ(utilization_cleaned(counts, 100), .25);
  EXPECT_DOUBLE_EQ(write_cost(counts, 100, {}), write_cost(counts, 100));
  EXPECT_DOUBLE_EQ(write_cost(counts, 100, {.access = 7}), (2000.0 + 70) / 700);
}

}  // namespace
}  // namespace headcrash::experiment::rosenblum92
