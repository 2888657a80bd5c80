// Tests built-in stacks, references between profiles, and the error that each kind of mistake
// causes.
#include "plugin/profiles/stack.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "headcrash_profiles_embedded.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/model/array/array.h"
#include "plugin/profiles/profile.h"

namespace headcrash::profiles {
namespace {

std::string built_in_text(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name) return std::string(file.text);
  }
  ADD_FAILURE() << name << " is not built in";
  return {};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Stack, EveryBuiltInStackLoadsUnderItsName) {
  for (const EmbeddedFile& file : embedded_files()) {
    const std::string name(file.name.substr(0, file.name.rfind('.')));
    const auto stack = load_stack(name);
    ASSERT_TRUE(stack) << stack.error().message();
    EXPECT_EQ((*stack)->name, name);
    EXPECT_FALSE((*stack)->title.empty());
    EXPECT_GE((*stack)->origins.size(), 3U) << name;
    EXPECT_GT(capacity_sectors(**stack), 0U) << name;
  }
}

TEST(Stack, NetraServerLayersCacheRaidCachesAndDisks) {
  const auto upper = load_stack("netra-raid5-presto");
  ASSERT_TRUE(upper) << upper.error().message();
  const Stack& raid = *(*upper)->below.at(0);
  const auto& array = std::get<model::ArrayProfile>(raid.profile);
  EXPECT_EQ(array.level, model::RaidLevel::raid5);
  EXPECT_EQ(array.stripe_unit_sectors, 16U);
  ASSERT_EQ(raid.below.size(), 11U);
  EXPECT_EQ(raid.below[0], raid.below[10]) << "read once and shared";
  const Stack& lower = *raid.below[3];
  const auto& cache = std::get<model::NvramProfile>(lower.profile);
  EXPECT_EQ(std::pair(cache.range_lba, cache.range_sectors), model::Array::prewrite_range(array));
  EXPECT_GE(cache.capacity_sectors, cache.range_sectors) << "it must cover the whole prewrite area";
  EXPECT_EQ(lower.below.at(0)->name, "sun-4.2g");
  const auto& top = std::get<model::NvramProfile>((*upper)->profile);
  EXPECT_LE(top.capacity_sectors + 11 * cache.capacity_sectors, 65'536U) << "32 MB together";

  const auto plain = load_stack("netra-raid5");
  ASSERT_TRUE(plain);
  EXPECT_EQ(std::get<model::ArrayProfile>((*plain)->profile).prewrite_sectors,
            array.prewrite_sectors);
  EXPECT_EQ(capacity_sectors(**plain), capacity_sectors(**upper));
}

/// Covers the configurations in Peacock 1998, figure 2: the same disks with a cache above the
/// array, below it, both, or none. Also covers a cache that reserves a part for a log.
TEST(Stack, NetraServersNvramCanBeAboveOrBelow) {
  constexpr std::uint64_t kAll = 65'536;  // sectors in 32 MB
  const auto stack = [](const char* name) {
    const auto found = load_stack(name);
    EXPECT_TRUE(found) << (found ? "" : found.error().message());
    return *found;
  };
  const auto above = [](const Stack& one) {
    const auto* const cache = std::get_if<model::NvramProfile>(&one.profile);
    return cache == nullptr ? 0U : cache->capacity_sectors;
  };
  const auto below = [&](const Stack& one) {
    const Stack& array = above(one) > 0 ? *one.below.at(0) : one;
    std::uint64_t sectors = 0;
    for (const auto& member : array.below) sectors += above(*member);
    return sectors;
  };
  const auto both = stack("netra-raid5-presto"), upper = stack("netra-raid5-presto-upper");
  const auto lower = stack("netra-raid5-presto-lower"), log = stack("netra-log-presto");
  EXPECT_EQ(above(*upper), above(*both));
  EXPECT_EQ(below(*upper), 0U);
  EXPECT_EQ(above(*lower), 0U);
  EXPECT_EQ(below(*lower), below(*both));
  EXPECT_LE(above(*both) + below(*both), kAll);
  EXPECT_EQ(above(*stack("netra-raid0-presto")), kAll);
  EXPECT_EQ(above(*stack("netra-raid0-presto-beside-log")) + above(*log), kAll);
  EXPECT_EQ(above(*stack("netra-raid5-presto-beside-log")) + above(*log), above(*both));
  for (const char* raid5 : {"netra-raid5-presto", "netra-raid5-presto-upper",
                            "netra-raid5-presto-lower", "netra-raid5-presto-beside-log"})
    EXPECT_EQ(capacity_sectors(*stack(raid5)), capacity_sectors(*stack("netra-raid5"))) << raid5;
  for (const char* raid0 : {"netra-raid0-presto", "netra-raid0-presto-beside-log"})
    EXPECT_EQ(capacity_sectors(*stack(raid0)), capacity_sectors(*stack("netra-raid0"))) << raid0;
}

TEST(Stack, PathsAreRelativeToTheirFile) {
  const TemporaryFolder folder;
  folder.put("drives/mine.toml",
             replaced(built_in_text("hp-c2447.toml"), "\"hp-c2447\"", "\"mine\""));
  folder.put("boxes/half.toml",
             replaced(built_in_text("raid1-2.toml"), "\"hp-c2447\"", "\"../drives/mine.toml\""));
  const std::string top = folder.put(
      "top.toml", replaced(built_in_text("raid0-2.toml"), "\"hp-c2447\"", "\"boxes/half.toml\""));
  const auto stack = load_stack(top);
  ASSERT_TRUE(stack) << stack.error().message();
  EXPECT_EQ(lowest(**stack).name, "mine");
  EXPECT_EQ((*stack)->below[1]->below[1]->name, "mine");
}

TEST(Stack, AcceptsAListOfMembers) {
  const TemporaryFolder folder;
  const std::string drive = built_in_text("hp-c2447.toml");
  folder.put("other.toml", replaced(drive, "\"hp-c2447\"", "\"other\""));
  const std::string box = built_in_text("raid0-2.toml");
  const auto two = load_stack(
      folder.put("two.toml", replaced(box, "\"hp-c2447\"", "[\"hp-c2447\", \"./other.toml\"]")));
  ASSERT_TRUE(two) << two.error().message();
  EXPECT_EQ((*two)->below[1]->name, "other");
  const auto three = load_stack(folder.put(
      "three.toml", replaced(box, "\"hp-c2447\"", "[\"hp-c2447\", \"hp-c2447\", \"hp-c2447\"]")));
  ASSERT_FALSE(three);
  EXPECT_NE(three.error().message().find("member: lists 3 profiles"), std::string::npos)
      << three.error().message();
}

TEST(Stack, RejectsMembersOfDifferentSizes) {
  const TemporaryFolder folder;
  std::string small =
      replaced(built_in_text("hp-c2447.toml"), "spare-tracks = 325", "spare-tracks = 326");
  folder.put("small.toml", replaced(small, "2_054_864", "2_054_768"));
  const auto stack =
      load_stack(folder.put("box.toml", replaced(built_in_text("raid0-2.toml"), "\"hp-c2447\"",
                                                 "[\"hp-c2447\", \"small.toml\"]")));
  ASSERT_FALSE(stack);
  EXPECT_NE(stack.error().problem.find("different sizes"), std::string::npos)
      << stack.error().message();
  EXPECT_NE(stack.error().subject.find("box.toml: member"), std::string::npos)
      << stack.error().message();
}

TEST(Stack, RejectsCyclesAndShowsThem) {
  const TemporaryFolder folder;
  const std::string box = built_in_text("raid0-2.toml");
  const std::string a = folder.put("a.toml", replaced(box, "\"hp-c2447\"", "\"./b.toml\""));
  folder.put("b.toml", replaced(box, "\"hp-c2447\"", "\"././a.toml\""));
  const auto stack = load_stack(a);
  ASSERT_FALSE(stack);
  const std::string& problem = stack.error().problem;
  EXPECT_LT(problem.find("a.toml -> "), problem.find("b.toml -> ")) << problem;
  EXPECT_TRUE(problem.ends_with("a.toml")) << problem;
}

TEST(Stack, DepthAndNumberOfFilesAreLimited) {
  const TemporaryFolder folder;
  const std::string box = built_in_text("raid0-2.toml");
  std::string top = "hp-c2447";
  for (int i = 0; i < 9; ++i) {
    top = folder.put(fmt::format("{}.toml", i),
                     replaced(box, "\"hp-c2447\"", fmt::format("\"{}\"", top)));
  }
  const auto deep = load_stack(top);
  ASSERT_FALSE(deep);
  EXPECT_NE(deep.error().problem.find("levels of profiles"), std::string::npos)
      << deep.error().message();

  std::string wide = "hp-c2447";
  for (int i = 0; i < 4; ++i) {  // without a limit, 16 + 16^2 + 16^3 + ... files would be read
    std::string list;
    for (int k = 0; k < 16; ++k) list += fmt::format("\"{}\", ", wide);
    wide = folder.put(
        fmt::format("wide{}.toml", i),
        replaced(replaced(box, "\"hp-c2447\"", "[" + list + "]"), "members = 2", "members = 16"));
  }
  const auto many = load_stack(wide);
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().problem.find("too many profiles"), std::string::npos)
      << many.error().message();
}

