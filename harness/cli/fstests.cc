// Implements `headcrash fstests`, which runs tests of fstests and cuts the power while their
// scratch file system is mounted.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "harness/campaign/campaign.h"
#include "harness/check/program_image.h"
#include "harness/cli/command.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/lab_command.h"
#include "harness/cli/terminal.h"
#include "harness/fstests/suite_run.h"
#include "harness/run/guest_kind.h"
#include "plugin/base/command_text.h"
#include "plugin/base/csv.h"
#include "plugin/base/size.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/text_file.h"
#include "plugin/record/recording.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;
using fstests::SuiteVerdict;

constexpr const char* kFstestsFolder = "headcrash-fstests";
constexpr const char* kSuiteImageName = "suite.squashfs";
/// Memory of the recording guest, in addition to the root file system and the test device.
constexpr std::uint64_t kSuiteMemoryBytes = 512ULL << 20U;

struct FstestsArguments {
  std::vector<std::string> command;
  std::vector<std::string> filesystems, groups, tests, expunge, strategies;
  std::string rootfs, recording, disk = "1G", folder = kFstestsFolder, csv;
  std::uint64_t states = 60, seed = 1, time_s = 60, test_limit_s = 300;
  std::size_t jobs = 2;
  bool keep = false, as_json = false;
  Verbosity verbosity = Verbosity::normal;
  KernelArguments kernel;
  report::CiFiles ci;
};

/// The outcome of a test on a file system.
struct TestResult {
  std::string filesystem, test;
  fstests::SuiteOutcome suite;
  fstests::CrashOutcome crash;
  double seconds = 0;
  std::string page, recording;  ///< paths of the files of a failure

  const explorer::ConfirmedFailure* failure() const {
    return explorer::first_confirmed(crash.failures);
  }
  bool lost() const { return failure() != nullptr; }
  bool unconfirmed() const { return crash.failing > 0 && !lost(); }
  /// Returns the verdict of the crash states.
  std::string crash_word() const {
    if (lost()) return "FAILED";
    if (unconfirmed()) return "unconfirmed";
    return crash.states > 0 ? "kept" : "-";
  }
};

Result<fstests::CrashOptions> crash_options(const FstestsArguments& arguments) {
  fstests::CrashOptions options{.strategies = {},
                                .states = arguments.states,
                                .limit = std::chrono::seconds(arguments.time_s),
                                .seed = arguments.seed,
                                .interrupted = &interrupted()};
  for (const std::string& word : arguments.strategies) {
    TRY(const auto strategy, states::parse_strategy(word));
    options.strategies.push_back(strategy);
  }
  return options;
}

/// Starts the guest that runs the suite.
Result<std::unique_ptr<explorer::GuestPool>> start_suite_guest(
    const FstestsArguments& arguments, const adapters::LinuxAdapter& filesystem,
    const fs::path& image, std::uint64_t disk_bytes) {
  const fs::path cache = campaign::default_cache();
  const auto accelerator = run::accelerator_of(arguments.kernel.virtual_time(), cache);
  adapters::GuestParts parts = filesystem.guest;
  parts.rootfs = image.string();
  TRY(const auto guest, vm::guest_image(cache, parts, accelerator));
  const std::uint64_t memory = kSuiteMemoryBytes + 2 * fs::file_size(image) + 2 * disk_bytes;
  return explorer::GuestPool::start(1,
                                    {.image = guest,
                                     .accelerator = accelerator,
                                     .memory_mib = static_cast<std::uint32_t>(memory >> 20U),
                                     .disk_bytes = disk_bytes,
                                     .cache = cache,
                                     .step_timeout = std::chrono::seconds(arguments.test_limit_s),
                                     .interrupted = &interrupted()});
}

std::string recording_name(const std::string& test) {
  std::string name = test;
  std::ranges::replace(name, '/', '-');
  return name;
}

std::string reproduce_command(const FstestsArguments& arguments, const TestResult& result) {
  return fmt::format("headcrash fstests --recording {} --fs {} --states {} --seed {} --strategy {}",
                     base::shell_quoted(result.recording), base::shell_quoted(result.filesystem),
                     arguments.states, arguments.seed, fmt::join(arguments.strategies, ","));
}

