// headcrash explore: records one workload and explores its crash states. Guests recover, mount and
// judge each state.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "harness/campaign/trial/array_disk.h"
#include "harness/cli/command.h"
#include "harness/cli/explored.h"
#include "harness/cli/host_usage.h"
#include "harness/cli/lab_command.h"
#include "harness/cli/stack_options.h"
#include "harness/cli/terminal.h"
#include "harness/explorer/guests/stack_probe.h"
#include "harness/explorer/reproduce/failure_report.h"
#include "harness/explorer/reproduce/plain_checks.h"
#include "harness/workload/catalogue.h"
#include "plugin/base/command_text.h"
#include "plugin/base/csv.h"
#include "plugin/base/named_file.h"
#include "plugin/base/nearest.h"
#include "plugin/base/size.h"
#include "plugin/base/text_file.h"
#include "plugin/record/recording.h"
#include "plugin/states/run_history.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMarksNamed = 12;
/// Minimum value of --rounds with --db. With --db, the exploration is a campaign, and campaigns do
/// not accept fewer rounds.
constexpr std::uint32_t kStoredRoundsMin = 4;

/// Chooses the machine, stores it in `explored`, and returns the size of its disk in bytes.
Result<std::uint64_t> choose_disk(const ExploreArguments& arguments, Explored& explored) {
  explored.machine = arguments.machine;
  if (arguments.recording.empty()) return size_of_new_disk(arguments, explored.filesystem);
  TRY(const auto reader, record::RecordingReader::open(arguments.recording));
  explored.machine = recorded_machine(reader.header(), arguments.machine);
  return recorded_disk_bytes(arguments.recording, reader.header(), explored.filesystem);
}

Error on_one_line(const oracle::Judgement& judgement, const std::string& subject) {
  std::string line = judgement.summary;
  while (line.ends_with('\n')) line.pop_back();
  for (std::size_t at = 0; (at = line.find('\n', at)) != std::string::npos;)
    line.replace(at, 1, "; ");
  return {subject, fmt::format("{} ({})", line, oracle::name(judgement.verdict)), ""};
}

/// Creates the directory named by --record, before anything else starts.
Result<void> make_folder(const ExploreArguments& arguments) {
  if (arguments.keep.empty()) return {};
  std::error_code error;
  fs::create_directories(arguments.keep, error);
  if (!error && ::access(arguments.keep.c_str(), W_OK) != 0)
    error = {errno, std::generic_category()};
  if (error) return fail(arguments.keep, error.message(), "choose a writable folder with --record");
  return {};
}

/// Removes the run's recordings from `folder`, because an interruption has left them incomplete.
/// Does nothing if the path `folder` is empty.
void remove_recordings(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  for (const char* name : {kFormattedName, explorer::kProbeName, kWorkloadName})
    fs::remove(folder / name, error);
}

/// Checks whether the requests in a recording obey the rules of the stack.
Result<void> check_rules(const fs::path& recording, Explored& explored) {
  TRY(auto broken, explorer::check_stack_rules(recording, explored.filesystem.stack->rules));
  explored.broken_rules.insert(explored.broken_rules.end(), broken.begin(), broken.end());
  ++explored.rules_checked_on;
  return {};
}

bool has_rules(const Explored& explored) {
  return explored.filesystem.stack && explored.filesystem.stack->rules.any();
}

/// Probes the stack: records writes to the stack's device without a file system, and checks the
/// recording against the stack's rules.
Result<void> probe_stack(explorer::StageGuest& guest, const explorer::FormattedDisk& disk,
                         const fs::path& folder, Explored& explored) {
  if (!has_rules(explored)) return {};
  const auto probed =
      explorer::record_stack_probe(guest, explored.filesystem, disk, folder / explorer::kProbeName);
  if (!probed)
    return tl::unexpected(on_one_line(oracle::judgement_of(probed.error()),
                                      "the probe of " + explored.filesystem.stack->name));
  return check_rules(folder / explorer::kProbeName, explored);
}