TEST(Stack, AnArrayCannotBeLoadedAsADisk) {
  const auto profile = load_profile("raid5-5");
  ASSERT_FALSE(profile);
  EXPECT_NE(profile.error().problem.find("array"), std::string::npos);
  EXPECT_EQ(summarise_profile("raid5-5")->kind, "array");
  EXPECT_EQ(summarise_profile("raid5-5")->rpm, 0);
  EXPECT_DOUBLE_EQ(summarise_profile("raid5-5")->outer_bytes_per_second,
                   4 * summarise_profile("hp-c2447")->outer_bytes_per_second);
}

struct WrongStack {
  const char* file;  ///< name of the built-in text that the test modifies
  const char* from;
  const char* to;
  const char* key;   ///< expected in the error's subject
  const char* said;  ///< expected in the error's problem or hint
};

class StackErrors : public testing::TestWithParam<WrongStack> {};

TEST_P(StackErrors, NameFileKeyAndHint) {
  const WrongStack& wrong = GetParam();
  const TemporaryFolder folder;
  const auto stack =
      load_stack(folder.put("box.toml", replaced(built_in_text(wrong.file), wrong.from, wrong.to)));
  ASSERT_FALSE(stack) << wrong.to;
  const Error& error = stack.error();
  EXPECT_NE(error.subject.find("box.toml"), std::string::npos) << error.message();
  EXPECT_NE(error.subject.find(wrong.key), std::string::npos) << error.message();
  EXPECT_NE((error.problem + error.hint).find(wrong.said), std::string::npos) << error.message();
  EXPECT_FALSE(error.hint.empty()) << error.message();
}

