// headcrash predict: compares two recoveries of a trial's image, one in virtual time and one in the
// guest.
//
// Media, hardware, faults and checker are the same in both; the guest's processor and kernel are
// not modelled. `headcrash predict --help` lists everything that is the same.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "fs-adapters/registry.h"
#include "harness/campaign/campaign_file.h"
#include "harness/cli/command.h"
#include "harness/cli/stored_trial.h"
#include "harness/papers/cut_machine.h"
#include "harness/papers/peacock98/ultra2.h"
#include "results/db/database.h"
#include "results/db/statement.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;

constexpr double kUs = 1e-6, kMs = 1e-3;  // to convert to seconds

struct PredictArguments {
  TrialArguments trial;
  bool as_json = false;
};

/// A step of a recovery. Times are in seconds of model time. This includes the guest's times,
/// although the guest's own clock may differ.
struct Step {
  double elapsed_s = 0, device_s = 0;
  std::int64_t requests = 0;
};
struct Compared {
  std::string what;
  Step guest, model;
  /// As `model`, but with a pause before each request. The pause is the guest's mean pause.
  Step paced;
};

/// One of our own file systems, as specified by the adapter's commands. `repair` is the condition
/// under which the recovery runs a repair.
struct OurSystem {
  const adapters::SystemUnderTest* system = nullptr;
  experiment::Repair repair = experiment::Repair::always;
};

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

Result<OurSystem> system_of(const adapters::LinuxAdapter& adapter) {
  constexpr std::string_view kFsck = "fsck.headcrash-", kScheme = "scheme=";
  const std::string_view program =
      adapter.replay.argv.empty() ? std::string_view() : file_name_of(adapter.replay.argv.front());
  if (!program.starts_with(kFsck))
    return fail(
        adapter.name,
        "is not recovered by one of headcrash's checkers, and other checkers are not modelled",
        "choose a trial of a file system in `headcrash list systems`");
  TRY(const auto type, adapters::find_file_system_type(program.substr(kFsck.size())));
  std::string_view scheme = type->usual_system();
  if (const std::size_t at = adapter.mount_options.find(kScheme); at != std::string::npos) {
    scheme = std::string_view(adapter.mount_options).substr(at + kScheme.size());
    scheme = scheme.substr(0, scheme.find(','));
  }
  TRY(const auto system, type->find_system(scheme));
  const bool fast = std::ranges::find(adapter.replay.argv, "-F") != adapter.replay.argv.end();
  return OurSystem{system, fast ? experiment::Repair::fast : experiment::Repair::always};
}

/// Returns the factor by which the clock is slower than the model: 8 for "real:8".
double slowdown_of(const std::string& clock) {
  const std::size_t colon = clock.find(':');
  return colon == std::string::npos ? 1 : std::max(1., std::stod(clock.substr(colon + 1)));
}

Result<Step> guest_step(const TrialArguments& arguments, std::int64_t trial,
                        const std::string& phase) {
  TRY(auto database, db::Database::open(arguments.database, db::Database::Access::read_only));
  TRY(auto row,
      db::Statement::prepare(database.handle(),
                             "SELECT wall_ms, clock, reads + writes, target_mean_us FROM phase "
                             "WHERE trial_id = ? AND name = ? ORDER BY ordinal LIMIT 1"));
  TRY(const auto more, row.bind(trial, phase).step());
  if (!more || row.text(1) == "off")
    return fail(arguments.trial, fmt::format("has no recorded time for the step {}", phase),
                "choose a trial that reached this step, in a campaign with a real clock");
  const auto requests = row.integer(2);
  return Step{.elapsed_s = row.real(0) * kMs / slowdown_of(row.text(1)),
              .device_s = row.is_null(3) ? 0 : static_cast<double>(requests) * row.real(3) * kUs,
              .requests = requests};
}

Step step_of(const experiment::RecoveryStep& step) {
  return {.elapsed_s = experiment::seconds_of(step.elapsed_ns),
          .device_s = experiment::seconds_of(step.elapsed_ns - step.cpu_ns),
          .requests = static_cast<std::int64_t>(step.requests)};
}

/// Returns the mean time that the guest spent outside the device per request.
os::TimeNs pause_of(const Step& guest) {
  const double pause_s =
      guest.requests > 0 ? (guest.elapsed_s - guest.device_s) / static_cast<double>(guest.requests)
                         : 0;
  return static_cast<os::TimeNs>(std::max(0., pause_s) * static_cast<double>(model::kSecondNs));
}

