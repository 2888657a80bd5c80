// Implements `headcrash extract`. It writes the image that a power cut left, and a script that
// shows the failure without headcrash.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "harness/cli/command.h"
#include "harness/cli/lab_command.h"
#include "harness/cli/stored_trial.h"
#include "harness/explorer/explain/failure_text.h"
#include "harness/explorer/guests/record_workload.h"
#include "harness/explorer/reproduce/reproducer.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

struct ExtractArguments {
  TrialArguments trial;
  std::string folder, format = "raw";
  bool as_json = false;
};

/// Returns the description of the failure from the database. If the database has no description,
/// generates it from the findings.
Result<std::string> account_of(const StoredTrial& trial, const OpenedState& opened,
                               const explorer::RecordedWorkload& workload,
                               const explorer::StateOutcome& outcome) {
  if (trial.outcome && !trial.outcome->account.empty()) return trial.outcome->account;
  return explorer::failure_text({.filesystem = &trial.filesystem,
                                 .workload = &workload,
                                 .run = opened.run.get(),
                                 .state = opened.state,
                                 .outcome = &outcome,
                                 .kind = explorer::kind_of(outcome.judgement, outcome.findings)});
}

/// Loads and checks the state in a guest.
Result<explorer::StateOutcome> check(const StoredTrial& trial, const OpenedState& opened) {
  TRY(const auto checker, checker_of(trial, opened));
  TRY(const auto pool, start_guest(trial, opened));
  explorer::StateOutcome outcome =
      checker.check(pool->guest(0), opened.state, {.wholly_in_guest = true});
  if (outcome.judgement.verdict == oracle::Verdict::harness_error)
    return fail(outcome.full_name(), outcome.judgement.summary);
  return outcome;
}

Result<explorer::Reproducer> extract(const ExtractArguments& arguments) {
  TRY(const auto trial, find_trial(arguments.trial));
  TRY(explorer::can_be_reproduced(trial.filesystem));
  TRY(const auto opened, open_state(trial));
  const auto& device = opened.run->header().devices.at(opened.state.device);
  if (!device.medium) {
    return fail(trial.key,
                fmt::format("its disk {} is an array or a cache, which consists of several images",
                            device.name),
                "examine it with `headcrash replay --shell`");
  }
  TRY(const auto image, opened.run->image(opened.state, opened.state.device));
  TRY(const auto workload, explorer::open_recorded_workload(trial.recording));

  explorer::StateOutcome outcome;
  outcome.state = states::format(opened.state);
  outcome.persisted_operation = explorer::persisted_before(*opened.run, opened.state.event);
  if (trial.outcome) {
    outcome.judgement = {oracle::verdict_named(trial.outcome->verdict), trial.outcome->summary};
    outcome.findings = trial.outcome->findings;
  } else {
    TRY(auto checked, check(trial, opened));
    outcome = std::move(checked);
  }
  TRY(const auto account, account_of(trial, opened, workload, outcome));
  const fs::path folder =
      arguments.folder.empty()
          ? fs::path(fmt::format("{}-{}", trial.filesystem.name,
                                 trial.id != 0 ? std::to_string(trial.id) : "state"))
          : fs::path(arguments.folder);
  return explorer::write_reproducer(
      {.filesystem = &trial.filesystem,
       .state = outcome.state,
       .judgement = outcome.judgement,
       .findings = outcome.findings,
       .operations = workload.operations,
       .account = account,
       .failed_operations = workload.failed_operations,
       .persisted = outcome.persisted_operation,
       .mounted = opened.state.event >= workload.from_event,
       .disk_bytes = image.sectors() * model::kSectorBytes,
       .uuid = explorer::uuid_from(std::uint64_t{1})},
      image, folder,
      arguments.format == "qcow2" ? explorer::ImageFormat::qcow2 : explorer::ImageFormat::raw);
}

int run(const ExtractArguments& arguments) {
  const auto made = extract(arguments);
  if (!made) return report_error(made.error(), arguments.as_json);
  if (arguments.as_json) {
    print({{"image", made->image.string()},
           {"image_bytes", made->image_bytes},
           {"script", made->script.string()},
           {"account", made->account.string()},
           {"workload", made->workload.empty() ? nlohmann::json(nullptr)
                                               : nlohmann::json(made->workload.string())},
           {"no_workload", made->no_workload.empty() ? nlohmann::json(nullptr)
                                                     : nlohmann::json(made->no_workload)}});
  } else {
    fmt::print("{} ({} KiB on this disk)\n{}\n{}\n", made->image.string(), made->image_bytes / 1024,
               made->account.string(), made->script.string());
    if (made->workload.empty()) {
      fmt::print(stderr, "no workload.sh: {}\n", made->no_workload);
    } else {
      fmt::print("{}\n", made->workload.string());
    }
    fmt::print("Read the script before you run it: with --yes it mounts a damaged image.\n");
  }
  return kFine;
}

}  // namespace

void add_extract(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "extract", "Writes a crash image and a script that reproduces the failure without headcrash");
  const auto arguments = std::make_shared<ExtractArguments>();
  add_trial_options(*command, arguments->trial);
  command->add_option(
      "--state", arguments->trial.state,
      "A crash state by name; default: that of the first failure, or the power cut of a trial "
      "with one cut");
  command->add_option("--fs", arguments->trial.filesystem, "File system; required for a recording");
  command->add_option("-o,--output", arguments->folder,
                      "Folder to create; default: a folder named after the file system and the "
                      "trial");
  accept_only(command->add_option("--format", arguments->format, "Format of the image"),
              {"raw", "qcow2"})
      ->capture_default_str();
  command->add_flag("--json", arguments->as_json, "Print the names of the written files as JSON");
  command->footer(
      "Examples:\n  headcrash extract 17 --db demo.db -o for-the-mailing-list\n"
      "  headcrash extract here/workload.hcrec --fs ext4 --state w1234- --format qcow2");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
