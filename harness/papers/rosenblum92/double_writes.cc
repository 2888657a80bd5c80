// LFS-40 and LFS-43: the additional cost of parity in an array (section 3.1.2.1), and of writing
// all data to a log as well (section 2.5.3).
#include "fs-adapters/substrate/os/fiber_store.h"
#include "harness/papers/judge.h"
#include "harness/papers/probe_files.h"
#include "harness/papers/rosenblum92/chapter6.h"
#include "harness/papers/rosenblum92/prototype.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr const char* kArray = "raid5-5";
/// Data sectors of a stripe: 64 KiB on each of four members.
constexpr std::uint64_t kStripeSectors = 4 * 128;
constexpr std::uint32_t kUnitSectors = 128, kSegmentSectors = 2048;
/// The first segment begins at a multiple of this size.
constexpr std::uint32_t kUnalignedBytes = 64 << 10;
constexpr os::TimeNs kUntilAtRest = 65 * model::kSecondNs;

/// Returns the setup with the array as its disk, and with segments of 1 MB, which are four stripes
/// each (section 4.4.1).
LfsSetup on_array(LfsSetup setup) {
  setup.machine.profile = kArray;
  setup.mkfs.align_bytes = kStripeSectors * model::kSectorBytes;
  return setup;
}
UfsSetup on_array(UfsSetup setup) {
  setup.machine.profile = kArray;
  return setup;
}

struct MemberRequests {
  Figure reads, writes;
  std::string remark;  ///< the reason why numbers are missing
};

MemberRequests between(const model::DeviceCounters& before, const model::DeviceCounters& after) {
  return {static_cast<double>(after.reads - before.reads),
          static_cast<double>(after.writes - before.writes),
          {}};
}

/// Writes `sectors` sectors directly to the array, starting at sector `from_sector` of a stripe.
MemberRequests raw_write(std::uint32_t sectors, std::uint32_t from_sector = 0) {
  const auto machine = ModelledMachine::start(on_array(LfsSetup{}).setup().machine);
  if (!machine) return {{}, {}, machine.error().message()};
  MemberRequests result;
  run_as_user(**machine, [&] {
    os::FiberStore store((*machine)->system().queue, {.request_sectors_max = kSegmentSectors});
    const std::uint64_t lba = (store.sectors() / kStripeSectors - 6) * kStripeSectors + from_sector;
    const std::vector<std::byte> data(std::size_t{sectors} * model::kSectorBytes, std::byte{1});
    // The first write to the array may also mark the array as in use, so perform one write before
    // counting.
    Result<void> written = store.write(lba - 6 * kStripeSectors, data);
    const model::DeviceCounters before = (*machine)->device_counters();
    if (written) written = store.write(lba, data);
    result = between(before, (*machine)->device_counters());
    if (!written) result.remark = written.error().message();
  });
  return result;
}

/// Counts the requests that `body` causes, until all of its data is on the disk. `prepare` is
/// executed first and is not counted.
MemberRequests work(const Setup& setup, const std::function<VfsResult<void>(Vfs&)>& prepare,
                    const std::function<VfsResult<void>(Vfs&)>& body) {
  const auto machine = ModelledMachine::start(setup.machine);
  if (!machine) return {{}, {}, machine.error().message()};
  Vfs& vfs = (*machine)->vfs();
  VfsResult<void> done;
  const auto run = [&](const std::function<VfsResult<void>(Vfs&)>& what) {
    run_as_user(**machine, [&] {
      if (done) done = what(vfs);
      if (done) done = vfs.syncfs();
    });
    (*machine)->system().executor.run_until((*machine)->now() + kUntilAtRest);
  };
  run(prepare);
  const model::DeviceCounters before = (*machine)->device_counters();
  run(body);
  if (!done) return {{}, {}, "a file system call failed"};
  return between(before, (*machine)->device_counters());
}

void add(ClaimAnswer& answer, const std::string& cell, const MemberRequests& result,
         double divided_by, const Figure& paper_reads, const Figure& paper_writes) {
  answer.numbers.push_back(
      {cell, "members' reads", "", paper_reads, part_of(result.reads, divided_by), result.remark});
  answer.numbers.push_back({cell, "members' writes", "", paper_writes,
                            part_of(result.writes, divided_by), result.remark});
}

