#include "harness/workload/ace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/workload/draft.h"
#include "harness/workload/random_operations.h"

namespace headcrash::workload {
namespace {

std::string text(const std::vector<Operation>& operations) {
  std::string lines;
  for (const Operation& operation : operations) lines += format(operation) + "\n";
  return lines;
}

void expect_sound(const std::vector<Operation>& list, std::uint64_t number) {
  Draft draft;
  for (const Operation& operation : list) {
    ASSERT_TRUE(draft.possible(operation)) << number << " cannot " << format(operation) << "\n"
                                           << text(list);
    draft.add(operation);
    const Result<Operation> read = parse_operation(format(operation), "ace");
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(*read, operation);
  }
  ASSERT_TRUE(is_persistence_point(list.back())) << number << "\n" << text(list);
}

/// Returns an equivalent workload in which these two names are swapped.
std::string swapped(std::string lines, const std::string& one, const std::string& other) {
  std::string result;
  for (std::size_t at = 0; at < lines.size();) {
    if (lines.compare(at, one.size(), one) == 0) {
      result += other;
      at += one.size();
    } else if (lines.compare(at, other.size(), other) == 0) {
      result += one;
      at += other.size();
    } else {
      result += lines[at++];
    }
  }
  return result;
}

struct AllOf {
  std::set<std::string> lists;
  std::set<Operation::Kind> kinds;
};

/// Enumerates all workloads, and verifies that each can be executed and that no two are equal.
AllOf all_of(const Ace& ace) {
  AllOf all;
  for (std::uint64_t number = 0; number < ace.count(); ++number) {
    const std::vector<Operation> list = ace.workload(number);
    expect_sound(list, number);
    EXPECT_TRUE(all.lists.insert(text(list)).second) << number << "\n" << text(list);
    for (const Operation& operation : list) all.kinds.insert(operation.kind);
  }
  return all;
}

TEST(Ace, EnumeratesEachPossibleWorkloadOnce) {
  const Ace ace(1);
  const auto [seen, kinds] = all_of(ace);
  EXPECT_EQ(kinds.size(), kOperationKinds - 34)
      << "all but join, begin, commit, open, close, chmod, chown, touch, rest, whiteouts, collapse, insert, clone, "
         "dedupe, store, msync, sync-range, tmpfile, mknod, remount, freeze, evict, flags, project, write-atomic, write-direct-dsync, "
         "write-uring, remount-ro, access, subvolume, snapshot, remove-subvolume, crash, and syncfs, which does what sync does";
  // Tests symmetry: no two workloads may be equal after swapping the root files or the directories.
  for (const std::string& lines : seen) {
    const std::string mirror = swapped(swapped(lines, "foo", "bar"), "A", "B");
    EXPECT_TRUE(mirror == lines || !seen.contains(mirror)) << lines;
  }
}

TEST(Ace, WorkloadsOfTheLargerVocabularyEndWithANewOperation) {
  const Ace ace(1, Ace::Vocabulary::more);
  const std::set<Operation::Kind> kinds = all_of(ace).kinds;
  using Kind = Operation::Kind;
  for (const Kind kind :
       {Kind::collapse, Kind::insert, Kind::clone, Kind::store, Kind::msync, Kind::mknod,
        Kind::remount, Kind::freeze, Kind::flags, Kind::write_direct_dsync, Kind::write_uring})
    EXPECT_TRUE(kinds.contains(kind)) << static_cast<int>(kind);
  EXPECT_FALSE(kinds.contains(Kind::rename));
  EXPECT_EQ(Ace(1).count(), 429U) << "the first space must keep its numbers";
  const Ace two(2, Ace::Vocabulary::more);
  for (const std::uint64_t number : sample_numbers(two.count(), 800, 7))
    expect_sound(two.workload(number), number);
}

TEST(Ace, LongerWorkloadsAreFoundByNumber) {
  for (const int length : {2, 3}) {
    const Ace ace(length);
    std::set<std::string> seen;
    const std::vector<std::uint64_t> sample = sample_numbers(ace.count(), 800, 7);
    for (const std::uint64_t number : sample) {
      const std::vector<Operation> list = ace.workload(number);
      expect_sound(list, number);
      EXPECT_TRUE(seen.insert(text(list)).second) << number << "\n" << text(list);
    }
    EXPECT_EQ(text(ace.workload(sample[5])), text(Ace(length).workload(sample[5])));
    expect_sound(ace.workload(ace.count() - 1), ace.count() - 1);
  }
}

TEST(Ace, IncludesTheKnownBugPatterns) {
  const Ace ace(1);
  std::string all;
  for (std::uint64_t number = 0; number < ace.count(); ++number)
    all += text(ace.workload(number)) + "\n";
  for (const char* lines :
       {"sync\nrename foo bar\nfsync bar\n\n", "sync\nrename A B\nfsyncdir .\n\n",
        "sync\nlink A/foo A/bar\nfsync A/foo\n\n", "sync\nunlink foo\nfsyncdir .\n\n",
        "sync\nallocate-keep foo 32768 8192\nfdatasync foo\n\n",
        "sync\nrename-exchange A/foo B/foo\nfsyncdir A\n\n"}) {
    EXPECT_NE(all.find(lines), std::string::npos) << lines;
  }
}

TEST(Draft, AnOpenFileCanBeLinkedUnlessItsNamesWereRemoved) {
  Draft draft;
  for (const char* line : {"tmpfile %f", "write %f 0 512 0 0", "link %f a", "open a %g"})
    ASSERT_TRUE(draft.try_add(line)) << line;
  EXPECT_FALSE(draft.try_add("tmpfile %f")) << "the name is in use";
  EXPECT_TRUE(draft.try_add("link %g b"));
  EXPECT_TRUE(draft.try_add("unlink a"));
  EXPECT_TRUE(draft.try_add("link %f a"));
  for (const char* line : {"unlink a", "unlink b"}) ASSERT_TRUE(draft.try_add(line));
  EXPECT_FALSE(draft.try_add("link %f a")) << "the file has had a name";
  EXPECT_TRUE(draft.try_add("mknod p fifo"));
  EXPECT_FALSE(draft.try_add("setxattr p user.x v"));
}

TEST(Draft, AnOpenDirectoryCanBeSyncedAndClosed) {
  Draft draft;
  for (const char* line : {"mkdir d", "open d %d", "fsync %d", "fdatasync %d"})
    EXPECT_TRUE(draft.try_add(line)) << line;
  EXPECT_FALSE(draft.try_add("truncate %d 0"));
  EXPECT_FALSE(draft.try_add("fsync d")) << "use fsyncdir with a path";
  EXPECT_TRUE(draft.try_add("rmdir d"));
  EXPECT_TRUE(draft.try_add("close %d"));
}

TEST(Draft, StampsBeginAtBlockBoundaries) {
  Draft draft;
  for (const char* line : {"create a", "write a 0 4096 0 0", "truncate a 700"})
    ASSERT_TRUE(draft.try_add(line));
  EXPECT_FALSE(draft.try_add("append a 0 512 0 0"));
  EXPECT_TRUE(draft.try_add("truncate a 1024"));
  EXPECT_TRUE(draft.try_add("append a 0 512 0 0"));
  EXPECT_EQ(format(draft.operations().back()), "append a 1024 512 1 2");
}

TEST(Ace, SamplesContainNoDuplicates) {
  EXPECT_EQ(sample_numbers(5, 9, 1), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  const auto sample = sample_numbers(1'000'000, 100, 3);
  EXPECT_EQ(sample.size(), 100u);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
  EXPECT_EQ(sample, sample_numbers(1'000'000, 100, 3));
}

TEST(RandomOperations, EqualSeedsGiveEqualListsWithAllOperations) {
  EXPECT_EQ(random_operations({.seed = 5}), random_operations({.seed = 5}));
  EXPECT_NE(random_operations({.seed = 5}), random_operations({.seed = 6}));
  std::set<Operation::Kind> kinds;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Operation> list = random_operations({.seed = seed, .rounds = 100});
    expect_sound(list, seed);
    for (const Operation& operation : list) kinds.insert(operation.kind);
  }
  EXPECT_EQ(kinds.size(), kOperationKinds - 33)
      << "all but join, begin, commit, open, close, tmpfile, rest, whiteouts, and chmod, chown, touch, collapse, insert, clone, "
         "dedupe, store, msync, sync-range, mknod, remount, freeze, evict, flags, project, write-atomic, write-direct-dsync, write-uring, remount-ro, access, subvolume, snapshot, remove-subvolume and crash, which wait to be asked for";
}

TEST(RandomOperations, CrashesFollowASync) {
  std::set<std::string> kinds;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto list = random_operations(with_crashes({.seed = seed}));
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Operation& each = list[i];
      if (is_write(each.kind) || each.kind == Operation::Kind::truncate) {
        EXPECT_EQ(each.length % 512, 0u)
            << "the tree after a crash must have whole blocks: " << format(each);
      }
      if (each.kind != Operation::Kind::crash) continue;
      kinds.insert(each.target);
      ASSERT_GT(i, 0u);
      EXPECT_EQ(list[i - 1].kind, Operation::Kind::sync) << "seed " << seed << ", operation " << i;
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"panic", "power"}));
}

TEST(RandomOperations, OperationsAddedLaterAreDrawnOnRequest) {
  std::set<Operation::Kind> kinds;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Operation> list =
        random_operations(with_later_words({.seed = seed, .rounds = 100}));
    expect_sound(list, seed);
    for (const Operation& operation : list) kinds.insert(operation.kind);
  }
  EXPECT_EQ(kinds.size(), kOperationKinds - 14)
      << "all but join, begin, commit, open, close, tmpfile, rest, project, write-atomic, crash "
         "and whiteouts";
}

TEST(RandomOperations, LongTargetsDoNotChangeOtherOperations) {
  constexpr std::uint32_t kLongest = 400;
  std::size_t longest = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<Operation> list = random_operations({.seed = seed, .longest_target = kLongest});
    for (Operation& operation : list) {
      if (operation.kind != Operation::Kind::symlink) continue;
      longest = std::max(longest, operation.target.size());
      operation.target = operation.target.substr(0, operation.target.find("tt"));
    }
    EXPECT_EQ(list, random_operations({.seed = seed}));
  }
  EXPECT_GT(longest, kLongest / 2);
}

}  // namespace
}  // namespace headcrash::workload
