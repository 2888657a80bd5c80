// Tests the enumeration against brute force: the states that it yields and omits, their order, and
// duplicates.
#include "plugin/states/state_enumerator.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>

#include "plugin/record/dm_log_writes.h"
#include "plugin/states/subsets.h"
#include "plugin/states/testing/random_run.h"

namespace headcrash::states {
namespace {

namespace fs = std::filesystem;
using Contents = std::set<Bytes>;

constexpr std::uint64_t kMany = 1 << 20;

class Explored {
 public:
  Explored(const fs::path& path, const ExploreOptions& options) {
    auto run = RunHistory::load(path);
    EXPECT_TRUE(run) << run.error().message();
    run_ = *run;
    auto enumerator = StateEnumerator::create(run_, options);
    EXPECT_TRUE(enumerator) << enumerator.error().message();
    if (!enumerator) return;
    for (auto found = enumerator->next();; found = enumerator->next()) {
      EXPECT_TRUE(found) << found.error().message();
      if (!found || !*found) break;
      states_.push_back(std::move(**found));
    }
    coverage_ = enumerator->coverage();
  }

  const RunHistory& run() const { return *run_; }
  const std::vector<FoundState>& states() const { return states_; }
  const std::vector<Coverage>& coverage() const { return coverage_; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const FoundState& state : states_) all.push_back(state.name);
    return all;
  }
  std::vector<std::uint64_t> digests() const {
    std::vector<std::uint64_t> all;
    for (const FoundState& state : states_) all.push_back(state.digest);
    return all;
  }

  /// Checks each state against the reference and returns the set of distinct disk contents.
  Contents contents(const RandomRun& reference, const std::string& where) const {
    Contents all;
    std::set<std::pair<Bytes, std::uint64_t>> seen;
    for (const FoundState& found : states_) {
      const std::string what = where + ", state " + found.name;
      EXPECT_EQ(*parse_crash_state(found.name), found.state) << what;
      const auto image = run_->image(found.state, 0);
      EXPECT_TRUE(image) << what << ": " << image.error().message();
      if (!image) continue;
      const Bytes bytes = reference.image(found.state);
      EXPECT_EQ(all_of(*image), bytes) << what;
      EXPECT_EQ(*image->digest(), found.digest) << what;
      const auto marks =
          std::count_if(run_->marks().begin(), run_->marks().end(),
                        [&](const RecordedMark& mark) { return mark.event < found.state.event; });
      EXPECT_TRUE(seen.emplace(bytes, marks).second) << what << " is a duplicate";
      all.insert(bytes);
    }
    return all;
  }

 private:
  std::shared_ptr<const RunHistory> run_;
  std::vector<FoundState> states_;
  std::vector<Coverage> coverage_;
};

ExploreOptions all_of_it(std::vector<Strategy> strategies) {
  ExploreOptions options;
  options.strategies = std::move(strategies);
  options.budget = kMany;
  options.reorder_per_cut = 1 << 12;
  return options;
}

/// Returns every subset of the unflushed writes at every cut; nullopt if there are too many.
std::optional<Contents> all_subsets(const RandomRun& reference) {
  Contents all;
  for (std::uint64_t event = 0; event <= reference.events(); ++event) {
    const auto unflushed = reference.unflushed(event);
    if (unflushed.size() > 9) return std::nullopt;
    for (std::uint64_t mask = 0; mask < 1U << unflushed.size(); ++mask) {
      CrashState state{.event = event};
      for (std::size_t i = 0; i < unflushed.size(); ++i)
        if ((mask >> i & 1U) != 0) state.listed.push_back(unflushed[i]);
      all.insert(reference.image(state));
    }
  }
  return all;
}

void expect_same(const Contents& found, const Contents& expected, const std::string& where) {
  std::size_t missing = 0;
  std::size_t odd = 0;
  for (const Bytes& bytes : expected) missing += found.contains(bytes) ? 0 : 1;
  for (const Bytes& bytes : found) odd += expected.contains(bytes) ? 0 : 1;
  EXPECT_EQ(missing, 0U) << where << ": of " << expected.size() << " contents";
  EXPECT_EQ(odd, 0U) << where << ": of " << found.size() << " contents";
}

TEST(StateEnumerator, ReorderStrategyFindsEverySubset) {
  const TemporaryFolder folder;
  int complete = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    const RandomRun reference(path, seed, {.sectors = 12, .steps = 36, .media = seed % 2 == 0});
    const auto expected = all_subsets(reference);
    if (!expected) continue;
    ++complete;
    const std::string where = "seed " + std::to_string(seed);
    const Explored found(path, all_of_it({Strategy::reorder}));
    expect_same(found.contents(reference, where), *expected, where);
    EXPECT_EQ(found.coverage()[0].bound, "") << where;
    EXPECT_EQ(found.coverage()[0].space, static_cast<double>(found.coverage()[0].generated))
        << where;
  }
  EXPECT_GT(complete, 10);
}

