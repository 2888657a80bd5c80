// Sections 1, 4.1 and 4.2: the effect of a power cut on each scheme, the effect of dependencies
// between whole blocks, and the time by which soft updates delay the reuse of freed space.
#include <filesystem>
#include <string_view>

#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/under_test.h"
#include "harness/explorer/in_process/exploration.h"
#include "harness/papers/ganger94/coarse_dependencies.h"
#include "harness/papers/ganger94/ganger94.h"
#include "harness/papers/judge.h"
#include "harness/papers/work_folder.h"
#include "harness/workload/ace.h"

namespace headcrash::experiment::ganger94 {
namespace {

constexpr std::uint64_t kCrashDiskBytes = 8 << 20;
constexpr std::uint64_t kSampleSeed = 5;  // seed of the workloads during which the power is cut

/// Returns true for the schemes of this paper. Other papers' schemes need special disks or a
/// separate log device. Of the controls, only no-order and ignore are included: the others break
/// rules that are not tested here.
bool is_of_this_paper(const adapters::SystemUnderTest& system) {
  const auto variant = ufs::find_scheme_variant(system.name());
  const std::string_view name = system.name();
  return variant && !variant->features.any() && !name.starts_with("netra") &&
         (!system.control() || name == "no-order" || name == "ignore");
}

struct CrashSum {
  std::uint64_t checked = 0, broken = 0;
  std::string remark;
};

CrashSum cut_everywhere(in_process::DiskExplorer& explorer, const adapters::SystemUnderTest& system,
                        std::uint64_t workloads, std::uint64_t budget,
                        const std::filesystem::path& folder) {
  CrashSum sum;
  const workload::Ace ace(2);
  for (const std::uint64_t number : workload::sample_numbers(ace.count(), workloads, kSampleSeed)) {
    const auto operations = ace.workload(number);
    const auto result =
        explorer.explore(system, operations, {.budget = budget}, folder / "run.hcrec");
    if (!result) {
      sum.remark = result.error().message();
      return sum;
    }
    if (result->run.failure) sum.remark = *result->run.failure;
    sum.checked += result->checked;
    sum.broken += result->checked - result->clean;
  }
  return sum;
}

/// Records when the block of an inode was last written.
class WriteWatch : public os::DiskTracer {
 public:
  WriteWatch(std::uint64_t lba, std::uint64_t sectors) : lba_(lba), end_(lba + sectors) {}
  void completed(const os::DiskTrace& request) override {
    const bool covers = request.op == model::Op::write && request.lba < end_ &&
                        lba_ < request.lba + request.sectors;
    if (covers) written_at = request.completed_at;
  }
  os::TimeNs written_at = 0;

