#include <gtest/gtest.h>

#include "plugin/base/named_file.h"
#include "plugin/base/nearest.h"
#include "plugin/base/result.h"
#include "plugin/base/size.h"
#include "plugin/base/strict_table.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/base/text_file.h"

namespace headcrash::base {
namespace {

TEST(Size, UnitsArePowersOf1024) {
  EXPECT_EQ(parse_size("512", "s").value(), 512u);
  EXPECT_EQ(parse_size("3K", "s").value(), 3072u);
  EXPECT_EQ(parse_size("3k", "s").value(), 3072u);
  EXPECT_EQ(parse_size("7b", "s").value(), 7u);
  EXPECT_EQ(parse_size("5s", "s").value(), 2560u);
  EXPECT_EQ(parse_size("1G", "s").value(), 1u << 30);
  EXPECT_EQ(parse_size("7E", "s").value(), 7ull << 60);
  EXPECT_EQ(parse_size("512MiB", "s").value(), 512u << 20);
  for (const char* bad : {"", "K", "-1", "1.5G", "1KB", "iB", "1iB", "1kiB", "1GG", "0x10", "8E",
                          "99999999999T", "99999999999999999999", "1Q", " 1"})
    EXPECT_FALSE(parse_size(bad, "s")) << bad;
}

TEST(Nearest, SuggestsOnlySimilarWords) {
  const std::vector<std::string> known{"profile", "size", "write-cache"};
  EXPECT_EQ(nearest("profil", known), "profile");
  EXPECT_EQ(nearest("wirte-cache", known), "write-cache");
  EXPECT_EQ(nearest("szie", known), "size");
  EXPECT_EQ(nearest("banana", known), "");
  EXPECT_EQ(nearest("wri", known), "write-cache") << "the beginning of one word";
}

TEST(StrictTable, UnknownKeyErrorNamesItsPosition) {
  const StrictTable file = StrictTable::parse("[device]\nprofil = 'x'", "demo.toml").value();
  const Result<void> only = file.table("device").value()->only({"profile", "size"});
  ASSERT_FALSE(only);
  EXPECT_EQ(
      only.error().message(),
      "demo.toml: device.profil: unknown key; did you mean \"profile\"? known: profile, size");
}

TEST(StrictTable, TypeErrorsNameTheKey) {
  const StrictTable file =
      StrictTable::parse("a = 1\nb = 'x'\nc = []\nd = [1, 'x']\ne = 3.5\nn = [1, nan]\nm = -5", "f")
          .value();
  std::string text;
  std::vector<std::string> texts;
  std::vector<double> numbers;
  std::int64_t integer = 7;
  double real = 0;
  bool flag = false;
  EXPECT_FALSE(file.take("a", text));
  EXPECT_FALSE(file.take("b", integer, {.least = 0, .most = 9}));
  EXPECT_FALSE(file.take("c", texts));
  EXPECT_FALSE(file.take("d", numbers));
  EXPECT_FALSE(file.take("n", numbers)) << "a comparison with nan refuses nothing";
  std::uint64_t bytes = 0;
  EXPECT_EQ(file.take_size("m", bytes).error().message(),
            "f: m: is not a size; write m = \"320M\", or a number of bytes");
  EXPECT_FALSE(file.take("e", integer, {.least = 0, .most = 9}));
  EXPECT_FALSE(file.take("a", flag));
  EXPECT_FALSE(file.take("b", real));
  EXPECT_FALSE(file.take("a", integer, {.least = 2, .most = 9}));
  EXPECT_FALSE(file.table("a"));
  EXPECT_TRUE(file.take("absent", integer, {.least = 0, .most = 9}));
  EXPECT_EQ(integer, 7);
}

TEST(StrictTable, SyntaxErrorsNameTheLine) {
  const Result<StrictTable> file = StrictTable::parse("a = 1\nb = ", "f.toml");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message().find("f.toml:2"), std::string::npos) << file.error().message();
}

TEST(StrictTable, MergeKeepsBaseKeysThatAreNotOverridden) {
  const StrictTable base =
      StrictTable::parse(
          "a = 1\nb = 'two'\n[t]\nc = 3\nd = \"\"\"\nx\ny\n\"\"\"\n[[l]]\ne = 1\n[[l]]\ne = 2",
          "base")
          .value();
  const StrictTable upper =
      StrictTable::parse("base = 'x'\na = 9\n[t]\nc = 4\n[[l]]\ne = 5\n[s]\nf = 6", "upper")
          .value();
  const StrictTable both =
      StrictTable::parse(upper.over(base).without("base").text(), "both").value();
  EXPECT_EQ(both.keys(), (std::vector<std::string>{"a", "b", "l", "s", "t"}));
  std::int64_t a = 0, c = 0;
  std::string b, d;
  ASSERT_TRUE(both.take("a", a, {.least = 0, .most = 9}));
  ASSERT_TRUE(both.take("b", b));
  ASSERT_TRUE(both.table("t").value()->take("c", c, {.least = 0, .most = 9}));
  ASSERT_TRUE(both.table("t").value()->take("d", d));
  EXPECT_EQ(a, 9);
  EXPECT_EQ(b, "two");
  EXPECT_EQ(c, 4);
  EXPECT_EQ(d, "x\ny\n");
  EXPECT_EQ(both.tables("l").value().size(), 1u);
}

TEST(ErrorText, SplitsProblemAndHint) {
  const Error error{"fault 'x'", "is no fault", "write KIND:DEVICE; known: dead, slow"};
  const Error again = error_of("serve", error.message());
  EXPECT_EQ(again.problem, "fault 'x': is no fault");
  EXPECT_EQ(again.hint, error.hint);
  EXPECT_EQ(again.message(), "serve: " + error.message());
  EXPECT_EQ(error_of("serve", "has gone").hint, "");
  EXPECT_EQ(within("serve", error).message(), again.message());
}

TEST(NamedFile, FolderOfABareNameIsTheCurrentFolder) {
  EXPECT_EQ(folder_of("workload.hcrec"), ".");
  EXPECT_EQ(folder_of("./workload.hcrec"), ".");
  EXPECT_EQ(folder_of("kept/workload.hcrec"), "kept");
  EXPECT_EQ(folder_of("/workload.hcrec"), "/");
}

TEST(TextFile, WriteReportsErrors) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a").string();
  ASSERT_TRUE(write_text_file(path, "one"));
  ASSERT_TRUE(write_text_file(path, "x"));
  EXPECT_EQ(folder.get("a"), "x");
  EXPECT_FALSE(write_text_file("/dev/full", "x"));
  EXPECT_FALSE(write_text_file((folder / "no/folder").string(), "x"));
}

TEST(TextFile, ReadLimitsTheSizeAndReportsErrors) {
  EXPECT_NE(read_text_file("/dev/zero").error().message().find("larger than 1 MiB"),
            std::string::npos);
  EXPECT_NE(read_text_file("no/such.toml").error().message().find("no/such.toml"),
            std::string::npos);
  EXPECT_FALSE(read_text_file("/"));
}

}  // namespace
}  // namespace headcrash::base
