// Tests extended attributes in all namespaces. Values that the list or the kernel has set must be
// accepted, and lost values must be found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/oracle/posix_acl.h"
#include "harness/oracle/testing/judged_case.h"
#include "harness/workload/attribute_value.h"

namespace headcrash::oracle {
namespace {

using adapters::Promises;
using workload::parse_attribute_value;

const Found kLost{{Verdict::lost_synced_data, Tier::posix}};
const Found kWrong{{Verdict::wrong_data, Tier::integrity}};

ObservedObject with(ObservedObject object, const std::string& name, std::string_view word) {
  object.attributes[name] = workload::reported_attribute_value(*parse_attribute_value(word));
  return object;
}
ObservedObject empty_file() {
  return file("a", 0, 0, 0, 7);
}

TEST(Attributes, AcceptsValuesOfAnyLengthInEachNamespace) {
  for (const char* name : {"user.b", "trusted.overlay.opaque", "security.ima", "system.other"}) {
    for (const char* value :
         {"y", "fill:255", "fill:256", "fill:257", "fill:4096", "fill:65536", "0x00ff80"}) {
      const Case synced{
          .lines = {"create a", fmt::format("setxattr a {} {}", name, value), "fsync a"},
          .persisted = 2};
      EXPECT_EQ(synced.judge({with(empty_file(), name, value)}, Promises{}), Found{})
          << name << value;
      EXPECT_EQ(synced.judge({empty_file()}, Promises{}), kLost) << name << value;
      EXPECT_NE(synced.judge({with(empty_file(), name, "fill:65535")}, Promises{}), Found{})
          << name << value;
    }
  }
}

/// Returns a list that sets `count` attributes. Values have `bytes` bytes, and names have
/// `name_bytes` bytes.
std::vector<workload::Operation> list_that_sets(int count, std::size_t bytes,
                                                std::size_t name_bytes = 9) {
  std::vector<workload::Operation> list{workload::parse_operation("create a", "test").value()};
  for (int i = 0; i < count; ++i) {
    std::string name = fmt::format("user.{:04}", i);
    name.resize(name_bytes, 'n');
    list.push_back({.kind = workload::Operation::Kind::setxattr,
                    .path = "a",
                    .attribute = std::move(name),
                    .value = std::string(bytes, 'v')});
  }
  return list;
}

TEST(Attributes, RejectsAttributesThatExceedADump) {
  for (const auto& list : {list_that_sets(4080, 20), list_that_sets(240, 1024),
                           list_that_sets(2000, 64 << 10), list_that_sets(240, 1, 255)})
    EXPECT_TRUE(Oracle::follow(list, {})) << list.size();
  for (const auto& list :
       {list_that_sets(4081, 1), list_that_sets(260, 1024), list_that_sets(250, 1, 255)})
    EXPECT_FALSE(Oracle::follow(list, {})) << list.size();
  auto again = list_that_sets(200, 1024);
  for (int round = 0; round < 3; ++round) {
    const auto more = list_that_sets(200, 1000);
    again.insert(again.end(), more.begin() + 1, more.end());
  }
  EXPECT_TRUE(Oracle::follow(again, {})) << "a replaced value counts once";
}

TEST(Attributes, LimitsTheSizeOfADumpEntry) {
  const auto entry = nlohmann::json::parse(
      R"({"path":"a","type":"file","attributes":{"user.t":"x"},"attributes-hex":{"user.b":"00ff80"}})");
  const auto object = parse_entry(entry);
  ASSERT_TRUE(object);
  EXPECT_EQ(object->attributes.at("user.t"), "x");
  EXPECT_EQ(object->attributes.at("user.b"), std::string("\0\xff\x80", 3));
  EXPECT_FALSE(parse_entry(
      nlohmann::json::parse(R"({"path":"a","type":"file","attributes-hex":{"user.b":"0"}})")));
}

TEST(Attributes, IgnoresTheKernelsOwnAttributes) {
  const Case synced{.lines = {"create a", "fsync a"}, .persisted = 1};
  for (const char* name : {"security.selinux", "system.advise"})
    EXPECT_EQ(synced.judge({with(empty_file(), name, "label")}, Promises{}), Found{}) << name;
  for (const char* name : {"user.b", "trusted.b"})
    EXPECT_EQ(synced.judge({with(empty_file(), name, "label")}, Promises{}), kWrong) << name;
}

TEST(Attributes, AWriteRemovesCapabilities) {
  const std::string capability = "0x0100000200000000000000000000000000000000";
  const std::string set = "setxattr a security.capability " + capability;
  const Case kept{.lines = {"create a", "write a 0 512 1 1", set, "fsync a"}, .persisted = 3};
  const ObservedObject plain = file("a", 1, 1, 1, 7);
  EXPECT_EQ(kept.judge({with(plain, "security.capability", capability)}, Promises{}), Found{});
  EXPECT_EQ(kept.judge({plain}, Promises{}), kLost);
  const Case written{.lines = {"create a", set, "write a 0 512 1 1", "fsync a"}, .persisted = 3};
  EXPECT_EQ(written.judge({with(plain, "security.capability", capability)}, Promises{}), Found{});
  EXPECT_EQ(written.judge({plain}, Promises{}), Found{});
  const Case third{
      .lines = {"create a",
                "setxattr a security.capability 0x010000030000000000000000000000000000000000000000",
                "fsync a"},
      .persisted = 2};
  EXPECT_EQ(third.judge({with(empty_file(), "security.capability", capability)}, Promises{}),
            Found{});
}

/// Returns an access control list with these permissions for the owner, user 1000, the group, the
/// mask and others.
std::string acl(int owner, int user, int group, int mask, int others) {
  return fmt::format(
      "0x02000000"
      "01000{}00ffffffff"
      "02000{}00e8030000"
      "04000{}00ffffffff"
      "10000{}00ffffffff"
      "20000{}00ffffffff",
      owner, user, group, mask, others);
}
constexpr const char* kAccess = "system.posix_acl_access";
constexpr const char* kDefault = "system.posix_acl_default";

ObservedObject of_mode(ObservedObject object, std::uint32_t mode) {
  object.mode = mode;
  return object;
}

TEST(Attributes, AnAccessAclChangesTheMode) {
  const Case set{.lines = {"create a", fmt::format("setxattr a {} {}", kAccess, acl(6, 7, 4, 5, 0)),
                           "fsync a"},
                 .persisted = 2};
  const auto listed = with(empty_file(), kAccess, acl(6, 7, 4, 5, 0));
  EXPECT_EQ(set.judge({of_mode(listed, 0650)}, Promises{}), Found{});
  EXPECT_EQ(set.judge({of_mode(listed, 0640)}, Promises{}), kLost);
  EXPECT_EQ(set.judge({of_mode(empty_file(), 0650)}, Promises{}), kLost);
  const Case changed{
      .lines = {"create a", fmt::format("setxattr a {} {}", kAccess, acl(6, 7, 4, 5, 0)),
                "chmod a 741", "fsync a"},
      .persisted = 3};
  const auto after = with(empty_file(), kAccess, acl(7, 7, 4, 4, 1));
  EXPECT_EQ(changed.judge({of_mode(after, 0741)}, Promises{}), Found{});
  EXPECT_EQ(changed.judge({of_mode(listed, 0741)}, Promises{}), kLost);
}

TEST(Attributes, AnAclEquivalentToTheModeIsNotStored) {
  const std::string minimal = "0x02000000010006000000000004000400000000002000000000000000";
  const Case set{
      .lines = {"create a", fmt::format("setxattr a {} {}", kAccess, minimal), "fsync a"},
      .persisted = 2};
  EXPECT_EQ(set.judge({of_mode(empty_file(), 0640)}, Promises{}), Found{});
}

TEST(Attributes, ADefaultAclIsInherited) {
  const Case inherited{
      .lines = {"mkdir d", fmt::format("setxattr d {} {}", kDefault, acl(7, 7, 5, 7, 0)),
                "create d/f", "mkdir d/e", "sync"},
      .persisted = 4};
  const Tree tree{
      with(directory("d", 2), kDefault, acl(7, 7, 5, 7, 0)),
      with(file("d/f", 0, 0, 0, 3), kAccess, acl(6, 7, 5, 4, 0)),
      with(with(directory("d/e", 4), kAccess, acl(7, 7, 5, 5, 0)), kDefault, acl(7, 7, 5, 7, 0))};
  EXPECT_EQ(inherited.judge(tree, Promises{}), Found{});
  Tree lost = tree;
  lost[1].attributes.clear();
  EXPECT_NE(inherited.judge(lost, Promises{}), Found{});
}

TEST(Attributes, RejectsAnAclThatTheKernelRejects) {
  for (const char* value : {"y", "0x02000000", "0x01000000", "0x0200000001000700ffffffff"}) {
    const auto operation =
        workload::parse_operation(fmt::format("setxattr a {} {}", kAccess, value), "test");
    const std::vector<workload::Operation> list{
        workload::parse_operation("create a", "test").value(), operation.value()};
    EXPECT_EQ(Oracle::follow(list, {}).has_value(), std::string_view(value) == "0x02000000")
        << value;
  }
}

TEST(Attributes, SyncedAttributesOfLinksAndPipesAreKept) {
  const Found lost{{Verdict::lost_synced_data, Tier::documented}};
  const Case synced{.lines = {"symlink t s", "setxattr s trusted.x y", "mknod p fifo",
                              "setxattr p security.x y", "sync"},
                    .persisted = 4};
  const ObservedObject link = symlink("s", "t");
  const ObservedObject pipe{.path = "p", .type = FileType::fifo, .inode = 5, .links = 1};
  const auto of_link = with(link, "trusted.x", "y"), of_pipe = with(pipe, "security.x", "y");
  EXPECT_EQ(synced.judge({of_link, of_pipe}, {}), Found{});
  EXPECT_EQ(synced.judge({link, of_pipe}, {}), lost);
  EXPECT_EQ(synced.judge({of_link, pipe}, {}), lost);
  EXPECT_EQ(synced.judge({of_link, with(of_pipe, "trusted.y", "z")}, {}), kWrong);
}

TEST(Attributes, LinksAndPipesAcceptNoUserAttributes) {
  const Case synced{.lines = {"symlink to s", "setxattr s trusted.b y", "sync"}, .persisted = 2};
  EXPECT_EQ(synced.judge({with(symlink("s", "to"), "trusted.b", "y")}, Promises{}), Found{});
  const std::vector<workload::Operation> list{
      workload::parse_operation("symlink to s", "test").value(),
      workload::parse_operation("setxattr s user.b y", "test").value()};
  EXPECT_FALSE(Oracle::follow(list, {}));
}

}  // namespace
}  // namespace headcrash::oracle
