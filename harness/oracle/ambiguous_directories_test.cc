// Tests trees with many ambiguous directories. A correct tree must have no finding even if many
// directories are ambiguous, and a loss inside an ambiguous directory must be found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "harness/oracle/testing/judged_case.h"

namespace headcrash::oracle {
namespace {

using adapters::Promises;

constexpr std::uint32_t kPairs = 20;

/// Returns a list that creates pairs of directories, aN and bN, with one file in each. It then
/// syncs and exchanges the directories of each pair.
Case exchanged_pairs(std::uint32_t pairs) {
  Case made{.lines = {}, .persisted = std::nullopt};
  for (std::uint32_t i = 0; i < pairs; ++i) {
    for (const char side : {'a', 'b'}) {
      const std::string path = fmt::format("{}{}", side, i);
      made.lines.push_back("mkdir " + path);
      made.lines.push_back("create " + path + "/f");
      made.lines.push_back(
          fmt::format("write {}/f 0 512 {} 1", path, 2 * i + (side == 'a' ? 1 : 2)));
    }
  }
  made.persisted = made.lines.size();
  made.lines.emplace_back("sync");
  for (std::uint32_t i = 0; i < pairs; ++i)
    made.lines.push_back(fmt::format("rename-exchange a{} b{}", i, i));
  made.lines.emplace_back("sync");
  return made;
}

Tree tree_of_pairs(std::uint32_t pairs, auto&& is_exchanged) {
  Tree tree;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const bool exchanged = is_exchanged(i);
    for (const std::uint32_t side : {0U, 1U}) {
      const std::uint32_t shown = exchanged ? 1 - side : side;
      const std::string path = fmt::format("{}{}", side == 0 ? 'a' : 'b', i);
      tree.push_back(directory(path, 100 + 2 * i + shown));
      tree.push_back(file(path + "/f", 1, 2 * i + shown + 1, 1, 1000 + 2 * i + shown));
    }
  }
  return tree;
}

TEST(AmbiguousDirectories, AcceptsTwentyExchangedPairs) {
  const Case pairs = exchanged_pairs(kPairs);
  EXPECT_EQ(pairs.judge(tree_of_pairs(kPairs, [](auto) { return true; }), Promises{}), Found{});
  EXPECT_EQ(pairs.judge(tree_of_pairs(kPairs, [](auto i) { return i % 3 == 1; }), Promises{}),
            Found{});
}

TEST(AmbiguousDirectories, FindsALossAmongTwentyExchangedPairs) {
  const Case pairs = exchanged_pairs(kPairs);
  for (const std::size_t lost : {std::size_t{1}, std::size_t{41}, std::size_t{79}}) {
    Tree tree = tree_of_pairs(kPairs, [](auto i) { return i % 2 == 0; });
    tree.erase(tree.begin() + static_cast<std::ptrdiff_t>(lost));
    const Found found = pairs.judge(tree, Promises{});
    ASSERT_FALSE(found.empty()) << lost;
    for (const auto& [kind, tier] : found) EXPECT_EQ(kind, Verdict::lost_synced_data) << lost;
  }
}

TEST(AmbiguousDirectories, JudgesManyDirectoriesInBoundedTime) {
  const Case pairs = exchanged_pairs(300);
  EXPECT_EQ(pairs.judge(tree_of_pairs(300, [](auto i) { return i % 7 != 0; }), Promises{}),
            Found{});
}

/// The exchanges form a chain: each of them moves the original directory d0 to the next name. A
/// crash state may contain the first N exchanges, for any N.
TEST(AmbiguousDirectories, AcceptsAChainOfExchanges) {
  constexpr std::uint32_t kDirectories = 20;
  Case chain{.lines = {}, .persisted = std::nullopt};
  for (std::uint32_t i = 0; i < kDirectories; ++i) {
    chain.lines.push_back(fmt::format("mkdir d{}", i));
    chain.lines.push_back(fmt::format("create d{}/f", i));
    if (i % 2 == 0) chain.lines.push_back(fmt::format("write d{}/f 0 512 {} 1", i, i + 1));
  }
  chain.persisted = chain.lines.size();
  chain.lines.emplace_back("sync");
  for (std::uint32_t i = 1; i < kDirectories; ++i)
    chain.lines.push_back(fmt::format("rename-exchange d{} d{}", i - 1, i));
  chain.lines.emplace_back("sync");
  for (std::uint32_t done = 0; done < kDirectories; ++done) {
    std::vector<std::uint32_t> at(kDirectories);
    for (std::uint32_t i = 0; i < kDirectories; ++i) at[i] = i;
    for (std::uint32_t i = 1; i <= done; ++i) std::swap(at[i - 1], at[i]);
    Tree tree;
    for (std::uint32_t i = 0; i < kDirectories; ++i) {
      tree.push_back(directory(fmt::format("d{}", i), 100 + at[i]));
      tree.push_back(
          file(fmt::format("d{}/f", i), at[i] % 2 == 0 ? 1 : 0, at[i] + 1, 1, 200 + at[i]));
    }
    EXPECT_EQ(chain.judge(tree, Promises{}), Found{}) << done;
  }
}

/// All directories have the same contents, except that each contains an empty file with a second
/// name outside the directory. Only this link identifies the directory.
TEST(AmbiguousDirectories, LinksIdentifyDirectories) {
  constexpr std::uint32_t kDirectories = 20;
  Case links{.lines = {}, .persisted = std::nullopt};
  for (std::uint32_t i = 0; i < kDirectories; ++i) {
    links.lines.push_back(fmt::format("mkdir d{}", i));
    links.lines.push_back(fmt::format("mkdir d{}/e", i));
    links.lines.push_back(fmt::format("create l{}", i));
    links.lines.push_back(fmt::format("link l{} d{}/e/f", i, i));
  }
  links.persisted = links.lines.size();
  links.lines.emplace_back("sync");
  for (std::uint32_t i = 1; i < kDirectories; ++i)
    links.lines.push_back(fmt::format("rename-exchange d{} d{}", i - 1, i));
  links.lines.emplace_back("sync");
  const auto tree_with = [](std::uint32_t wrong) {
    Tree tree;
    for (std::uint32_t i = 0; i < kDirectories; ++i) {
      const std::uint32_t shown = (i + 1) % kDirectories;  // the state after all exchanges
      tree.push_back(directory(fmt::format("d{}", i), 100 + shown));
      tree.push_back(directory(fmt::format("d{}/e", i), 200 + shown));
      tree.push_back(file(fmt::format("d{}/e/f", i), 0, 0, 0, 300 + (i == wrong ? 5 : shown), 2));
      tree.push_back(file(fmt::format("l{}", i), 0, 0, 0, 300 + i, 2));
    }
    return tree;
  };
  EXPECT_EQ(links.judge(tree_with(1000), Promises{}), Found{});
  EXPECT_NE(links.judge(tree_with(9), Promises{}), Found{});
}

TEST(AmbiguousDirectories, MatchesEmptyDirectories) {
  Case empty{.lines = {}, .persisted = std::nullopt};
  Tree tree;
  for (std::uint32_t i = 0; i < 2 * kPairs; ++i) {
    empty.lines.push_back(fmt::format("mkdir d{}", i));
    tree.push_back(directory(fmt::format("d{}", i), 100 + i));
  }
  empty.persisted = empty.lines.size();
  empty.lines.emplace_back("sync");
  for (std::uint32_t i = 0; i < kPairs; ++i)
    empty.lines.push_back(fmt::format("rename d{} e{}", 2 * i, i));
  empty.lines.emplace_back("sync");
  for (std::uint32_t i = 0; i < kPairs; i += 2) tree[2 * i].path = fmt::format("e{}", i);
  EXPECT_EQ(empty.judge(tree, Promises{}), Found{});
  tree.pop_back();
  EXPECT_EQ(empty.judge(tree, Promises{}), (Found{{Verdict::lost_synced_data, Tier::documented}}));
}

TEST(AmbiguousDirectories, OnePointIdentifiesDirectories) {
  Promises promises;
  promises.one_point = adapters::OnePoint::all;
  Case pairs = exchanged_pairs(kPairs);
  for (const std::uint32_t done : {0U, 7U, kPairs})
    EXPECT_EQ(pairs.judge(tree_of_pairs(kPairs, [&](auto i) { return i < done; }), promises),
              Found{})
        << done;
  EXPECT_NE(pairs.judge(tree_of_pairs(kPairs, [&](auto i) { return i == 3; }), promises), Found{});
}

/// Empty directories are indistinguishable. However, a file that is created after the exchanges
/// shows that all of them were executed.
TEST(AmbiguousDirectories, OnePointIdentifiesEmptyDirectories) {
  Promises promises;
  promises.one_point = adapters::OnePoint::all;
  Case pairs{.lines = {}, .persisted = std::nullopt};
  Tree tree;
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    pairs.lines.push_back(fmt::format("mkdir d{}", i));
    tree.push_back(directory(fmt::format("d{}", i), 100 + i));
  }
  pairs.persisted = pairs.lines.size();
  pairs.lines.emplace_back("sync");
  for (std::uint32_t i = 1; i < kPairs; i += 2)
    pairs.lines.push_back(fmt::format("rename-exchange d{} d{}", i - 1, i));
  pairs.lines.insert(pairs.lines.end(), {"create z", "sync"});
  EXPECT_EQ(pairs.judge(tree, promises), Found{});
  tree.push_back(file("z", 0, 0, 0, 300));
  EXPECT_EQ(pairs.judge(tree, promises), Found{});
}

