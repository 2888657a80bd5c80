// MS-07 to MS-09, MS-14, MS-15: the effects of a power cut, in a small sample of the campaign
// snapfs-schemes.
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/snapfs/under_test.h"
#include "harness/explorer/in_process/exploration.h"
#include "harness/explorer/in_process/lab_disks.h"
#include "harness/papers/judge.h"
#include "harness/papers/soares03/soares03.h"
#include "harness/papers/work_folder.h"
#include "harness/workload/catalogue.h"

namespace headcrash::experiment::soares03 {
namespace {

/// A workload, named as in `campaign snapfs-schemes`, for example "ace-seq2/3302". Only workloads
/// of families set `disk` and `order`, the seed of a shuffled order of writes.
struct Workload {
  std::string name;
  std::string disk = std::string(in_process::kPlainDisk);
  std::uint64_t order = 0;
};
struct Judged {
  std::uint64_t checked = 0, broken = 0;
  std::string remark;
};

/// Judges crash states on the disks of the in-process lab. Each workload gets a new disk.
class StateJudge {
 public:
  explicit StateJudge(const adapters::SystemUnderTest& system) : system_(system) {}

  /// Judges the crash states of all workloads. Stops at the first error, which becomes the remark.
  Judged judge(std::span<const Workload> workloads, std::uint64_t budget) {
    Judged sum;
    for (const Workload& each : workloads) {
      if (const auto judged = add(sum, each, budget); !judged) {
        sum.remark = judged.error().message();
        break;
      }
    }
    return sum;
  }

 private:
  Result<void> add(Judged& sum, const Workload& workload, std::uint64_t budget) {
    if (folder_.path().empty())
      return fail("crash states", "the folder for temporary files is not writable",
                  "set TMPDIR to a writable folder");
    const auto lab_disk = system_.lab_disk(workload.disk);
    if (!lab_disk) return fail(workload.name, "has no disk \"" + workload.disk + "\"");
    TRY(const auto operations, workload::make_workload({.name = workload.name}));
    TRY(const auto formatted,
        in_process::format_disk(system_.type(), *lab_disk, folder_.path() / "formatted.hcrec"));
    in_process::DiskExplorer explorer(formatted);
    in_process::ExplorationOptions options{.budget = budget};
    options.run.order = workload.order;
    TRY(const auto result,
        explorer.explore(system_, operations, options, folder_.path() / "run.hcrec"));
    if (result.run.failure) return fail(workload.name, *result.run.failure);
    sum.checked += result.checked;
    sum.broken += result.checked - result.clean;
    return {};
  }

