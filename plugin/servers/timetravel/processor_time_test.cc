// Tests the measurement with two processes that compute, one of which is a child of the other.
#include "plugin/servers/timetravel/processor_time.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

namespace headcrash::timetravel {
namespace {

std::int64_t own_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

[[noreturn]] void compute_and_stop(std::int64_t ns) {
  const std::int64_t until = own_ns() + ns;
  while (own_ns() < until) {
  }
  ::raise(SIGSTOP);
  ::_exit(0);
}

TEST(ProcessorTime, CountsAProcessAndItsChildrenFromTheStart) {
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    ::raise(SIGSTOP);
    if (const pid_t child = ::fork(); child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      compute_and_stop(30'000'000);
    }
    int status = 0;
    ::waitpid(-1, &status, WUNTRACED);
    compute_and_stop(20'000'000);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, WUNTRACED), parent);
  auto time = ProcessorTime::of(parent);
  ASSERT_TRUE(time) << time.error().message();
  EXPECT_EQ(time->take_ns(), 0);
  ::kill(parent, SIGCONT);
  ASSERT_EQ(::waitpid(parent, &status, WUNTRACED), parent);
  const std::int64_t used = time->take_ns();
  EXPECT_GE(used, 50'000'000);
  EXPECT_LT(used, 150'000'000);
  EXPECT_EQ(time->take_ns(), 0) << "the time was already returned";
  ::kill(parent, SIGKILL);
  ::waitpid(parent, &status, 0);
}

TEST(ProcessorTime, FailsForAMissingProcess) {
  const auto none = ProcessorTime::of(INT32_MAX);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::timetravel