/// A list of operations that creates twenty directories and then syncs. After the sync, the list
/// exchanges pairs of directories at random. In a crash state, each of the twenty names may
/// therefore refer to any of the twenty directories. The file m is created after half of the
/// exchanges.
class RandomExchanges {
 public:
  static constexpr std::uint32_t kDirectories = 20, kExchanges = 200;

  explicit RandomExchanges(std::vector<std::string> made)
      : list_{.lines = std::move(made), .persisted = std::nullopt} {
    list_.persisted = list_.lines.size();
    list_.lines.emplace_back("sync");
    std::mt19937 random(7);  // NOLINT: the same at each run
    for (std::uint32_t i = 0; i < kExchanges; ++i) {
      if (i == kExchanges / 2) list_.lines.emplace_back("create m");
      const std::uint32_t one = random() % kDirectories;
      const std::uint32_t other = (one + 1 + random() % (kDirectories - 1)) % kDirectories;
      list_.lines.push_back(fmt::format("rename-exchange d{} d{}", one, other));
      exchanged_.emplace_back(one, other);
    }
    list_.lines.emplace_back("sync");
  }
  const Case& list() const { return list_; }
  /// Returns the directory to which each name refers after the first `done` exchanges.
  std::vector<std::uint32_t> after(std::uint32_t done) const {
    std::vector<std::uint32_t> at(kDirectories);
    for (std::uint32_t i = 0; i < kDirectories; ++i) at[i] = i;
    for (std::uint32_t i = 0; i < done; ++i)
      std::swap(at[exchanged_[i].first], at[exchanged_[i].second]);
    return at;
  }