 private:
  std::uint64_t lba_, end_;
};

struct Freed {
  Figure seconds;  ///< time from the write of the inode's block until the space is free
  std::string remark;
};

Freed probe_free_after_write() {
  constexpr os::TimeNs kLook = 10 * model::kMillisecondNs;
  constexpr os::TimeNs kLongest = 300 * model::kSecondNs;
  Freed freed;
  const auto machine = usual(ComparedScheme::soft_updates).start();
  if (!machine) {
    freed.remark = machine.error().message();
    return freed;
  }
  ufs::FileSystem& fs = mounted_ufs(**machine);
  os::Account account{.name = "probe"};
  std::unique_ptr<WriteWatch> watch;
  (*machine)->system().run_as(account, [&] {
    const std::vector<std::byte> data(64 << 10, std::byte{0x5a});
    const auto file = fs.open("old", {.create = true, .exclusive = true});
    if (!file || !fs.pwrite(*file, 0, data) || !fs.close(*file) || !fs.syncfs()) return;
    const auto& geometry = fs.volume().geometry;
    // The file is the only one, so it has the first inode after the root's.
    const auto place = geometry.place_of(ufs::kRootInode + 1);
    watch = std::make_unique<WriteWatch>(fs.volume().lba(place.block),
                                         geometry.block_bytes() / ufs::kSectorBytes);
    (*machine)->system().queue.trace(watch.get());
    const auto free_bytes = [&] { return fs.space()->free_bytes; };
    const std::uint64_t before = free_bytes();
    if (!fs.unlink("old")) return;
    const os::TimeNs removed_at = (*machine)->now();
    while (free_bytes() <= before && (*machine)->now() - removed_at < kLongest)
      (*machine)->system().executor.sleep_until((*machine)->now() + kLook);
    if (free_bytes() <= before || watch->written_at == 0) return;
    freed.seconds = static_cast<double>((*machine)->now() - watch->written_at) /
                    static_cast<double>(model::kSecondNs);
  });
  (*machine)->system().queue.trace(nullptr);
  if (!freed.seconds) freed.remark = "the space was not freed";
  return freed;
}

/// The counters of a dependency graph that was recorded during a workload.
struct Drawn {
  std::optional<CoarseDependencies::Counters> seen;
  std::string remark;
};

Drawn draw_dependencies(const WorkloadRun& run) {
  const auto machine = usual(ComparedScheme::no_order).start();
  if (!machine) return {.remark = machine.error().message()};
  ufs::Volume& volume = mounted_ufs(**machine).volume();
  auto drawing = std::make_unique<CoarseDependencies>(volume, volume.scheme->options());
  const CoarseDependencies& drawn = *drawing;
  volume.cache.hooks(drawing.get());
  volume.scheme = std::move(drawing);
  if (const auto outcome = run_workload(**machine, run); !outcome)
    return {.remark = outcome.error().message()};
  return {.seen = drawn.counters()};
}

}  // namespace

namespace {

/// Returns true if the paper describes this scheme and its settings.
bool is_described(std::string_view system) {
  constexpr std::string_view kNotDescribed[] = {"conventional-bsd", "conventional-5s",
                                                "soft-updates-5s", "soft-updates-init-cb"};
  return !system.starts_with("journal") && std::ranges::count(kNotDescribed, system) == 0;
}

}  // namespace

std::vector<ClaimAnswer> integrity(Context& context) {
  const bool scaled = context.scaled;
  const std::uint64_t workloads = scaled ? 1 : 3, budget = scaled ? 100 : 400;
  ClaimAnswer answer{.id = "GP-32",
                     .part = "integrity",
                     .title = "States after a power cut that break the integrity rules"};
  answer.remarks.push_back(fmt::format(
      "Each scheme on {} short workloads, with up to {} of the states that the driver's rules "
      "permit for each workload. Each state is checked and repaired by fsck, and then compared "
      "with the synced data. No Order and Ignore are the controls.",
      workloads, budget));
  const WorkFolder folder;
  const auto formatted =
      folder.path().empty()
          ? Result<in_process::FormattedDisk>(fail("the folder for temporary files",
                                                   "cannot be written",
                                                   "set TMPDIR to a writable folder"))
          : in_process::format_disk(ufs::file_system_type(), {.bytes = kCrashDiskBytes},
                                    folder.path() / "formatted.hcrec");
  std::optional<in_process::DiskExplorer> explorer;
  if (formatted) explorer.emplace(*formatted);
  for (const auto& system : ufs::file_system_type().systems()) {
    if (context.interrupted()) break;
    if (!is_of_this_paper(*system)) continue;
    CrashSum sum;
    if (explorer)
      sum = cut_everywhere(*explorer, *system, workloads, budget, folder.path());
    else
      sum.remark = formatted.error().message();
    const auto states =
        sum.remark.empty() ? Figure(static_cast<double>(sum.checked)) : std::nullopt;
    const auto broken = sum.remark.empty() ? Figure(static_cast<double>(sum.broken)) : std::nullopt;
    const Figure paper = system->control() ? std::nullopt : Figure(0);
    answer.numbers.push_back({.cell = system->name(),
                              .quantity = "states checked",
                              .ours = states,
                              .remark = sum.remark});
    answer.numbers.push_back({.cell = system->name(),
                              .quantity = "break a rule",
                              .paper = paper,
                              .ours = broken,
                              .remark = sum.remark});
    const std::vector<Named> values{{"checked", states}, {"broken", broken}};
    add_rule(answer,
             fmt::format("{}: {}", system->name(),
                         system->control() ? "is caught" : "no state breaks a rule"),
             values,
             [&] { return *values[0].value > 0 && (*values[1].value > 0) == system->control(); });
    if (system->control() || !is_described(system->name())) mark(answer, RuleClass::ours);
  }
  return {answer};
}

std::vector<ClaimAnswer> block_dependencies(Context& context) {
  ClaimAnswer answer{.id = "GP-33",
                     .part = "cycles",
                     .title = "Dependencies between whole blocks: cycles and deferred writes"};
  const std::pair<const char*, timed::Arguments> kWorkloads[] = {
      {"n-user-copy", {{"users", 4}}},
      {"n-user-remove", {{"users", 4}}},
      {"create-remove-1k", {{"users", 4}, {"files", context.scaled ? 200 : 2000}}},
      {"sdet", {{"scripts", 4}}}};
  std::vector<Named> cycles, put_off;
  for (const auto& [its_name, arguments] : kWorkloads) {
    const auto& workload = its_name;  // clang 14 cannot capture structured bindings
    const Drawn drawn = draw_dependencies({.workload = workload,
                                           .replaced = arguments,
                                           .scaled = context.scaled,
                                           .verify = false,
                                           .seed = context.seed});
    const auto add = [&](const char* quantity,
                         std::uint64_t CoarseDependencies::Counters::* counter) {
      const Figure ours =
          drawn.seen ? Figure(static_cast<double>((*drawn.seen).*counter)) : std::nullopt;
      answer.numbers.push_back(
          {.cell = workload, .quantity = quantity, .ours = ours, .remark = drawn.remark});
      return ours;
    };
    using Counters = CoarseDependencies::Counters;
    add("dependencies", &Counters::dependencies);
    cycles.push_back({workload, add("would close a cycle", &Counters::cycles)});
    add("writes of metadata", &Counters::writes);
    put_off.push_back({workload, add("would be deferred", &Counters::writes_put_off)});
  }
  add_rule(answer,
           "cycles occur in every workload that creates and removes files in the same "
           "blocks",
           {cycles[2], cycles[3]}, [&] { return *cycles[2].value > 0 && *cycles[3].value > 0; });
  add_rule(answer, "aging: deferred writes occur in each workload", put_off, [&] {
    return std::all_of(put_off.begin(), put_off.end(),
                       [](const Named& each) { return *each.value > 0; });
  });
  answer.remarks.push_back(
      "Counts the problems that section 4.1 reports for the authors' first attempt, in runs of "
      "No Order, which defers no writes (harness/papers/ganger94/coarse_dependencies.h). The "
      "paper has no numbers.");
  return {answer};
}

std::vector<ClaimAnswer> work_items(Context&) {
  ClaimAnswer answer{.id = "GP-35",
                     .part = "workitems",
                     .title = "Soft Updates: time from the inode's write until the space is free"};
  const Freed freed = probe_free_after_write();
  answer.numbers.push_back({.cell = "a file of 64 KiB",
                            .quantity = "free after its inode's write",
                            .unit = "s",
                            .paper = 1,
                            .ours = freed.seconds,
                            .remark = freed.remark});
  add_rule(answer, "within a second: the work item runs at the syncer's next tick",
           {{"after", freed.seconds}}, [&] { return *freed.seconds <= 1.1; });
  answer.remarks.push_back(
      "The paper's limits of 15 seconds for undone changes do not apply here: only a copy is "
      "undone, and its block is dirty again at once (fs-adapters/ufs/schemes/soft_updates.h).");
  return {answer};
}

}  // namespace headcrash::experiment::ganger94
