// headcrash explore --db: runs the exploration as a campaign with a single cell. The database
// contains this campaign in the form of a campaign file, so report, replay, trials and --resume
// need no special case.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/campaign/campaign.h"
#include "harness/campaign/trial/array_disk.h"
#include "harness/cli/attach.h"
#include "harness/cli/campaign_outcome.h"
#include "harness/cli/explored.h"
#include "harness/cli/run_progress.h"
#include "harness/cli/terminal.h"
#include "harness/oracle/verdict.h"
#include "plugin/base/size.h"
#include "plugin/base/stopwatch.h"
#include "plugin/states/run_history.h"
#include "results/report/report.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSmallestDiskBytes = 64ULL << 20;
constexpr const char* kFile = "explore.toml";

/// Makes a path absolute, so that a later command can use it from another directory.
std::string lasting(const std::string& name_or_path) {
  const bool path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml");
  return path ? std::filesystem::absolute(name_or_path).string() : name_or_path;
}

Result<campaign::Campaign> as_campaign(const ExploreArguments& arguments) {
  TRY(const auto filesystem, adapters::load_adapter(arguments.filesystem));
  TRY(const auto bytes, size_of_new_disk(arguments, filesystem));
  const explorer::StageMachine& machine = arguments.machine;
  // A string, a number or a list that is valid in JSON is also valid in TOML.
  std::string text = fmt::format(
      "title = {}\nseed = {}\ntrials = {}\nfilesystems = {}\n\n[device]\nsize = {}\nprefill = {}\n",
      json(fmt::format("The crash states of {} on {}", arguments.workload + arguments.application,
                       filesystem.name))
          .dump(),
      arguments.seed, arguments.trials, json{lasting(arguments.filesystem)}.dump(), bytes,
      json(arguments.prefill).dump());
  if (machine.is_array())
    text += fmt::format("profiles = {}\n", json{lasting(machine.profile)}.dump());
  if (!machine.faults.empty()) text += fmt::format("faults = {}\n", json(machine.faults).dump());
  if (!machine.faults_after_cut.empty())
    text += fmt::format("faults-after-cut = {}\n", json(machine.faults_after_cut).dump());
  if (arguments.application.empty())
    text += fmt::format("\n[workload]\nname = {}\nrounds = {}\n", json(arguments.workload).dump(),
                        arguments.rounds);
  else
    text += fmt::format("\n[workload]\napplication = {}\n",
                        json(lasting(arguments.application)).dump());
  if (in_virtual_time(arguments.kernel, filesystem.guest))
    text += "\n[guest]\nkind = \"virtual\"\n";
  text += fmt::format("\n[explore]\nstrategies = {}\nbudget = {}\nanswer-delay-us = {}\n",
                      json(strategies_of(arguments, machine)).dump(), arguments.budget,
                      arguments.disk.delay_us);
  if (!arguments.disk.slow.empty())
    text += fmt::format("slow = {}\nslow-us = {}\n", json(arguments.disk.slow).dump(),
                        arguments.disk.slow_us);
  return campaign::parse_campaign(text, kFile);
}

/// Returns the exit code of an exploration without a database: kFound if a failure was reproduced;
/// otherwise, kUsage if there was a harness error; otherwise, kFine.
int exit_code_of(const json& trials) {
  bool undone = false;
  for (const json& trial : trials) {
    const oracle::Verdict verdict = oracle::verdict_named(trial.value("verdict", ""));
    if (verdict == oracle::Verdict::harness_error)
      undone = true;
    else if (!oracle::keeps_promises(verdict))
      return kFound;
  }
  return undone ? kUsage : kFine;
}

}  // namespace

std::vector<std::string> strategies_of(const ExploreArguments& arguments,
                                       const explorer::StageMachine& machine) {
  if (!arguments.strategies.empty()) return arguments.strategies;
  if (machine.is_array()) return {"member", "physical"};
  return {"prefix", "lose-all", "reorder", "torn"};
}

Result<std::uint64_t> size_of_new_disk(const ExploreArguments& arguments,
                                       const adapters::LinuxAdapter& filesystem) {
  const std::uint64_t least = std::max(filesystem.minimum_size_bytes, kSmallestDiskBytes);
  if (arguments.size.empty()) return campaign::disk_bytes_of(arguments.machine, filesystem, least);
  TRY(const auto bytes, base::parse_size(arguments.size, "--size"));
  if (bytes < filesystem.minimum_size_bytes || bytes % model::kSectorBytes != 0) {
    return fail(
        "--size",
        fmt::format("{} is too small, or is not a multiple of the sector size", arguments.size),
        fmt::format("use a multiple of {} bytes; {} needs at least {} bytes", model::kSectorBytes,
                    filesystem.name, filesystem.minimum_size_bytes));
  }
  if (bytes / model::kSectorBytes > states::kStateSectorsMax)
    return fail("--size",
                fmt::format("{} exceeds the maximum disk size for crash states", arguments.size),
                "use 2T or less");
  return bytes;
}

int explore_into_database(const ExploreArguments& arguments) {
  const base::Stopwatch watch;
  if (arguments.workload.empty() && arguments.application.empty())
    return report_error(
        {"explore", "no workload to explore", "give --workload NAME or --application NAME"},
        arguments.as_json);
  const auto campaign = as_campaign(arguments);
  if (!campaign) return report_error(campaign.error(), arguments.as_json);
  const auto outcome = campaign::run_campaign(
      *campaign,
      {.database = arguments.database,
       .cache = campaign::default_cache(),
       .jobs = arguments.jobs,
       .resume = arguments.resume,
       .stop_at_first = arguments.stop_at_first,
       .on_progress = [&](const auto& progress) { show_progress(progress, arguments.verbosity); },
       .interrupted = &interrupted()});
  clear_line();
  if (!outcome) return report_error(outcome.error(), arguments.as_json);
  auto database = db::Database::open(arguments.database, db::Database::Access::read_only);
  if (!database) return report_error(database.error(), arguments.as_json);
  const auto summary = report::report_summary(*database, outcome->run);
  if (!summary) return report_error(summary.error(), arguments.as_json);
  print_outcome(
      *outcome, *summary,
      {.database = arguments.database, .seconds = watch.ms() / 1000, .as_json = arguments.as_json});
  if (outcome->interrupted) return report_interrupted();
  if (outcome->finished_before) report_finished_before(outcome->run);
  return finish_ci_of_run(arguments.ci, "headcrash explore", *database, outcome->run,
                          exit_code_of(summary->figures.at("trial_verdicts")), arguments.as_json);
}

}  // namespace headcrash::cli
