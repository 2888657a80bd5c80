// headcrash bench: runs timed comparisons in guests and prints the results.
#include "harness/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "harness/cli/command.h"
#include "harness/cli/run_progress.h"
#include "harness/cli/terminal.h"
#include "results/report/frame/text_table.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;

constexpr double kMsPerS = 1000;

struct BenchArguments {
  std::string bench, database = kDefaultDatabase, shard, guest;
  std::size_t jobs = 1;
  std::vector<std::string> kernels;
  std::optional<double> charge;
  Verbosity verbosity = Verbosity::normal;
  bool plan = false, resume = false, as_json = false;
};

json or_null(const std::optional<double>& value) {
  return value ? json(*value) : json();
}

json describe(const bench::BenchForecast& forecast) {
  json cells = json::array();
  for (const auto& cell : forecast.each)
    cells.push_back({{"cell", cell.key},
                     {"parameters", cell.parameters},
                     {"scale", cell.scale},
                     {"trial_s", or_null(cell.trial_s)},
                     {"estimate_from", cell.origin}});
  return {{"cells", cells},
          {"trials_least", forecast.least},
          {"trials_most", forecast.most},
          {"least_s", or_null(forecast.least_s)},
          {"most_s", or_null(forecast.most_s)}};
}

void print_forecast(const bench::Bench& bench, const bench::BenchForecast& forecast,
                    std::size_t jobs) {
  fmt::print(
      "{}: {}\n{} cells, {} to {} trials each (until the mean is known to within {:g} %), "
      "{} at a time\n",
      bench.name, bench.title, forecast.cells, bench.least, bench.most, bench.interval * 100,
      jobs == 1 ? "one" : std::to_string(jobs));
  for (const bench::BenchDevice& device : bench.devices)
    fmt::print("  {}: clock {}\n", device.name, device.clock);
  report::TextTable cells({"", ">", "", ""});
  for (const auto& cell : forecast.each)
    cells.add({cell.key, cell.trial_s ? duration_text(*cell.trial_s) : "",
               cell.trial_s ? fmt::format("per trial (from {})", cell.origin) : "no estimate yet",
               cell.parameters});
  fmt::print("{}", cells.text());
  if (forecast.least_s)
    fmt::print("{} to {} in total, according to these estimates\n",
               duration_text(*forecast.least_s), duration_text(*forecast.most_s));
  else
    fmt::print("the total cannot be estimated until the first trials have finished\n");
}

json describe(const bench::BenchOutcome& outcome) {
  json cells = json::array();
  for (const bench::CellOutcome& cell : outcome.cells) {
    json phases = json::array();
    for (const auto& [label, time] : cell.phases) {
      phases.push_back(
          {{"phase", label},
           {"repetitions", time.count},
           {"median_s", time.median / kMsPerS},
           {"mean_s", time.mean / kMsPerS},
           {"mean_low_s", time.mean_interval ? json(time.mean_interval->low / kMsPerS) : json()},
           {"mean_high_s", time.mean_interval ? json(time.mean_interval->high / kMsPerS) : json()},
           {"least_s", time.least / kMsPerS},
           {"greatest_s", time.greatest / kMsPerS}});
    }
    cells.push_back({{"cell", cell.key},
                     {"trials", cell.trials},
                     {"failed", cell.failed},
                     {"failure", cell.failure.empty() ? json() : json(cell.failure)},
                     {"phases", phases}});
  }
  return {{"run", outcome.run},
          {"trials_planned", outcome.planned},
          {"trials_done_before", outcome.done_before},
          {"trials_done_now", outcome.done_now},
          {"interrupted", outcome.interrupted},
          {"finished_before", outcome.finished_before},
          {"cells", cells}};
}