 private:
  Case list_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> exchanged_;
};

TEST(AmbiguousDirectories, LinksIdentifyEachOfTwentyDirectories) {
  std::vector<std::string> made;
  for (std::uint32_t i = 0; i < RandomExchanges::kDirectories; ++i)
    for (const char* line : {"mkdir d{0}", "create l{0}", "link l{0} d{0}/f"})
      made.push_back(fmt::format(fmt::runtime(line), i));
  const RandomExchanges exchanges(made);
  for (const std::uint32_t done : {0U, 57U, 131U, RandomExchanges::kExchanges}) {
    const auto at = exchanges.after(done);
    Tree tree;
    for (std::uint32_t i = 0; i < at.size(); ++i) {
      tree.push_back(directory(fmt::format("d{}", i), 100 + at[i]));
      tree.push_back(file(fmt::format("d{}/f", i), 0, 0, 0, 300 + at[i], 2));
      tree.push_back(file(fmt::format("l{}", i), 0, 0, 0, 300 + i, 2));
    }
    EXPECT_EQ(exchanges.list().judge(tree, Promises{}), Found{}) << done;
  }
}

TEST(AmbiguousDirectories, OnePointIdentifiesEachOfTwentyDirectories) {
  Promises promises;
  promises.one_point = adapters::OnePoint::all;
  std::vector<std::string> made;
  for (std::uint32_t i = 0; i < RandomExchanges::kDirectories; ++i)
    made.push_back(fmt::format("mkdir d{}", i));
  const RandomExchanges exchanges(made);
  Tree tree;
  for (std::uint32_t i = 0; i < RandomExchanges::kDirectories; ++i)
    tree.push_back(directory(fmt::format("d{}", i), 100 + i));
  EXPECT_EQ(exchanges.list().judge(tree, promises), Found{});
  tree.push_back(file("m", 0, 0, 0, 200));
  EXPECT_EQ(exchanges.list().judge(tree, promises), Found{}) << "after half of the exchanges";
}

