// headcrash campaign: runs crash-and-recover trials and tells how they came out.
#include "harness/campaign/campaign.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "harness/cli/command.h"
#include "results/report/report.h"

namespace headcrash::cli {
namespace {

struct CampaignArguments {
  std::string campaign, database = "headcrash.db", shard;
  std::size_t jobs = 1;
  bool resume = false, as_json = false;
};

/// One line a finished trial; on a terminal also the step under way.
void show(const campaign::CampaignProgress& progress) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (progress.trial == nullptr) {
    if (terminal)
      fmt::print(stderr, "\r\033[K[{}/{}] {}: {}", progress.done, progress.planned, progress.running,
                 progress.phase);
    return;
  }
  const std::string left = progress.left_s ? fmt::format(", {:.0f} s left", *progress.left_s) : "";
  fmt::print(stderr, "{}[{}/{}{}] {}: {} ({:.1f} s)\n", terminal ? "\r\033[K" : "", progress.done,
             progress.planned, left, progress.running, progress.trial->verdict,
             progress.trial->wall_ms / 1000);
}

Result<campaign::Shard> parse_shard(const std::string& text) {
  campaign::Shard shard;
  if (text.empty()) return shard;
  unsigned index = 0, count = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%u/%u%c", &index, &count, &rest) != 2 || index < 1 || index > count ||
      count > 100'000) {
    return fail("--shard", "\"" + text + "\" is not a shard",
                "write i/n with i from 1 to n, for example 2/8");
  }
  return campaign::Shard{index - 1, count};
}

void print_outcome(const campaign::CampaignOutcome& outcome, const nlohmann::json& summary,
                   const CampaignArguments& arguments) {
  if (arguments.as_json) {
    nlohmann::json whole = summary;
    whole["run"] = outcome.run;
    whole["trials_planned"] = outcome.planned;
    whole["trials_done_before"] = outcome.done_before;
    whole["trials_done_now"] = outcome.done_now;
    whole["interrupted"] = outcome.interrupted;
    print(whole);
    return;
  }
  fmt::print("run {}: {} of {} trials{}\n", outcome.run, outcome.done_before + outcome.done_now,
             outcome.planned,
             outcome.done_before > 0 ? fmt::format(" ({} of them before)", outcome.done_before) : "");
  fmt::print("{}\n", summary.value("answer", ""));
}

int run(const CampaignArguments& arguments) {
  const Result<campaign::Shard> shard = parse_shard(arguments.shard);
  if (!shard) return tell(shard.error(), arguments.as_json);
  const Result<campaign::Campaign> loaded = campaign::load_campaign(arguments.campaign);
  if (!loaded) return tell(loaded.error(), arguments.as_json);
  catch_interrupts();
  const auto outcome = campaign::run_campaign(*loaded, {.database = arguments.database,
                                                        .cache = campaign::default_cache(),
                                                        .jobs = arguments.jobs,
                                                        .resume = arguments.resume,
                                                        .shard = *shard,
                                                        .on_progress = show,
                                                        .interrupted = &interrupted()});
  if (!outcome) return tell(outcome.error(), arguments.as_json);
  Result<db::Database> database = db::Database::open(arguments.database, db::Database::Access::read_only);
  if (!database) return tell(database.error(), arguments.as_json);
  const Result<nlohmann::json> summary = report::report_summary(*database, outcome->run);
  if (!summary) return tell(summary.error(), arguments.as_json);
  print_outcome(*outcome, *summary, arguments);
  if (outcome->interrupted) {
    fmt::print(stderr, "headcrash: interrupted; go on with: headcrash campaign {} --db {} --resume\n",
               arguments.campaign, arguments.database);
    return kInterrupted;
  }
  return summary->value("unexpected", 1) == 0 ? kFine : kFound;
}

}  // namespace

void add_campaign(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("campaign", "Runs crash-and-recover trials on file systems in guests");
  const auto arguments = std::make_shared<CampaignArguments>();
  command
      ->add_option("CAMPAIGN", arguments->campaign,
                   "A built-in campaign (headcrash list campaigns) or a .toml file")
      ->required();
  command->add_option("--db", arguments->database, "Results database; made if missing")
      ->capture_default_str();
  command
      ->add_option("--jobs", arguments->jobs,
                   "Trials at a time; more than one makes real-time completions late on few cores")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_flag("--resume", arguments->resume,
                    "Go on with the newest unfinished run of this campaign, if there is one");
  command->add_option("--shard", arguments->shard, "i/n: only every n-th trial, beginning with the i-th");
  command->add_flag("--json", arguments->as_json, "Print the outcome as JSON");
  command->footer(
      "Examples:\n  headcrash campaign demo --db demo.db\n  headcrash campaign demo --db demo.db --resume\n"
      "  headcrash campaign mine.toml --db mine.db --jobs 2 --json\n\n"
      "Exit code 1: a file system lost what it promises to keep, or a control did not lose what it must.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
