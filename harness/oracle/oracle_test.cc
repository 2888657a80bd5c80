// Tests the oracle with trees that the test constructs, with every prefix of a generated workload,
// and with damaged versions of these trees.
#include "harness/oracle/oracle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/oracle/block_content.h"
#include "harness/workload/small_files.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

using workload::Operation;

std::vector<Operation> operations(const std::vector<std::string>& lines) {
  std::vector<Operation> list;
  for (const std::string& line : lines)
    list.push_back(workload::parse_operation(line, "test").value());
  return list;
}

ObservedObject file_with(std::string path, std::vector<ContentRun> runs) {
  ObservedObject object{.path = std::move(path), .links = 1, .runs = std::move(runs)};
  for (const ContentRun& run : object.runs) object.size_bytes += 512 * run.blocks;
  return object;
}
ContentRun stamp(std::uint64_t first, std::uint64_t blocks, std::uint32_t number,
                 std::uint32_t version) {
  return {.kind = ContentRun::Kind::stamp,
          .first_block = first,
          .blocks = blocks,
          .file = number,
          .version = version};
}
ContentRun zero(std::uint64_t first, std::uint64_t blocks) {
  return {.first_block = first, .blocks = blocks};
}

std::vector<Verdict> kinds(const std::vector<std::string>& lines,
                           std::optional<std::size_t> persisted,
                           const std::vector<ObservedObject>& tree, bool fsync_keeps_name = true) {
  const Result<Oracle> oracle =
      Oracle::follow(operations(lines), {.promises = {.fsync_keeps_name = fsync_keeps_name}});
  std::vector<Verdict> found;
  for (const Finding& finding : oracle.value().judge(persisted, tree))
    found.push_back(finding.kind);
  return found;
}
using Kinds = std::vector<Verdict>;

/// The first byte of a stamp is zero. If only this byte of a stamp remains, the block is
/// indistinguishable from a block that was never written, even after the file has been extended.
TEST(Oracle, TheFirstByteOfAStampIsIndistinguishableFromZero) {
  const std::vector<std::string> list{"create a", "append a 0 1 1 1", "truncate a 1024", "sync"};
  EXPECT_EQ(kinds(list, 3, {file_with("a", {zero(0, 2)})}), Kinds{});
  for (const auto& [size, found] : {std::pair{1, Kinds{}}, {9, Kinds{Verdict::lost_synced_data}}}) {
    const std::vector<std::string> cut{"create a", "write a 0 512 1 1",
                                       fmt::format("truncate a {}", size), "truncate a 1024",
                                       "sync"};
    EXPECT_EQ(kinds(cut, 4, {file_with("a", {zero(0, 2)})}), found)
        << size << " bytes are left of a stamp";
  }
}

TEST(Oracle, CountsTheLinksOfObjectsWithOneName) {
  const std::vector<std::string> list{"create a", "symlink a b", "mknod c fifo", "sync"};
  const auto judged = [&](std::size_t changed, std::uint32_t links) {
    std::vector<ObservedObject> tree{
        {.path = "a", .inode = 11, .links = 1},
        {.path = "b", .type = FileType::symlink, .inode = 12, .links = 1, .link_target = "a"},
        {.path = "c", .type = FileType::fifo, .inode = 13, .links = 1}};
    tree[changed].links = links;
    return kinds(list, 3, tree);
  };
  for (std::size_t changed = 0; changed < 3; ++changed) {
    EXPECT_EQ(judged(changed, 1), Kinds{});
    for (const std::uint32_t links : {0U, 2U, 0x10001U})
      EXPECT_EQ(judged(changed, links), Kinds{Verdict::wrong_data}) << changed << " " << links;
  }
}

