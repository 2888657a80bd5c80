// Measures, for each policy and file system, the loss after a cut and the cost of the policy. The
// paper makes no claims about this loss (loss_run.h).
#include <algorithm>
#include <cmath>

#include "harness/papers/chen96/axp3000_600.h"
#include "harness/papers/chen96/chen96.h"
#include "harness/papers/loss_run.h"
#include "results/statistics/sample.h"

namespace headcrash::experiment::chen96 {
namespace {

using Policy = os::SyncerOptions::Policy;

struct Mounted {
  std::string type, system;
  /// True if the syncer writes buffers. In this case, the age of data may be counted from its last
  /// change. In logs and commits, the age is always counted from the first change.
  bool by_buffers = false;
  bool in_stages = false;  ///< true if some writes must wait for other writes
};
const std::vector<Mounted>& loss_systems() {
  static const std::vector<Mounted> kSystems{
      {"ufs", "conventional", true}, {"ufs", "soft-updates-init-cb", true, true},
      {"ufs", "journal", true},      {"lfs", "roll-forward"},
      {"snapfs", "snapshots"},       {"shadow", "commit-last"}};
  return kSystems;
}
std::string full_name(const Mounted& mounted) {
  return mounted.type + " " + mounted.system;
}

struct LossPolicy {
  std::string name;
  os::SyncerOptions syncer;
  Figure delay_s = {};  ///< set only if data is written at a fixed age ("interval periodic update")
};
const char* const kClassic = "periodic, 30 s";
const char* const kInterval = "interval, 5 s";
const char* const kFromFirst = "interval, 5 s from the first change";
const char* const kWriteThrough = "write-through";
constexpr double kFromFirstS = 5;

std::vector<LossPolicy> loss_policies(bool scaled) {
  // Our own result for the highest rate in figure 4, on this machine.
  constexpr std::uint64_t kDrainBytesPerS = 1'900'000;
  std::vector<LossPolicy> cases;
  const auto add = [&](std::string its_name, Policy policy, double seconds) -> os::SyncerOptions& {
    cases.push_back(
        {std::move(its_name),
         {.policy = policy,
          .interval_ns = static_cast<os::TimeNs>(seconds * static_cast<double>(model::kSecondNs)),
          .drain_bytes_per_s = kDrainBytesPerS}});
    return cases.back().syncer;
  };
  const auto add_interval = [&](double seconds) {
    add(fmt::format("interval, {:g} s", seconds), Policy::interval, seconds);
    cases.back().delay_s = seconds;
  };
  add(kClassic, Policy::periodic, 30);
  add_interval(5);
  add(kWriteThrough, Policy::write_through, 0);
  add(kFromFirst, Policy::interval, 5).age = os::SyncerOptions::Age::since_first_change;
  if (scaled) return cases;
  add("sweep, or the system's own intervals", Policy::sweep, 30);
  add("periodic, 5 s", Policy::periodic, 5);
  for (const double delay : {0., 1., 15., 30.}) add_interval(delay);
  add("burst rule, 30 s", Policy::burst, 30);
  return cases;
}

double mean(const std::vector<double>& values) {
  return statistics::summarise(values).mean;
}

struct Row {
  std::string policy;
  Figure delay_s;
  Figure median_s, p99_s, most_s, lost_kb, lost_changes, read_ms, change_ms;
  std::array<double, kChangeKinds.size()> oldest_of_kind_s = {};
};

Row row_of(const LossPolicy& policy, const LossSeen& seen) {
  Row row{.policy = policy.name, .delay_s = policy.delay_s};
  if (!seen.error.empty() || seen.oldest_s.empty() || seen.read_ms.empty() ||
      seen.change_ms.empty())
    return row;
  row.median_s = statistics::quantile(seen.oldest_s, 0.5);
  row.p99_s = statistics::quantile(seen.oldest_s, 0.99);
  row.most_s = std::ranges::max(seen.oldest_s);
  row.lost_kb = mean(seen.lost_kb);
  row.lost_changes = mean(seen.lost_changes);
  row.read_ms = mean(seen.read_ms);
  row.change_ms = mean(seen.change_ms);
  row.oldest_of_kind_s = seen.oldest_of_kind_s;
  return row;
}

/// Returns the row with that name, or an empty row.
const Row& row_named(const std::vector<Row>& rows, const std::string& policy) {
  static const Row kNone;
  const auto found = std::ranges::find(rows, policy, &Row::policy);
  return found == rows.end() ? kNone : *found;
}

/// Permitted age of lost data in excess of the delay: the time until the syncer's next tick, and
/// the time for writing the data that is then due. Soft updates need more ticks, because a block
/// that waits for another block is written at the next tick.
constexpr double kAfterDelayS = 2.5, kAfterDelayInStagesS = 8;

void judge(const Mounted& mounted, const std::vector<Row>& rows, ClaimAnswer& answer) {
  const std::string system = full_name(mounted);
  const double slack_s = mounted.in_stages ? kAfterDelayInStagesS : kAfterDelayS;
  Figure beyond_s;
  for (const Row& row : rows)
    if (row.delay_s && row.most_s)
      beyond_s = std::max(beyond_s.value_or(0), *row.most_s - *row.delay_s);
  add_rule(
      answer,
      fmt::format(
          "{}: with interval update of any delay, no lost change is more than {:g} s older than "
          "the delay",
          system, slack_s),
      {in_unit(beyond_s, "s")}, [&] { return *beyond_s <= slack_s; });
  const Row &through = row_named(rows, kWriteThrough), &first = row_named(rows, kFromFirst),
            &classic = row_named(rows, kClassic), &interval = row_named(rows, kInterval);
  if (mounted.by_buffers) {
    const Figure its = first.most_s ? Figure(*first.most_s - kFromFirstS) : std::nullopt;
    add_rule(answer,
             fmt::format("{}: the same bound holds if age is counted from the first "
                         "change",
                         system),
             {in_unit(its, "s")}, [&] { return *its <= slack_s; });
  }
  add_rule(answer, system + ": write-through loses no completed call",
           {in_unit(through.most_s, "s")}, [&] { return *through.most_s == 0; });
  const Row& chosen = mounted.by_buffers ? first : interval;
  add_rule(answer,
           fmt::format("{}: {}: loses at most half as much as periodic update of 30 s", system,
                       chosen.policy),
           {{"interval", chosen.p99_s, "s"}, {"periodic", classic.p99_s, "s"}},
           [&] { return *chosen.p99_s <= *classic.p99_s / 2; });
  add_rule(answer, fmt::format("{}: {}: reads are at most 5 % slower", system, chosen.policy),
           {{"interval", chosen.read_ms, "ms"}, {"periodic", classic.read_ms, "ms"}},
           [&] { return *chosen.read_ms <= *classic.read_ms * 1.05; });
}

std::vector<std::string> cells_of(const Row& row) {
  std::vector<std::string> cells{row.policy};
  for (const Figure& value : {row.median_s, row.p99_s, row.most_s, row.lost_kb, row.lost_changes,
                              row.read_ms, row.change_ms})
    cells.push_back(fmt::format("{:.2f}", *value));
  return cells;
}

Row measure(Context& context, const Mounted& mounted, const LossPolicy& policy,
            ClaimAnswer& answer) {
  const auto machine = loss_machine(mounted.type, mounted.system, policy.syncer, context.seed);
  LossSeen seen;
  if (machine) {
    LossAsked asked{.machine = *machine, .seed = context.seed};
    if (context.scaled) asked.measured_ns = 10 * model::kSecondNs, asked.instants = 4;
    seen = run_loss(asked);
  } else {
    seen.error = machine.error().message();
  }
  context.modelled_s += seen.modelled_s;
  const Row row = row_of(policy, seen);
  const std::string cell = fmt::format("{}, {}", full_name(mounted), policy.name);
  add_row(answer, cell, "oldest lost, 99th percentile", "s", {}, row.p99_s, seen.error);
  add_row(answer, cell, "lost, mean", "kB", {}, row.lost_kb, seen.error);
  add_row(answer, cell, "mean response time of a read", "ms", {}, row.read_ms, seen.error);
  add_row(answer, cell, "mean response time of a change", "ms", {}, row.change_ms, seen.error);
  return row;
}

}  // namespace

std::vector<ClaimAnswer> loss(Context& context) {
  ClaimAnswer answer{.id = "CH-loss",
                     .part = "loss",
                     .title = "Losses at a cut, and the cost of smaller losses",
                     .kind = RuleClass::ours};
  Plot reads{
      .name = "loss-against-reads",
      .title =
          "Loss versus the response time of a read, for update intervals of 0, 1, 5, 15 and 30 s",
      .x = "mean response time of a read (ms)",
      .y = "age of the oldest lost change, 99th percentile (s)"};
  Plot changes{
      .name = "loss-against-changes",
      .title =
          "Loss versus the response time of a change, for update intervals of 0, 1, 5, 15 and 30 s",
      .x = "mean response time of a change (ms)",
      .y = "age of the oldest lost change, 99th percentile (s)",
      .logarithmic_x = true};
  Plot delays{.name = "loss-by-delay",
              .title = "Interval periodic update: the oldest lost change, by delay",
              .x = "delay (s)",
              .y = "age of the oldest lost change of all cuts (s)"};
  const auto policies = loss_policies(context.scaled);
  for (const Mounted& mounted : loss_systems()) {
    if (context.scaled && mounted.system != "conventional" && mounted.type != "lfs") continue;
    Table table{.name = fmt::format("{}-{}", mounted.type, mounted.system),
                .title = full_name(mounted),
                .columns = {"policy", "oldest lost: median (s)", "99th pct. (s)", "most (s)",
                            "lost (kB)", "changes lost", "read (ms)", "change (ms)"}};
    Table kinds{.name = table.name + "-kinds",
                .title = full_name(mounted) + ": the oldest lost change of each kind (s)",
                .columns = {"policy"}};
    kinds.columns.insert(kinds.columns.end(), kChangeKinds.begin(), kChangeKinds.end());
    Series by_reads{.name = full_name(mounted)}, by_changes{.name = full_name(mounted)},
        by_delay{.name = full_name(mounted)};
    std::vector<Row> rows;
    for (const LossPolicy& policy : policies) {
      if (context.interrupted()) return {answer};
      const Row row = measure(context, mounted, policy, answer);
      rows.push_back(row);
      if (!row.most_s) continue;
      table.rows.push_back(cells_of(row));
      kinds.rows.push_back({row.policy});
      for (const double oldest_s : row.oldest_of_kind_s)
        kinds.rows.back().push_back(fmt::format("{:.2f}", oldest_s));
    }
    judge(mounted, rows, answer);
    std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.delay_s.value_or(0); });
    for (const Row& row : rows) {
      if (!row.delay_s || !row.most_s) continue;
      by_reads.points.emplace_back(*row.read_ms, *row.p99_s);
      by_changes.points.emplace_back(*row.change_ms, *row.p99_s);
      by_delay.points.emplace_back(*row.delay_s, *row.most_s);
    }
    answer.tables.push_back(std::move(table));
    answer.tables.push_back(std::move(kinds));
    reads.series.push_back(std::move(by_reads));
    changes.series.push_back(std::move(by_changes));
    delays.series.push_back(std::move(by_delay));
  }
  answer.plots = {std::move(reads), std::move(changes), std::move(delays)};
  answer.remarks = {
      "The paper counts a block's age from its last change. A log to which records are appended "
      "repeatedly becomes older than the delay before it is written; a block that is overwritten "
      "once does not. If age is counted from the first change, the delay is an upper bound.",
      "Soft updates write a block that depends on another write one tick after that write. Under "
      "periodic update this is one interval later, so lost changes can be two intervals old. In "
      "a growing file, the size in the inode waits for the newest change of the last block, so "
      "records in this block are lost although their bytes are on the disk.",
      "A write in flight at the cut counts as not on the medium."};
  return {answer};
}

}  // namespace headcrash::experiment::chen96
