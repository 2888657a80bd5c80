// Tests states of two disks on one power cord against brute force. Each disk loses its own
// unflushed writes at one cut, and a flush covers only its own disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "plugin/base/testing/temporary_folder.h"
#include "plugin/states/state_enumerator.h"
#include "plugin/states/state_source.h"
#include "plugin/states/subsets.h"
#include "plugin/states/testing/two_disks_run.h"

namespace headcrash::states {
namespace {

namespace fs = std::filesystem;
using Images = std::set<Disks>;

constexpr std::uint64_t kNoBound = 1 << 20;

std::shared_ptr<const RunHistory> loaded(const fs::path& path) {
  auto run = RunHistory::load(path);
  EXPECT_TRUE(run) << run.error().message();
  return run ? *run : nullptr;
}

ExploreOptions on_all_disks(std::vector<Strategy> strategies) {
  ExploreOptions options;
  options.strategies = std::move(strategies);
  options.all_disks = true;
  options.budget = kNoBound;
  options.reorder_per_cut = 1 << 12;
  return options;
}

std::vector<FoundState> states_of(const std::shared_ptr<const RunHistory>& run,
                                  const ExploreOptions& options,
                                  std::vector<Coverage>* coverage = nullptr) {
  auto enumerator = StateEnumerator::create(run, options);
  EXPECT_TRUE(enumerator) << enumerator.error().message();
  std::vector<FoundState> states;
  while (enumerator) {
    auto found = enumerator->next();
    EXPECT_TRUE(found) << found.error().message();
    if (!found || !*found) break;
    states.push_back(std::move(**found));
  }
  if (coverage != nullptr && enumerator) *coverage = enumerator->coverage();
  return states;
}

Disks images_of(const RunHistory& run, const CrashState& state) {
  Disks disks;
  for (model::DeviceId device = 0; device < 2; ++device) {
    const auto image = run.image(state, device);
    EXPECT_TRUE(image) << format(state) << ": " << image.error().message();
    if (!image) continue;
    disks.at(device).resize(kDiskSectors * model::kSectorBytes);
    EXPECT_TRUE(image->read(0, disks.at(device)));
  }
  return disks;
}

/// Checks that both disks have the contents that each state's name describes. The digest of a state
/// must cover both disks. No two states with the same marks may have the same contents.
Images checked(const RunHistory& run, const TwoDisks& reference,
               const std::vector<FoundState>& states, const std::string& where) {
  Images all;
  std::set<std::pair<Disks, std::ptrdiff_t>> seen;
  std::map<std::uint64_t, Disks> by_digest;
  for (const FoundState& found : states) {
    const std::string what = where + ", state " + found.name;
    EXPECT_EQ(*parse_crash_state(found.name), found.state) << what;
    const Disks disks = images_of(run, found.state);
    EXPECT_EQ(disks, reference.images(found.state)) << what;
    std::uint64_t digest = 0;
    for (model::DeviceId device = 0; device < 2; ++device)
      digest += share_of(device, *run.image(found.state, device)->digest());
    EXPECT_EQ(found.digest, digest) << what;
    EXPECT_EQ(by_digest.emplace(digest, disks).first->second, disks) << what;
    const auto marks =
        std::count_if(run.marks().begin(), run.marks().end(),
                      [&](const RecordedMark& mark) { return mark.event < found.state.event; });
    EXPECT_TRUE(seen.emplace(disks, marks).second) << what << " is a duplicate";
    all.insert(disks);
  }
  return all;
}

void expect_all_of(const Images& found, const Images& expected, const std::string& where) {
  std::size_t missing = 0, odd = 0;
  for (const Disks& disks : expected) missing += found.contains(disks) ? 0 : 1;
  for (const Disks& disks : found) odd += expected.contains(disks) ? 0 : 1;
  EXPECT_EQ(missing, 0U) << where << ": of " << expected.size();
  EXPECT_EQ(odd, 0U) << where << ": of " << found.size();
}

/// Returns every subset of the unflushed writes on both disks, at every cut; nullopt if there are
/// too many.
std::optional<Images> every_subset(const TwoDisks& reference) {
  Images all;
  for (std::uint64_t cut = 0; cut <= reference.events().size(); ++cut) {
    const auto unflushed = reference.unflushed(cut);
    if (unflushed.size() > 8) return std::nullopt;
    for (std::uint64_t mask = 0; mask < 1U << unflushed.size(); ++mask) {
      CrashState state{.all_disks = true, .event = cut};
      for (std::size_t i = 0; i < unflushed.size(); ++i)
        if ((mask >> i & 1U) != 0) state.listed.push_back(unflushed[i]);
      all.insert(reference.images(state));
    }
  }
  return all;
}

TEST(TwoDisks, ReorderStrategyFindsEverySubsetOfBothDisksWrites) {
  const TemporaryFolder folder;
  int complete = 0;
  for (std::uint64_t seed = 1; seed <= 60 && complete < 15; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    const TwoDisks reference(path, seed, 36, seed % 2 == 0);
    const auto expected = every_subset(reference);
    if (!expected) continue;
    ++complete;
    const std::string where = "seed " + std::to_string(seed);
    const auto run = loaded(path);
    std::vector<Coverage> coverage;
    const auto states = states_of(run, on_all_disks({Strategy::reorder}), &coverage);
    expect_all_of(checked(*run, reference, states, where), *expected, where);
    EXPECT_EQ(coverage[0].bound, "") << where;
    EXPECT_EQ(coverage[0].space, static_cast<double>(coverage[0].generated)) << where;
  }
  EXPECT_EQ(complete, 15);
}

TEST(TwoDisks, PrefixLoseAllAndLyingFlushStrategiesCoverEveryCut) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    const TwoDisks reference(path, seed, 80, seed % 2 == 0);
    const std::string where = "seed " + std::to_string(seed);
    const Images empty = {reference.images({.all_disks = true})};
    Images prefixes = empty, bare = empty, lied;
    for (std::uint64_t cut = 0; cut <= reference.events().size(); ++cut) {
      CrashState state{.all_disks = true, .event = cut};
      prefixes.insert(reference.images(state));
      state.keep_others = false;
      bare.insert(reference.images(state));
      for (std::uint64_t i = 0; i < cut; ++i) {
        const TwoDisks::Event& one = reference.events()[i];
        const bool believed = one.kind == TwoDisks::Event::Kind::flush ||
                              (one.kind == TwoDisks::Event::Kind::write && one.fua);
        if (!believed || !reference.acked(one.request, cut)) continue;
        state.lies_from = one.request;
        lied.insert(reference.images(state));
      }
    }
    const auto run = loaded(path);
    const auto found = [&](Strategy strategy) {
      return checked(*run, reference, states_of(run, on_all_disks({strategy})),
                     where + " " + std::string(name(strategy)));
    };
    Images those = found(Strategy::prefix);
    those.insert(empty.begin(), empty.end());
    expect_all_of(those, prefixes, where + " prefix");
    those = found(Strategy::lose_all);
    those.insert(empty.begin(), empty.end());
    expect_all_of(those, bare, where + " lose-all");
    expect_all_of(found(Strategy::lying_flush), lied, where + " lying-flush");
  }
}

