// Random histories of the buffer cache with four fibers and a syncer, compared with a map of the
// expected blocks.
//
//   objects 1, 2  blocks with fixed homes; fibers compete for their buffers
//   object 3      blocks that move; one fiber at a time
//   object 4      blocks that are discarded; one fiber at a time
//
// Each version of a block is a number, ascending over all blocks. A reader must see the newest
// version, regardless of writes and evictions in between. Each home must receive its versions in
// order. A version that a sync write or a flush has acknowledged must be on the medium; at the end,
// the newest version of every block must be there. Hooks send rolled-back versions (kUndone set)
// and veto writes.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "fs-adapters/substrate/os/syncer.h"
#include "fs-adapters/substrate/os/testing/world.h"
#include "plugin/base/random.h"

namespace headcrash::os {
namespace {

constexpr std::uint64_t kUndone = std::uint64_t{1} << 63;
constexpr std::int64_t kBlocks = 10;

/// Checks that each sector receives its versions in order.
class RisingMedium final : public model::SectorStore {
 public:
  explicit RisingMedium(std::uint64_t sectors) : medium_(sectors) {}
  std::uint64_t sectors() const override { return medium_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    return medium_.read(lba, into);
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    const std::uint64_t sectors = data.size() / model::kSectorBytes;
    std::vector<std::uint64_t> before;
    for (std::uint64_t s = 0; s < sectors; ++s) before.push_back(word(lba + s) & ~kUndone);
    const Result<void> result = medium_.write(lba, data);
    for (std::uint64_t s = 0; s < sectors; ++s)
      if ((word(lba + s) & ~kUndone) < before[s]) ++out_of_order;
    return result;
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    return medium_.write_zeroes(lba, count);
  }
  std::uint64_t word(std::uint64_t lba) const { return medium_.word(lba); }
  int out_of_order = 0;

 private:
  bench::Medium medium_;
};

struct Shape {
  std::uint64_t seed = 1;
  BufferCacheOptions cache;
  DiskQueueOptions queue;
  SyncerOptions syncer;
  bool hooks = false;
  TimeNs cut_at = model::kNever;
};

class BufferHistory : private WriteHooks {
 public:
  explicit BufferHistory(const Shape& shape)
      : shape_(shape),
        random_(shape.seed),
        system_(clock_, memory_,
                {.costs = {{.copy_per_kib = 1000, .request_issued = 3000, .interrupt = 2000}, {}},
                 .queue = shape.queue,
                 .cache = shape.cache,
                 .syncer = shape.syncer}) {
    for (std::uint64_t object = 1; object <= 4; ++object)
      for (std::int64_t block = 0; block < kBlocks; ++block) {
        const BufferKey key{object, block};
        blocks_[key].home = home_of(key, 0);
        blocks_[key].lock = std::make_unique<FiberLock>(executor_);
      }
    if (shape.hooks) cache_.hooks(this);
  }

  void run() {
    syncer_.start();
    for (auto& account : accounts_)
      executor_.spawn(Executor::Kind::user, account, [this] {
        for (int i = 0; i < 150 && !executor_.halted(); ++i) step();
      });
    if (shape_.cut_at == model::kNever) {
      executor_.run();
      at_rest();
    } else {
      executor_.run_until(shape_.cut_at);
      memory_.power_cut();
    }
    executor_.halt();
    after_the_end();
  }

  std::uint64_t forced() const { return cache_.counters().forced_writes; }
  std::uint64_t lock_waits() const { return cache_.counters().lock_waits; }
  TimeNs ended_at() const { return executor_.now(); }
  int undone() const { return undone_; }

 private:
  struct Block {
    std::uint64_t home = 0;
    std::uint64_t newest = 0;   ///< the version that a reader must see
    std::uint64_t durable = 0;  ///< the newest acknowledged version
    std::unique_ptr<FiberLock> lock;
  };

  static std::uint64_t home_of(const BufferKey& key, std::uint64_t choice) {
    return (key.object * 100 + static_cast<std::uint64_t>(key.block) * 10 + choice * 1000);
  }
  static std::size_t bytes_of(const BufferKey& key) {
    return 512 * static_cast<std::size_t>(1 + key.block % 4);
  }
  static Content content_of(const BufferKey& key) {
    return key.object % 2 == 0 ? Content::data : Content::metadata;
  }

