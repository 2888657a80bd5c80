// CH-17, CH-18: measures, for each policy, the response times of reads while data is being written,
// and the age that data has when it is written.
#include <algorithm>
#include <cmath>
#include <random>

#include "harness/papers/chen96/axp3000_600.h"
#include "harness/papers/chen96/chen96.h"
#include "plugin/base/random.h"
#include "results/statistics/sample.h"

namespace headcrash::experiment::chen96 {
namespace {

using os::TimeNs;
using Policy = os::SyncerOptions::Policy;

/// Response times while readers read at random times and a writer writes random blocks. Only a few
/// of these blocks are overwritten soon.
struct Response {
  Figure mean_ms, deviation_ms, p99_ms, age_s;
  std::string error;
};
struct PolicyCase {
  const char* name;
  Policy policy;
  TimeNs interval_ns;
  bool write_through = false;
  bool reads_first = false;  ///< reads bypass all waiting writes in the driver
  bool writes = true;        ///< false for a load that only reads
};

constexpr std::uint64_t kBlockBytes = 8192;

Response probe(const PolicyCase& asked, TimeNs measured_ns, std::uint64_t file_bytes,
               std::uint64_t seed) {
  constexpr double kReadsPerS = 5, kWritesPerS = 10;
  auto options = axp3000_600(0);
  if (options) {
    options->syncer.policy = asked.policy;
    options->syncer.interval_ns = asked.interval_ns;
    options->reads_first = asked.reads_first;
  }
  LoadedMachine machine(options);
  if (machine.good()) machine.make_cold_file("read", file_bytes);
  if (machine.good()) machine.make_cold_file("written", file_bytes);
  if (!machine.good()) return {{}, {}, {}, {}, machine.error()};
  const TimeNs begin = machine.now(), warm = begin + 60 * model::kSecondNs,
               end = warm + measured_ns;
  std::vector<double> responses_ms;
  double dirty_byte_s = 0, written_bytes = 0;
  const auto arrivals = [&](double per_s, std::uint64_t stream,
                            const std::function<bool(std::uint64_t)>& each) {
    std::mt19937_64 random(seed * 4 + stream);
    auto due = static_cast<double>(begin);
    while (machine.now() < end) {
      due += -std::log(uniform_of(random())) / per_s * static_cast<double>(model::kSecondNs);
      if (due > static_cast<double>(machine.now())) machine.sleep_until(static_cast<TimeNs>(due));
      if (!each(random() % (file_bytes / kBlockBytes) * kBlockBytes)) return;
    }
  };
  machine.run({[&] {
                 const auto file = machine.vfs().open("read", {});
                 if (!machine.ok(file)) return;
                 arrivals(kReadsPerS, 0, [&](std::uint64_t at) {
                   const TimeNs from = machine.now();
                   if (!machine.read(*file, at, kBlockBytes)) return false;
                   if (from >= warm)
                     responses_ms.push_back(seconds_of(machine.now() - from) * 1000);
                   return true;
                 });
               },
               [&] {
                 const auto file =
                     machine.vfs().open("written", {.data_sync = asked.write_through});
                 if (!machine.ok(file) || !asked.writes) return;
                 arrivals(kWritesPerS, 1, [&](std::uint64_t at) {
                   if (machine.now() >= warm) written_bytes += kBlockBytes;
                   return machine.write(*file, at, kBlockBytes);
                 });
               },
               [&] {
                 constexpr TimeNs kStep = model::kSecondNs / 10;
                 for (TimeNs at = warm; at < end; at += kStep) {
                   machine.sleep_until(at);
                   std::uint64_t bytes = 0;
                   for (const auto& dirty : machine.modelled().system().cache.dirty())
                     if (dirty.content == os::Content::data) bytes += dirty.bytes;
                   dirty_byte_s += static_cast<double>(bytes) * seconds_of(kStep);
                 }
               }});
  if (!machine.good() || responses_ms.empty()) return {{}, {}, {}, {}, machine.error()};
  const auto summary = statistics::summarise(responses_ms, seed);
  return {summary.mean,
          summary.deviation,
          statistics::quantile(responses_ms, 0.99),
          asked.writes ? Figure(dirty_byte_s / written_bytes) : std::nullopt,
          {}};
}

}  // namespace

std::vector<ClaimAnswer> policies(Context& context) {
  ClaimAnswer responses{.id = "CH-17",
                        .part = "policies",
                        .title = "Response times of reads while 10 blocks per second are written"};
  ClaimAnswer ages{
      .id = "CH-18", .part = "policies", .title = "Age of data when it is written (Little's law)"};
  const PolicyCase cases[] = {
      {"periodic update, 30 s", Policy::periodic, 30 * model::kSecondNs},
      {"interval periodic update, 30 s", Policy::interval, 30 * model::kSecondNs},
      {"interval periodic update, 5 s", Policy::interval, 5 * model::kSecondNs},
      {"zero delay", Policy::interval, 0},
      {"write-through", Policy::none, 0, true},
      {.name = "periodic update, 30 s, reads bypass writes",
       .policy = Policy::periodic,
       .interval_ns = 30 * model::kSecondNs,
       .reads_first = true},
      {.name = "no writes", .policy = Policy::none, .interval_ns = 0, .writes = false}};
  const TimeNs measured = (context.scaled ? 60 : 600) * model::kSecondNs;
  const std::uint64_t bytes = context.scaled ? 20 * kMb : 300 * kMb;
  std::vector<Response> seen;
  for (const PolicyCase& each : cases) {
    if (context.interrupted()) break;
    seen.push_back(probe(each, measured, bytes, context.seed));
    const Response& one = seen.back();
    add_row(responses, each.name, "mean response time of a read", "ms", {}, one.mean_ms, one.error);
    add_row(responses, each.name, "standard deviation", "ms", {}, one.deviation_ms, one.error);
    add_row(responses, each.name, "99th percentile", "ms", {}, one.p99_ms, one.error);
    if (!each.write_through && !each.reads_first && each.writes)
      add_row(ages, each.name, "mean age", "s", &each == cases ? Figure(15) : std::nullopt,
              one.age_s, one.error);
  }
  seen.resize(std::size(cases));
  const Figure periodic = seen[0].deviation_ms, interval = seen[1].deviation_ms;
  const Figure ratio =
      periodic && interval ? Figure(*periodic * *periodic / (*interval * *interval)) : std::nullopt;
  add_row(responses, "periodic over interval, 30 s", "variance", "times", {}, ratio);
  add_rule(responses,
           "the variance under periodic update is at least 3 times the variance under interval "
           "periodic update",
           {{"ratio", ratio}}, [&] { return *ratio >= 3; });
  mark(responses, RuleClass::ours);
  add_rule(responses, "periodic update increases the variance of the read response",
           {{"ratio to interval update", ratio}}, [&] { return *ratio > 1; });
  add_rule(responses,
           "under light load, reads are slower on average under periodic update than under "
           "write-through (Carson and Setia)",
           {{"periodic, 30 s", seen[0].mean_ms}, {"write-through", seen[4].mean_ms}},
           [&] { return *seen[0].mean_ms > *seen[4].mean_ms; });
  const std::vector<Named> means = {{"reads bypass writes", seen[5].mean_ms},
                                    {"periodic, 30 s", seen[0].mean_ms},
                                    {"no writes", seen[6].mean_ms}};
  add_rule(
      responses,
      "if reads bypass writes, the mean response time of a read under periodic update is largely "
      "independent of the writes: more than half of the time that they add disappears (Carson and "
      "Setia)",
      means,
      [&] { return *means[0].value - *means[2].value < (*means[1].value - *means[2].value) / 2; });
  add_rule(ages, "periodic update, 30 s: 15 s +-1 s", {{"mean", seen[0].age_s}},
           [&] { return std::abs(*seen[0].age_s - 15) <= 1; });
  for (const auto& [at, delay] : {std::pair<std::size_t, double>{1, 30}, {2, 5}}) {
    const Figure age = seen[at].age_s;
    add_rule(ages,
             fmt::format("interval periodic update, {:g} s: this time plus at most a tick", delay),
             {{"mean", age}}, [&, its = delay] { return *age >= its - .1 && *age <= its + 1.5; });
  }
  ages.remarks.push_back(
      "Mean number of dirty bytes, sampled ten times per second, divided by the bytes written "
      "per second. Blocks that are overwritten before they are written make the result slightly "
      "smaller.");
  return {responses, ages};
}

}  // namespace headcrash::experiment::chen96
