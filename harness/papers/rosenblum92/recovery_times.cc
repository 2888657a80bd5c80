// LFS-30, LFS-31, LFS-42 and LFS-04: the recovery time after a power cut (sections 6.2.1.3,
// 4.5.2.2, 2.5.2).
//
// As in the dissertation, the system makes no checkpoint and writes no directory before the cut
// (MountOptions::directories_wait), so recovery must restore every name. Data that is not old
// enough to be written is lost, so the power is cut 40 seconds after the last file. The format is
// that of Sprite, without data checksums, so that recovery need not read the data.
#include <array>

#include "harness/papers/judge.h"
#include "harness/papers/probe_files.h"
#include "harness/papers/rosenblum92/chapter6.h"
#include "harness/papers/rosenblum92/prototype.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr os::TimeNs kUntilCrash = 40 * model::kSecondNs;

LfsSetup without_checkpoints() {
  LfsSetup setup;
  setup.mkfs.checksums = false;
  setup.mount.checkpoint_interval_ns = 0;
  setup.mount.directories_wait = true;
  return setup;
}

struct Crash {
  Figure seconds, cpu_s, disk_s;
  std::string remark;  ///< the reason why numbers are missing
};

VfsResult<void> make(Vfs& vfs, const FileSet& files) {
  TRY(files.make_folders(vfs));
  TRY(vfs.syncfs());
  return files.make_files(vfs);
}

/// Measures a recovery. If `all_there` is true, fails unless all files survive.
Crash crash(const LfsSetup& setup, const FileSet& files, bool all_there) {
  Crash result;
  auto machine = setup.start();
  if (!machine) {
    result.remark = machine.error().message();
    return result;
  }
  VfsResult<void> made;
  run_as_user(**machine, [&] { made = make((*machine)->vfs(), files); });
  if (!made) {
    result.remark = "a file system call failed";
    return result;
  }
  (*machine)->system().executor.run_until((*machine)->now() + kUntilCrash);
  (*machine)->cut();
  const auto recovery = (*machine)->recover(Repair::as_needed);
  if (!recovery) {
    result.remark = recovery.error().message();
    return result;
  }
  VfsResult<bool> complete = true;
  if (all_there) run_as_user(**machine, [&] { complete = files.complete((*machine)->vfs()); });
  if (!complete || !*complete) {
    result.remark = "files are missing after recovery";
    return result;
  }
  result.seconds = seconds_of(recovery->mount.elapsed_ns);
  result.cpu_s = seconds_of(recovery->mount.cpu_ns);
  result.disk_s = seconds_of(recovery->mount.device_busy_ns);
  return result;
}

struct Size {
  std::uint64_t kilobytes;
  std::array<double, 3> printed_s;  ///< for 1, 10 and 50 MB; "< 1" is stored as 1
};
constexpr std::array kTable61{Size{1, {1, 21, 132}}, Size{10, {1, 3, 17}}, Size{100, {1, 1, 8}}};
constexpr std::array<std::uint64_t, 3> kMegabytes{1, 10, 50};

FileSet files_of(std::uint64_t kilobytes, std::uint64_t megabytes, bool scaled,
                 std::uint64_t files_per_folder) {
  const std::uint64_t total = megabytes * kMegabyte / (scaled ? 20 : 1), each = kilobytes * 1024;
  return {.files = std::max<std::uint64_t>(1, total / each),
          .file_bytes = each,
          .files_per_folder = files_per_folder};
}

void add(ClaimAnswer& answer, const std::string& cell, const char* quantity, const Figure& paper,
         const Figure& ours, const std::string& remark) {
  answer.numbers.push_back({cell, quantity, "s", paper, ours, remark});
}