  void step() {
    const BufferKey key{1 + random_.below(4), static_cast<std::int64_t>(random_.below(kBlocks))};
    Block& block = blocks_[key];
    const bool alone = key.object >= 3;
    if (alone) block.lock->lock();
    if (key.object == 3 && random_.below(4) == 0) block.home = home_of(key, random_.below(3));
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2:
        look(key, block);
        break;
      case 3:
        if (key.object == 4) discard(key, block);
        break;
      case 4:
        if (random_.below(4) == 0) flush(key.object);
        break;
      case 5:
        if (key.object != 3) cache_.read_ahead(key, content_of(key), block.home, bytes_of(key));
        break;
      default:
        change(key, block);
    }
    // Blocks of object 3 move, so `block.home` must be the address of the block's last write. Every
    // step therefore ends with change(), which writes the block.
    if (key.object == 3) change(key, block);
    if (alone) block.lock->unlock();
    if (random_.below(3) == 0)
      executor_.sleep_until(executor_.now() + static_cast<TimeNs>(random_.below(4'000'000)));
  }

  void look(const BufferKey& key, Block& block) {
    if (key.object == 3) return;
    const auto buffer = cache_.read(key, content_of(key), block.home, bytes_of(key));
    if (!buffer) {
      EXPECT_EQ(buffer.error(), model::Status::power_lost);
      EXPECT_NE(shape_.cut_at, model::kNever);
      return;
    }
    EXPECT_TRUE(
        model::bench::is_filled_with(std::span<const std::byte>(buffer->bytes()), block.newest))
        << "object " << key.object << " block " << key.block << " must hold version "
        << block.newest;
  }

  void change(const BufferKey& key, Block& block) {
    HeldBuffer buffer = cache_.get(key, content_of(key), block.home, bytes_of(key));
    const std::uint64_t version = ++last_version_;
    block.newest = version;
    model::bench::fill_with(buffer.bytes(), version);
    if (random_.below(4) == 0) executor_.yield();  // yields while the buffer is held
    const Ordering how{.flagged = random_.below(8) == 0};
    switch (random_.below(8)) {
      case 0:
      case 1:
        cache_.write_async(std::move(buffer), how);
        break;
      case 2: {
        const std::uint64_t kept_back = kept_back_;
        const model::Status status = cache_.write(std::move(buffer), how);
        if (status == model::Status::ok && kept_back == kept_back_ && !shape_.hooks)
          block.durable = std::max(block.durable, version);
        break;
      }
      default:
        cache_.write_delayed(std::move(buffer));
    }
  }

  void discard(const BufferKey& key, Block& block) {
    cache_.discard(key);
    // The next read may return any version from the newest acknowledged one to the newest one.
    const auto buffer = cache_.read(key, content_of(key), block.home, bytes_of(key));
    if (!buffer) return;
    std::uint64_t seen = 0;
    std::memcpy(&seen, buffer->bytes().data(), sizeof seen);
    EXPECT_GE(seen, block.durable);
    EXPECT_LE(seen, block.newest);
    block.newest = seen;
  }

  void flush(std::uint64_t object) {
    if (object >= 3) return;
    std::map<BufferKey, std::uint64_t> then;
    for (const auto& [key, block] : blocks_)
      if (key.object == object) then[key] = block.newest;
    const bool held = random_.below(2) == 0;
    const model::Status status = held ? cache_.flush_object(object) : cache_.flush_all();
    if (status != model::Status::ok || shape_.hooks) return;
    // Blocks that have changed since the list was made are skipped, because the flush need not have
    // written the listed version.
    for (const auto& [key, version] : then) {
      Block& block = blocks_[key];
      if (block.newest == version) block.durable = std::max(block.durable, version);
    }
  }

  void at_rest() {
    hooks_on_ = false;
    executor_.spawn(Executor::Kind::user, accounts_[0], [this] {
      while (cache_.any_dirty()) {
        EXPECT_EQ(cache_.flush_all(), model::Status::ok);
      }
      queue_.drain();
      for (auto& [key, block] : blocks_) look(key, block);
    });
    executor_.run();
    for (auto& [key, block] : blocks_) block.durable = block.newest;
  }

