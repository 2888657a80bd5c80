// Tests threads, wall time and model time. The few upper limits on time are generous, because they
// must hold on a busy host and only have to distinguish "at once" from "after the whole wait".
#include "plugin/servers/emulation/pacer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "plugin/model/core/null_observer.h"
#include "plugin/servers/emulation/testing/fixed_delay_device.h"
#include "plugin/servers/emulation/transport_time.h"

namespace headcrash::emulation {
namespace {

using model::kMillisecondNs;
using model::kSecondNs;

constexpr WallNs kAtOnceNs = 10 * kSecondNs;  ///< the waits that the tests abort would last minutes

class PacerTest : public testing::Test {
 protected:
  void make(const char* clock) {
    machine_.add_device("hd0", std::make_unique<FixedDelayDevice>(machine_));
    pacer_ = std::make_unique<Pacer>(machine_, *parse_clock(clock));
    pacer_->start();
  }
  /// Serves a request that takes `micros` microseconds of model time.
  Served serve(std::uint64_t micros, model::Op op = model::Op::read) {
    model::Request request;
    request.op = op;
    request.lba = micros;
    request.sectors = 1;
    return pacer_->serve(0, request);
  }
  model::TimeNs model_now() {
    return pacer_->with_machine([](model::Machine& machine) { return machine.simulation().now(); });
  }
  LatencySummary achieved() {
    return pacer_->with_machine(
        [this](model::Machine&) { return pacer_->latency(0).achieved.summary(); });
  }
  LatencySummary target() {
    return pacer_->with_machine(
        [this](model::Machine&) { return pacer_->latency(0).target.summary(); });
  }

  model::NullObserver observer_;
  model::Machine machine_{observer_};
  std::unique_ptr<Pacer> pacer_;
};

TEST(Clock, TextRoundTrips) {
  EXPECT_EQ(clock_text(*parse_clock("real")), "real:1");
  EXPECT_EQ(clock_text(*parse_clock("real:2.5")), "real:2.5");
  EXPECT_EQ(clock_text(*parse_clock("off")), "off");
  for (const char* bad : {"", "on", "real:", "real:x", "real:0", "real:-1", "real:1x", "real:1e9",
                          "real:nan", "real:inf"}) {
    auto clock = parse_clock(bad);
    ASSERT_FALSE(clock) << bad;
    EXPECT_EQ(clock.error().subject, "clock");
  }
}

TEST(ClockAnchor, NeverMapsAnInstantToAnEarlierWallTime) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const ClockAnchor anchor{
        static_cast<WallNs>(random() >> 4), static_cast<model::TimeNs>(random() >> 8),
        i % 3 == 0 ? 1 : 0.001 + static_cast<double>(random() % 1000000) / 777};
    const model::TimeNs instant = anchor.model + static_cast<model::TimeNs>(random() >> 24);
    const WallNs wall = anchor.wall_at(instant);
    EXPECT_GE(anchor.model_at(wall), instant - 1);
    EXPECT_LE(anchor.model_at(wall - 2), instant);
  }
  const ClockAnchor anchor{1000, 0, 1e6};
  EXPECT_GT(anchor.wall_at(model::kNever), 0);
}

TEST_F(PacerTest, NeverReturnsEarly) {
  make("real");
  for (const std::uint64_t micros : {0, 1, 10, 29, 31, 60, 200, 1000, 3000}) {
    const WallNs before = wall_now();
    EXPECT_EQ(serve(micros).status, model::Status::ok);
    EXPECT_GE(wall_now() - before, static_cast<WallNs>(micros) * 1000) << micros;
  }
}

