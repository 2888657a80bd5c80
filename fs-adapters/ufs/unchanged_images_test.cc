// Tests that file systems without features are not affected by the code for features: each scheme
// writes the same bytes, in the same order and at the same virtual times, as before features were
// added (the checksums are from commit aa55efc).

#include <fmt/format.h>

#include <map>

#include "fs-adapters/ufs/testing/mounted.h"
#include "plugin/base/crc32c.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;
using bench::Setup;

void use_everything(Vfs& fs) {
  for (const char* folder : {"p", "q"}) EXPECT_TRUE(fs.mkdir(folder, 0755));
  for (std::size_t i = 0; i < 30; ++i)
    bench::put_file(fs, fmt::format("p/f{}", i), std::string(300 + 700 * i, 'a'));
  for (int i = 0; i < 30; i += 2) EXPECT_TRUE(fs.unlink(fmt::format("p/f{}", i)));
  EXPECT_TRUE(fs.rename("p/f3", "q/moved", RenameMode::replace));
  EXPECT_TRUE(fs.rename("p/f5", "p/f7", RenameMode::replace));
  EXPECT_TRUE(fs.rename("p/f9", "p/f11", RenameMode::exchange));
  EXPECT_TRUE(fs.mkdir("p/deep", 0755));
  bench::put_file(fs, "p/deep/x", std::string(90'000, 'x'));
  EXPECT_TRUE(fs.rename("p/deep", "q/deep", RenameMode::replace));
  EXPECT_TRUE(fs.sync());
  const auto file = fs.open("q/deep/x", {});
  ASSERT_TRUE(file);
  EXPECT_TRUE(fs.truncate(*file, 61'000));
  EXPECT_TRUE(fs.close(*file));
  EXPECT_TRUE(fs.symlink(std::string(1000, 't'), "q/link"));
  EXPECT_TRUE(fs.link("p/f13", "q/second"));
  EXPECT_TRUE(fs.unlink("p/f13"));
  EXPECT_TRUE(fs.unlink("q/deep/x"));
  EXPECT_TRUE(fs.rmdir("q/deep"));
}

struct Seen {
  std::uint32_t writes = 0;  ///< checksum of all writes
  std::int64_t ended_us = 0;
};

Seen seen_under(const Setup& setup) {
  Mounted m(setup);
  m.log.keep = true;
  m.mount();
  m.as_user([&] { use_everything(*m.file_system); });
  m.unmount();
  Seen seen{.ended_us = m.executor.now() / 1000};
  for (const os::LoggedStore::Write& write : m.log.log) {
    seen.writes = crc32c(std::as_bytes(std::span(&write.lba, 1)), seen.writes);
    seen.writes = crc32c(write.bytes, seen.writes);
  }
  return seen;
}

const std::map<std::string, Seen>& expected() {
  static const std::map<std::string, Seen> kSeen{
      {"no-order", {0xc4fe2871, 34000}},
      {"conventional", {0xd117fd3a, 132000}},
      {"conventional-init", {0xb8de46d5, 246000}},
      {"conventional-bsd", {0x86251a7c, 167000}},
      {"full", {0x4777efdf, 131000}},
      {"back", {0x4777efdf, 131000}},
      {"part-nr-cb", {0xcca6159f, 164000}},
      {"part-nr-cb-init", {0x5b13abb9, 244000}},
      {"chains", {0x344d6546, 130000}},
      {"chains-cb", {0x3f3c9128, 161000}},
      {"chains-cb-init", {0x31a33cde, 135000}},
      {"chains-barrier-cb", {0x34c4d0c6, 161000}},
      {"soft-updates", {0x68bc7bbc, 69000}},
      {"soft-updates-init", {0x99231626, 75000}},
      {"soft-updates-init-cb", {0x99231626, 75000}},
      {"journal", {0xb350d35b, 66000}},
      {"journal-sync", {0xa5cb43fa, 238000}},
      {"journal-data", {0x380629f7, 67000}},
      {"journal-late-removal", {0xd9510e12, 74000}},
      {"journal-cb", {0xb350d35b, 66000}},
  };
  return kSeen;
}

class UnchangedImages : public testing::TestWithParam<Setup> {};

TEST_P(UnchangedImages, MatchThoseWrittenBeforeOptionalFeaturesExisted) {
  const Seen seen = seen_under(GetParam());
  const auto known = expected().find(GetParam().name);
  if (known == expected().end()) GTEST_SKIP() << "added later";
  EXPECT_EQ(seen.writes, known->second.writes);
  EXPECT_EQ(seen.ended_us, known->second.ended_us);
}

INSTANTIATE_TEST_SUITE_P(All, UnchangedImages, testing::ValuesIn(bench::all_setups()),
                         bench::test_name);

}  // namespace
}  // namespace headcrash::ufs