/// Records mkfs and then the workload on the first guest. Both recordings are in the same
/// directory.
Result<explorer::RecordedWorkload> record(const ExploreArguments& arguments, Explored& explored) {
  fs::path folder = arguments.keep;
  if (folder.empty()) {
    folder = explored.pool->scratch() / "recordings";
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      return fail(folder.string(), error.message(), "set TMPDIR to a folder with free space");
  } else {
    explored.kept = folder;
  }
  explorer::StageGuest& guest = explored.pool->guest(0);
  if (!explored.formatted) {
    auto disk = explorer::format_disk(guest, explored.filesystem, folder / kFormattedName,
                                      explorer::uuid_from(arguments.seed), disk_options(arguments));
    if (!disk)
      return tl::unexpected(
          on_one_line(oracle::judgement_of(disk.error()), "mkfs of " + explored.filesystem.name));
    explored.formatted = std::move(*disk);
    TRY(probe_stack(guest, *explored.formatted, folder, explored));
  }
  const explorer::FormattedDisk& disk = *explored.formatted;
  const fs::path recording = folder / arguments.recording_name;
  std::optional<oracle::Judgement> at_crash;
  auto recorded = explored.application
                      ? explorer::record_application(guest, explored.filesystem, disk,
                                                     *explored.application, recording)
                      : explorer::record_workload(guest, explored.filesystem, disk,
                                                  explored.operations, recording, &at_crash);
  if (!recorded) {
    const oracle::Judgement judgement = at_crash.value_or(oracle::judgement_of(recorded.error()));
    explored.failed_at_crash = judgement.verdict < oracle::Verdict::hang;
    Error error = on_one_line(judgement, arguments.workload + arguments.application);
    if (judgement.verdict == oracle::Verdict::hang && arguments.kernel.guest == "virtual")
      error.hint =
          "if the workload polls memory without waiting, virtual time stands still; use "
          "--guest qemu";
    return tl::unexpected(std::move(error));
  }
  return std::move(*recorded);
}

/// Returns the number of the event at which the first cut is made. `from` is an event number or the
/// text of a mark.
Result<std::uint64_t> event_of(const std::string& from, const states::RunHistory& run) {
  if (!from.empty() && from.find_first_not_of("0123456789") == std::string::npos) {
    const std::uint64_t event = std::strtoull(from.c_str(), nullptr, 10);
    if (event < run.events()) return event;
    return fail(
        "--from",
        fmt::format("{} has {} events, but no event {}", run.path().string(), run.events(), from),
        "`headcrash recording export --format csv` lists the events");
  }
  std::vector<std::string> known;
  for (const states::RecordedMark& mark : run.marks()) {
    if (mark.text == from) return mark.event;
    if (known.size() < kMarksNamed) known.push_back(mark.text);
  }
  return fail("--from", fmt::format("{} has no mark \"{}\"", run.path().string(), from),
              known.empty() ? "the recording has no marks; use an event number"
                            : base::suggest(from, known));
}

/// Opens the recording that the user has specified.
Result<void> open(const ExploreArguments& arguments, Explored& explored) {
  TRY(auto opened,
      explorer::open_recorded_workload(arguments.recording, arguments.workload.empty()
                                                                ? std::vector<workload::Operation>{}
                                                                : explored.operations));
  explored.workload = std::move(opened);
  explored.kept = base::folder_of(arguments.recording);
  explorer::RecordedWorkload& workload = explored.workload;
  if (explored.application) workload.application = explored.application;
  if (workload.application) workload.application->add_to(explored.filesystem.guest);
  if (arguments.from.empty()) return {};
  TRY(const auto run, states::RunHistory::load(arguments.recording));
  TRY(const auto event, event_of(arguments.from, *run));
  if (workload.to_event != 0 && event > workload.to_event)
    return fail("--from", fmt::format("\"{}\" is after the end of the workload", arguments.from),
                fmt::format("use an event up to {}", workload.to_event));
  workload.from_event = event;
  return {};
}

