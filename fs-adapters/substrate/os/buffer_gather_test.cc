// Tests buffers without a home, gathered writes, the owner of a cache, and charges (buffer_cache.h,
// buffer_gather.cc).
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/testing/world.h"
#include "plugin/base/random.h"

namespace headcrash::os {
namespace {

using bench::filled;
using model::kMillisecondNs;
using model::Status;
using Log = std::vector<std::string>;

struct GatherWorld : bench::World {
  explicit GatherWorld(const BufferCacheOptions& options = {},
                       const DiskQueueOptions& queue_options = {}, const CpuCosts& costs = {})
      : World({.costs = costs, .queue = queue_options, .cache = options}) {}

  HeldBuffer fill(const BufferKey& key, std::uint64_t word, std::size_t bytes = 512,
                  Content content = Content::metadata) {
    HeldBuffer buffer = cache.get(key, content, kUnassigned, bytes);
    model::bench::fill_with(buffer.bytes(), word);
    return buffer;
  }
  void change(const BufferKey& key, std::uint64_t word, Content content = Content::metadata) {
    cache.write_unassigned(fill(key, word, 512, content));
  }
  std::uint64_t word_of(const HeldBuffer& buffer) {
    std::uint64_t word = 0;
    std::memcpy(&word, buffer.bytes().data(), sizeof word);
    return word;
  }
  std::vector<GatheredPart> hold(const std::vector<BufferKey>& keys) {
    std::vector<GatheredPart> parts;
    for (const BufferKey& key : keys)
      if (HeldBuffer buffer = cache.try_hold(key)) parts.push_back({.buffer = std::move(buffer)});
    return parts;
  }
  void spawn(std::function<void()> body) {
    executor.spawn(Executor::Kind::user, account, std::move(body));
  }
};

struct RecordsCompletions final : DiskDone {
  void done(RequestId, Status how) override { statuses.push_back(how); }
  std::vector<Status> statuses;
};

/// A BufferOwner that writes consecutive segments, either within need_room() or on a separate
/// fiber.
struct LogOwner final : BufferOwner {
  explicit LogOwner(GatherWorld& w) : world(w) { w.cache.owner(this); }
  bool need_room(std::size_t) override {
    ++asked;
    return refuses ? false : write_segment(nullptr) != 0;
  }
  Status flush(const std::uint64_t* object) override {
    ++flushes;
    while (const RequestId id = write_segment(object)) world.queue.wait_for(id);
    return Status::ok;
  }
  RequestId write_segment(const std::uint64_t* object) {
    std::vector<GatheredPart> parts;
    for (const BufferKey& key : world.cache.unassigned()) {
      if (object != nullptr && key.object != *object) continue;
      if (HeldBuffer buffer = world.cache.try_hold(key))
        parts.push_back({.buffer = std::move(buffer)});
      if (parts.size() == segment_blocks) break;
    }
    if (parts.empty()) return 0;
    const std::uint64_t at = end;
    for (const GatheredPart& part : parts) homes[part.buffer.key()] = end++;
    return world.cache.write_gathered(at, std::move(parts));
  }

