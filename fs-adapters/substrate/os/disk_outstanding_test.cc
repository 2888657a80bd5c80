// Tests several outstanding requests, reads that overtake other requests, several devices, and
// flushes (disk_queue.h). The paper's rules are checked on the complete history: when a request was
// dispatched, all requests that had to precede it must have been complete.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/testing/world.h"
#include "plugin/base/random.h"

namespace headcrash::os {
namespace {

using bench::filled;
using bench::World;
using model::kMillisecondNs;
using model::Status;
using Log = std::vector<std::string>;

/// A disk that completes each request after a random time, and therefore in any order.
class UnrulyDisk final : public BlockDevice {
 public:
  UnrulyDisk(model::Simulation& simulation, model::SectorStore& store, std::uint64_t seed)
      : simulation_(simulation), store_(store), random_(seed) {}
  std::uint64_t sectors() const override { return store_.sectors(); }
  bool volatile_cache() const override { return false; }
  void start(const BlockRequest& request, BlockDone& done) override {
    Command& command = under_way_.emplace_back(*this, request, done);
    command.self = std::prev(under_way_.end());
    most = std::max(most, under_way_.size());
    const auto latency_ns = static_cast<TimeNs>(1 + random_.below(3'000'000));
    simulation_.schedule(simulation_.now() + latency_ns, command, 0);
  }
  std::size_t most = 0;

 private:
  struct Command final : model::EventTarget {
    Command(UnrulyDisk& owner, const BlockRequest& asked, BlockDone& listener)
        : disk(owner), request(asked), done(listener) {}
    void on_event(std::uint64_t) override { disk.serve(*this); }
    UnrulyDisk& disk;
    BlockRequest request;
    BlockDone& done;
    std::list<Command>::iterator self;
  };
  void serve(Command& command) {
    const BlockRequest& request = command.request;
    Result<void> result;
    if (request.op == model::Op::read) result = store_.read(request.lba, request.into);
    if (request.op == model::Op::write) result = store_.write(request.lba, request.data);
    EXPECT_TRUE(result);
    BlockDone& done = command.done;
    under_way_.erase(command.self);
    done.done(Status::ok);
  }
  model::Simulation& simulation_;
  model::SectorStore& store_;
  Random random_;
  std::list<Command> under_way_;
};

/// Records all requests with their ordering constraints and results.
class Recorder final : public DiskTracer {
 public:
  struct Request {
    DiskTrace trace;
    bool barrier = false;
    std::vector<RequestId> after;
  };
  void issued(RequestId id, const BlockRequest& request, const Ordering& ordering) override {
    Request& one = all[id];
    one.trace.id = id;
    one.trace.op = request.op;
    one.trace.lba = request.lba;
    one.trace.sectors = request.sectors;
    one.trace.flagged = ordering.flagged;
    one.barrier = ordering.barrier;
    one.after.assign(ordering.after.begin(), ordering.after.end());
  }
  void completed(const DiskTrace& request) override {
    all[request.id].trace.went_with = request.went_with;
    all[request.id].trace.dispatched_at = request.dispatched_at;
    all[request.id].trace.completed_at = request.completed_at;
  }
  std::map<RequestId, Request> all;

