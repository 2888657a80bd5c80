// Implements `headcrash check`, which runs a user's program on file systems and cuts their power.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>

#include "harness/campaign/campaign.h"
#include "harness/check/test_program.h"
#include "harness/cli/command.h"
#include "harness/cli/explored.h"
#include "harness/cli/terminal.h"
#include "harness/explorer/explain/lost_writes.h"
#include "harness/explorer/reproduce/failure_report.h"
#include "harness/oracle/application_verdict.h"
#include "harness/run/environment.h"
#include "harness/run/guest_kind.h"
#include "harness/vm/guest.h"
#include "plugin/base/command_text.h"
#include "plugin/base/printable.h"
#include "plugin/base/size.h"
#include "plugin/base/text_file.h"
#include "plugin/states/run_history.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultFolder = "headcrash-check";
constexpr const char* kScriptName = "reproduce.sh";
constexpr std::size_t kLostWritesShown = 2;
constexpr std::uint64_t kControlStates = 200;
// Size of the disk as a multiple of the bytes that the program writes.
constexpr std::uint64_t kRoomFactor = 4;
// The time left for minimising a failure, within these limits.
constexpr double kMinimiseSecondsLeast = 5, kMinimiseSecondsMost = 20;

struct CheckArguments {
  check::TestProgram program;
  std::vector<std::string> filesystems;
  std::string stack;  ///< stack of devices below each file system; empty if none
  std::string folder = kDefaultFolder;
  std::string disk;  ///< size of the disk; empty for an estimate
  std::uint64_t states = 1000, seed = 1, time_s = 60, limit_s = 60;
  std::size_t jobs = 2;
  bool keep = false, all = false, as_json = false;
  Verbosity verbosity = Verbosity::normal;
  KernelArguments kernel;
  report::CiFiles ci;
};

/// The result for one file system.
struct Verdict {
  enum class Kind : std::uint8_t { kept, lost, unclear };
  std::string option;      ///< value of --fs
  std::string filesystem;  ///< name of its adapter
  Kind kind = Kind::unclear;
  std::uint64_t states = 0;
  std::size_t lines = 0;  ///< number of lines that the program printed in the guest
  double space = 0, seconds = 0;
  bool whole = false;              ///< all states of the strategies were checked
  std::string recording;           ///< recording in which the control looks for a loss
  std::string headline;            ///< for a loss: text that follows "lost"
  std::vector<std::string> about;  ///< for a loss: further lines
};

std::string word(Verdict::Kind kind) {
  constexpr std::array<const char*, 3> kWords{"kept", "lost", "unclear"};
  return kWords.at(static_cast<std::size_t>(kind));
}

std::string program_name(const CheckArguments& arguments) {
  return fs::path(arguments.program.argv.front()).filename().string();
}

ExploreArguments exploration_of(const CheckArguments& arguments, const std::string& filesystem,
                                const check::PreparedProgram& prepared) {
  ExploreArguments explore;
  explore.filesystem = filesystem;
  explore.application = prepared.application.string();
  explore.seed = arguments.seed;
  explore.budget = arguments.states;
  explore.jobs = arguments.jobs;
  explore.limit_s = arguments.time_s;
  explore.stop_at_first = !arguments.all;
  explore.kernel = arguments.kernel;
  explore.verbosity = arguments.verbosity;
  return explore;
}

/// Returns the size of the disk: that of --disk, or the smallest for the file system plus space for
/// the bytes that the program writes and preallocates.
Result<std::string> disk_size(const CheckArguments& arguments,
                              const adapters::LinuxAdapter& filesystem,
                              const check::PreparedProgram& prepared) {
  ExploreArguments explore;
  explore.size = arguments.disk;
  auto size = size_of_new_disk(explore, filesystem);
  if (!size) size.error().subject = "--disk";
  if (!size) return forward_error(size);
  if (!arguments.disk.empty()) return arguments.disk;
  const std::uint64_t wanted = *size + kRoomFactor * prepared.bytes + prepared.preallocated;
  return fmt::format("{}M", (wanted + (1 << 20) - 1) >> 20);
}

/// Checks the arguments that can be checked before the program runs.
Result<void> validate(const CheckArguments& arguments) {
  for (const std::string& filesystem : arguments.filesystems) {
    TRY(const auto adapter, adapters::load_adapter(filesystem));
    TRY(disk_size(arguments, adapter, {}));
  }
  return {};
}

