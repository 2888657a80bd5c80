// Measures the curves and the single loads of a run (session.h).
#include "harness/papers/peacock98/session.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "harness/papers/in_parallel.h"
#include "harness/papers/peacock98/peacock98.h"

namespace headcrash::experiment::peacock98 {
namespace {

constexpr double kScaledSeconds = 2, kScaledLowest = 10, kScaledHighest = 20;
/// Number of requests that together write 300 MB of pages: 15 % of them are writes, most of them to
/// a new page.
constexpr double kRequestsAlone = 500'000;
constexpr os::TimeNs kCountsWarmNs = 30 * model::kSecondNs,
                     kCountsMeasuredNs = 60 * model::kSecondNs;

os::TimeNs ns_of(double seconds) {
  return static_cast<os::TimeNs>(seconds * static_cast<double>(model::kSecondNs));
}

}  // namespace

std::vector<Parameter> load_parameters() {
  return {
      {"seconds", 30, "measured seconds of load for each point; 600 in the paper"},
      {"warm-seconds", 15, "seconds of load before the measurement"},
      {"precision-percent", 8,
       "largest gap in percent between the highest sustained load and the lowest unsustained one"},
      {"nfsds", 64, "number of the server's threads; the paper does not state it"}};
}

double precision_of(const Context& context) {
  return context.scaled ? 1 : context.parameter("precision-percent") / 100;
}

LaddisOptions load_of(const Context& context, const ServerChoice& choice, double operations_per_s,
                      LaddisOptions options) {
  options.operations_per_s = operations_per_s;
  options.measured_ns = ns_of(context.scaled ? kScaledSeconds : context.parameter("seconds"));
  options.warm_ns = ns_of(context.scaled ? 1 : context.parameter("warm-seconds"));
  options.front.nfsds = choice.nfsds.value_or(static_cast<std::size_t>(context.parameter("nfsds")));
  options.append_percent = choice.append_percent;
  options.front.request_cpu_ns = request_cpu_ns(choice);
  return options;
}

Session& Session::of(Context& context) {
  if (!context.shared) context.shared = std::make_shared<Session>();
  return *static_cast<Session*>(context.shared.get());
}

LaddisOutcome Session::run(const Context& context, Load load) {
  if (context.scaled) {
    load.choice.size_bytes = kGib;
    load.per_s = std::min(load.per_s, kScaledHighest);
  }
  // If the file system uses only part of each drive, create exactly this file set. The next larger
  // set (Images::kSets) may leave too little space for the data that the load writes.
  const bool exactly = load.choice.size_bytes.has_value() && !context.scaled;
  const auto machine_options = images_.with_set(load.choice, load.per_s, exactly);
  if (!machine_options)
    return {.error = machine_of(load.choice) ? machine_options.error().message() : Cell::kNotBuilt};
  LaddisOptions options = load_of(context, load.choice, load.per_s, load.options);
  if (load.counts_only) {
    options.warm_ns = std::min(options.warm_ns, kCountsWarmNs);
    options.measured_ns = std::min(options.measured_ns, kCountsMeasuredNs);
  }
  const Turn alone_or_beside = turn(load.per_s * seconds_of(options.warm_ns + options.measured_ns));
  const auto machine = ModelledMachine::start(*machine_options);
  if (!machine) return {.error = machine.error().message()};
  LaddisLoad laddis(**machine, options, load.seed.value_or(context.seed));
  (void)laddis.begin();
  return laddis.run_out();
}

Session::Turn Session::turn(double requests) {
  const std::ptrdiff_t places = requests > kRequestsAlone ? kMachines : 1;
  const std::lock_guard one_at_a_time(door_);
  for (std::ptrdiff_t i = 0; i < places; ++i) room_.acquire();
  return {nullptr, [this, places](void*) { room_.release(places); }};
}

std::vector<LaddisOutcome> Session::loads(Context& context, const std::vector<Load>& loads) {
  std::vector<std::string> images;
  images.reserve(loads.size());
  for (const Load& each : loads) images.push_back(image_of(each.choice));
  std::vector<LaddisOutcome> outcomes(loads.size());
  const bool done = in_parallel(context.interrupt_requested, images,
                                [&](std::size_t i) { outcomes[i] = run(context, loads[i]); });
  for (const LaddisOutcome& one : outcomes) context.modelled_s += one.modelled_s;
  if (!done) outcomes.clear();
  return outcomes;
}

Curve Session::make(const Context& context, const ServerChoice& choice) {
  if (!machine_of(choice)) return {.error = Cell::kNotBuilt};
  CurveOptions options;
  options.last_per_s =
      context.scaled ? kScaledHighest : Images::kSets[std::size(Images::kSets) - 1];
  options.precision = precision_of(context);
  if (context.scaled) options.first_per_s = kScaledLowest;
  return curve_of(options, [&](double per_s) { return run(context, {choice, per_s}); });
}

bool Session::prepare(Context& context) {
  std::vector<ServerChoice> wanted;
  std::vector<std::string> images;
  std::set<std::string> names;
  for (const std::string& part : context.parts)
    for (ServerChoice choice : curves_of(part)) {
      if (context.scaled) choice.size_bytes = kGib;
      if (curves_.contains(name(choice)) || !names.insert(name(choice)).second) continue;
      images.push_back(image_of(choice));
      wanted.push_back(std::move(choice));
    }
  std::vector<Curve> made(wanted.size());
  const bool done = in_parallel(context.interrupt_requested, images,
                                [&](std::size_t i) { made[i] = make(context, wanted[i]); });
  if (!done) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (const CurvePoint& point : made[i].points) context.modelled_s += point.outcome.modelled_s;
    curves_.emplace(name(wanted[i]), std::move(made[i]));
  }
  return true;
}

const Curve& Session::curve(const Context& context, ServerChoice choice) const {
  static const Curve kNone;
  if (context.scaled) choice.size_bytes = kGib;
  const auto known = curves_.find(name(choice));
  return known == curves_.end() ? kNone : known->second;
}

Series series_of(const std::string& name, const Curve& curve) {
  Series series{.name = name};
  for (const CurvePoint& each : curve.points)
    if (each.outcome.mean_ms > 0 && each.outcome.mean_ms <= 4 * kResponseLimitMs)
      series.points.emplace_back(each.outcome.achieved_per_s, each.outcome.mean_ms);
  return series;
}

}  // namespace headcrash::experiment::peacock98