Result<explorer::ExplorationOptions> options_of(const ExploreArguments& arguments,
                                                const explorer::StageMachine& machine) {
  explorer::ExplorationOptions options{
      .explore = {.seed = arguments.seed, .budget = arguments.budget}};
  for (const std::string& word : strategies_of(arguments, machine)) {
    TRY(const auto strategy, states::parse_strategy(word));
    options.explore.strategies.push_back(strategy);
  }
  TRY(const auto atomic, base::parse_size(arguments.atomic_write, "--atomic-write"));
  TRY(const auto sectors,
      states::atomic_sectors_of(atomic, "--atomic-write " + arguments.atomic_write));
  options.explore.atomic_sectors = sectors;
  options.interrupted = &interrupted();
  options.stop_at_first = arguments.stop_at_first;
  options.limit = std::chrono::seconds(arguments.limit_s);
  return options;
}

/// Shows progress as a campaign does: on one line of a terminal or, if verbose, on one line for
/// each state.
void show_progress(const ExploreArguments& arguments, const explorer::StateOutcome& outcome,
                   std::uint64_t checked) {
  const bool verbose = arguments.verbosity == Verbosity::verbose, terminal = can_overwrite();
  if (arguments.verbosity == Verbosity::quiet || !(terminal || verbose)) return;
  fmt::print(stderr, "{}[{} of at most {}] {} {}: {}{}", terminal ? "\r\033[K" : "", checked,
             arguments.budget, states::name(outcome.strategy), outcome.full_name(),
             oracle::name(outcome.judgement.verdict), verbose ? "\n" : "");
}

Result<void> choose_workload(const ExploreArguments& arguments, Explored& explored) {
  if (arguments.recording.empty() && arguments.workload.empty() && arguments.application.empty()) {
    return fail("explore", "no workload to explore",
                "give a RECORDING, --workload NAME or --application NAME");
  }
  if (!arguments.application.empty()) {
    TRY(auto application, workload::load_application(arguments.application));
    application.add_to(explored.filesystem.guest);
    explored.application = std::move(application);
  }
  if (arguments.workload.empty()) return {};
  TRY(auto operations,
      workload::make_workload(
          {.name = arguments.workload, .seed = arguments.seed, .rounds = arguments.rounds}));
  if (workload::is_list_file(arguments.workload)) {
    TRY(const auto text, base::read_text_file(arguments.workload));
    const auto good = explorer::check_list(text, arguments.workload, explored.filesystem.promises);
    if (!good) return good;
  }
  explored.operations = std::move(operations);
  return {};
}

/// Copies the recordings of a run with failures from their temporary directory to a new directory
/// in the current one. Not needed with --record, which keeps the recordings.
Result<void> keep_recordings(Explored& explored) {
  const fs::path from = base::folder_of(explored.workload.recording);
  for (int number = 1; number < 10'000; ++number) {
    const fs::path to = fmt::format("explored-{}", number);
    std::error_code error;
    const bool made = fs::create_directory(to, error);
    if (!error && !made) continue;
    if (!error) fs::copy(from, to, fs::copy_options::recursive, error);
    if (error)
      return fail(fs::absolute(to).string(),
                  "the recordings cannot be moved to this folder: " + error.message(),
                  "choose a writable folder with --record");
    explored.kept = to;
    return {};
  }
  return fail("explored-*", "there are too many folders of recordings",
              "remove the folders that you do not need");
}