/// Returns a block that begins and ends with bytes of version 1. Its bytes `cut` to `end` are of
/// version `version`, or zeroes if `version` is 0.
ContentRun block_of_parts(std::size_t cut, std::size_t end, std::uint32_t version) {
  std::array<std::byte, workload::kStampBytes> bytes, other{};
  workload::write_stamp({1, 1, 0}, bytes);
  if (version != 0) workload::write_stamp({1, version, 0}, other);
  std::copy(other.begin() + static_cast<std::ptrdiff_t>(cut),
            other.begin() + static_cast<std::ptrdiff_t>(end),
            bytes.begin() + static_cast<std::ptrdiff_t>(cut));
  ContentRun run{.kind = ContentRun::Kind::foreign, .blocks = 1};
  run.head.assign(bytes.begin(), bytes.begin() + 32);
  run.digest = workload::block_digest(bytes);
  return run;
}

TEST(Oracle, TheRestOfATruncatedBlockIsZeroes) {
  const std::vector<std::string> list{"create a", "write a 0 512 1 1", "truncate a 100",
                                      "truncate a 512", "sync"};
  const auto judged = [&](std::optional<std::size_t> persisted, const ContentRun& run) {
    return kinds(list, persisted, {file_with("a", {run})});
  };
  EXPECT_EQ(judged(4, block_of_parts(100, 512, 0)), Kinds{});
  EXPECT_EQ(judged(4, block_of_parts(101, 512, 0)), Kinds{Verdict::wrong_data}) << "a byte is left";
  EXPECT_EQ(judged(4, block_of_parts(99, 512, 0)), Kinds{Verdict::wrong_data}) << "a byte is lost";
  EXPECT_EQ(judged(4, stamp(0, 1, 1, 1)), Kinds{Verdict::wrong_data}) << "all bytes are left";
  EXPECT_EQ(judged(std::nullopt, stamp(0, 1, 1, 1)), Kinds{});
  ContentRun without_digest = block_of_parts(101, 512, 0);
  without_digest.digest = 0;
  EXPECT_EQ(judged(4, without_digest), Kinds{}) << "an older agent sends 32 bytes only";
}

TEST(Oracle, WritesInsideABlockKeepItsOtherBytes) {
  const std::vector<std::string> list{"create a", "write a 0 512 1 1", "write a 100 200 1 2",
                                      "punch a 400 50", "sync"};
  const auto judged = [&](std::size_t persisted, const ContentRun& run) {
    return kinds(list, persisted, {file_with("a", {run})});
  };
  const std::vector<std::string> without_hole{list[0], list[1], list[2], "sync"};
  EXPECT_EQ(kinds(without_hole, 3, {file_with("a", {block_of_parts(100, 300, 2)})}), Kinds{});
  EXPECT_EQ(kinds(without_hole, 3, {file_with("a", {block_of_parts(100, 299, 2)})}),
            Kinds{Verdict::wrong_data});
  EXPECT_EQ(judged(4, block_of_parts(100, 300, 2)), Kinds{Verdict::wrong_data}) << "no hole";
}

TEST(Oracle, TwoHolesInABlockKeepTheBytesBetweenThem) {
  ContentRun between = block_of_parts(0, 200, 0);
  BlockBytes bytes{}, stamped;
  workload::write_stamp({1, 1, 0}, stamped);
  std::copy(stamped.begin() + 200, stamped.begin() + 300, bytes.begin() + 200);
  between.digest = workload::block_digest(bytes);
  std::vector<std::string> list{"create a", "write a 0 512 1 1", "punch a 300 212", "punch a 0 200",
                                "sync"};
  EXPECT_EQ(kinds(list, 4, {file_with("a", {between})}), Kinds{});
  EXPECT_EQ(kinds(list, 4, {file_with("a", {zero(0, 1)})}), Kinds{Verdict::wrong_data});
  list.insert(list.end() - 1, "punch a 200 100");
  EXPECT_EQ(kinds(list, 5, {file_with("a", {zero(0, 1)})}), Kinds{});
  EXPECT_EQ(kinds(list, 5, {file_with("a", {between})}), Kinds{Verdict::wrong_data});
}

