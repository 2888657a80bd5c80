#include "plugin/base/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "plugin/base/descriptor.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::base {
namespace {

using namespace std::chrono_literals;

std::string state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  file >> number >> name >> state;
  return state;
}

TEST(Process, ReportsExitCodeAndSignal) {
  const auto end = [](const char* script) {
    auto process = Process::start({.argv = {"sh", "-c", script}});
    EXPECT_TRUE(process);
    return process->wait(20s);
  };
  EXPECT_EQ(end("exit 7"), 7);
  EXPECT_EQ(end("kill -TERM $$"), 128 + SIGTERM);
}

TEST(Process, StartFailsIfTheProgramIsMissing) {
  const auto process = Process::start({.argv = {"no-such-program"}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().subject, "no-such-program");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Process, WaitTimesOut) {
  auto process = Process::start({.argv = {"sleep", "100"}});
  ASSERT_TRUE(process);
  EXPECT_TRUE(process->running());
  EXPECT_FALSE(process->wait(20ms));
  process->kill();
  EXPECT_FALSE(process->running());
  EXPECT_EQ(process->wait(0ms), 128 + SIGKILL);
}

TEST(Process, DestructorKillsTheChild) {
  pid_t pid = -1;
  {
    auto process = Process::start({.argv = {"sleep", "100"}});
    ASSERT_TRUE(process);
    const Process moved = std::move(*process);
    pid = moved.pid();
    EXPECT_NE(state_of(pid), "");
  }
  EXPECT_EQ(state_of(pid), "");
}

TEST(Process, ChildDiesWithAKilledHarness) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t harness = ::fork();
  if (harness == 0) {
    const auto process = Process::start({.argv = {"sleep", "100"}});
    const pid_t pid = process ? process->pid() : -1;
    [[maybe_unused]] const ssize_t told = ::write(ends[1], &pid, sizeof pid);
    ::pause();
  }
  pid_t pid = -1;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  for (const int end : ends) ::close(end);
  ::kill(harness, SIGKILL);
  ::waitpid(harness, nullptr, 0);
  std::string state = state_of(pid);
  for (int tries = 0; tries < 200 && !state.empty() && state != "Z"; ++tries) {
    std::this_thread::sleep_for(10ms);
    state = state_of(pid);
  }
  // Empty if the orphan has been reaped, "Z" if it is still a zombie.
  EXPECT_TRUE(state.empty() || state == "Z") << state;
}

TEST(Process, TerminalInterruptDoesNotReachTheChild) {
  const pid_t harness = ::fork();
  if (harness == 0) {
    ::setpgid(0, 0);
    ::signal(SIGINT, [](int) {});
    const auto process = Process::start({.argv = {"sleep", "100"}});
    ::kill(0, SIGINT);  // like a terminal's Ctrl-C
    ::_exit(process && !process->wait(200ms) ? 0 : 1);
  }
  int status = -1;
  ::waitpid(harness, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Process, ChildInheritsOnlyTheGivenDescriptors) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out").string();
  const Descriptor out(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  const Descriptor low(::open("/dev/null", O_RDWR));
  // The child must not inherit this descriptor, although its close-on-exec flag is not set. Its
  // number is at least 30, because the shell uses lower numbers for its pipe.
  const Descriptor kept(::fcntl(low.get(), F_DUPFD, 30));
  auto process = Process::start(
      {.argv = {"sh", "-c", "echo first >&3; echo second >&4; ls /proc/$$/fd | tr '\\n' ' '"},
       .output = out.get(),
       .inherit = {out.get(), out.get()}});
  ASSERT_TRUE(process);
  EXPECT_EQ(process->wait(20s), 0);
  std::ifstream file(path);
  std::string first, second, list;
  std::getline(file, first);
  std::getline(file, second);
  std::getline(file, list);
  EXPECT_EQ(first + " " + second, "first second");
  EXPECT_TRUE(list.starts_with("0 1 2 3 4 ")) << list;
  EXPECT_EQ(list.find(' ' + std::to_string(kept.get()) + ' '), std::string::npos) << list;
}

}  // namespace
}  // namespace headcrash::base