/// Writes the page for --html. The page shows the confirmed failure with the fewest lost or torn
/// writes, or the whole recording if no failure was confirmed.
Result<void> write_html(const ExploreArguments& arguments, const Explored& explored) {
  const explorer::ConfirmedFailure* clearest = nullptr;
  std::size_t fewest = 0;
  // Load each recording once. There may be many failures, but there are only a few recordings.
  std::map<fs::path, std::shared_ptr<const states::RunHistory>> runs;
  for (const explorer::ConfirmedFailure& failure : explored.result.failures) {
    if (!failure.confirmed) continue;
    auto& run = runs[failure.outcome.recording];
    if (run == nullptr) {
      TRY(auto loaded, states::RunHistory::load(failure.outcome.recording));
      run = std::move(loaded);
    }
    TRY(const auto state, states::parse_crash_state(failure.outcome.state));
    const std::size_t missing = missing_writes(*run, state);
    if (clearest != nullptr && missing >= fewest) continue;
    clearest = &failure;
    fewest = missing;
  }
  if (clearest != nullptr)
    return write_page(explored, *clearest, clearest->outcome.state, arguments.html);
  TRY(const auto run, states::RunHistory::load(explored.workload.recording));
  const CrashFile of{.run = run.get(),
                     .filesystem = &explored.filesystem,
                     .workload = &explored.workload,
                     .states = explored.states};
  return write_crash_file(of, arguments.html);
}

/// Writes one line for each checked state. The lines are sorted by name, so that the files of two
/// explorations can be compared.
Result<void> write_csv(const Explored& explored, const std::string& path) {
  std::vector<explorer::JudgedState> states = explored.states;
  std::ranges::sort(states, {}, &explorer::JudgedState::name);
  std::string text = "state,strategy,verdict\n";
  for (const explorer::JudgedState& state : states)
    text += base::csv_line(std::vector{state.name, state.strategy, std::string(state.verdict)});
  return base::write_text_file(path, text);
}

/// Minimises the first failure of each kind. For each of these failures, writes a description as
/// text, and a page. The files are in the directory of the recordings.
Result<void> write_accounts(const ExploreArguments& arguments, Explored& explored) {
  const fs::path folder = base::folder_of(explored.workload.recording);
  TRY(const auto record,
      explorer::recorder_like(explored.filesystem, explored.workload, disk_options(arguments)));
  for (const std::size_t i : explorer::first_of_each_kind(explored.result.failures)) {
    if (interrupted()) return {};
    const auto report = explorer::report_failure(explored.pool->guest(0), explored.filesystem,
                                                 explored.workload, explored.result.failures[i],
                                                 {.record = record,
                                                  .recordings = folder,
                                                  .replay = replay_command(explored),
                                                  .interrupted = &interrupted()});
    if (interrupted()) return {};
    if (!report) return forward_error(report);
    const fs::path account = folder / fmt::format("failure-{}.txt", i + 1);
    TRY(base::write_text_file(account.string(), report->account));
    fmt::print(stderr, "headcrash: {}: {}\n", account.string(),
               report->account.substr(0, report->account.find('\n')));
    TRY(write_page(explored, explored.result.failures[i],
                   report->minimised_state.empty() ? explored.result.failures[i].outcome.state
                                                   : report->minimised_state,
                   fs::path(account).replace_extension(".html")));
  }
  return {};
}

