#include "harness/guest/exec.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::guest {
namespace {

using namespace std::chrono_literals;

ProgramEnd run(const std::vector<std::string>& argv, const std::string& input = {},
               std::chrono::milliseconds timeout = 20s) {
  const auto end = run_program({.argv = argv, .input = input, .timeout = timeout});
  EXPECT_TRUE(end);
  return end.value_or(ProgramEnd{});
}

TEST(RunProgram, ReturnsOutputAndExitCode) {
  const ProgramEnd end = run({"sh", "-c", "cat; echo wrong >&2; exit 3"}, "input");
  EXPECT_EQ(end.exit, 3);
  EXPECT_EQ(end.output, "input");
  EXPECT_EQ(end.errors, "wrong\n");
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(run({"sh", "-c", "kill -TERM $$"}).exit, 128 + SIGTERM);
  EXPECT_EQ(run({"cat"}).output, "");
}

TEST(RunProgram, ReportsWhyAProgramCannotStart) {
  EXPECT_EQ(run_program({.argv = {"no-such-program"}, .timeout = 1s}).error().value, ENOENT);
  EXPECT_EQ(run_program({.argv = {"/etc/passwd"}, .timeout = 1s}).error().value, EACCES);
  EXPECT_EQ(run_program({.argv = {}, .timeout = 1s}).error().value, EINVAL);
}

TEST(RunProgram, SetsTheEnvironmentAndDefaultSignals) {
  ::setenv("HEADCRASH_TEST", "own", 1);
  ::signal(SIGPIPE, SIG_IGN);  // the agent ignores SIGPIPE, too
  const std::vector<std::string> print{"sh", "-c",
                                       "echo $HEADCRASH_TEST; kill -PIPE $$; echo alive"};
  const auto given = run_program({.argv = print,
                                  .timeout = 20s,
                                  .environment = {"HEADCRASH_TEST=given", "PATH=/usr/bin:/bin"}});
  ASSERT_TRUE(given);
  EXPECT_EQ(given->output, "given\n");
  EXPECT_EQ(given->exit, 128 + SIGPIPE);
  EXPECT_EQ(run(print).output, "own\n") << "the caller's environment is unchanged";
  ::signal(SIGPIPE, SIG_DFL);
  ::unsetenv("HEADCRASH_TEST");
}

TEST(RunProgram, CallsTheEnterHookBeforeTheProgram) {
  if (::geteuid() != 0) GTEST_SKIP() << "a process namespace needs root";
  const auto end = run_program({.argv = {"sh", "-c", "pwd; echo $$"}, .timeout = 20s, .enter = [] {
                                  if (::chdir("/usr") != 0) ::_exit(1);
                                }});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->output, "/usr\n1\n");
  const auto missing = run_program({.argv = {"no-such-program"}, .timeout = 20s, .enter = [] {}});
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->exit, 127);
  EXPECT_EQ(missing->errors, "cannot execute no-such-program: No such file or directory\n");
}

TEST(RunProgram, KeepsTheEndOfLongOutput) {
  const ProgramEnd end = run({"sh", "-c", "head -c 10000000 /dev/zero; echo last"});
  EXPECT_EQ(end.output.size(), kKeptOutputBytes);
  EXPECT_EQ(end.output.substr(end.output.size() - 5), "last\n");
}

/// In a guest, the agent is process 1, so the orphans of a daemon become the agent's children.
TEST(RunProgram, ReapsOrphansWhileAProgramRuns) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const TemporaryFolder folder;
  const std::string pid = (folder.path() / "pid").string();
  const ProgramEnd end =
      run({"sh", "-c",
           "(sleep 0.2 & echo $! > " + pid + "); for i in $(seq 100); do kill -0 $(cat " + pid +
               ") 2>/dev/null || exit 0; sleep 0.05; done; exit 7"});
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  EXPECT_EQ(end.exit, 0) << "an unreaped orphan is a zombie";
}

TEST(RunProgram, KillsTheWholeProcessGroup) {
  const TemporaryFolder folder;
  const std::string pid_file = (folder.path() / "pid").string();
  const ProgramEnd end =
      run({"sh", "-c", "sleep 600 & echo $! > " + pid_file + "; sleep 600"}, "", 300ms);
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.exit, 128 + SIGKILL);
  EXPECT_LT(end.wall_ms, 2000);
  std::ifstream file(pid_file);
  pid_t grandchild = 0;
  ASSERT_TRUE(file >> grandchild);
  // The process may not die at once after the signal. A zombie also counts as dead, because its new
  // parent may not reap it.
  std::string state = "?";
  for (int tries = 0; tries < 200 && !state.empty() && state != "Z"; ++tries) {
    std::this_thread::sleep_for(10ms);
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string number, name;
    state.clear();
    stat >> number >> name >> state;
  }
  EXPECT_TRUE(state.empty() || state == "Z") << state;
}

TEST(RunProgram, StopsAnEndlessWriter) {
  const ProgramEnd end = run({"sh", "-c", "exec cat /dev/zero"}, "", 300ms);
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.output.size(), kKeptOutputBytes);
}

TEST(RunProgram, DoesNotWaitForADaemonThatKeepsThePipes) {
  const ProgramEnd end = run({"sh", "-c", "sleep 3 & echo done"});
  EXPECT_EQ(end.output, "done\n");
  EXPECT_LT(end.wall_ms, 2500);
}

}  // namespace
}  // namespace headcrash::guest