void print_outcome(const bench::BenchOutcome& outcome, const bench::Bench& bench) {
  fmt::print(
      "run {}: {} of {} trials{}; seconds {}: median (95 % confidence interval of the mean; "
      "n)\n",
      outcome.run, outcome.done_before + outcome.done_now, outcome.planned,
      outcome.done_before > 0 ? fmt::format(" ({} of them before)", outcome.done_before) : "",
      bench.quiescence ? "until all writes reached the device" : "until the last call returned");
  report::TextTable cells({"", ""});
  for (const bench::CellOutcome& cell : outcome.cells) {
    std::string text;
    for (const auto& [label, time] : cell.phases) {
      if (!text.empty()) text += "  ";
      text += fmt::format("{} {:.2f}", label, time.median / kMsPerS);
      if (time.mean_interval)
        text += fmt::format(" ({:.2f}-{:.2f}; {})", time.mean_interval->low / kMsPerS,
                            time.mean_interval->high / kMsPerS, time.count);
      else
        text += fmt::format(" (n={})", time.count);
    }
    if (cell.failed > 0) {
      if (!text.empty()) text += "  ";
      text += fmt::format("{} of {} trials failed", cell.failed, cell.trials);
      if (!cell.failure.empty()) text += ": " + cell.failure;
    }
    cells.add({cell.key, text});
  }
  fmt::print("{}", cells.text(0));
}

int plan_only(const bench::Bench& bench, const run::Shard& shard, const BenchArguments& arguments) {
  const auto forecast = bench::forecast(bench, shard, arguments.jobs, arguments.database);
  if (!forecast) return report_error(forecast.error(), arguments.as_json);
  if (arguments.as_json)
    print(describe(*forecast));
  else
    print_forecast(bench, *forecast, arguments.jobs);
  return kFine;
}

int run(const BenchArguments& arguments) {
  const auto shard = parse_shard(arguments.shard);
  if (!shard) return report_error(shard.error(), arguments.as_json);
  const auto loaded = bench::load_bench(
      arguments.bench,
      {.kernels = arguments.kernels, .kind = arguments.guest, .charge = arguments.charge});
  if (!loaded) return report_error(loaded.error(), arguments.as_json);
  if (arguments.plan) return plan_only(*loaded, *shard, arguments);
  catch_interrupts();
  const auto outcome = bench::run_bench(
      *loaded,
      {.database = arguments.database,
       .cache = campaign::default_cache(),
       .resume = arguments.resume,
       .shard = *shard,
       .jobs = arguments.jobs,
       .on_progress =
           [&arguments](const auto& progress) { show_progress(progress, arguments.verbosity); },
       .interrupted = &interrupted()});
  clear_line();
  if (!outcome) return report_error(outcome.error(), arguments.as_json);
  if (arguments.as_json)
    print(describe(*outcome));
  else
    print_outcome(*outcome, *loaded);
  if (outcome->interrupted) return report_interrupted();
  if (outcome->finished_before) report_finished_before(outcome->run);
  const bool failed = std::any_of(outcome->cells.begin(), outcome->cells.end(),
                                  [](const bench::CellOutcome& cell) { return cell.failed > 0; });
  return failed ? kFound : kFine;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "bench", "Measures the speed of workloads on file systems and emulated devices, in guests");
  const auto arguments = std::make_shared<BenchArguments>();
  command
      ->add_option("BENCH", arguments->bench,
                   "A built-in benchmark (headcrash list benchmarks) or a .toml file")
      ->required();
  add_database_option(*command, arguments->database, MadeIfMissing::yes);
  command
      ->add_option("--jobs", arguments->jobs,
                   "Number of concurrent trials; more than one requires guests in virtual time")
      ->check(between(1, 256))
      ->capture_default_str();
  command->add_flag("--plan", arguments->plan,
                    "Show the plan and an estimate of the time; start nothing");
  command->add_flag(
      "--resume", arguments->resume,
      "Resume the newest unfinished run of this benchmark; finished trials are not repeated");
  command->add_option("--shard", arguments->shard,
                      "Run only part i of n: every n-th group of file systems, starting with the "
                      "i-th");
  add_kernels_option(*command, arguments->kernels);
  add_guest_option(*command, arguments->guest, "the file's setting");
  command->add_option(
      "--charge", arguments->charge,
      "With guests in virtual time: charge the host's processor time to the guest's clock, "
      "multiplied by K; times are then not reproducible. Default: the file's setting, else none");
  add_verbosity_options(*command, arguments->verbosity);
  command->add_flag("--json", arguments->as_json, "Print the plan or the outcome as JSON");
  command->footer(
      "Examples:\n  headcrash bench quick --plan\n  headcrash bench quick --db bench.db\n"
      "  headcrash bench quick --guest virtual --db virtual.db --jobs 2\n"
      "  headcrash bench quick --guest virtual --charge 1 --db charged.db\n"
      "  headcrash bench mine.toml --db bench.db --resume\n  headcrash report --db bench.db\n\n"
      "Exit code 1: a trial failed; its reason is in the database.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
