// headcrash replay: repeats a trial or one of its crash states, and compares the outcome with the
// recorded one.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/campaign/campaign.h"
#include "harness/campaign/trial/explored_trial.h"
#include "harness/campaign/trial/known_finding.h"
#include "harness/campaign/trial/trial.h"
#include "harness/cli/command.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/lab_command.h"
#include "harness/cli/stored_trial.h"
#include "harness/explorer/guests/check_state.h"
#include "harness/explorer/reproduce/plain_checks.h"
#include "harness/oracle/verdict.h"
#include "harness/run/guest_kind.h"
#include "plugin/base/command_text.h"
#include "plugin/base/printable.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::cli {
namespace {

// Implements `headcrash replay --anew`. It repeats an explored trial from mkfs on, and searches the
// new exploration for the recorded finding.

/// The outcome of a replay.
struct Replayed {
  std::string what;  ///< name of the state, or key of the trial
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;
  std::string log;
};

namespace fs = std::filesystem;

campaign::KnownFinding known(const StoredOutcome& then) {
  campaign::KnownFinding known{.verdict = then.verdict, .what = {}};
  for (const oracle::Finding& each : then.findings)
    known.what.emplace(oracle::name(each.kind), oracle::name(each.tier));
  return known;
}

/// Executes the same operations again, with the trial's seed, file system and kernel, and explores
/// all crash states. The verdict is that of campaign::find_again(). Fails if the trial cannot be
/// repeated.
Result<Replayed> replay_anew(const StoredTrial& trial) {
  TRY(auto campaign, campaign::parse_campaign(trial.configuration, trial.campaign));
  auto plan = campaign::TrialPlans(campaign).find(trial.key);
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
  campaign::ExplorationWorker worker({.campaign = &campaign,
                                      .disks = &disks,
                                      .images = &images,
                                      .accelerator = accelerator,
                                      .cache = cache,
                                      .database_folder = scratch.path(),
                                      .describes_failures = false,
                                      .interrupted = &interrupted()});
  TRY(const auto again, worker.run(*plan, artefacts, [](const std::string&) {}));
  const campaign::SoughtFinding sought = campaign::find_again(known(*trial.outcome), again);
  Replayed now{
      .what = fmt::format("{}, recorded again under Linux {}", again.key, image.kernel_version),
      .judgement = sought.judgement,
      .findings = {},
      .log = {}};
  if (sought.state == nullptr) return now;
  now.what += fmt::format(", {}", sought.state->name);
  for (const db::FindingRecord& each : sought.state->findings)
    now.findings.push_back(finding_of(each.kind, each.tier, each.path, each.expected, each.found));
  return now;
}

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kCannotTell = 125;  // makes git bisect skip the commit

struct ReplayArguments {
  TrialArguments trial;
  KernelArguments kernel;
  std::string kernel_from;  ///< name of a file that contains the kernel's path
  std::string html;
  bool anew = false, find_fix = false, shell = false, as_json = false;
};

/// Returns true if the replay agrees with the recorded outcome: the verdicts are equal, both
/// verdicts mean that all promises were kept, or the replay has a finding of the recorded kind.
bool as_recorded(const Replayed& now, const StoredOutcome& then) {
  if (then.verdict == oracle::name(now.judgement.verdict)) return true;
  if (oracle::keeps_promises(oracle::verdict_named(then.verdict)))
    return oracle::keeps_promises(now.judgement.verdict);
  return std::any_of(now.findings.begin(), now.findings.end(), [&](const oracle::Finding& finding) {
    return oracle::name(finding.kind) == then.verdict;
  });
}

json describe(const Replayed& now, const std::optional<StoredOutcome>& then) {
  json value = {{"what", now.what},
                {"verdict", oracle::name(now.judgement.verdict)},
                {"summary", now.judgement.summary},
                {"findings", findings_as_json(now.findings)},
                {"log", now.log},
                {"recorded_verdict", nullptr},
                {"as_recorded", nullptr}};
  if (then) {
    value["recorded_verdict"] = then->verdict;
    value["as_recorded"] = as_recorded(now, *then);
  }
  return value;
}

void print_text(const Replayed& now, const std::optional<StoredOutcome>& then) {
  fmt::print("{}: {}\n  {}\n", now.what, oracle::name(now.judgement.verdict),
             now.judgement.summary);
  for (const oracle::Finding& finding : now.findings) {
    fmt::print("  [{}] {}: {}\n      expected  {}\n      found     {}\n",
               oracle::name(finding.tier), base::printable(finding.path),
               oracle::name(finding.kind), base::printable(finding.expected),
               base::printable(finding.found));
  }
  if (!then) {
    fmt::print("no verdict is recorded for this state\n");
  } else if (as_recorded(now, *then)) {
    fmt::print("as recorded ({})\n", then->verdict);
  } else {
    fmt::print("NOT as recorded: the recorded verdict is {}: {}\n", then->verdict, then->summary);
  }
}

/// Prints the outcome and returns the exit code.
int report_outcome(const Replayed& now, const std::optional<StoredOutcome>& then,
                   const ReplayArguments& arguments) {
  if (arguments.as_json) {
    print(describe(now, then));
  } else {
    print_text(now, then);
  }
  if (now.judgement.verdict == oracle::Verdict::harness_error) return kCannotTell;
  return oracle::keeps_promises(now.judgement.verdict) != arguments.find_fix ? kFine : kFound;
}

/// Reports a replay that could not be completed. The exit code makes git bisect skip the commit.
int cannot_tell(const Error& error, bool as_json) {
  report_error(error, as_json);
  return kCannotTell;
}

/// Returns the command line that repeats this replay. It contains the user's arguments.
std::string command_of(const StoredTrial& trial, const ReplayArguments& arguments) {
  const bool recorded = trial.database.empty();
  std::string command =
      fmt::format("headcrash replay {}", base::shell_quoted(arguments.trial.trial));
  command += recorded ? " --fs " + trial.filesystem.name + trial.machine.as_options()
                      : " --db " + trial.database;
  if (!trial.state.empty()) command += " --state " + base::shell_quoted(trial.state);
  return command;
}

/// Writes the page for --html. The page shows the cut and the verdict of this replay.
Result<void> write_page(const StoredTrial& trial, const OpenedState& opened, const Replayed& now,
                        const ReplayArguments& arguments) {
  if (arguments.html.empty()) return {};
  TRY(const auto workload, explorer::open_recorded_workload(trial.recording));
  CrashFile of{.run = opened.run.get(),
               .filesystem = &trial.filesystem,
               .state = opened.state,
               .judgement = now.judgement,
               .checked = true,
               .findings = now.findings,
               .log = now.log,
               .faults = recorded_machine(opened.run->header(), trial.machine).faults_in_recovery(),
               .states = trial.states,
               .recovery_of = opened.recovery_of,
               .reproduce = {command_of(trial, arguments)}};
  // In the recording of a recovery, there are no operations of the workload to show.
  if (opened.recovery_of.empty()) of.workload = &workload;
  return write_crash_file(of, arguments.html);
}

int replay_state(const StoredTrial& trial, const OpenedState& opened,
                 const ReplayArguments& arguments) {
  const auto checker = checker_of(trial, opened);
  if (!checker) return report_error(checker.error(), arguments.as_json);
  const auto pool = start_guest(trial, opened);
  if (!pool) return cannot_tell(pool.error(), arguments.as_json);
  explorer::StateOutcome outcome = checker->check((*pool)->guest(0), opened.state,
                                                  {.wholly_in_guest = true, .fresh_guest = true});
  const Replayed now{outcome.full_name(), outcome.judgement, outcome.findings, outcome.log};
  if (const auto written = write_page(trial, opened, now, arguments); !written)
    return report_error(written.error(), arguments.as_json);
  return report_outcome(now, trial.outcome, arguments);
}

/// Repeats a whole trial: mkfs, workload, cut, recovery. The seed determines the operations, the
/// mark before the cut, and the delay between this mark and the cut. The number of writes before
/// the cut may differ slightly, because the guest has a real clock.
int replay_cut(const StoredTrial& trial, const ReplayArguments& arguments) {
  const auto campaign = campaign::parse_campaign(trial.configuration, trial.campaign);
  if (!campaign) return report_error(campaign.error(), arguments.as_json);
  const auto plan = campaign::TrialPlans(*campaign).find(trial.key);
  if (!plan) {
    return report_error({trial.database, fmt::format("its campaign has no trial \"{}\"", trial.key),
                         "use the version of headcrash that created the database"},
                        arguments.as_json);
  }
  auto scratch = base::ScratchFolder::make();
  if (!scratch) return cannot_tell(scratch.error(), arguments.as_json);
  const fs::path cache = campaign::default_cache(), artefacts = scratch->path() / "artefacts";
  std::error_code error;
  fs::create_directories(artefacts, error);
  const vm::Accelerator accelerator = run::accelerator_of(campaign->virtual_time, cache);
  const auto image = vm::guest_image(cache, trial.filesystem.guest, accelerator);
  if (!image) return cannot_tell(image.error(), arguments.as_json);
  const auto record = campaign::run_trial(*plan, {.campaign = &*campaign,
                                                  .image = *image,
                                                  .accelerator = accelerator,
                                                  .cache = cache,
                                                  .scratch = scratch->path(),
                                                  .artefacts = artefacts,
                                                  .database_folder = scratch->path(),
                                                  .interrupted = &interrupted()});
  if (!record) return cannot_tell(record.error(), arguments.as_json);
  Replayed now{.what = record->key,
               .judgement = {oracle::verdict_named(record->verdict), record->summary}};
  for (const db::FindingRecord& each : record->findings)
    now.findings.push_back(finding_of(each.kind, each.tier, each.path, each.expected, each.found));
  if (!arguments.html.empty()) {
    StoredTrial again = trial;
    again.recording = artefacts / "recording.hcrec";
    const auto opened = open_state(again);
    if (!opened) return report_error(opened.error(), arguments.as_json);
    if (const auto written = write_page(again, *opened, now, arguments); !written)
      return report_error(written.error(), arguments.as_json);
  }
  return report_outcome(now, trial.outcome, arguments);
}

/// Recovers and mounts the state, and runs the user's shell commands in the guest. Each line runs
/// in a new shell, which starts in the last directory of the previous shell. There is no terminal,
/// so editors and job control do not work.
int shell(const StoredTrial& trial, const OpenedState& opened, const ReplayArguments& arguments) {
  const auto pool = start_guest(trial, opened);
  if (!pool) return cannot_tell(pool.error(), arguments.as_json);
  explorer::StageGuest& guest = (*pool)->guest(0);
  const auto stop = [&](const Error& why) {
    return cannot_tell({states::format(opened.state), why.message(), ""}, arguments.as_json);
  };
  const auto loaded = guest.load({.recording = opened.recording,
                                  .state = states::format(opened.state),
                                  .faults = guest.machine().faults_in_recovery()},
                                 true);
  if (!loaded) return stop(loaded.error());
  const auto assembled =
      guest.assemble_stack(trial.filesystem, explorer::StageGuest::Assembly::after_cut);
  if (!assembled) return stop(assembled.error());
  std::string why, log;
  const auto mounted = guest.recover_and_mount(trial.filesystem, why, log);
  fmt::print("{}", log);
  if (!mounted) return stop(mounted.error());
  const bool terminal = ::isatty(STDIN_FILENO) != 0;
  const std::string device = run::mounted_device(trial.filesystem);
  if (*mounted) {
    fmt::print("{} is mounted on {}", device, run::kMountPoint);
  } else {
    fmt::print("the kernel refused to mount {}: {}", device, why);
  }
  fmt::print("; a shell in the guest runs each line that you enter; `exit` ends the session\n");
  std::string folder = *mounted ? run::kMountPoint : "/";
  for (std::string line; !interrupted();) {
    if (terminal) fmt::print("guest:{}# ", folder);
    std::fflush(stdout);
    if (!std::getline(std::cin, line) || line == "exit") break;
    if (line.empty()) continue;
    const std::string script =
        fmt::format("cd {}\n{}\ncode=$?\npwd > /.headcrash-folder\nexit $code",
                    base::shell_quoted(folder), line);
    const auto done = guest.exec({"busybox", "sh", "-c", script});
    if (!done) return stop(done.error());
    fmt::print("{}", done->output);
    if (done->exit_code != 0) fmt::print("(exit {})\n", done->exit_code);
    const auto now = guest.exec({"busybox", "cat", "/.headcrash-folder"});
    if (now && now->exit_code == 0) folder = now->output.substr(0, now->output.find('\n'));
  }
  return kFine;
}

/// Rejects combinations of options that are invalid, or that do not fit this trial.
Result<void> check(const ReplayArguments& arguments, const StoredTrial& trial) {
  if (arguments.find_fix && arguments.shell)
    return fail("--find-fix", "cannot be combined with --shell, which gives no verdict",
                "omit one of these options");
  if (!arguments.anew) return {};
  for (const auto& [given, option] :
       {std::pair{arguments.shell, "--shell"}, {!arguments.html.empty(), "--html"}})
    if (given)
      return fail("--anew", fmt::format("cannot be combined with {}", option),
                  "use `headcrash explore` for this");
  if (trial.database.empty())
    return fail(
        arguments.trial.trial, "a recording does not contain the settings of its run",
        "give a trial of a database, or run `headcrash explore --workload LIST.operations.txt`");
  if (trial.explored && !trial.outcome)
    return fail(trial.key, fmt::format("no verdict is recorded for state {}", trial.state),
                "choose a failed state");
  if (trial.explored && oracle::keeps_promises(oracle::verdict_named(trial.outcome->verdict)))
    return fail(trial.key, fmt::format("all promises were kept in state {}", trial.state),
                "choose a failed state");
  return {};
}

/// Uses the kernel that the user has specified: the value of --kernel, or the first line of the
/// file that --kernel-from names.
Result<void> choose_kernel(const ReplayArguments& arguments, adapters::LinuxAdapter& filesystem) {
  KernelArguments kernel = arguments.kernel;
  if (!arguments.kernel_from.empty()) {
    std::ifstream file(arguments.kernel_from);
    if (!std::getline(file, kernel.kernel) || kernel.kernel.empty())
      return fail(arguments.kernel_from, "its first line does not name a kernel",
                  "write a version such as 6.12, or a path");
  }
  return apply_kernel(kernel, filesystem);
}

int replay(const ReplayArguments& arguments) {
  if (!arguments.html.empty())
    if (const auto place = check_output_path(arguments.html, "--html"); !place)
      return report_error(place.error(), arguments.as_json);
  auto trial = find_trial(arguments.trial);
  if (!trial) return report_error(trial.error(), arguments.as_json);
  if (const auto good = check(arguments, *trial); !good)
    return report_error(good.error(), arguments.as_json);
  // Read the file as late as possible. It must belong to the commit under test, and git bisect may
  // have changed it in the meantime.
  if (const auto taken = choose_kernel(arguments, trial->filesystem); !taken)
    return cannot_tell(taken.error(), arguments.as_json);
  const bool cut = trial->state.empty() && !arguments.shell;
  const bool virtual_time = arguments.kernel.virtual_time(trial->virtual_time);
  if (cut && virtual_time != trial->virtual_time)
    return report_error(
        {"--guest", "applies to crash states, but this trial has a single power cut",
         "omit --guest, or give a state with --state"},
        arguments.as_json);
  if (cut) return replay_cut(*trial, arguments);
  trial->virtual_time = virtual_time;
  if (arguments.anew) {
    const auto now = replay_anew(*trial);
    if (!now) return cannot_tell(now.error(), arguments.as_json);
    return report_outcome(*now, trial->outcome, arguments);
  }
  const auto opened = open_state(*trial);
  if (!opened) return report_error(opened.error(), arguments.as_json);
  return arguments.shell ? shell(*trial, *opened, arguments)
                         : replay_state(*trial, *opened, arguments);
}

/// Repeats the state or trial. Returns kInterrupted after an interruption, so that git bisect stops
/// and does not skip the commit.
int run(const ReplayArguments& arguments) {
  catch_interrupts();
  const int exit_code = replay(arguments);
  if (!interrupted()) return exit_code;
  fmt::print(stderr, "headcrash: interrupted; there is no verdict\n");
  return kInterrupted;
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("replay", "Repeats a trial, or one crash state of it, on a fresh guest");
  const auto arguments = std::make_shared<ReplayArguments>();
  add_trial_options(*command, arguments->trial);
  command->add_option(
      "--state", arguments->trial.state,
      "A crash state by name; default: that of the first failure, or the whole trial if it "
      "has one cut. `cut`: the content of the medium at the power cut");
  command->add_option("--fs", arguments->trial.filesystem,
                      "File system to use instead of the trial's; required for a recording");
  add_machine_options(*command, arguments->trial.machine);
  add_kernel_options(*command, arguments->kernel);
  command
      ->add_option(
          "--kernel-from", arguments->kernel_from,
          "Read the value of --kernel from the first line of this file, which each commit of a "
          "bisection provides")
      ->excludes("--kernel");
  command->add_flag(
      "--anew", arguments->anew,
      "Record the workload again under this kernel, and search all its crash states for the "
      "recorded finding; otherwise the recorded state is recovered");
  command->add_flag(
      "--find-fix", arguments->find_fix,
      "Exit with 1 if the promises are kept and with 0 if not, to find the commit with the fix");
  command->add_option(
      "--html", arguments->html,
      "Draw the cut and the outcome as a page: a single file that needs no network access");
  command->add_flag(
      "--shell", arguments->shell,
      "Recover and mount the state, then run the lines of standard input in a shell in the guest");
  command->add_flag("--json", arguments->as_json, "Print the outcome as JSON");
  command->footer(
      "Examples:\n  headcrash replay 17 --db demo.db\n  headcrash replay 17 --db demo.db --state "
      "w1234-17.21 --html crash.html\n"
      "  headcrash replay here/workload.hcrec --fs ext4 --state w1234- --shell\n"
      "  git bisect run headcrash replay 17 --db demo.db --anew --kernel-from kernel\n"
      "  git bisect run sh -c 'make -s bzImage || exit 125; headcrash replay 17 --kernel "
      "arch/x86/boot/bzImage'\n\n"
      "Recovers a crash state again. The writes before the cut come from the recording, regardless "
      "of --kernel. With --anew\nthe kernel repeats the writes as well, and only findings of the "
      "recorded kind count.\n\n"
      "Exit codes, suitable for git bisect run: 0 all promises kept, 1 failure, 125 not testable, 2 usage error or "
      "missing trial.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