constexpr const char* kRaid = "raid5-5.toml";
constexpr const char* kPresto = "netra-raid5-presto.toml";
constexpr const char* kLower = "netra-raid5-presto-lower.toml";

INSTANTIATE_TEST_SUITE_P(
    All, StackErrors,
    testing::Values(
        WrongStack{kRaid, "\"array\"", "\"arrray\"", "kind", "did you mean \"array\""},
        WrongStack{kRaid, "\"array\"", "7", "kind", "string"},
        WrongStack{kRaid, "member =", "membre =", "membre", "did you mean"},
        WrongStack{kRaid, "member =", "size = 3\nmember =", "size", "unknown"},
        WrongStack{kRaid, "\"hp-c2447\"", "\"hp-c2448\"", "member", "hp-c2447"},
        WrongStack{kRaid, "\"hp-c2447\"", "\"gone/drive.toml\"", "member",
                   "drive.toml cannot be read"},
        WrongStack{kRaid, "\"hp-c2447\"", "7", "member", "must name a profile"},
        WrongStack{kRaid, "\"hp-c2447\"", "{name = \"x\"}", "member", "missing"},
        WrongStack{kRaid, "\"raid5\"", "\"raid9\"", "layout.level", "raid5"},
        WrongStack{kRaid, "members = 5", "members = 1", "layout.members", "from 2"},
        WrongStack{kRaid, "members = 5", "members = 65", "layout.members", "to 64"},
        WrongStack{kRaid, "stripe-unit-kib = 64", "stripe-unit-kib = 0", "layout.stripe-unit-kib",
                   "whole number"},
        WrongStack{kRaid, "stripe-unit-kib = 64", "stripe-unit-kib = 1048576",
                   "layout.stripe-unit-kib", "no room"},
        WrongStack{kRaid, "= false", "= 0", "layout.synchronised-spindles", "true or false"},
        WrongStack{kRaid, "command-ms = 0.02", "command-ms = -1", "controller.command-ms",
                   "number"},
        WrongStack{kRaid, "parity-sector-us = 1", "parity-sector-us = inf",
                   "controller.parity-sector-us", "number"},
        WrongStack{kRaid, "[controller]\norigin", "[controller]\norigen", "controller.origen",
                   "did you mean \"origin\""},
        WrongStack{kRaid, "\"estimate: an example\"", "\"an example\"", "safety.origin",
                   "measured:"},
        WrongStack{kRaid, "\"none\"", "\"prewrite\"", "safety.prewrite-kib", "log"},
        WrongStack{kRaid, "\"none\"", "\"dirty-regions\"", "safety.region-kib", "bit"},
        WrongStack{kRaid, "accept-dirty-degraded", "region-idle-ms = 0\naccept-dirty-degraded",
                   "safety.region-idle-ms", "too short"},
        WrongStack{"raid0-2.toml", "prewrite-kib = 0", "prewrite-kib = 8", "safety.prewrite-kib",
                   "parity"},
        WrongStack{kRaid, "rebuild-mb-per-s = 0", "rebuild-mb-per-s = -1",
                   "safety.rebuild-mb-per-s", "number"},
        WrongStack{kRaid, "level = ", "level = = ", "box.toml:", ""},
        WrongStack{kPresto, "range = \"all\"", "range = \"prewrite\"", "memory.range",
                   "prewrite log"},
        WrongStack{kPresto, "range = \"all\"", "range = \"none\"", "memory.range", "\"all\""},
        WrongStack{kPresto, "range = \"all\"", "range = [0]", "memory.range", "\"all\""},
        WrongStack{kPresto, "range = \"all\"", "range = [-1, 8]", "memory.range", "before"},
        WrongStack{kPresto, "range = \"all\"", "range = [1, 9223372036854775807]", "memory.range",
                   "exceeds"},
        WrongStack{kPresto, "capacity-kib = 16_384", "capacity-kib = 4", "memory.capacity-kib",
                   "multiple"},
        WrongStack{kPresto, "high-water-permille = 750", "high-water-permille = 499",
                   "low-water-permille", "above"},
        WrongStack{kPresto, "hold-hours = 72", "hold-hours = nan", "battery.hold-hours", "number"},
        WrongStack{kLower, "\"sun-4.2g\"", "\"sun-4.3g\"", "member.over", "no built-in"},
        WrongStack{kLower, "stripe-unit-kib = 8", "stripe-unit = 8", "layout.stripe-unit",
                   "did you"},
        WrongStack{kLower, "range = \"prewrite\"", "ranges = \"prewrite\"", "member.memory.ranges",
                   "did you"}));

