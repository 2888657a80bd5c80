#include "harness/bench/fio_job.h"

#include <gtest/gtest.h>

#include "plugin/base/process.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::bench {
namespace {

TEST(FioJob, AcceptsValidJobs) {
  EXPECT_TRUE(check_fio_job("[a]\nrw=randwrite\nbs=4k\nsize=2M\n", "mine.fio"));
}

TEST(FioJob, ErrorsNameTheInvalidLine) {
  if (!base::Process::start({.argv = {"fio", "--version"}})) GTEST_SKIP() << "fio is not installed";
  const auto value = check_fio_job("[a]\nrw=randwrte\nsize=2M\n", "mine.fio");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().subject, "mine.fio");
  EXPECT_NE(value.error().problem.find("rw=randwrte"), std::string::npos)
      << value.error().message();
  const auto key = check_fio_job("[a]\nrw=randwrite\nbogus_key=4k\nsize=2M\n", "mine.fio");
  ASSERT_FALSE(key);
  EXPECT_NE(key.error().problem.find("bogus_key"), std::string::npos) << key.error().message();
}

TEST(FioJob, IncludesIologs) {
  const TemporaryFolder folder;
  folder.put(
      "t.log",
      "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda write 8388608 4096\n/dev/sda close\n");
  std::string job = "[a]\nread_iolog = t.log\n[b]\nrw=read\n";
  const auto extras = parse_fio_extras(job, folder.path());
  ASSERT_TRUE(extras) << extras.error().message();
  ASSERT_EQ(extras->iologs.size(), 1U);
  EXPECT_EQ(extras->iologs[0], folder.get("t.log"));
  EXPECT_EQ(extras->replayed_bytes, 8388608U + 4096);
  EXPECT_EQ(job, "[a]\nread_iolog={iolog0}\nreplay_redirect={root}/replayed\n[b]\nrw=read\n");
  folder.put("bad.log", "fio version 2 iolog\n/dev/sda erase 0 4096\n");
  std::string wrong = "[a]\nread_iolog=bad.log\n";
  const auto refused = parse_fio_extras(wrong, folder.path());
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().subject.ends_with("bad.log: line 2")) << refused.error().message();
  std::string missing = "[a]\nread_iolog=none.log\n";
  EXPECT_FALSE(parse_fio_extras(missing, folder.path()));
}

TEST(FioJob, ParsesTimeLimits) {
  const auto of = [](std::string job) { return parse_fio_extras(job, ".").value(); };
  EXPECT_TRUE(of("[a]\ntime_based\nruntime=5\n").time_based);
  EXPECT_TRUE(of("[a]\ntime_based=1\nruntime=2m\n").time_based);
  EXPECT_FALSE(of("[a]\ntime_based=0\nruntime=5\n").time_based);
  EXPECT_FALSE(of("[a]\nsize=5M\n").time_based);
  EXPECT_EQ(of("[a]\nruntime=5\n[b]\nruntime=2m\n").runtime_s, 120);
  EXPECT_EQ(of("[a]\nruntime = 500ms\n").runtime_s, 0.5);
}

}  // namespace
}  // namespace headcrash::bench
