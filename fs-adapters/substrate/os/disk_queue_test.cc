// Tests the driver's queue (disk_queue.h) on an in-memory disk: dispatched requests, their order,
// and the trace. The ordering rules are tested in disk_order_test.cc.
#include "fs-adapters/substrate/os/disk_queue.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "fs-adapters/substrate/os/testing/world.h"
#include "plugin/base/random.h"

namespace headcrash::os {
namespace {

using bench::filled;
using bench::World;
using model::Status;
using Log = std::vector<std::string>;

/// Issues requests, keeps their bytes and records their results.
class Issuer final : public DiskDone {
 public:
  explicit Issuer(DiskQueue& queue) : queue_(queue) {}

  RequestId write(std::uint64_t lba, std::uint32_t sectors, std::uint64_t word,
                  const Ordering& how = {}) {
    bytes_.push_back(std::make_unique<std::vector<std::byte>>(filled(sectors, word)));
    BlockRequest request{model::Op::write, lba, sectors};
    request.data = *bytes_.back();
    return queue_.issue(request, how, *this);
  }
  RequestId read(std::uint64_t lba, std::uint32_t sectors, const Ordering& how = {}) {
    bytes_.push_back(std::make_unique<std::vector<std::byte>>(sectors * model::kSectorBytes));
    BlockRequest request{model::Op::read, lba, sectors};
    request.into = *bytes_.back();
    const RequestId id = queue_.issue(request, how, *this);
    reads[id] = bytes_.back().get();
    return id;
  }
  void done(RequestId id, Status status) override {
    EXPECT_FALSE(queue_.pending(id));
    EXPECT_TRUE(statuses.emplace(id, status).second) << "completed twice";
    order.push_back(id);
  }

  std::map<RequestId, Status> statuses;
  std::vector<RequestId> order;
  std::map<RequestId, std::vector<std::byte>*> reads;

 private:
  DiskQueue& queue_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> bytes_;
};

Log order_of(Schedule schedule, std::uint32_t concatenated = 128) {
  World w({.schedule = schedule, .concatenated_sectors = concatenated});
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    for (const std::uint64_t lba : {100, 300, 40, 90, 200, 308, 120}) issuer.write(lba, 8, lba);
    w.queue.drain();
  });
  return w.disk.log;
}

TEST(DiskQueue, EachScheduleServesRequestsInItsOrder) {
  EXPECT_EQ(order_of(Schedule::fcfs),
            (Log{"w100+8", "w300+16", "w40+8", "w90+8", "w200+8", "w120+8"}));
  EXPECT_EQ(order_of(Schedule::sstf),
            (Log{"w100+8", "w120+8", "w90+8", "w40+8", "w200+8", "w300+16"}));
  EXPECT_EQ(order_of(Schedule::look),
            (Log{"w100+8", "w120+8", "w200+8", "w300+16", "w90+8", "w40+8"}));
  EXPECT_EQ(order_of(Schedule::c_look),
            (Log{"w100+8", "w120+8", "w200+8", "w300+16", "w40+8", "w90+8"}));
  EXPECT_EQ(order_of(Schedule::c_look, 15),
            (Log{"w100+8", "w120+8", "w200+8", "w300+8", "w308+8", "w40+8", "w90+8"}));
}

TEST(DiskQueue, ConcatenatesOnlyReadyRequests) {
  World w({.flag = FlagMeaning::part});
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    issuer.write(500, 8, 1);
    issuer.write(600, 8, 2);
    issuer.write(608, 8, 3, {.flagged = true});
    issuer.write(616, 8, 4);
    issuer.read(592, 8);
    w.queue.drain();
  });
  EXPECT_EQ(w.disk.log, (Log{"w500+8", "w600+16", "w616+8", "r592+8"}));
}

TEST(DiskQueue, AReadSeesAQueuedWrite) {
  World w({.reads_bypass = true});
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    issuer.write(10, 1, 1);  // keeps the disk busy
    issuer.write(100, 4, 7);
    issuer.write(102, 4, 8);
    const RequestId read = issuer.read(100, 8);
    w.queue.wait_for(read);
    const std::vector<std::byte>& bytes = *issuer.reads[read];
    EXPECT_EQ(bytes[0], std::byte{7});
    EXPECT_EQ(bytes[3 * 512], std::byte{8});
    EXPECT_EQ(bytes[7 * 512], std::byte{0});
  });
}