TEST(StateEnumerator, PrefixLoseAllAndLyingFlushStrategiesCoverEveryCut) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    const RandomRun reference(path, seed, {.steps = 100, .media = seed % 2 == 0});
    const std::string where = "seed " + std::to_string(seed);
    Contents prefixes, bare, lied;
    for (std::uint64_t event = 0; event <= reference.events(); ++event) {
      if (event > 0) prefixes.insert(reference.image({.event = event}));
      CrashState state{.event = event};
      state.keep_others = false;
      bare.insert(reference.image(state));
      for (std::uint64_t i = reference.power_cycle(event); i < event; ++i) {
        const RunEvent& one = reference.all_events()[i];
        if (one.kind != RunEvent::Kind::submit || (one.op != model::Op::flush && !one.fua))
          continue;
        const auto acked = reference.acked(one.request);
        if (!acked || *acked >= event) continue;
        state.lies_from = one.request;
        lied.insert(reference.image(state));
      }
    }
    // The strategies may omit the empty disk, which is the state before the first write. Add it to
    // both sets.
    const Contents empty = {reference.physical(0)};
    Contents found =
        Explored(path, all_of_it({Strategy::prefix})).contents(reference, where + " prefix");
    found.insert(empty.begin(), empty.end());
    prefixes.insert(empty.begin(), empty.end());
    expect_same(found, prefixes, where + " prefix");
    found =
        Explored(path, all_of_it({Strategy::lose_all})).contents(reference, where + " lose-all");
    found.insert(empty.begin(), empty.end());
    expect_same(found, bare, where + " lose-all");
    expect_same(Explored(path, all_of_it({Strategy::lying_flush}))
                    .contents(reference, where + " lying-flush"),
                lied, where + " lying-flush");
  }
}

TEST(StateEnumerator, PhysicalStrategyFindsEveryStateOfTheMedium) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    const RandomRun reference(path, seed, {.steps = 150});
    const std::string where = "seed " + std::to_string(seed);
    Contents expected = {reference.physical(0)};
    for (std::uint64_t event = 1; event <= reference.events(); ++event)
      expected.insert(reference.physical(event));
    Contents found = Explored(path, all_of_it({Strategy::physical})).contents(reference, where);
    found.insert(reference.physical(0));
    expect_same(found, expected, where);
  }
}