/// Writes the page of the first failure that was reproduced.
Result<void> write_failure_page(const FstestsArguments& arguments,
                                const adapters::LinuxAdapter& filesystem, TestResult& result) {
  const explorer::StateOutcome& outcome = result.failure()->outcome;
  TRY(const auto run, states::RunHistory::load(outcome.recording));
  TRY(const auto state, states::parse_crash_state(outcome.state));
  const fs::path page = fs::path(result.recording).replace_extension(".crash.html");
  TRY(save_crash_file({.run = run.get(),
                       .filesystem = &filesystem,
                       .state = state,
                       .judgement = outcome.judgement,
                       .checked = true,
                       .findings = outcome.findings,
                       .log = outcome.log,
                       .reproduce = {reproduce_command(arguments, result)}},
                      page));
  result.page = page.string();
  return {};
}

/// Explores the recording of a result. Keeps the recording if a state fails, and removes it
/// otherwise.
Result<void> explore(const FstestsArguments& arguments, const adapters::LinuxAdapter& filesystem,
                     explorer::GuestPool& pool, TestResult& result) {
  if (result.suite.recording.empty() || result.suite.verdict == SuiteVerdict::not_run) return {};
  TRY(const auto options, crash_options(arguments));
  TRY(auto crash,
      fstests::explore_periods(pool.guests(), filesystem, result.suite.recording, options));
  result.crash = std::move(crash);
  result.recording = result.suite.recording.string();
  if (result.lost()) return write_failure_page(arguments, filesystem, result);
  if (result.crash.failing > 0 || arguments.keep || !arguments.recording.empty()) return {};
  std::error_code error;
  fs::remove(result.suite.recording, error);
  result.recording.clear();
  return {};
}

void print_result(const TestResult& result) {
  const fstests::CrashOutcome& crash = result.crash;
  const std::string reason = result.suite.reason();
  fmt::print("{:<7} {:<13} {:<8} {:<12}{} states in {} of {} mounts    {:.1f} s{}{}\n",
             result.filesystem, result.test, name(result.suite.verdict), result.crash_word(),
             crash.states, crash.explored, crash.periods, result.seconds,
             reason.empty() ? "" : "  ", reason);
  if (const auto* failure = result.failure()) {
    const explorer::StateOutcome& outcome = failure->outcome;
    fmt::print("        {} of {} crash states failed: {} ({}): {}\n", crash.failing, crash.states,
               outcome.state, oracle::name(outcome.judgement.verdict), outcome.judgement.summary);
    if (!outcome.findings.empty()) {
      const oracle::Finding& first = outcome.findings.front();
      fmt::print("        {}: expected {}, found {}\n", first.path, first.expected, first.found);
    }
    fmt::print("        page {}, recording {}\n", result.page, result.recording);
  } else if (crash.failing > 0) {
    fmt::print("        {} of {} crash states failed, but not on a fresh guest\n", crash.failing,
               crash.states);
  }
  for (const fstests::SkippedPeriod& skipped : crash.skipped)
    fmt::print(
        "        events {} to {} were not explored, because the state at the unmount failed: {}\n",
        skipped.period.from, skipped.period.to, skipped.reason);
  std::fflush(stdout);
}

nlohmann::json as_json(const TestResult& result) {
  nlohmann::json skipped = nlohmann::json::array();
  for (const fstests::SkippedPeriod& each : result.crash.skipped)
    skipped.push_back(
        {{"from", each.period.from}, {"to", each.period.to}, {"reason", each.reason}});
  nlohmann::json failures = nlohmann::json::array();
  for (const explorer::ConfirmedFailure& each : result.crash.failures)
    failures.push_back({{"state", each.outcome.state},
                        {"confirmed", each.confirmed},
                        {"verdict", oracle::name(each.outcome.judgement.verdict)},
                        {"summary", each.outcome.judgement.summary},
                        {"findings", findings_as_json(each.outcome.findings)}});
  return {{"filesystem", result.filesystem},
          {"test", result.test},
          {"suite", name(result.suite.verdict)},
          {"reason", result.suite.reason()},
          {"crash", result.crash_word()},
          {"mounts", result.crash.periods},
          {"explored_mounts", result.crash.explored},
          {"mounts_with_durable_objects", result.crash.with_durable_objects},
          {"skipped", skipped},
          {"states", result.crash.states},
          {"failing", result.crash.failing},
          {"failures", failures},
          {"recording", result.recording},
          {"page", result.page},
          {"seconds", result.seconds}};
}

Result<void> write_csv(const std::vector<TestResult>& results, const std::string& path) {
  std::string text =
      "filesystem,test,suite,crash,mounts,explored,durable,states,failing,seconds,reason\n";
  for (const TestResult& result : results)
    text += base::csv_line(std::vector<std::string>{
        result.filesystem, result.test, std::string(name(result.suite.verdict)),
        result.crash_word(), std::to_string(result.crash.periods),
        std::to_string(result.crash.explored), std::to_string(result.crash.with_durable_objects),
        std::to_string(result.crash.states), std::to_string(result.crash.failing),
        fmt::format("{:.1f}", result.seconds),
        result.lost() ? result.failure()->outcome.judgement.summary : result.suite.reason()});
  return base::write_text_file(path, text);
}

