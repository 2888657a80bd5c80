#include "harness/check/host_program.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>

#include "plugin/base/scratch_folder.h"

namespace headcrash::check {
namespace {

using Paths = std::set<std::filesystem::path>;

TEST(TracedPaths, AreAbsoluteAndIncludeResolvedDescriptors) {
  EXPECT_EQ(traced_paths(std::istringstream(
                "12 execve(\"/usr/bin/env\", [\"env\", \"/not/this\"], 0x7ff /* 3 vars */) = 0\n"
                "12 openat(AT_FDCWD</tmp/work>, \"data/../x\", O_RDONLY) = 3</tmp/work/x>\n"
                "12 openat(AT_FDCWD</tmp>, \"/lib/libc.so.6\", O_RDONLY) = 3</usr/lib/libc.so.6>\n"
                "12 newfstatat(3</usr/lib/libc.so.6>, \"\", {st_mode=S_IFREG}, AT_EMPTY_PATH) = 0\n"
                "12 access(\"relative\", R_OK) = 0\n"
                "12 +++ exited with 0 +++\n")),
            (Paths{"/usr/bin/env", "/tmp/work/x", "/lib/libc.so.6", "/usr/lib/libc.so.6"}));
}

TEST(TracedPaths, AreUnescaped) {
  EXPECT_EQ(traced_paths(std::istringstream(
                "1 access(\"/a\\\"b\\\\c\\303\\2741\\t\", R_OK) = 0\n1 access(\"/unfinished\n")),
            (Paths{"/a\"b\\c\xc3\xbc"
                   "1\t",
                   "/unfinished"}));
}

TEST(ExecutedPaths, IncludeOnlyExecveCalls) {
  EXPECT_EQ(executed_paths(std::istringstream(
                "12 execve(\"/usr/bin/env\", [\"env\", \"execve(\"], 0x7ff /* 3 vars */) = 0\n"
                "12 openat(AT_FDCWD</tmp>, \"/lib/libc.so.6\", O_RDONLY) = 3</usr/lib/libc.so.6>\n"
                "12 access(\"execve(/x)\", R_OK) = 0\n")),
            (Paths{"/usr/bin/env"}));
}

TEST(PreallocatedBytes, SumTheReservedSizesOfAllFiles) {
  EXPECT_EQ(preallocated_bytes(std::istringstream(
                "1 fallocate(3</t/log>, FALLOC_FL_KEEP_SIZE, 0, 1000) = 0\n"
                "1 fallocate(3</t/log>, FALLOC_FL_KEEP_SIZE, 1000, 500) = 0\n"
                "1 fallocate(4</t/data>, 0, 0, 30) = 0\n"
                "1 fallocate(4</t/data>, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 0, 9000) = 0\n"
                "1 access(\"fallocate(3</t/x>, 0, 0, 7)\", R_OK) = 0\n"
                "1 fallocate(5, 0, 0, 70) = 0\n")),
            1530U);
}

TEST(RunOnHost, ReportsOutputExitCodeAndFiles) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const auto folder = scratch->path() / "work";
  std::filesystem::create_directory(folder);
  const auto run =
      run_on_host({.argv = {"sh", "-c", "read a; echo got $a $B; cat /etc/passwd > x; exit 3"},
                   .environment = {{"PATH", "/usr/bin:/bin"}, {"B", "b c"}},
                   .folder = folder,
                   .input = "one\ntwo\n"},
                  scratch->path());
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(run->exit_code, 3);
  EXPECT_EQ(run->output, "got one b c\n");
  EXPECT_TRUE(run->paths.contains("/etc/passwd"));
  EXPECT_TRUE(run->paths.contains("/lib64/ld-linux-x86-64.so.2")) << "which no system call names";
  EXPECT_FALSE(run->paths.contains(folder / "x")) << "a file of the test, not of the program";
}

TEST(RunOnHost, AProgramThatCannotRunIsAnError) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const auto error_of = [&](std::vector<std::string> argv) {
    const auto run = run_on_host({.argv = std::move(argv),
                                  .environment = {{"PATH", "/usr/bin:/bin"}},
                                  .folder = scratch->path(),
                                  .input = {},
                                  .limit = std::chrono::seconds(1)},
                                 scratch->path());
    return run ? "none" : run.error().message();
  };
  EXPECT_NE(error_of({"there-is-no-such-program"}).find("cannot be started"), std::string::npos);
  EXPECT_NE(error_of({"sleep", "100"}).find("did not end within 1 s"), std::string::npos);
  EXPECT_NE(error_of({"sleep", "100"}).find("still running: sleep"), std::string::npos);
  EXPECT_NE(error_of({"dd", "if=/dev/zero", "bs=1M", "count=65"}).find("printed more than 64 MB"),
            std::string::npos);
  EXPECT_NE(error_of({"/usr"}).find("is a folder"), std::string::npos);
  const auto file_with = [&](const std::string& text, bool executable) {
    const auto path = scratch->path() / "program";
    std::ofstream(path, std::ios::binary) << text;
    std::filesystem::permissions(
        path, std::filesystem::perms::owner_exec,
        executable ? std::filesystem::perm_options::add : std::filesystem::perm_options::remove);
    return path.string();
  };
  EXPECT_NE(error_of({file_with("#!/no/such/shell\n", true)}).find("needs /no/such/shell"),
            std::string::npos);
  EXPECT_NE(error_of({file_with("#!/bin/sh\n", false)}).find("chmod +x"), std::string::npos);
  std::string foreign(4096, '\0');
  foreign.replace(0, 7, "\177ELF\2\1\1");
  foreign[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  EXPECT_NE(error_of({file_with(foreign, true)}).find("another processor"), std::string::npos);
}

TEST(RunOnHost, LeavesNoProcess) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const std::string pid_file = (scratch->path() / "pid").string();
  const auto run =
      run_on_host({.argv = {"sh", "-c", "setsid sleep 600 & echo $! > " + pid_file + "; sleep 600"},
                   .environment = {{"PATH", "/usr/bin:/bin"}},
                   .folder = scratch->path(),
                   .input = {},
                   .limit = std::chrono::seconds(1)},
                  scratch->path());
  EXPECT_FALSE(run);
  pid_t daemon = 0;
  ASSERT_TRUE(std::ifstream(pid_file) >> daemon);
  std::ifstream command_line("/proc/" + std::to_string(daemon) + "/cmdline");
  std::string arguments;
  std::getline(command_line, arguments);
  EXPECT_EQ(arguments, "") << "still running";
}

TEST(RunOnHost, CanBeInterrupted) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const std::atomic<bool> interrupted = true;
  const auto run = run_on_host({.argv = {"sleep", "600"},
                                .environment = {{"PATH", "/usr/bin:/bin"}},
                                .folder = scratch->path(),
                                .input = {},
                                .interrupted = &interrupted},
                               scratch->path());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace headcrash::check