/// The first bytes of all stamps of a file are equal.
TEST(Oracle, PartialWritesCanCompleteAStamp) {
  const std::vector<std::string> list{"create a", "write a 0 512 1 1", "write a 0 346 1 2",
                                      "write a 3 509 1 3", "sync"};
  EXPECT_EQ(kinds(list, 4, {file_with("a", {stamp(0, 1, 1, 3)})}), Kinds{});
  EXPECT_EQ(kinds(list, 4, {file_with("a", {stamp(0, 1, 1, 1)})}),
            Kinds{Verdict::lost_synced_data});
}

const std::vector<std::string> kOverwrite{"create a",          "write a 0 1024 1 1",
                                          "fsync a",           "write a 512 512 1 2",
                                          "write a 0 512 1 3", "fsync a",
                                          "unlink a"};

TEST(Oracle, SyncedDataMustSurvive) {
  EXPECT_EQ(kinds(kOverwrite, 2, {file_with("a", {stamp(0, 2, 1, 1)})}), Kinds{});
  EXPECT_EQ(kinds(kOverwrite, 2, {}), Kinds{Verdict::lost_synced_data});
  EXPECT_EQ(kinds(kOverwrite, 2, {file_with("a", {})}), Kinds{Verdict::zero_length});
  EXPECT_EQ(kinds(kOverwrite, 2, {file_with("a", {stamp(0, 1, 1, 1)})}),
            Kinds{Verdict::lost_synced_data});
  EXPECT_EQ(kinds(kOverwrite, 2, {file_with("a", {stamp(0, 1, 1, 1), zero(1, 1)})}),
            Kinds{Verdict::lost_synced_data});
}

TEST(Oracle, WritesInFlightMayOrMayNotSurvive) {
  EXPECT_EQ(kinds(kOverwrite, 2, {file_with("a", {stamp(0, 1, 1, 3), stamp(1, 1, 1, 2)})}),
            Kinds{});
  EXPECT_EQ(kinds(kOverwrite, 2, {file_with("a", {stamp(0, 1, 1, 3), stamp(1, 1, 1, 1)})}),
            Kinds{});
  EXPECT_EQ(kinds(kOverwrite, 5, {file_with("a", {stamp(0, 1, 1, 3), stamp(1, 1, 1, 1)})}),
            Kinds{Verdict::lost_synced_data});
  EXPECT_EQ(kinds(kOverwrite, 5, {}), Kinds{})
      << "the unlink after the last fsync may have been executed";
}

TEST(Oracle, PromisesNothingBeforeTheFirstPersistencePoint) {
  EXPECT_EQ(kinds(kOverwrite, std::nullopt, {}), Kinds{});
  EXPECT_EQ(kinds(kOverwrite, std::nullopt, {file_with("a", {zero(0, 2)})}), Kinds{});
}

TEST(Oracle, FsyncOfAFileKeepsItsNameOnlyIfDocumented) {
  EXPECT_EQ(kinds({"create a", "write a 0 512 1 1", "fsync a", "create b"}, 2, {}, false), Kinds{});
  EXPECT_EQ(kinds({"create a", "write a 0 512 1 1", "fsync a", "create b"}, 2, {}, true),
            Kinds{Verdict::lost_synced_data});
}

TEST(Oracle, FindsForeignBytes) {
  const ContentRun foreign{.kind = ContentRun::Kind::foreign,
                           .first_block = 0,
                           .blocks = 1,
                           .head = std::vector<std::byte>(32, std::byte{0x5a})};
  EXPECT_EQ(kinds(kOverwrite, 5, {file_with("a", {foreign, stamp(1, 1, 1, 2)})}),
            Kinds{Verdict::wrong_data});
  EXPECT_EQ(
      kinds({"create a", "write a 0 512 1 1", "sync"}, std::nullopt, {file_with("a", {foreign})}),
      Kinds{Verdict::stale_data});
  EXPECT_EQ(kinds({"create a", "write a 0 512 1 1", "sync"}, std::nullopt,
                  {file_with("a", {stamp(0, 1, 9, 1)})}),
            Kinds{Verdict::stale_data});
}