/// Rejects incompatible options.
Result<void> check(const ExploreArguments& arguments) {
  const bool stored = !arguments.database.empty();
  if (!stored && (arguments.resume || arguments.trials > 1))
    return fail(arguments.resume ? "--resume" : "--trials", "requires a database", "add --db FILE");
  if (stored) {
    for (const auto& [given, option] : {std::pair{!arguments.recording.empty(), "RECORDING"},
                                        {!arguments.keep.empty(), "--record"},
                                        {!arguments.html.empty(), "--html"},
                                        {!arguments.csv.empty(), "--csv"},
                                        {arguments.minimise, "--minimise"},
                                        {arguments.disk.issuers, "--stacks"},
                                        {arguments.stop_at_first, "--stop-at-first"},
                                        {!arguments.kernel.kernel.empty(), "--kernel"},
                                        {!arguments.kernel.modules.empty(), "--modules"},
                                        {arguments.atomic_write != "512", "--atomic-write"}}) {
      if (given)
        return fail(
            "--db", fmt::format("cannot be combined with {}", option),
            "omit that option: a database keeps the recordings of failures, `headcrash replay "
            "--html` draws them, and a campaign file has the other settings");
    }
  }
  if (stored && arguments.rounds < kStoredRoundsMin)
    return fail("--db", fmt::format("cannot be combined with --rounds {}", arguments.rounds),
                fmt::format("use --rounds {} or more", kStoredRoundsMin));
  for (const auto& [path, option] : {std::pair{arguments.html, "--html"}, {arguments.csv, "--csv"}})
    if (!path.empty()) TRY(check_output_path(path, option));
  if (!arguments.from.empty() && arguments.recording.empty())
    return fail("--from", "requires a RECORDING",
                "add a RECORDING, or omit --from: a new recording always begins after mkfs");
  if (!arguments.disk.slow.empty() &&
      (!arguments.recording.empty() || arguments.machine.is_array()))
    return fail("--slow",
                arguments.recording.empty() ? "requires a plain disk" : "requires a new recording",
                arguments.recording.empty() ? "omit --machine" : "omit RECORDING");
  if (arguments.disk.issuers && !arguments.recording.empty())
    return fail("--stacks", "requires a new recording",
                "omit RECORDING; if it was made with --stacks, omit --stacks instead");
  if (arguments.minimise && arguments.recording.empty() && arguments.keep.empty())
    return fail("--minimise", "requires a folder for the results", "add --record FOLDER");
  return {};
}

report::CiCase ci_case(const ExploreArguments& arguments, const Explored& explored, int exit_code) {
  using enum report::CiCase::Verdict;
  return {.group = explored.filesystem.name,
          .name = arguments.workload + arguments.application + arguments.recording,
          .verdict = exit_code == kFine    ? passed
                     : exit_code == kFound ? failed
                                           : error,
          .message = headline(explored),
          .details = {},
          .seconds = explored.result.wall_ms / 1000,
          .files = {kept_recording(explored, explored.workload.recording)},
          .source = {}};
}

int run(const ExploreArguments& arguments) {
  if (const auto good = check(arguments); !good)
    return report_error(good.error(), arguments.as_json);
  catch_interrupts();
  if (!arguments.database.empty()) return explore_into_database(arguments);
  Explored explored;
  if (const auto done = run_exploration(arguments, explored); !done) {
    if (!interrupted()) {
      const int exit_code = report_error(done.error(), arguments.as_json);
      return explored.failed_at_crash ? kFound : exit_code;
    }
    fmt::print(stderr, "headcrash: interrupted; no state was checked\n");
    return kInterrupted;
  }
  const auto confirmed =
      std::any_of(explored.result.failures.begin(), explored.result.failures.end(),
                  [](const explorer::ConfirmedFailure& failure) { return failure.confirmed; });
  if (const auto attributed = attribute_failures(arguments, explored); !attributed)
    return report_error(attributed.error(), arguments.as_json);
  Result<void> kept;
  if (!explored.result.failures.empty() && explored.kept.empty()) kept = keep_recordings(explored);
  if (arguments.as_json) {
    print(describe(explored));
  } else {
    print_text(explored);
  }
  if (!arguments.csv.empty())
    if (const auto written = write_csv(explored, arguments.csv); !written)
      return report_error(written.error(), arguments.as_json);
  if (!arguments.html.empty()) {
    if (const auto written = write_html(arguments, explored); !written)
      return report_error(written.error(), arguments.as_json);
  }
  if (!kept) return report_error(kept.error(), false);
  if (arguments.minimise) {
    if (const auto written = write_accounts(arguments, explored); !written)
      return report_error(written.error(), arguments.as_json);
  }
  if (interrupted()) {
    fmt::print(stderr, "headcrash: interrupted; not all states were checked\n");
    return kInterrupted;
  }
  int exit_code = explored.result.disagreements > 0 ? kUsage : kFine;
  if (confirmed || explored.workload.failure || !explored.broken_rules.empty()) exit_code = kFound;
  return finish_ci(arguments.ci, "headcrash explore", {ci_case(arguments, explored, exit_code)},
                   exit_code);
}

}  // namespace