TEST(MachineFile, ReadsDevicesSizesAndFaults) {
  const TemporaryFolder folder;
  folder.put("log.toml", replaced(built_in_text("hp-c2447.toml"), "\"hp-c2447\"", "\"log\""));
  const auto machine = load_machine_file(folder.put("machine.toml", R"(
fault = ["dead:data.1,after-ms=5000", "latent-error:log,lba=100+8"]
[[device]]
name = "data"
profile = "raid5-5"
size = "64M"
[[device]]
name = "log"
profile = "log.toml"
write-cache = false
tear = "unreadable"
)"));
  ASSERT_TRUE(machine) << machine.error().message();
  ASSERT_EQ(machine->devices.size(), 2U);
  EXPECT_EQ(machine->devices[0].size_bytes, 64U << 20);
  EXPECT_FALSE(machine->devices[0].options.write_cache.has_value());
  EXPECT_EQ(machine->devices[1].stack->name, "log");
  EXPECT_EQ(machine->devices[1].options.write_cache, false);
  EXPECT_FALSE(machine->devices[0].options.tear.has_value());
  EXPECT_EQ(machine->devices[1].options.tear, model::Tear::unreadable);
  EXPECT_EQ(toml_of(machine->devices[1].options), "write-cache = false\ntear = \"unreadable\"\n");
  ASSERT_EQ(machine->faults.size(), 2U);
  EXPECT_EQ(machine->faults[0].device, "data.1");
}

TEST(MachineFile, RejectsInvalidFiles) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& text) {
    const auto machine = load_machine_file(folder.put("m.toml", text));
    EXPECT_FALSE(machine) << text;
    return machine ? std::string() : machine.error().message();
  };
  const auto says = [&](const std::string& text, const std::string& words) {
    const std::string line = message(text);
    EXPECT_NE(line.find(words), std::string::npos) << line;
    EXPECT_NE(line.find("m.toml"), std::string::npos) << line;
  };
  const std::string good = "[[device]]\nname = \"a\"\nprofile = \"hp-c2447\"\n";
  says("", "device: is missing");
  says("device = 3", "list of tables");
  says("[[device]]\nname = \"a\"\n", "device[0].profile: is missing");
  says("[[device]]\nname = \"a b\"\nprofile = \"hp-c2447\"\n", "not a valid device name");
  says(good + "sise = \"1G\"\n", "did you mean \"size\"");
  says(good + "size = \"1X\"\n", "device[0].size: \"1X\" is not a size");
  says(good + "write-cache = \"on\"\n", "true or false");
  says(good + "tear = \"unreadble\"\n", "did you mean \"unreadable\"");
  says("fault = [\"dead\"]\n" + good, "fault[0]");
  says("fault = \"dead:a\"\n" + good, "list of strings");
  EXPECT_NE(message("[[device]]\nname = \"a\"\nprofile = \"nix\"\n").find("no such built-in"),
            std::string::npos);
  EXPECT_FALSE(load_machine_file("no/such.toml"));
}

}  // namespace
}  // namespace headcrash::profiles
