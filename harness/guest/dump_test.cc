#include "harness/guest/dump.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "harness/guest/posix_vfs.h"
#include "harness/workload/attribute_value.h"
#include "harness/workload/stamp.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::guest {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string stamps(std::uint32_t file, std::uint32_t version, std::uint64_t offset,
                   std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  workload::write_stamps(file, version, offset, data);
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

class DumpTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& content) {
    std::ofstream(folder_.path() / name, std::ios::binary) << content;
  }
  std::vector<json> dump(const DumpLimits& limits = {}) {
    std::vector<json> entries;
    const auto count =
        dump_tree(vfs_, [&](const json& entry) { entries.push_back(entry); }, limits);
    EXPECT_TRUE(count);
    EXPECT_EQ(count.value_or(0), entries.size());
    return entries;
  }

  TemporaryFolder folder_;
  PosixVfs vfs_{folder_.path().string()};
};

TEST_F(DumpTest, DescribesContentAsRuns) {
  std::string content = stamps(7, 1, 0, 1024) + std::string(1024, '\0') + stamps(7, 2, 2048, 512);
  // blocks 5 and 6 have stamps of other blocks, so each is a separate run
  content += stamps(7, 1, 0, 1024);
  content += std::string(1024, '\x5a');   // blocks 7 and 8 have no stamp and form one run
  content += stamps(7, 3, 9 * 512, 100);  // a partial last block
  put("f", content);
  const auto entries = dump();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0]["event"], "entry");
  EXPECT_EQ(entries[0]["type"], "file");
  EXPECT_EQ(entries[0]["size"], content.size());
  EXPECT_EQ(entries[0]["links"], 1);
  std::string filler;
  for (int i = 0; i < 32; ++i) filler += "5a";
  const std::vector<std::byte> foreign(workload::kStampBytes, std::byte{0x5a});
  const std::uint64_t digest = workload::block_digest(foreign);
  const json expected{{0, 2, "stamp", 7, 1},    {2, 2, "zero"},
                      {4, 1, "stamp", 7, 2},    {5, 1, "moved", 7, 1, 0},
                      {6, 1, "moved", 7, 1, 1}, {7, 2, "other", filler, digest},
                      {9, 1, "stamp", 7, 3}};
  EXPECT_EQ(entries[0]["runs"], expected) << entries[0]["runs"].dump();
  EXPECT_FALSE(entries[0].contains("cut"));
}

TEST_F(DumpTest, RunsContinueAcrossReads) {
  put("f", stamps(1, 1, 0, 3 << 20));
  EXPECT_EQ(dump()[0]["runs"], json::parse(R"([[0,6144,"stamp",1,1]])"));
}

TEST_F(DumpTest, WalksInByteOrder) {
  fs::create_directories(folder_.path() / "b" / "c");
  put("b/c/x", "");
  put("b-", "");
  put("a", "");
  fs::create_symlink("nowhere", folder_.path() / "s");
  ::mkfifo((folder_.path() / "t").c_str(), 0600);  // a FIFO, which the dump must not open
  std::vector<std::string> seen;
  for (const json& entry : dump()) {
    seen.push_back(entry["path"].get<std::string>() + " " + entry["type"].get<std::string>() +
                   (entry.contains("target") ? " " + entry["target"].get<std::string>() : ""));
  }
  const std::vector<std::string> expected{"a file",     "b directory", "b/c directory",
                                          "b/c/x file", "b- file",     "s symlink nowhere",
                                          "t fifo"};
  EXPECT_EQ(seen, expected);
}

TEST_F(DumpTest, ReportsUserAttributes) {
  put("f", "");
  const std::string value = "one";
  const auto set = vfs_.setxattr("f", "user.x", std::as_bytes(std::span(value)));
  if (!set) GTEST_SKIP() << "the file system has no extended attributes";
  EXPECT_EQ(dump()[0]["attributes"], json::parse(R"({"user.x":"one"})"));
}

TEST_F(DumpTest, ReportsLongAndBinaryValues) {
  put("f", "");
  for (const auto& [name, word] :
       {std::pair{"user.long", "fill:2000"}, {"user.binary", "0x00ff80"}}) {
    const std::string value = *workload::parse_attribute_value(word);
    if (!vfs_.setxattr("f", name, std::as_bytes(std::span(value))))
      GTEST_SKIP() << "the file system lacks such attributes";
  }
  const json entry = dump()[0];
  EXPECT_EQ(entry["attributes"]["user.long"],
            workload::reported_attribute_value(*workload::parse_attribute_value("fill:2000")));
  EXPECT_EQ(entry["attributes-hex"], json::parse(R"({"user.binary":"00ff80"})"));
}

TEST_F(DumpTest, ReportsManyAttributesAndMarksTruncation) {
  put("f", "");
  const std::string value = "value";
  constexpr int kMany = 80;
  for (int i = 0; i < kMany; ++i) {
    const auto set =
        vfs_.setxattr("f", "user.a" + std::to_string(i), std::as_bytes(std::span(value)));
    if (!set) GTEST_SKIP() << "the file system holds too few extended attributes";
  }
  const auto all = dump();
  EXPECT_EQ(all[0]["attributes"].size(), static_cast<std::size_t>(kMany));
  EXPECT_FALSE(all[0].contains("attributes-cut"));
  const auto some = dump({.attributes = 64});
  EXPECT_EQ(some[0]["attributes"].size(), 64U);
  EXPECT_EQ(some[0]["attributes-cut"], true);
  EXPECT_FALSE(some[0].contains("cut")) << "the content is complete";
  const auto short_ones = dump({.attribute_bytes = 60});
  EXPECT_EQ(short_ones[0]["attributes"].size(), 3U);
  EXPECT_EQ(short_ones[0]["attributes-cut"], true);
}

TEST_F(DumpTest, LimitsTheSizeOfADump) {
  std::string content;
  for (std::uint32_t i = 0; i < 10; ++i) content += stamps(1, i, i * 512, 512);
  put("a", content);
  put("b", "");
  const auto runs = dump({.runs = 4});
  EXPECT_EQ(runs[0]["runs"].size(), 4U);
  EXPECT_EQ(runs[0]["cut"], true);
  fs::resize_file(folder_.path() / "b", 1ULL << 40);
  const auto files = dump({.file_bytes = 1 << 20});
  EXPECT_EQ(files[1]["runs"], json::parse(R"([[0,2048,"zero"]])"));
  EXPECT_EQ(files[1]["cut"], true);
  const auto many = dump_tree(vfs_, [](const json&) {}, {.entries = 1});
  EXPECT_EQ(many.error().value, EOVERFLOW);
}

TEST_F(DumpTest, ReportsUnlistableFolders) {
  PosixVfs nowhere((folder_.path() / "nowhere").string());
  EXPECT_EQ(dump_tree(nowhere, [](const json&) {}).error().value, ENOENT);
}

}  // namespace
}  // namespace headcrash::guest