  /// Returns true if request i must be complete before j is dispatched.
  bool before(RequestId i, RequestId j, const DiskQueueOptions& options) const {
    const Request& a = all.at(i);
    const Request& b = all.at(j);
    const bool reads = a.trace.op == model::Op::read && b.trace.op == model::Op::read;
    const bool b_reads = b.trace.op == model::Op::read;
    if (b.trace.op == model::Op::flush) return true;
    if (!reads && a.trace.lba < b.trace.lba + b.trace.sectors &&
        b.trace.lba < a.trace.lba + a.trace.sectors)
      return true;
    if (std::find(b.after.begin(), b.after.end(), i) != b.after.end()) return true;
    if (a.barrier && !b_reads) return true;
    if (b_reads && options.reads_bypass) return false;
    if (options.flag == FlagMeaning::full) return a.trace.flagged || b.trace.flagged;
    if (options.flag == FlagMeaning::part) return a.trace.flagged;
    if (options.flag == FlagMeaning::ignore) return false;
    for (RequestId m = i; m < j; ++m)
      if (all.at(m).trace.flagged) return true;
    return false;
  }
};

struct Issuing final : DiskDone {
  explicit Issuing(DiskQueue& driver) : queue(driver) {}
  void done(RequestId, Status status) override { EXPECT_EQ(status, Status::ok); }
  RequestId write(std::uint64_t lba, std::uint32_t sectors, std::uint64_t word,
                  const Ordering& how = {}) {
    bytes.push_back(filled(sectors, word));
    BlockRequest request{model::Op::write, lba, sectors};
    request.data = bytes.back();
    return queue.issue(request, how, *this);
  }
  RequestId read(std::uint64_t lba, std::uint32_t sectors) {
    bytes.push_back(filled(sectors, 0));
    BlockRequest request{model::Op::read, lba, sectors};
    request.into = bytes.back();
    return queue.issue(request, {}, *this);
  }
  DiskQueue& queue;
  std::list<std::vector<std::byte>> bytes;
};

/// A driver with two disks that complete requests in random order.
struct UnrulyWorld {
  UnrulyWorld(std::uint64_t seed, const DiskQueueOptions& options)
      : first(simulation, medium, seed),
        second(simulation, other_medium, seed + 1),
        system(clock, {&first, &second}, {.queue = options}) {}
  model::Simulation simulation;
  VirtualClock clock{simulation};
  bench::Medium medium{256}, other_medium{256};
  UnrulyDisk first, second;
  System system;
  Account account{.name = "ann"};
};

/// Runs random requests and checks their order. Returns the maximum number of requests that were
/// outstanding at once.
std::size_t check_order(std::uint64_t seed, const DiskQueueOptions& options) {
  Random random(seed);
  UnrulyWorld w(seed, options);
  Recorder recorder;
  w.system.queue.trace(&recorder);
  Issuing issuing(w.system.queue);
  w.system.run_as(w.account, [&] {
    RequestId last = 0;
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t lba = device_address(random.below(4) == 0 ? 1 : 0, random.below(60));
      const auto sectors = static_cast<std::uint32_t>(1 + random.below(4));
      std::vector<RequestId> after;
      if (last > 0 && random.below(4) == 0) after.push_back(1 + random.below(last));
      const Ordering how{
          .flagged = random.below(6) == 0, .after = after, .barrier = random.below(30) == 0};
      if (random.below(3) == 0)
        last = issuing.read(lba, sectors);
      else if (random.below(40) == 0)
        last = w.system.queue.issue({model::Op::flush, device_address(0, 0)}, {}, issuing);
      else
        last = issuing.write(lba, sectors, last + 1, how);
      if (random.below(12) == 0) w.system.executor.sleep_until(w.system.executor.now() + 2'000'000);
    }
    w.system.queue.drain();
  });
  std::size_t held = 0;
  for (const auto& [j, request] : recorder.all) {
    EXPECT_NE(request.trace.went_with, 0U);
    for (RequestId i = 1; i < j; ++i) {
      if (!recorder.before(i, j, options)) continue;
      ++held;
      EXPECT_LE(recorder.all.at(i).trace.completed_at, request.trace.dispatched_at)
          << fmt::format("{} went before {} was complete", j, i);
    }
  }
  EXPECT_GT(held, 100U);
  return std::max(w.first.most, w.second.most);
}

TEST(DiskOutstanding, OrderIsEnforcedForAnyNumberOfOutstandingRequests) {
  std::size_t most = 0;
  std::uint64_t seed = 0;
  for (const FlagMeaning flag :
       {FlagMeaning::full, FlagMeaning::back, FlagMeaning::part, FlagMeaning::ignore}) {
    for (const std::uint32_t outstanding : {1U, 2U, 5U, 16U}) {
      DiskQueueOptions options{.flag = flag, .outstanding = outstanding};
      options.schedule = static_cast<Schedule>(seed % 5);
      options.reads_bypass = seed % 2 == 0;
      options.reads_first = seed % 3 == 0;
      options.flush_for_order = seed % 4 == 1;
      options.concatenated_sectors = seed % 3 == 1 ? 1 : 128;
      SCOPED_TRACE(fmt::format("seed {}", ++seed));
      const std::size_t there = check_order(seed, options);
      EXPECT_LE(there, outstanding);
      most = std::max(most, there);
    }
  }
  EXPECT_GT(most, 5U);  // otherwise too few requests were outstanding at once
}

TEST(DiskOutstanding, SeveralRequestsAreOutstandingAtOnce) {
  World w({.outstanding = 4});
  Issuing issuing(w.queue);
  w.run_as_user([&] {
    for (std::uint64_t i = 0; i < 8; ++i) issuing.write(i * 100, 1, i);
    EXPECT_EQ(w.disk.log.size(), 4U);
    w.queue.drain();
    EXPECT_EQ(w.executor.now(), 2 * kMillisecondNs);
  });
  EXPECT_EQ(w.queue.counters().outstanding_most, 4U);
  EXPECT_EQ(w.queue.counters().access_ns, 8 * kMillisecondNs);
}

struct SlowFlushes final : BlockDevice {
  SlowFlushes(BlockDevice& quick, BlockDevice& slow) : writes(quick), flushes(slow) {}
  std::uint64_t sectors() const override { return writes.sectors(); }
  bool volatile_cache() const override { return true; }
  void start(const BlockRequest& request, BlockDone& done) override {
    (request.op == model::Op::flush ? flushes : writes).start(request, done);
  }
  BlockDevice& writes;
  BlockDevice& flushes;
};

TEST(DiskOutstanding, AnOrderingFlushCoversOnlyEarlierWrites) {
  model::Simulation simulation;
  VirtualClock clock(simulation);
  bench::Medium medium(4096);
  MemoryDisk quick(simulation, medium, kMillisecondNs),
      slow(simulation, medium, 5 * kMillisecondNs);
  SlowFlushes disk(quick, slow);
  System system(clock, disk, {.queue = {.flush_for_order = true, .outstanding = 2}});
  Account account{.name = "ann"};
  Issuing issuing(system.queue);
  system.run_as(account, [&] {
    const RequestId first = issuing.write(100, 1, 7);
    system.executor.sleep_until(2 * kMillisecondNs);  // by now, the flush is in progress
    const RequestId second = issuing.write(200, 1, 8);
    system.queue.wait_for(first);
    EXPECT_EQ(system.executor.now(), 6 * kMillisecondNs);
    system.queue.wait_for(second);
    EXPECT_EQ(system.executor.now(), 11 * kMillisecondNs) << "by a separate flush";
  });
}

TEST(DiskOutstanding, ReadsPrecedeWritesUpToALimit) {
  World w({.reads_first = true, .reads_in_row_max = 3});
  Issuing issuing(w.queue);
  w.run_as_user([&] {
    issuing.write(0, 1, 1);
    issuing.write(10, 1, 1);
    for (std::uint64_t i = 0; i < 5; ++i) issuing.read(100 + i * 10, 1);
    w.queue.drain();
  });
  EXPECT_EQ(w.disk.log, (Log{"w0+1", "r100+1", "r110+1", "r120+1", "w10+1", "r130+1", "r140+1"}));
}

TEST(DiskOutstanding, APriorityReadDoesNotPassAFlaggedWrite) {
  World w({.flag = FlagMeaning::part, .reads_first = true});
  Issuing issuing(w.queue);
  w.run_as_user([&] {
    issuing.write(0, 1, 1);
    issuing.write(10, 1, 1, {.flagged = true});
    issuing.read(100, 1);
    issuing.write(0, 1, 2);
    w.queue.drain();
  });
  EXPECT_EQ(w.disk.log, (Log{"w0+1", "w10+1", "r100+1", "w0+1"})) << "behind the flag";
}

TEST(DiskOutstanding, EveryRequestIsEventuallyDispatched) {
  World w({.schedule = Schedule::sstf, .requests_max = 8});
  Issuing issuing(w.queue);
  w.run_as_user([&] {
    issuing.write(0, 1, 1);
    issuing.write(4000, 1, 1);
    RequestId before = 0;
    for (std::uint64_t i = 1; i < 20; ++i) {
      const RequestId id = issuing.write(2 * i, 1, 1);
      if (before != 0) w.queue.wait_for(before);
      before = id;
    }
    w.queue.drain();
  });
  const auto far = std::find(w.disk.log.begin(), w.disk.log.end(), "w4000+1");
  EXPECT_LE(far - w.disk.log.begin(), 11);
}

TEST(DiskOutstanding, TransferWaitsForSpaceInTheQueue) {
  World w({.requests_max = 4});
  for (int i = 0; i < 12; ++i)
    w.executor.spawn(Executor::Kind::user, w.account, [&, i] {
      std::vector<std::byte> bytes = filled(1, 1);
      BlockRequest request{model::Op::write, static_cast<std::uint64_t>(i) * 10, 1};
      request.data = bytes;
      EXPECT_EQ(w.queue.transfer(request), Status::ok);
    });
  w.executor.run();
  EXPECT_EQ(w.queue.counters().queued_most, 4U);
  EXPECT_DEATH(w.run_as_user([&] {
    Issuing issuing(w.queue);
    for (std::uint64_t i = 0; i < 5; ++i) issuing.write(i * 10, 1, 1);
  }),
               "more than requests_max requests are pending");
}

struct TwoDisks {
  explicit TwoDisks(const DiskQueueOptions& options = {})
      : system(clock, {&first, &second}, {.queue = options}) {}
  model::Simulation simulation;
  VirtualClock clock{simulation};
  bench::Medium medium{4096}, log_medium{1024};
  MemoryDisk memory{simulation, medium, kMillisecondNs};
  MemoryDisk log_memory{simulation, log_medium, kMillisecondNs};
  bench::WatchedDisk first{memory}, second{log_memory};
  System system;
  Account account{.name = "ann"};
};

TEST(DiskOutstanding, TwoDevicesWorkInParallelAndFlagsCoverBoth) {
  TwoDisks w({.flag = FlagMeaning::part});
  Issuing issuing(w.system.queue);
  EXPECT_EQ(w.system.queue.sectors(), 4096U);
  EXPECT_EQ(w.system.queue.sectors(1), 1024U);
  w.system.run_as(w.account, [&] {
    issuing.write(100, 1, 1);
    issuing.write(device_address(1, 100), 1, 2);
    w.system.queue.drain();
    EXPECT_EQ(w.system.executor.now(), kMillisecondNs) << "each has its own head";
    const RequestId record = issuing.write(device_address(1, 200), 1, 3, {.flagged = true});
    issuing.write(200, 1, 4);
    EXPECT_EQ(w.first.log.size(), 1U) << "held back by the other device's flag";
    w.system.queue.wait_for(record);
    w.system.queue.drain();
  });
  EXPECT_EQ(w.medium.word(100), 1U);
  EXPECT_EQ(w.log_medium.word(100), 2U);
  EXPECT_EQ(w.log_medium.word(200), 3U);
  EXPECT_EQ(w.medium.word(200), 4U);
  EXPECT_EQ(w.second.log, (Log{"w100+1", "w200+1"}));
}

TEST(DiskOutstanding, TheCacheWritesToBothDevices) {
  TwoDisks w;
  w.system.run_as(w.account, [&] {
    for (const std::uint64_t home : {device_address(0, 50), device_address(1, 50)}) {
      HeldBuffer buffer = w.system.cache.get({1, static_cast<std::int64_t>(device_of(home))},
                                             Content::metadata, home, 512);
      model::bench::fill_with(buffer.bytes(), std::uint64_t{5} + device_of(home));
      w.system.cache.write_delayed(std::move(buffer));
    }
    EXPECT_EQ(w.system.cache.flush_all(), Status::ok);
    w.system.cache.drop_clean();
    const auto buffer = w.system.cache.read({1, 1}, Content::metadata, device_address(1, 50), 512);
    EXPECT_TRUE(model::bench::is_filled_with(std::span<const std::byte>(buffer->bytes()),
                                             std::uint64_t{6}));
  });
  EXPECT_EQ(w.medium.word(50), 5U);
  EXPECT_EQ(w.log_medium.word(50), 6U);
}

TEST(DiskOutstanding, AFlushMakesEarlierWritesDurable) {
  World w;
  w.memory.write_cache(true);
  Issuing issuing(w.queue);
  w.run_as_user([&] {
    issuing.write(100, 1, 7);
    EXPECT_EQ(w.queue.flush(), Status::ok);
    EXPECT_EQ(w.medium.word(100), 7U);
    issuing.write(200, 1, 8);
    w.queue.drain();
    EXPECT_EQ(w.medium.word(200), 0U) << "complete, but only in the disk's cache";
    EXPECT_EQ(w.memory.cached_sectors(), 1U);
    EXPECT_EQ(w.queue.counters().issued_flushes, 1U);
  });
  w.memory.power_cut();
  EXPECT_EQ(w.memory.cached_sectors(), 0U);
  EXPECT_EQ(w.medium.word(200), 0U);
  EXPECT_EQ(w.disk.log, (Log{"w100+1", "f0+0", "w200+1"}));
}

TEST(DiskOutstanding, FlushWithoutADiskCacheOnlyWaits) {
  World w({.outstanding = 2});
  Issuing issuing(w.queue);
  w.run_as_user([&] {
    issuing.write(100, 1, 7);
    EXPECT_EQ(w.queue.flush(), Status::ok);
    EXPECT_EQ(w.medium.word(100), 7U);
  });
  EXPECT_EQ(w.disk.log, (Log{"w100+1"}));
}

TEST(DiskOutstanding, AReadReturnsDataInTheDisksCache) {
  World w;
  w.memory.write_cache(true);
  Issuing issuing(w.queue);
  w.run_as_user([&] {
    issuing.write(101, 1, 7);
    issuing.read(100, 3);
    w.queue.drain();
    const std::vector<std::byte>& read = issuing.bytes.back();
    EXPECT_EQ(read[0], std::byte{0});
    EXPECT_EQ(read[512], std::byte{7});
  });
}

}  // namespace
}  // namespace headcrash::os
