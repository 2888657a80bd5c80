// Runs the load, cuts the power, recovers the server, and counts the promises made in replies that
// the server has not kept (crash.h).
#include "harness/papers/peacock98/crash.h"

#include <fmt/format.h>

#include <utility>

#include "harness/papers/in_parallel.h"

namespace headcrash::experiment::peacock98 {
namespace {

Repair repair_of(Tuning tuning) {
  switch (tuning) {
    case Tuning::fast_fsck:
    case Tuning::bmap_fast_fsck:
      return Repair::fast;
    case Tuning::vxfs:
    case Tuning::vxld:
      return Repair::as_needed;
    case Tuning::ufs:
    case Tuning::bmap:
      break;
  }
  return Repair::always;
}

}  // namespace

std::vector<Parameter> crash_parameters() {
  auto parameters = load_parameters();
  parameters.push_back({"crash-seconds", 60,
                        "seconds of load before the power cut; 900 in the "
                        "paper"});
  parameters.push_back(
      {"most-per-s", 1200, "highest load of figures 7 and 8, NFS ops/s; above 3000 in the paper"});
  return parameters;
}

CrashOutcome crash(const Context& context, Session& session, const ServerChoice& choice,
                   double operations_per_s, std::uint64_t seed, std::optional<double> set_per_s) {
  const auto options =
      session.images().with_set(choice, set_per_s.value_or(operations_per_s), true);
  const auto seconds =
      context.scaled ? 2 : static_cast<os::TimeNs>(context.parameter("crash-seconds"));
  const Session::Turn turn = session.turn(operations_per_s * static_cast<double>(seconds));
  if (!options) return {.error = machine_of(choice) ? options.error().message() : Cell::kNotBuilt};
  const auto started = ModelledMachine::start(*options);
  if (!started) return {.error = started.error().message()};
  ModelledMachine& machine = **started;
  CrashOutcome outcome;
  LaddisOptions load_options = load_of(context, choice, std::max(operations_per_s, 1.));
  load_options.measured_ns = (seconds + 1) * model::kSecondNs;
  load_options.keeps_history = true;
  load_options.goes_on = true;
  LaddisLoad load(machine, load_options, seed);
  if (operations_per_s > 0) {
    if (load.begin()) {
      const LaddisOutcome served = load.run_and_cut(seconds * model::kSecondNs);
      outcome.saturated = served.saturated;
      outcome.served_per_s = served.achieved_per_s;
      outcome.error = served.error;
    } else {
      outcome.error = load.run_out().error;
    }
    if (!outcome.error.empty()) return outcome;
  } else {
    machine.cut();
  }
  const auto recovery = machine.recover(repair_of(choice.tuning));
  if (!recovery) return {.error = recovery.error().message()};
  for (const RecoveryStep* step : {&recovery->repair, &recovery->mount}) {
    outcome.elapsed_s += seconds_of(step->elapsed_ns);
    outcome.cpu_s += seconds_of(step->cpu_ns);
    outcome.drives_s += seconds_of(step->device_busy_ns);
    outcome.requests += step->requests;
  }
  outcome.findings = recovery->findings;
  if (operations_per_s > 0) {
    const auto broken = load.broken_promises();
    outcome.broken = broken.size();
    if (!broken.empty()) outcome.first_broken = broken.front();
  }
  outcome.modelled_s = seconds_of(machine.now());
  return outcome;
}

std::optional<std::vector<CrashOutcome>> crash_all(Context& context, const std::vector<Cut>& cuts) {
  Session& session = Session::of(context);
  std::vector<CrashOutcome> outcomes(cuts.size());
  std::vector<std::string> images;
  images.reserve(cuts.size());
  for (const Cut& each : cuts)
    images.push_back(fmt::format("{} {}", image_of(each.choice), each.load));
  const bool done = in_parallel(context.interrupt_requested, images, [&](std::size_t i) {
    outcomes[i] = crash(context, session, cuts[i].choice, cuts[i].load, cuts[i].seed);
  });
  for (const CrashOutcome& one : outcomes) context.modelled_s += one.modelled_s;
  if (!done) return std::nullopt;
  return outcomes;
}

}  // namespace headcrash::experiment::peacock98
