// Writes pages for the failures in a database, using the recordings of their trials
// (failure_pages.h).
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

/// Writes a page that shows the stored verdict. Returns false if the recording is missing.
Result<bool> write_page(const db::Database& database, const report::FailurePage& page,
                        const fs::path& path) {
  TrialArguments arguments;
  arguments.trial = std::to_string(page.trial);
  arguments.database = database.path();
  arguments.state = page.state;
  TRY(const auto trial, find_trial(arguments));
  std::error_code error;
  if (trial.recording.empty() || !fs::exists(trial.recording, error)) return false;
  TRY(const auto opened, open_state(trial));
  TRY(const auto workload, explorer::open_recorded_workload(trial.recording));
  CrashFile of{.run = opened.run.get(),
               .filesystem = &trial.filesystem,
               .state = opened.state,
               .faults = recorded_machine(opened.run->header(), trial.machine).faults_in_recovery(),
               .states = trial.states,
               .recovery_of = opened.recovery_of,
               .reproduce = {page.command}};
  if (trial.outcome) {
    of.judgement = {oracle::verdict_named(trial.outcome->verdict), trial.outcome->summary};
    of.checked = true;
    of.findings = trial.outcome->findings;
  }
  if (opened.recovery_of.empty()) of.workload = &workload;
  TRY(save_crash_file(of, path));
  return true;
}

}  // namespace

Result<FailurePages> write_failure_pages(db::Database& database, std::optional<std::int64_t> run,
                                         const fs::path& folder) {
  TRY(const auto wanted, report::failure_pages(database, run, folder));
  FailurePages pages;
  if (wanted.empty()) return pages;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail(folder.string(), "cannot be created: " + error.message(), "choose another folder");
  for (const report::FailurePage& page : wanted) {
    if (interrupted()) {
      pages.interrupted = true;
      break;
    }
    TRY(const auto made,
        page.recorded ? write_page(database, page, folder / page.file) : Result<bool>(false));
    ++(made ? pages.made : pages.without_recording);
  }
  return pages;
}

void tell(const FailurePages& pages, const fs::path& folder) {
  if (pages.made + pages.without_recording == 0) return;
  fmt::print(
      stderr, "headcrash: pages of failures written to {}: {}{}{}\n", folder.string(), pages.made,
      pages.without_recording > 0
          ? fmt::format("; not written, because no recording was kept: {}", pages.without_recording)
          : "",
      pages.interrupted ? "; interrupted" : "");
}

}  // namespace headcrash::cli
