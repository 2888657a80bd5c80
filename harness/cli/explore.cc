// headcrash explore: the crash states of one recorded workload, each recovered, mounted and judged in guests.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "harness/campaign/array_disk.h"
#include "harness/cli/command.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/lab_command.h"
#include "harness/explorer/exploration.h"
#include "harness/explorer/failure_report.h"
#include "harness/explorer/plain_checks.h"
#include "harness/workload/catalogue.h"
#include "plugin/base/size.h"
#include "plugin/record/recording.h"
#include "plugin/states/run_history.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kSmallestDiskBytes = 64ULL << 20;
constexpr const char* kRecordingName = "workload.hcrec";
constexpr std::size_t kFailuresShown = 20;

struct ExploreArguments {
  std::string recording, filesystem, workload, application, size, keep, html;
  std::vector<std::string> strategies;
  std::uint64_t budget = 1000, seed = 1;
  std::uint32_t rounds = 60;
  std::size_t jobs = 2;
  bool as_json = false, minimise = false, stop_at_first = false;
  std::string prefill = "pattern";
  explorer::DiskOptions disk;
  explorer::StageMachine machine;
  KernelArguments kernel;
  std::string atomic_write = "512";
};

/// What an exploration needs and finds.
struct Explored {
  adapters::LinuxAdapter filesystem;
  explorer::StageMachine machine;
  std::vector<workload::Operation> operations;       ///< of --workload
  std::optional<workload::Application> application;  ///< of --application
  std::unique_ptr<explorer::Lab> lab;
  explorer::RecordedWorkload workload;
  explorer::ExplorationResult result;
  std::map<std::string, std::uint64_t> verdicts;
  std::vector<explorer::JudgedState> states;
  double cpu_s = 0;
};

/// Of this process, of the children that have ended, and of those that run (fields 14 and 15 of
/// /proc/PID/stat).
double own_cpu_seconds() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      total += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    long parent = 0;
    unsigned long user = 0, system = 0;
    const std::size_t at = line.rfind(')');
    if (at == std::string::npos ||
        std::sscanf(line.c_str() + at + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &parent,
                    &user, &system) != 3) {
      continue;
    }
    if (parent == ::getpid())
      total += static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return total;
}

/// Its size, and what it is.
Result<std::uint64_t> choose_disk(const ExploreArguments& arguments, Explored& explored) {
  const adapters::LinuxAdapter& filesystem = explored.filesystem;
  explored.machine = arguments.machine;
  if (!arguments.recording.empty()) {
    const auto reader = record::RecordingReader::open(arguments.recording);
    if (!reader) return pass_on(reader);
    explored.machine = recorded_machine(reader->header(), arguments.machine);
    return recorded_disk_bytes(arguments.recording, reader->header(), filesystem);
  }
  const std::uint64_t least = std::max(filesystem.minimum_size_bytes, kSmallestDiskBytes);
  if (arguments.size.empty()) return campaign::disk_bytes_of(explored.machine, filesystem, least);
  const auto bytes = base::parse_size(arguments.size, "--size");
  if (!bytes) return pass_on(bytes);
  if (*bytes < filesystem.minimum_size_bytes || *bytes % model::kSectorBytes != 0) {
    return fail("--size", fmt::format("{} is too small or not whole sectors", arguments.size),
                fmt::format("{} needs at least {} bytes", filesystem.name, filesystem.minimum_size_bytes));
  }
  if (*bytes / model::kSectorBytes > states::kStateSectorsMax)
    return fail("--size", fmt::format("{} is more than crash states are made of", arguments.size),
                "give 2T or less");
  return *bytes;
}

Result<void> as_result(const oracle::Judgement& judgement, const std::string& subject) {
  return fail(subject, fmt::format("{} ({})", judgement.summary, oracle::name(judgement.verdict)));
}

explorer::DiskOptions disk_options(const ExploreArguments& arguments) {
  explorer::DiskOptions options = arguments.disk;
  options.used = arguments.prefill == "pattern";
  options.seed = arguments.seed;
  return options;
}

