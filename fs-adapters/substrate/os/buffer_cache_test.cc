// Tests the buffer cache (buffer_cache.h). Random histories are in buffer_history_test.cc.
#include "fs-adapters/substrate/os/buffer_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fs-adapters/substrate/os/testing/world.h"

namespace headcrash::os {
namespace {

using bench::filled;
using model::kMillisecondNs;
using model::Status;
using Log = std::vector<std::string>;

struct CachedWorld : bench::World {
  explicit CachedWorld(const BufferCacheOptions& options = {}, const CpuCosts& costs = {},
                       const DiskQueueOptions& queue_options = {})
      : World({.costs = costs, .queue = queue_options, .cache = options}) {}

  HeldBuffer fill(const BufferKey& key, std::uint64_t lba, std::uint64_t word,
                  std::size_t bytes = 512, Content content = Content::metadata) {
    HeldBuffer buffer = cache.get(key, content, lba, bytes);
    model::bench::fill_with(buffer.bytes(), word);
    return buffer;
  }
  std::uint64_t word_of(const HeldBuffer& buffer) {
    std::uint64_t word = 0;
    std::memcpy(&word, buffer.bytes().data(), sizeof word);
    return word;
  }
  std::uint64_t read_word(const BufferKey& key, std::uint64_t lba) {
    const auto buffer = cache.read(key, Content::metadata, lba, 512);
    return buffer ? word_of(*buffer) : ~std::uint64_t{0};
  }
  void spawn(std::function<void()> body) {
    executor.spawn(Executor::Kind::user, account, std::move(body));
  }
};

TEST(BufferCache, AWriteInFlightIsUnwrittenButNotDirty) {
  CachedWorld w;
  w.run_as_user([&] {
    EXPECT_FALSE(w.cache.any_unwritten());
    const RequestId id = w.cache.write_async(w.fill({0, 1}, 10, 1));
    EXPECT_FALSE(w.cache.any_dirty());
    EXPECT_TRUE(w.cache.any_unwritten());
    w.queue.wait_for(id);
    EXPECT_FALSE(w.cache.any_unwritten());
    w.cache.write_delayed(w.fill({0, 1}, 10, 2));
    EXPECT_TRUE(w.cache.any_unwritten());
  });
}

TEST(BufferCache, ReusedMemoryIsZeroed) {
  CachedWorld w({.bytes = 4 * 512});
  w.run_as_user([&] {
    for (std::int64_t i = 0; i < 8; ++i) {
      const auto home = static_cast<std::uint64_t>(i);
      EXPECT_TRUE(model::bench::is_filled_with(
          w.cache.get({0, i}, Content::data, home, 512).bytes(), std::uint64_t{0}))
          << i;
      EXPECT_EQ(w.cache.write(w.fill({0, i}, home, 7)), Status::ok);
    }
    EXPECT_EQ(w.read_word({1, 0}, 100), 0U) << "a sector that was never written";
  });
}

/// Fills the cache, which has room for eight blocks, first with `blocks` metadata blocks and then
/// with many data blocks. Returns, for each metadata block, whether it is still cached.
std::vector<bool> metadata_left(std::uint64_t metadata_bytes, std::int64_t blocks) {
  CachedWorld w({.bytes = 8 * 512, .metadata_bytes = metadata_bytes});
  std::vector<bool> left;
  w.run_as_user([&] {
    for (std::int64_t i = 0; i < blocks; ++i)
      (void)w.read_word({0, i}, 10 + static_cast<std::uint64_t>(i));
    for (std::int64_t i = 0; i < 20; ++i)
      EXPECT_TRUE(w.cache.read({1, i}, Content::data, 100 + static_cast<std::uint64_t>(i), 512));
    for (std::int64_t i = 0; i < blocks; ++i)
      left.push_back(static_cast<bool>(w.cache.cached({0, i})));
  });
  return left;
}

TEST(BufferCache, DataDoesNotEvictReservedMetadata) {
  EXPECT_EQ(metadata_left(0, 3), std::vector<bool>(3, false))
      << "one pool: evicts the least recently used";
  EXPECT_EQ(metadata_left(3 * 512, 3), std::vector<bool>(3, true));
  EXPECT_EQ(metadata_left(3 * 512, 5), (std::vector<bool>{false, false, true, true, true}))
      << "metadata beyond its pool goes first, least recently used";
}

TEST(BufferCache, EvictsTheLeastRecentlyUsedWithoutAMetadataPool) {
  CachedWorld w({.bytes = 4 * 512});
  w.run_as_user([&] {
    const auto read = [&](std::int64_t block, Content content) {
      EXPECT_TRUE(w.cache.read({0, block}, content, 10 + static_cast<std::uint64_t>(block), 512));
    };
    for (const std::int64_t block : {0, 1}) read(block, Content::data);
    for (const std::int64_t block : {2, 3}) read(block, Content::metadata);
    for (const std::int64_t block : {4, 5}) read(block, Content::data);
    for (const std::int64_t block : {0, 1}) EXPECT_FALSE(w.cache.cached({0, block})) << block;
    for (const std::int64_t block : {2, 3, 4, 5}) EXPECT_TRUE(w.cache.cached({0, block})) << block;
  });
}

TEST(BufferCache, DataMayUseIdleMetadataPool) {
  CachedWorld w({.bytes = 8 * 512, .metadata_bytes = 4 * 512});
  w.run_as_user([&] {
    const auto read = [&](std::uint64_t object, std::int64_t block, Content content) {
      return w.cache
          .read({object, block}, content, 10 * (1 + object) + static_cast<std::uint64_t>(block),
                512)
          .has_value();
    };
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_TRUE(read(1, i, Content::data));
    EXPECT_EQ(w.cache.counters().misses, 8U);
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_TRUE(read(1, i, Content::data));
    EXPECT_EQ(w.cache.counters().misses, 8U) << "all metadata stays cached";
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_TRUE(read(0, i, Content::metadata));
    EXPECT_EQ(w.cache.used_bytes(), 8U * 512);
    // A metadata block that becomes data no longer counts as metadata.
    w.cache.write_delayed(w.fill({0, 7}, 17, 1, 512, Content::data));
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
    for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(read(2, i, Content::data));
    for (std::int64_t i = 3; i < 7; ++i) EXPECT_TRUE(w.cache.cached({0, i})) << i;
  });
}

TEST(BufferCache, CountsDirtyMetadataByTimeOfTheLastChange) {
  CachedWorld w;
  w.run_as_user([&] {
    const auto counted = [&](TimeNs since) { return w.cache.dirty_metadata_since(since); };
    w.cache.write_delayed(w.fill({0, 1}, 10, 1));
    w.cache.write_delayed(w.fill({0, 2}, 11, 1, 512, Content::data));
    EXPECT_EQ(counted(0), 1U);
    w.executor.sleep_until(w.executor.now() + kMillisecondNs);
    const TimeNs later = w.executor.now();
    EXPECT_EQ(counted(later), 0U);
    w.cache.write_delayed(w.fill({0, 2}, 11, 2));  // a data block becomes a metadata block
    EXPECT_EQ(counted(later), 1U);
    EXPECT_EQ(counted(0), 2U);
    w.cache.write_delayed(w.fill({0, 1}, 10, 2, 512, Content::data));
    EXPECT_EQ(counted(0), 1U);
    w.cache.discard({0, 2});
    EXPECT_EQ(counted(0), 0U);
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
    w.cache.write_delayed(w.fill({0, 1}, 10, 3));
    EXPECT_EQ(counted(0), 1U);
  });
}

TEST(BufferCache, ListsDirtyBlocksChangedSinceATime) {
  CachedWorld w;
  w.run_as_user([&] {
    const auto blocks_since = [&](TimeNs since) {
      std::vector<std::int64_t> blocks;
      for (const BufferCache::Dirty& each : w.cache.dirty_since(since))
        blocks.push_back(each.key.block);
      return blocks;
    };
    using Blocks = std::vector<std::int64_t>;
    const auto a_moment = [&] { w.executor.sleep_until(w.executor.now() + kMillisecondNs); };
    for (const std::int64_t block : {1, 2, 3}) {
      w.cache.write_delayed(w.fill({0, block}, static_cast<std::uint64_t>(block) * 10, 1));
      a_moment();
    }
    EXPECT_EQ(blocks_since(0), (Blocks{1, 2, 3}));
    const TimeNs later = w.executor.now();
    w.cache.write_delayed(w.fill({0, 1}, 10, 2));
    EXPECT_EQ(blocks_since(0), (Blocks{1, 2, 3})) << "in the order in which they became dirty";
    EXPECT_EQ(blocks_since(later), (Blocks{1}));
    a_moment();
    w.cache.write_delayed(w.fill({0, 3}, 30, 2));
    EXPECT_EQ(blocks_since(later), (Blocks{1, 3}));
    w.disk.bad_sectors = {20};
    a_moment();
    w.cache.write_async(w.cache.cached({0, 2}));
    w.queue.drain();
    EXPECT_EQ(blocks_since(0), (Blocks{1, 3, 2})) << "dirty again";
    EXPECT_EQ(blocks_since(later), (Blocks{1, 3})) << "a failed write is not a change";
    w.disk.bad_sectors = {};
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
    EXPECT_EQ(blocks_since(0), Blocks{});
  });
}

TEST(BufferCache, SupportsDelayedAsynchronousAndSynchronousWrites) {
  CachedWorld w;
  w.run_as_user([&] {
    w.cache.write_delayed(w.fill({0, 1}, 10, 1));
    EXPECT_TRUE(w.disk.log.empty());
    EXPECT_TRUE(w.cache.any_dirty());
    const RequestId id = w.cache.write_async(w.fill({0, 2}, 20, 2));
    EXPECT_TRUE(w.queue.pending(id));
    EXPECT_EQ(w.cache.write(w.fill({0, 3}, 30, 3)), Status::ok);
    EXPECT_EQ(w.medium.word(30), 3U);
    EXPECT_EQ(w.medium.word(20), 2U);
    EXPECT_EQ(w.medium.word(10), 0U);
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
    EXPECT_EQ(w.medium.word(10), 1U);
    EXPECT_FALSE(w.cache.any_dirty());
  });
  const BufferCacheCounters& counters = w.cache.counters();
  EXPECT_EQ(counters.delayed_writes, 1U);
  EXPECT_EQ(counters.sync_writes, 1U);
  EXPECT_EQ(counters.async_writes, 2U);
  EXPECT_EQ(counters.misses, 3U);
}

TEST(BufferCache, SecondReadComesFromTheCache) {
  CachedWorld w;
  ASSERT_TRUE(w.medium.write(40, filled(1, 4)));
  w.run_as_user([&] {
    EXPECT_EQ(w.read_word({0, 40}, 40), 4U);
    EXPECT_EQ(w.read_word({0, 40}, 40), 4U);
    w.cache.drop_clean();
    EXPECT_EQ(w.read_word({0, 40}, 40), 4U);
  });
  EXPECT_EQ(w.disk.log, (Log{"r40+1", "r40+1"}));
  EXPECT_EQ(w.cache.counters().hits, 1U);
}

TEST(BufferCache, AFailedReadFailsForAllWaiters) {
  CachedWorld w;
  w.disk.bad_sectors = {40};
  int failures = 0;
  for (int i = 0; i < 3; ++i) {
    w.spawn([&] {
      const auto buffer = w.cache.read({0, 40}, Content::metadata, 40, 512);
      EXPECT_EQ(buffer.error(), Status::medium_error);
      ++failures;
    });
  }
  w.executor.run();
  EXPECT_EQ(failures, 3);
}

TEST(BufferCache, WithoutBlockCopyASecondUpdaterWaitsForTheWrite) {
  CachedWorld w;
  w.run_as_user([&] {
    w.cache.write_async(w.fill({0, 1}, 10, 1));
    const HeldBuffer buffer = w.fill({0, 1}, 10, 2);
    EXPECT_EQ(w.executor.now(), kMillisecondNs);
    EXPECT_EQ(buffer.being_written(), 0U);
  });
  EXPECT_EQ(w.cache.counters().lock_waits, 1U);
  EXPECT_EQ(w.account.disk_wait_ns, kMillisecondNs);
  EXPECT_EQ(w.medium.word(10), 1U);
}

TEST(BufferCache, WithBlockCopyUpdatersDoNotWaitAndWritesStayInOrder) {
  CachedWorld w({.block_copy = true}, {{.copy_per_kib = 2000}, {}});
  w.run_as_user([&] {
    for (std::uint64_t version = 1; version <= 5; ++version) {
      HeldBuffer buffer = w.fill({0, 1}, 10, version);
      EXPECT_EQ(buffer.being_written(), version - 1);
      w.cache.write_async(std::move(buffer));
    }
    EXPECT_EQ(w.executor.now(), 5000);  // five copies of 1 us each
    w.queue.wait_for(3);
    EXPECT_EQ(w.medium.word(10), 3U);
    w.queue.drain();
    EXPECT_EQ(w.medium.word(10), 5U);
  });
  EXPECT_EQ(w.cache.counters().lock_waits, 0U);
}

TEST(BufferCache, TracksACopyInFlightAfterItsBlockIsEvicted) {
  CachedWorld w({.block_copy = true});
  w.run_as_user([&] {
    const BufferKey key{0, 1};
    w.cache.write_delayed(w.fill(key, 10, 1));
    EXPECT_TRUE(w.cache.unwritten(key));
    EXPECT_EQ(w.cache.being_written(key), 0U);
    const RequestId first = w.cache.write_async(w.cache.cached(key));
    EXPECT_EQ(w.cache.being_written(key), first);
    const RequestId second = w.cache.write_async(w.fill(key, 10, 2));
    EXPECT_EQ(w.cache.being_written(key), second);
    w.cache.drop_clean();
    EXPECT_FALSE(w.cache.cached(key));
    EXPECT_EQ(w.cache.being_written(key), second);
    EXPECT_TRUE(w.cache.unwritten(key));
    EXPECT_FALSE(w.cache.unwritten({0, 2}));
    HeldBuffer again = w.cache.get(key, Content::metadata, 10, 512);
    EXPECT_EQ(again.being_written(), second) << "the last write of the block, not of this buffer";
    w.cache.release(std::move(again));
    EXPECT_EQ(w.cache.being_written(key), second);
    w.queue.wait_for(second);
    EXPECT_FALSE(w.cache.unwritten(key));
    EXPECT_EQ(w.medium.word(10), 2U);
  });
}

TEST(BufferCache, WritesOfZeroedBlocksNeedNoCopy) {
  CachedWorld w({.block_copy = true}, {{.copy_per_kib = 2000}, {}});
  ASSERT_TRUE(w.medium.write(10, filled(1, 9)));
  w.run_as_user([&] {
    w.cache.write_async(w.cache.get({0, 1}, Content::metadata, 10, 512));
    EXPECT_EQ(w.executor.now(), 0);
    w.cache.write_delayed(w.fill({0, 1}, 10, 5));
    w.queue.drain();
  });
  EXPECT_EQ(w.medium.word(10), 0U);
}

TEST(BufferCache, NumberOfWritesInFlightIsBounded) {
  CachedWorld w({.block_copy = true, .writes_max = 3});
  w.run_as_user([&] {
    for (std::uint64_t block = 0; block < 20; ++block)
      w.cache.write_async(w.fill({0, static_cast<std::int64_t>(block)}, block * 10, 0));
    EXPECT_EQ(w.queue.counters().queued_most, 3U);
    w.queue.drain();
  });
}

TEST(BufferCache, MemoryOfCopiesHasASeparateLimit) {
  CachedWorld w({.block_copy = true, .copies_bytes = 8192});
  w.run_as_user([&] {
    for (std::int64_t block = 0; block < 10; ++block)
      w.cache.write_async(w.fill({0, block + 1}, 10 + 2 * static_cast<std::uint64_t>(block), 7));
    EXPECT_EQ(w.executor.now(), 8 * kMillisecondNs);
    EXPECT_EQ(w.queue.counters().queued_most, 2U);
    w.queue.drain();
  });
  EXPECT_EQ(w.medium.word(28), 7U);
}

TEST(BufferCache, DataIsNotLockedDuringAWriteAndIsWrittenAsIssued) {
  CachedWorld w;
  w.run_as_user([&] {
    w.cache.write_async(w.fill({7, 0}, 10, 1, 512, Content::data));
    w.cache.write_delayed(w.fill({7, 0}, 10, 2, 512, Content::data));
    EXPECT_EQ(w.executor.now(), 0);
    w.queue.drain();
    EXPECT_EQ(w.medium.word(10), 1U);
    EXPECT_TRUE(w.cache.cached({7, 0}).dirty());
  });
  CachedWorld locked({.lock_data = true});
  locked.run_as_user([&] {
    locked.cache.write_async(locked.fill({7, 0}, 10, 1, 512, Content::data));
    locked.fill({7, 0}, 10, 2, 512, Content::data);
    EXPECT_EQ(locked.executor.now(), kMillisecondNs);
  });
}

TEST(BufferCache, TheCallerWritesWhenNoBufferIsClean) {
  CachedWorld w({.bytes = 8 * 512});
  w.run_as_user([&] {
    for (std::int64_t block = 0; block < 8; ++block)
      w.cache.write_delayed(w.fill({0, block}, static_cast<std::uint64_t>(block) * 10, 1));
    EXPECT_EQ(w.executor.now(), 0);
    w.cache.release(w.fill({0, 100}, 1000, 1));
    EXPECT_EQ(w.executor.now(), kMillisecondNs);
    EXPECT_EQ(w.medium.word(0), 1U);  // the oldest
    EXPECT_EQ(w.cache.counters().forced_writes, 8U);
    EXPECT_EQ(w.account.disk_wait_ns, kMillisecondNs);
    // After the drain, all buffers are clean, and the least recently used one is evicted first.
    // cached() counts as a use.
    w.queue.drain();
    EXPECT_TRUE(w.cache.cached({0, 1}));
    EXPECT_FALSE(w.cache.cached({0, 0}));
    EXPECT_EQ(w.read_word({0, 200}, 200), 0U);
    EXPECT_EQ(w.read_word({0, 201}, 201), 0U);
    EXPECT_TRUE(w.cache.cached({0, 1}));
    EXPECT_FALSE(w.cache.cached({0, 2}));
  });
}

TEST(BufferCache, StreamingWriterWaitsForTheDisk) {
  for (const Content content : {Content::data, Content::metadata}) {
    for (const bool block_copy : {false, true}) {
      CachedWorld w({.bytes = 16 * 512, .block_copy = block_copy});
      w.run_as_user([&] {
        for (std::int64_t block = 0; block < 400; ++block)
          w.cache.write_async(
              w.fill({1, block}, static_cast<std::uint64_t>(block) * 2, 7, 512, content));
        EXPECT_LE(w.queue.counters().queued_most, 17U);
        EXPECT_GE(w.executor.now(), 300 * kMillisecondNs);
        w.queue.drain();
      });
    }
  }
}

TEST(BufferCache, AddressAndLengthOfABufferCanChange) {
  CachedWorld w;
  w.run_as_user([&] {
    w.cache.write_delayed(w.fill({5, 0}, 10, 1, 1024));
    HeldBuffer grown = w.cache.get({5, 0}, Content::metadata, 50, 2048);
    EXPECT_TRUE(grown.dirty());
    EXPECT_EQ(grown.lba(), 50U);
    EXPECT_TRUE(model::bench::is_filled_with(grown.bytes().first(1024), std::uint64_t{1}));
    EXPECT_TRUE(model::bench::is_filled_with(grown.bytes().subspan(1024), std::uint64_t{0}));
    w.cache.release(std::move(grown));
    EXPECT_EQ(w.cache.flush_object(5), Status::ok);
  });
  EXPECT_EQ(w.disk.log, (Log{"w50+4"}));
}

TEST(BufferCache, AnUnwrittenNewBufferIsDropped) {
  CachedWorld w;
  ASSERT_TRUE(w.medium.write(10, filled(1, 4)));
  w.run_as_user([&] {
    w.cache.release(w.fill({0, 1}, 10, 9));
    EXPECT_FALSE(w.cache.cached({0, 1}));
    EXPECT_EQ(w.read_word({0, 1}, 10), 4U);
  });
}

TEST(BufferCache, ADiscardedBufferIsNotWrittenButWritesInFlightComplete) {
  CachedWorld w;
  w.run_as_user([&] {
    w.cache.write_async(w.fill({3, 0}, 10, 1));
    w.cache.write_delayed(w.fill({3, 1}, 20, 2));
    HeldBuffer held = w.fill({3, 2}, 30, 3);
    w.cache.discard_object(3);
    EXPECT_FALSE(w.cache.any_dirty());
    // The old buffer is still held. A new buffer under the same key is independent of it.
    w.cache.write_delayed(w.fill({3, 2}, 40, 4));
    w.cache.write_delayed(std::move(held));
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
    EXPECT_FALSE(w.cache.any_dirty());
  });
  EXPECT_EQ(w.medium.word(10), 1U);
  EXPECT_EQ(w.medium.word(20), 0U);
  EXPECT_EQ(w.medium.word(30), 0U);
  EXPECT_EQ(w.medium.word(40), 4U);
}

TEST(BufferCache, WaitersForADiscardedBufferGetANewOne) {
  CachedWorld w;
  w.spawn([&] {
    HeldBuffer held = w.fill({3, 0}, 10, 1);
    w.executor.sleep_until(100);
    w.cache.discard({3, 0});
    w.cache.write_delayed(std::move(held));
  });
  w.spawn([&] {
    w.executor.sleep_until(50);
    HeldBuffer other = w.cache.get({3, 0}, Content::metadata, 20, 512);
    EXPECT_EQ(w.executor.now(), 100);
    EXPECT_EQ(w.word_of(other), 0U);
  });
  w.executor.run();
  EXPECT_FALSE(w.cache.any_dirty());
}

TEST(BufferCache, FlushFailsUntilTheFailedBlockIsWritten) {
  CachedWorld w;
  w.disk.bad_sectors = {10};
  w.run_as_user([&] {
    EXPECT_EQ(w.cache.write(w.fill({3, 0}, 10, 1)), Status::medium_error);
    EXPECT_EQ(w.cache.flush_object(3), Status::medium_error)
        << "a caller that did not wait for the write sees the error too";
    w.cache.write_async(w.fill({3, 0}, 10, 2));
    w.queue.drain();
    EXPECT_EQ(w.cache.flush_object(4), Status::ok);
    EXPECT_EQ(w.cache.flush_object(3), Status::medium_error);
    EXPECT_EQ(w.cache.flush_object(3), Status::medium_error) << "reported once and not forgotten";
    EXPECT_EQ(w.cache.flush_all(), Status::medium_error);
    EXPECT_TRUE(w.cache.write_failed({3, 0}));
    EXPECT_EQ(w.cache.failed_bytes(), 512U);
    w.disk.bad_sectors = {};
    EXPECT_EQ(w.cache.flush_object(3), Status::ok);
    EXPECT_FALSE(w.cache.write_failed({3, 0}));
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
  });
  EXPECT_EQ(w.medium.word(10), 2U);
}

TEST(BufferCache, FlushReportsAnErrorAlreadyReportedToAnotherCaller) {
  CachedWorld w({.block_copy = true});
  w.disk.bad_sectors = {10};
  w.spawn([&] { EXPECT_EQ(w.cache.write(w.fill({3, 0}, 10, 1)), Status::medium_error); });
  w.spawn([&] { EXPECT_EQ(w.cache.flush_object(3), Status::medium_error); });
  w.executor.run();
}

TEST(BufferCache, AFailedBlockIsDirtyAndStaysCached) {
  for (const bool copies : {false, true}) {
    CachedWorld w({.bytes = 4 * 512, .block_copy = copies});
    w.disk.bad_sectors = {10};
    w.run_as_user([&] {
      w.cache.write_async(w.fill({0, 1}, 10, 7));
      w.queue.drain();
      // Now the cache needs memory for other blocks. The bad sector must not delay the writes of
      // those blocks.
      for (std::int64_t block = 20; block < 40; ++block)
        EXPECT_EQ(w.cache.write(w.fill({0, block}, static_cast<std::uint64_t>(block), 1)),
                  Status::ok);
      w.cache.drop_clean();
      EXPECT_TRUE(w.cache.unwritten({0, 1}));
      EXPECT_EQ(w.read_word({0, 1}, 10), 7U);
      w.disk.bad_sectors = {};
      w.cache.sweep(0, 1);
      w.cache.sweep(0, 1);
      w.queue.drain();
    });
    EXPECT_EQ(w.medium.word(10), 7U) << "the sweep writes it again";
    EXPECT_FALSE(w.cache.any_dirty());
  }
}

TEST(BufferCache, FailedBlocksDoNotBlockCallersThatNeedSpace) {
  CachedWorld w({.bytes = 2 * 512});
  w.disk.bad_sectors = {10, 30};
  w.spawn([&] {
    w.cache.write_async(w.fill({0, 1}, 10, 7));
    w.cache.write_async(w.fill({0, 2}, 30, 7));
    w.queue.drain();
    const TimeNs before = w.executor.now();
    w.cache.release(w.cache.get({0, 3}, Content::metadata, 20, 512));
    EXPECT_EQ(w.executor.now(), before);
  });
  w.spawn([&] {
    w.executor.sleep_until(model::kSecondNs);
    w.disk.bad_sectors = {};
  });
  w.executor.run();
}

TEST(BufferCache, AFailedCopyRestoresAnEvictedBuffer) {
  CachedWorld w({.bytes = 2 * 512, .block_copy = true});
  ASSERT_TRUE(w.medium.write(10, filled(1, 3)));
  w.disk.bad_sectors = {10};
  w.run_as_user([&] {
    w.cache.write_async(w.fill({0, 1}, 10, 7));
    w.cache.drop_clean();
    EXPECT_FALSE(w.cache.cached({0, 1}));
    w.queue.drain();
    EXPECT_EQ(w.read_word({0, 1}, 10), 7U);
    EXPECT_TRUE(w.cache.unwritten({0, 1}));
    // Zeroes are sent without a copy.
    w.cache.write_async(w.fill({0, 1}, 10, 0));
    w.cache.drop_clean();
    w.queue.drain();
    EXPECT_EQ(w.read_word({0, 1}, 10), 0U);
    // The next write will fail. The read below is queued behind that write, but must still return
    // the new word.
    w.cache.write_async(w.fill({0, 1}, 10, 8));
    w.cache.drop_clean();
    EXPECT_EQ(w.read_word({0, 1}, 10), 8U);
    EXPECT_TRUE(w.cache.unwritten({0, 1}));
    w.disk.bad_sectors = {};
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
  });
  EXPECT_EQ(w.medium.word(10), 8U);
}

TEST(BufferCache, AFailedCopyDoesNotReplaceANewerVersion) {
  CachedWorld w({.block_copy = true});
  w.disk.bad_sectors = {10};
  w.run_as_user([&] {
    w.cache.write_async(w.fill({0, 1}, 10, 7));
    w.cache.write_async(w.fill({0, 1}, 10, 8));
    w.cache.drop_clean();
    // The disk has already accepted the first write, so that write still fails. Only the second
    // write succeeds.
    w.disk.bad_sectors = {};
    w.queue.drain();
    EXPECT_EQ(w.read_word({0, 1}, 10), 8U);
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
  });
  EXPECT_EQ(w.medium.word(10), 8U);
}

TEST(BufferCache, AFailureAfterDiscardIsIgnored) {
  for (const bool copies : {false, true}) {
    CachedWorld w({.block_copy = copies});
    w.disk.bad_sectors = {10, 20, 30};
    w.run_as_user([&] {
      w.cache.write_async(w.fill({0, 1}, 10, 7));
      w.cache.write_async(w.fill({5, 0}, 20, 7));
      w.cache.discard({0, 1});
      w.cache.discard_object(5);
      w.queue.drain();
      EXPECT_FALSE(w.cache.any_dirty());
      EXPECT_EQ(w.cache.flush_all(), Status::ok);
      w.cache.write_async(w.fill({6, 0}, 30, 7));
      w.cache.discard_all();
      w.queue.drain();
      EXPECT_EQ(w.cache.flush_all(), Status::ok);
    });
  }
}

TEST(BufferCache, FlushWaitsForWritesAlreadyInFlight) {
  CachedWorld w({.block_copy = true});
  w.run_as_user([&] {
    for (std::uint64_t version = 1; version <= 4; ++version)
      w.cache.write_async(w.fill({3, 0}, 10, version));
    w.cache.write_delayed(w.fill({4, 0}, 20, 1));
    EXPECT_EQ(w.cache.flush_object(3), Status::ok);
    EXPECT_EQ(w.medium.word(10), 4U);
    EXPECT_EQ(w.medium.word(20), 0U);
  });
}

TEST(BufferCache, ReadAheadDoesNotWaitAndIsSkippedWithoutFreeMemory) {
  CachedWorld w({.bytes = 2 * 512});
  ASSERT_TRUE(w.medium.write(20, filled(1, 2)));
  w.run_as_user([&] {
    w.cache.read_ahead({0, 20}, Content::data, 20, 512);
    EXPECT_EQ(w.executor.now(), 0);
    EXPECT_EQ(w.read_word({0, 20}, 20), 2U);
    EXPECT_EQ(w.executor.now(), kMillisecondNs);
    w.cache.write_delayed(w.fill({0, 1}, 1, 1));
    w.cache.write_delayed(w.fill({0, 2}, 2, 1));
    w.cache.read_ahead({0, 30}, Content::data, 30, 512);
    EXPECT_FALSE(w.cache.cached({0, 30}));
  });
  EXPECT_EQ(w.disk.log, (Log{"r20+1"}));
}

/// Sends other bytes for the block `undone`, and vetoes the write of the block `kept_back`.
struct UndoingHooks : WriteHooks {
  explicit UndoingHooks(BufferCache& buffers) : cache(buffers) {}
  bool before_write(Outgoing& write) override {
    log.push_back("before " + std::to_string(write.key.block));
    if (write.key.block == kept_back) return false;
    if (write.key.block == undone) write.source = other;
    if (!after.empty()) write.ordering.after = after;
    return true;
  }
  void after_write(const BufferKey& key, RequestId, Status status) override {
    log.push_back("after " + std::to_string(key.block) + (status == Status::ok ? "" : " failed"));
    if (key.block == undone) found = cache.mark_dirty(key);
  }
  BufferCache& cache;
  std::int64_t kept_back = -1, undone = -1;
  std::vector<std::byte> other = filled(1, 77);
  std::vector<RequestId> after;
  Log log;
  bool found = false;
};

TEST(BufferCache, HooksCanSubstituteBytes) {
  for (const bool block_copy : {false, true}) {
    CachedWorld w({.bytes = 4 * 512, .block_copy = block_copy});
    UndoingHooks hooks(w.cache);
    w.cache.hooks(&hooks);
    hooks.undone = 1;
    w.run_as_user([&] {
      w.cache.write_async(w.fill({0, 1}, 10, 1));
      // Only a rolled-back version of the buffer is in flight now, so the buffer must not be
      // evicted.
      for (std::int64_t block = 20; block < 23; ++block) w.cache.release(w.fill({0, block}, 20, 1));
      w.queue.drain();
      EXPECT_EQ(w.medium.word(10), 77U);
      EXPECT_TRUE(hooks.found);
      EXPECT_EQ(w.word_of(w.cache.cached({0, 1})), 1U);
      EXPECT_TRUE(w.cache.any_dirty());
      hooks.undone = -1;
      EXPECT_EQ(w.cache.flush_all(), Status::ok);
      EXPECT_EQ(w.medium.word(10), 1U);
    });
    w.cache.hooks(nullptr);
    EXPECT_EQ(hooks.log, (Log{"before 1", "after 1", "before 1", "after 1"}));
  }
}

TEST(BufferCache, HooksCanVetoAWrite) {
  CachedWorld w({.bytes = 4 * 512});
  UndoingHooks hooks(w.cache);
  w.cache.hooks(&hooks);
  hooks.kept_back = 1;
  w.run_as_user([&] {
    EXPECT_EQ(w.cache.write(w.fill({0, 1}, 10, 1)), Status::device_failed)
        << "it is not on the disk";
    w.cache.write_delayed(w.fill({9, 2}, 11, 1, 512, Content::data));
    EXPECT_EQ(w.cache.flush_all(), Status::ok);
    EXPECT_EQ(w.medium.word(10), 0U);
    EXPECT_EQ(w.medium.word(11), 1U);
    EXPECT_EQ(w.cache.dirty().size(), 1U);
    // The following writes need more memory than the cache has. The vetoed buffer must stay dirty
    // in the cache, even if the cache exceeds its size.
    for (std::int64_t block = 20; block < 30; ++block)
      w.cache.write_delayed(w.fill({0, block}, 20, 1));
    const BufferKey key{0, 1};
    EXPECT_EQ(w.cache.dirty().front().key, key);
  });
}

TEST(BufferCache, HooksCanAddOrdering) {
  CachedWorld w;
  UndoingHooks hooks(w.cache);
  w.cache.hooks(&hooks);
  w.run_as_user([&] {
    w.cache.write_async(w.fill({0, 1}, 5, 1));
    const RequestId high = w.cache.write_async(w.fill({0, 2}, 900, 1));
    hooks.after = {high};
    w.cache.write_async(w.fill({0, 3}, 100, 1));
    w.queue.drain();
  });
  EXPECT_EQ(w.disk.log, (Log{"w5+1", "w900+1", "w100+1"}));
}

TEST(BufferCache, HooksAreCalledForData) {
  CachedWorld w;
  UndoingHooks hooks(w.cache);
  w.cache.hooks(&hooks);
  w.run_as_user([&] { w.cache.write(w.fill({7, 4}, 5, 1, 512, Content::data)); });
  EXPECT_EQ(hooks.log, (Log{"before 4", "after 4"}));
}

TEST(BufferCache, TheSweepWritesOnlyBuffersMarkedEarlier) {
  CachedWorld w;
  w.run_as_user([&] {
    for (std::int64_t block = 0; block < 4; ++block)
      w.cache.write_delayed(w.fill({0, block}, static_cast<std::uint64_t>(block) * 10, 1));
    w.cache.sweep(0, 2);
    w.cache.sweep(1, 2);
    EXPECT_TRUE(w.disk.log.empty());
    // The sweep of part 0 skips this slot, because the slot's buffer is held.
    const HeldBuffer held = w.cache.cached({0, 2});
    w.cache.sweep(0, 2);
    w.queue.drain();
  });
  EXPECT_EQ(w.disk.log, (Log{"w0+1"}));
  EXPECT_EQ(w.cache.dirty().size(), 3U);
}

TEST(BufferCache, APowerCutEndsAllWaits) {
  for (const bool block_copy : {false, true}) {
    CachedWorld w({.bytes = 16 * 512, .block_copy = block_copy});
    UndoingHooks hooks(w.cache);
    hooks.undone = 3;
    w.cache.hooks(&hooks);
    int failed = 0;
    for (int fiber = 0; fiber < 6; ++fiber) {
      w.spawn([&, fiber] {
        for (std::int64_t i = 0; i < 200; ++i) {
          HeldBuffer buffer = w.fill({0, (i * 7 + fiber) % 50},
                                     static_cast<std::uint64_t>((i * 7 + fiber) % 50), 1);
          if (i % 3 == 0)
            w.cache.write_delayed(std::move(buffer));
          else if (i % 3 == 1)
            w.cache.write_async(std::move(buffer));
          else if (w.cache.write(std::move(buffer)) != Status::ok)
            ++failed;
          if (w.cache.read({1, i}, Content::data, 1000, 512)) continue;
        }
        EXPECT_NE(w.cache.flush_all(), Status::ok);
      });
    }
    w.executor.run_until(40 * kMillisecondNs);
    w.memory.power_cut();
    w.executor.halt();
    EXPECT_GT(failed, 0);
    w.cache.hooks(nullptr);
  }
}

}  // namespace
}  // namespace headcrash::os