Figure all_of(const MemberRequests& result) {
  return result.reads && result.writes ? Figure(*result.reads + *result.writes) : std::nullopt;
}

}  // namespace

std::vector<ClaimAnswer> array_writes(Context& context) {
  ClaimAnswer answer{.id = "LFS-40",
                     .part = "array-writes",
                     .title = "Requests to the members of a RAID-5 of 4 + 1 drives (3.1.2.1)"};
  const MemberRequests small = raw_write(8), stripe = raw_write(kStripeSectors);
  const MemberRequests aligned = raw_write(kSegmentSectors),
                       off = raw_write(kSegmentSectors, kUnitSectors);
  add(answer, "4 KB", small, 1, 2., 2.);
  add(answer, "a stripe (256 KB)", stripe, 1, 0., 5.);
  add(answer, "four stripes (1 MB)", aligned, 1, 0., {});
  add(answer, "1 MB that begins 64 KB after a stripe boundary", off, 1, {}, {});
  add_rule(answer, "a small write needs two reads and two writes",
           {{"reads", small.reads}, {"writes", small.writes}},
           [&] { return *small.reads == 2 && *small.writes == 2; });
  add_rule(answer, "a write of a whole stripe needs no read",
           {{"reads", stripe.reads}, {"writes", stripe.writes}},
           [&] { return *stripe.reads == 0 && *stripe.writes == 5; });
  const FileSet files{.files = context.scaled ? 50U : 1000U, .file_bytes = 1024};
  const auto small_files = [&](const Setup& setup) {
    return work(
        setup, [&](Vfs& vfs) { return files.make_folders(vfs); },
        [&](Vfs& vfs) { return files.make_files(vfs); });
  };
  const std::uint64_t large_bytes = (context.scaled ? 2U : 20U) * kMegabyte;
  const auto large_file = [&](const Setup& setup) {
    return work(
        setup, [](Vfs&) { return VfsResult<void>(); },
        [&](Vfs& vfs) { return make_file(vfs, "large", 1, large_bytes); });
  };
  LfsSetup anywhere = on_array(LfsSetup{});
  anywhere.mkfs.align_bytes = kUnalignedBytes;
  const Setup log = on_array(LfsSetup{}).setup(), sun = on_array(sunos()).setup(),
              off_log = anywhere.setup();
  const MemberRequests log_files = small_files(log), sun_files = small_files(sun);
  add(answer, "a new file of 1 KB, LFS", log_files, static_cast<double>(files.files), {}, {});
  add(answer, "a new file of 1 KB, LFS; segments not aligned", small_files(off_log),
      static_cast<double>(files.files), {}, {});
  add(answer, "a new file of 1 KB, SunOS", sun_files, static_cast<double>(files.files), {}, {});
  add_rule(answer, "small files cost SunOS at least ten times as many requests as LFS",
           {{"LFS", part_of(all_of(log_files), static_cast<double>(files.files))},
            {"SunOS", part_of(all_of(sun_files), static_cast<double>(files.files))}},
           [&] { return *all_of(sun_files) >= 10 * *all_of(log_files); });
  mark(answer, RuleClass::ours);
  const MemberRequests log_large = large_file(log), off_large = large_file(off_log),
                       sun_large = large_file(sun);
  const double megabytes = static_cast<double>(large_bytes) / kMegabyte;
  add(answer, "a megabyte of a large file, LFS", log_large, megabytes, {}, {});
  add(answer, "a megabyte of a large file, LFS; segments not aligned", off_large, megabytes, {},
      {});
  add(answer, "a megabyte of a large file, SunOS", sun_large, megabytes, {}, {});
  add_rule(answer, "whole segments are written without reads (less than one per megabyte)",
           {{"reads per megabyte", part_of(log_large.reads, megabytes)},
            {"segments not aligned", part_of(off_large.reads, megabytes)}},
           [&] { return *log_large.reads / megabytes < 1; });
  answer.remarks = {
      "raid5-5: five drives, stripe units of 64 KiB, no stripe cache, so the case in which "
      "cached data and parity leave only two requests is not shown. Requests are counted at the "
      "drives until everything is written, including checkpoints and inodes. A segment consists "
      "of four stripes and begins at a stripe boundary, as in section 4.4.1. Counterfactual: the "
      "first segment begins at a multiple of 64 KB, so each segment shares two stripes with its "
      "neighbours, as does the unaligned write."};
  return {answer};
}

