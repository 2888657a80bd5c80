// MS-07 to MS-09, MS-14, MS-15: what a power cut leaves, in a small sample of what campaign snapfs-schemes does whole.
#include <filesystem>
#include <optional>

#include "fs-adapters/snapfs/under_test.h"
#include "harness/experiment/judge.h"
#include "harness/experiment/soares03/soares03.h"
#include "harness/experiment/work_folder.h"
#include "harness/explorer/in_process/exploration.h"
#include "harness/workload/ace.h"

namespace headcrash::experiment::soares03 {
namespace {

/// A workload of so many operations, by its number.
struct Workload {
  int length = 1;
  std::uint64_t number = 0;
};
struct Judged {
  std::uint64_t checked = 0, broken = 0;
  std::string remark;
};

/// The lab on one new disk.
class Lab {
 public:
  explicit Lab(const adapters::SystemUnderTest& system) : system_(system) {
    if (folder_.path().empty()) {
      remark_ = "the folder for temporary files cannot be written (set TMPDIR to one that can)";
      return;
    }
    auto formatted =
        in_process::format_disk(system.type(), *system.lab_disk("plain"), folder_.path() / "formatted.hcrec");
    if (!formatted) {
      remark_ = formatted.error().message();
      return;
    }
    formatted_.emplace(*std::move(formatted));
    bench_.emplace(*formatted_);
  }

  Judged judge(std::span<const Workload> workloads, std::uint64_t budget) {
    Judged sum{.remark = remark_};
    for (const Workload& each : workloads) {
      if (!sum.remark.empty()) break;
      const auto operations = workload::Ace(each.length).workload(each.number);
      const auto result =
          bench_->explore(system_, operations, {.budget = budget}, folder_.path() / "run.hcrec");
      if (!result) {
        sum.remark = result.error().message();
        break;
      }
      if (result->run.failure) sum.remark = *result->run.failure;
      sum.checked += result->checked;
      sum.broken += result->checked - result->clean;
    }
    return sum;
  }

 private:
  const adapters::SystemUnderTest& system_;
  WorkFolder folder_;
  std::string remark_;
  std::optional<in_process::FormattedDisk> formatted_;
  std::optional<in_process::Bench> bench_;
};

/// One row and one rule for a system: sound ones keep their rules, controls are caught.
void judge(ClaimAnswer& answer, const char* system_name, const std::vector<Workload>& workloads,
           std::uint64_t budget) {
  const auto& systems = snapfs::file_system_type().systems();
  const auto found =
      std::ranges::find_if(systems, [&](const auto& each) { return each->name() == system_name; });
  if (found == systems.end()) {
    answer.numbers.push_back({.cell = system_name, .quantity = "states checked", .remark = Cell::kNotBuilt});
    return;
  }
  const adapters::SystemUnderTest& system = **found;
  const Judged seen = Lab(system).judge(workloads, budget);
  const auto told = [&](std::uint64_t count) {
    return seen.remark.empty() ? Figure(static_cast<double>(count)) : std::nullopt;
  };
  answer.numbers.push_back({.cell = system.name(),
                            .quantity = "states checked",
                            .ours = told(seen.checked),
                            .remark = seen.remark});
  answer.numbers.push_back({.cell = system.name(),
                            .quantity = "break a rule",
                            .paper = system.control() ? std::nullopt : Figure(0),
                            .ours = told(seen.broken),
                            .remark = seen.remark});
  add_rule(answer,
           fmt::format("{}: {}", system.name(), system.control() ? "is caught" : "no state breaks a rule"),
           {{"checked", told(seen.checked)}, {"broken", told(seen.broken)}},
           [&] { return seen.checked > 0 && (seen.broken > 0) == system.control(); });
}

ClaimAnswer not_built(const char* id, const char* title, const char* remark) {
  ClaimAnswer answer{.id = id, .part = "crash-states", .title = title};
  answer.numbers.push_back({.cell = "KFS+snap", .quantity = "states checked", .remark = Cell::kNotBuilt});
  answer.remarks.emplace_back(remark);
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> crash_states(Context& context) {
  const std::uint64_t budget = context.scaled ? 60 : 400;
  const std::vector<Workload> usual{{1, 0}, {1, 1}, {2, 3302}};
  ClaimAnswer consistent{
      .id = "MS-07",
      .part = "crash-states",
      .title = "States after a power cut: mounted without a check, of one generation, no leak"};
  for (const char* system : {"snapshots", "data-unordered", "data-copied"})
    judge(consistent, system, usual, budget);
  judge(consistent, "kfs", {{1, 0}}, budget);
  consistent.remarks.push_back(
      "A sample; the whole is campaign snapfs-schemes (results/reference/snapfs-schemes): 3.7 million states, none of "
      "which breaks a rule. The driver's order and flushes are kept there. The paper's machine, whose drive has a "
      "volatile write cache and gets no flush, keeps none of this (tests SnapfsVolatileCache).");
  ClaimAnswer torn{
      .id = "MS-08", .part = "crash-states", .title = "A superblock that is torn between its sectors"};
  judge(torn, "one-superblock", {{1, 0}}, budget);
  judge(torn, "one-version", {{1, 1}}, budget);
  torn.remarks.push_back(
      "Controls: one superblock, and a generation's number in the first sector only. Two and a number in each sector "
      "are what MS-07 has.");
  ClaimAnswer reuse{
      .id = "MS-09", .part = "crash-states", .title = "When freed blocks may be used again (III-A)"};
  judge(reuse, "kfs-reuse", {{2, 3302}}, budget);
  judge(reuse, "reuse-at-once", {{2, 3302}}, budget);
  reuse.remarks.push_back(
      "KFS's rule as printed (newer generations' writes wait) is not safe: it says nothing of a block that one "
      "generation frees and uses again. After the commit, the first of the text's two solutions, is what MS-07 has.");
  return {consistent, torn, reuse,
          not_built("MS-14", "Transactions of several operations (V-A)",
                    "The lab judges what fs-adapters/snapfs has."),
          not_built("MS-15", "Versions: older generations that are kept (V-B)",
                    "The lab judges what fs-adapters/snapfs has.")};
}

}  // namespace headcrash::experiment::soares03
