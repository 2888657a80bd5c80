// Measures the systems in the group `each call` under the load of an NFS server: LADDIS
// (../peacock98/laddis_load.h) at several rates.
//
// Requests arrive at a fixed rate, even if earlier requests are not complete. A reply promises that
// the request's changes are on the disk. The front end (../peacock98/nfs_front.h) calls the
// system's fsync, as synchronous_vfs.h does for the other workloads. The file set is 5 MB for each
// request per second, and the load uses a fifth of the set; each image contains the largest set.
// The CPU time of a request is that of the paper's server, scaled to the slower processor.
#include <fmt/format.h>

#include <array>

#include "harness/papers/comparison/compare.h"
#include "harness/papers/comparison/session.h"
#include "harness/papers/in_parallel.h"
#include "harness/papers/peacock98/laddis_load.h"
#include "harness/papers/peacock98/ultra2.h"

namespace headcrash::experiment::compare {
namespace {

constexpr std::array kRates{20., 40., 80., 120.};  ///< requests per second
/// SPEC SFS 1.1 accepts a rate only if the mean response time does not exceed this value.
constexpr double kResponseMaxMs = 50;
constexpr std::size_t kNfsds = 16;
constexpr os::TimeNs kWarmNs = 10 * model::kSecondNs, kMeasuredNs = 40 * model::kSecondNs;
constexpr std::uint64_t kReadBeforeBytes = 36 << 20;  // fills the memory that files may use

struct RateOutcome {
  /// One value per seed. Seeds for which the server was saturated have no value.
  Sample response_ms, p99_ms, achieved;
  bool saturated = false;  ///< true if the server was saturated for some seed
  std::string error;
  double modelled_s = 0;

  bool counts() const {
    return error.empty() && !saturated && !response_ms.empty() &&
           *mean_of(response_ms) <= kResponseMaxMs;
  }
};

ModelledMachineOptions server_of(const Row& row, const MachineChoice& choice) {
  ModelledMachineOptions machine = machine_of(row, choice);
  machine.front = {};  // the NFS server calls fsync itself
  return machine;
}

Result<std::shared_ptr<const MachineImage>> image_with_set(const Row& row,
                                                           const MachineChoice& choice,
                                                           double per_s) {
  ModelledMachineOptions machine = server_of(row, choice);
  machine.populate = [set = peacock98::FileSet::of(per_s)](Vfs& vfs) { return set.make(vfs); };
  return ModelledMachine::image_of(machine);
}

RateOutcome measure_rate(const Context& context, const Row& row, MachineChoice choice, double per_s,
                         const std::shared_ptr<const MachineImage>& image) {
  RateOutcome outcome;
  for (std::size_t i = 0; i < seeds_of(context); ++i) {
    choice.seed = context.seed + i;
    ModelledMachineOptions options = server_of(row, choice);
    options.image = image;
    const auto machine = ModelledMachine::start(options);
    if (!machine) return {.error = machine.error().message()};
    const double slower = choice.pentium ? 1 : peacock98::kUltra2FasterThanI486;
    peacock98::LaddisLoad load(
        **machine,
        {.operations_per_s = per_s,
         .warm_ns = context.scaled ? model::kSecondNs : kWarmNs,
         .measured_ns = context.scaled ? 4 * model::kSecondNs : kMeasuredNs,
         .front = {.nfsds = kNfsds,
                   .request_cpu_ns = static_cast<os::TimeNs>(
                       static_cast<double>(peacock98::kRequestCpuNs) * slower)},
         .read_before_bytes = kReadBeforeBytes},
        choice.seed);
    (void)load.begin();
    const peacock98::LaddisOutcome run = load.run_out();
    if (!run.error.empty()) return {.error = run.error};
    outcome.modelled_s += run.modelled_s;
    if (run.saturated) {
      outcome.saturated = true;
      continue;
    }
    outcome.response_ms.push_back(run.mean_ms);
    outcome.p99_ms.push_back(run.p99_ms);
    outcome.achieved.push_back(run.achieved_per_s);
  }
  return outcome;
}

std::string description_of(const RateOutcome& outcome, const Sample& sample) {
  if (!outcome.error.empty()) return "-";
  return outcome.saturated ? "saturated" : text_of(sample);
}

}  // namespace

std::vector<ClaimAnswer> laddis(Context& context) {
  std::vector<std::size_t> numbers;
  for (const std::size_t i : rows_of(context))
    if (rows()[i].durability == Durability::each_call) numbers.push_back(i);
  const std::array devices{Device::drive, Device::raid5_nvram};
  std::vector<ClaimAnswer> answers;
  for (const Device device : devices) {
    const MachineChoice choice = choice_of(context, device);
    std::vector<RateOutcome> outcomes(numbers.size() * kRates.size());
    const bool done = in_parallel(context.interrupt_requested, numbers.size(), [&](std::size_t r) {
      const Row& row = rows()[numbers[r]];
      const auto image =
          image_with_set(row, choice, context.scaled ? kRates.front() : kRates.back());
      for (std::size_t i = 0; i < kRates.size(); ++i) {
        const double per_s = context.scaled ? kRates.front() / 2 : kRates.at(i);
        outcomes[r * kRates.size() + i] = image ? measure_rate(context, row, choice, per_s, *image)
                                                : RateOutcome{.error = image.error().message()};
      }
    });
    if (!done) return {};
    ClaimAnswer answer{.id = device == Device::drive ? "laddis-drive" : "laddis-nvram",
                       .part = "laddis",
                       .title = fmt::format("{}: an NFS server's load (LADDIS)", name(device)),
                       .tables_tell_all = true};
    Table shown{
        .name = "rates",
        .title = fmt::format(
            "mean response time and 99th percentile (ms); a rate is sustained up to a mean of "
            "{:.0f} ms",
            kResponseMaxMs),
        .columns = {"system"}};
    for (const double rate : kRates) {
      shown.columns.push_back(fmt::format("{:.0f} requests/s", rate));
      shown.columns.push_back(fmt::format("{:.0f}/s, 99th pct.", rate));
    }
    shown.columns.emplace_back("highest sustained rate");
    for (std::size_t r = 0; r < numbers.size(); ++r) {
      const std::string row = full_name(rows()[numbers[r]]);
      std::vector<std::string> cells{row};
      std::string highest = "none";
      for (std::size_t i = 0; i < kRates.size(); ++i) {
        const RateOutcome& outcome = outcomes[r * kRates.size() + i];
        context.modelled_s += outcome.modelled_s;
        const std::string cell = fmt::format("{}; {:.0f}/s", row, kRates.at(i));
        const std::string why = outcome.saturated ? "saturated" : outcome.error;
        add_sample(answer, cell, "mean response", "ms", outcome.response_ms, why);
        add_sample(answer, cell, "99th percentile", "ms", outcome.p99_ms, why);
        cells.push_back(description_of(outcome, outcome.response_ms));
        cells.push_back(description_of(outcome, outcome.p99_ms));
        if (outcome.counts()) highest = fmt::format("{:.0f}/s", kRates.at(i));
        if (!outcome.error.empty())
          answer.remarks.push_back(fmt::format("{}: {}", cell, outcome.error));
      }
      cells.push_back(highest);
      shown.rows.push_back(std::move(cells));
    }
    answer.tables.push_back(std::move(shown));
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace headcrash::experiment::compare