report::CiCase ci_case(const TestResult& result) {
  using enum report::CiCase::Verdict;
  report::CiCase made{.group = "fstests " + result.filesystem,
                      .name = result.test,
                      .message = result.suite.reason(),
                      .details = result.suite.output,
                      .seconds = result.seconds,
                      .files = {},
                      .source = {}};
  made.verdict = result.suite.verdict == SuiteVerdict::passed    ? passed
                 : result.suite.verdict == SuiteVerdict::not_run ? skipped
                                                                 : failed;
  if (result.unconfirmed()) {
    made.verdict = error;
    made.message = "crash states failed, but not on a fresh guest";
  }
  if (!result.lost()) return made;
  made.verdict = failed;
  const explorer::StateOutcome& outcome = result.failure()->outcome;
  made.message = fmt::format("crash state {}: {}", outcome.state, outcome.judgement.summary);
  made.details = outcome.log;
  made.files = {result.page, result.recording};
  return made;
}

void print_totals(const std::string& filesystem, const std::vector<TestResult>& results) {
  std::size_t tests = 0, passed = 0, not_run = 0, crashed = 0, lost = 0, unconfirmed = 0;
  std::uint64_t states = 0;
  for (const TestResult& result : results) {
    if (result.filesystem != filesystem) continue;
    ++tests;
    passed += result.suite.verdict == SuiteVerdict::passed ? 1 : 0;
    not_run += result.suite.verdict == SuiteVerdict::not_run ? 1 : 0;
    crashed += result.crash.states > 0 ? 1 : 0;
    lost += result.lost() ? 1 : 0;
    unconfirmed += result.unconfirmed() ? 1 : 0;
    states += result.crash.states;
  }
  fmt::print(
      "{}: {} tests: {} passed, {} failed, {} not run; {} crash-tested in {} states: {} kept, {} "
      "failed, {} unconfirmed\n",
      filesystem, tests, passed, tests - passed - not_run, not_run, crashed, states,
      crashed - lost - unconfirmed, lost, unconfirmed);
  std::fflush(stdout);
}

/// Runs tests of a suite on one file system, and appends their results.
class SuiteOnFilesystem {
 public:
  SuiteOnFilesystem(const FstestsArguments& arguments, fstests::Suite suite, fs::path image,
                    adapters::LinuxAdapter filesystem)
      : arguments_(arguments),
        suite_(std::move(suite)),
        image_(std::move(image)),
        filesystem_(std::move(filesystem)) {}

  Result<void> run(const std::vector<std::string>& tests, std::vector<TestResult>& results) {
    TRY(const auto bytes, base::parse_size(arguments_.disk, "--disk"));
    TRY(suite_guest_, start_suite_guest(arguments_, filesystem_, image_, bytes));
    TRY(pool_,
        start_guests(filesystem_, {}, bytes, arguments_.jobs, arguments_.kernel.virtual_time()));
    for (const std::string& test : tests) {
      if (interrupted()) break;
      auto result = run_test(test, bytes);
      if (interrupted()) break;
      if (!result) return forward_error(result);
      if (!arguments_.as_json) print_result(*result);
      results.push_back(std::move(*result));
    }
    return {};
  }

 private:
  Result<TestResult> run_test(const std::string& test, std::uint64_t disk_bytes) {
    const base::Stopwatch watch;
    TestResult result{.filesystem = filesystem_.name, .test = test};
    const fstests::SuiteRun run{
        .test = test,
        .type = filesystem_.type,
        .test_device_bytes = disk_bytes,
        .more_arguments = {arguments_.command.begin() + 1, arguments_.command.end()},
        .image = fs::absolute(image_).string(),
        .disk = {.used = false, .seed = arguments_.seed}};
    const fs::path recording =
        fs::path(arguments_.folder) / filesystem_.name / (recording_name(test) + ".hcrec");
    std::error_code error;
    fs::create_directories(recording.parent_path(), error);
    auto outcome = fstests::run_test(suite_guest_->guest(0), suite_, run, recording);
    if (!outcome && outcome.error().kind != ErrorKind::guest_died) return forward_error(outcome);
    if (outcome) {
      result.suite = std::move(*outcome);
      TRY(explore(arguments_, filesystem_, *pool_, result));
    } else {
      result.suite.output = outcome.error().message();
    }
    if (result.suite.verdict == SuiteVerdict::failed)
      TRY(base::write_text_file(fs::path(recording).replace_extension(".txt").string(),
                                result.suite.output + "\n"));
    result.seconds = watch.ms() / 1000;
    return result;
  }

