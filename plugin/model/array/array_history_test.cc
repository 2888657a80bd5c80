// Runs random histories of arrays against a reference model with these rules for each sector:
//
//   a read        returns the last completed write, or one of those in flight
//   after a cut   a sector whose write was in flight is old or new, a torn sector a mixture of both
//
// Members fail, are rebuilt and have unreadable sectors while requests run, and the power is cut at
// any time. Afterwards the stores are examined directly: parity must be consistent wherever the
// profile promises it.
#include <gtest/gtest.h>

#include "plugin/base/testing/number_from_environment.h"
#include "plugin/model/testing/array_fixture.h"
#include "plugin/model/testing/sector_bytes.h"

namespace headcrash::model {
namespace {

using bench::ArrayFixture;

struct Kind {
  const char* name;
  RaidLevel level;
  std::uint32_t members;
  ArrayRecovery recovery = ArrayRecovery::none;
  bool faults = true;
  bool volatile_cache = false;
  std::uint32_t cache_stripes = 0;
  std::uint32_t physical_sectors = 1;
};

class ArrayHistory final : public Initiator {
 public:
  ArrayHistory(const Kind& kind, std::uint64_t seed)
      : kind_(kind),
        random_(seed),
        bench_(profile(kind, seed),
               kind.level == RaidLevel::raid1 ? 600 : 250 + (kind.physical_sectors - 1) * 80, seed,
               {kind.volatile_cache, seed % 2 == 0, kMillisecondNs, 4 * kMillisecondNs,
                kind.recovery == ArrayRecovery::prewrite, kind.physical_sectors}) {
    const auto opened = bench_.open();
    EXPECT_TRUE(opened) << opened.error().message();
    sectors_ = bench_.array->characteristics().sectors;
    now_.assign(sectors_, 0);
    writing_.resize(sectors_);
    unflushed_.resize(sectors_);
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      const auto dice = pick(1000);
      if (dice < 350) {
        if (pending_.size() < 6) submit();
      } else if (dice < 965) {
        bench_.simulation->run_next();
      } else if (dice < 985) {
        bench_.run_for(static_cast<TimeNs>(pick(8 * kMillisecondNs)));
      } else if (dice < 992) {
        if (kind_.faults) disturb();
      } else if (dice < 996) {
        cut();
      } else {
        settle();
      }
    }
    settle();
  }
  const std::vector<std::string>& log() const { return bench_.observer.log; }
  std::uint64_t rolled() const { return rolled_; }
  std::uint64_t cuts() const { return cuts_; }
  std::uint64_t rebuilds() const { return rebuilds_; }
  /// Returns the number of rebuilds that resumed after a cut.
  std::uint64_t resumed() const {
    return static_cast<std::uint64_t>(
        std::count_if(log().begin(), log().end(), [](const std::string& line) {
          return line.find("continues at stripe") != std::string::npos;
        }));
  }