TEST(Oracle, PermitsATornSectorOnlyUnderAWriteInFlight) {
  std::vector<std::byte> older(512), newer(512);
  workload::write_stamp({1, 1, 1}, older);
  workload::write_stamp({1, 2, 1}, newer);
  for (const std::size_t tear :
       {std::size_t{3}, std::size_t{14}, std::size_t{25}, std::size_t{200}}) {
    std::vector<std::byte> torn = older;
    std::copy_n(newer.begin(), tear, torn.begin());
    ContentRun run{.kind = ContentRun::Kind::foreign, .first_block = 1, .blocks = 1};
    run.head.assign(torn.begin(), torn.begin() + 32);
    EXPECT_EQ(kinds(kOverwrite, 2, {file_with("a", {stamp(0, 1, 1, 1), run})}), Kinds{}) << tear;
    EXPECT_EQ(kinds(kOverwrite, 5, {file_with("a", {stamp(0, 1, 1, 3), run})}),
              Kinds{Verdict::wrong_data})
        << tear;
  }
}

const std::vector<std::string> kReplace{
    "create a",          "write a 0 512 1 1", "sync",       "create t",
    "write t 0 512 2 2", "fsync t",           "rename t a", "sync"};

TEST(Oracle, ARenameIsAllOrNothing) {
  const ObservedObject old_a = file_with("a", {stamp(0, 1, 1, 1)}),
                       new_a = file_with("a", {stamp(0, 1, 2, 2)}),
                       t = file_with("t", {stamp(0, 1, 2, 2)});
  EXPECT_EQ(kinds(kReplace, 5, {old_a, t}), Kinds{});
  EXPECT_EQ(kinds(kReplace, 5, {new_a}), Kinds{});
  EXPECT_EQ(kinds(kReplace, 5, {t}), Kinds{Verdict::non_atomic_rename})
      << "the old name must exist";
  EXPECT_EQ(kinds(kReplace, 5, {new_a, t}), Kinds{Verdict::non_atomic_rename});
  EXPECT_EQ(kinds(kReplace, 5, {old_a}), Kinds{Verdict::lost_synced_data})
      << "the synced new file is missing";
  EXPECT_EQ(kinds(kReplace, 7, {new_a}), Kinds{});
  EXPECT_EQ(kinds(kReplace, 7, {old_a}), Kinds{Verdict::lost_synced_data});
  EXPECT_EQ(kinds(kReplace, 7, {new_a, t}), (Kinds{Verdict::resurrected}));
}

TEST(Oracle, ARenameWithAWhiteoutIsAtomic) {
  const std::vector<std::string> list{"create a", "write a 0 512 1 1", "sync",
                                      "rename-whiteout a b", "sync"};
  const ObservedObject a = file_with("a", {stamp(0, 1, 1, 1)}),
                       b = file_with("b", {stamp(0, 1, 1, 1)});
  const ObservedObject whiteout{.path = "a", .type = FileType::whiteout, .links = 1};
  EXPECT_EQ(kinds(list, 2, {a}), Kinds{});
  EXPECT_EQ(kinds(list, 2, {whiteout, b}), Kinds{});
  EXPECT_EQ(kinds(list, 2, {b}), Kinds{Verdict::non_atomic_rename})
      << "the whiteout's lower file is visible again";
  EXPECT_EQ(kinds(list, 2, {a, b}), Kinds{Verdict::non_atomic_rename});
  EXPECT_EQ(kinds(list, 2, {whiteout}), Kinds{Verdict::lost_synced_data}) << "the file is missing";
  EXPECT_EQ(kinds(list, 4, {whiteout, b}), Kinds{});
  EXPECT_EQ(kinds(list, 4, {b}), Kinds{Verdict::lost_synced_data});
  EXPECT_EQ(kinds(list, 4, {a, b}), Kinds{Verdict::lost_synced_data}) << "the whiteout is missing";
  const ObservedObject device{.path = "a", .type = FileType::other, .links = 1};
  EXPECT_EQ(kinds(list, 4, {device, b}), Kinds{Verdict::wrong_data})
      << "a device with another number";
}