/// mkfs and the workload on the first guest; both recordings lie in one folder.
Result<explorer::RecordedWorkload> record(const ExploreArguments& arguments, Explored& explored) {
  const fs::path folder =
      arguments.keep.empty() ? explored.lab->scratch() / "recordings" : fs::path(arguments.keep);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(folder.string(), error.message(), "choose a folder that can be written");
  explorer::StageGuest& guest = explored.lab->guest(0);
  const auto disk = explorer::format_disk(guest, explored.filesystem, folder / "formatted.hcrec",
                                          explorer::uuid_from(arguments.seed), disk_options(arguments));
  if (!disk) return pass_on(as_result(disk.error(), "mkfs of " + explored.filesystem.name));
  const fs::path recording = folder / kRecordingName;
  auto recorded =
      explored.application
          ? explorer::record_application(guest, explored.filesystem, *disk, *explored.application, recording)
          : explorer::record_workload(guest, explored.filesystem, *disk, explored.operations, recording);
  if (!recorded) return pass_on(as_result(recorded.error(), arguments.workload + arguments.application));
  return std::move(*recorded);
}

Result<explorer::RecordedWorkload> open(const ExploreArguments& arguments, const Explored& explored) {
  auto opened = explorer::open_recorded_workload(arguments.recording, arguments.workload.empty()
                                                                          ? std::vector<workload::Operation>{}
                                                                          : explored.operations);
  if (opened && explored.application) opened->application = explored.application;
  return opened;
}

Result<explorer::ExplorationOptions> options_of(const ExploreArguments& arguments,
                                                const explorer::StageMachine& machine) {
  explorer::ExplorationOptions options{.explore = {.seed = arguments.seed, .budget = arguments.budget}};
  std::vector<std::string> strategies = arguments.strategies;
  if (strategies.empty() && machine.is_array()) strategies = {"member", "physical"};
  if (strategies.empty()) strategies = {"prefix", "lose-all", "reorder", "torn"};
  for (const std::string& word : strategies) {
    const auto strategy = states::parse_strategy(word);
    if (!strategy) return pass_on(strategy);
    options.explore.strategies.push_back(*strategy);
  }
  const auto atomic = base::parse_size(arguments.atomic_write, "--atomic-write");
  if (!atomic) return pass_on(atomic);
  const auto sectors = states::atomic_sectors_of(*atomic, "--atomic-write " + arguments.atomic_write);
  if (!sectors) return pass_on(sectors);
  options.explore.atomic_sectors = *sectors;
  options.interrupted = &interrupted();
  options.stop_at_first = arguments.stop_at_first;
  return options;
}

void show_progress(const explorer::StateOutcome& outcome, std::uint64_t checked) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{} {} {}: {}", checked, states::name(outcome.strategy), outcome.full_name(),
             oracle::name(outcome.judgement.verdict));
}

Result<void> choose_workload(const ExploreArguments& arguments, Explored& explored) {
  if (arguments.recording.empty() && arguments.workload.empty() && arguments.application.empty()) {
    return fail("headcrash explore", "there is nothing to explore",
                "give a RECORDING, --workload NAME or --application NAME");
  }
  if (!arguments.application.empty()) {
    auto application = workload::load_application(arguments.application);
    if (!application) return pass_on(application);
    explored.application = std::move(*application);
  }
  if (arguments.workload.empty()) return {};
  auto operations = workload::make_workload(
      {.name = arguments.workload, .seed = arguments.seed, .rounds = arguments.rounds});
  if (!operations) return pass_on(operations);
  explored.operations = std::move(*operations);
  return {};
}

Result<void> explore(const ExploreArguments& arguments, Explored& explored) {
  auto filesystem = adapters::load_adapter(arguments.filesystem);
  if (!filesystem) return pass_on(filesystem);
  if (const auto taken = take_kernel(arguments.kernel, *filesystem); !taken) return taken;
  explored.filesystem = std::move(*filesystem);
  if (const auto chosen = choose_workload(arguments, explored); !chosen) return chosen;
  const auto bytes = choose_disk(arguments, explored);
  if (!bytes) return pass_on(bytes);
  auto options = options_of(arguments, explored.machine);
  if (!options) return pass_on(options);
  auto lab = start_lab(explored.filesystem, explored.machine, *bytes, arguments.jobs);
  if (!lab) return pass_on(lab);
  explored.lab = std::move(*lab);
  auto workload = arguments.recording.empty() ? record(arguments, explored) : open(arguments, explored);
  if (!workload) return pass_on(workload);
  explored.workload = std::move(*workload);

  std::uint64_t checked = 0;
  options->on_state = [&](const explorer::StateOutcome& outcome) {
    ++explored.verdicts[std::string(oracle::name(outcome.judgement.verdict))];
    explored.states.push_back({outcome.full_name(), std::string(states::name(outcome.strategy)),
                               std::string(oracle::name(outcome.judgement.verdict)),
                               outcome.judgement.summary});
    show_progress(outcome, ++checked);
  };
  const double cpu_before = own_cpu_seconds();
  auto result = explorer::explore(explored.lab->guests(), explored.filesystem, explored.workload, *options);
  explored.cpu_s = own_cpu_seconds() - cpu_before;
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  if (!result) return pass_on(result);
  explored.result = std::move(*result);
  return {};
}