 private:
  struct Pending {
    Request request;
    std::vector<std::byte> buffer;
    std::uint32_t stamp = 0;
    std::vector<std::vector<std::uint32_t>> allowed;  ///< by reads
    std::uint64_t flush_before = 0;
  };
  static ArrayProfile profile(const Kind& kind, std::uint64_t seed) {
    ArrayProfile p =
        bench::array_profile(kind.level, kind.members, std::max(4U, kind.physical_sectors));
    p.recovery = kind.recovery;
    p.stripe_cache_stripes = kind.cache_stripes;
    if (kind.recovery == ArrayRecovery::prewrite) p.prewrite_sectors = 48 * kind.physical_sectors;
    if (kind.recovery == ArrayRecovery::dirty_regions) {
      p.region_sectors = 40;
      p.region_idle_ns = 15 * kMillisecondNs;
    }
    p.volatile_cache = kind.volatile_cache;
    // Slow enough for power cuts to occur during the rebuild.
    if (seed % 2 == 1) p.rebuild_bytes_per_second = 300 * kSectorBytes;
    return p;
  }
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  /// Fills every word of each sector with the write's stamp.
  static void fill(std::span<std::byte> bytes, std::uint32_t stamp) {
    bench::fill_with(bytes, stamp);
  }
  /// Returns true if the sector contains this stamp. A torn sector contains two stamps, and the
  /// boundary may be at any byte.
  static bool is(std::span<const std::byte> sector, std::uint32_t stamp) {
    return bench::is_filled_with(sector, stamp);
  }
  static bool is_torn_of(std::span<const std::byte> sector,
                         const std::vector<std::uint32_t>& stamps) {
    for (const std::uint32_t a : stamps) {
      std::array<std::byte, kSectorBytes> first;
      fill(first, a);
      const std::size_t prefix = bench::common_prefix(sector, first);
      for (const std::uint32_t b : stamps) {
        std::array<std::byte, kSectorBytes> second;
        fill(second, b);
        if (bench::same_bytes(sector.subspan(prefix), std::span(second).subspan(prefix)))
          return true;
      }
    }
    return false;
  }
  std::vector<std::uint32_t> allowed(std::uint64_t sector) const {
    std::vector<std::uint32_t> all = {now_[sector]};
    for (const auto& [id, stamp] : writing_[sector]) all.push_back(stamp);
    return all;
  }

  void submit() {
    auto pending = std::make_unique<Pending>();
    Request& r = pending->request;
    const auto dice = pick(100);
    r.op = dice < 30   ? Op::read
           : dice < 80 ? Op::write
           : dice < 88 ? Op::write_zeroes
           : dice < 92 ? Op::trim
                       : Op::flush;
    if (r.op != Op::flush) {
      const std::uint64_t longest = pick(4) == 0 ? 90 : 9;
      r.sectors = static_cast<std::uint32_t>(1 + pick(longest));
      r.lba = pick(pick(2) == 0 ? sectors_ - r.sectors + 1 : 60);
      pending->buffer.resize(std::size_t{r.sectors} * kSectorBytes);
      for (const auto& [id, other] :
           pending_) {  // writes in flight must not overlap, because their order is undefined
        const Request& o = other->request;
        if (r.op != Op::read && o.op != Op::read && r.lba < o.lba + o.sectors &&
            o.lba < r.lba + r.sectors)
          return;
      }
    }
    if (r.op == Op::trim && !bench_.array->characteristics().trim) return;
    if (r.op == Op::write) {
      pending->stamp = ++stamps_;
      fill(pending->buffer, pending->stamp);
      r.data = pending->buffer;
    }
    r.fua = (r.op == Op::write || r.op == Op::write_zeroes) && pick(5) == 0;
    if (r.op == Op::read) {
      r.into = pending->buffer;
      for (std::uint64_t s = r.lba; s < r.lba + r.sectors; ++s)
        pending->allowed.push_back(allowed(s));
    }
    r.id = bench_.simulation->new_request_id();
    pending->flush_before = completions_;
    if (r.op != Op::read && r.op != Op::flush) {
      for (std::uint64_t s = r.lba; s < r.lba + r.sectors; ++s) {
        writing_[s][r.id] = pending->stamp;
        for (auto& [id, other] : pending_) {
          if (other->request.op == Op::read && s >= other->request.lba &&
              s - other->request.lba < other->request.sectors)
            other->allowed[s - other->request.lba].push_back(pending->stamp);
        }
      }
    }
    const Request request = r;
    pending_.emplace(request.id, std::move(pending));
    bench_.array->submit(request, *this);
  }

  void completed(const Completion& completion) override {
    const auto node = pending_.extract(completion.id);
    ASSERT_FALSE(node.empty()) << "a request must be answered once";
    const Pending& f = *node.mapped();
    const Request& r = f.request;
    if (completion.status != Status::ok) {
      EXPECT_EQ(completion.status, Status::power_lost)
          << "op " << static_cast<int>(r.op) << " " << r.lba << "+" << r.sectors;
      // Keep the write in writing_: until the cut has been checked, a read may return its data.
      return;
    }
    ++completions_;
    if (r.op == Op::read) {
      for (std::uint32_t i = 0; i < r.sectors; ++i) check(f, i);
    } else if (r.op == Op::flush) {
      for (auto& older : unflushed_) {
        older.erase(std::remove_if(older.begin(), older.end(),
                                   [&f](const auto& o) { return o.second < f.flush_before; }),
                    older.end());
      }
    } else {
      for (std::uint64_t s = r.lba; s < r.lba + r.sectors; ++s) {
        if (bench_.array->characteristics().volatile_cache && !r.fua)
          unflushed_[s].push_back({now_[s], completions_});
        else
          unflushed_[s].clear();
        now_[s] = f.stamp;
        writing_[s].erase(completion.id);
      }
    }
  }