TEST_F(PacerTest, RequestsTakeKTimesAsLongWithAClockSlowedByK) {
  make("real:20");
  const WallNs before = wall_now();
  serve(500);
  EXPECT_GE(wall_now() - before, 10 * kMillisecondNs);
  EXPECT_GE(achieved().max_ns, 500'000);
  EXPECT_EQ(target().max_ns, 500'000);
}

TEST_F(PacerTest, CompletesNoRequestEarlyWithManyThreads) {
  make("real");
  std::vector<std::thread> threads;
  threads.reserve(16);
  std::atomic<int> early = 0;
  std::atomic<int> served = 0;
  for (unsigned t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 60; ++i) {
        const std::uint64_t micros = random() % 2000;
        const WallNs before = wall_now();
        if (serve(micros).status == model::Status::ok) ++served;
        if (wall_now() - before < static_cast<WallNs>(micros) * 1000) ++early;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(served, 16 * 60);
  EXPECT_EQ(early, 0);
  EXPECT_EQ(target().count, 16U * 60U);
  EXPECT_EQ(achieved().count, 16U * 60U);
}

TEST_F(PacerTest, AShortRequestDoesNotWaitForALongOne) {
  make("real:1000");
  std::thread slow([&] { EXPECT_TRUE(serve(600'000).shut_down); });  // ten minutes
  while (pacer_->with_machine([](model::Machine& m) { return !m.simulation().next_event(); }))
    std::this_thread::yield();
  const WallNs before = wall_now();
  EXPECT_FALSE(serve(10).shut_down);
  EXPECT_LT(wall_now() - before, kAtOnceNs);
  pacer_->shut_down();
  slow.join();
}

TEST_F(PacerTest, WithoutAClockNeverWaitsAndStopsWhenIdle) {
  make("off");
  const WallNs before = wall_now();
  serve(60'000'000);  // one minute
  EXPECT_LT(wall_now() - before, kAtOnceNs);
  EXPECT_EQ(model_now(), 60 * kSecondNs);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(model_now(), 60 * kSecondNs);
  EXPECT_EQ(target().count, 1U);
  EXPECT_EQ(achieved().count, 0U);
}

TEST_F(PacerTest, TheClockCanChangeWhileRequestsWait) {
  make("real:1000000");
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back(
        [&, t] { EXPECT_EQ(serve(1'000'000 * (t + 1)).status, model::Status::ok); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const WallNs before = wall_now();
  const model::TimeNs model_before = model_now();
  pacer_->set_clock(*parse_clock("off"));
  for (auto& thread : threads) thread.join();
  EXPECT_LT(wall_now() - before, kAtOnceNs);
  EXPECT_GE(model_now(), 8 * kSecondNs);
  EXPECT_LT(model_before, kSecondNs);
  EXPECT_EQ(achieved().count, 0U) << "requests under two clocks must not count";
  const model::TimeNs stopped_at = model_now();
  pacer_->set_clock(*parse_clock("real"));
  EXPECT_GE(model_now(), stopped_at);
  EXPECT_LT(model_now(), stopped_at + 60 * kSecondNs);
  serve(100);
  EXPECT_EQ(achieved().count, 1U);
}

TEST_F(PacerTest, SpeedingUpWakesTheLeader) {
  make("real:1000000");
  // This request takes a quarter of an hour of wall time if it is not aborted.
  std::thread slow([&] { EXPECT_FALSE(serve(1000).shut_down); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const WallNs before = wall_now();
  pacer_->set_clock(*parse_clock("real"));
  slow.join();
  EXPECT_LT(wall_now() - before, kAtOnceNs);
}

TEST_F(PacerTest, APowerCutEndsAllWaitsAndIsReported) {
  make("real:1000000");
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] { EXPECT_EQ(serve(1'000'000).status, model::Status::power_lost); });
  std::thread watcher(
      [&] { EXPECT_EQ(pacer_->wait_power_off(std::chrono::hours(1)), Pacer::PowerWait::off); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const WallNs before = wall_now();
  pacer_->with_machine([](model::Machine& machine) { machine.power_cut(); });
  for (auto& thread : threads) thread.join();
  watcher.join();
  EXPECT_LT(wall_now() - before, kAtOnceNs);
  EXPECT_EQ(serve(5).status, model::Status::power_lost);
  EXPECT_FALSE(serve(5).shut_down);
}

TEST_F(PacerTest, AnArmedCutHappensWhileIdle) {
  make("real");
  pacer_->with_machine(
      [](model::Machine& machine) { machine.arm(*model::parse_cut_trigger("after-ms:30")); });
  EXPECT_EQ(pacer_->wait_power_off(std::chrono::minutes(1)), Pacer::PowerWait::off);
  EXPECT_EQ(pacer_->with_machine([](model::Machine& machine) { return machine.power_cuts(); }), 1U);
}

TEST_F(PacerTest, WaitForPowerOffTimesOut) {
  make("real");
  EXPECT_EQ(pacer_->wait_power_off(std::chrono::milliseconds(5)), Pacer::PowerWait::time_over);
}

TEST_F(PacerTest, ShuttingDownEndsAllWaits) {
  make("real:1000000");
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] { EXPECT_TRUE(serve(1'000'000).shut_down); });
  std::thread watcher([&] {
    EXPECT_EQ(pacer_->wait_power_off(std::chrono::hours(1)), Pacer::PowerWait::stopping);
  });
  EXPECT_TRUE(pacer_->wait_for_long_request());
  const WallNs before = wall_now();
  pacer_->shut_down();
  for (auto& thread : threads) thread.join();
  watcher.join();
  EXPECT_TRUE(serve(1).shut_down);
  std::thread long_watcher([&] { pacer_->wait_for_long_request(); });
  pacer_->stop();
  long_watcher.join();
  EXPECT_LT(wall_now() - before, kAtOnceNs);
}

// Runs requests, cuts, clock changes and statistics concurrently. No request may be lost in a
// queue. Under ThreadSanitizer, the test also detects races.
TEST_F(PacerTest, NoRequestIsLostUnderStress) {
  make("real");
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  threads.reserve(16);
  std::atomic<int> returned = 0;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      while (!over) {
        serve(random() % 500, random() % 2 == 0 ? model::Op::read : model::Op::write);
        ++returned;
      }
    });
  std::mt19937 random(99);
  for (int i = 0; i < 150; ++i) {
    switch (random() % 5) {
      case 0:
        pacer_->set_clock(*parse_clock("off"));
        break;
      case 1:
        pacer_->set_clock(*parse_clock("real"));
        break;
      case 2:
        pacer_->set_clock(*parse_clock("real:7.5"));
        break;
      case 3:
        pacer_->with_machine([](model::Machine& machine) { machine.power_cut(); });
        break;
      default:
        pacer_->with_machine([](model::Machine& machine) { machine.power_on(); });
    }
    achieved();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  over = true;
  for (auto& thread : threads) thread.join();
  EXPECT_GT(returned, 100);
}

TEST_F(PacerTest, SendsRepliesEarlyByAtMostTheLead) {
  make("real");
  constexpr WallNs kLeadNs = 900 * model::kMicrosecondNs;
  pacer_->set_lead(kLeadNs);
  bool seen_ahead = false;
  for (int i = 0; i < 1000 && !seen_ahead; ++i) {
    const WallNs before = wall_now();
    serve(2000);
    const WallNs passed = wall_now() - before;
    ASSERT_GE(passed, 2 * kMillisecondNs - kLeadNs);
    seen_ahead = passed < 2 * kMillisecondNs;
  }
  EXPECT_TRUE(seen_ahead);
  EXPECT_GE(achieved().p50_ns, 2 * kMillisecondNs) << "must be counted as seen by the client";
}

TEST(TransportTime, IsMeasuredWithinPlausibleBounds) {
  for (const Transport transport : {Transport::nbd, Transport::vhost_user}) {
    const WallNs floor = measure_transport_time(transport);
    EXPECT_GE(floor, 0);
    EXPECT_LE(floor, kLeadMaxNs);
  }
}

}  // namespace
}  // namespace headcrash::emulation