TEST(DiskQueue, TransferAccountsForTheTimeThatItWaits) {
  World w({}, {{.request_issued = 10'000, .interrupt = 20'000}, {}});
  std::vector<std::byte> bytes = filled(1, 5);
  w.run_as_user([&] {
    BlockRequest request{model::Op::write, 9, 1};
    request.data = bytes;
    EXPECT_EQ(w.queue.transfer(request), Status::ok);
    EXPECT_EQ(w.executor.now(), model::kMillisecondNs + 10'000);
    w.cpu.use(1);  // the interrupt delays the fiber only here
  });
  EXPECT_EQ(w.executor.now(), model::kMillisecondNs + 30'001);
  EXPECT_EQ(w.account.disk_wait_ns, model::kMillisecondNs);
  EXPECT_EQ(w.account.cpu_ns, 10'001);
  EXPECT_EQ(w.cpu.interrupts().cpu_ns, 20'000);
  EXPECT_EQ(w.medium.word(9), 5U);
}

TEST(DiskQueue, WritesThatFollowAFailedFlaggedWriteFail) {
  World w({.flag = FlagMeaning::part, .reads_bypass = true});
  w.disk.bad_sectors = {100};
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    const RequestId flagged = issuer.write(100, 1, 1, {.flagged = true});
    const RequestId held = issuer.write(200, 1, 2);
    const RequestId read = issuer.read(300, 1);
    w.queue.drain();
    const RequestId later = issuer.write(400, 1, 3);
    w.queue.drain();
    EXPECT_EQ(issuer.statuses[flagged], Status::medium_error);
    EXPECT_EQ(issuer.statuses[held], Status::medium_error);
    EXPECT_EQ(issuer.statuses[read], Status::ok);
    EXPECT_EQ(issuer.statuses[later], Status::ok);
  });
  EXPECT_EQ(w.disk.log, (Log{"w100+1", "r300+1", "w400+1"}));
}

TEST(DiskQueue, LaterVersionsOfAnUnsentBlockAreNotWritten) {
  World w;
  w.disk.bad_sectors = {100};
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    const RequestId first = issuer.write(100, 1, 1);
    const std::vector<RequestId> names{first};
    const RequestId second = issuer.write(200, 1, 2, {.after = names});
    // A write of a later version of the same block. Its chain names no requests.
    const RequestId newer = issuer.write(200, 1, 3);
    // Another write of the bad sector; it depends on no other request.
    const RequestId newer_bad = issuer.write(100, 1, 4);
    w.queue.drain();
    EXPECT_EQ(issuer.statuses[second], Status::medium_error);
    EXPECT_EQ(issuer.statuses[newer], Status::medium_error);
    EXPECT_EQ(issuer.statuses[newer_bad], Status::medium_error);
  });
  EXPECT_EQ(w.disk.log, (Log{"w100+1", "w100+1"}));
  EXPECT_EQ(w.medium.word(200), 0U);
}

TEST(DiskQueue, AnUnsentWriteFailsAlthoughAnEarlierWriteOfItsBlockSucceeds) {
  World w({.concatenated_sectors = 1});
  w.disk.bad_sectors = {100};
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    const RequestId named = issuer.write(100, 1, 1);
    const RequestId older = issuer.write(200, 1, 2);
    const std::vector<RequestId> names{named};
    const RequestId unsent = issuer.write(200, 1, 3, {.after = names});
    const RequestId newer = issuer.write(200, 1, 4);
    w.queue.drain();
    EXPECT_EQ(issuer.statuses[named], Status::medium_error);
    EXPECT_EQ(issuer.statuses[older], Status::ok);
    EXPECT_EQ(issuer.statuses[unsent], Status::medium_error);
    EXPECT_EQ(issuer.statuses[newer], Status::medium_error);
  });
  EXPECT_EQ(w.disk.log, (Log{"w100+1", "w200+1"}));
  EXPECT_EQ(w.medium.word(200), 2U);
}