  void check(const Pending& f, std::uint32_t i) {
    const std::span sector(f.buffer.data() + std::size_t{i} * kSectorBytes, kSectorBytes);
    for (const std::uint32_t stamp : f.allowed[i]) {
      if (is(sector, stamp)) return;
    }
    std::uint32_t seen = 0;
    std::memcpy(&seen, sector.data(), 4);
    ADD_FAILURE() << "sector " << f.request.lba + i << " read as " << seen << ", now "
                  << f.allowed[i][0];
  }

  /// Makes another member or sector fail if the redundancy permits one more loss, or starts a
  /// rebuild.
  void disturb() {
    const RaidLayout l = bench_.layout();
    const ArrayStatus status = bench_.array->status();
    const auto lost = static_cast<std::uint32_t>(
        std::count_if(status.members.begin(), status.members.end(),
                      [](MemberState s) { return s != MemberState::active; }));
    const auto m = static_cast<std::uint32_t>(pick(l.members));
    if (status.members[m] == MemberState::failed) {
      if (!status.background.empty()) return;
      bench_.drives[m]->dead = false;
      bench_.drives[m]->unreadable.clear();
      if (!bench_.array->rebuild(m)) return;
      ++rebuilds_;
      if (pick(2) == 0) return;
      // Runs for up to 900 ms. This may suffice for most of the rebuild, or for the array to become
      // clean.
      bench_.run_for(static_cast<TimeNs>(pick(900 * kMillisecondNs)));
      cut();
    } else if (lost < l.parity && status.members[m] == MemberState::active && unreadable() == 0) {
      if (pick(2) == 0) {
        (void)bench_.array->fail_member(m);
      } else {
        bench_.drives[m]->dead = true;
      }
    } else if (lost == 0 && std::none_of(bench_.drives.begin(), bench_.drives.end(),
                                         [](const auto* d) { return d->dead; })) {
      bench_.drives[m]->unreadable.insert(l.data_first + pick(l.stripes * l.unit));
    }
  }
  std::size_t unreadable() const {
    std::size_t all = 0;
    for (const auto* drive : bench_.drives) all += drive->unreadable.size() + (drive->dead ? 1 : 0);
    return all;
  }
  void heal() {
    for (auto* drive : bench_.drives) {
      drive->dead = false;
      drive->unreadable.clear();
    }
    bench_.drain();
    for (std::uint32_t m = 0; m < bench_.profile.members; ++m) {
      if (bench_.array->status().members[m] != MemberState::failed) continue;
      const auto begun = bench_.array->rebuild(m);
      EXPECT_TRUE(begun) << begun.error().message();
      ++rebuilds_;
      bench_.drain();
    }
  }

  /// Completes all requests, restores all members, and checks that all sectors and all parity are
  /// consistent.
  void settle() {
    bench_.drain();
    EXPECT_TRUE(pending_.empty());
    heal();
    EXPECT_EQ(bench_.array->status().background, "");
    EXPECT_FALSE(bench_.array->status().dirty);
    check_stores();
  }
  void check_stores() {
    EXPECT_EQ(bench_.wrong_stripes(), 0U);
    const RaidLayout l = bench_.layout();
    for (std::uint64_t s = 0; s < sectors_; ++s) {
      const auto in_stripe = static_cast<std::uint32_t>(s % l.stripe_sectors());
      const std::uint64_t stripe = s / l.stripe_sectors();
      EXPECT_TRUE(is(bench_.on_member(l.member_of(stripe, in_stripe / l.unit),
                                      l.member_lba(stripe, in_stripe % l.unit), 1),
                     now_[s]))
          << "sector " << s;
    }
  }