explorer::DiskOptions disk_options(const ExploreArguments& arguments) {
  explorer::DiskOptions options = arguments.disk;
  options.used = arguments.prefill == "pattern";
  options.seed = arguments.seed;
  return options;
}

Result<void> record_exploration(const ExploreArguments& arguments, Explored& explored) {
  TRY(auto filesystem, adapters::load_adapter(arguments.filesystem));
  TRY(apply_kernel(arguments.kernel, filesystem));
  filesystem.guest.stacks = arguments.disk.issuers;
  explored.filesystem = std::move(filesystem);
  explored.virtual_time = in_virtual_time(arguments.kernel, explored.filesystem.guest);
  TRY(choose_workload(arguments, explored));
  TRY(const auto bytes, choose_disk(arguments, explored));
  TRY(options_of(arguments, explored.machine));
  TRY(arguments.recording.empty() ? make_folder(arguments) : open(arguments, explored));
  if (!explored.pool) {
    TRY(auto pool, start_guests(explored.filesystem, explored.machine, bytes, arguments.jobs,
                                explored.virtual_time));
    explored.pool = std::move(pool);
  }
  if (arguments.recording.empty()) {
    auto workload = record(arguments, explored);
    if (!workload) {
      if (interrupted()) remove_recordings(explored.kept);
      return forward_error(workload);
    }
    explored.workload = std::move(*workload);
  }
  if (has_rules(explored)) return check_rules(explored.workload.recording, explored);
  return {};
}

Result<void> explore_recorded(const ExploreArguments& arguments, Explored& explored) {
  TRY(auto options, options_of(arguments, explored.machine));
  std::uint64_t checked = 0;
  options.on_state = [&](const explorer::StateOutcome& outcome) {
    ++explored.verdicts[std::string(oracle::name(outcome.judgement.verdict))];
    explored.states.push_back({outcome.full_name(), std::string(states::name(outcome.strategy)),
                               std::string(oracle::name(outcome.judgement.verdict)),
                               outcome.judgement.summary});
    show_progress(arguments, outcome, ++checked);
  };
  const double cpu_before = cpu_seconds_used();
  auto result =
      explorer::explore(explored.pool->guests(), explored.filesystem, explored.workload, options);
  explored.cpu_s = cpu_seconds_used() - cpu_before;
  explored.interrupted = interrupted();
  clear_line();
  if (!result) return forward_error(result);
  explored.result = std::move(*result);
  return {};
}

Result<void> attribute_failures(const ExploreArguments& arguments, Explored& explored) {
  const std::size_t kinds = explorer::first_of_each_kind(explored.result.failures).size();
  if (!explored.filesystem.stack || kinds == 0 || interrupted()) return {};
  if (!arguments.recording.empty()) {
    explored.attribution =
        "unknown: the workload of an existing recording is not repeated on the bare disk";
    return {};
  }
  ExploreArguments bare = arguments;
  bare.filesystem = adapters::name_without_stack(explored.filesystem);
  bare.kernel.kernel.clear();  // `bare.filesystem` already contains the kernel
  bare.keep.clear();
  if (!arguments.size.empty()) {
    TRY(const auto bytes, base::parse_size(arguments.size, "--size"));
    bare.size = std::to_string(bytes * explored.filesystem.stack->data_disks);
  }
  Explored other;
  TRY(run_exploration(bare, other));
  if (other.workload.failure) {
    explored.attribution = "unknown: the workload failed on the bare disk";
    return {};
  }
  const bool also = !explorer::first_of_each_kind(other.result.failures).empty();
  explored.attribution = fmt::format(
      "{}: the same list of operations {} on the bare disk, in {} crash states",
      also ? "the file system or the disks" : "the stack " + explored.filesystem.stack->name,
      also ? "also fails" : "does not fail", other.result.checked);
  return {};
}