/// Table 6-1. The dissertation does not give the number of files in each directory.
ClaimAnswer table_6_1(Context& context, std::uint64_t files_per_folder) {
  ClaimAnswer answer{
      .id = "LFS-30",
      .part = "recovery",
      .title = fmt::format(
          "Recovery after a cut, by the data written since the last checkpoint (6-1), {} files "
          "per directory",
          files_per_folder)};
  std::array<std::array<Figure, 3>, 3> ours;
  for (std::size_t row = 0; row < kTable61.size(); ++row) {
    for (std::size_t column = 0; column < kMegabytes.size(); ++column) {
      if (context.interrupted()) return answer;
      const std::string cell =
          fmt::format("{} KB files, {} MB", kTable61[row].kilobytes, kMegabytes[column]);
      const Crash result = crash(
          without_checkpoints(),
          files_of(kTable61[row].kilobytes, kMegabytes[column], context.scaled, files_per_folder),
          true);
      ours[row][column] = result.seconds;
      const double printed = kTable61[row].printed_s[column];
      add(answer, cell, "recovery", printed, result.seconds, result.remark);
      add(answer, cell, "processor", {}, result.cpu_s, result.remark);
      add(answer, cell, "disk", {}, result.disk_s, result.remark);
      constexpr double kFactor = 1.5;
      if (printed > 1)
        add_rule(answer, fmt::format("{}: {:g} s (within a factor of 1.5)", cell, printed),
                 {in_unit(result.seconds, "s")}, [&] {
                   return *result.seconds <= printed * kFactor &&
                          *result.seconds >= printed / kFactor;
                 });
      else
        add_rule(answer,
                 fmt::format("{}: recovery takes at most {:g} s (within a factor of 1.5)", cell,
                             printed),
                 {in_unit(result.seconds, "s")},
                 [&] { return *result.seconds <= printed * kFactor; });
    }
  }
  const std::vector<Named> by_files{
      {"1 KB", ours[0][2]}, {"10 KB", ours[1][2]}, {"100 KB", ours[2][2]}};
  add_falling(answer, "50 MB: more files take longer", by_files);
  add_rule(
      answer,
      "the number of files matters more than their bytes: 50 MB of 100 KB files take less time "
      "than 10 MB of 1 KB files",
      {{"50 MB of 100 KB", ours[2][2]}, {"10 MB of 1 KB", ours[0][1]}},
      [&] { return *ours[2][2] < *ours[0][1]; });
  return answer;
}

ClaimAnswer few_files_a_directory(Context& context) {
  ClaimAnswer answer = table_6_1(context, 100);
  if (context.interrupted()) return answer;
  // Add variants with other values of the parameters that affect the recovery time.
  const FileSet many = files_of(1, 50, context.scaled, 100),
                large = files_of(100, 50, context.scaled, 100);
  LfsSetup directories_written = without_checkpoints();
  directories_written.mount.directories_wait = false;
  const Crash usual = crash(directories_written, many, true);
  add(answer, "1 KB files, 50 MB; directories written", "recovery", {}, usual.seconds,
      usual.remark);
  LfsSetup summed = without_checkpoints();
  summed.mkfs.checksums = true;
  const Crash checked = crash(summed, large, true);
  add(answer, "100 KB files, 50 MB; checksums over data", "recovery", 8., checked.seconds,
      checked.remark);
  LfsSetup by_index = without_checkpoints();
  by_index.mount.recovery_reads_index = true;
  const Crash indexed = crash(by_index, large, true);
  add(answer, "100 KB files, 50 MB; every index block read", "recovery", 8., indexed.seconds,
      indexed.remark);
  LfsSetup forgetful = without_checkpoints();
  forgetful.machine.cache_bytes = kMegabyte;
  const Crash small = crash(forgetful, many, true);
  add(answer, "1 KB files, 50 MB; a file cache of 1 MB", "recovery", 132., small.seconds,
      small.remark);
  answer.remarks.push_back(
      "\"< 1\" counts as 1. Counterfactuals: directories are written as usual; checksums, for "
      "which all data is read; index blocks of new files are read although the summaries contain "
      "this information; a file cache that keeps little of the first pass for the second pass.");
  return answer;
}

ClaimAnswer many_files_a_directory(Context& context) {
  ClaimAnswer answer = table_6_1(context, 1000);
  for (ClaimRule& rule : answer.rules) rule.kind = RuleClass::ours;
  answer.remarks.push_back(
      "In the other interpretation, recovery searches a longer directory for each name that it "
      "adds.");
  return answer;
}

/// Returns the recovery time in seconds per megabyte of files. The files have the mean size in
/// table 6-2.
ClaimAnswer interval(Context& context) {
  ClaimAnswer answer{.id = "LFS-31",
                     .part = "recovery",
                     .title = "Recovery time by checkpoint interval (6.2.1.3)"};
  // The means over table 6-2.
  constexpr std::uint64_t kAverageFileKilobytes = 30, kTrafficMegabytes = 3;
  const Crash hour =
      crash(without_checkpoints(),
            files_of(kAverageFileKilobytes, kTrafficMegabytes, context.scaled, 100), true);
  add(answer, "an hour of table 6-2's average traffic (3.4 MB)", "recovery", 1., hour.seconds,
      hour.remark);
  add_rule(answer, "recovery takes about one second (.5 to 2 s)", {in_unit(hour.seconds, "s")},
           [&] { return *hour.seconds >= .5 && *hour.seconds <= 2; });
  const Crash more =
      crash(without_checkpoints(), files_of(kAverageFileKilobytes, 23, context.scaled, 100), true);
  Figure interval_s;
  if (hour.seconds && more.seconds && *more.seconds > *hour.seconds) {
    constexpr double kMostMegabytesAnHour = 150, kHour = 3600;
    const double s_per_mb = (*more.seconds - *hour.seconds) / 20;
    interval_s = kHour / kMostMegabytesAnHour / s_per_mb;
  }
  add(answer, "150 MB per hour: interval that adds one second to recovery", "interval", 70.,
      interval_s, more.remark);
  /// Seconds per megabyte, from the rows of table 6-1 for files of 10 KB.
  constexpr double kPrintedSlope = (17. - 3.) / 40;
  add(answer, "the same, computed from the printed table 6-1, files of 10 KB", "interval", 70.,
      3600 / 150. / kPrintedSlope, {});
  add_rule(answer, "each 70 s of interval add one second to recovery (within a factor of 1.5)",
           {in_unit(interval_s, "s")},
           [&] { return *interval_s >= 70 / 1.5 && *interval_s <= 70 * 1.5; });
  const Crash few = crash(without_checkpoints(), files_of(10, 3, context.scaled, 100), true);
  const Crash many = crash(without_checkpoints(), files_of(10, 23, context.scaled, 100), true);
  const Figure slope =
      few.seconds && many.seconds ? Figure((*many.seconds - *few.seconds) / 20) : std::nullopt;
  add(answer, "files of 10 KB: each additional megabyte", "recovery", {}, slope, many.remark);
  answer.remarks.push_back(
      "Files of 30 KB, the mean of table 6-2. The slope is measured between 3 and 23 MB. "
      "Counterfactual: files of 10 KB.");
  return answer;
}