TEST(TwoDisks, PhysicalStrategyShowsBothMediaAtTheSameInstant) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    const TwoDisks reference(path, seed, 100, true);
    const std::string where = "seed " + std::to_string(seed);
    Images expected;
    for (std::uint64_t cut = 0; cut <= reference.events().size(); ++cut)
      expected.insert(reference.media_after(cut));
    const auto run = loaded(path);
    Images found = checked(*run, reference, states_of(run, on_all_disks({Strategy::physical})),
                           where + " physical");
    found.insert(reference.media_after(0));
    expect_all_of(found, expected, where);
  }
}

TEST(TwoDisks, TornAndCombinedStrategiesYieldNoDuplicates) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    const TwoDisks reference(path, seed, 120, true);
    const std::string where = "seed " + std::to_string(seed);
    const auto run = loaded(path);
    std::vector<Coverage> coverage;
    const auto torn = states_of(run, on_all_disks({Strategy::torn}), &coverage);
    checked(*run, reference, torn, where + " torn");
    EXPECT_EQ(coverage[0].space, static_cast<double>(coverage[0].generated)) << where;
    std::set<model::DeviceId> torn_on;
    for (const FoundState& found : torn) {
      ASSERT_EQ(found.state.torn.size(), 1U) << found.name;
      for (const TwoDisks::Event& one : reference.events()) {
        if (one.kind != TwoDisks::Event::Kind::write || one.request != found.state.torn[0].request)
          continue;
        torn_on.insert(one.device);
        // Only tears of the log are checked. The log has physical sectors of 1 KiB.
        if (one.device == 0) continue;
        const std::uint64_t from = one.lba + found.state.torn[0].first;
        const std::uint64_t to = from + found.state.torn[0].count;
        EXPECT_TRUE(from == one.lba || from % 2 == 0) << found.name;
        EXPECT_TRUE(to == one.lba + one.sectors || to % 2 == 0) << found.name;
      }
    }
    EXPECT_EQ(torn_on.size(), 2U) << where;
    ExploreOptions options =
        on_all_disks({Strategy::prefix, Strategy::reorder, Strategy::torn, Strategy::lose_all,
                      Strategy::lying_flush, Strategy::physical});
    options.budget = 300;
    options.reorder_per_cut = 16;
    const auto states = states_of(run, options);
    EXPECT_GT(states.size(), 100U) << where;
    checked(*run, reference, states, where + " together");
  }
}