TEST(StateEnumerator, TornStrategySplitsWritesBetweenPhysicalSectors) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    const std::uint32_t physical = seed % 3 == 0 ? 4 : 1, atomic = seed % 2 == 0 ? 2 : 1;
    const std::uint32_t unit = std::max(physical, atomic);
    const RandomRun reference(path, seed,
                              {.steps = 50, .media = false, .physical_sector_sectors = physical});
    const std::string where = "seed " + std::to_string(seed);
    Contents expected;
    for (std::uint64_t event = 0; event <= reference.events(); ++event) {
      for (const model::RequestId request : reference.unflushed(event)) {
        const auto write =
            std::find_if(reference.all_events().begin(), reference.all_events().end(),
                         [&](const RunEvent& one) { return one.request == request; });
        std::vector<std::uint64_t> breaks = {0};
        for (std::uint64_t s = 1; s < write->sectors; ++s)
          if ((write->lba + s) % unit == 0) breaks.push_back(s);
        breaks.push_back(write->sectors);
        const std::size_t units = breaks.size() - 1;
        for (std::size_t from = 0; from < units; ++from) {
          for (std::size_t to = from + 1; to <= units; ++to) {
            const bool inner = from > 0 && to < units && to == from + 1;
            if ((from == 0) == (to == units) && !inner) continue;
            for (const bool others : {true, false}) {
              CrashState state{.event = event};
              state.keep_others = others;
              state.torn = {{request, static_cast<std::uint32_t>(breaks[from]),
                             static_cast<std::uint32_t>(breaks[to] - breaks[from])}};
              expected.insert(reference.image(state));
            }
          }
        }
      }
    }
    ExploreOptions options = all_of_it({Strategy::torn});
    options.atomic_sectors = atomic;
    const Explored explored(path, options);
    const Contents found = explored.contents(reference, where);
    for (const Bytes& bytes : found) EXPECT_TRUE(expected.contains(bytes)) << where;
    EXPECT_EQ(explored.coverage()[0].space, static_cast<double>(explored.coverage()[0].generated))
        << where;
    // A state in which one write is torn and all others are kept is found only at some cuts: just
    // before a promise, at marks and at the end. Therefore, not all of the expected states are
    // found, but at least one must be.
    EXPECT_FALSE(found.empty() && !expected.empty()) << where;
  }
}

TEST(StateEnumerator, AtomicUnitMustBeAPowerOfTwo) {
  EXPECT_EQ(atomic_sectors_of(512, "x"), 1U);
  EXPECT_EQ(atomic_sectors_of(4096, "x"), 8U);
  for (const std::uint64_t bytes : {0U, 256U, 513U, 3072U, 2U << 20})
    EXPECT_FALSE(atomic_sectors_of(bytes, "x"));
}

TEST(StateEnumerator, StrategiesShareTheBudgetWithoutDuplicates) {
  const TemporaryFolder folder;
  const RandomRun reference(folder / "r", 7, {.sectors = 64, .steps = 600});
  ExploreOptions options =
      all_of_it({Strategy::prefix, Strategy::reorder, Strategy::torn, Strategy::lose_all,
                 Strategy::lying_flush, Strategy::physical});
  options.budget = 600;
  options.reorder_per_cut = 16;
  const Explored all(folder / "r", options);
  all.contents(reference, "all");
  EXPECT_EQ(all.states().size(), 600U);
  std::uint64_t distinct = 0;
  for (const Coverage& one : all.coverage()) {
    distinct += one.distinct;
    EXPECT_LE(one.distinct, one.generated);
    EXPECT_LE(static_cast<double>(one.generated), one.space);
    if (one.strategy == Strategy::torn || one.strategy == Strategy::reorder) {
      EXPECT_GE(one.distinct, 100U);
      EXPECT_NE(one.bound.find("budget"), std::string::npos);
    }
  }
  EXPECT_EQ(distinct, 600U);
  // The same options must yield the same list. A smaller budget must yield a prefix of that list,
  // and a different seed must yield a different list.
  const auto names = all.names();
  EXPECT_EQ(Explored(folder / "r", options).names(), names);
  options.budget = 100;
  const auto few = Explored(folder / "r", options).names();
  EXPECT_EQ(few, std::vector<std::string>(names.begin(), names.begin() + 100));
  options.budget = 600;
  options.seed = 2;
  EXPECT_NE(Explored(folder / "r", options).names(), names);
}

TEST(StateEnumerator, SpreadsASmallBudgetOverTheWholeRun) {
  const TemporaryFolder folder;
  const RandomRun reference(folder / "r", 11, {.sectors = 64, .steps = 1000, .media = false});
  for (const Strategy strategy :
       {Strategy::prefix, Strategy::reorder, Strategy::torn, Strategy::lying_flush}) {
    ExploreOptions options = all_of_it({strategy});
    options.budget = 16;
    const Explored found(folder / "r", options);
    std::array<int, 4> quarters = {};
    for (const FoundState& state : found.states())
      ++quarters.at(std::min<std::uint64_t>(3, state.state.event * 4 / reference.events()));
    for (const int count : quarters) EXPECT_GT(count, 0) << name(strategy);
  }
}

