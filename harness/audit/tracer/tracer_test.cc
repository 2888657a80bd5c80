// Runs the tracer on this host.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/audit/sites.h"
#include "harness/audit/tracer/report.h"
#include "plugin/base/descriptor.h"
#include "plugin/base/installation.h"
#include "plugin/base/process.h"
#include "plugin/base/scratch_folder.h"
#include "plugin/base/text_file.h"

namespace headcrash::audit {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotTrace = 126;
constexpr std::chrono::seconds kLimit{60};

class TracerProgram : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_);
    fs::create_directory(folder_ = scratch_->path() / "work");
  }

  /// Runs shell commands under the tracer.
  void run(const std::string& commands, std::vector<std::string> options = {}) {
    const fs::path report = scratch_->path() / "report", output = scratch_->path() / "output";
    std::vector<std::string> argv{"sh",
                                  "-c",
                                  "cd \"$1\" && shift && exec \"$@\"",
                                  "sh",
                                  folder_.string(),
                                  base::installation().tracer.string(),
                                  "--report",
                                  report.string()};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", "sh", "-c", commands});
    const base::Descriptor file(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    const auto process = base::Process::start({.argv = std::move(argv), .output = file.get()});
    ASSERT_TRUE(process) << process.error().message();
    const auto code = process->wait(kLimit);
    ASSERT_TRUE(code);
    if (*code == kCannotTrace) GTEST_SKIP() << "ptrace is not permitted";
    const auto text = base::read_text_file(report.string());
    ASSERT_TRUE(text) << text.error().message();
    const auto trace = parse_report(*text, "report");
    ASSERT_TRUE(trace) << trace.error().message();
    trace_ = *trace;
    EXPECT_EQ(trace_.exit_code, *code);
  }
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
  run("echo a > log; sync log . && echo succeeded > done", {"--skip", word});
  EXPECT_TRUE(fs::exists(folder_ / "done")) << "a skipped call must return 0";
  const auto sites = sites_of(trace_);
  ASSERT_EQ(sites.size(), 2U);
  EXPECT_EQ(sites[0].skipped, 1U);
  EXPECT_EQ(sites[0].ns, 0);
  EXPECT_EQ(sites[1].skipped, 0U);
}

TEST_F(TracerProgram, RemovesSynchronousFlags) {
  const std::string command = "dd if=/dev/zero of=file bs=512 count=1 oflag=dsync status=none";
  run(command);
  if (IsSkipped()) return;
  ASSERT_EQ(calls(), std::vector<std::string>{"O_DSYNC(file)"});
  run(command, {"--skip", sites_of(trace_)[0].word()});
  EXPECT_EQ(sites_of(trace_).at(0).skipped, 1U);
}

TEST_F(TracerProgram, ListsChangesThatAreUnflushedAtALine) {
  run("echo a > log; sync log; mv log value; echo done", {"--changes"});
  if (IsSkipped()) return;
  std::set<std::string> found;
  for (const auto& [site, change] : trace_.unflushed) found.insert(site.call + " " + change.target);
  EXPECT_EQ(found, (std::set<std::string>{"open .", "rename ."}));
}

TEST_F(TracerProgram, FlushesAfterAChange) {
  const std::string commands = "echo a > log; echo done";
  run(commands, {"--changes"});
  if (IsSkipped()) return;
  std::vector<std::string> options;
  for (const auto& [site, change] : trace_.unflushed)
    options.insert(options.end(), {"--flush", site.stack});
  ASSERT_EQ(options.size(), 4U);
  fs::remove(folder_ / "log");
  options.emplace_back("--changes");
  run(commands, options);
  EXPECT_EQ(trace_.flushed_by_tracer, 2U);
  EXPECT_TRUE(trace_.unflushed.empty());
}

}  // namespace
}  // namespace headcrash::audit