double per_second(std::uint64_t count, double ms) {
  return ms > 0 ? static_cast<double>(count) * 1000 / ms : 0;
}

double share(const explorer::ExplorationResult& result, std::size_t step) {
  double whole = 0;
  for (const double ms : result.step_ms) whole += ms;
  return whole > 0 ? result.step_ms.at(step) / whole : 0;
}

json describe(const explorer::ConfirmedFailure& failure) {
  const explorer::StateOutcome& outcome = failure.outcome;
  return {{"state", outcome.full_name()},
          {"strategy", states::name(outcome.strategy)},
          {"recording", outcome.recording.string()},
          {"persisted_operation", outcome.persisted_operation ? json(*outcome.persisted_operation) : json()},
          {"verdict", oracle::name(outcome.judgement.verdict)},
          {"summary", outcome.judgement.summary},
          {"confirmed", failure.confirmed},
          {"disagreement", failure.disagreement},
          {"findings", findings_as_json(outcome.findings)},
          {"log", outcome.log}};
}

json describe(const Explored& explored) {
  const explorer::ExplorationResult& result = explored.result;
  json coverage = json::array(), failures = json::array(), steps = json::object();
  for (const states::Coverage& part : result.coverage) {
    coverage.push_back({{"strategy", states::name(part.strategy)},
                        {"space", part.space},
                        {"generated", part.generated},
                        {"distinct", part.distinct},
                        {"bound", part.bound}});
  }
  for (const explorer::ConfirmedFailure& failure : result.failures) failures.push_back(describe(failure));
  for (std::size_t i = 0; i < explorer::kStepKinds; ++i)
    steps[std::string(explorer::name(static_cast<explorer::StepKind>(i)))] = {{"ms", result.step_ms.at(i)},
                                                                              {"share", share(result, i)}};
  return {{"filesystem", explored.filesystem.name},
          {"recording", explored.workload.recording.string()},
          {"operations", explored.workload.operations.size()},
          {"application", explored.workload.application ? json(explored.workload.application->name) : json()},
          {"judged", result.judged},
          {"workload_failure", explored.workload.failure.value_or("")},
          {"coverage", coverage},
          {"checked", result.checked},
          {"clean", result.clean},
          {"verdicts", explored.verdicts},
          {"failures", failures},
          {"failures_not_confirmed_again", result.unconfirmed},
          {"checked_in_guest_too", result.sampled},
          {"disagreements", result.disagreements},
          {"steps", steps},
          {"wall_ms", result.wall_ms},
          {"cpu_ms", explored.cpu_s * 1000},
          {"generate_ms", result.generate_ms},
          {"guests_used", result.restores},
          {"states_per_second", per_second(result.checked, result.wall_ms)},
          {"interrupted", interrupted().load()}};
}

void print_coverage(const explorer::ExplorationResult& result) {
  fmt::print("{:<12} {:>12} {:>10} {:>9} {:>9}  {}\n", "strategy", "space", "generated", "distinct",
             "explored", "left out");
  for (const states::Coverage& part : result.coverage) {
    const double fraction = part.space > 0 ? static_cast<double>(part.generated) / part.space : 1;
    fmt::print("{:<12} {:>12.6g} {:>10} {:>9} {:>7.2f} %  {}\n", states::name(part.strategy), part.space,
               part.generated, part.distinct, 100 * std::min(fraction, 1.0), part.bound);
  }
}

