// Measures the loss after a power cut. A user works with and without fsync, and the medium is
// examined at random instants (../loss_run.h).
#include <fmt/format.h>

#include <algorithm>

#include "harness/papers/comparison/compare.h"
#include "harness/papers/comparison/session.h"
#include "harness/papers/in_parallel.h"
#include "harness/papers/judge.h"
#include "harness/papers/loss_run.h"

namespace headcrash::experiment::compare {
namespace {

constexpr std::uint64_t kLossDiskBytes = 224 << 20;
constexpr double kSynced = .25;
/// Permitted age of lost data in excess of the delay: a tick of the syncer, and the time for
/// writing the data that is due.
constexpr double kAfterDelayS = 2.5;

LossAsked asked_of(const Context& context, const Row& row, std::size_t seed) {
  MachineChoice choice = choice_of(context, Device::drive);
  choice.size_bytes = kLossDiskBytes;
  choice.seed = context.seed + seed;
  LossAsked asked{.machine = machine_of(row, choice), .seed = choice.seed};
  asked.warm_ns =
      context.scaled ? 10 * model::kSecondNs : 2 * choice.delay_ns + 10 * model::kSecondNs;
  asked.measured_ns = (context.scaled ? 10 : 60) * model::kSecondNs;
  asked.instants = context.scaled ? 4 : 20;
  return asked;
}

void count(RowLoss& loss, const LossSeen& seen) {
  loss.instants += seen.oldest_s.size();
  loss.damaged += seen.damaged;
  if (loss.first_damage.empty()) loss.first_damage = seen.first_damage;
  if (loss.error.empty()) loss.error = seen.error;
}

RowLoss loss_of(const Context& context, std::size_t number, double& modelled_s) {
  const Row& row = rows()[number];
  RowLoss loss{.row = number};
  for (std::size_t seed = 0; seed < seeds_of(context) && loss.error.empty(); ++seed) {
    LossAsked asked = asked_of(context, row, seed);
    const LossSeen seen = run_loss(asked);
    modelled_s += seen.modelled_s;
    count(loss, seen);
    if (!seen.error.empty() || seen.oldest_s.empty()) break;
    loss.worst_s.push_back(std::ranges::max(seen.oldest_s));
    loss.median_s.push_back(statistics::quantile(seen.oldest_s, .5));
    loss.kb.push_back(*mean_of(seen.lost_kb));
    loss.changes.push_back(*mean_of(seen.lost_changes));
    asked.synced = kSynced;
    const LossSeen synced = run_loss(asked);
    modelled_s += synced.modelled_s;
    count(loss, synced);
    loss.promised += synced.promised;
    loss.broken += synced.broken;
  }
  if (!loss.error.empty()) loss.worst_s = loss.median_s = loss.kb = loss.changes = {};
  return loss;
}

void judge_loss(ClaimAnswer& answer, const Context& context, const RowLoss& loss) {
  const Row& row = rows()[loss.row];
  const auto number = [](std::uint64_t value) { return Figure(static_cast<double>(value)); };
  const Figure worst = loss.worst_s.empty() ? std::nullopt : Figure(std::ranges::max(loss.worst_s));
  const std::vector<Named> damage{{"looks", number(loss.instants)},
                                  {"with damage", number(loss.damaged)}};
  const std::vector<Named> promises{{"looked for", number(loss.promised)},
                                    {"missing", number(loss.broken)}};
  if (row.durability == Durability::none) {
    add_rule(answer, full_name(row) + ": is caught: the check finds damage", damage,
             [&] { return loss.damaged > 0; });
    return;
  }
  add_rule(answer, full_name(row) + ": the check finds only damage that the system may leave",
           damage, [&] { return loss.instants > 0 && loss.damaged == 0; });
  if (row.system->description().promises.fsync_persists)
    add_rule(answer, full_name(row) + ": no data that fsync has promised is missing", promises,
             [&] { return loss.promised > 0 && loss.broken == 0; });
  else
    add_rule(answer, full_name(row) + ": fsync does not keep data, as expected", promises,
             [&] { return loss.broken > 0; });
  if (row.durability == Durability::each_call)
    add_rule(answer, full_name(row) + ": no completed call is lost", {in_unit(worst, "s")},
             [&] { return *worst == 0; });
  else
    add_rule(answer,
             fmt::format("{}: no lost change is more than {:g} s older than the delay",
                         full_name(row), kAfterDelayS),
             {in_unit(worst, "s")},
             [&] { return *worst <= context.parameter("delay-seconds") + kAfterDelayS; });
}

}  // namespace

const std::vector<RowLoss>* Session::losses(Context& context) {
  if (losses_) return &*losses_;
  const std::vector<std::size_t> numbers = rows_of(context);
  std::vector<RowLoss> made(numbers.size());
  std::vector<double> modelled_s(numbers.size());
  if (!in_parallel(context.interrupt_requested, numbers.size(),
                   [&](std::size_t i) { made[i] = loss_of(context, numbers[i], modelled_s[i]); }))
    return nullptr;
  for (const double each : modelled_s) context.modelled_s += each;
  losses_ = std::move(made);
  return &*losses_;
}

std::vector<ClaimAnswer> loss(Context& context) {
  const auto* const losses = Session::of(context).losses(context);
  if (losses == nullptr) return {};
  ClaimAnswer answer{
      .id = "loss",
      .part = "loss",
      .title =
          "Changes without fsync that a cut at a random instant loses, and data lost in spite of "
          "fsync",
      .kind = RuleClass::ours,
      .tables_tell_all = true};
  Table shown{.name = "loss",
              .title = "the oldest lost change; means over seeds",
              .columns = {"system", "a cut may lose", "worst (s)", "median (s)", "lost (kB)",
                          "lost changes", "fsynced, missing", "checks that found damage"}};
  for (const RowLoss& one : *losses) {
    const Row& row = rows()[one.row];
    add_sample(answer, full_name(row), "oldest lost change, worst instant", "s", one.worst_s,
               one.error);
    add_sample(answer, full_name(row), "oldest lost, median", "s", one.median_s, one.error);
    add_sample(answer, full_name(row), "lost", "kB", one.kb, one.error);
    add_sample(answer, full_name(row), "lost changes", "", one.changes, one.error);
    shown.rows.push_back({row.name, name(row.durability), text_of(one.worst_s),
                          text_of(one.median_s), text_of(one.kb), text_of(one.changes),
                          fmt::format("{} of {}", one.broken, one.promised),
                          fmt::format("{} of {}", one.damaged, one.instants)});
    judge_loss(answer, context, one);
    if (!one.error.empty())
      answer.remarks.push_back(fmt::format("{}: {}", full_name(row), one.error));
  }
  answer.tables.push_back(std::move(shown));
  answer.remarks.push_back(
      "Ten changes per second: blocks of a large file are overwritten, files are created, "
      "written, renamed and removed, and logs grow. The load runs without fsync, and again with "
      "fsync after a quarter of the content changes. Data that was removed later does not count "
      "as lost.");
  return {answer};
}

}  // namespace headcrash::experiment::compare
