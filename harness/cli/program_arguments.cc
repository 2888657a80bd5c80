// Adds the options of the commands that test a user's program, and runs their explorations
// (program_arguments.h).
#include "harness/cli/program_arguments.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cmath>

#include "harness/campaign/campaign.h"
#include "harness/explorer/explain/lost_writes.h"
#include "harness/explorer/guests/check_state.h"
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

constexpr std::size_t kLostWritesShown = 2;
constexpr std::uint64_t kControlStates = 200;
// The disk is this many times as large as the data that the program writes.
constexpr std::uint64_t kRoomFactor = 4;
// Range of the time limit for minimising a failure.
constexpr double kMinimiseSecondsLeast = 5, kMinimiseSecondsMost = 20;

std::string issued_by(const explorer::LostWrite& lost) {
  if (lost.issuers.issued.empty()) return "";
  return ", issued by " + explorer::issuers_text(lost.issuers.issued);
}

/// Writes a script that checks the state again. The script exits with 1 if the program still loses
/// data.
Result<void> write_script(const ProgramArguments& arguments, const Explored& explored,
                          const std::string& state, const fs::path& path) {
  return base::write_script(
      path.string(),
      fmt::format(
          "#!/bin/sh\n"
          "# Repeats, in a guest, the check of a crash state in which {} lost data. Exit code 1: "
          "data is lost again; 0: no data is lost.\n"
          "cd {} || exit 2\n"
          "exec {} --state {}\n",
          base::printable(program_name(arguments)), base::shell_quoted(fs::current_path().string()),
          replay_command(explored), base::shell_quoted(state)));
}

bool no_guest_can_run(const ProgramArguments& arguments) {
  const fs::path cache = campaign::default_cache();
  const bool virtual_time = arguments.kernel.guest == "virtual";
  return (!virtual_time && !run::is_in_path("qemu-system-x86_64")) ||
         !vm::guest_image(cache, {}, run::accelerator_of(virtual_time, cache));
}

/// Returns true if the directory contains only files that check or audit creates.
bool has_only_results(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (name == check::kImageName || name.extension() == ".toml") continue;
    // An empty directory is acceptable: a run that ended before it formatted the disk leaves one.
    const bool empty = fs::is_directory(entry->path(), error) && fs::is_empty(entry->path(), error);
    if (!empty && !fs::exists(entry->path() / kFormattedName, error)) return false;
  }
  return !error;
}

/// Locks the directory if it exists, until the descriptor is closed. Fails if another process has
/// locked it.
Result<base::Descriptor> locked_folder(const fs::path& folder) {
  base::Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open() && ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(folder.string(), "is in use by another check or audit",
                "choose another folder with --folder");
  return opened;
}

}  // namespace

std::string program_name(const ProgramArguments& arguments) {
  return fs::path(arguments.program.argv.front()).filename().string();
}

ExploreArguments exploration_of(const ProgramArguments& arguments, const std::string& filesystem,
                                const check::PreparedProgram& prepared) {
  ExploreArguments explore;
  explore.filesystem = filesystem;
  explore.application = prepared.application.string();
  explore.seed = arguments.seed;
  explore.budget = arguments.states;
  explore.jobs = arguments.jobs;
  explore.limit_s = arguments.time_s;
  explore.stop_at_first = true;
  explore.kernel = arguments.kernel;
  explore.verbosity = arguments.verbosity;
  return explore;
}