TEST(DiskQueue, ABadSectorFailsOnlyItsRequest) {
  World w;
  w.disk.bad_sectors = {109};
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    issuer.write(10, 8, 9);
    const RequestId good = issuer.write(100, 8, 1);
    const RequestId bad = issuer.write(108, 8, 2);
    const RequestId other = issuer.write(116, 8, 3);
    w.queue.drain();
    EXPECT_EQ(issuer.statuses[good], Status::ok);
    EXPECT_EQ(issuer.statuses[bad], Status::medium_error);
    EXPECT_EQ(issuer.statuses[other], Status::ok);
  });
  EXPECT_EQ(w.disk.log, (Log{"w10+8", "w100+24", "w100+8", "w108+8", "w116+8"}));
}

TEST(DiskQueue, WithADiskCacheAWriteCompletesWithAFlush) {
  World w({.flush_for_order = true});
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    const RequestId first = issuer.write(100, 1, 1);
    issuer.write(200, 1, 2);
    const std::vector<RequestId> after{first};
    issuer.write(300, 1, 3, {.after = after});
    w.queue.drain();
  });
  EXPECT_EQ(w.disk.log, (Log{"w100+1", "w200+1", "f0+0", "w300+1", "f0+0"}));
  EXPECT_EQ(w.queue.counters().flushes, 2U);
  EXPECT_EQ(w.queue.counters().requests, 3U);
}

TEST(DiskQueue, WithADiskCacheAFlushSeparatesDependentWrites) {
  World w({.flush_for_order = true});
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    issuer.write(100, 1, 1);
    const std::vector<RequestId> after{issuer.write(200, 1, 2)};
    issuer.write(300, 1, 3, {.after = after});
    w.queue.drain();
  });
  EXPECT_EQ(w.disk.log, (Log{"w100+1", "w200+1", "f0+0", "w300+1", "f0+0"}));
}

TEST(DiskQueue, OrderingFlushesAreNotDelayedForever) {
  World w({.flush_for_order = true});
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    for (std::uint64_t i = 0; i < 100; ++i) issuer.write(i * 10, 1, i);
    w.queue.wait_for(1);
    EXPECT_EQ(w.disk.log[33], "f0+0");
    // Includes the request after the flush. That request was dispatched before any fiber ran.
    EXPECT_EQ(w.disk.log.size(), 35U);
    w.queue.drain();
  });
}

TEST(DiskQueue, TheTraceShowsConcatenation) {
  struct Tracer final : DiskTracer {
    void completed(const DiskTrace& request) override { all.push_back(request); }
    std::vector<DiskTrace> all;
  } tracer;
  World w;
  w.queue.trace(&tracer);
  Issuer issuer(w.queue);
  w.run_as_user([&] {
    issuer.write(10, 1, 1);
    w.executor.sleep_until(100);
    issuer.write(101, 1, 1);
    issuer.write(100, 1, 1);
    w.queue.drain();
  });
  ASSERT_EQ(tracer.all.size(), 3U);
  EXPECT_EQ(tracer.all[0].completed_at, model::kMillisecondNs);
  EXPECT_EQ(tracer.all[1].id, 3U);
  EXPECT_EQ(tracer.all[2].id, 2U);
  EXPECT_EQ(tracer.all[2].went_with, 3U);
  EXPECT_EQ(tracer.all[2].issued_at, 100);
  EXPECT_EQ(tracer.all[2].dispatched_at, model::kMillisecondNs);
  EXPECT_EQ(tracer.all[2].completed_at, 2 * model::kMillisecondNs);
  const DiskQueueCounters& counters = w.queue.counters();
  EXPECT_EQ(counters.requests, 2U);
  EXPECT_EQ(counters.issued_writes, 3U);
  EXPECT_EQ(counters.sectors, 3U);
  EXPECT_EQ(counters.queued_most, 3U);
  EXPECT_EQ(counters.access_ns, 2 * model::kMillisecondNs);
  EXPECT_EQ(counters.response_ns, 3 * model::kMillisecondNs - 100);
  w.queue.clear_counters();
  EXPECT_EQ(w.queue.counters().requests, 0U);
}