void print_failures(const explorer::ExplorationResult& result) {
  std::size_t shown = 0;
  for (const explorer::ConfirmedFailure& failure : result.failures) {
    if (++shown > kFailuresShown) break;
    fmt::print("{} {}: {}\n    {}\n", failure.confirmed ? "FAILURE" : "NOT REPRODUCED",
               failure.outcome.full_name(), oracle::name(failure.outcome.judgement.verdict),
               failure.outcome.judgement.summary);
    for (const oracle::Finding& finding : failure.outcome.findings) {
      fmt::print("    [{}] {}: {}: expected {}, found {}\n", oracle::name(finding.tier), finding.path,
                 oracle::name(finding.kind), finding.expected, finding.found);
    }
    if (!failure.disagreement.empty()) fmt::print("    {}\n", failure.disagreement);
  }
  if (result.failures.size() > kFailuresShown)
    fmt::print("... and {} more (--json lists all)\n", result.failures.size() - kFailuresShown);
  if (result.unconfirmed > 0)
    fmt::print("{} more failures of these kinds were counted but not re-verified\n", result.unconfirmed);
}

void print_text(const Explored& explored) {
  const explorer::ExplorationResult& result = explored.result;
  const auto& application = explored.workload.application;
  fmt::print("{}: {}, {}\n", explored.filesystem.name,
             application ? "application " + application->name
                         : fmt::format("{} operations", explored.workload.operations.size()),
             explored.workload.recording.string());
  if (!result.judged)
    fmt::print(
        "the recording has no list of operations: recovery, mount and second recovery are checked, "
        "content "
        "is not (give --workload)\n");
  if (explored.workload.failure) fmt::print("the workload ended early: {}\n", *explored.workload.failure);
  print_coverage(result);
  fmt::print("verdicts:");
  for (const auto& [verdict, count] : explored.verdicts) fmt::print(" {} {}", count, verdict);
  fmt::print("\n");
  print_failures(result);
  fmt::print("steps:");
  for (std::size_t i = 0; i < explorer::kStepKinds; ++i)
    fmt::print(" {} {:.1f} ms ({:.0f} %)", explorer::name(static_cast<explorer::StepKind>(i)),
               result.step_ms.at(i) / static_cast<double>(std::max<std::uint64_t>(result.checked, 1)),
               100 * share(result, i));
  fmt::print(
      "\n{} states in {:.1f} s: {:.1f} a second, {:.0f} ms of CPU each; generated at {:.0f} a second\n",
      result.checked, result.wall_ms / 1000, per_second(result.checked, result.wall_ms),
      explored.cpu_s * 1000 / static_cast<double>(std::max<std::uint64_t>(result.checked, 1)),
      per_second(result.checked, result.generate_ms));
  fmt::print("{} checked wholly in the guest as well, {} disagreements; {} guests used\n", result.sampled,
             result.disagreements, result.restores);
}

/// Without --record the recordings go with the scratch folder, but not when somebody will want to look at
/// them.
void keep_recordings(Explored& explored) {
  const fs::path from = explored.workload.recording.parent_path();
  for (int number = 1; number < 10'000; ++number) {
    const fs::path to = fmt::format("explored-{}", number);
    std::error_code error;
    if (!fs::create_directory(to, error)) continue;
    fs::copy(from, to, fs::copy_options::recursive, error);
    if (!error) fmt::print(stderr, "headcrash: the recordings are kept in {}\n", fs::absolute(to).string());
    return;
  }
}

std::string replay_command(const Explored& explored) {
  return fmt::format("headcrash replay {} --fs {}{}", explored.workload.recording.string(),
                     explored.filesystem.name, explored.machine.as_options());
}

/// A state of it as a page, and where the page is.
Result<void> write_page(const Explored& explored, const explorer::ConfirmedFailure& failure,
                        const std::string& state, const fs::path& path) {
  const explorer::StateOutcome& outcome = failure.outcome;
  const auto run = states::RunHistory::load(outcome.recording);
  if (!run) return pass_on(run);
  auto parsed = states::parse_crash_state(state);
  if (!parsed) return pass_on(parsed);
  CrashFile of{.run = run->get(),
               .filesystem = &explored.filesystem,
               .state = std::move(*parsed),
               .judgement = outcome.judgement,
               .checked = true,
               .findings = outcome.findings,
               .log = outcome.log,
               .faults = explored.machine.faults_in_recovery(),
               .states = explored.states,
               .recovery_of = outcome.recovery_of,
               .reproduce = {replay_command(explored) + " --state " +
                             explorer::quoted(
                                 outcome.recovery_of.empty() ? state : outcome.recovery_of + "/" + state)}};
  if (outcome.recovery_of.empty()) of.workload = &explored.workload;
  return write_crash_file(of, path);
}