/// Writes a recording event by event.
class ManualRun {
 public:
  ManualRun(const fs::path& path, const record::RecordingHeader& header) {
    auto writer = record::RecordingWriter::create(path, header);
    EXPECT_TRUE(writer) << writer.error().message();
    writer_ = std::move(*writer);
  }
  ManualRun& write(model::DeviceId device, model::RequestId id) {
    const Sectors data(model::kSectorBytes, static_cast<std::byte>(id));
    writer_->submitted(
        device, 0, {.id = id, .op = model::Op::write, .lba = id % 4, .sectors = 1, .data = data});
    writer_->acknowledged(device, {.id = id});
    return *this;
  }
  ManualRun& flush(model::DeviceId device, model::RequestId id) {
    writer_->submitted(device, 0, {.id = id, .op = model::Op::flush});
    writer_->acknowledged(device, {.id = id});
    return *this;
  }
  ManualRun& mark(const char* text) {
    writer_->marked(0, text);
    return *this;
  }

 private:
  std::unique_ptr<record::RecordingWriter> writer_;
};

std::set<std::string> names_of(const std::vector<FoundState>& states) {
  std::set<std::string> names;
  for (const FoundState& found : states) names.insert(found.name);
  return names;
}

// The main use case: the data is on hd0, its commit record is in the log, and fsync flushes only
// the log before it returns.
TEST(TwoDisks, AFlushOfTheLogDoesNotCoverTheData) {
  const TemporaryFolder folder;
  ManualRun(folder / "r", two_disks(false)).write(0, 1).write(1, 2).flush(1, 3).mark("persisted 0");
  const auto run = loaded(folder / "r");
  EXPECT_EQ(names_of(states_of(run, on_all_disks({Strategy::reorder}))),
            (std::set<std::string>{"a5", "a5-", "a5-1", "a5-2", "a7", "a7-"}));
  EXPECT_EQ(names_of(states_of(run, on_all_disks({Strategy::lose_all}))),
            (std::set<std::string>{"a6-", "a7-"}));
  const auto first_bytes = [&](const char* name) {
    const Disks disks = images_of(*run, *parse_crash_state(name));
    return std::pair(std::to_integer<int>(disks[0][1 * model::kSectorBytes]),
                     std::to_integer<int>(disks[1][2 * model::kSectorBytes]));
  };
  EXPECT_EQ(first_bytes("a5"), std::pair(1, 2));
  EXPECT_EQ(first_bytes("a5-"), std::pair(0, 0));
  EXPECT_EQ(first_bytes("a5-1"), std::pair(0, 2));
  EXPECT_EQ(first_bytes("a5-2"), std::pair(1, 0));
  EXPECT_EQ(first_bytes("a7-"), std::pair(0, 2)) << "the commit record without its data";
  EXPECT_EQ(first_bytes("a7!3-"), std::pair(0, 0));
  EXPECT_EQ(first_bytes("w7-"), std::pair(0, 2)) << "a state of hd0 keeps the whole log";
  EXPECT_EQ(first_bytes("d1w5-"), std::pair(1, 0));
}