TEST(SpecialFiles, FindsADestroyedInode) {
  const Case synced{.lines = {"mkdir d", "mknod p fifo", "symlink to s", "create x",
                              "rename-whiteout x y", "sync"},
                    .persisted = 5};
  const Tree whole{directory("d", 2),
                   {.path = "p", .type = FileType::fifo, .inode = 3, .links = 1},
                   symlink("s", "to"),
                   {.path = "x", .type = FileType::whiteout, .inode = 5, .links = 1},
                   file("y", 0, 0, 0, 4)};
  EXPECT_EQ(synced.judge(whole, Promises{}), Found{});
  for (const std::size_t broken : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    Tree tree = whole;
    tree[broken].error = 117;
    tree[broken].link_target.clear();
    EXPECT_EQ(synced.judge(tree, Promises{}), (Found{{Verdict::wrong_data, Tier::integrity}}))
        << broken;
    // If an object cannot be read, the agent knows only its type, from the directory entry.
    tree[broken] = {.path = tree[broken].path, .type = tree[broken].type, .error = 117};
    EXPECT_EQ(synced.judge(tree, Promises{}), (Found{{Verdict::wrong_data, Tier::integrity}}))
        << broken;
  }
  Tree listed = whole;  // for an unreadable whiteout, not even the type is known
  listed[3] = {.path = "x", .type = FileType::other, .error = 117};
  EXPECT_EQ(synced.judge(listed, Promises{}), (Found{{Verdict::wrong_data, Tier::integrity}}));
}

TEST(Findings, NamesArePrintable) {
  const Result<Oracle> oracle = Oracle::follow({}, {});
  const auto findings = oracle->judge(std::nullopt, {file("a\x1b[31m\xff", 0, 0, 0, 3)});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].path, "a\\x1b[31m\\xff");
}

TEST(SpecialFiles, TwoDirectoriesCannotShareAnInode) {
  const Case synced{.lines = {"mkdir d", "mkdir e", "sync"}, .persisted = 2};
  EXPECT_EQ(synced.judge({directory("d", 2), directory("e", 3)}, Promises{}), Found{});
  EXPECT_EQ(synced.judge({directory("d", 2), directory("e", 2)}, Promises{}),
            (Found{{Verdict::wrong_data, Tier::integrity}}));
}

}  // namespace
}  // namespace headcrash::oracle