Result<void> run_exploration(const ExploreArguments& arguments, Explored& explored) {
  TRY(record_exploration(arguments, explored));
  return explore_recorded(arguments, explored);
}

std::string replay_command(const Explored& explored) {
  return fmt::format(
      "headcrash replay {} --fs {}{}{}", kept_recording(explored, explored.workload.recording),
      base::shell_quoted(adapters::name_to_load(explored.filesystem)),
      explored.machine.as_options(), explored.virtual_time ? " --guest virtual" : "");
}

Result<void> write_page(const Explored& explored, const explorer::ConfirmedFailure& failure,
                        const std::string& state, const fs::path& path) {
  const explorer::StateOutcome& outcome = failure.outcome;
  TRY(const auto run, states::RunHistory::load(outcome.recording));
  TRY(auto parsed, states::parse_crash_state(state));
  CrashFile of{
      .run = run.get(),
      .filesystem = &explored.filesystem,
      .state = std::move(parsed),
      .judgement = outcome.judgement,
      .checked = true,
      .findings = outcome.findings,
      .log = outcome.log,
      .faults = explored.machine.faults_in_recovery(),
      .states = explored.states,
      .recovery_of = outcome.recovery_of,
      .reproduce = {replay_command(explored) + " --state " +
                    base::shell_quoted(
                        outcome.recovery_of.empty() ? state : outcome.recovery_of + "/" + state)}};
  if (outcome.recovery_of.empty()) of.workload = &explored.workload;
  return write_crash_file(of, path);
}

