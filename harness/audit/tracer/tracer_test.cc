// Runs the tracer on this host.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "harness/audit/sites.h"
#include "harness/audit/source_place.h"
#include "harness/audit/tracer/report.h"
#include "plugin/base/descriptor.h"
#include "plugin/base/scratch_folder.h"
#include "plugin/base/text_file.h"

namespace headcrash::audit {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotTrace = 126;

class TracerProgram : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_);
    fs::create_directory(folder_ = scratch_->path() / "work");
  }

  /// Runs shell commands under the tracer. The tracer runs in a separate process, because it waits
  /// for all children of the process in which it runs.
  void run(const std::string& commands, TracerOptions options = {}) {
    options.argv = {"sh", "-c", commands};
    const fs::path report = scratch_->path() / "report";
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const base::Descriptor file(::open(output().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
      ::dup2(file.get(), STDOUT_FILENO);
      fs::current_path(folder_);
      const auto traced = trace(options);
      const bool written = traced && base::write_text_file(report.string(), report_text(*traced));
      ::_exit(!traced ? kCannotTrace : written ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kCannotTrace) GTEST_SKIP() << "ptrace is not permitted";
    const auto text = base::read_text_file(report.string());
    ASSERT_TRUE(text) << text.error().message();
    const auto parsed = parse_report(*text, "report");
    ASSERT_TRUE(parsed) << parsed.error().message();
    trace_ = *parsed;
  }
  fs::path output() const { return scratch_->path() / "output"; }
  std::vector<std::string> calls() const {
    std::vector<std::string> list;
    for (const Site& site : sites_of(trace_)) list.push_back(call_text(site));
    return list;
  }

  Result<base::ScratchFolder> scratch_ = base::ScratchFolder::make();
  fs::path folder_;
  Trace trace_;
};

TEST_F(TracerProgram, ListsTheFlushesOfAllChildrenInOrder) {
  run("echo a > log; sync log; (sync .) & wait; sync -d log; exit 3");
  if (IsSkipped()) return;
  EXPECT_EQ(trace_.exit_code, 3);
  EXPECT_EQ(calls(), (std::vector<std::string>{"fsync(log)", "fsync(.)", "fdatasync(log)"}));
  EXPECT_GT(sites_of(trace_)[0].ns, 0);
  EXPECT_LT(sites_of(trace_)[0].ns, trace_.ns);
  EXPECT_FALSE(sites_of(trace_)[0].frames.empty());
}

TEST_F(TracerProgram, AStackHasTheSameKeyInEachRun) {
  run("echo a > log; sync log");
  if (IsSkipped()) return;
  const std::string first = sites_of(trace_).at(0).word();
  run("echo a > log; sync log");
  EXPECT_EQ(sites_of(trace_).at(0).word(), first);
}

TEST_F(TracerProgram, SkipsOnlyTheCallsOfASite) {
  run("echo a > log; sync log .");
  if (IsSkipped()) return;
  const std::string word = sites_of(trace_).at(0).word();
  run("echo a > log; sync log . && echo succeeded > done", {.skip = {word}});
  EXPECT_TRUE(fs::exists(folder_ / "done")) << "a skipped call must return 0";
  const auto sites = sites_of(trace_);
  ASSERT_EQ(sites.size(), 2U);
  EXPECT_EQ(sites[0].skipped, 1U);
  EXPECT_EQ(sites[0].ns, 0);
  EXPECT_EQ(sites[1].skipped, 0U);
}

TEST_F(TracerProgram, ASkippedCallIsNotExecuted) {
  run("sync /dev/null");
  if (IsSkipped()) return;
  EXPECT_EQ(trace_.exit_code, 1) << "a device without data cannot be synced";
  run("sync /dev/null", {.skip = {sites_of(trace_).at(0).word()}});
  EXPECT_EQ(trace_.exit_code, 0);
}

TEST_F(TracerProgram, RemovesSynchronousFlags) {
  const std::string command =
      "perl -MFcntl -e 'sysopen(F, \"file\", O_WRONLY | O_CREAT | O_DSYNC) or die;"
      "open(I, \"/proc/self/fdinfo/\" . fileno(F)) or die; print <I>'";
  constexpr std::size_t kLineOfFlags = 1;
  const auto flags = [&] {
    std::istringstream lines(base::read_text_file(output().string()).value_or(""));
    std::string line;
    for (std::size_t i = 0; i <= kLineOfFlags; ++i) std::getline(lines, line);
    return std::stoull(line.substr(line.find_first_of("0123456789")), nullptr, 8);
  };
  run(command);
  if (IsSkipped()) return;
  ASSERT_EQ(calls(), std::vector<std::string>{"O_DSYNC(file)"});
  EXPECT_NE(flags() & O_DSYNC, 0U);
  run(command, {.skip = {sites_of(trace_)[0].word()}});
  EXPECT_EQ(sites_of(trace_).at(0).skipped, 1U);
  EXPECT_EQ(flags() & O_SYNC, 0U);
}

constexpr const char* kFileToFlush = "HEADCRASH_FILE_TO_FLUSH";

[[gnu::noinline]] int flush_descriptor(int descriptor) {
  return ::fsync(descriptor) + 1;
}
[[gnu::noinline]] int first_caller(int descriptor) {
  return flush_descriptor(descriptor) + 1;
}
[[gnu::noinline]] int second_caller(int descriptor) {
  return flush_descriptor(descriptor) + 2;
}

/// Started by the next test in a traced process; skipped otherwise.
TEST(TracedProgram, FlushesFromTwoCallers) {
  const char* const path = std::getenv(kFileToFlush);
  if (path == nullptr) GTEST_SKIP() << "the tracer's test runs it";
  const base::Descriptor file(::open(path, O_WRONLY | O_CREAT, 0600));
  EXPECT_EQ(first_caller(file.get()) + second_caller(file.get()), 5);
}

TEST_F(TracerProgram, CallersOfACommonFunctionAreSeparateSites) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  run("ASAN_OPTIONS=detect_leaks=0 " + std::string(kFileToFlush) + "=file " + self +
      " --gtest_filter=TracedProgram.*");
  if (IsSkipped()) return;
  const auto sites = sites_of(trace_);
  ASSERT_EQ(sites.size(), 2U);
  ASSERT_GE(sites[0].frames.size(), 2U);
  EXPECT_NE(source_place(sites[0].frames[0]).function.find("flush_descriptor"), std::string::npos);
  EXPECT_NE(source_place(sites[0].frames[1]).function.find("first_caller"), std::string::npos);
  EXPECT_NE(source_place(sites[1].frames[1]).function.find("second_caller"), std::string::npos);
}

TEST_F(TracerProgram, ListsChangesUnflushedWhenALineIsPrinted) {
  run("echo a > log; sync log; mv log value; echo done", {.list_changes = true});
  if (IsSkipped()) return;
  std::set<std::string> found;
  for (const auto& [site, change] : trace_.unflushed) found.insert(site.call + " " + change.target);
  EXPECT_EQ(found, (std::set<std::string>{"open .", "rename ."}));
}

TEST_F(TracerProgram, FlushesAfterRequestedChanges) {
  const std::string commands = "echo a > log; echo done";
  run(commands, {.list_changes = true});
  if (IsSkipped()) return;
  TracerOptions options{.list_changes = true};
  for (const auto& [site, change] : trace_.unflushed) options.flush.insert(site.stack);
  ASSERT_EQ(options.flush.size(), 2U);
  fs::remove(folder_ / "log");
  run(commands, options);
  EXPECT_EQ(trace_.flushed_by_tracer, 2U);
  EXPECT_TRUE(trace_.unflushed.empty());
}

}  // namespace
}  // namespace headcrash::audit