/// Simulates the recovery of the image in virtual time, with a pause of `pause_ns` before each
/// request. If `pause_ns` is 0, requests are delayed only by the modelled processor time.
Result<experiment::Recovery> predicted(const StoredTrial& trial, const OurSystem& ours,
                                       os::TimeNs pause_ns) {
  TRY(const auto opened, open_state(trial));
  TRY(const auto campaign, campaign::parse_campaign(trial.configuration, trial.campaign));
  auto options = experiment::machine_of(*opened.run);
  options.system =
      std::shared_ptr<const adapters::SystemUnderTest>(std::shared_ptr<void>(), ours.system);
  for (const std::string& text : campaign.faults) {
    TRY(auto fault, model::parse_fault(text));
    options.faults.push_back(std::move(fault));
  }
  options.check_sectors = experiment::peacock98::kClusterSectors;
  options.costs = experiment::scaled_costs(experiment::kI486At33Mhz,
                                           1 / experiment::peacock98::kUltra2FasterThanI486);
  if (pause_ns > 0) options.costs.request_issued = pause_ns;
  TRY(auto found, experiment::cut_machine_of(opened.run, opened.state));
  found.start_ns = campaign.start_s * model::kSecondNs;
  TRY(const auto machine, experiment::ModelledMachine::found_cut(options, found));
  return machine->recover(ours.repair);
}

double ratio(double guest, double model) {
  return model > 0 ? guest / model : 0;
}

void print_text(const std::string& key, const std::vector<Compared>& steps) {
  fmt::print("{}: recovery of the same image, in seconds of model time\n", key);
  fmt::print("{:<22}{:>9}{:>9}{:>13}{:>15}{:>13}\n", "", "guest", "model", "guest/model",
             "model, paced", "guest/paced");
  const auto line = [](const char* what, double guest, double model, double paced) {
    fmt::print("{:<22}{:>9.2f}{:>9.2f}{:>13.2f}{:>15.2f}{:>13.2f}\n", what, guest, model,
               ratio(guest, model), paced, ratio(guest, paced));
  };
  for (const auto& [what, guest, model, paced] : steps) {
    line(what.c_str(), guest.elapsed_s, model.elapsed_s, paced.elapsed_s);
    line("  in the devices", guest.device_s, model.device_s, paced.device_s);
    fmt::print("{:<22}{:>9}{:>9}{:>28}\n", "  requests", guest.requests, model.requests,
               paced.requests);
  }
}

json as_json(const std::string& key, const std::vector<Compared>& steps) {
  json list = json::array();
  const auto one = [](const Step& step) {
    return json{
        {"elapsed_s", step.elapsed_s}, {"devices_s", step.device_s}, {"requests", step.requests}};
  };
  for (const Compared& step : steps)
    list.push_back({{"step", step.what},
                    {"guest", one(step.guest)},
                    {"model", one(step.model)},
                    {"model_paced", one(step.paced)},
                    {"guest_over_model", ratio(step.guest.elapsed_s, step.model.elapsed_s)},
                    {"guest_over_paced", ratio(step.guest.elapsed_s, step.paced.elapsed_s)}});
  return {{"trial", key}, {"steps", list}};
}

Result<std::vector<Compared>> compare(const StoredTrial& trial, const TrialArguments& arguments) {
  if (trial.id == 0 || trial.explored)
    return fail(trial.key, "is not a trial with one power cut in a guest",
                "choose a trial of a campaign without an [explore] section, for example campaign "
                "netra-recovery");
  TRY(const auto ours, system_of(trial.filesystem));
  TRY(const auto replay, guest_step(arguments, trial.id, "replay"));
  TRY(const auto mount, guest_step(arguments, trial.id, "mount"));
  TRY(const auto model, predicted(trial, ours, 0));
  TRY(const auto paced_check, predicted(trial, ours, pause_of(replay)));
  TRY(const auto paced_mount, predicted(trial, ours, pause_of(mount)));
  return std::vector<Compared>{
      {ours.repair == experiment::Repair::fast ? "fast check" : "check and repair", replay,
       step_of(model.repair), step_of(paced_check.repair)},
      {"mount", mount, step_of(model.mount), step_of(paced_mount.mount)}};
}

int run(const PredictArguments& arguments) {
  const auto trial = find_trial(arguments.trial);
  if (!trial) return report_error(trial.error(), arguments.as_json);
  const auto steps = compare(*trial, arguments.trial);
  if (!steps) return report_error(steps.error(), arguments.as_json);
  if (arguments.as_json)
    print(as_json(trial->key, *steps));
  else
    print_text(trial->key, *steps);
  return kFine;
}

}  // namespace

void add_predict(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "predict", "Recovers a trial's image in virtual time and compares the time with the guest's");
  const auto arguments = std::make_shared<PredictArguments>();
  add_trial_options(*command, arguments->trial);
  command->add_flag("--json", arguments->as_json, "Machine-readable output");
  command->footer(
      "Examples:\n  headcrash campaign netra-recovery --db netra.db\n  headcrash predict 1 --db "
      "netra.db\n\n"
      "Requires a trial of one of headcrash's own file systems, with one power cut and a kept "
      "recording. Guest and\n"
      "model start with the same contents of drives and battery-backed caches, the same array, "
      "faults and checker.\n"
      "The guest also starts a program and reads through its kernel's page cache, and its time "
      "includes the delays\n"
      "of an emulated processor and a socket. The model requests at most 56 KiB at a time, in "
      "sequence, with the processor costs\n"
      "of experiment peacock98. Paced: before each request the model waits as long as the guest "
      "did on average,\n"
      "because a disk rotates during the pause. The line \"in the devices\" is modelled time in "
      "all columns.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
