// Measures two times after a power cut: the time until the first mount, and the time until the file
// system is known to be consistent. The size of the file system and the amount of work before the
// cut vary.
//
// Uses the Pentium with its drive of 60 GB, because the drive of the other machine has only one
// gigabyte. A user works for a few seconds after the mount (../loss_run.h, ten changes per second),
// and then the power is cut.
//
// The time until the first mount includes the fastest recovery that the format permits: log replay,
// a fast check, or, for an ordered system, a full check. The time until consistency is that of a
// full check and a mount. In these runs, LFS segments are 2 MB, and journals are 32 MB.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/papers/comparison/compare.h"
#include "harness/papers/comparison/session.h"
#include "harness/papers/in_parallel.h"
#include "harness/papers/judge.h"
#include "harness/papers/loss_run.h"
#include "harness/papers/probe_files.h"

namespace headcrash::experiment::compare {

std::vector<RecoveryCase> recovery_cases(bool scaled) {
  if (scaled) return {{"1 GB, 1 s of work", 1, 10, 1}};
  return {{"1 GB, 10 s of work", 1, 250, 10},
          {"10 GB, 10 s of work", 10, 250, 10},
          {"44 GB, 10 s of work", 44, 250, 10},
          {"1 GB, 1 s of work", 1, 250, 1},
          {"1 GB, 60 s of work", 1, 250, 60},
          {"1 GB, three times the files, 10 s of work", 1, 750, 10}};
}

namespace {

/// Returns all rows except those in the group `each call` that have no fast check. The system of an
/// omitted row also has a row in another group, where it recovers in the same way.
std::vector<std::size_t> recovering_rows(const Context& context) {
  std::vector<std::size_t> numbers;
  for (const std::size_t i : rows_of(context))
    if (rows()[i].durability != Durability::each_call || rows()[i].first_mount == Repair::fast)
      numbers.push_back(i);
  return numbers;
}

MachineChoice recovery_choice(const Context& context, const RecoveryCase& what) {
  MachineChoice choice = choice_of(context, Device::drive);
  choice.pentium = true;
  choice.size_bytes = static_cast<std::uint64_t>(what.gb * 1e9 / 512) * 512;
  return choice;
}

ModelledMachineOptions recovery_machine(const Row& row, const MachineChoice& choice) {
  ModelledMachineOptions machine = machine_of(row, choice);
  // With segments of 512 KiB, a disk of this size would have more segments than fit into the
  // format's table.
  if (row.system->type().name() == "lfs") machine.mkfs["segment-size"] = "2M";
  // The journal must be large enough for a transaction that contains the headers of all groups.
  if (machine.mkfs.contains("journal-size")) machine.mkfs["journal-size"] = "32M";
  return machine;
}

/// Creates `megabytes` of files that contain zeroes, and the files that the load changes.
VfsResult<void> fill_for_recovery(Vfs& vfs, std::uint64_t megabytes) {
  constexpr std::uint64_t kFileBytes = 50'000, kPerFolder = 100;
  for (std::uint64_t i = 0; i < megabytes * 1'000'000 / kFileBytes; ++i) {
    const std::string folder = fmt::format("fill{}", i / kPerFolder);
    if (i % kPerFolder == 0) TRY(vfs.mkdir(folder, 0755));
    TRY(make_file(vfs, fmt::format("{}/f{}", folder, i), 0, kFileBytes));
  }
  return make_loss_files(vfs);
}

double seconds_of_recovery(const Recovery& recovery) {
  return seconds_of(recovery.repair.elapsed_ns + recovery.mount.elapsed_ns);
}

/// Cuts the power once and measures the duration of the recovery.
LossSeen cut_and_recover(const Context& context, const Row& row, const RecoveryCase& what,
                         const std::shared_ptr<const MachineImage>& image, std::size_t seed,
                         Repair repair) {
  MachineChoice choice = recovery_choice(context, what);
  choice.seed = context.seed + seed;
  LossAsked asked{.machine = recovery_machine(row, choice), .seed = choice.seed};
  asked.machine.image = image;
  asked.warm_ns = what.dirty_s * model::kSecondNs;
  asked.instants = 0;
  asked.cut_at_last = true;
  asked.repair = repair;
  return run_loss(asked);
}

RowRecovery recover_row(const Context& context, std::size_t number, const RecoveryCase& what,
                        const std::shared_ptr<const MachineImage>& image, double& modelled_s) {
  const Row& row = rows()[number];
  RowRecovery result{.row = number};
  for (std::size_t seed = 0; seed < seeds_of(context); ++seed) {
    const LossSeen first = cut_and_recover(context, row, what, image, seed, row.first_mount);
    modelled_s += first.modelled_s;
    if (!first.recovery) return {.row = number, .error = first.error};
    result.mount_s.push_back(seconds_of_recovery(*first.recovery));
    result.mount_cpu_s.push_back(
        seconds_of(first.recovery->repair.cpu_ns + first.recovery->mount.cpu_ns));
    if (first.recovery->repair.done &&
        // The repair before the first mount was already a full check.
        row.first_mount != Repair::fast) {
      result.consistent_s.push_back(result.mount_s.back());
      continue;
    }
    const LossSeen whole = cut_and_recover(context, row, what, image, seed, Repair::always);
    modelled_s += whole.modelled_s;
    if (!whole.recovery) return {.row = number, .error = whole.error};
    result.consistent_s.push_back(seconds_of_recovery(*whole.recovery));
  }
  return result;
}

Plot plot_of(const std::vector<RecoveryTable>& all) {
  Plot plot{.name = "by-size",
            .title = "Time until the first mount, by size; 10 s of work before the cut",
            .x = "file system (GB)",
            .y = "first mount (s)",
            .logarithmic_x = true};
  std::map<std::size_t, Series> by_row;
  for (const RecoveryTable& table : all)
    for (const RowRecovery& one : table.rows)
      if (table.what.dirty_s == 10 && table.what.files_mb == 250 && !one.mount_s.empty())
        by_row[one.row].points.emplace_back(table.what.gb, *mean_of(one.mount_s));
  for (auto& [row, series] : by_row) {
    series.name = full_name(rows()[row]);
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace

const std::vector<RecoveryTable>* Session::recoveries(Context& context) {
  if (recoveries_) return &*recoveries_;
  const std::vector<std::size_t> numbers = recovering_rows(context);
  std::vector<RecoveryTable> made;
  for (const RecoveryCase& what : recovery_cases(context.scaled)) {
    made.push_back({.what = what});
    for (const std::size_t number : numbers) made.back().rows.push_back({.row = number});
  }
  const auto formats = grouped(numbers, &Row::format);  // rows of the same format share an image
  std::vector<double> modelled_s(made.size() * formats.size());
  const bool done =
      in_parallel(context.interrupt_requested, modelled_s.size(), [&](std::size_t job) {
        RecoveryTable& table = made[job / formats.size()];
        const auto& places = formats[job % formats.size()];
        ModelledMachineOptions machine =
            recovery_machine(rows()[numbers[places.front()]], recovery_choice(context, table.what));
        machine.front = {};
        machine.populate = [&](Vfs& vfs) { return fill_for_recovery(vfs, table.what.files_mb); };
        const auto image = ModelledMachine::image_of(machine);
        for (const std::size_t place : places)
          table.rows[place] =
              image ? recover_row(context, numbers[place], table.what, *image, modelled_s[job])
                    : RowRecovery{.row = numbers[place], .error = image.error().message()};
      });
  if (!done) return nullptr;
  for (const double each : modelled_s) context.modelled_s += each;
  recoveries_ = std::move(made);
  return &*recoveries_;
}

std::vector<ClaimAnswer> recovery(Context& context) {
  const auto* const all = Session::of(context).recoveries(context);
  if (all == nullptr) return {};
  ClaimAnswer answer{
      .id = "recovery",
      .part = "recovery",
      .title =
          "After a cut: time until the first mount, and until everything is consistent; Pentium "
          "4, IBM 60 GB",
      .tables_tell_all = true};
  for (const RecoveryTable& table : *all) {
    Table shown{
        .name = table.what.name,
        .title = fmt::format("{}, {} MB of files", table.what.name, table.what.files_mb + 80),
        .columns = {"system", "first mount (s)", "of which processor (s)", "full consistency (s)"}};
    for (const RowRecovery& one : table.rows) {
      const std::string row = full_name(rows()[one.row]),
                        cell = fmt::format("{}; {}", row, table.what.name);
      add_sample(answer, cell, "first mount", "s", one.mount_s, one.error);
      add_sample(answer, cell, "of this, processor time", "s", one.mount_cpu_s, one.error);
      add_sample(answer, cell, "full consistency", "s", one.consistent_s, one.error);
      shown.rows.push_back(
          {row, text_of(one.mount_s), text_of(one.mount_cpu_s), text_of(one.consistent_s)});
      if (!one.error.empty()) answer.remarks.push_back(fmt::format("{}: {}", cell, one.error));
    }
    answer.tables.push_back(std::move(shown));
  }
  answer.plots.push_back(plot_of(*all));
  return {answer};
}

}  // namespace headcrash::experiment::compare