TEST(TwoDisks, NothingIsLostOnceBothDisksAreFlushed) {
  const TemporaryFolder folder;
  ManualRun(folder / "r", two_disks(false))
      .write(0, 1)
      .flush(0, 2)
      .write(1, 3)
      .flush(1, 4)
      .mark("persisted 0");
  const auto run = loaded(folder / "r");
  EXPECT_EQ(names_of(states_of(run, on_all_disks({Strategy::reorder}))),
            (std::set<std::string>{"a3-", "a7", "a7-", "a9"}));
}

TEST(TwoDisks, ASingleDiskHasTheSameStatesWithOrWithoutAllDisks) {
  const TemporaryFolder folder;
  record::RecordingHeader header{.seed = 1, .devices = {{"hd0", "t", kDiskSectors, 1}}};
  header.media = false;
  ManualRun(folder / "r", header)
      .write(0, 1)
      .flush(0, 2)
      .write(0, 3)
      .mark("persisted 0")
      .write(0, 4);
  const auto run = loaded(folder / "r");
  EXPECT_EQ(run->disks(), (std::vector<model::DeviceId>{0}));
  ExploreOptions options = on_all_disks({Strategy::prefix, Strategy::reorder, Strategy::torn});
  const auto all = names_of(states_of(run, options));
  options.all_disks = false;
  EXPECT_EQ(all, names_of(states_of(run, options)));
  for (const std::string& name : all) EXPECT_EQ(name[0], 'w') << name;
}

TEST(TwoDisks, RejectsDevicesThatAreNotSeparateDisks) {
  const TemporaryFolder folder;
  ManualRun(folder / "two", two_disks(true)).write(0, 1).write(1, 2).flush(1, 3);
  record::RecordingHeader array{
      .seed = 1,
      .devices = {{"hd0", "raid1", kDiskSectors, 1, false}, {"hd0.0", "t", kDiskSectors, 1}}};
  array.media = false;
  ManualRun(folder / "array", array).write(0, 1);
  record::RecordingHeader cache{
      .seed = 1, .devices = {{"hd0", "nvram", 8, 1}, {"hd0.below", "t", kDiskSectors, 1}}};
  ManualRun(folder / "cache", cache).write(0, 1).write(1, 2);
  ManualRun(folder / "alike", two_disks(false)).write(0, 1).write(1, 1);
  for (const char* name : {"array", "cache", "alike"}) {
    const auto run = loaded(folder / name);
    EXPECT_TRUE(run->disks().empty()) << name;
    const auto enumerator = StateEnumerator::create(run, on_all_disks({Strategy::prefix}));
    ASSERT_FALSE(enumerator) << name;
    EXPECT_NE(enumerator.error().message().find("share one request numbering"), std::string::npos)
        << name;
    const auto image = run->image(*parse_crash_state("a1"), 0);
    ASSERT_FALSE(image) << name;
    EXPECT_NE(image.error().message().find("share one request numbering"), std::string::npos)
        << name;
  }
  const auto run = loaded(folder / "two");
  const auto member = StateEnumerator::create(run, on_all_disks({Strategy::member}));
  ASSERT_FALSE(member);
  EXPECT_NE(member.error().message().find("stop together"), std::string::npos);
  for (const auto& [name, problem] :
       {std::pair("a6-2", "request 2 is durable at that cut"),
        std::pair("a6-7", "is not a write of any disk"),
        std::pair("a2-2", "request 2 was submitted by event 2, after the cut"),
        std::pair("a6~1:0x2", "request 1 has 1 sectors"), std::pair("a7", "too few for state")}) {
    const auto image = run->image(*parse_crash_state(name), 0);
    ASSERT_FALSE(image) << name;
    EXPECT_NE(image.error().message().find(problem), std::string::npos) << image.error().message();
  }
}

