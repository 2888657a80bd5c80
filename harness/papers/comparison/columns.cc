// Lists the workloads and runs them (columns.h).
#include "harness/papers/comparison/columns.h"

#include <algorithm>

#include "harness/papers/run_workload.h"
#include "plugin/base/invariant.h"
#include "plugin/base/names.h"

namespace headcrash::experiment::compare {
namespace {

constexpr std::int64_t kMib = 1 << 20;

/// Returns the results of a run in the order of kQuantities. Response times cover only `phase`; all
/// other results cover all measured phases.
std::array<double, kQuantities.size()> values_of(const WorkloadOutcome& outcome,
                                                 const std::string& phase) {
  double user_s = 0, quiet_s = 0, busy_s = 0, writes = 0, operations = 0;
  for (const PhaseOutcome& each : outcome.phases) {
    if (!each.measured) continue;
    user_s += each.elapsed_s;
    quiet_s += each.quiescent_s > 0 ? each.quiescent_s : each.longest_s;
    busy_s += each.disk_busy_s;
    writes += static_cast<double>(each.drive_writes);
    operations += static_cast<double>(each.operations);
  }
  const PhaseOutcome* const found = outcome.phase(phase);
  return {user_s,
          quiet_s,
          busy_s,
          found == nullptr ? 0 : found->operation_ms,
          found == nullptr ? 0 : found->operation_p99_ms,
          operations > 0 ? writes / operations : 0};
}

}  // namespace

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns{
      {.name = "create",
       .title = "4 users create 2 000 files of 1 KB (a fifth of create-1k)",
       .workload = "create-1k",
       .arguments = {{"users", 4}, {"files", 2000}},
       .scaled = {{"users", 2}, {"files", 60}},
       .phase = "create",
       .operation = "a creation"},
      {.name = "remove",
       .title = "4 users remove 2 000 files of 1 KB (a fifth of remove-1k)",
       .workload = "remove-1k",
       .arguments = {{"users", 4}, {"files", 2000}},
       .scaled = {{"users", 2}, {"files", 60}},
       .phase = "remove",
       .operation = "a removal"},
      {.name = "copy",
       .title =
           "4 users each copy a tree of 268 files and 7.2 MB (n-user-copy with half of the tree)",
       .workload = "n-user-copy",
       .arguments = {{"users", 4}, {"files", 268}, {"tree-bytes", 7'150'000}, {"folders", 14}},
       .scaled = {{"users", 2}, {"files", 20}, {"tree-bytes", 200'000}, {"folders", 4}},
       .phase = "copy",
       .operation = "a file"},
      {.name = "remove-tree",
       .title = "4 users each write and remove a tree of this size (n-user-remove with half of the "
                "tree)",
       .workload = "n-user-remove",
       .arguments = {{"users", 4}, {"files", 268}, {"tree-bytes", 7'150'000}, {"folders", 14}},
       .scaled = {{"users", 2}, {"files", 20}, {"tree-bytes", 200'000}, {"folders", 4}},
       .phase = "remove",
       .operation = "a file"},
      {.name = "sdet",
       .title = "8 streams, each of which runs two command scripts (sdet)",
       .workload = "sdet",
       .arguments = {{"scripts", 8}, {"each", 2}},
       .scaled = {{"scripts", 2}, {"files", 6}, {"home-bytes", 20'000}, {"folders", 3}},
       .phase = "scripts",
       .operation = "a script"},
      {.name = "postmark",
       .title = "500 files, 1 500 transactions on them (at most a fortieth of postmark)",
       .workload = "postmark",
       .arguments = {{"files", 500}, {"transactions", 1500}, {"folders", 20}},
       .scaled = {{"files", 30}, {"transactions", 60}, {"folders", 3}},
       .phase = "transactions",
       .operation = "a transaction"},
      {.name = "mail",
       .title = "4 mailboxes receive 100 messages each, with fsync (a tenth of mail-spool)",
       .workload = "mail-spool",
       .arguments = {{"users", 4}, {"messages", 100}, {"kept", 20}},
       .scaled = {{"users", 2}, {"messages", 8}, {"kept", 3}},
       .phase = "deliver",
       .operation = "a delivery"},
      {.name = "large-file",
       .title =
           "a file of 20 MB: written, read, written at random, read at random, read again, with "
           "a cold cache and with fsync (a fifth of lfs-large-file)",
       .workload = "lfs-large-file",
       .arguments = {{"file-bytes", 20 * kMib}},
       .scaled = {{"file-bytes", kMib / 2}},
       .phase = "random-write",
       .operation = "a random write of 8 KB"},
  };
  return kColumns;
}

const Column& column(std::string_view name) {
  const auto found = std::ranges::find(columns(), name, &Column::name);
  invariant(found != columns().end(), "a workload must be part of the comparison");
  return *found;
}

const std::vector<Column>& aged_columns() {
  static const std::vector<Column> kColumns{
      {.name = "create",
       .title = "4 users create 1 000 files of 1 KB (a tenth of create-1k)",
       .workload = "create-1k",
       .arguments = {{"users", 4}, {"files", 1000}},
       .scaled = {{"users", 2}, {"files", 30}},
       .phase = "create",
       .operation = "a creation"},
      {.name = "postmark",
       .title = "400 files, 1 000 transactions on them (at most a fiftieth of postmark)",
       .workload = "postmark",
       .arguments = {{"files", 400}, {"transactions", 1000}, {"folders", 20}},
       .scaled = {{"files", 20}, {"transactions", 30}, {"folders", 3}},
       .phase = "transactions",
       .operation = "a transaction"},
      column("mail"),
      {.name = "large-file",
       .title = "a file of 5 MB: written, read, written at random, read at random, read again "
                "(a twentieth of lfs-large-file)",
       .workload = "lfs-large-file",
       .arguments = {{"file-bytes", 5 * kMib}},
       .scaled = {{"file-bytes", kMib / 4}},
       .phase = "random-write",
       .operation = "a random write of 8 KB"},
  };
  return kColumns;
}

const char* name(Quantity quantity) {
  static constexpr auto kNames =
      base::names<Quantity>({"user time", "until quiet", "drives busy", "mean response",
                             "99th percentile", "writes of drives"});
  return kNames[quantity].data();
}

const char* unit(Quantity quantity) {
  if (quantity == Quantity::writes) return "/operation";
  return quantity == Quantity::response || quantity == Quantity::response_p99 ? "ms" : "s";
}

Outcome measure(const Context& context, const Row& row, const MachineChoice& choice,
                const Column& column,
                const std::vector<std::shared_ptr<const MachineImage>>& images) {
  Outcome outcome;
  for (std::size_t i = 0; i < seeds_of(context); ++i) {
    MachineChoice its = choice;
    its.seed = context.seed + i;
    ModelledMachineOptions options = machine_of(row, its);
    options.image = images[std::min(i, images.size() - 1)];
    const auto machine = ModelledMachine::start(options);
    if (!machine) return {.error = machine.error().message()};
    const auto run = run_workload(
        **machine, {.workload = column.workload,
                    .replaced = context.scaled ? column.scaled : column.arguments,
                    .verify = i == 0,
                    .seed = its.seed,
                    .begins_after_ns = static_cast<os::TimeNs>(i) * kBetweenBeginnings});
    if (!run) return {.error = run.error().message()};
    const auto values = values_of(*run, column.phase);
    for (std::size_t q = 0; q < values.size(); ++q) outcome.samples.at(q).push_back(values.at(q));
    outcome.modelled_s += run->modelled_s;
  }
  return outcome;
}

}  // namespace headcrash::experiment::compare
