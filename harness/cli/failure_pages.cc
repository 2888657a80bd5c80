// From failures in a database to pages, by way of their trials' recordings (failure_pages.h).
#include "harness/cli/failure_pages.h"

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/lab_command.h"
#include "harness/cli/stored_trial.h"
#include "harness/explorer/guests/record_workload.h"
#include "results/report/campaign/failure_pages.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

/// Of the verdict that is stored. False: there is no recording.
Result<bool> write_page(const db::Database& database, const report::FailurePage& page, const fs::path& path) {
  TrialArguments arguments;
  arguments.trial = std::to_string(page.trial);
  arguments.database = database.path();
  arguments.state = page.state;
  const auto trial = find_trial(arguments);
  if (!trial) return pass_on(trial);
  std::error_code error;
  if (trial->recording.empty() || !fs::exists(trial->recording, error)) return false;
  const auto opened = open_state(*trial);
  if (!opened) return pass_on(opened);
  const auto workload = explorer::open_recorded_workload(trial->recording);
  if (!workload) return pass_on(workload);
  CrashFile of{.run = opened->run.get(),
               .filesystem = &trial->filesystem,
               .state = opened->state,
               .faults = recorded_machine(opened->run->header(), trial->machine).faults_in_recovery(),
               .states = trial->states,
               .recovery_of = opened->recovery_of,
               .reproduce = {page.command}};
  if (trial->outcome) {
    of.judgement = {oracle::verdict_named(trial->outcome->verdict), trial->outcome->summary};
    of.checked = true;
    of.findings = trial->outcome->findings;
  }
  if (opened->recovery_of.empty()) of.workload = &*workload;
  if (const auto written = save_crash_file(of, path); !written) return pass_on(written);
  return true;
}

}  // namespace

Result<FailurePages> write_failure_pages(db::Database& database, std::optional<std::int64_t> run,
                                         const fs::path& folder) {
  const auto wanted = report::failure_pages(database, run, folder);
  if (!wanted) return pass_on(wanted);
  FailurePages pages;
  if (wanted->empty()) return pages;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(folder.string(), "cannot be made: " + error.message(), "choose another folder");
  for (const report::FailurePage& page : *wanted) {
    if (interrupted()) {
      pages.interrupted = true;
      break;
    }
    const auto made = page.recorded ? write_page(database, page, folder / page.file) : Result<bool>(false);
    if (!made) return pass_on(made);
    ++(*made ? pages.made : pages.without_recording);
  }
  return pages;
}

void tell(const FailurePages& pages, const fs::path& folder) {
  if (pages.made + pages.without_recording == 0) return;
  fmt::print(stderr, "headcrash: pages of failures made in {}: {}{}{}\n", folder.string(), pages.made,
             pages.without_recording > 0
                 ? fmt::format("; without a recording, not made: {}", pages.without_recording)
                 : "",
             pages.interrupted ? "; interrupted" : "");
}

}  // namespace headcrash::cli
