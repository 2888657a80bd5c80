// Machine: power, triggers at their exact instants, the text form of triggers.
#include "plugin/model/machine.h"

#include <gtest/gtest.h>

#include "plugin/model/test_bench.h"

namespace headcrash::model {
namespace {

using bench::Bench;

CutTrigger trigger(std::string_view text) {
  auto parsed = parse_cut_trigger(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message());
  return parsed.value_or(CutTrigger{});
}

TEST(CutTriggerText, EveryKind) {
  EXPECT_EQ(trigger("after-writes:7").kind, CutTrigger::Kind::after_writes);
  EXPECT_EQ(trigger("after-writes:7").count, 7U);
  EXPECT_EQ(trigger("at-flush:1").kind, CutTrigger::Kind::at_flush);
  EXPECT_EQ(trigger("after-ms:12.5").delay_ns, 12'500'000);
  EXPECT_EQ(trigger("after-ms:0").delay_ns, 0);
  EXPECT_EQ(trigger("after-ms:0.000001").delay_ns, 1);
  const CutTrigger mark = trigger("after-mark:a + b:c 12+0.25");
  EXPECT_EQ(mark.mark, "a + b:c 12");
  EXPECT_EQ(mark.delay_ns, 250'000);
}

TEST(CutTriggerText, RefusesAndSaysWhy) {
  for (const char* text : {"",
                           "after-writes",
                           "after-writes:",
                           "after-writes:0",
                           "after-writes:-1",
                           "after-writes:1x",
                           "after-writes:99999999999999999999",
                           "at-flush: 1",
                           "after-ms:",
                           "after-ms:-1",
                           "after-ms:1e3",
                           "after-ms:1.",
                           "after-ms:.5",
                           "after-ms:1.0000001",
                           "after-ms:9999999999",
                           "after-mark:x",
                           "after-mark:+3",
                           "after-mark:x+",
                           "after-mark:x+y",
                           "sometimes:3",
                           "after-ms:nan"}) {
    const auto parsed = parse_cut_trigger(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_FALSE(parsed.error().remedy.empty()) << text;
    EXPECT_NE(parsed.error().subject.find(text), std::string::npos) << text;
  }
}

TEST(Machine, NumbersRequestsFromOne) {
  Bench b(false);
  EXPECT_EQ(b.submit(Op::read, 0, 1), 1U);
  EXPECT_EQ(b.submit(Op::read, 0, 1), 2U);
}

TEST(Machine, RefusesWhatReachesBeyondTheEnd) {
  Bench b(false);
  const std::uint64_t end = b.disk->characteristics().sectors;
  const RequestId over = b.submit(Op::read, end - 1, 2);
  const RequestId far = b.submit(Op::write, ~std::uint64_t{0}, 1);
  EXPECT_FALSE(b.host.has(over)) << "never from within submit";
  b.drain();
  EXPECT_EQ(b.host.done[over].status, Status::out_of_range);
  EXPECT_EQ(b.host.done[far].status, Status::out_of_range);
  EXPECT_EQ(b.finish(b.submit(Op::read, end - 1, 1)).status, Status::ok);
}

TEST(Machine, CutsWhenTheNthWriteIsAcknowledged) {
  Bench b(false);
  b.machine.arm(trigger("after-writes:2"));
  const RequestId first = b.submit(Op::write, 0, 1);
  b.submit(Op::read, 8, 1);
  const RequestId second = b.submit(Op::write_zeroes, 1, 1);
  const RequestId third = b.submit(Op::write, 2, 1);
  b.drain();
  EXPECT_EQ(b.host.done[first].status, Status::ok);
  EXPECT_EQ(b.host.done[second].status, Status::ok);
  EXPECT_EQ(b.host.done[third].status, Status::power_lost);
  EXPECT_EQ(b.machine.last_cut_at(), b.host.done[second].completed_at);
  EXPECT_EQ(b.machine.power(), PowerState::off);
  EXPECT_FALSE(b.machine.armed());
}

TEST(Machine, CutsAtTheFlushBeforeItsWork) {
  Bench b(true);
  b.machine.arm(trigger("at-flush:2"));
  const auto data = Bench::pattern(1, 7);
  b.finish(b.submit_write(0, data));
  EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok);
  b.finish(b.submit_write(1, data));
  const TimeNs now = b.machine.simulation().now();
  const RequestId flush = b.submit(Op::flush);
  EXPECT_EQ(b.machine.last_cut_at(), now);
  EXPECT_EQ(b.finish(flush).status, Status::power_lost);
  EXPECT_EQ(b.on_medium(0, 1), data);
  EXPECT_NE(b.on_medium(1, 1), data) << "only cached, so lost";
}

TEST(Machine, CutsAfterATimeAndAfterAMark) {
  Bench b(false);
  b.machine.arm(trigger("after-ms:1.5"));
  b.drain();
  EXPECT_EQ(b.machine.last_cut_at(), 1'500'000);
  b.machine.power_on();
  b.machine.arm(trigger("after-mark:here 3+2"));
  b.machine.mark("here 2");
  b.run_for(10 * kMillisecondNs);
  EXPECT_EQ(b.machine.power(), PowerState::on);
  const TimeNs at = b.machine.simulation().now();
  b.machine.mark("here 3");
  b.drain();
  EXPECT_EQ(b.machine.last_cut_at(), at + 2'000'000);
  EXPECT_EQ(b.machine.power_cuts(), 2U);
}

TEST(Machine, ArmingAnewOrDisarmingVoidsAnOlderTimer) {
  Bench b(false);
  b.machine.arm(trigger("after-ms:1"));
  b.machine.arm(trigger("after-ms:5"));
  b.run_for(2 * kMillisecondNs);
  EXPECT_EQ(b.machine.power(), PowerState::on);
  b.machine.disarm();
  b.drain();
  EXPECT_EQ(b.machine.power(), PowerState::on);
}

TEST(Machine, AnswersPowerLostWhileOffAndWorksAgainAfterwards) {
  Bench b(false);
  const RequestId flying = b.submit(Op::read, 0, 4);
  b.machine.power_cut();
  b.machine.power_cut();
  EXPECT_FALSE(b.host.has(flying)) << "also a cut answers through an event";
  const RequestId off = b.submit(Op::read, 0, 4);
  b.drain();
  EXPECT_EQ(b.host.done[flying].status, Status::power_lost);
  EXPECT_EQ(b.host.done[off].status, Status::power_lost);
  EXPECT_EQ(b.machine.power_cuts(), 1U);
  b.machine.power_on();
  EXPECT_EQ(b.finish(b.submit(Op::read, 0, 4)).status, Status::ok);
}

}  // namespace
}  // namespace headcrash::model