  GatherWorld& world;
  bool refuses = false;
  std::size_t segment_blocks = 8;
  std::uint64_t end = 1000;
  std::map<BufferKey, std::uint64_t> homes;
  int asked = 0, flushes = 0;
};

TEST(BufferGather, TheCacheDoesNotWriteBuffersWithoutAnAddress) {
  GatherWorld w;
  w.run_as_user([&] {
    w.change({1, 0}, 7);
    EXPECT_EQ(w.cache.unassigned_bytes(), 512U);
    EXPECT_EQ(w.cache.write_async(w.cache.cached({1, 0})), 0U);
    EXPECT_EQ(w.cache.write(w.cache.cached({1, 0})), Status::device_failed)
        << "it is not on the disk";
    w.cache.write_behind({1, 0});
    w.cache.sweep(0, 1);
    w.cache.sweep(0, 1);
    EXPECT_EQ(w.cache.flush_all(), Status::device_failed) << "there is no owner";
    // A buffer without a home keeps kUnassigned; get() and read() ignore the home argument.
    EXPECT_EQ(w.cache.read({1, 0}, Content::metadata, 40, 512)->lba(), kUnassigned);
    EXPECT_EQ(w.cache.get({1, 0}, Content::metadata, 40, 512).lba(), kUnassigned);
    EXPECT_TRUE(w.cache.any_dirty());
  });
  EXPECT_TRUE(w.disk.log.empty());
}

TEST(BufferGather, OneRequestWritesManyBuffersToNewAddresses) {
  for (const bool block_copy : {false, true}) {
    GatherWorld w({.block_copy = block_copy});
    w.run_as_user([&] {
      w.change({1, 0}, 1);
      w.change({1, 1}, 2, Content::data);
      w.cache.write_unassigned(w.fill({2, 0}, 3, 1024));
      const std::vector<std::byte> summary = filled(1, 99);
      std::vector<GatheredPart> parts = w.hold({{1, 0}, {1, 1}, {2, 0}});
      parts.insert(parts.begin(), GatheredPart{.bytes = summary});
      RecordsCompletions completed;
      const RequestId id = w.cache.write_gathered(500, std::move(parts), {}, &completed);
      EXPECT_FALSE(w.cache.any_dirty());
      EXPECT_EQ(w.cache.unassigned_bytes(), 0U);
      for (const BufferKey& key : std::vector<BufferKey>{{1, 0}, {1, 1}, {2, 0}}) {
        EXPECT_TRUE(w.cache.unwritten(key));
        EXPECT_EQ(w.cache.being_written(key), id);
      }
      w.queue.wait_for(id);
      EXPECT_EQ(completed.statuses, (std::vector<Status>{Status::ok}));
      EXPECT_FALSE(w.cache.any_unwritten());
      EXPECT_EQ(w.cache.cached({1, 0}).lba(), 501U);
      EXPECT_EQ(w.cache.cached({1, 1}).lba(), 502U);
      EXPECT_EQ(w.cache.cached({2, 0}).lba(), 503U);
    });
    EXPECT_EQ(w.disk.log, (Log{"w500+5"}));
    EXPECT_EQ(w.medium.word(500), 99U);
    EXPECT_EQ(w.medium.word(501), 1U);
    EXPECT_EQ(w.medium.word(502), 2U);
    EXPECT_EQ(w.medium.word(504), 3U);
    EXPECT_EQ(w.cache.counters().gathered_writes, 1U);
    EXPECT_EQ(w.cache.counters().gathered_buffers, 3U);
    EXPECT_EQ(w.cache.used_bytes(), 4U * 512) << "copies are freed";
  }
}

TEST(BufferGather, AMegabyteIsWrittenInOneRequest) {
  GatherWorld w;
  w.run_as_user([&] {
    std::vector<GatheredPart> parts;
    for (std::int64_t block = 0; block < 256; ++block)
      parts.push_back({.buffer = w.fill({1, block}, static_cast<std::uint64_t>(block + 1), 4096,
                                        Content::data)});
    w.queue.wait_for(w.cache.write_gathered(1024, std::move(parts)));
  });
  EXPECT_EQ(w.disk.log, (Log{"w1024+2048"}));
  EXPECT_EQ(w.medium.word(1024 + 2047), 256U);
}

TEST(BufferGather, MetadataIsLockedOrCopiedWhileWritten) {
  GatherWorld locked;
  locked.run_as_user([&] {
    locked.change({1, 0}, 1);
    locked.cache.write_gathered(500, locked.hold({{1, 0}}));
    EXPECT_FALSE(locked.cache.try_hold({1, 0})) << "locked by the device";
    locked.change({1, 0}, 2);
    EXPECT_EQ(locked.executor.now(), kMillisecondNs);
  });
  EXPECT_EQ(locked.medium.word(500), 1U);
  GatherWorld copied({.block_copy = true}, {}, {{.copy_per_kib = 2000}, {}});
  copied.run_as_user([&] {
    copied.change({1, 0}, 1);
    copied.cache.write_gathered(500, copied.hold({{1, 0}}));
    EXPECT_EQ(copied.executor.now(), 1000) << "copies half a KiB";
    EXPECT_EQ(copied.cache.used_bytes(), 1024U);
    copied.change({1, 0}, 2);
    EXPECT_EQ(copied.executor.now(), 1000);
    copied.queue.drain();
    EXPECT_EQ(copied.medium.word(500), 1U) << "the bytes as of issue";
    EXPECT_EQ(copied.cache.unassigned_bytes(), 512U);
    EXPECT_EQ(copied.cache.used_bytes(), 512U);
  });
  // If there is no room for a copy, the buffer itself is sent.
  GatherWorld small({.bytes = 512, .block_copy = true});
  small.run_as_user([&] {
    small.change({1, 0}, 1);
    small.cache.write_gathered(500, small.hold({{1, 0}}));
    EXPECT_FALSE(small.cache.try_hold({1, 0}));
    small.queue.drain();
    EXPECT_TRUE(small.cache.try_hold({1, 0}));
  });
}

TEST(BufferGather, AFailedWriteLeavesTheBufferDirtyAndWithoutAnAddress) {
  for (const bool block_copy : {false, true}) {
    GatherWorld w({.block_copy = block_copy});
    w.disk.bad_sectors = {501};
    w.run_as_user([&] {
      w.change({1, 0}, 1);
      w.change({1, 1}, 2, Content::data);
      w.cache.write_gathered(500, w.hold({{1, 0}, {1, 1}}));
      if (block_copy) w.cache.drop_clean();
      w.queue.drain();
      EXPECT_EQ(w.cache.unassigned_bytes(), 1024U);
      EXPECT_TRUE(w.cache.write_failed({1, 0}));
      EXPECT_EQ(w.cache.cached({1, 0}).lba(), kUnassigned);
      EXPECT_EQ(w.word_of(w.cache.cached({1, 0})), 1U);
      EXPECT_EQ(w.cache.flush_object(1), Status::device_failed);
      w.cache.write_gathered(600, w.hold({{1, 0}, {1, 1}}));
      w.queue.drain();
      EXPECT_EQ(w.cache.flush_object(1), Status::ok);
      EXPECT_EQ(w.cache.cached({1, 0}).lba(), 600U);
    });
    EXPECT_EQ(w.medium.word(600), 1U);
    EXPECT_EQ(w.medium.word(601), 2U);
  }
}

TEST(BufferGather, AFailedRewriteKeepsTheBuffersAddress) {
  GatherWorld w;
  w.disk.bad_sectors = {500};
  w.run_as_user([&] {
    HeldBuffer buffer = w.cache.get({1, 0}, Content::metadata, 500, 512);
    model::bench::fill_with(buffer.bytes(), std::uint64_t{5});
    w.cache.write_delayed(std::move(buffer));
    w.cache.write_gathered(500, w.hold({{1, 0}}));
    w.queue.drain();
    EXPECT_EQ(w.cache.cached({1, 0}).lba(), 500U);
    w.disk.bad_sectors = {};
    EXPECT_EQ(w.cache.flush_all(), Status::ok) << "written by the cache itself";
  });
  EXPECT_EQ(w.medium.word(500), 5U);
}

TEST(BufferGather, TwoWritesOfABufferStayInOrderAtAnyAddress) {
  for (const Content content : {Content::metadata, Content::data}) {
    for (const bool drops : {false, true}) {
      GatherWorld w({.block_copy = content == Content::metadata}, {.schedule = Schedule::sstf});
      if (drops && content == Content::data) continue;  // a pinned buffer cannot be evicted
      w.run_as_user([&] {
        w.change({9, 9}, 1);
        w.cache.write_gathered(0, w.hold({{9, 9}}));  // keeps the disk busy
        w.change({1, 0}, 1, content);
        w.cache.write_gathered(3000, w.hold({{1, 0}}));  // far away
        if (drops) w.cache.drop_clean();
        w.change({1, 0}, 2, content);
        w.cache.write_gathered(10, w.hold({{1, 0}}));
        w.queue.drain();
      });
      EXPECT_EQ(w.disk.log, (Log{"w0+1", "w3000+1", "w10+1"}));
    }
  }
}

TEST(BufferGather, ASecondWriteFailsWithTheFirst) {
  GatherWorld w({.block_copy = true});
  w.disk.bad_sectors = {3000};
  w.run_as_user([&] {
    w.change({1, 0}, 1);
    w.cache.write_gathered(3000, w.hold({{1, 0}}));
    w.change({1, 0}, 2);
    RecordsCompletions completed;
    w.cache.write_gathered(10, w.hold({{1, 0}}), {}, &completed);
    w.queue.drain();
    EXPECT_EQ(completed.statuses, (std::vector<Status>{Status::medium_error}));
    EXPECT_EQ(w.cache.unassigned_bytes(), 512U);
    EXPECT_EQ(w.word_of(w.cache.cached({1, 0})), 2U);
  });
}

TEST(BufferGather, AReadOfADroppedBlockWaitsForTheBlocksWrite) {
  GatherWorld w({.block_copy = true});
  w.run_as_user([&] {
    w.change({1, 0}, 7);
    w.cache.write_gathered(500, w.hold({{1, 0}}));
    w.cache.drop_clean();
    const auto buffer = w.cache.read({1, 0}, Content::metadata, 500, 512);
    EXPECT_EQ(w.word_of(*buffer), 7U);
  });
  EXPECT_EQ(w.disk.log, (Log{"w500+1", "r500+1"}));
}

struct RefusingHooks final : WriteHooks {
  bool before_write(Outgoing& write) override {
    asked.push_back(fmt::format("{} to {}", write.key.block, write.lba));
    if (write.key.block == undone) write.source = other;
    return write.key.block != refused;
  }
  void after_write(const BufferKey& key, RequestId, Status status) override {
    completed.push_back(fmt::format("{} {}", key.block, status == Status::ok ? "ok" : "failed"));
  }
  std::int64_t refused = -1, undone = -1;
  std::vector<std::byte> other = filled(1, 77);
  Log asked, completed;
};

TEST(BufferGather, OneVetoHoldsBackTheWholeGatheredWrite) {
  GatherWorld w;
  RefusingHooks hooks;
  w.cache.hooks(&hooks);
  w.run_as_user([&] {
    for (std::int64_t block = 0; block < 3; ++block) w.change({1, block}, 1);
    hooks.refused = 1;
    EXPECT_EQ(w.cache.write_gathered(500, w.hold({{1, 0}, {1, 1}, {1, 2}})), 0U);
    EXPECT_EQ(hooks.asked, (Log{"0 to 500", "1 to 501"}));
    EXPECT_EQ(hooks.completed, (Log{"0 failed"}));
    EXPECT_EQ(w.cache.unassigned_bytes(), 3U * 512);
    EXPECT_TRUE(w.cache.try_hold({1, 2}));
    hooks = {};
    hooks.undone = 2;
    w.cache.write_gathered(500, w.hold({{1, 0}, {1, 1}, {1, 2}}));
    w.queue.drain();
    EXPECT_EQ(hooks.completed, (Log{"0 ok", "1 ok", "2 ok"}));
  });
  w.cache.hooks(nullptr);
  EXPECT_EQ(w.disk.log, (Log{"w500+3"}));
  EXPECT_EQ(w.medium.word(502), 77U);
}

TEST(BufferGather, AFailedWriteOfADiscardedBufferIsIgnored) {
  for (const bool block_copy : {false, true}) {
    GatherWorld w({.block_copy = block_copy});
    w.disk.bad_sectors = {500};
    w.run_as_user([&] {
      w.change({1, 0}, 1);
      w.change({2, 0}, 1);
      w.cache.write_gathered(500, w.hold({{1, 0}, {2, 0}}));
      w.cache.discard({1, 0});
      w.queue.drain();
      EXPECT_EQ(w.cache.unassigned(), (std::vector<BufferKey>{{2, 0}}));
      w.cache.discard_all();
      EXPECT_EQ(w.cache.unassigned_bytes(), 0U);
    });
  }
}

TEST(BufferGather, FlushLetsTheOwnerWriteItsBuffers) {
  GatherWorld w;
  LogOwner log(w);
  w.run_as_user([&] {
    w.change({1, 0}, 1);
    w.change({2, 0}, 2);
    HeldBuffer homely = w.cache.get({1, 1}, Content::metadata, 10, 512);
    w.cache.write_delayed(std::move(homely));
    EXPECT_EQ(w.cache.flush_object(1), Status::ok);
    EXPECT_EQ(w.medium.word(1000), 1U);
    EXPECT_EQ(w.cache.unassigned(), (std::vector<BufferKey>{{2, 0}}));
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
    EXPECT_EQ(log.flushes, 2) << "not called if nothing is dirty";
  });
  w.cache.owner(nullptr);
  EXPECT_EQ(w.disk.log, (Log{"w10+1", "w1000+1", "w1001+1"}));
}

TEST(BufferGather, TheOwnerFreesMemoryWithinTheSizeLimit) {
  GatherWorld w({.bytes = 16 * 512});
  LogOwner log(w);
  w.run_as_user([&] {
    for (std::int64_t block = 0; block < 200; ++block) {
      w.change({1, block}, static_cast<std::uint64_t>(block) + 1);
      EXPECT_LE(w.cache.used_bytes(), 16U * 512);
    }
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
  });
  w.cache.owner(nullptr);
  EXPECT_GE(log.asked, 20);
  EXPECT_EQ(w.cache.counters().over_bytes_most, 0U);
  EXPECT_LE(w.disk.log.size(), 30U) << "segments, not blocks";
  for (std::int64_t block = 0; block < 200; ++block)
    EXPECT_EQ(w.medium.word(log.homes[{1, block}]), static_cast<std::uint64_t>(block) + 1);
}

TEST(BufferGather, CountsExcessMemoryIfTheOwnerCannotWrite) {
  GatherWorld w({.bytes = 4 * 512});
  LogOwner log(w);
  log.refuses = true;
  w.run_as_user([&] {
    for (std::int64_t block = 0; block < 6; ++block) w.change({1, block}, 1);
    EXPECT_EQ(w.executor.now(), 0);
    EXPECT_EQ(w.cache.counters().over_bytes_most, 2U * 512);
    EXPECT_EQ(log.asked, 2);
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
  });
  w.cache.owner(nullptr);
}

/// Room is made by a separate fiber, the writer, which needs memory itself. The users that wait for
/// room hold buffers, so the writer can only use the reserve.
TEST(BufferGather, ASeparateWriterCanUseTheMemoryReserve) {
  GatherWorld w({.bytes = 16 * 512, .reserve_bytes = 2 * 512});
  struct Owner final : BufferOwner {
    explicit Owner(GatherWorld& world) : wake(world.executor) {}
    bool need_room(std::size_t) override {
      asked = true;
      wake.wake_all();
      return true;
    }
    Status flush(const std::uint64_t*) override { return Status::ok; }
    WaitQueue wake;
    bool asked = false;
  } owner(w);
  w.cache.owner(&owner);
  LogOwner log(w);
  w.cache.owner(&owner);
  bool ended = false;
  w.executor.spawn(Executor::Kind::daemon, w.account, [&] {
    const RoomReserve reserve(w.cache);
    while (!ended && !w.executor.halted()) {
      while (!owner.asked && !ended) owner.wake.wait();
      owner.asked = false;
      // The writer needs memory itself: it reads a block, for example an indirect block.
      EXPECT_TRUE(w.cache.read({50, 0}, Content::metadata, 50, 512));
      EXPECT_LE(w.cache.used_bytes(), 16U * 512);
      if (log.write_segment(nullptr) == 0) w.cache.wake_room_waiters();
    }
  });
  int running = 3;
  for (std::uint64_t user = 1; user <= 3; ++user)
    w.spawn([&, user] {
      for (std::int64_t block = 0; block < 60; ++block) {
        const HeldBuffer held = w.fill({user, 1000}, 1);
        w.change({user, block}, 1);
      }
      if (--running == 0) {
        ended = true;
        owner.wake.wake_all();
      }
    });
  w.executor.run();
  w.run_as_user([&] { w.queue.drain(); });
  w.cache.discard_all();
  w.cache.owner(nullptr);
  w.executor.halt();
  EXPECT_EQ(w.cache.counters().over_bytes_most, 0U);
}

TEST(BufferGather, ChargesCountAsCacheMemoryAndAreBounded) {
  GatherWorld w({.bytes = 16 * 512, .charged_bytes_max = 10 * 512});
  w.run_as_user([&] {
    EXPECT_TRUE(w.cache.charge(8 * 512));
    EXPECT_FALSE(w.cache.charge(3 * 512)) << "exceeds the limit";
    EXPECT_FALSE(w.cache.try_charge(3 * 512));
    EXPECT_EQ(w.cache.charged_bytes(), 8U * 512);
    for (std::int64_t block = 0; block < 20; ++block) {
      HeldBuffer buffer =
          w.cache.get({1, block}, Content::data, static_cast<std::uint64_t>(block), 512);
      w.cache.write_async(std::move(buffer));
      EXPECT_LE(w.cache.used_bytes(), 16U * 512);
    }
    w.queue.drain();
    EXPECT_TRUE(w.cache.try_charge(2 * 512)) << "clean buffers make room";
    w.cache.uncharge(10 * 512);
    EXPECT_EQ(w.cache.charged_bytes(), 0U);
    EXPECT_EQ(w.cache.counters().over_bytes_most, 0U);
  });
  EXPECT_DEATH(w.cache.uncharge(1), "released more memory than was charged");
}

TEST(BufferGather, ReleasedMemoryGoesToWaiters) {
  GatherWorld w({.bytes = 4 * 512});
  struct Owner final : BufferOwner {
    bool need_room(std::size_t) override { return true; }
    Status flush(const std::uint64_t*) override { return Status::ok; }
  } owner;
  w.cache.owner(&owner);
  w.spawn([&] {
    EXPECT_TRUE(w.cache.charge(4 * 512));
    w.executor.sleep_until(5 * kMillisecondNs);
    w.cache.uncharge(512);
  });
  w.spawn([&] {
    w.executor.sleep_until(kMillisecondNs);
    w.change({1, 0}, 1);
    EXPECT_EQ(w.executor.now(), 5 * kMillisecondNs);
    EXPECT_FALSE(w.cache.try_charge(512)) << "dirty buffers and charges fill it";
  });
  w.executor.run();
  w.cache.discard_all();
  w.cache.owner(nullptr);
}

/// Simulates a log with random users. Reads through the log's map must return the newest version,
/// regardless of evictions, failed writes and moves. At the end, the newest version of each block
/// must be on the disk, at the address in the map.
void log_history(std::uint64_t seed, bool block_copy) {
  Random random(seed);
  GatherWorld w({.bytes = 24 * 512, .block_copy = block_copy, .lock_data = seed % 3 == 0},
                {.schedule = static_cast<Schedule>(seed % 4), .seed = seed});
  LogOwner log(w);
  log.segment_blocks = 1 + random.below(8);
  std::map<BufferKey, std::uint64_t> newest;
  std::uint64_t version = 0;
  const auto content = [](const BufferKey& key) {
    return key.object == 2 ? Content::data : Content::metadata;
  };
  const auto look = [&](const BufferKey& key) {
    const auto buffer = w.cache.read(key, content(key), [&] { return log.homes.at(key); }, 512);
    ASSERT_TRUE(buffer);
    ASSERT_TRUE(
        model::bench::is_filled_with(std::span<const std::byte>(buffer->bytes()), newest[key]));
  };
  for (std::uint64_t user = 0; user < 3; ++user)
    w.spawn([&] {
      for (int i = 0; i < 150 && !::testing::Test::HasFatalFailure(); ++i) {
        const BufferKey key{1 + random.below(2), static_cast<std::int64_t>(random.below(20))};
        const std::uint64_t choice = random.below(10);
        if (choice < 5) {
          HeldBuffer buffer = w.cache.get(key, content(key), kUnassigned, 512);
          newest[key] = ++version;
          model::bench::fill_with(buffer.bytes(), version);
          w.cache.write_unassigned(std::move(buffer));
        } else if (choice < 8) {
          if (newest.contains(key)) look(key);
        } else if (choice == 8) {
          log.write_segment(nullptr);
        } else {
          w.cache.drop_clean();
        }
        if (random.below(40) == 0) w.disk.bad_sectors = {log.end + random.below(4)};
        if (random.below(3) == 0)
          w.executor.sleep_until(w.executor.now() + static_cast<TimeNs>(random.below(3'000'000)));
      }
    });
  w.executor.run();
  w.disk.bad_sectors = {};
  w.run_as_user([&] {
    while (w.cache.any_unwritten()) w.cache.flush_all();
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
    w.cache.drop_clean();
    for (const auto& [key, word] : newest) look(key);
  });
  w.cache.owner(nullptr);
  for (const auto& [key, word] : newest) EXPECT_EQ(w.medium.word(log.homes[key]), word);
  EXPECT_EQ(w.cache.charged_bytes(), 0U);
}

TEST(BufferGather, ReadsOfRandomLogsReturnTheNewestVersion) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    log_history(seed, seed % 2 == 0);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(BufferGather, APowerCutEndsAllWaits) {
  GatherWorld w({.bytes = 16 * 512, .block_copy = true});
  LogOwner log(w);
  for (std::uint64_t user = 1; user <= 3; ++user)
    w.spawn([&, user] {
      for (std::int64_t block = 0; block < 300 && !w.executor.halted(); ++block)
        w.change({user, block}, 1);
    });
  w.executor.run_until(10 * kMillisecondNs);
  w.memory.power_cut();
  w.executor.halt();
  w.cache.discard_all();
  w.cache.owner(nullptr);
}

}  // namespace
}  // namespace headcrash::os