/// Describes a failure of the program in the guest, without a power cut.
tl::unexpected<Error> failed_in_guest(const CheckArguments& arguments,
                                      const ExploreArguments& explore,
                                      const explorer::RecordedWorkload& workload) {
  const std::string subject = program_name(arguments) + " on " + explore.filesystem;
  const std::string& failure = *workload.failure;
  const std::string problem = failure.substr(0, failure.find_last_not_of('\n') + 1);
  if (workload.disk_full)
    return fail(subject, fmt::format("the disk of {} is full: {}", explore.size, problem),
                "set a larger size with --disk");
  return fail(subject, problem, "make it exit with 0 when the power does not fail");
}

/// Formats the last promise before the cut, for example: after line 17, "committed 17".
std::string last_promise(const explorer::StateOutcome& outcome) {
  const std::string lines = oracle::verifier_input(outcome.persisted_texts);
  const auto count = std::ranges::count(lines, '\n');
  if (count == 0) return "before its first line";
  const std::string last = lines.substr(0, lines.size() - 1);
  return fmt::format("after line {}, \"{}\"", count, last.substr(last.rfind('\n') + 1));
}

/// Writes a script that checks the state again. It exits with 1 if the program still loses data.
Result<void> write_script(const CheckArguments& arguments, const Explored& explored,
                          const std::string& state, const fs::path& path) {
  return base::write_script(
      path.string(),
      fmt::format(
          "#!/bin/sh\n"
          "# Checks again, in a guest, a crash state in which {} lost data. Exit code 1: it "
          "still does; 0: it does not.\n"
          "cd {} || exit 2\n"
          "exec {} --state {}\n",
          base::printable(program_name(arguments)), base::shell_quoted(fs::current_path().string()),
          replay_command(explored), base::shell_quoted(state)));
}

/// Returns the time limit for minimising a failure that was found after `verdict.seconds`.
std::chrono::seconds minimise_limit(const CheckArguments& arguments, const Verdict& verdict) {
  const double left = static_cast<double>(arguments.time_s) - verdict.seconds;
  return std::chrono::seconds(
      std::lround(std::clamp(left, kMinimiseSecondsLeast, kMinimiseSecondsMost)));
}

/// Minimises the first failure, describes it in `verdict`, and writes its page and its account.
Result<void> describe_loss(const CheckArguments& arguments, Explored& explored, Verdict& verdict) {
  const auto failure = std::ranges::find_if(explored.result.failures,
                                            [](const auto& each) { return each.confirmed; });
  const fs::path folder = fs::path(arguments.folder) / verdict.filesystem;
  const fs::path page = folder / "crash.html", account = folder / "failure.txt",
                 script = folder / kScriptName;
  const explorer::StateOutcome& outcome = failure->outcome;
  verdict.headline = last_promise(outcome);
  verdict.about.push_back(outcome.findings.empty()
                              ? outcome.judgement.summary
                              : fmt::format("the verifier: {}", outcome.findings.front().found));
  TRY(const auto report, explorer::report_failure(explored.pool->guest(0), explored.filesystem,
                                                  explored.workload, *failure,
                                                  {.record = {},
                                                   .recordings = folder,
                                                   .replay = replay_command(explored),
                                                   .limit = minimise_limit(arguments, verdict),
                                                   .interrupted = &interrupted()}));
  const std::string state = report.minimised_state.empty() ? outcome.state : report.minimised_state;
  TRY(base::write_text_file(account.string(), report.account));
  TRY(write_page(explored, *failure, state, page));
  TRY(write_script(arguments, explored, state, script));
  TRY(const auto run, states::RunHistory::load(outcome.recording));
  TRY(const auto parsed, states::parse_crash_state(state));
  TRY(const auto lost, explorer::lost_writes(*run, parsed, explored.filesystem.type));
  const std::size_t count = lost.writes.size();
  std::string writes =
      count == 0   ? "no write to the disk is lost: the data had not been written at the cut"
      : count == 1 ? "1 lost write is enough"
                   : fmt::format("{} lost writes are enough", count);
  for (std::size_t i = 0; i < std::min(count, kLostWritesShown); ++i)
    writes += fmt::format("{} {}", i == 0 ? ":" : ";", lost.writes[i].what);
  if (count > kLostWritesShown) writes += "; ...";
  verdict.about.push_back(writes);
  verdict.about.push_back("page      " + page.string());
  verdict.about.push_back("account   " + account.string());
  verdict.about.push_back("again     " + script.string());
  return {};
}