  const FstestsArguments& arguments_;
  fstests::Suite suite_;
  fs::path image_;
  adapters::LinuxAdapter filesystem_;
  std::unique_ptr<explorer::GuestPool> suite_guest_, pool_;
};

Result<adapters::LinuxAdapter> adapter_of(const FstestsArguments& arguments,
                                          const std::string& name) {
  TRY(auto filesystem, adapters::load_adapter(name));
  TRY(apply_kernel(arguments.kernel, filesystem));
  if (filesystem.has_several_disks() || filesystem.stack)
    return fail("--fs", name + " needs several disks, but the suite formats only one",
                "use a file system on one disk");
  return filesystem;
}

Result<void> check(const FstestsArguments& arguments) {
  if (!arguments.recording.empty() && arguments.filesystems.size() != 1)
    return fail("--recording", "needs exactly one --fs", "name the file system that was recorded");
  if (!arguments.csv.empty()) TRY(check_output_path(arguments.csv, "--csv"));
  if (!arguments.recording.empty()) return {};
  if (arguments.command.empty())
    return fail("fstests", "the program `check` of the suite is not given",
                "headcrash fstests --rootfs ROOTFS --group quick -- /var/lib/xfstests/check");
  if (arguments.rootfs.empty())
    return fail("fstests", "the root file system of the suite is not given", "add --rootfs FOLDER");
  if (arguments.groups.empty() && arguments.tests.empty())
    return fail("fstests", "no tests are selected", "add --group quick or --test generic/034");
  return {};
}

/// Explores an existing recording of a test.
Result<std::vector<TestResult>> explore_recording(const FstestsArguments& arguments) {
  TRY(const auto filesystem, adapter_of(arguments, arguments.filesystems.front()));
  TRY(const auto reader, record::RecordingReader::open(arguments.recording));
  TRY(const auto bytes, recorded_disk_bytes(arguments.recording, reader.header(), filesystem));
  TRY(const auto pool,
      start_guests(filesystem, {}, bytes, arguments.jobs, arguments.kernel.virtual_time()));
  TestResult result{.filesystem = filesystem.name,
                    .test = fs::path(arguments.recording).stem().string()};
  result.suite = {.verdict = SuiteVerdict::passed, .output = {}, .recording = arguments.recording};
  TRY(explore(arguments, filesystem, *pool, result));
  result.seconds = result.crash.seconds;
  if (!arguments.as_json) print_result(result);
  return std::vector<TestResult>{std::move(result)};
}

Result<std::vector<TestResult>> run_suite(const FstestsArguments& arguments) {
  TRY(const auto suite, fstests::find_suite(arguments.rootfs, arguments.command.front()));
  fstests::Selection selection{
      .groups = arguments.groups, .tests = arguments.tests, .expunged = {}};
  for (const std::string& file : arguments.expunge) {
    TRY(auto tests, fstests::read_expunged(file));
    selection.expunged.merge(tests);
  }
  std::vector<std::pair<adapters::LinuxAdapter, std::vector<std::string>>> work;
  for (const std::string& name : arguments.filesystems) {
    TRY(auto filesystem, adapter_of(arguments, name));
    TRY(auto tests, fstests::select_tests(suite, filesystem.type, selection));
    work.emplace_back(std::move(filesystem), std::move(tests));
  }
  std::error_code error;
  fs::create_directories(arguments.folder, error);
  if (error)
    return fail(arguments.folder, error.message(), "choose a writable folder with --folder");
  const fs::path image = fs::path(arguments.folder) / kSuiteImageName;
  TRY(check::pack_rootfs(suite.rootfs, image));
  std::vector<TestResult> results;
  for (auto& [filesystem, tests] : work) {
    const std::string name = filesystem.name;
    TRY(SuiteOnFilesystem(arguments, suite, image, std::move(filesystem)).run(tests, results));
    if (!arguments.as_json) print_totals(name, results);
    if (interrupted()) break;
  }
  fs::remove(image, error);
  return results;
}

