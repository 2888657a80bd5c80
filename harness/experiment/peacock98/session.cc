// Points and curves of one run (session.h).
#include "harness/experiment/peacock98/session.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace headcrash::experiment::peacock98 {
namespace {

constexpr double kScaledSeconds = 2, kScaledLowest = 10, kScaledHighest = 20;

os::TimeNs ns_of(double seconds) {
  return static_cast<os::TimeNs>(seconds * static_cast<double>(model::kSecondNs));
}

}  // namespace

std::vector<Parameter> load_parameters() {
  return {{"seconds", 60, "of load that count, for each point; the paper's are 600"},
          {"warm-seconds", 30, "of load before that"},
          {"nfsds", 64, "threads of the server; the paper does not print it"}};
}

LaddisOptions load_of(const Context& context, const ServerChoice& choice, double operations_per_s,
                      LaddisOptions options) {
  options.operations_per_s = operations_per_s;
  options.measured_ns = ns_of(context.scaled ? kScaledSeconds : context.parameter("seconds"));
  options.warm_ns = ns_of(context.scaled ? 1 : context.parameter("warm-seconds"));
  options.front.nfsds = static_cast<std::size_t>(context.parameter("nfsds"));
  options.front.request_cpu_ns = request_cpu_ns(choice);
  return options;
}

Session& Session::of(Context& context) {
  if (!context.shared) context.shared = std::make_shared<Session>();
  return *static_cast<Session*>(context.shared.get());
}

LaddisOutcome Session::point(Context& context, ServerChoice choice, double operations_per_s,
                             LaddisOptions options) {
  if (context.scaled) {
    choice.size_bytes = kGib;
    operations_per_s = std::min(operations_per_s, kScaledHighest);
  }
  const auto machine_options = images_.with_set(choice, operations_per_s);
  if (!machine_options) return {.error = machine_options.error().message()};
  const auto machine = ModelledMachine::start(*machine_options);
  if (!machine) return {.error = machine.error().message()};
  LaddisLoad load(**machine, load_of(context, choice, operations_per_s, options), context.seed);
  (void)load.begin();
  LaddisOutcome outcome = load.run_out();
  context.modelled_s += outcome.modelled_s;
  return outcome;
}

const Curve& Session::curve(Context& context, ServerChoice choice) {
  if (context.scaled) choice.size_bytes = kGib;
  const std::string key = name(choice);
  const auto known = curves_.find(key);
  if (known != curves_.end()) return known->second;
  CurveOptions options;
  options.last_per_s = context.scaled ? kScaledHighest : Images::kSets[std::size(Images::kSets) - 1];
  if (context.scaled) options.first_per_s = kScaledLowest, options.precision = 1;
  Curve made;
  if (const auto built = machine_of(choice); !built) {
    made.error = Cell::kNotBuilt;
  } else {
    made = curve_of(options, [&](double load) { return point(context, choice, load); });
  }
  return curves_.emplace(key, std::move(made)).first->second;
}

}  // namespace headcrash::experiment::peacock98
