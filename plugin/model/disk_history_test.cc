// Random histories of reads, writes, flushes and power cuts against the rules of device.h, told per sector:
//
//   versions of a sector:  base, w1, w2, ...     in order of submission (a disk serves in that order unless
//   its
//                                                queue has a policy; then nothing overlaps in flight)
//   floor                  the newest version that was promised: fua completed, flushed, or (cache off)
//   completed a read returns         the newest version completed before it was submitted, or a newer one
//   after a cut            the floor or any newer version; in one sector a prefix of one and the rest of
//   another
//
// A failure prints its seed; the history follows from it alone.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "plugin/model/test_bench.h"

namespace headcrash::model {
namespace {

using bench::Bench;
using Sector = std::vector<std::byte>;

constexpr std::uint64_t kSectors = 160;

struct Version {
  RequestId write = 0;
  Sector bytes;
  bool completed = false;
};

struct Flying {
  Request request;
  std::vector<std::byte> buffer;
  std::vector<std::size_t> floors;  ///< read: per sector the oldest version allowed
  std::uint64_t flush_before = 0;   ///< flush: covers writes completed by then
};

enum class Kind : std::uint8_t {
  plain,
  zero_latency,  ///< and several segments for reads and writes
  sptf,          ///< four commands in the drive
};

class History final : public Initiator {
 public:
  History(std::uint64_t seed, bool cache, std::uint32_t physical, Kind kind)
      : random_(seed),
        cache_(cache),
        kind_(kind),
        bench_(cache, seed, profile(physical, kind)),
        versions_(kSectors),
        floor_(kSectors, 0) {
    for (auto& v : versions_) v.push_back({0, Sector(kSectorBytes), true});
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      const auto dice = pick(100);
      if (dice < 45 && flying_.size() < 4) {
        submit();
      } else if (dice < 90) {
        bench_.machine.simulation().run_next();
      } else if (dice < 98) {
        bench_.run_for(static_cast<TimeNs>(pick(30 * kMillisecondNs)));
      } else {
        cut();
      }
    }
    bench_.drain();
    EXPECT_TRUE(flying_.empty());
    cut();
  }
  const std::vector<std::string>& log() const { return bench_.witness.log; }
  std::uint64_t torn() const { return bench_.witness.torn; }
  std::uint64_t lost_versions() const { return lost_; }

 private:
  static DiskProfile profile(std::uint32_t physical, Kind kind) {
    DiskProfile p = bench::small_profile();
    p.physical_sector_sectors = physical;
    if (kind == Kind::zero_latency) {
      p.zero_latency = true;
      p.overhead.bus_write_sector_ns = 10'000;
      p.read_buffer.segments = 3;
      p.read_buffer.write_segments = 2;
    }
    if (kind == Kind::sptf) p.queue = {4, QueuePolicy::sptf, 0};
    return p;
  }
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  bool overlaps_flight(const Request& request) const {
    return std::any_of(flying_.begin(), flying_.end(), [&request](const auto& entry) {
      const Request& other = entry.second->request;
      return request.lba < other.lba + other.sectors && other.lba < request.lba + request.sectors;
    });
  }

  void submit() {
    auto flying = std::make_unique<Flying>();
    Request& r = flying->request;
    const auto dice = pick(100);
    r.op = dice < 35 ? Op::read : dice < 80 ? Op::write : dice < 88 ? Op::write_zeroes : Op::flush;
    if (r.op != Op::flush) {
      r.sectors = static_cast<std::uint32_t>(pick(20) == 0 ? 70 : 1 + pick(12));
      r.lba = pick(kSectors - r.sectors + 1);
      if (kind_ == Kind::sptf && overlaps_flight(r)) return;
      flying->buffer.resize(std::size_t{r.sectors} * kSectorBytes);
    }
    if (r.op == Op::write) {
      for (std::byte& b : flying->buffer) b = std::byte(stamp_ % 255 + 1);
      ++stamp_;
      r.data = flying->buffer;
    }
    r.fua = r.op != Op::read && r.op != Op::flush && pick(6) == 0;
    if (r.op == Op::read) {
      r.into = flying->buffer;
      for (std::uint64_t s = r.lba; s < r.lba + r.sectors; ++s) flying->floors.push_back(newest_completed(s));
    }
    flying->flush_before = completions_;
    Flying& kept = *flying;
    const RequestId id = next_id_++;
    flying_.emplace(id, std::move(flying));
    if (r.op == Op::write || r.op == Op::write_zeroes) {
      for (std::uint32_t i = 0; i < r.sectors; ++i) {
        const auto from = kept.buffer.begin() + static_cast<std::ptrdiff_t>(i) * kSectorBytes;
        versions_[r.lba + i].push_back({id, Sector(from, from + kSectorBytes), false});
      }
    }
    EXPECT_EQ(bench_.machine.submit(0, r, *this), id);
  }

  std::size_t newest_completed(std::uint64_t sector) const {
    std::size_t newest = 0;
    for (std::size_t v = 0; v < versions_[sector].size(); ++v)
      newest = versions_[sector][v].completed ? v : newest;
    return newest;
  }