/// Of the confirmed failures the one that lacks the fewest writes, which tells most; without any all of the recording.
Result<void> write_html(const ExploreArguments& arguments, const Explored& explored) {
  const explorer::ConfirmedFailure* telling = nullptr;
  std::size_t fewest = 0;
  std::map<fs::path, std::shared_ptr<const states::RunHistory>> runs;  // few, of many failures
  for (const explorer::ConfirmedFailure& failure : explored.result.failures) {
    if (!failure.confirmed) continue;
    auto& run = runs[failure.outcome.recording];
    if (run == nullptr) {
      auto loaded = states::RunHistory::load(failure.outcome.recording);
      if (!loaded) return pass_on(loaded);
      run = *std::move(loaded);
    }
    const auto state = states::parse_crash_state(failure.outcome.state);
    if (!state) return pass_on(state);
    const std::size_t missing = missing_writes(*run, *state);
    if (telling != nullptr && missing >= fewest) continue;
    telling = &failure;
    fewest = missing;
  }
  if (telling != nullptr) return write_page(explored, *telling, telling->outcome.state, arguments.html);
  const auto run = states::RunHistory::load(explored.workload.recording);
  if (!run) return pass_on(run);
  const CrashFile of{.run = run->get(),
                     .filesystem = &explored.filesystem,
                     .workload = &explored.workload,
                     .states = explored.states};
  return write_crash_file(of, arguments.html);
}

/// The first failure of each kind made small, its account and its page beside the recordings.
Result<void> write_accounts(const ExploreArguments& arguments, Explored& explored) {
  const fs::path folder = explored.workload.recording.parent_path();
  const auto record =
      explorer::recorder_like(explored.filesystem, explored.workload, disk_options(arguments));
  if (!record) return pass_on(record);
  for (const std::size_t i : explorer::first_of_each_kind(explored.result.failures)) {
    if (interrupted()) return {};
    const auto report = explorer::report_failure(explored.lab->guest(0), explored.filesystem,
                                                 explored.workload, explored.result.failures[i],
                                                 {.record = *record,
                                                  .recordings = folder,
                                                  .replay = replay_command(explored),
                                                  .interrupted = &interrupted()});
    if (!report) return pass_on(report);
    const fs::path account = folder / fmt::format("failure-{}.txt", i + 1);
    std::ofstream file(account);
    file << report->account;
    if (!file.flush()) return fail(account.string(), "cannot be written");
    fmt::print(stderr, "headcrash: {}: {}\n", account.string(),
               report->account.substr(0, report->account.find('\n')));
    const auto drawn = write_page(
        explored, explored.result.failures[i],
        report->minimised_state.empty() ? explored.result.failures[i].outcome.state : report->minimised_state,
        fs::path(account).replace_extension(".html"));
    if (!drawn) return pass_on(drawn);
  }
  return {};
}

int run(const ExploreArguments& arguments) {
  catch_interrupts();
  Explored explored;
  if (arguments.minimise && arguments.recording.empty() && arguments.keep.empty())
    return report_error({"--minimise", "what it makes has to stay somewhere", "add --record FOLDER"},
                        arguments.as_json);
  if (const auto done = explore(arguments, explored); !done)
    return report_error(done.error(), arguments.as_json);
  const auto confirmed =
      std::any_of(explored.result.failures.begin(), explored.result.failures.end(),
                  [](const explorer::ConfirmedFailure& failure) { return failure.confirmed; });
  if (arguments.as_json) {
    print(describe(explored));
  } else {
    print_text(explored);
  }
  if (!explored.result.failures.empty() && arguments.recording.empty() && arguments.keep.empty())
    keep_recordings(explored);
  if (!arguments.html.empty()) {
    if (const auto written = write_html(arguments, explored); !written)
      return report_error(written.error(), arguments.as_json);
  }
  if (arguments.minimise) {
    if (const auto written = write_accounts(arguments, explored); !written)
      return report_error(written.error(), arguments.as_json);
  }
  if (interrupted()) {
    fmt::print(stderr, "headcrash: interrupted; not all states were checked\n");
    return kInterrupted;
  }
  if (confirmed || explored.workload.failure) return kFound;
  return explored.result.disagreements > 0 ? kUsage : kFine;
}

}  // namespace