/// Returns true if no guest can run on this host.
bool no_guest_can_run(const CheckArguments& arguments) {
  const fs::path cache = campaign::default_cache();
  const bool virtual_time = arguments.kernel.guest == "virtual";
  return (!virtual_time && !run::is_in_path("qemu-system-x86_64")) ||
         !vm::guest_image(cache, {}, run::accelerator_of(virtual_time, cache));
}

/// Explores. If that fails because no guest can run, the error has the kind `cannot_run`.
Result<void> explore_here(const CheckArguments& arguments, const ExploreArguments& explore,
                          Explored& explored) {
  auto done = run_exploration(explore, explored);
  if (!done && no_guest_can_run(arguments)) done.error().kind = ErrorKind::cannot_run;
  return done;
}

Result<Verdict> check_one(const CheckArguments& arguments, const std::string& filesystem,
                          const check::PreparedProgram& prepared) {
  TRY(const auto adapter, adapters::load_adapter(filesystem));
  ExploreArguments explore = exploration_of(arguments, filesystem, prepared);
  explore.keep = (fs::path(arguments.folder) / adapter.name).string();
  TRY(explore.size, disk_size(arguments, adapter, prepared));
  Explored explored;
  TRY(explore_here(arguments, explore, explored));
  if (explored.workload.failure) return failed_in_guest(arguments, explore, explored.workload);
  const explorer::ExplorationResult& result = explored.result;
  Verdict verdict{.option = filesystem,
                  .filesystem = adapter.name,
                  .states = result.checked,
                  .seconds = result.wall_ms / 1000,
                  .whole = !result.out_of_time,
                  .recording = explored.workload.recording.string()};
  TRY(const auto run, states::RunHistory::load(explored.workload.recording));
  verdict.lines = explorer::persisted_texts_before(*run, run->events()).size();
  for (const states::Coverage& part : result.coverage) {
    verdict.space += part.space;
    if (static_cast<double>(part.generated) < part.space) verdict.whole = false;
  }
  if (std::ranges::any_of(result.failures, [](const auto& each) { return each.confirmed; })) {
    verdict.kind = Verdict::Kind::lost;
    TRY(describe_loss(arguments, explored, verdict));
    TRY(attribute_failures(explore, explored));
    if (!explored.attribution.empty())
      verdict.about.push_back("attributed to " + explored.attribution);
  } else if (!explored.broken_rules.empty()) {
    verdict.kind = Verdict::Kind::lost;
    verdict.headline = "a promise of the stack " + explored.filesystem.stack->name;
  } else if (result.checked == result.clean && result.checked > 0) {
    verdict.kind = Verdict::Kind::kept;
  } else {
    verdict.headline = headline(explored);
  }
  for (const explorer::BrokenRule& broken : explored.broken_rules)
    verdict.about.push_back(
        fmt::format("rule broken: {}, {}: {}", broken.rule, broken.disk, broken.text));
  return verdict;
}

/// Returns whether the verifier reports a loss when the disk ignores flushes; nullopt if the time
/// limit ended the search.
Result<std::optional<bool>> sees_a_loss(const CheckArguments& arguments, const Verdict& verdict,
                                        const check::PreparedProgram& prepared) {
  ExploreArguments explore = exploration_of(arguments, verdict.option, prepared);
  explore.recording = verdict.recording;
  explore.strategies = {"lying-flush"};
  explore.budget = kControlStates;
  explore.stop_at_first = true;
  Explored explored;
  TRY(run_exploration(explore, explored));
  const bool sees = std::ranges::any_of(explored.result.failures,
                                        [](const auto& each) { return each.confirmed; });
  if (!sees && explored.result.out_of_time) return std::nullopt;
  return sees;
}

void print_verdict(const Verdict& verdict) {
  if (verdict.kind == Verdict::Kind::kept) {
    const std::string of = verdict.whole ? ", all that the strategies define"
                                         : fmt::format(" of about {:.0f}", verdict.space);
    fmt::print("{:<7} kept    {} crash states{}    {:.1f} s\n", verdict.filesystem, verdict.states,
               of, verdict.seconds);
    return;
  }
  fmt::print("{:<7} {:<8}{}\n", verdict.filesystem, word(verdict.kind), verdict.headline);
  for (const std::string& line : verdict.about) fmt::print("{:<8}{}\n", "", line);
}

/// Prints whether the verifier can see a loss, unless it cannot, which is an error.
void print_control(const CheckArguments& arguments, const std::optional<bool>& can_see) {
  if (!can_see)
    fmt::print(
        "In {} s no loss was found without its flushes either; a larger --time shows whether the "
        "verifier can see one.\n",
        arguments.time_s);
  else if (*can_see)
    fmt::print("Without its flushes the same test loses data, so the verifier can see a loss.\n");
}

