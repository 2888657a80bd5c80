// Runs SQLite in a guest and cuts the power. Commits must survive, unless SQLite never syncs.
// harness/workload/application.h describes the steps.
#include <gtest/gtest.h>

#include <chrono>

#include "harness/campaign/testing/served_guest.h"
#include "harness/oracle/application_verdict.h"
#include "harness/workload/application.h"

namespace headcrash::campaign {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

class ApplicationGuest : public ServedGuest {
 protected:
  ApplicationGuest()
      : ServedGuest({.profile = "hp-c2447",
                     .size_bytes = 64ULL << 20,
                     .options = {.write_cache = true},
                     .clock = profiles::kClockOff,
                     .seed = 11}) {}

  void mount_and_put(const workload::Application& application) {
    mount();
    for (const auto& [name, text] : application.files)
      must({{"do", "put"},
            {"path", std::string(workload::kApplicationFolder) + "/" + name},
            {"text", text}});
  }
  bool has_tools(const workload::Application& application) {
    return std::all_of(application.tools.begin(), application.tools.end(),
                       [&](const std::string& tool) {
                         return exec({"sh", "-c", "command -v " + tool}).value("exit", 1) == 0;
                       });
  }

  /// Runs the application until the power is cut, and returns the texts of the marks before the
  /// cut.
  std::vector<std::string> run_until_cut(const workload::Application& application,
                                         const std::string& when) {
    std::vector<std::string> marks;
    control({{"power", "cut"}, {"when", when}});
    const auto sent =
        guest_->send({{"id", 1'000'000},
                      {"do", "run-application"},
                      {"commands", workload::argvs(application, application.run, kRoot)},
                      {"mark", "/dev/vdb"},
                      {"timeout_ms", kStepMs}});
    EXPECT_TRUE(sent);
    const auto deadline = steady_clock::now() + 120s;
    while (steady_clock::now() < deadline) {
      const auto message = guest_->receive(20ms);
      const bool off = control({{"power", "status"}}).value("power", "") == "off";
      for (auto next = message; next; next = off ? guest_->receive(0ms) : std::nullopt) {
        if (next->value("event", "") == "persisted")
          marks.push_back("persisted " + next->value("text", ""));
        EXPECT_TRUE(off || !next->contains("ok"))
            << "the answer arrived before the cut: " << next->dump(1);
      }
      if (off) return marks;
    }
    ADD_FAILURE() << "the power was not cut: " << when;
    return marks;
  }

  std::vector<oracle::Finding> power_cut_in(const std::string& name, const std::string& when) {
    const auto application = workload::load_application(name);
    EXPECT_TRUE(application) << application.error().message();
    start_guest();
    if (HasFatalFailure()) return {};
    if (!has_tools(*application)) {
      no_tools_ = true;
      return {};
    }
    EXPECT_EQ(exec({"mkfs.ext4", "-q", "-F", "/dev/vda"}).value("exit", 1), 0);
    mount_and_put(*application);
    for (const auto& argv : workload::argvs(*application, application->prepare, kRoot)) {
      const json end = exec(argv);
      EXPECT_EQ(end.value("exit", 1), 0) << end.dump(1);
    }
    exec({"sync"});
    control({{"clock", "real"}});
    const auto marks = run_until_cut(*application, when);
    EXPECT_GT(marks.size(), 5U);
    guest_->kill();
    control({{"power", "on"}});
    start_guest();
    if (HasFatalFailure()) return {};
    mount_and_put(*application);
    const json end = exec(workload::argvs(*application, application->verify, kRoot).at(0),
                          oracle::verifier_input(marks));
    const auto findings = oracle::application_findings({.exit_code = end.value("exit", -1),
                                                        .output = end.value("stdout", ""),
                                                        .errors = end.value("stderr", "")});
    EXPECT_TRUE(findings) << findings.error().message() << end.dump(1);
    RecordProperty(name, std::to_string(marks.size()) + " marks: " + end.value("stdout", ""));
    return findings ? *findings : std::vector<oracle::Finding>{};
  }

  bool no_tools_ = false;
};

TEST_F(ApplicationGuest, SqliteKeepsItsCommits) {
  const auto findings = power_cut_in("sqlite", "after-mark:persisted 12+7.5");
  if (no_tools_) GTEST_SKIP() << "sqlite3 is not installed in the guest";
  for (const oracle::Finding& finding : findings)
    ADD_FAILURE() << oracle::name(finding.kind) << " " << finding.path << ": " << finding.found;
}

TEST_F(ApplicationGuest, SqliteWithoutSyncLosesCommits) {
  const auto findings = power_cut_in("sqlite+wal-off", "after-mark:persisted 12+7.5");
  if (no_tools_) GTEST_SKIP() << "sqlite3 is not installed in the guest";
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(oracle::judge_trial({}, findings).verdict, oracle::Verdict::lost_synced_data);
}

}  // namespace
}  // namespace headcrash::campaign