std::vector<Tier> tiers(const std::vector<std::string>& lines, std::size_t persisted,
                        const std::vector<ObservedObject>& tree) {
  std::vector<Tier> found;
  const Result<Oracle> oracle = Oracle::follow(operations(lines), {});
  for (const Finding& finding : oracle.value().judge(persisted, tree))
    found.push_back(finding.tier);
  return found;
}
using Tiers = std::vector<Tier>;

/// POSIX permits sync() to return before anything is written. Only a file system's documentation
/// promises more.
TEST(Oracle, SyncAloneGivesOnlyADocumentedPromise) {
  for (const char* sync : {"sync", "syncfs"}) {
    const std::vector<std::string> list{"create a", "write a 0 512 1 1", "setxattr a user.x one",
                                        sync};
    ObservedObject whole = file_with("a", {stamp(0, 1, 1, 1)});
    EXPECT_EQ(tiers(list, 3, {}), Tiers{Tier::documented}) << "the name";
    EXPECT_EQ(tiers(list, 3, {whole}), Tiers{Tier::documented}) << "the attribute";
    whole.attributes["user.x"] = "one";
    EXPECT_EQ(tiers(list, 3, {whole}), Tiers{});
    whole.runs = {zero(0, 1)};
    EXPECT_EQ(tiers(list, 3, {whole}), Tiers{Tier::documented}) << "the data";
    whole.runs.clear();
    whole.size_bytes = 0;
    EXPECT_EQ(tiers(list, 3, {whole}), Tiers{Tier::documented}) << "the size";
  }
}

TEST(Oracle, ALaterSyncDoesNotWeakenAnFsyncPromise) {
  std::vector<std::string> list{"create a", "write a 0 512 1 1", "setxattr a user.x one",
                                "fsync a",  "fsyncdir .",        "write a 512 512 1 2",
                                "sync"};
  ObservedObject found = file_with("a", {stamp(0, 1, 1, 1), stamp(1, 1, 1, 2)});
  EXPECT_EQ(tiers(list, 6, {}), Tiers{Tier::posix}) << "the name";
  EXPECT_EQ(tiers(list, 6, {found}), Tiers{Tier::posix}) << "the attribute";
  found.attributes["user.x"] = "one";
  EXPECT_EQ(tiers(list, 6, {found}), Tiers{});
  found.runs = {zero(0, 1), stamp(1, 1, 1, 2)};
  EXPECT_EQ(tiers(list, 6, {found}), Tiers{Tier::posix}) << "the block written by fsync";
  found.runs = {stamp(0, 1, 1, 1), zero(1, 1)};
  EXPECT_EQ(tiers(list, 6, {found}), Tiers{Tier::documented}) << "the block written only by sync";
  list.insert(list.end() - 1, "unlink a");
  EXPECT_EQ(tiers(list, 7, {file_with("a", {stamp(0, 1, 1, 1), stamp(1, 1, 1, 2)})}),
            Tiers{Tier::documented})
      << "the removal";
}