Result<int> run_all(const FstestsArguments& arguments) {
  TRY(check(arguments));
  TRY(crash_options(arguments));
  TRY(const auto results,
      arguments.recording.empty() ? run_suite(arguments) : explore_recording(arguments));
  if (!arguments.csv.empty()) TRY(write_csv(results, arguments.csv));
  std::vector<report::CiCase> cases;
  nlohmann::json list = nlohmann::json::array();
  bool found = false, unclear = false;
  for (const TestResult& result : results) {
    cases.push_back(ci_case(result));
    list.push_back(as_json(result));
    found = found || result.lost() || result.suite.verdict == SuiteVerdict::failed;
    unclear = unclear || result.unconfirmed();
  }
  if (arguments.as_json) print(list);
  return finish_ci(arguments.ci, "headcrash fstests", cases,
                   found     ? kFound
                   : unclear ? kUsage
                             : kFine);
}

int run(FstestsArguments arguments) {
  if (arguments.filesystems.empty()) arguments.filesystems = {"ext4", "xfs", "btrfs"};
  if (arguments.strategies.empty()) arguments.strategies = {"prefix", "lose-all", "reorder"};
  if (arguments.kernel.guest.empty())
    arguments.kernel.guest = fastest_guest(arguments.kernel.parts());
  catch_interrupts();
  const auto done = run_all(arguments);
  if (interrupted()) {
    fmt::print(stderr, "headcrash: interrupted; not all tests were run\n");
    return kInterrupted;
  }
  return done ? *done : report_error(done.error(), arguments.as_json);
}

void add_options(CLI::App& command, FstestsArguments& arguments) {
  command.add_option("CHECK", arguments.command,
                     "The program `check` of the suite, and further arguments for it, after --");
  command.add_option("--rootfs", arguments.rootfs,
                     "Folder with a root file system in which the suite is installed");
  command
      .add_option("--fs", arguments.filesystems,
                  "File system, a name or .toml file; may be repeated; default: ext4, xfs and "
                  "btrfs")
      ->allow_extra_args(false);
  command
      .add_option("--group", arguments.groups,
                  "Group of tests, such as quick; may be repeated. Tests that damage their file "
                  "system on purpose are omitted")
      ->allow_extra_args(false);
  command.add_option("--test", arguments.tests, "Test, such as generic/034; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--expunge", arguments.expunge,
                  "File with tests to skip, one on each line, such as known failures; "
                  "may be repeated")
      ->allow_extra_args(false);
  command.add_option("--recording", arguments.recording,
                     "Explore this recording of an earlier run instead of running tests");
  command
      .add_option("--strategy", arguments.strategies,
                  "Kinds of crash states, as for explore; default: prefix,lose-all,reorder")
      ->delimiter(',');
  command.add_option("--states", arguments.states, "Maximum number of crash states of each test")
      ->check(between(1, 100'000'000))
      ->capture_default_str();
  command
      .add_option("--time", arguments.time_s,
                  "Time limit in seconds for the crash states of each test")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  command
      .add_option("--test-limit", arguments.test_limit_s,
                  "Time limit in seconds for each test itself")
      ->check(between(1, 80'000))
      ->capture_default_str();
  command.add_option("--disk", arguments.disk, "Size of the scratch disk, and of the test device")
      ->capture_default_str();
  command.add_option("--seed", arguments.seed, "Seed of all random choices")->capture_default_str();
  command.add_option("--jobs", arguments.jobs, "Number of guests that check crash states")
      ->check(between(1, 64))
      ->capture_default_str();
}

}  // namespace

void add_fstests(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "fstests", "Runs tests of fstests (xfstests), and cuts the power while they run");
  const auto arguments = std::make_shared<FstestsArguments>();
  add_options(*command, *arguments);
  command
      ->add_option("--folder", arguments->folder,
                   "Folder for the recordings and pages of tests whose crash states fail")
      ->capture_default_str();
  command->add_flag("--keep", arguments->keep, "Keep the recordings of all tests");
  command->add_option("--csv", arguments->csv, "Write a CSV file with a line for each test");
  add_kernel_options(*command, arguments->kernel, kFastestGuest);
  add_ci_options(*command, arguments->ci);
  add_verbosity_options(*command, arguments->verbosity);
  command->add_flag("--json", arguments->as_json, "Print the results as JSON");
  command->footer(
      "Examples:\n"
      "  headcrash fstests --rootfs suite --group log --fs ext4 -- /var/lib/xfstests/check\n"
      "  headcrash fstests --rootfs suite --test generic/034 --junit fstests.xml -- "
      "/var/lib/xfstests/check\n"
      "  headcrash fstests --recording headcrash-fstests/ext4/generic-034.hcrec --fs ext4\n\n"
      "Exit code 0: all tests passed or were not run, and all crash states had all durable data; "
      "1: a test or a crash state failed; 2: usage error, or a crash state that failed only once.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