void add_explore(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("explore", "Checks the crash states of one recorded workload in guests");
  const auto arguments = std::make_shared<ExploreArguments>();
  command->add_option("RECORDING", arguments->recording,
                      "A recording of a trial or of `explore --record`, or an imported recording; "
                      "default: record a workload");
  command
      ->add_option("--fs", arguments->filesystem,
                   "File system: a name (headcrash list filesystems) or .toml file")
      ->required();
  add_stack_option(*command, arguments->stack);
  add_kernel_options(*command, arguments->kernel, kFastestGuest);
  command
      ->add_option("--atomic-write", arguments->atomic_write,
                   "For `torn`: aligned pieces of this size are written completely or not at all, "
                   "for example 4K")
      ->capture_default_str();
  command->add_option("--workload", arguments->workload,
                      "Workload to record and explore; with RECORDING: the workload that was "
                      "recorded");
  command
      ->add_option(
          "--application", arguments->application,
          "Record this application (sqlite, sqlite+wal-normal, or a .toml file) instead of a "
          "workload; its verifier judges the states")
      ->excludes("--workload");
  command
      ->add_option(
          "--strategy", arguments->strategies,
          "Kinds of crash states: physical, prefix, reorder, torn, lose-all, lying-flush, member, "
          "recovery; default: prefix,lose-all,reorder,torn, or for an array member,physical")
      ->delimiter(',');
  add_machine_options(*command, arguments->machine);
  command->add_option(
      "--from", arguments->from,
      "With RECORDING: first event at which the power is cut, as its number or the text of a mark; "
      "default: the start of the workload, if marked");
  command
      ->add_option("--budget", arguments->budget,
                   "Maximum number of distinct states; with --db: of each workload")
      ->check(between(1, 100'000'000))
      ->capture_default_str();
  command
      ->add_option("--seed", arguments->seed,
                   "Seed of the workload, the file system's identifier and all random choices")
      ->capture_default_str();
  command
      ->add_option("--rounds", arguments->rounds,
                   "Number of rounds, for workloads that have rounds")
      ->capture_default_str();
  command->add_option("--size", arguments->size,
                      "Size of the disk of a new recording; default: the smallest that suffices");
  accept_only(
      command->add_option(
          "--prefill", arguments->prefill,
          "Content of a new disk before mkfs: \"pattern\" (bytes that an earlier user left) or "
          "\"none\""),
      {"pattern", "none"})
      ->capture_default_str();
  command
      ->add_option("--answer-delay-us", arguments->disk.delay_us,
                   "Maximum random delay of each write and flush while the workload runs; "
                   "0: no delay")
      ->check(between(0, 1'000'000))
      ->capture_default_str();
  command->add_option(
      "--slow", arguments->disk.slow,
      "While the workload runs, writes of this kind take --slow-us longer. A kind is a part of a "
      "write's description in a failure report, such as \"inode table\" or \"node\". The workload "
      "is recorded twice");
  command
      ->add_option("--slow-us", arguments->disk.slow_us,
                   "With --slow: additional time of each such write in microseconds")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  add_stacks_options(*command, arguments->disk);
  command->add_option("--record", arguments->keep, "Folder for the new recordings");
  command->add_flag(
      "--minimise", arguments->minimise,
      "Minimise the first failure of each kind and describe it, as text and as a page, next "
      "to the recordings");
  command->add_option(
      "--html", arguments->html,
      "Draw the failure with the fewest lost writes as a page, with the verdicts of all cuts; the "
      "page is one self-contained file");
  command->add_option("--csv", arguments->csv,
                      "File for the checked states, one per line: state,strategy,verdict");
  command->add_flag("--stop-at-first", arguments->stop_at_first,
                    "Stop at the first failure that is reproduced on a fresh guest");
  command->add_option(
      "--db", arguments->database,
      "Store the result as a run in this database, for the commands report, runs, trials and "
      "replay; created if missing");
  command->add_flag("--resume", arguments->resume,
                    "With --db: resume the newest unfinished run of the same exploration");
  command
      ->add_option(
          "--trials", arguments->trials,
          "With --db: number of workloads. Workloads of ace-seq1 and similar ones are numbered; "
          "others differ by seed. --resume does not repeat finished workloads")
      ->check(between(std::int64_t{1}, std::int64_t{1'000'000}))
      ->capture_default_str();
  add_ci_options(*command, arguments->ci);
  add_verbosity_options(*command, arguments->verbosity);
  command->add_option("--jobs", arguments->jobs, "Number of concurrent guests")
      ->check(between(1, 64))
      ->capture_default_str();
  command->add_flag("--json", arguments->as_json, "Print the outcome as JSON");
  command->footer(
      "Examples:\n  headcrash explore --workload ace-seq1/17 --fs ext4\n"
      "  headcrash explore --workload fsync-unlinked --fs btrfs --html crash.html\n"
      "  headcrash explore --application sqlite --fs ext4 --strategy prefix --budget 40\n"
      "  headcrash explore --workload small-files --rounds 5 --fs xfs --strategy prefix,recovery "
      "--record here\n"
      "  headcrash explore --fs ext4 --workload mail-spool --guest virtual\n"
      "  headcrash explore here/workload.hcrec --fs xfs --strategy reorder --budget 5000 --json\n"
      "  headcrash explore mine.hcrec --fs ext4 --from 'phase workload'\n"
      "  headcrash explore --workload ace-seq1 --trials 20 --fs btrfs --budget 50 --db btrfs.db\n"
      "  headcrash explore --workload small-files --rounds 5 --fs ext4-external-journal --strategy "
      "reorder,lose-all\n"
      "  headcrash explore --workload mail-spool --rounds 5 --fs ext4 --machine netra-raid5 "
      "--fault-after-cut dead:hd0.3\n"
      "  headcrash explore --workload mail-spool --rounds 5 --fs ext4 --stack md-raid1 --guest "
      "virtual\n\n"
      "Exit code 1: a failure was reproduced on a fresh guest. Exit code 2: usage error, internal "
      "error, or a\nfailure that was not reproduced.");
  command->callback([arguments, &exit_code] {
    arguments->filesystem = adapters::name_on_stack(arguments->filesystem, arguments->stack);
    exit_code = run(*arguments);
  });
}

}  // namespace headcrash::cli