TEST(StateEnumerator, StaysWithinTheGivenRangeOfEvents) {
  const TemporaryFolder folder;
  const RandomRun reference(folder / "r", 12, {.steps = 300});
  ExploreOptions options = all_of_it({Strategy::physical, Strategy::prefix, Strategy::reorder,
                                      Strategy::torn, Strategy::lose_all, Strategy::lying_flush});
  options.reorder_per_cut = 8;
  options.from_event = 100;
  options.to_event = 200;
  const Explored found(folder / "r", options);
  EXPECT_GT(found.states().size(), 20U);
  for (const FoundState& state : found.states()) {
    EXPECT_GE(state.state.event, 100U) << state.name;
    EXPECT_LE(state.state.event, 200U) << state.name;
  }
}

TEST(StateEnumerator, TreatsEqualContentAfterANewMarkAsAnotherState) {
  const TemporaryFolder folder;
  {
    auto writer = record::RecordingWriter::create(folder / "r", {1, {{"hd0", "t", 64, 1}}});
    ASSERT_TRUE(writer);
    const Bytes data(model::kSectorBytes, std::byte{1});
    (*writer)->submitted(0, 0,
                         {.id = 1, .op = model::Op::write, .lba = 1, .sectors = 1, .data = data});
    (*writer)->acknowledged(0, {.id = 1});
    (*writer)->marked(0, "persisted 1");  // no flush precedes this mark
    (*writer)->marked(0, "persisted 2");
  }
  EXPECT_EQ(Explored(folder / "r", all_of_it({Strategy::lose_all})).names(),
            (std::vector<std::string>{"w3-", "w4-"}));
}

TEST(StateEnumerator, AnImportedLogGivesTheSameStates) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string n = std::to_string(seed);
    const RandomRun reference(folder / n, seed, {.steps = 200, .media = false, .in_order = true});
    ASSERT_TRUE(record::export_dm_log_writes(folder / n, 0, folder / (n + ".log")));
    ASSERT_TRUE(record::import_dm_log_writes(folder / (n + ".log"), folder / (n + ".again")));
    ExploreOptions options = all_of_it({Strategy::prefix, Strategy::reorder, Strategy::lose_all});
    options.reorder_per_cut = 16;
    EXPECT_EQ(Explored(folder / n, options).digests(),
              Explored(folder / (n + ".again"), options).digests())
        << "seed " << seed;
  }
}

std::string refusal(const fs::path& path, const ExploreOptions& options) {
  auto run = RunHistory::load(path);
  EXPECT_TRUE(run);
  const auto enumerator = StateEnumerator::create(*run, options);
  EXPECT_FALSE(enumerator);
  return enumerator ? "" : enumerator.error().message();
}

TEST(StateEnumerator, RejectsUnsupportedStrategies) {
  const TemporaryFolder folder;
  const RandomRun reference(folder / "r", 1, {.steps = 10, .media = false});
  const RandomRun drive(folder / "d", 1, {.steps = 10});
  EXPECT_NE(refusal(folder / "r", all_of_it({Strategy::physical})).find("no MEDIA events"),
            std::string::npos);
  EXPECT_NE(refusal(folder / "r", all_of_it({Strategy::member})).find("strategy member"),
            std::string::npos);
  EXPECT_NE(refusal(folder / "d", all_of_it({Strategy::member})).find("1 media"),
            std::string::npos);
  EXPECT_NE(refusal(folder / "d", all_of_it({Strategy::recovery})).find("headcrash explore"),
            std::string::npos);
  EXPECT_NE(refusal(folder / "d", all_of_it({})).find("no strategy"), std::string::npos);
  ExploreOptions options = all_of_it({Strategy::prefix});
  options.device = 3;
  EXPECT_NE(refusal(folder / "d", options).find("has 1 devices"), std::string::npos);
  options = all_of_it({Strategy::prefix});
  options.from_event = 5;
  options.to_event = 4;
  EXPECT_NE(refusal(folder / "d", options).find("event range: 5 to 4"), std::string::npos);
}

