// Tests the processor (cpu.h): scheduling and accounting.
#include "fs-adapters/substrate/os/cpu.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fs-adapters/substrate/os/testing/world.h"

namespace headcrash::os {
namespace {

using bench::Calls;
using Kind = Executor::Kind;
using Log = std::vector<std::string>;

struct CpuWorld {
  model::Simulation simulation;
  VirtualClock clock{simulation};
  Executor executor{clock};
  Cpu cpu{executor, CpuCosts{{.copy_per_kib = 1024, .interrupt = 7}, {.allocation = 3}}, 10};
  Account ann{.name = "ann"}, bob{.name = "bob"}, cat{.name = "cat"};
  Log log;
  void say(const Account& who) { log.push_back(std::to_string(executor.now()) + " " + who.name); }
};

TEST(Cpu, CombinesCostsOfTheMachineAndTheFileSystem) {
  const CpuCosts costs{{.system_call = 1,
                        .copy_per_kib = 2,
                        .transfer_per_kib = 3,
                        .clear_per_kib = 4,
                        .buffer_found = 5,
                        .request_issued = 6,
                        .interrupt = 7,
                        .process_created = 8},
                       {.path_component = 9,
                        .directory_entry = 10,
                        .name_changed = 14,
                        .inode_changed = 11,
                        .allocation = 12,
                        .dependency = 13}};
  EXPECT_EQ(costs.system_call, 1);
  EXPECT_EQ(costs.path_component, 9);
  EXPECT_EQ(costs.directory_entry, 10);
  EXPECT_EQ(costs.buffer_found, 5);
  EXPECT_EQ(costs.copy_per_kib, 2);
  EXPECT_EQ(costs.transfer_per_kib, 3);
  EXPECT_EQ(costs.clear_per_kib, 4);
  EXPECT_EQ(costs.request_issued, 6);
  EXPECT_EQ(costs.interrupt, 7);
  EXPECT_EQ(costs.name_changed, 14);
  EXPECT_EQ(costs.inode_changed, 11);
  EXPECT_EQ(costs.allocation, 12);
  EXPECT_EQ(costs.dependency, 13);
  EXPECT_EQ(costs.process_created, 8);
}

TEST(Cpu, AdvancesTimeAndChargesTheAccount) {
  CpuWorld w;
  w.executor.spawn(Kind::user, w.ann, [&] {
    for (int i = 0; i < 7; ++i) w.cpu.use(5);
    w.cpu.use(0);
  });
  w.executor.run();
  EXPECT_EQ(w.executor.now(), 35);
  EXPECT_EQ(w.ann.cpu_ns, 35);
  EXPECT_EQ(w.cpu.busy_ns(), 35);
}

TEST(Cpu, CountsChargesWithoutCost) {
  CpuWorld w;
  const auto charged = [](const Account& who, Cost cost) {
    return who.charged[static_cast<std::size_t>(cost)];
  };
  w.executor.spawn(Kind::user, w.ann, [&] {
    w.cpu.charge(Cost::allocation);
    w.cpu.charge({{Cost::allocation, 2}, {Cost::copy_per_kib, 5}, {Cost::name_changed}});
    w.cpu.use(100);
  });
  Calls interrupt([&] { w.cpu.interrupt(Cost::interrupt); });
  w.simulation.schedule(1000, interrupt, 0);
  w.executor.spawn(Kind::user, w.bob, [&] { w.executor.sleep_until(1001); });
  w.executor.run();
  EXPECT_EQ(w.ann.cpu_ns, 3 * 3 + 5 + 100) << "amounts are in bytes for costs per KiB";
  EXPECT_EQ(charged(w.ann, Cost::allocation), 3);
  EXPECT_EQ(charged(w.ann, Cost::copy_per_kib), 5);
  EXPECT_EQ(charged(w.ann, Cost::name_changed), 1);
  EXPECT_EQ(charged(w.ann, Cost::interrupt), 0);
  EXPECT_EQ(w.bob.charged, Charged{});
  EXPECT_EQ(charged(w.cpu.interrupts(), Cost::interrupt), 1);
}

TEST(Cpu, TwoFibersShareTheProcessorInSlices) {
  CpuWorld w;
  for (Account* who : {&w.ann, &w.bob}) {
    w.executor.spawn(Kind::user, *who, [&w, who] {
      for (int i = 0; i < 5; ++i) {
        w.cpu.use(6);
        w.say(*who);
      }
    });
  }
  w.executor.run();
  // ann's slice of 10 units ends during her second piece of work; until then, she keeps the
  // processor.
  EXPECT_EQ(w.log, (Log{"6 ann", "16 bob", "22 ann", "28 ann", "32 bob", "38 bob", "44 ann",
                        "50 ann", "54 bob", "60 bob"}));
  EXPECT_EQ(w.ann.cpu_ns, 30);
  EXPECT_EQ(w.cpu.busy_ns(), 60);
}

TEST(Cpu, AWaitingFiberReleasesTheProcessor) {
  CpuWorld w;
  w.executor.spawn(Kind::user, w.ann, [&] {
    w.cpu.use(4);
    w.executor.sleep_until(100);
    w.say(w.ann);
  });
  w.executor.spawn(Kind::user, w.bob, [&] {
    w.cpu.use(3);
    w.say(w.bob);
  });
  w.executor.run();
  EXPECT_EQ(w.log, (Log{"7 bob", "100 ann"}));
}

TEST(Cpu, WokenFibersRunBeforeFibersThatHaveUsedASlice) {
  CpuWorld w;
  for (Account* who : {&w.ann, &w.bob}) {
    w.executor.spawn(Kind::user, *who, [&w, who] {
      w.cpu.use(30);
      w.say(*who);
    });
  }
  w.executor.spawn(Kind::user, w.cat, [&] {
    w.executor.sleep_until(13);
    w.cpu.use(2);
    w.say(w.cat);
  });
  w.executor.run();
  // bob computes from 10 to 20. ann has waited longer than cat, but cat was just woken and comes
  // first.
  EXPECT_EQ(w.log, (Log{"22 cat", "52 ann", "62 bob"}));
}

TEST(Cpu, InterruptsDelayOnlyTheRunningFiber) {
  CpuWorld w;
  Calls interrupt([&] { w.cpu.interrupt(Cost::interrupt); });
  w.simulation.schedule(5, interrupt, 0);  // arrives while ann computes
  // The interrupt arrives while the processor is idle. Its handling ends at 107.
  w.simulation.schedule(100, interrupt, 0);
  w.simulation.schedule(200, interrupt, 0);  // arrives together with the next piece of work
  w.executor.spawn(Kind::user, w.ann, [&] {
    w.cpu.use(9);
    w.say(w.ann);
    w.executor.sleep_until(150);
    w.cpu.use(1);
    w.say(w.ann);
    w.executor.sleep_until(200);
    w.cpu.use(1);
    w.say(w.ann);
  });
  w.executor.run();
  EXPECT_EQ(w.log, (Log{"16 ann", "151 ann", "208 ann"}));
  EXPECT_EQ(w.ann.cpu_ns, 11);
  EXPECT_EQ(w.cpu.interrupts().cpu_ns, 21);
  EXPECT_EQ(w.cpu.busy_ns(), 32);
}

TEST(Cpu, ComputingTakesNoTimeAfterHalt) {
  CpuWorld w;
  int ended = 0;
  for (Account* who : {&w.ann, &w.bob, &w.cat}) {
    w.executor.spawn(Kind::user, *who, [&] {
      for (int i = 0; i < 100; ++i) w.cpu.use(50);
      ++ended;
    });
  }
  w.executor.run_until(120);
  w.executor.halt();
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(w.executor.now(), 120);
}

}  // namespace
}  // namespace headcrash::os