TEST(DiskQueue, PowerCutFailsAllRequests) {
  World w({.flag = FlagMeaning::full});
  Issuer issuer(w.queue);
  w.executor.spawn(Executor::Kind::user, w.account, [&] {
    for (std::uint64_t i = 0; i < 20; ++i) issuer.write(i * 8, 8, i, {.flagged = i % 3 == 0});
    w.queue.drain();
  });
  w.executor.run_until(5 * model::kMillisecondNs / 2);
  w.memory.power_cut();
  w.executor.halt();
  EXPECT_EQ(issuer.statuses.size(), 20U);
  EXPECT_EQ(issuer.statuses[1], Status::ok);
  EXPECT_EQ(issuer.statuses[20], Status::power_lost);
}

struct QueueRun {
  std::vector<std::string> log;
  std::vector<std::uint64_t> medium;
};

/// Runs random requests from three fibers. In the end, the medium must have the newest versions.
QueueRun random_requests(std::uint64_t seed, const DiskQueueOptions& options) {
  World w(options);
  Random random(seed);
  Issuer issuer(w.queue);
  std::vector<std::uint64_t> latest(200, 0);
  std::map<RequestId, std::pair<std::uint64_t, std::vector<std::uint64_t>>> expected_reads;
  std::uint64_t word = 0;
  const auto step = [&] {
    const auto sectors = static_cast<std::uint32_t>(1 + random.below(6));
    const std::uint64_t lba = random.below(latest.size() - sectors);
    if (random.below(4) == 0) {
      const RequestId id = issuer.read(lba, sectors);
      expected_reads[id] = {lba,
                            {latest.begin() + static_cast<std::ptrdiff_t>(lba),
                             latest.begin() + static_cast<std::ptrdiff_t>(lba + sectors)}};
      if (random.below(2) == 0) w.queue.wait_for(id);
    } else {
      const std::vector<RequestId> after{1 + random.below(word > 0 ? word : 1)};
      Ordering how{.flagged = random.below(5) == 0, .barrier = random.below(20) == 0};
      if (random.below(3) == 0 && word > 0) how.after = after;
      const RequestId id = issuer.write(lba, sectors, ++word, how);
      for (std::uint32_t s = 0; s < sectors; ++s) latest[lba + s] = word;
      if (random.below(10) == 0) w.queue.wait_for(id);
    }
    if (random.below(3) == 0)
      w.executor.sleep_until(w.executor.now() + static_cast<TimeNs>(random.below(3'000'000)));
  };
  for (int fiber = 0; fiber < 3; ++fiber)
    w.executor.spawn(Executor::Kind::user, w.account, [&] {
      for (int i = 0; i < 120; ++i) step();
      w.queue.drain();
    });
  w.executor.run();
  QueueRun run{w.disk.log, {}};
  for (std::uint64_t lba = 0; lba < latest.size(); ++lba) run.medium.push_back(w.medium.word(lba));
  EXPECT_EQ(run.medium, latest);
  for (const auto& [id, expected] : expected_reads) {
    for (std::size_t s = 0; s < expected.second.size(); ++s) {
      std::uint64_t seen = 0;
      std::memcpy(&seen, issuer.reads[id]->data() + s * 512, sizeof seen);
      EXPECT_EQ(seen, expected.second[s]) << "read " << id << " of sector " << expected.first + s;
    }
  }
  return run;
}

TEST(DiskQueue, RandomWritesReachTheMediumAndReadsSeeEarlierWrites) {
  std::uint64_t seed = 0;
  for (const FlagMeaning flag :
       {FlagMeaning::full, FlagMeaning::back, FlagMeaning::part, FlagMeaning::ignore}) {
    for (const Schedule schedule :
         {Schedule::fcfs, Schedule::sstf, Schedule::look, Schedule::c_look, Schedule::shuffled}) {
      DiskQueueOptions options{.schedule = schedule, .seed = seed, .flag = flag};
      options.reads_bypass = seed % 2 == 0;
      options.flush_for_order = seed % 3 == 0;
      options.outstanding = 1 + seed % 4;
      options.reads_first = seed % 5 < 2;
      SCOPED_TRACE(fmt::format("seed {}", ++seed));
      const QueueRun run = random_requests(seed, options);
      EXPECT_EQ(run.log, random_requests(seed, options).log);
    }
  }
}

}  // namespace
}  // namespace headcrash::os
