// Runs random histories of a drive (history_check.h): with and without a cache, with small and
// large physical sectors, with few and many requests in flight, and with every kind of tearing.
// Then each fault that a host cannot detect directly is added to such histories, and the check must
// detect the fault.
//
// A failure prints its seed, which determines the history.
#include <gtest/gtest.h>

#include "plugin/model/testing/history_check.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::DiskFixture;

struct Shape {
  bool cache = false;
  std::uint32_t physical = 1;
  std::uint32_t in_flight = 4;
  Tear tear = Tear::silent;
  bool trim = true;
  QueuePolicy policy = QueuePolicy::fcfs;
  bool zero_latency = false;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << fmt::format("cache {} physical {} in flight {} tear {} trim {} policy {} zero latency {}",
                      shape.cache, shape.physical, shape.in_flight, static_cast<int>(shape.tear),
                      shape.trim, static_cast<int>(shape.policy), shape.zero_latency);
}

DiskFixture make_bench(const Shape& shape, std::uint64_t seed) {
  DiskProfile profile = bench::small_profile();
  profile.physical_sector_sectors = shape.physical;
  profile.trim = shape.trim;
  profile.zero_latency = shape.zero_latency;
  profile.queue.policy = shape.policy;
  if (shape.policy != QueuePolicy::fcfs) profile.queue.depth = 8;
  return DiskFixture(shape.cache, seed, profile, shape.tear);
}

HistoryOptions options_for(const Shape& shape, std::uint64_t seed) {
  HistoryOptions options;
  options.seed = seed;
  options.in_flight_max = shape.in_flight;
  options.large_request_sectors = 70;  // larger than the cache's capacity
  options.unreadable_after_cut = shape.tear != Tear::silent;
  return options;
}

/// Totals over many seeds. They show whether the histories exercise the device at all.
struct Sum {
  void add(const HistoryReport& r) {
    violations += r.violation_count;
    found += r.clean() ? 0 : 1;
    cuts += r.cuts;
    torn += r.torn_sectors;
    unreadable += r.unreadable_sectors;
    lost += r.lost_versions;
    medium_errors += r.medium_errors;
    failures += r.failures;
  }
  std::uint64_t violations = 0, found = 0, cuts = 0, torn = 0, unreadable = 0, lost = 0,
                medium_errors = 0, failures = 0;
};

class DiskHistory : public testing::TestWithParam<Shape> {};

TEST_P(DiskHistory, SatisfiesTheDeviceContract) {
  const Shape shape = GetParam();
  Sum sum;
  for (std::uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
    DiskFixture b = make_bench(shape, seed);
    const HistoryReport report = check_history(b.machine, options_for(shape, seed));
    EXPECT_TRUE(report.clean()) << "seed " << seed << ": " << report;
    sum.add(report);
  }
  EXPECT_GT(sum.cuts, 60U);
  EXPECT_GT(sum.lost, 100U) << "cuts must lose data to test anything";
  EXPECT_GT(sum.torn + sum.unreadable, 5U);
  EXPECT_EQ(sum.unreadable > 0, shape.tear != Tear::silent);
}