TEST(StateEnumerator, StrategyNamesRoundTrip) {
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(*parse_strategy(name(static_cast<Strategy>(i))), static_cast<Strategy>(i));
  const auto unknown = parse_strategy("re-order");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("did you mean \"reorder\""), std::string::npos);
}

// Three members of an array are written one after another, with a flush after every four stripes.
TEST(StateEnumerator, MembersStopSeparatelyButNotBeforeAnAcknowledgedFlush) {
  const TemporaryFolder folder;
  {
    record::RecordingHeader header{1,
                                   {{"md0", "raid5", 64, 1, false},
                                    {"md0.0", "t", 64, 1},
                                    {"md0.1", "t", 64, 1},
                                    {"md0.2", "t", 64, 1}}};
    auto writer = record::RecordingWriter::create(folder / "r", header);
    ASSERT_TRUE(writer);
    model::RequestId id = 0;
    for (int stripe = 0; stripe < 12; ++stripe) {
      const Bytes data(model::kSectorBytes, static_cast<std::byte>(stripe + 1));
      for (int member = 0; member < 3; ++member) {
        const auto device = static_cast<model::DeviceId>(1 + (member + stripe) % 3);
        const auto lba = static_cast<std::uint64_t>(stripe);
        (*writer)->submitted(
            device, 0,
            {.id = ++id, .op = model::Op::write, .lba = lba, .sectors = 1, .data = data});
        (*writer)->media_written(device, 0,
                                 {id, lba, 1, model::MediaWrite::Outcome::written, data});
      }
      if (stripe % 4 != 3) continue;
      (*writer)->submitted(0, 0, {.id = ++id, .op = model::Op::flush});
      (*writer)->acknowledged(0, {.id = id});
    }
  }
  const Explored found(folder / "r", all_of_it({Strategy::member}));
  std::set<std::vector<Bytes>> contents;
  for (const FoundState& state : found.states()) {
    std::vector<Bytes> members;
    for (model::DeviceId device = 1; device <= 3; ++device) {
      const auto image = found.run().image(state.state, device);
      ASSERT_TRUE(image) << state.name << ": " << image.error().message();
      members.push_back(all_of(*image));
    }
    EXPECT_TRUE(contents.insert(members).second) << state.name << " is a duplicate";
    for (const auto& [device, event] : state.state.stopped)
      for (const RecordedFlush& flush : found.run().flushes(0))
        EXPECT_FALSE(event < *flush.acked_event && *flush.acked_event < state.state.event)
            << state.name;
  }
  EXPECT_GT(found.states().size(), 60U);
  EXPECT_NE(found.coverage()[0].bound.find("one member lags"), std::string::npos);
  EXPECT_GT(found.coverage()[0].space, static_cast<double>(found.states().size()));
  // For each media write, except a member's last one before a flush, there is a state in which that
  // member lacks exactly this write (the write hole).
  EXPECT_EQ(found.states().front().state.base, CrashState::Base::members);
}

