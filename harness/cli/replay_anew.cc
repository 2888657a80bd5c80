// Searches for a recorded finding in a new recording (replay_anew.h).
#include "harness/cli/replay_anew.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/campaign/campaign.h"
#include "harness/campaign/trial/explored_trial.h"
#include "harness/campaign/trial/known_finding.h"
#include "harness/cli/command.h"
#include "harness/run/guest_kind.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

campaign::KnownFinding known(const StoredOutcome& then) {
  campaign::KnownFinding known{.verdict = then.verdict, .what = {}};
  for (const oracle::Finding& each : then.findings)
    known.what.emplace(oracle::name(each.kind), oracle::name(each.tier));
  return known;
}

}  // namespace

Result<Replayed> replay_anew(const StoredTrial& trial) {
  auto campaign = campaign::parse_campaign(trial.configuration, trial.campaign);
  if (!campaign) return forward_error(campaign);
  auto plan = campaign::TrialPlans(*campaign).find(trial.key);
  if (!plan || plan->cell == nullptr)
    return fail(trial.database, fmt::format("its campaign has no trial \"{}\"", trial.key),
                "use the version of headcrash that created the database");
  campaign::ExploredCell cell = *plan->cell;
  cell.filesystem = trial.filesystem;
  if (cell.application) cell.application->add_to(cell.filesystem.guest);
  plan->cell = &cell;
  plan->filesystem = &cell.filesystem;

  TRY(auto scratch, base::ScratchFolder::make());
  const fs::path cache = campaign::default_cache(), artefacts = scratch.path() / "artefacts";
  std::error_code error;
  fs::create_directories(artefacts, error);
  if (error)
    return fail(artefacts.string(), error.message(), "set TMPDIR to a folder with free space");
  const vm::Accelerator accelerator = run::accelerator_of(trial.virtual_time, cache);
  TRY(const auto image, vm::guest_image(cache, cell.filesystem.guest, accelerator));
  const std::map<std::string, vm::GuestImage> images{{campaign::guest_of(cell.filesystem), image}};
  campaign::FormattedDisks disks(scratch.path() / "formatted");
  campaign::ExplorationWorker worker({.campaign = &*campaign,
                                      .disks = &disks,
                                      .images = &images,
                                      .accelerator = accelerator,
                                      .cache = cache,
                                      .database_folder = scratch.path(),
                                      .describes_failures = false,
                                      .interrupted = &interrupted()});
  TRY(const auto again, worker.run(*plan, artefacts, [](const std::string&) {}));
  const campaign::SoughtFinding sought = campaign::find_again(known(*trial.outcome), again);
  Replayed now{.what = fmt::format("{}, anew under Linux {}", again.key, image.kernel_version),
               .judgement = sought.judgement,
               .findings = {},
               .log = {}};
  if (sought.state == nullptr) return now;
  now.what += fmt::format(", {}", sought.state->name);
  for (const db::FindingRecord& each : sought.state->findings)
    now.findings.push_back(finding_of(each.kind, each.tier, each.path, each.expected, each.found));
  return now;
}

}  // namespace headcrash::cli