/// The case of generic/764 in fstests: a persistent file is removed while it is open, and is then
/// synced through the open descriptor.
TEST(Oracle, FsyncOfARemovedOpenFileKeepsTheRemovalOnlyIfPromised) {
  const std::vector<std::string> list{"create a",           "sync",     "open a %f", "unlink a",
                                      "write %f 0 512 1 1", "fsync %f", "close %f",  "create b"};
  const auto judged = [&](const adapters::Promises& promises,
                          const std::vector<ObservedObject>& tree) {
    Kinds found;
    for (const Finding& each :
         Oracle::follow(operations(list), {.promises = promises}).value().judge(5, tree))
      found.push_back(each.kind);
    return found;
  };
  const ObservedObject back = file_with("a", {stamp(0, 1, 1, 1)});
  EXPECT_EQ(judged({}, {}), Kinds{});
  EXPECT_EQ(judged({}, {back}), Kinds{})
      << "POSIX requires fsync of the directory, so the name may remain";
  EXPECT_EQ(judged({}, {file_with("a", {})}), Kinds{Verdict::zero_length})
      << "a remaining name must have the synced data";
  EXPECT_EQ(judged({.fsync_keeps_name = true}, {back}), Kinds{}) << "there is no name to keep";
  EXPECT_EQ(judged({.fsync_keeps_links = true}, {}), Kinds{});
  EXPECT_EQ(judged({.fsync_keeps_links = true}, {back}), Kinds{Verdict::resurrected});
}

TEST(Oracle, AnOpenFileFollowsRenamesUntilClose) {
  const adapters::Promises keeps_name{.fsync_keeps_name = true};
  const std::vector<std::string> list{"mkdir d",   "create a",     "sync",
                                      "open a %f", "rename a d/b", "fsync %f"};
  const auto oracle = Oracle::follow(operations(list), {.promises = keeps_name});
  ObservedObject d{.path = "d", .type = FileType::directory};
  EXPECT_TRUE(oracle.value().judge(5, {d, file_with("d/b", {})}).empty());
  EXPECT_FALSE(oracle.value().judge(5, {d, file_with("a", {})}).empty())
      << "its current name was synced";
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"open a %f"},
                                             {"symlink x a", "open a %f"},
                                             {"fsync %f"},
                                             {"close %f"},
                                             {"create a", "open a %f", "close %f", "fsync %f"},
                                             {"create a", "open a %f", "open a %f"},
                                             {"create a", "open a %f", "@1 fsync %f"}})
    EXPECT_FALSE(Oracle::follow(operations(wrong), {})) << wrong.back();
}

TEST(Oracle, FindsRemovedAndUnknownObjects) {
  const std::vector<std::string> list{"mkdir d",    "create d/a", "sync",
                                      "unlink d/a", "fsyncdir d", "create d/b"};
  ObservedObject d{.path = "d", .type = FileType::directory};
  EXPECT_EQ(kinds(list, 4, {d}), Kinds{});
  EXPECT_EQ(kinds(list, 4, {d, file_with("d/a", {})}), Kinds{Verdict::resurrected});
  EXPECT_EQ(kinds(list, 4, {d, file_with("d/x", {})}), Kinds{Verdict::wrong_data});
  EXPECT_EQ(kinds(list, 4, {}), Kinds{Verdict::lost_synced_data});
  EXPECT_EQ(kinds(list, 2,
                  {d, file_with("d/a", {}),
                   ObservedObject{.path = "lost+found", .type = FileType::directory}}),
            Kinds{});
}

TEST(Oracle, RejectsWorkloadsThatCannotRun) {
  for (const std::vector<std::string>& list :
       std::vector<std::vector<std::string>>{{"write a 0 512 1 1"},
                                             {"create a", "create a"},
                                             {"unlink a"},
                                             {"create d/a"},
                                             {"fsync a"}}) {
    EXPECT_FALSE(Oracle::follow(operations(list), {}));
  }
}

