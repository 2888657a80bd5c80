#include "harness/bench/fio_job.h"

#include <gtest/gtest.h>

#include "plugin/base/process.h"

namespace headcrash::bench {
namespace {

TEST(FioJob, WhatFioTakesIsFine) {
  EXPECT_TRUE(check_fio_job("[a]\nrw=randwrite\nbs=4k\nsize=2M\n", "mine.fio"));
}

TEST(FioJob, WhatItDoesNotTakeIsAnErrorWithItsLine) {
  if (!base::Process::start({.argv = {"fio", "--version"}})) GTEST_SKIP() << "there is no fio here";
  const auto value = check_fio_job("[a]\nrw=randwrte\nsize=2M\n", "mine.fio");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().subject, "mine.fio");
  EXPECT_NE(value.error().problem.find("rw=randwrte"), std::string::npos) << value.error().message();
  const auto key = check_fio_job("[a]\nrw=randwrite\nbogus_key=4k\nsize=2M\n", "mine.fio");
  ASSERT_FALSE(key);
  EXPECT_NE(key.error().problem.find("bogus_key"), std::string::npos) << key.error().message();
}

}  // namespace
}  // namespace headcrash::bench