namespace {

struct SequentialWrite {
  /// Kilobytes that the user writes, divided by the seconds of disk activity until all data is in
  /// its final place.
  Figure kilobytes_per_busy_s;
  Figure written_for_each_byte;
  std::string remark;
};

/// Writes a file megabyte by megabyte. Each write begins when the previous one is on the disk.
VfsResult<void> write_durably(Vfs& vfs, std::uint64_t bytes) {
  const std::vector<std::byte> data(kMegabyte, std::byte{1});
  TRY(const auto file, vfs.open("large", {.create = true, .exclusive = true}));
  VfsResult<void> done;
  for (std::uint64_t at = 0; done && at < bytes; at += kMegabyte) {
    done = vfs.pwrite(file, at, data);
    if (done) done = vfs.fsync(file);
  }
  const auto closed = vfs.close(file);
  return done ? closed : done;
}

SequentialWrite sequential_write(const char* scheme, bool scaled) {
  UfsSetup setup = sunos_clustered();
  setup.scheme = ufs::find_scheme_variant(scheme).value();
  setup.scheme.mount.allocation.gap_blocks = 0;
  ModelledMachineOptions options = setup.setup().machine;
  // The log must fit into one cylinder group. Groups of 16 cylinders are too small for that.
  options.mkfs["group-size"] = "32M";
  const auto machine = ModelledMachine::start(options);
  if (!machine) return {{}, {}, machine.error().message()};
  const std::uint64_t bytes = (scaled ? 4U : 100U) * kMegabyte;
  const model::DeviceCounters before = (*machine)->device_counters();
  VfsResult<void> done;
  run_as_user(**machine, [&] { done = write_durably((*machine)->vfs(), bytes); });
  const auto quiet = (*machine)->become_quiet();
  if (!done || !quiet) return {{}, {}, "a file system call failed"};
  const model::DeviceCounters after = (*machine)->device_counters();
  const auto sectors = static_cast<double>(after.sectors_written - before.sectors_written);
  constexpr double kKilobyte = 1024;
  return {static_cast<double>(bytes) / kKilobyte / seconds_of(after.busy_ns - before.busy_ns),
          sectors * model::kSectorBytes / static_cast<double>(bytes),
          {}};
}

}  // namespace

std::vector<ClaimAnswer> logging(Context& context) {
  ClaimAnswer answer{.id = "LFS-43",
                     .part = "logging",
                     .title = "Sequential writing if data is logged before it is written (2.5.3)"};
  const SequentialWrite without = sequential_write("conventional", context.scaled),
                        metadata = sequential_write("journal", context.scaled),
                        data = sequential_write("journal-data", context.scaled);
  const auto add_row = [&](const char* cell, const SequentialWrite& result, const Figure& paper) {
    answer.numbers.push_back({cell,
                              "rate while the disk is busy",
                              "KB/s",
                              {},
                              result.kilobytes_per_busy_s,
                              result.remark});
    answer.numbers.push_back(
        {cell, "bytes written per byte", "", {}, result.written_for_each_byte, result.remark});
    answer.numbers.push_back({cell, "rate relative to the rate without a log", "", paper,
                              part_of(result.kilobytes_per_busy_s, without.kilobytes_per_busy_s),
                              result.remark});
  };
  add_row("no log", without, 1.);
  add_row("a log of metadata", metadata, {});
  add_row("a log of data", data, .5);
  const Figure with_data = part_of(data.kilobytes_per_busy_s, without.kilobytes_per_busy_s),
               with_metadata = part_of(metadata.kilobytes_per_busy_s, without.kilobytes_per_busy_s);
  add_rule(answer, "logging data halves the rate (.4 to .6)", {{"relative rate", with_data}},
           [&] { return *with_data >= .4 && *with_data <= .6; });
  add_rule(answer, "a log of metadata keeps at least .9 of the rate without a log",
           {{"relative rate", with_metadata}}, [&] { return *with_metadata >= .9; });
  mark(answer, RuleClass::ours);
  answer.remarks = {
      "A file of 100 MB on SunOS's file system with clustering; each megabyte is durable before "
      "the next is written. The log is on the same disk. Cylinder groups have 32 MB in all three "
      "rows, because a log must fit into one group. Counted until everything is written in place."};
  return {answer};
}

}  // namespace headcrash::experiment::rosenblum92