  /// Cuts the power, unless the array might then be dirty and degraded and refuse to start. Another
  /// test covers that case.
  void cut() {
    const bool logs = kind_.recovery == ArrayRecovery::prewrite;
    const ArrayStatus status = bench_.array->status();
    const bool lost = std::any_of(status.members.begin(), status.members.end(),
                                  [](MemberState s) { return s != MemberState::active; });
    const bool may_be_refused = lost && status.dirty && kind_.level != RaidLevel::raid1;
    if (!logs && (may_be_refused || unreadable() > 0)) return;
    ++cuts_;
    bench_.array->power_cut();
    bench_.run_for(0);
    EXPECT_TRUE(pending_.empty()) << "every request must be answered";
    const std::uint64_t rolled = bench_.array->array_counters().rolled_forward;
    if (pick(3) == 0) {  // cut the power once more, during the recovery
      bench_.array->power_on();
      bench_.run_for(static_cast<TimeNs>(pick(30 * kMillisecondNs)));
      bench_.array->power_cut();
      bench_.run_for(0);
    }
    if (pick(2) == 0) {
      bench_.array->power_on();
    } else {
      reopen();
    }
    bench_.drain();
    rolled_ += bench_.array->array_counters().rolled_forward -
               std::min(rolled, bench_.array->array_counters().rolled_forward);
    EXPECT_FALSE(bench_.array->status().refused.has_value()) << *bench_.array->status().refused;
    heal();
    adopt_what_is_there();
    if (kind_.recovery == ArrayRecovery::none && kind_.level != RaidLevel::raid0) {
      EXPECT_TRUE(bench_.array->scrub(true));
      bench_.drain();
    }
    check_stores();
  }
  void reopen() {
    std::vector<std::set<std::uint64_t>> unreadable;
    std::vector<bool> dead;
    for (const auto* drive : bench_.drives) {
      unreadable.push_back(drive->unreadable);
      dead.push_back(drive->dead);
    }
    ++bench_.seed;
    const auto opened = bench_.open([&](ArrayFixture& b) {
      for (std::size_t m = 0; m < b.drives.size(); ++m) {
        b.drives[m]->unreadable = unreadable[m];
        b.drives[m]->dead = dead[m];
      }
    });
    ASSERT_TRUE(opened) << opened.error().message();
  }
  static std::uint32_t first_stamp(std::span<const std::byte> sector) {
    std::uint32_t stamp = 0;
    std::memcpy(&stamp, sector.data(), 4);
    return stamp;
  }
  void adopt_what_is_there() {
    const auto all = bench_.read(0, static_cast<std::uint32_t>(sectors_));
    EXPECT_EQ(all.size(), sectors_ * kSectorBytes) << "every sector must be readable";
    if (all.empty()) return;
    for (std::uint64_t s = 0; s < sectors_; ++s) {
      auto stamps = allowed(s);
      for (const auto& [stamp, at] : unflushed_[s]) stamps.push_back(stamp);
      const auto seen = std::span(all).subspan(s * kSectorBytes, kSectorBytes);
      const bool torn_possible = stamps.size() > 1;
      EXPECT_TRUE(torn_possible ? is_torn_of(seen, stamps) : is(seen, stamps[0]))
          << "sector " << s << " after a cut, now " << now_[s] << ", " << writing_[s].size()
          << " writes in flight, found " << first_stamp(seen);
      std::vector<std::byte> clean(kSectorBytes);
      std::uint32_t stamp = 0;
      std::memcpy(&stamp, seen.data(), 4);
      if (!is(seen, stamp)) {
        stamp = ++stamps_;
        fill(clean, stamp);
        EXPECT_EQ(bench_.write(s, clean), Status::ok);
      }
      now_[s] = stamp;
      writing_[s].clear();
      unflushed_[s].clear();
    }
    bench_.drain();
  }