/// Returns the tree that a correct file system shows after the first `count` operations.
std::vector<ObservedObject> perfect_tree(std::span<const Operation> list, std::size_t count) {
  std::map<std::string, ObservedObject> tree;
  for (const Operation& operation : list.first(count)) {
    switch (operation.kind) {
      case Operation::Kind::mkdir:
        tree[operation.path] = {.path = operation.path, .type = FileType::directory};
        break;
      case Operation::Kind::create:
        tree[operation.path] = {.path = operation.path};
        break;
      case Operation::Kind::write: {
        ObservedObject& object = tree[operation.path];
        const std::uint64_t end = (operation.offset + operation.length) / 512;
        object.runs.resize(std::max<std::size_t>(object.runs.size(), end));
        for (std::uint64_t b = operation.offset / 512; b < end; ++b)
          object.runs[b] = stamp(b, 1, operation.file, operation.version);
        object.size_bytes = object.runs.size() * 512;
        break;
      }
      case Operation::Kind::rename:
        tree[operation.target] = tree[operation.path];
        tree[operation.target].path = operation.target;
        tree.erase(operation.path);
        break;
      case Operation::Kind::unlink:
        tree.erase(operation.path);
        break;
      default:
        break;
    }
  }
  std::vector<ObservedObject> list_of;
  for (const auto& [path, object] : tree) list_of.push_back(object);
  return list_of;
}

TEST(Oracle, AcceptsEveryPrefixAndFindsEveryLoss) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<Operation> list = workload::small_files({.seed = seed, .rounds = 40});
    const Oracle oracle = Oracle::follow(list, {.promises = {.fsync_keeps_name = true}}).value();
    std::optional<std::size_t> persisted;
    for (std::size_t done = 0; done < list.size(); ++done) {
      for (const Finding& finding : oracle.judge(persisted, perfect_tree(list, done))) {
        ADD_FAILURE() << "seed " << seed << " after " << done << ": " << finding.path << " "
                      << finding.expected << " " << finding.found;
      }
      if (!workload::is_persistence_point(list[done])) continue;
      // Removes the synced object from the tree. The oracle must report a finding.
      if (list[done].kind == Operation::Kind::fsync) {
        std::vector<ObservedObject> tree = perfect_tree(list, done + 1);
        std::erase_if(tree,
                      [&](const ObservedObject& object) { return object.path == list[done].path; });
        // An operation in flight may have removed or replaced the object.
        bool may_be_gone = false;
        for (std::size_t i = done + 1; i < list.size() && !workload::is_persistence_point(list[i]);
             ++i) {
          may_be_gone |= list[i].kind == Operation::Kind::unlink && list[i].path == list[done].path;
          may_be_gone |=
              list[i].kind == Operation::Kind::rename && list[i].target == list[done].path;
        }
        EXPECT_TRUE(may_be_gone || !oracle.judge(done, tree).empty())
            << "seed " << seed << " operation " << done;
      }
      persisted = done;
    }
  }
}

TEST(Oracle, AnUnreadableFileIsDamaged) {
  ObservedObject half = file_with("a", {stamp(0, 1, 1, 3)});
  half.size_bytes = 1024;
  EXPECT_EQ(kinds(kOverwrite, 2, {half}), Kinds{Verdict::wrong_data});
  ObservedObject gap = file_with("a", {stamp(1, 1, 1, 2)});
  gap.size_bytes = 1024;
  EXPECT_EQ(kinds(kOverwrite, 2, {gap}), Kinds{Verdict::wrong_data});
  half.cut = true;
  EXPECT_EQ(kinds(kOverwrite, 2, {half}), Kinds{}) << "the readable part is correct";
}

TEST(Oracle, AnAbsurdSizeIsDamage) {
  const auto huge = parse_entry(nlohmann::json::parse(
      R"({"path":"a","type":"file","size":18446744073709551615,"runs":[[0,2,"stamp",1,1]]})"));
  ASSERT_TRUE(huge);
  const Kinds found = kinds(kOverwrite, 2, {*huge});
  EXPECT_EQ(std::count(found.begin(), found.end(), Verdict::wrong_data), 2)
      << "the size, and the end of the readable part";
}

TEST(Oracle, RejectsDuplicateNamesInADirectory) {
  const ObservedObject good = file_with("a", {stamp(0, 2, 1, 1)});
  EXPECT_EQ(kinds(kOverwrite, 2, {good, good}), Kinds{Verdict::wrong_data});
}