nlohmann::json as_json(const std::vector<Verdict>& verdicts, const std::optional<bool>& can_see) {
  nlohmann::json list = nlohmann::json::array();
  for (const Verdict& verdict : verdicts)
    list.push_back({{"filesystem", verdict.filesystem},
                    {"verdict", word(verdict.kind)},
                    {"states", verdict.states},
                    {"space", verdict.space},
                    {"whole", verdict.whole},
                    {"lines", verdict.lines},
                    {"seconds", verdict.seconds},
                    {"headline", verdict.headline},
                    {"about", verdict.about}});
  return {{"filesystems", list},
          {"can_see", can_see ? nlohmann::json(*can_see) : nlohmann::json()}};
}

std::vector<report::CiCase> ci_cases(const CheckArguments& arguments,
                                     const std::vector<Verdict>& verdicts, bool blind) {
  using enum report::CiCase::Verdict;
  std::vector<report::CiCase> cases;
  for (const Verdict& verdict : verdicts) {
    const bool lost = verdict.kind == Verdict::Kind::lost;
    const bool kept = verdict.kind == Verdict::Kind::kept;
    cases.push_back(
        {.group = "check " + program_name(arguments),
         .name = verdict.filesystem,
         .verdict = lost             ? failed
                    : kept && !blind ? passed
                                     : error,
         .message = kept && blind ? "the verifier cannot detect a loss" : verdict.headline,
         .details = fmt::format("{}", fmt::join(verdict.about, "\n")),
         .seconds = verdict.seconds,
         .files = {},
         .source = {}});
  }
  return cases;
}

/// Returns true if every entry of the folder is one that a check creates.
bool is_of_a_check(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (name == check::kApplicationName || name == check::kImageName) continue;
    // A check that ended before it formatted the disk leaves an empty folder.
    const bool empty = fs::is_directory(entry->path(), error) && fs::is_empty(entry->path(), error);
    if (!empty && !fs::exists(entry->path() / kFormattedName, error)) return false;
  }
  return !error;
}

/// Creates the result folder. Removes files of an earlier check, and refuses to remove any others.
Result<void> make_folder(const CheckArguments& arguments) {
  const fs::path folder = arguments.folder;
  std::error_code error;
  if (fs::exists(folder, error) && !is_of_a_check(folder))
    return fail(folder.string(), "contains files that are not from a check",
                "choose another folder with --folder");
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (error)
    return fail(folder.string(), "cannot be made: " + error.message(),
                "choose a writable folder with --folder");
  return {};
}

Result<int> check_all(const CheckArguments& arguments) {
  TRY(validate(arguments));
  TRY(make_folder(arguments));
  TRY(const auto prepared, check::prepare(arguments.program, arguments.folder));
  const std::string name = program_name(arguments);
  std::vector<Verdict> verdicts;
  std::optional<bool> can_see;
  bool lost = false, unclear = false;
  for (const std::string& filesystem : arguments.filesystems) {
    TRY(auto verdict, check_one(arguments, filesystem, prepared));
    if (!arguments.as_json) {
      if (verdicts.empty()) fmt::print("{} acknowledged {} lines\n", name, verdict.lines);
      print_verdict(verdict);
      std::fflush(stdout);
    }
    lost = lost || verdict.kind == Verdict::Kind::lost;
    unclear = unclear || verdict.kind == Verdict::Kind::unclear;
    if (verdict.kind == Verdict::Kind::lost) can_see = true;
    verdicts.push_back(std::move(verdict));
  }
  for (const Verdict& verdict : verdicts) {
    if (can_see.value_or(false) || verdict.kind != Verdict::Kind::kept) continue;
    TRY(can_see, sees_a_loss(arguments, verdict, prepared));
    if (!can_see) break;
  }
  if (arguments.as_json) print(as_json(verdicts, can_see));
  if (!lost && !unclear && !arguments.as_json) print_control(arguments, can_see);
  const bool blind = can_see && !*can_see;
  const int ended =
      finish_ci(arguments.ci, "headcrash check", ci_cases(arguments, verdicts, blind), kFine);
  if (ended != kFine) return ended;
  if (!lost && blind && arguments.as_json) return kUsage;  // "can_see" is false
  if (!lost && blind)
    return fail(
        name, "also passes if the disk ignores every flush, so its verifier cannot detect a loss",
        "make the verifier compare the lines on its standard input with the files in the folder");
  if (!lost && !unclear && !arguments.keep) {
    std::error_code error;
    fs::remove_all(arguments.folder, error);
  }
  if (lost) return kFound;
  return unclear ? kUsage : kFine;
}