TEST_P(DiskHistory, EqualSeedsGiveEqualRuns) {
  const auto run = [shape = GetParam()](std::uint64_t seed) {
    DiskFixture b = make_bench(shape, seed);
    HistoryOptions options = options_for(shape, seed);
    options.steps = 800;
    check_history(b.machine, options);
    return b.observer.log;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

INSTANTIATE_TEST_SUITE_P(
    Configurations, DiskHistory,
    testing::Values(Shape{false, 1, 4, Tear::silent}, Shape{true, 1, 4, Tear::silent},
                    Shape{false, 8, 32, Tear::any}, Shape{true, 8, 32, Tear::any},
                    Shape{true, 1, 1, Tear::any, false}, Shape{false, 1, 32, Tear::unreadable},
                    Shape{true, 8, 8, Tear::unreadable},
                    Shape{false, 1, 32, Tear::any, true, QueuePolicy::sptf, true},
                    Shape{true, 8, 32, Tear::silent, true, QueuePolicy::c_look, true},
                    Shape{true, 1, 16, Tear::any, true, QueuePolicy::aged_sptf, false}));

/// Runs histories of a drive with a cache. Adds the fault repeatedly during each history. `fault`
/// is its text form.
Sum histories_with(const std::string& fault, bool cuts, bool cache = true,
                   std::uint64_t seeds = 8) {
  Sum sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Shape shape{cache, 1, 4, Tear::silent};
    DiskFixture b = make_bench(shape, seed);
    HistoryOptions options = options_for(shape, seed);
    options.cuts = cuts;
    options.may_fail = true;
    options.mischief = [&](HistoryCheck& check, Random& random) {
      const std::uint64_t lba = random.below(150);
      EXPECT_TRUE(b.faults.add(*parse_fault(fmt::format(fmt::runtime(fault), lba))));
      if (fault.rfind("latent", 0) == 0) check.expect_bad(lba, 3);
    };
    options.before_read_back = [&] { b.faults.clear(FaultKind::dead); };
    sum.add(check_history(b.machine, options));
  }
  return sum;
}

TEST(HonestFaults, DoNotViolateTheDeviceContract) {
  for (const bool cache : {false, true}) {
    EXPECT_EQ(histories_with("slow:disk,delay-ms=7,lba={}+20,times=9", true, cache).violations, 0U);
    const Sum latent = histories_with("latent-error:disk,lba={}+3", true, cache);
    EXPECT_EQ(latent.violations, 0U);
    EXPECT_GT(latent.medium_errors, 10U);
    const Sum dead = histories_with("dead:disk,lba={}+20,times=2", true, cache);
    EXPECT_EQ(dead.violations, 0U);
    EXPECT_GT(dead.failures, 10U);
  }
}

TEST(DishonestFaults, ViolateTheDeviceContract) {
  EXPECT_EQ(histories_with("lying-flush:disk", false).violations, 0U)
      << "undetectable without a cut";
  EXPECT_GE(histories_with("lying-flush:disk", true).found, 6U);
  EXPECT_EQ(histories_with("lying-flush:disk", true, false).violations, 0U)
      << "undetectable without a cache";
  for (const char* fault : {"lost-write:disk,lba={}+9", "misdirected-write:disk,lba={}+9,to=70",
                            "corrupted-write:disk,lba={}+9", "torn-write:disk,lba={}+9"}) {
    for (const bool cache : {false, true})
      EXPECT_GE(histories_with(fault, true, cache).found, 5U) << fault << " cache " << cache;
  }
}

/// Tests the check itself. The test writes older contents into the store without using the device,
/// and the check must detect this.
TEST(HistoryCheckItself, DetectsADeviceThatReturnsOldData) {
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    DiskFixture b = make_bench({true, 1, 4, Tear::silent}, seed);
    HistoryOptions options = options_for({true, 1, 4, Tear::silent}, seed);
    options.cuts = false;
    int calls = 0;
    std::vector<std::byte> older(8 * kSectorBytes);
    options.mischief = [&](HistoryCheck&, Random&) {
      // Writes older contents into the store directly and not through the device.
      if (++calls % 2 == 1) {
        EXPECT_TRUE(b.store.read(40, older));
      } else {
        EXPECT_TRUE(b.store.write(40, older));
      }
    };
    found += check_history(b.machine, options).clean() ? 0 : 1;
  }
  EXPECT_GE(found, 5U);
}

/// An event target that schedules another event in each event, so that the simulation never runs
/// out of events.
struct EndlessTarget final : EventTarget {
  explicit EndlessTarget(Simulation& s) : simulation(s) {}
  void on_event(std::uint64_t) override { simulation.schedule(simulation.now(), *this, 0); }
  Simulation& simulation;
};

TEST(HistoryCheckItself, StopsIfADeviceNeverBecomesIdle) {
  DiskFixture b = make_bench({true, 1, 4, Tear::silent}, 1);
  EndlessTarget restless(b.machine.simulation());
  restless.on_event(0);
  const HistoryReport report = check_history(b.machine, options_for({true, 1, 4, Tear::silent}, 1));
  ASSERT_FALSE(report.clean());
  EXPECT_NE(report.violations.back().find("never becomes idle"), std::string::npos) << report;
}

}  // namespace
}  // namespace headcrash::model
