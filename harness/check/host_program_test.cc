#include "harness/check/host_program.h"

#include <gtest/gtest.h>

#include <sstream>

#include "plugin/base/scratch_folder.h"

namespace headcrash::check {
namespace {

using Paths = std::set<std::filesystem::path>;

TEST(TracedPaths, AreAbsoluteAndFollowDescriptors) {
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

TEST(PreallocatedBytes, CountEachFileOnceAndOnlyReservations) {
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
}

}  // namespace
}  // namespace headcrash::check