  void after_the_end() {
    for (const auto& [key, block] : blocks_) {
      if (key.object == 3 && shape_.cut_at != model::kNever) continue;
      for (std::size_t s = 0; s < bytes_of(key) / 512; ++s) {
        const std::uint64_t there = medium_.word(block.home + s) & ~kUndone;
        EXPECT_GE(there, block.durable) << "object " << key.object << " block " << key.block;
        EXPECT_LE(there, block.newest);
      }
    }
    EXPECT_EQ(medium_.out_of_order, 0);
  }

  bool before_write(Outgoing& write) override {
    if (!hooks_on_) return true;
    if (random_.below(10) == 0) {
      ++kept_back_;
      return false;
    }
    const bool undo = write.key.object == 1 && random_.below(3) == 0;
    in_flight_[write.key].push_back(undo);
    if (!undo) return true;
    std::uint64_t version = 0;
    std::memcpy(&version, write.bytes.data(), sizeof version);
    sent_.resize(write.bytes.size());
    model::bench::fill_with(std::span<std::byte>(sent_), version | kUndone);
    write.source = sent_;
    ++undone_;
    return true;
  }
  void after_write(const BufferKey& key, RequestId, model::Status) override {
    std::deque<bool>& sent = in_flight_[key];
    if (sent.empty()) return;  // the hooks were disabled when this write was sent
    if (sent.front()) {
      EXPECT_TRUE(cache_.mark_dirty(key));
    }
    sent.pop_front();
  }

  Shape shape_;
  Random random_;
  model::Simulation simulation_;
  VirtualClock clock_{simulation_};
  RisingMedium medium_{4096};
  MemoryDisk memory_{simulation_, medium_, model::kMillisecondNs};
  System system_;
  Executor& executor_ = system_.executor;
  DiskQueue& queue_ = system_.queue;
  BufferCache& cache_ = system_.cache;
  Syncer& syncer_ = system_.syncer;
  std::vector<Account> accounts_{{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
  std::map<BufferKey, Block> blocks_;
  std::uint64_t last_version_ = 0;
  bool hooks_on_ = true;
  std::uint64_t kept_back_ = 0;
  int undone_ = 0;
  /// For each write, in issue order: whether it was rolled back.
  std::map<BufferKey, std::deque<bool>> in_flight_;
  std::vector<std::byte> sent_;
};

Shape shape_of(std::uint64_t seed) {
  Shape shape;
  shape.seed = seed;
  shape.cache.bytes = seed % 5 == 0 ? 1 << 20 : 24 * 512;
  shape.cache.block_copy = seed % 2 == 0;
  shape.cache.lock_data = seed % 3 == 0;
  shape.queue.flag = static_cast<FlagMeaning>(seed / 2 % 4);
  shape.queue.reads_bypass = seed % 7 < 3;
  shape.queue.flush_for_order = seed % 4 == 1;
  shape.syncer.policy = static_cast<SyncerOptions::Policy>(seed / 3 % 4);
  shape.syncer.tick_ns = 10 * model::kMillisecondNs;
  shape.syncer.interval_ns = 40 * model::kMillisecondNs;
  shape.syncer.parts = 4;
  return shape;
}

TEST(BufferHistory, AllWritesReachTheMediumAndReadersSeeTheNewest) {
  std::uint64_t forced = 0;
  std::uint64_t lock_waits = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    BufferHistory history(shape_of(seed));
    history.run();
    forced += history.forced();
    lock_waits += history.lock_waits();
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(forced, 100U);  // otherwise the histories do not test the cache hard enough
  EXPECT_GT(lock_waits, 100U);
}

TEST(BufferHistory, KeepsItsGuaranteesWithRollbackAndVeto) {
  int undone = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Shape shape = shape_of(seed);
    shape.hooks = true;
    BufferHistory history(shape);
    history.run();
    undone += history.undone();
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(undone, 100);
}

TEST(BufferHistory, PowerCutEndsAllWaitsAndKeepsAcknowledgedVersions) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Shape shape = shape_of(seed);
    shape.hooks = seed % 3 == 0;
    shape.cut_at = static_cast<TimeNs>(seed) * 7'300'000;
    BufferHistory(shape).run();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(BufferHistory, EqualSeedsGiveEqualTimes) {
  BufferHistory one(shape_of(3));
  BufferHistory other(shape_of(3));
  one.run();
  other.run();
  EXPECT_EQ(one.ended_at(), other.ended_at());
}

}  // namespace
}  // namespace headcrash::os
