// Points and curves of one run (session.h).
#include "harness/experiment/peacock98/session.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <thread>
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
  options.front.nfsds = choice.nfsds.value_or(static_cast<std::size_t>(context.parameter("nfsds")));
  options.front.request_cpu_ns = request_cpu_ns(choice);
  return options;
}

Session& Session::of(Context& context) {
  if (!context.shared) context.shared = std::make_shared<Session>();
  return *static_cast<Session*>(context.shared.get());
}

bool in_parallel(const Context& context, std::size_t count, const std::function<void(std::size_t)>& run) {
  std::atomic<std::size_t> next{0}, done{0};
  const auto work = [&] {
    while (!context.interrupted()) {
      const std::size_t i = next++;
      if (i >= count) return;
      run(i);
      ++done;
    }
  };
  const bool two = count > 1 && std::thread::hardware_concurrency() > 1;
  std::thread other;
  if (two) other = std::thread(work);
  work();
  if (two) other.join();
  return done == count;
}

LaddisOutcome Session::run(const Context& context, ServerChoice choice, double operations_per_s,
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
  return load.run_out();
}

LaddisOutcome Session::point(Context& context, ServerChoice choice, double operations_per_s,
                             LaddisOptions options) {
  LaddisOutcome outcome = run(context, std::move(choice), operations_per_s, options);
  context.modelled_s += outcome.modelled_s;
  return outcome;
}

Curve Session::make(const Context& context, const ServerChoice& choice) {
  if (!machine_of(choice)) return {.error = Cell::kNotBuilt};
  CurveOptions options;
  options.last_per_s = context.scaled ? kScaledHighest : Images::kSets[std::size(Images::kSets) - 1];
  if (context.scaled) options.first_per_s = kScaledLowest, options.precision = 1;
  return curve_of(options, [&](double load) { return run(context, choice, load, {}); });
}

bool Session::prepare(Context& context, const std::vector<ServerChoice>& choices) {
  std::vector<ServerChoice> wanted;
  for (ServerChoice choice : choices) {
    if (context.scaled) choice.size_bytes = kGib;
    if (!curves_.contains(name(choice))) wanted.push_back(std::move(choice));
  }
  std::vector<Curve> made(wanted.size());
  if (!in_parallel(context, wanted.size(), [&](std::size_t i) { made[i] = make(context, wanted[i]); }))
    return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) keep(context, wanted[i], std::move(made[i]));
  return true;
}

const Curve& Session::curve(Context& context, ServerChoice choice) {
  if (context.scaled) choice.size_bytes = kGib;
  const auto known = curves_.find(name(choice));
  if (known != curves_.end()) return known->second;
  return keep(context, choice, make(context, choice));
}

const Curve& Session::keep(Context& context, const ServerChoice& choice, Curve made) {
  for (const CurvePoint& point : made.points) context.modelled_s += point.outcome.modelled_s;
  return curves_.emplace(name(choice), std::move(made)).first->second;
}

Series series_of(const std::string& name, const Curve& curve) {
  Series series{.name = name};
  for (const CurvePoint& each : curve.points)
    if (each.outcome.mean_ms > 0 && each.outcome.mean_ms <= 4 * kResponseLimitMs)
      series.points.emplace_back(each.outcome.achieved_per_s, each.outcome.mean_ms);
  return series;
}

}  // namespace headcrash::experiment::peacock98