int run(CheckArguments arguments) {
  if (arguments.program.argv.empty())
    return report_error(Error{.subject = "check",
                              .problem = "no program is given",
                              .hint = "headcrash check --fs ext4 -- ./mytest"},
                        arguments.as_json);
  if (arguments.filesystems.empty()) arguments.filesystems = {"ext4", "xfs", "btrfs", "f2fs"};
  for (std::string& filesystem : arguments.filesystems)
    filesystem = adapters::name_on_stack(filesystem, arguments.stack);
  arguments.program.argv = check::with_absolute_files(std::move(arguments.program.argv));
  arguments.program.verify = check::with_absolute_files(arguments.program.verify);
  arguments.program.init = check::with_absolute_files(arguments.program.init);
  arguments.program.limit = std::chrono::seconds(arguments.limit_s);
  if (arguments.kernel.guest.empty()) arguments.kernel.guest = fastest_guest();
  catch_interrupts();
  const auto done = check_all(arguments);
  if (interrupted()) {
    fmt::print(stderr, "headcrash: interrupted; not all states were checked\n");
    return kInterrupted;
  }
  if (done) return *done;
  const int code = report_error(done.error(), arguments.as_json);
  return done.error().kind == ErrorKind::cannot_run ? kSkipped : code;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "check",
      "Runs a program on file systems, cuts the power, and verifies that no promised data is lost");
  const auto arguments = std::make_shared<CheckArguments>();
  command->add_option("PROGRAM", arguments->program.argv,
                      "The program and its arguments, after --. Each line that it prints is a "
                      "promise: the effects of all earlier actions must survive");
  command
      ->add_option("--fs", arguments->filesystems,
                   "File system, a name or .toml file; may be repeated; default: ext4, xfs, "
                   "btrfs and f2fs")
      ->allow_extra_args(false);
  add_stack_option(*command, arguments->stack);
  command->add_option(
      "--verify", arguments->program.verify,
      "Command that runs in the recovered folder, with the lines printed before the cut "
      "on standard input; exit code 0 is good. Default: the program itself");
  command->add_option("--init", arguments->program.init,
                      "Command that is run before the program; its files are synced");
  command
      ->add_option("--env", arguments->program.environment,
                   "NAME=VALUE for the environment of all commands; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--files", arguments->program.files,
                   "Further file or folder that the program needs; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--rootfs", arguments->program.rootfs,
                      "Folder or tar archive with the program's root file system, in place of the "
                      "files that it uses on this host");
  add_kernel_options(*command, arguments->kernel, kFastestGuest);
  command
      ->add_option("--time", arguments->time_s,
                   "Time limit in seconds for the states of each file system")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--disk", arguments->disk,
                      "Size of the test disk; default: the smallest for the file system, with room "
                      "for what the program writes and preallocates on this host");
  command
      ->add_option("--run-limit", arguments->limit_s,
                   "Time limit in seconds for each command on this host")
      ->check(between(1, 100'000))
      ->capture_default_str();
  command->add_option("--states", arguments->states, "Maximum number of states of each file system")
      ->check(between(1, 100'000'000))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "Seed of all random choices")
      ->capture_default_str();
  command->add_option("--jobs", arguments->jobs, "Number of concurrent guests")
      ->check(between(1, 64))
      ->capture_default_str();
  command
      ->add_option("--folder", arguments->folder,
                   "Folder for recordings, pages and accounts; removed if nothing was lost")
      ->capture_default_str();
  command->add_flag("--keep", arguments->keep, "Keep the folder even if nothing was lost");
  command->add_flag("--all", arguments->all, "Do not stop at the first loss of a file system");
  add_ci_options(*command, arguments->ci);
  add_verbosity_options(*command, arguments->verbosity);
  command->add_flag("--json", arguments->as_json, "Print the outcome as JSON");
  command->footer(
      "Examples:\n  headcrash check --fs ext4 -- ./mytest\n"
      "  headcrash check --verify './verify.sh' -- ./mytest 100\n"
      "  headcrash check --fs ext4 --fs btrfs --time 300 -- python3 test.py\n\n"
      "Exit code 0: every promise was kept; 1: one was lost; 2: usage, or a check that cannot "
      "notice a loss; 77: no guest can run here.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