ClaimAnswer without_roll_forward(Context& context) {
  ClaimAnswer answer{
      .id = "LFS-42",
      .part = "recovery",
      .title = "A mount that reads only the checkpoint, for any length of the log (4.5.2.2)"};
  LfsSetup setup = without_checkpoints();
  setup.mount.roll_forward = false;
  const Crash little = crash(setup, files_of(10, 1, context.scaled, 100), false);
  const Crash much = crash(setup, files_of(10, 50, context.scaled, 100), false);
  add(answer, "1 MB since the checkpoint", "mount", {}, little.seconds, little.remark);
  add(answer, "50 MB since the checkpoint", "mount", {}, much.seconds, much.remark);
  const std::vector<Named> both{{"1 MB", little.seconds}, {"50 MB", much.seconds}};
  add_rule(answer, "\"instantaneous\": 50 MB take less than a second longer than 1 MB", both,
           [&] { return *both[1].value - *both[0].value < 1; });
  return answer;
}

ClaimAnswer scavenger(Context& context) {
  constexpr std::uint64_t kFilesOnIt = 23'971, kUsedBytes = 240 * kMegabyte;
  ClaimAnswer answer{.id = "LFS-04",
                     .part = "recovery",
                     .title = "fsck of a 300 MB disk with 23 971 files (2.5.2)"};
  const std::uint64_t files = context.scaled ? kFilesOnIt / 20 : kFilesOnIt;
  const auto run = [&](const char* name, const Figure& printed, UfsSetup setup,
                       std::uint64_t files_per_folder) {
    setup.machine.populate = [=](Vfs& vfs) {
      const FileSet set{.files = files,
                        .file_bytes = kUsedBytes / kFilesOnIt / 1024 * 1024,
                        .files_per_folder = files_per_folder};
      if (auto made = set.make_folders(vfs); !made) return made;
      return set.make_files(vfs);
    };
    const auto machine = ModelledMachine::start(setup.setup().machine);
    Figure seconds;
    std::string remark = machine ? "" : machine.error().message();
    if (machine) {
      (*machine)->cut();
      const auto recovery = (*machine)->recover(Repair::always);
      if (recovery)
        seconds = seconds_of(recovery->repair.elapsed_ns);
      else
        remark = recovery.error().message();
    }
    add(answer, name, "fsck", printed, seconds, remark);
    return seconds;
  };
  constexpr std::uint64_t kFilesPerFolder = 100, kFewFilesPerFolder = 10;
  const Figure seconds = run("SunOS", 117., sunos(), kFilesPerFolder);
  add_rule(answer, "fsck takes 117 s (+-30 %)", {in_unit(seconds, "s")},
           [&] { return *seconds >= 117 * .7 && *seconds <= 117 * 1.3; });
  run("SunOS, 10 files per directory", {}, sunos(), kFewFilesPerFolder);
  UfsSetup dense = sunos();
  dense.bytes_per_inode = 2048;
  run("SunOS, one inode per 2 KB", {}, dense, kFilesPerFolder);
  answer.remarks.push_back(
      "It is our choice that files have 10 KB, with 100 files per directory, so that 240 of 300 "
      "MB are in use. Our checker reads inodes and maps once, in disk order; the dissertation "
      "does not print the times of the phases. Counterfactuals: more directories, and more "
      "inodes to check.");
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> recovery_times(Context& context) {
  std::vector<ClaimAnswer> answers;
  for (const auto& claim :
       {few_files_a_directory, many_files_a_directory, interval, without_roll_forward, scavenger})
    if (!context.interrupted()) answers.push_back(claim(context));
  return answers;
}

}  // namespace headcrash::experiment::rosenblum92