  Kind kind_;
  std::mt19937_64 random_;
  ArrayFixture bench_;
  std::uint64_t sectors_ = 0;
  std::vector<std::uint32_t> now_;
  std::vector<std::map<RequestId, std::uint32_t>> writing_;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint64_t>>> unflushed_;
  std::map<RequestId, std::unique_ptr<Pending>> pending_;
  std::uint32_t stamps_ = 0;
  std::uint64_t completions_ = 0, rolled_ = 0, cuts_ = 0, rebuilds_ = 0;
};

constexpr Kind kKinds[] = {
    {"raid0", RaidLevel::raid0, 3, ArrayRecovery::none, false},
    {"raid1", RaidLevel::raid1, 3, ArrayRecovery::resync},
    {"raid4", RaidLevel::raid4, 4, ArrayRecovery::resync},
    {"raid5", RaidLevel::raid5, 4, ArrayRecovery::none},
    {"raid4_of_two", RaidLevel::raid4, 2, ArrayRecovery::resync},
    {"raid5_of_two", RaidLevel::raid5, 2, ArrayRecovery::resync},
    {"raid5_of_two_prewrite", RaidLevel::raid5, 2, ArrayRecovery::prewrite},
    {"raid5_resync", RaidLevel::raid5, 5, ArrayRecovery::resync, true, false, 6},
    {"raid5_regions", RaidLevel::raid5, 4, ArrayRecovery::dirty_regions},
    {"raid5_regions_volatile", RaidLevel::raid5, 4, ArrayRecovery::dirty_regions, true, true},
    {"raid1_regions", RaidLevel::raid1, 3, ArrayRecovery::dirty_regions},
    {"raid5_prewrite", RaidLevel::raid5, 4, ArrayRecovery::prewrite},
    {"raid5_volatile", RaidLevel::raid5, 4, ArrayRecovery::resync, true, true},
    {"raid5_prewrite_volatile", RaidLevel::raid5, 5, ArrayRecovery::prewrite, true, true, 4},
    {"raid5_prewrite_4k", RaidLevel::raid5, 4, ArrayRecovery::prewrite, true, false, 4, 8},
    {"raid6", RaidLevel::raid6, 5, ArrayRecovery::resync, true, false, 5},
    {"raid6_prewrite", RaidLevel::raid6, 6, ArrayRecovery::prewrite},
};

/// Returns the number of seeds. The environment variable HEADCRASH_ARRAY_SEEDS can increase it.
std::uint64_t seeds() {
  return number_from_environment("HEADCRASH_ARRAY_SEEDS", 4);
}
constexpr std::uint64_t kManySeeds = 40;
constexpr int kSteps = 1000;

class ArrayHistories : public testing::TestWithParam<Kind> {};

TEST_P(ArrayHistories, SatisfyTheDeviceContract) {
  std::uint64_t rolled = 0;
  std::uint64_t cuts = 0;
  std::uint64_t rebuilds = 0;
  std::uint64_t resumed = 0;
  for (std::uint64_t seed = 1; seed <= seeds() && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("{}, seed {}", GetParam().name, seed));
    ArrayHistory history(GetParam(), seed);
    history.run(kSteps);
    rolled += history.rolled();
    cuts += history.cuts();
    rebuilds += history.rebuilds();
    resumed += history.resumed();
  }
  EXPECT_GT(cuts, 5U) << "the histories must include cuts";
  if (GetParam().faults) {
    EXPECT_GT(rebuilds, 3U);
    EXPECT_TRUE(resumed > 0 || seeds() < kManySeeds);
  }
  if (GetParam().recovery == ArrayRecovery::prewrite) {
    EXPECT_GT(rolled, 3U);
  }
}

TEST_P(ArrayHistories, EqualSeedsGiveEqualRuns) {
  const auto run = [](std::uint64_t seed) {
    ArrayHistory history(GetParam(), seed);
    history.run(300);
    return history.log();
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

INSTANTIATE_TEST_SUITE_P(Profiles, ArrayHistories, testing::ValuesIn(kKinds),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace headcrash::model