// The array writes a log on both members, and writes the data only after both members have
// acknowledged the log.
TEST(StateEnumerator, OmitsRequestsThatDependOnAReplyOfAStoppedMember) {
  const TemporaryFolder folder;
  {
    record::RecordingHeader header{
        1, {{"md0", "raid1", 64, 1, false}, {"md0.0", "t", 64, 1}, {"md0.1", "t", 64, 1}}};
    auto writer = record::RecordingWriter::create(folder / "r", header);
    ASSERT_TRUE(writer);
    model::RequestId id = 0;
    for (int round = 0; round < 5; ++round) {
      for (const std::uint64_t place : {0, 32}) {  // log, data
        const Bytes data(model::kSectorBytes, static_cast<std::byte>(round + 1));
        const std::uint64_t lba = place + static_cast<std::uint64_t>(round);
        for (const model::DeviceId device : {1, 2})
          (*writer)->submitted(
              device, 0,
              {.id = ++id, .op = model::Op::write, .lba = lba, .sectors = 1, .data = data});
        for (const model::DeviceId device : {1, 2}) {
          const model::RequestId request = id - 2 + device;
          (*writer)->media_written(device, 0,
                                   {request, lba, 1, model::MediaWrite::Outcome::written, data});
          (*writer)->acknowledged(device, {.id = request});
        }
      }
    }
  }
  const Explored found(folder / "r", all_of_it({Strategy::member}));
  ASSERT_EQ(found.states().size(), 10U)
      << "a member is behind only within one round of log or data";
  EXPECT_EQ(found.coverage()[0].space, 10);
  for (const FoundState& state : found.states()) {
    const Bytes one = all_of(*found.run().image(state.state, 1));
    const Bytes other = all_of(*found.run().image(state.state, 2));
    for (std::size_t round = 0; round < 5; ++round) {
      const std::size_t log = round * model::kSectorBytes,
                        data = (32 + round) * model::kSectorBytes;
      const bool data_somewhere = one[data] != std::byte{0} || other[data] != std::byte{0};
      EXPECT_TRUE(!data_somewhere || (one[log] != std::byte{0} && other[log] != std::byte{0}))
          << state.name;
    }
  }
}

TEST(Subsets, AreTheSameWhateverTheBatchSize) {
  SubsetRequest request{30, {}, 5, 200};
  request.kinds = {std::vector<std::uint8_t>(30, 0)};
  request.kinds[0][3] = 1;
  const auto whole = subsets(request, 0, 1000);
  ASSERT_EQ(whole.size(), 200U);
  std::vector<std::vector<std::uint8_t>> pieces;
  for (std::uint64_t from = 0; from < 200; from += 7)
    for (auto& subset : subsets(request, from, 7)) pieces.push_back(std::move(subset));
  EXPECT_EQ(pieces, whole);
  EXPECT_EQ(std::count(whole[0].begin(), whole[0].end(), 1), 0);
  EXPECT_EQ(std::count(whole[1].begin(), whole[1].end(), 1), 30);
  EXPECT_EQ(std::count(whole[2].begin(), whole[2].end(), 1), 1);
  EXPECT_EQ(whole[2].back(), 1) << "only the newest";
  EXPECT_EQ(std::count(whole[3].begin(), whole[3].end(), 1), 29);
  EXPECT_EQ(std::count(whole[4].begin(), whole[4].end(), 1), 1);
  // Every state in which only a single write is torn must be included.
  for (std::size_t i = 0; i < 30; ++i) {
    std::vector<std::uint8_t> lost(30, 1), kept(30, 0);
    lost[i] = 0;
    kept[i] = 1;
    EXPECT_EQ(std::count(whole.begin(), whole.end(), lost) > 0, true) << i;
    EXPECT_EQ(std::count(whole.begin(), whole.end(), kept) > 0, true) << i;
  }
  EXPECT_EQ(subsets({.writes = 0, .count_max = 4}, 0, 9).size(), 1U);
  EXPECT_EQ(subsets({.writes = 3, .count_max = 8}, 0, 9).size(), 8U);
  EXPECT_EQ(subsets({.writes = 3, .count_max = 0}, 0, 9).size(), 0U);
}

TEST(Subsets, EachHalfQuarterAndSmallerPartIsLostAlone) {
  for (const std::size_t writes : {20U, 32U, 45U}) {
    const auto all = subsets({.writes = writes, .count_max = 2000}, 0, 2000);
    for (std::size_t parts = 2; 2 * parts <= writes; parts *= 2) {
      for (std::size_t part = 0; part < parts; ++part) {
        std::vector<std::uint8_t> lost(writes, 1);
        for (std::size_t w = writes * part / parts; w < writes * (part + 1) / parts; ++w)
          lost[w] = 0;
        EXPECT_TRUE(std::ranges::find(all, lost) != all.end())
            << "part " << part << " of " << parts << " of " << writes << " writes";
      }
    }
  }
}

}  // namespace
}  // namespace headcrash::states