void add_explore(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("explore", "Checks the crash states of one recorded workload in guests");
  const auto arguments = std::make_shared<ExploreArguments>();
  command->add_option(
      "RECORDING", arguments->recording,
      "A recording of a trial, of `explore --record`, or imported; without one a workload is recorded");
  command
      ->add_option("--fs", arguments->filesystem,
                   "File system: a name (headcrash list filesystems) or .toml file")
      ->required();
  add_kernel_options(*command, arguments->kernel);
  command
      ->add_option("--atomic-write", arguments->atomic_write,
                   "Of `torn`: an aligned piece of this size is written whole or not at all (512, 4K)")
      ->capture_default_str();
  command->add_option("--workload", arguments->workload,
                      "Records this workload first; with RECORDING: the workload that it is of");
  command
      ->add_option(
          "--application", arguments->application,
          "Records this application (sqlite, or a .toml file) in place of a workload; its verifier judges")
      ->excludes("--workload");
  command
      ->add_option("--strategy", arguments->strategies,
                   "physical, prefix, reorder, torn, lose-all, lying-flush, member, recovery; default: "
                   "prefix,lose-all,reorder,torn, of an array member,physical")
      ->delimiter(',');
  add_machine_options(*command, arguments->machine);
  command->add_option("--budget", arguments->budget, "Maximum number of distinct states")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  command
      ->add_option("--seed", arguments->seed, "Of the workload, the file system's identifier and every draw")
      ->capture_default_str();
  command->add_option("--rounds", arguments->rounds, "Of a workload that has rounds")->capture_default_str();
  command->add_option("--size", arguments->size,
                      "Size of the disk of a new recording; default: the smallest that suffices");
  command
      ->add_option("--prefill", arguments->prefill,
                   "What a new disk holds before mkfs: \"pattern\", bytes of an earlier user, or \"none\"")
      ->check(one_of({"pattern", "none"}))
      ->capture_default_str();
  command
      ->add_option(
          "--answer-delay-us", arguments->disk.delay_us,
          "How long a write or flush takes at most while the workload runs; each is drawn, 0: at once")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->add_option("--record", arguments->keep, "Folder that keeps the new recordings");
  command->add_flag(
      "--minimise", arguments->minimise,
      "Minimise the first failure of each kind and write it up, as text and as a page, beside the recordings");
  command->add_option(
      "--html", arguments->html,
      "Draw the failure that lacks the fewest writes as a page, with the verdicts of all cuts; one "
      "file, which needs no network");
  command->add_flag("--stop-at-first", arguments->stop_at_first,
                    "Stop at the first failure that is reproduced on a fresh guest");
  command->add_option("--jobs", arguments->jobs, "Number of guests")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_flag("--json", arguments->as_json, "Print the outcome as JSON");
  command->footer(
      "Examples:\n  headcrash explore --workload ace-seq1/17 --fs ext4\n"
      "  headcrash explore --workload fsync-unlinked --fs btrfs --html crash.html\n"
      "  headcrash explore --application sqlite --fs ext4 --strategy prefix --budget 40\n"
      "  headcrash explore --workload small-files --rounds 5 --fs xfs --strategy prefix,recovery --record "
      "here\n"
      "  headcrash explore here/workload.hcrec --fs xfs --strategy reorder --budget 5000 --json\n"
      "  headcrash explore --workload small-files --rounds 5 --fs ext4-external-journal --strategy "
      "reorder,lose-all\n"
      "  headcrash explore --workload mail-spool --rounds 5 --fs ext4 --machine netra-raid5 "
      "--fault-after-cut dead:hd0.3\n\n"
      "Exit code 1: a failure was reproduced on a fresh guest. 2 also: a failure was not reproduced, an error "
      "of the laboratory.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
