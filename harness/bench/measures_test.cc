#include "harness/bench/measures.h"

#include <gtest/gtest.h>

#include "harness/bench/host_load.h"

namespace headcrash::bench {
namespace {

using nlohmann::json;

const json kAnswer =
    json::parse(R"({"ok":true,"elapsed_ns":2500000000,"user_ms":120,"system_ms":380,
  "operation":"files","operations":1000,"bytes_read":0,"bytes_written":1024000,
  "latency":{"count":1000,"mean_ns":2000000,"p50_ns":1500000,"p99_ns":9000000,"max_ns":12000000,"buckets":[]}})");

TEST(Measures, ConvertsTimesToDeviceTime) {
  std::vector<db::MetricRecord> metrics;
  const auto measure = measure_from_answer(kAnswer, slowdown("real:5"), metrics);
  ASSERT_TRUE(measure) << measure.error().message();
  EXPECT_DOUBLE_EQ(measure->elapsed_ms, 500);
  EXPECT_DOUBLE_EQ(measure->system_ms, 380) << "only the guest's CPU time counts";
  EXPECT_EQ(measure->operations, 1000);
  ASSERT_EQ(metrics.size(), 4U);
  EXPECT_EQ(metrics[2].name, "operation.p99");
  EXPECT_DOUBLE_EQ(metrics[2].value, 1.8);
  EXPECT_EQ(slowdown("real"), 1);
  EXPECT_EQ(slowdown("charged:5"), 1) << "a charge does not slow the clock";
}

TEST(Measures, TheLayoutScoreIgnoresTheFirstBlockOfEachFile) {
  json answer = kAnswer;
  answer["latency"] = nullptr;
  const auto score = [&](int files, int blocks, int pieces) {
    answer["layout"] = {{"files", files}, {"blocks", blocks}, {"pieces", pieces}};
    std::vector<db::MetricRecord> metrics;
    EXPECT_TRUE(measure_from_answer(answer, 1, metrics));
    return metrics.size() == 3 && metrics[2].name == "layout.score" ? metrics[2].value : -1;
  };
  EXPECT_DOUBLE_EQ(score(2, 22, 2), 1) << "both whole";
  EXPECT_DOUBLE_EQ(score(2, 22, 22), 0) << "no two adjacent blocks";
  EXPECT_DOUBLE_EQ(score(2, 22, 7), 0.75);
  answer["layout"] = nullptr;
  std::vector<db::MetricRecord> none;
  ASSERT_TRUE(measure_from_answer(answer, 1, none));
  EXPECT_TRUE(none.empty());
}

TEST(Measures, RejectsAnswersWithMissingFields) {
  for (const auto& [key, value] : kAnswer.items()) {
    if (key == "ok" || key == "latency") continue;
    json less = kAnswer;
    less.erase(key);
    std::vector<db::MetricRecord> metrics;
    EXPECT_FALSE(measure_from_answer(less, 1, metrics)) << key;
  }
  EXPECT_FALSE(counters_from_answer(json::object()));
  EXPECT_FALSE(busiest_ms(json::object()));
}

TEST(Measures, ConvertsCountersOfTheGuest) {
  json answer = json::parse(
      R"({"disk":{"reads":10,"read_merges":2,"read_sectors":80,"writes":20,"write_merges":3,"write_sectors":160,
      "flushes":6,"busy_ms":44},"cpu":{"user_ms":120,"system_ms":380}})");
  const auto counters = counters_from_answer(answer);
  ASSERT_TRUE(counters) << counters.error().message();
  EXPECT_EQ(counters->disk.reads, 10);
  EXPECT_EQ(counters->disk.writes, 20);
  EXPECT_EQ(counters->disk.flushes, 6);
  EXPECT_EQ(counters->disk.merges, 5);
  EXPECT_EQ(counters->disk.bytes_read, 80 * 512);
  EXPECT_EQ(counters->disk.bytes_written, 160 * 512);
  EXPECT_EQ(counters->disk.busy_ms, 44);
  EXPECT_EQ(counters->user_ms, 120);
  EXPECT_EQ(counters->system_ms, 380);
  EXPECT_EQ(difference(counters->disk, counters->disk).writes, 0);
  answer["cpu"].erase("system_ms");
  EXPECT_FALSE(counters_from_answer(answer));
}

TEST(Measures, ReportsCountersOfSpecificDevices) {
  const json stats = json::parse(R"({"devices":[
    {"name":"hd0","counters":{"busy_ns":3000000,"trims":2},"nvram":{"battery":"ok","counters":{"dirty_hits":7}}},
    {"name":"hd0.below","counters":{"busy_ns":9000000,"trims":0},"array":{"counters":{"read_modify_writes":4}}}]})");
  EXPECT_EQ(*busiest_ms(stats), 9);
  const auto metrics = device_metrics(stats);
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[0].name, "hd0.nvram.dirty_hits");
  EXPECT_EQ(metrics[0].value, 7);
  EXPECT_EQ(metrics[1].name, "hd0.trims");
  EXPECT_EQ(metrics[2].name, "hd0.below.array.read_modify_writes");
}

TEST(HostLoad, MeasuresLoadFromOtherProcesses) {
  const HostLoad before{.all = 1000, .busy = 100, .own = 50};
  EXPECT_DOUBLE_EQ(used_by_others(before, {.all = 1200, .busy = 200, .own = 100}), 0.25);
  EXPECT_EQ(used_by_others(before, {.all = 1200, .busy = 140, .own = 100}), 0)
      << "rounding of ticks is tolerated";
  EXPECT_EQ(used_by_others(before, before), 0);
}

TEST(HostLoad, MeasuresTheCpuTimeOfThisProcess) {
  const HostLoad before = host_load();
  ASSERT_GT(before.all, 0U);
  volatile unsigned spin = 0;
  HostLoad after = before;
  while (after.own < before.own + 10) {  // 10 ticks are 0.1 s of CPU time
    for (int i = 0; i < 1'000'000; ++i) spin = spin + 1;
    after = host_load();
  }
  EXPECT_GE(after.busy, before.busy);
}

}  // namespace
}  // namespace headcrash::bench