TEST(ObservedTree, RejectsHostileEntries) {
  using nlohmann::json;
  EXPECT_TRUE(parse_entry(
      json::parse(R"({"path":"a","type":"file","size":512,"runs":[[0,1,"stamp",1,2]]})")));
  EXPECT_TRUE(parse_entry(json::parse(R"({"path":"a","type":"file","size":9,"cut":true})"))->cut);
  for (const char* text :
       {R"([])", R"({"path":1})", R"({"path":"a"})", R"({"path":"a","type":"pipe"})",
        R"({"path":"a","type":"file","size":-1})", R"({"path":"a","type":"file","runs":[[0,1]]})",
        R"({"path":"a","type":"file","runs":[[0,1,"stamp",{}]]})",
        R"({"path":"a","type":"file","runs":[[0,1,"other","zz"]]})",
        R"({"path":"a","type":"file","cut":1})", R"({"path":"a","type":"file","attributes-cut":1})",
        R"({"path":"a","type":"file","runs":[[1,18446744073709551615,"zero"]]})"}) {
    EXPECT_FALSE(parse_entry(json::parse(text))) << text;
  }
}

TEST(Verdict, TheWorstFindingWins) {
  const std::vector<Finding> findings{{Verdict::stale_data, Tier::integrity, "a", "", ""},
                                      {Verdict::lost_synced_data, Tier::posix, "b", "", ""}};
  EXPECT_EQ(judge_trial({}, findings).verdict, Verdict::lost_synced_data);
  std::vector<Finding> three(3, findings.back());
  three[0] = {
      .kind = Verdict::lost_synced_data, .path = "d/f", .expected = "this", .found = "that"};
  three[1].kind = three[2].kind = three[0].kind;
  EXPECT_EQ(judge_trial({.check_found_damage = true}, three).summary,
            "d/f: expected this, found that; 2 more objects likewise; fsck repaired damage");
  three.resize(1);
  EXPECT_EQ(judge_trial({}, three).summary,
            "d/f: expected this, found that; fsck reported no errors");
  EXPECT_EQ(judge_trial({.mounted = false}, {}).verdict, Verdict::unmountable);
  EXPECT_EQ(judge_trial({.check_found_damage = true, .repaired = false}, {}).verdict,
            Verdict::not_repairable);
  EXPECT_EQ(judge_trial({.check_found_damage = true}, {}).verdict, Verdict::repaired_by_fsck);
  EXPECT_EQ(judge_trial({.replayed = true}, {}).verdict, Verdict::replayed);
  const Judgement refused = judge_trial({.refused_as_cut = true}, {});
  EXPECT_EQ(refused.verdict, Verdict::replayed) << "Debian's boot would repair it";
  EXPECT_NE(refused.summary.find("refused"), std::string::npos) << refused.summary;
  EXPECT_EQ(judge_trial({}, {}).verdict, Verdict::clean);
}

TEST(Verdict, ErrorsAreHarnessErrorsUnlessTheirKindBlamesTheFileSystem) {
  const std::map<ErrorKind, Verdict> about_it{{ErrorKind::timeout, Verdict::hang},
                                              {ErrorKind::guest_died, Verdict::oops},
                                              {ErrorKind::workload, Verdict::workload_failed},
                                              {ErrorKind::unmountable, Verdict::unmountable},
                                              {ErrorKind::not_repairable, Verdict::not_repairable}};
  for (const std::string_view word : kErrorKinds.all()) {
    const ErrorKind kind = kErrorKinds.parse(word).value();
    const auto found = about_it.find(kind);
    EXPECT_EQ(verdict_of(kind), found == about_it.end() ? Verdict::harness_error : found->second)
        << word;
  }
  const Judgement judgement = judgement_of({"guest", "said \x1b[2J", "retry", ErrorKind::timeout});
  EXPECT_EQ(judgement.verdict, Verdict::hang);
  EXPECT_EQ(judgement.summary, "guest: said \\x1b[2J; retry");
}

}  // namespace
}  // namespace headcrash::oracle
