// headcrash campaign: runs crash-and-recover trials and prints their results.
#include "harness/campaign/campaign.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>

#include "harness/campaign/schemes/schemes_campaign.h"
#include "harness/campaign/schemes/schemes_plan.h"
#include "harness/campaign/selection.h"
#include "harness/campaign/surveys/io_errors_campaign.h"
#include "harness/campaign/surveys/unsynced_cell.h"
#include "harness/cli/campaign_outcome.h"
#include "harness/cli/command.h"
#include "harness/cli/failure_pages.h"
#include "harness/cli/run_progress.h"
#include "harness/cli/terminal.h"
#include "plugin/base/stopwatch.h"
#include "results/report/campaign/io_errors_page.h"
#include "results/report/campaign/unsynced_page.h"
#include "results/report/report.h"

namespace headcrash::cli {
namespace {

struct CampaignArguments {
  report::CiFiles ci;
  std::string campaign, database = kDefaultDatabase, shard, html;
  std::size_t jobs = 1;
  campaign::Selection selection;
  Verbosity verbosity = Verbosity::normal;
  bool plan = false, resume = false, redo_errors = false, stop_at_first = false, as_json = false;
};

struct CampaignForecast {
  std::string name, title, takes;
  std::vector<std::string> filesystems;
  /// Totals of all shards. states_most is 0 if trials have only a single cut.
  std::uint64_t trials = 0, states_most = 0;
};

/// Returns the forecast for a survey, with the survey's cells grouped by file system.
template <typename Cell>
Result<CampaignForecast> survey_forecast(const std::string& name,
                                         const campaign::CampaignSummary& summary,
                                         const Result<std::vector<Cell>>& cells) {
  if (!cells) return forward_error(cells);
  CampaignForecast forecast{.name = name, .title = summary.title, .trials = cells->size()};
  if (name == summary.name) forecast.takes = summary.takes;
  for (const Cell& cell : *cells)
    if (forecast.filesystems.empty() || forecast.filesystems.back() != cell.filesystem)
      forecast.filesystems.push_back(cell.filesystem);
  return forecast;
}

/// Loads a campaign file and reduces the campaign to the selected part.
Result<campaign::Campaign> load_selection(const std::string& name,
                                          const campaign::Selection& selection) {
  auto loaded = campaign::load_campaign(name, selection.kernels, selection.guest);
  if (!loaded) return loaded;
  TRY(campaign::keep_selection(*loaded, selection));
  return loaded;
}

/// Fails if options select a part of a survey or schemes campaign. For such a campaign, the name
/// itself selects the part.
Result<void> check_selection(const std::string& name, const campaign::Selection& selection) {
  if ((selection.whole() && selection.kernels.empty() && selection.guest.empty()) ||
      !(campaign::parse_schemes_campaign(name) || campaign::parse_io_errors_campaign(name) ||
        campaign::parse_unsynced_campaign(name)))
    return {};
  const std::string family = name.substr(0, name.find('/'));
  if (selection.whole())
    return fail(selection.guest.empty() ? "--kernel" : "--guest",
                fmt::format("does not apply to {}", family),
                "omit this option, or run a campaign from a file");
  return fail(selection.filesystems.empty() ? "--trials" : "--only",
              fmt::format("does not apply to {}, whose parts are selected by name", family),
              fmt::format("use {}/{}, for example; to run fewer trials, use --shard", family,
                          selection.filesystems.empty() ? "PART" : selection.filesystems.front()));
}

Result<CampaignForecast> campaign_forecast(const std::string& name,
                                           const campaign::Selection& selection) {
  if (const auto schemes = campaign::parse_schemes_campaign(name)) {
    TRY(const auto plan, campaign::SchemesPlan::create(*schemes));
    const campaign::CampaignSummary summary = campaign::schemes_campaign_summary(*schemes->type);
    CampaignForecast forecast{.name = name,
                              .title = summary.title,
                              .trials = plan.size(),
                              .states_most = plan.size() * schemes->budget};
    if (name == summary.name) forecast.takes = summary.takes;
    std::set<std::string> seen;
    for (std::uint64_t i = 0; i < plan.size(); ++i) {
      const std::string filesystem = plan.at(i).system->full_name();
      // The plan cycles through all schemes in a fixed order, so when a scheme recurs, all of them
      // have been listed.
      if (!seen.insert(filesystem).second) break;
      forecast.filesystems.push_back(filesystem);
    }
    return forecast;
  }
  if (const auto survey = campaign::parse_io_errors_campaign(name))
    return survey_forecast(name, campaign::io_errors_campaign_summary(),
                           campaign::io_error_cells(*survey));
  if (const auto unsynced = campaign::parse_unsynced_campaign(name))
    return survey_forecast(name, campaign::unsynced_campaign_summary(),
                           campaign::unsynced_cells(*unsynced));
  TRY(const auto loaded, load_selection(name, selection));
  const campaign::TrialPlans plans(loaded);
  CampaignForecast forecast{.name = loaded.name,
                            .title = loaded.title,
                            .takes = loaded.takes,
                            .trials = plans.size(),
                            .states_most = plans.states_most()};
  for (const adapters::LinuxAdapter* filesystem : campaign::filesystems_of(loaded))
    if (std::ranges::find(forecast.filesystems, filesystem->name) == forecast.filesystems.end())
      forecast.filesystems.push_back(filesystem->name);
  if (!selection.whole()) forecast.takes.clear();  // the text is valid only for the whole campaign
  return forecast;
}

int plan_only(const CampaignArguments& arguments, const run::Shard& shard) {
  const auto forecast = campaign_forecast(arguments.campaign, arguments.selection);
  if (!forecast) return report_error(forecast.error(), arguments.as_json);
  const std::uint64_t of_shard =
      forecast->trials / shard.count + (forecast->trials % shard.count > shard.index ? 1 : 0);
  if (arguments.as_json) {
    print({{"campaign", forecast->name},
           {"title", forecast->title},
           {"filesystems", forecast->filesystems},
           {"trials", forecast->trials},
           {"trials_of_shard", of_shard},
           {"states_most", forecast->states_most}});
    return kFine;
  }
  fmt::print(
      "{}: {}\n{} trials{}{}{}\nfile systems: {}\n", forecast->name, forecast->title,
      forecast->trials, shard.count > 1 ? fmt::format(", {} of them in this shard", of_shard) : "",
      forecast->states_most > 0 ? fmt::format(", at most {} crash states", forecast->states_most)
                                : "",
      forecast->takes.empty() ? "" : "; " + forecast->takes, fmt::join(forecast->filesystems, " "));
  return kFine;
}

Result<campaign::CampaignOutcome> run_trials(const CampaignArguments& arguments,
                                             const run::Shard& shard) {
  const campaign::CampaignOptions options{
      .database = arguments.database,
      .cache = campaign::default_cache(),
      .jobs = arguments.jobs,
      .resume = arguments.resume,
      .redo_errors = arguments.redo_errors,
      .stop_at_first = arguments.stop_at_first,
      .shard = shard,
      .on_progress = [verbosity = arguments.verbosity](
                         const auto& progress) { show_progress(progress, verbosity); },
      .interrupted = &interrupted()};
  if (const auto schemes = campaign::parse_schemes_campaign(arguments.campaign)) {
    catch_interrupts();
    return campaign::run_schemes_campaign(*schemes, options);
  }
  if (const auto survey = campaign::parse_io_errors_campaign(arguments.campaign)) {
    catch_interrupts();
    return campaign::run_io_errors_campaign(*survey, options);
  }
  if (const auto unsynced = campaign::parse_unsynced_campaign(arguments.campaign)) {
    catch_interrupts();
    return campaign::run_unsynced_campaign(*unsynced, options);
  }
  TRY(const auto loaded, load_selection(arguments.campaign, arguments.selection));
  catch_interrupts();
  return campaign::run_campaign(loaded, options);
}

/// Writes the report for --html. The pages of the failures are written first, because the report
/// links only to existing pages. If a run is interrupted, its report is written when the run is
/// resumed.
Result<void> write_html(db::Database& database, const campaign::CampaignOutcome& outcome,
                        const CampaignArguments& arguments) {
  if (arguments.html.empty() || outcome.interrupted) return {};
  TRY(const auto pages, write_failure_pages(database, outcome.run, arguments.html));
  tell(pages, arguments.html);
  TRY(const auto written,
      report::write_report(database, {.output = arguments.html, .run = outcome.run}));
  fmt::print(stderr, "headcrash: report: {}\n", written.page.string());
  return {};
}

/// Prints the outcome of a survey. The exit code is kFine if all cells were measured and all
/// controls had the expected outcome.
template <typename Report>
int report_survey(const Result<Report>& report, const campaign::CampaignOutcome& outcome,
                  const CampaignArguments& arguments, double seconds) {
  if (!report) return report_error(report.error(), arguments.as_json);
  if (arguments.as_json) {
    nlohmann::json whole = report->summary;
    whole["seconds"] = seconds;
    print(whole);
  } else {
    fmt::print("{}run {}: {} of {} trials, {:.0f} s\n", report->text, outcome.run,
               outcome.done_before + outcome.done_now, outcome.planned, seconds);
  }
  if (outcome.interrupted) return report_interrupted();
  return report->valid && report->not_measured == 0 ? kFine : kFound;
}

/// A survey has no test cases: it counts outcomes, and most of its cells have no required one.
Result<void> check_ci(const CampaignArguments& arguments) {
  const bool survey = campaign::parse_io_errors_campaign(arguments.campaign) ||
                      campaign::parse_unsynced_campaign(arguments.campaign);
  if (!survey || !arguments.ci.any()) return {};
  return fail(arguments.campaign, "is a survey, which has no test cases",
              "omit --junit, --sarif, --summary and --annotations; --json prints the counts");
}

int run(const CampaignArguments& arguments) {
  const Result<run::Shard> shard = parse_shard(arguments.shard);
  if (!shard) return report_error(shard.error(), arguments.as_json);
  if (const auto fits = check_selection(arguments.campaign, arguments.selection); !fits)
    return report_error(fits.error(), arguments.as_json);
  if (const auto fits = check_ci(arguments); !fits)
    return report_error(fits.error(), arguments.as_json);
  if (arguments.plan) return plan_only(arguments, *shard);
  const base::Stopwatch watch;
  const auto outcome = run_trials(arguments, *shard);
  const double seconds = watch.ms() / 1000;
  clear_line();
  if (!outcome) return report_error(outcome.error(), arguments.as_json);
  if (outcome->contradiction) {
    report_error(*outcome->contradiction, arguments.as_json);
    return kContradiction;
  }
  Result<db::Database> database =
      db::Database::open(arguments.database, db::Database::Access::read_only);
  if (!database) return report_error(database.error(), arguments.as_json);
  if (const auto written = write_html(*database, *outcome, arguments); !written)
    return report_error(written.error(), arguments.as_json);
  if (campaign::parse_io_errors_campaign(arguments.campaign))
    return report_survey(report::io_errors_report(*database, outcome->run), *outcome, arguments,
                         seconds);
  if (campaign::parse_unsynced_campaign(arguments.campaign))
    return report_survey(report::unsynced_report(*database, outcome->run), *outcome, arguments,
                         seconds);
  const Result<report::Summary> summary = report::report_summary(*database, outcome->run);
  if (!summary) return report_error(summary.error(), arguments.as_json);
  const bool schemes = campaign::parse_schemes_campaign(arguments.campaign).has_value();
  print_outcome(*outcome, *summary,
                {.database = arguments.database,
                 .seconds = seconds,
                 .guests = schemes ? Guests::none : Guests::some,
                 .as_json = arguments.as_json});
  if (outcome->interrupted) return report_interrupted();
  if (outcome->finished_before) report_finished_before(outcome->run);
  const int exit_code =
      summary->figures.value("unexpected", 1) == 0 && summary->figures.value("valid", false)
          ? kFine
          : kFound;
  return finish_ci_of_run(arguments.ci, arguments.campaign, *database, outcome->run, exit_code,
                          arguments.as_json);
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
  add_database_option(*command, arguments->database, MadeIfMissing::yes);
  command
      ->add_option(
          "--jobs", arguments->jobs,
          "Number of concurrent trials; with a real clock and few cores, concurrent trials delay "
          "each other's completions")
      ->check(between(1, 256))
      ->capture_default_str();
  command->add_flag("--plan", arguments->plan, "Show the plan; start nothing");
  command->add_flag(
      "--resume", arguments->resume,
      "Resume the newest unfinished run of this campaign; finished trials are not repeated");
  command->add_flag(
      "--redo-errors", arguments->redo_errors,
      "Resume the newest run, finished or not, and repeat trials whose verdict is harness-error");
  command->add_option(
      "--shard", arguments->shard,
      "Run only part i of n: every n-th trial (for ufs-schemes: every n-th workload), starting "
      "with the i-th");
  command
      ->add_option("--only", arguments->selection.filesystems,
                   "Run the campaign only on these file systems, as a separate run")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option(
          "--trials", arguments->selection.trials,
          "Run at most this many trials of each file system on each device, as a separate run")
      ->check(between(std::int64_t{1}, std::int64_t{1'000'000}));
  add_kernels_option(*command, arguments->selection.kernels);
  add_guest_option(*command, arguments->selection.guest,
                   "the file's setting; another setting starts a separate run");
  command->add_flag("--stop-at-first", arguments->stop_at_first,
                    "ufs-schemes: stop at the first workload with an unexpected outcome");
  command->add_option("--html", arguments->html,
                      "Folder for the report and a page of each failure whose recording was kept");
  add_ci_options(*command, arguments->ci);
  add_verbosity_options(*command, arguments->verbosity);
  command->add_flag("--json", arguments->as_json, "Print the outcome as JSON");
  command->footer(
      "Examples:\n  headcrash campaign demo --plan\n  headcrash campaign demo --plan --only xfs --trials 2\n  headcrash campaign demo --db demo.db\n  headcrash "
      "campaign demo --db demo.db --resume\n"
      "  headcrash campaign smoke --db smoke.db --html smoke-report\n"
      "  headcrash campaign smoke --guest virtual --db smoke.db --jobs 2\n"
      "  headcrash campaign mine.toml --db mine.db --jobs 2 --json\n"
      "  headcrash campaign ufs-schemes --db ufs.db\n"
      "  headcrash campaign ufs-schemes/chains,soft-updates/reuse --stop-at-first --db ufs.db\n"
      "  headcrash campaign ufs-schemes/soft-updates/io-errors --db ufs.db\n"
      "  headcrash campaign ufs-schemes/soft-updates/damage --db ufs.db\n"
      "  headcrash campaign ufs-schemes/all/ace-seq2 --shard 7/1000 --db ufs.db\n"
      "  headcrash campaign io-errors/ext4/journal --db errors.db\n"
      "  headcrash campaign unsynced-loss/ext4/short --db loss.db --jobs 4\n\n"
      "Exit code 1: a file system broke its promises, or a control had an unexpected result; for io-errors and\n"
      "unsynced-loss: a cell could not be measured, or a control had an unexpected result.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