TEST(TwoDisks, SubsetsThatLoseOneDiskComeFirst) {
  const SubsetRequest request{
      30, {}, 5, 40, {std::vector<std::uint8_t>(30, 0), std::vector<std::uint8_t>(30, 1)}};
  SubsetRequest halves = request;
  for (std::size_t i = 0; i < 10; ++i) {
    halves.disks[0][i] = 1;
    halves.disks[1][i] = 0;
  }
  const auto whole = subsets(halves, 0, 40);
  ASSERT_EQ(whole.size(), 40U);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(whole[2][i], i < 10 ? 0 : 1);
    EXPECT_EQ(whole[3][i], i < 10 ? 1 : 0);
  }
}

/// Returns the number of the only disk that loses writes in a subset; nullopt if no disk or several
/// disks lose writes.
std::optional<std::size_t> only_disk_that_loses(const std::vector<std::uint8_t>& kept,
                                                const SubsetRequest& request) {
  std::set<std::size_t> losers;
  for (std::size_t w = 0; w < kept.size(); ++w)
    for (std::size_t disk = 0; disk < request.disks.size(); ++disk)
      if (kept[w] == 0 && request.disks[disk][w] != 0) losers.insert(disk);
  return losers.size() == 1 ? std::optional(*losers.begin()) : std::nullopt;
}

TEST(TwoDisks, MostSubsetsOfThreeDisksLoseWritesOnOneDiskOnly) {
  constexpr std::size_t kWrites = 30, kMost = 60;
  SubsetRequest request{kWrites, {}, 5, kMost, {}};
  for (std::size_t disk = 0; disk < 3; ++disk) {
    std::vector<std::uint8_t> on(kWrites);
    for (std::size_t w = 0; w < kWrites; ++w) on[w] = w % 3 == disk ? 1 : 0;
    request.disks.push_back(std::move(on));
  }
  const auto found = subsets(request, 0, kMost);
  ASSERT_EQ(found.size(), kMost);
  std::size_t on_one = 0;
  std::set<std::size_t> stopped, lost_two;
  for (const auto& kept : found) {
    const auto disk = only_disk_that_loses(kept, request);
    if (!disk) continue;
    ++on_one;
    const auto lost = std::count(kept.begin(), kept.end(), 0);
    // A disk that has stopped loses its newest writes and keeps its oldest ones.
    const bool tail = lost > 2 && lost < 10 && kept[*disk] != 0 && kept[27 + *disk] == 0;
    if (tail) stopped.insert(*disk);
    if (lost == 2) lost_two.insert(*disk);
  }
  EXPECT_GT(on_one, kMost * 6 / 10);
  EXPECT_EQ(stopped.size(), 3U) << "each disk stops before the others";
  EXPECT_EQ(lost_two.size(), 3U) << "each disk loses two writes";
}

}  // namespace
}  // namespace headcrash::states