Result<std::string> disk_size(const ProgramArguments& arguments,
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

Result<void> validate(const ProgramArguments& arguments) {
  for (const std::string& filesystem : arguments.filesystems) {
    TRY(const auto adapter, adapters::load_adapter(filesystem));
    TRY(disk_size(arguments, adapter, {}));
  }
  return {};
}

Result<check::PreparedProgram> prepare_program(const ProgramArguments& arguments) {
  TRY(auto prepared, check::prepare(arguments.program, arguments.folder));
  if (!prepared.program_of_32_bits.empty() && arguments.kernel.guest == "virtual")
    return fail(base::printable(prepared.program_of_32_bits.string()),
                "is a 32-bit program, which user-mode Linux cannot run",
                "build it for 64 bits, or use --guest qemu");
  return prepared;
}

tl::unexpected<Error> failed_in_guest(const ProgramArguments& arguments,
                                      const ExploreArguments& explore,
                                      const explorer::RecordedWorkload& workload) {
  const std::string subject = program_name(arguments) + " on " + explore.filesystem;
  const std::string& failure = *workload.failure;
  const std::string problem = failure.substr(0, failure.find_last_not_of('\n') + 1);
  if (workload.disk_full)
    return fail(subject, fmt::format("the disk of size {} is full: {}", explore.size, problem),
                "set a larger size with --disk");
  if (!arguments.program.rootfs.empty())
    return fail(subject, problem, "make the program exit with 0 when the power does not fail");
  return fail(subject, problem,
              "the program succeeded on this host; if it needs more files in the guest, add them "
              "with --files");
}

std::string last_promise(const explorer::StateOutcome& outcome) {
  const std::string lines = oracle::verifier_input(outcome.persisted_texts);
  const auto count = std::ranges::count(lines, '\n');
  if (count == 0) return "before the program printed a line";
  const std::string last = lines.substr(0, lines.size() - 1);
  return fmt::format("after line {}, \"{}\"", count, last.substr(last.rfind('\n') + 1));
}

tl::unexpected<Error> explained(const ProgramArguments& arguments, Error error) {
  if (no_guest_can_run(arguments)) error.kind = ErrorKind::cannot_run;
  return tl::unexpected(std::move(error));
}

Result<LossText> describe_loss(const ProgramArguments& arguments, Explored& explored,
                               const std::string& prefix, double seconds) {
  const explorer::ConfirmedFailure* const failure =
      explorer::first_confirmed(explored.result.failures);
  const fs::path page = prefix + "crash.html", account = prefix + "failure.txt",
                 script = prefix + "reproduce.sh";
  const std::chrono::seconds limit(
      std::lround(std::clamp(seconds, kMinimiseSecondsLeast, kMinimiseSecondsMost)));
  LossText text;
  const explorer::StateOutcome& outcome = failure->outcome;
  text.headline = last_promise(outcome);
  text.about.push_back(outcome.findings.empty()
                           ? outcome.judgement.summary
                           : fmt::format("the verifier: {}", outcome.findings.front().found));
  TRY(const auto report, explorer::report_failure(explored.pool->guest(0), explored.filesystem,
                                                  explored.workload, *failure,
                                                  {.record = {},
                                                   .recordings = account.parent_path(),
                                                   .replay = replay_command(explored),
                                                   .limit = limit,
                                                   .interrupted = &interrupted()}));
  const std::string state = report.minimised_state.empty() ? outcome.state : report.minimised_state;
  TRY(base::write_text_file(account.string(), report.account));
  TRY(write_page(explored, *failure, state, page));
  TRY(write_script(arguments, explored, state, script));
  TRY(const auto run, states::RunHistory::load(outcome.recording));
  TRY(const auto parsed, states::parse_crash_state(state));
  TRY(const auto lost, explorer::lost_writes(*run, parsed, explored.filesystem.type));
  const std::size_t count = lost.writes.size();
  std::string writes = count == 0
                           ? "no disk write was lost: the data had not been written before the cut"
                       : count == 1 ? "1 lost write causes the loss"
                                    : fmt::format("{} lost writes cause the loss", count);
  for (std::size_t i = 0; i < std::min(count, kLostWritesShown); ++i)
    writes +=
        fmt::format("{} {}{}", i == 0 ? ":" : ";", lost.writes[i].what, issued_by(lost.writes[i]));
  if (count > kLostWritesShown) writes += "; ...";
  text.about.push_back(writes);
  text.about.push_back("page      " + page.string());
  text.about.push_back("account   " + account.string());
  text.about.push_back("again     " + script.string());
  return text;
}

Result<std::optional<bool>> sees_a_loss(const ProgramArguments& arguments,
                                        const std::string& filesystem, const std::string& recording,
                                        const check::PreparedProgram& prepared) {
  ExploreArguments explore = exploration_of(arguments, filesystem, prepared);
  explore.recording = recording;
  explore.strategies = {"lying-flush"};
  explore.budget = kControlStates;
  Explored explored;
  TRY(run_exploration(explore, explored));
  const bool sees = explorer::first_confirmed(explored.result.failures) != nullptr;
  if (!sees && explored.result.out_of_time) return std::nullopt;
  return sees;
}

std::string states_text(double states) {
  constexpr double kDigitsMost = 1e7;
  return states < kDigitsMost ? fmt::format("{:.0f}", states) : fmt::format("{:.0e}", states);
}

Result<std::size_t> printed_lines(const std::string& recording) {
  TRY(const auto run, states::RunHistory::load(recording));
  return explorer::persisted_texts_before(*run, run->events()).size();
}

tl::unexpected<Error> cannot_detect_a_loss(const ProgramArguments& arguments,
                                           const std::string& recording,
                                           const check::PreparedProgram& prepared) {
  const std::string name = program_name(arguments);
  const auto lines = printed_lines(recording);
  if (lines && *lines == 0 && prepared.lines > 0)
    return fail(name, "prints lines on this host, but none in the guest",
                "make it wait for its background processes: in the guest, they end when the "
                "program ends");
  if (lines && *lines == 0)
    return fail(name, "prints no line, so it promises nothing that could be lost",
                "print a line after each call that makes data durable");
  return fail(
      name, "also passes if the disk ignores every flush, so its verifier cannot detect a loss",
      arguments.program.verify.empty()
          ? "set --verify to a command that compares the lines on its standard input with the "
            "files in the folder"
          : "make the verifier compare the lines on its standard input with the files in the "
            "folder");
}

Result<base::Descriptor> make_result_folder(const ProgramArguments& arguments) {
  const fs::path folder = arguments.folder;
  std::error_code error;
  TRY(const auto earlier, locked_folder(folder));
  if (fs::exists(folder, error) && !has_only_results(folder))
    return fail(folder.string(), "contains files that headcrash did not write",
                "choose another folder with --folder");
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (error)
    return fail(folder.string(), "cannot be created: " + error.message(),
                "choose a writable folder with --folder");
  return locked_folder(folder);
}

int run_on_program(ProgramArguments& arguments, const std::string& command,
                   const std::function<Result<int>()>& work) {
  if (arguments.program.argv.empty())
    return report_error(Error{.subject = command,
                              .problem = "no program is given",
                              .hint = fmt::format("headcrash {} --fs ext4 -- ./mytest", command)},
                        arguments.as_json);
  if (arguments.filesystems.empty()) arguments.filesystems = {"ext4", "xfs", "btrfs", "f2fs"};
  for (std::string& filesystem : arguments.filesystems)
    filesystem = adapters::name_on_stack(filesystem, arguments.stack);
  arguments.program.argv = check::with_absolute_files(std::move(arguments.program.argv));
  arguments.program.verify = check::with_absolute_files(arguments.program.verify);
  arguments.program.init = check::with_absolute_files(arguments.program.init);
  arguments.program.limit = std::chrono::seconds(arguments.limit_s);
  arguments.program.interrupted = &interrupted();
  if (arguments.kernel.guest.empty())
    arguments.kernel.guest = fastest_guest(arguments.kernel.parts());
  catch_interrupts();
  const auto done = work();
  if (interrupted()) {
    fmt::print(stderr, "headcrash: interrupted; not all states were checked\n");
    return kInterrupted;
  }
  if (done) return *done;
  const int code = report_error(done.error(), arguments.as_json);
  return done.error().kind == ErrorKind::cannot_run ? kSkipped : code;
}

void add_program_options(CLI::App& command, ProgramArguments& arguments) {
  command.add_option("PROGRAM", arguments.program.argv,
                     "The program and its arguments, after --. Each line that it prints is a "
                     "promise: the effects of all earlier actions must survive");
  command
      .add_option("--fs", arguments.filesystems,
                  "File system, a name or .toml file; may be repeated; default: ext4, xfs, "
                  "btrfs and f2fs")
      ->allow_extra_args(false);
  add_stack_option(command, arguments.stack);
  command.add_option(
      "--verify", arguments.program.verify,
      "Command that runs in the recovered folder, with the lines printed before the cut "
      "on standard input; exit code 0 means success. Default: the program itself");
  command.add_option("--init", arguments.program.init,
                     "Command to run before the program; the files that it writes are synced");
  command
      .add_option("--env", arguments.program.environment,
                  "NAME=VALUE for the environment of all commands; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--files", arguments.program.files,
                  "Further file or folder that the program needs; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--rootfs", arguments.program.rootfs,
                     "Folder or tar archive with the program's root file system, in place of the "
                     "files that it uses on this host");
  add_kernel_options(command, arguments.kernel, kFastestGuest);
  command
      .add_option("--time", arguments.time_s,
                  "Time limit in seconds for the states of each file system")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--disk", arguments.disk,
                     "Size of the test disk; default: the smallest for the file system, with space "
                     "for the data that the program writes and preallocates on this host");
  command
      .add_option("--run-limit", arguments.limit_s,
                  "Time limit in seconds for each command on this host")
      ->check(between(1, 100'000))
      ->capture_default_str();
  command.add_option("--states", arguments.states, "Maximum number of states of each file system")
      ->check(between(1, 100'000'000))
      ->capture_default_str();
  command.add_option("--seed", arguments.seed, "Seed of all random choices")->capture_default_str();
  command.add_option("--jobs", arguments.jobs, "Number of concurrent guests")
      ->check(between(1, 64))
      ->capture_default_str();
  command
      .add_option(
          "--folder", arguments.folder,
          "Folder for recordings, pages and descriptions of losses; removed if nothing was lost")
      ->capture_default_str();
  command.add_flag("--keep", arguments.keep, "Keep the folder even if nothing was lost");
  add_ci_options(command, arguments.ci);
  add_verbosity_options(command, arguments.verbosity);
  command.add_flag("--json", arguments.as_json, "Print the outcome as JSON");
}

}  // namespace headcrash::cli