  void completed(const Completion& completion) override {
    const auto node = flying_.extract(completion.id);
    ASSERT_FALSE(node.empty());
    const Flying& flying = *node.mapped();
    const Request& r = flying.request;
    if (completion.status != Status::ok) {
      EXPECT_EQ(completion.status, Status::power_lost);
      return;
    }
    if (r.op == Op::read) {
      check_read(flying);
    } else if (r.op == Op::flush) {
      for (const auto& [at, write] : completed_writes_) {
        if (at < flying.flush_before) promise(write);
      }
    } else {
      for (std::uint64_t s = r.lba; s < r.lba + r.sectors; ++s) {
        for (Version& v : versions_[s]) v.completed |= v.write == completion.id;
      }
      completed_writes_.emplace_back(completions_++, completion.id);
      if (r.fua || !cache_) promise(completion.id);
    }
  }

  void promise(RequestId write) {
    for (std::uint64_t s = 0; s < kSectors; ++s) {
      for (std::size_t v = floor_[s] + 1; v < versions_[s].size(); ++v) {
        if (versions_[s][v].write == write) floor_[s] = v;
      }
    }
  }

  void check_read(const Flying& flying) {
    for (std::uint32_t i = 0; i < flying.request.sectors; ++i) {
      const auto from = flying.buffer.begin() + static_cast<std::ptrdiff_t>(i) * kSectorBytes;
      const Sector seen(from, from + kSectorBytes);
      const auto& all = versions_[flying.request.lba + i];
      EXPECT_TRUE(std::any_of(all.begin() + static_cast<std::ptrdiff_t>(flying.floors[i]), all.end(),
                              [&seen](const Version& v) { return v.bytes == seen; }))
          << "sector " << flying.request.lba + i << " read as something it was not";
    }
  }

  bool may_be_left(std::uint64_t sector, const Sector& seen) const {
    const auto& all = versions_[sector];
    for (std::size_t fresh = floor_[sector]; fresh < all.size(); ++fresh) {
      const auto prefix =
          std::mismatch(seen.begin(), seen.end(), all[fresh].bytes.begin()).first - seen.begin();
      for (std::size_t old = floor_[sector]; old <= fresh; ++old) {
        if (std::equal(seen.begin() + prefix, seen.end(), all[old].bytes.begin() + prefix)) return true;
      }
    }
    return false;
  }

  void cut() {
    bench_.machine.power_cut();
    bench_.drain();
    EXPECT_TRUE(flying_.empty()) << "every request is answered";
    for (std::uint64_t s = 0; s < kSectors; ++s) {
      const Sector seen = bench_.on_medium(s, 1);
      EXPECT_TRUE(may_be_left(s, seen))
          << "sector " << s << " of " << versions_[s].size() << " versions, floor " << floor_[s];
      lost_ += seen != versions_[s].back().bytes ? 1 : 0;
      versions_[s].assign(1, {0, seen, true});
      floor_[s] = 0;
    }
    completed_writes_.clear();
    bench_.machine.power_on();
  }

  std::mt19937_64 random_;
  bool cache_;
  Kind kind_;
  Bench bench_;
  std::vector<std::vector<Version>> versions_;
  std::vector<std::size_t> floor_;
  std::map<RequestId, std::unique_ptr<Flying>> flying_;
  std::deque<std::pair<std::uint64_t, RequestId>> completed_writes_;
  std::uint64_t completions_ = 0;
  std::uint64_t stamp_ = 0;
  RequestId next_id_ = 1;
  std::uint64_t lost_ = 0;
};

class DiskHistory : public testing::TestWithParam<std::tuple<bool, std::uint32_t, Kind>> {};

TEST_P(DiskHistory, KeepsTheRules) {
  const auto [cache, physical, kind] = GetParam();
  std::uint64_t torn = 0;
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
    SCOPED_TRACE(
        fmt::format("seed {} cache {} physical {} kind {}", seed, cache, physical, static_cast<int>(kind)));
    History history(seed, cache, physical, kind);
    history.run(1500);
    torn += history.torn();
    lost += history.lost_versions();
  }
  EXPECT_GT(torn, 2U) << "histories that never tear test nothing";
  EXPECT_GT(lost, 30U);
}

TEST_P(DiskHistory, EqualSeedsGiveEqualRuns) {
  const bool cache = std::get<0>(GetParam());
  const std::uint32_t physical = std::get<1>(GetParam());
  const Kind kind = std::get<2>(GetParam());
  const auto run = [cache, physical, kind](std::uint64_t seed) {
    History history(seed, cache, physical, kind);
    history.run(800);
    return history.log();
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

INSTANTIATE_TEST_SUITE_P(CacheAndSector, DiskHistory,
                         testing::Combine(testing::Bool(),
                                          testing::Values(std::uint32_t{1}, std::uint32_t{8}),
                                          testing::Values(Kind::plain, Kind::zero_latency, Kind::sptf)));

}  // namespace
}  // namespace headcrash::model