  const adapters::SystemUnderTest& system_;
  WorkFolder folder_;
};

/// Adds a row and a rule for a system. If the system is a control, the rule is that its errors are
/// detected. Otherwise, the rule is that no crash state breaks a promise.
void judge(ClaimAnswer& answer, const char* system_name, const std::vector<Workload>& workloads,
           std::uint64_t budget) {
  const auto& systems = snapfs::file_system_type().systems();
  const auto found =
      std::ranges::find_if(systems, [&](const auto& each) { return each->name() == system_name; });
  if (found == systems.end()) {
    answer.numbers.push_back(
        {.cell = system_name, .quantity = "states checked", .remark = Cell::kNotBuilt});
    return;
  }
  const adapters::SystemUnderTest& system = **found;
  const Judged seen = StateJudge(system).judge(workloads, budget);
  const auto figure_of = [&](std::uint64_t count) {
    return seen.remark.empty() ? Figure(static_cast<double>(count)) : std::nullopt;
  };
  answer.numbers.push_back({.cell = system.name(),
                            .quantity = "states checked",
                            .ours = figure_of(seen.checked),
                            .remark = seen.remark});
  answer.numbers.push_back({.cell = system.name(),
                            .quantity = "break a rule",
                            .paper = system.control() ? std::nullopt : Figure(0),
                            .ours = figure_of(seen.broken),
                            .remark = seen.remark});
  add_rule(answer,
           fmt::format("{}: {}", system.name(),
                       system.control() ? "is caught" : "no state breaks a rule"),
           {{"checked", figure_of(seen.checked)}, {"broken", figure_of(seen.broken)}},
           [&] { return seen.checked > 0 && (seen.broken > 0) == system.control(); });
  if (system.control()) mark(answer, RuleClass::ours);
}

}  // namespace

std::vector<ClaimAnswer> crash_states(Context& context) {
  const std::uint64_t budget = context.scaled ? 60 : 400;
  const std::vector<Workload> usual{{"ace-seq1/0"}, {"ace-seq1/1"}, {"ace-seq2/3302"}};
  ClaimAnswer consistent{
      .id = "MS-07",
      .part = "crash-states",
      .title = "States after a power cut: mounted without a check, one generation, no leaks"};
  for (const char* system : {"snapshots", "data-unordered", "data-copied"})
    judge(consistent, system, usual, budget);
  judge(consistent, "kfs", {{"ace-seq1/0"}}, budget);
  consistent.remarks.push_back(
      "This is a sample. The complete set is campaign snapfs-schemes "
      "(results/reference/snapfs-schemes): 3.7 million states, none of which breaks a rule. "
      "These states respect the driver's order and flushes. The paper's machine guarantees "
      "neither, because its drive has a volatile write cache and receives no flushes (tests "
      "SnapfsVolatileCache).");
  ClaimAnswer torn{.id = "MS-08",
                   .part = "crash-states",
                   .title = "A superblock that is torn between its sectors"};
  judge(torn, "one-superblock", {{"ace-seq1/0"}}, budget);
  judge(torn, "one-version", {{"ace-seq1/1"}}, budget);
  torn.remarks.push_back(
      "Controls: a single superblock, and a generation number in the first sector only. MS-07 "
      "has two superblocks and a number in each sector.");
  ClaimAnswer reuse{.id = "MS-09",
                    .part = "crash-states",
                    .title = "Time at which freed blocks may be reused (III-A)"};
  judge(reuse, "kfs-reuse", {{"ace-seq2/3302"}}, budget);
  const auto broken = std::ranges::find(reuse.numbers, "break a rule", &ClaimNumber::quantity);
  const Figure states = broken == reuse.numbers.end() ? std::nullopt : broken->ours;
  add_rule(reuse, "KFS's own solution, as printed, is safe: no state breaks a rule",
           {{"broken", states}}, [&] { return *states == 0; });
  judge(reuse, "reuse-at-once", {{"ace-seq2/3302"}}, budget);
  reuse.remarks.push_back(
      "The printed rule of KFS (writes of newer generations wait) is not safe, because it does "
      "not cover a block that one generation frees and reuses. MS-07 uses the first of the "
      "text's two solutions: reuse after the commit.");
  ClaimAnswer transactions{
      .id = "MS-14", .part = "crash-states", .title = "Transactions of several operations (V-A)"};
  const std::vector<Workload> several{{"transactions/0", "tiny", 1}, {"transactions/1", "tiny", 2}};
  for (const char* system : {"snapshots-often", "intent-log-often"})
    judge(transactions, system, several, budget);
  judge(transactions, "transactions-split", {{"transactions/0", "tiny", 1}}, budget);
  transactions.remarks.push_back(
      "The text announces transactions without measurements. Here no generation is spawned while "
      "a transaction is open, so after a power cut a transaction is either complete or absent. "
      "The control spawns generations inside transactions.");
  ClaimAnswer versions{
      .id = "MS-15", .part = "crash-states", .title = "Versions: kept older generations (V-B)"};
  for (const char* system : {"kept-snapshots", "kept-snapshots-often"})
    judge(versions, system, usual, budget);
  judge(versions, "snapshot-reuse", {{"ace-seq1/0"}}, budget);
  judge(versions, "snapshot-in-place", {{"ace-seq1/8"}}, budget);
  versions.remarks.push_back(
      "The text announces versions, too, without measurements. In each state, the tree of every "
      "kept snapshot is compared with the tree at its creation. One control reuses blocks of "
      "snapshots, and another overwrites data in place.");
  return {consistent, torn, reuse, transactions, versions};
}

}  // namespace headcrash::experiment::soares03
