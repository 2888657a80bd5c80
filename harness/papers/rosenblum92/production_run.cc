// Runs Sprite LFS in production use (production_run.h).
#include "harness/papers/rosenblum92/production_run.h"

#include <algorithm>
#include <cmath>

#include "fs-adapters/lfs/check.h"
#include "fs-adapters/lfs/image_reader.h"
#include "plugin/base/names.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr int kSamples = 20;

struct LogCounters {
  lfs::Counters log;
  os::TimeNs at = 0, busy = 0;
  std::uint64_t written_by_users = 0;
};

LogCounters count(ModelledMachine& machine, const Ageing& load) {
  return {mounted_lfs(machine).log().counters(), machine.now(), machine.device_counters().busy_ns,
          load.bytes_written()};
}

BlockType type_of(lfs::Content content) {
  switch (content) {
    case lfs::Content::data:
      return BlockType::data;
    case lfs::Content::index1:
    case lfs::Content::index2:
    case lfs::Content::index3:
      return BlockType::indirect;
    case lfs::Content::inodes:
      return BlockType::inodes;
    case lfs::Content::inode_map:
      return BlockType::inode_map;
    case lfs::Content::usage:
      return BlockType::usage;
    case lfs::Content::directory_log:
      return BlockType::directory_log;
  }
  return BlockType::data;
}

double& of(BlockBytes& bytes, BlockType type) {
  return bytes[static_cast<std::size_t>(type)];
}

/// Stores the changes of the log's counters from `before` to `after` in `run`.
void add_log(ProductionRun& run, const lfs::Counters& before, const lfs::Counters& after,
             const lfs::Superblock& s) {
  run.log_bytes =
      static_cast<double>(after.sectors_written - before.sectors_written) * lfs::kSectorBytes;
  run.checkpoints = after.checkpoints - before.checkpoints;
  run.checkpoint_bytes =
      static_cast<double>(run.checkpoints * s.checkpoint_sectors) * lfs::kSectorBytes;
  run.segment_bytes = s.segment_bytes();
  run.segments_cleaned = after.segments_cleaned - before.segments_cleaned;
  run.segments_emptied = after.segments_emptied - before.segments_emptied;
  run.cleaner_read_bytes =
      static_cast<double>((after.segments_read - before.segments_read) * s.segment_bytes());
  run.cleaner_live_bytes =
      static_cast<double>(after.cleaned_live_bytes - before.cleaned_live_bytes);
  double known_bytes = 0;
  for (std::size_t i = 0; i < lfs::kContents; ++i) {
    const double bytes =
        static_cast<double>(after.sectors_of[i] - before.sectors_of[i]) * lfs::kSectorBytes;
    of(run.log, type_of(static_cast<lfs::Content>(i))) += bytes;
    known_bytes += bytes;
  }
  of(run.log, BlockType::summary) = run.log_bytes - known_bytes;
}

void add_utilization(ProductionRun& run, const lfs::Store& log) {
  const double each = 1.0 / kSamples / static_cast<double>(log.usage().size());
  const auto bins = static_cast<double>(run.utilization.size());
  for (const lfs::SegmentUsage& usage : log.usage()) {
    const double u = usage.live_bytes / static_cast<double>(log.superblock().segment_bytes());
    const auto bin = static_cast<std::size_t>(std::clamp(std::floor(u * bins), 0.0, bins - 1));
    run.utilization.at(bin) += each;
  }
}

/// Returns the number of live bytes on the disk by type, according to the image reader. Fails if
/// the checker reports an error.
Result<BlockBytes> live_blocks(const model::SectorStore& medium) {
  TRY(const auto report, lfs::check(medium));
  if (!report.nothing_found()) return fail("the aged disk", report.text(), "this is a bug in lfs");
  TRY(const auto reader, lfs::ImageReader::open(medium));
  BlockBytes live{};
  const lfs::Superblock& s = reader.superblock();
  for (lfs::InodeNumber number = lfs::kRootInode; number < s.inodes; ++number) {
    if (!reader.map()[number].allocated()) continue;
    TRY(const auto inode, reader.inode(number));
    of(live, BlockType::inodes) += lfs::kInodeBytes;
    TRY(reader.each_block(inode, [&](const lfs::ImageReader::Block& block) {
      of(live, block.id.level == 0 ? BlockType::data : BlockType::indirect) += block.bytes;
    }));
  }
  for (const lfs::SectorAddress address : reader.checkpoint().map_blocks)
    if (address != 0) of(live, BlockType::inode_map) += s.block_bytes;
  for (const lfs::SectorAddress address : reader.checkpoint().usage_blocks)
    if (address != 0) of(live, BlockType::usage) += s.block_bytes;
  for (lfs::SegmentNumber i = 0; i < s.segments; ++i) {
    if (reader.live_bytes(i) == 0) continue;
    TRY(const auto summaries, reader.summaries(i));
    of(live, BlockType::summary) += static_cast<double>(summaries.own_sectors) * lfs::kSectorBytes;
  }
  return live;
}

double share_of(std::uint64_t part, std::uint64_t other) {
  return part + other == 0 ? 0 : static_cast<double>(part) / static_cast<double>(part + other);
}

double cost_between(const lfs::Counters& before, const lfs::Counters& after,
                    const lfs::Superblock& s) {
  ProductionRun part;
  add_log(part, before, after, s);
  return part.write_cost();
}

/// Returns the time, in hours, that the load takes to write as much as the disk's free space.
double hours_for_a_free_space(const ProductionOptions& options) {
  const double free_bytes = options.disk.megabytes * kMegabyte - options.load.bytes_in_use;
  return free_bytes / options.load.bytes_per_hour;
}

class Production {
 public:
  Production(const ProductionOptions& options, Ageing& load, ModelledMachine& machine)
      : options_(options),
        load_(load),
        machine_(machine),
        hours_each_(hours_for_a_free_space(options)) {}

  /// Runs the load. The result's remark contains the error, if any.
  ProductionRun run() {
    ProductionRun run;
    lfs::Store& log = mounted_lfs(machine_).log();
    const double begin = options_.free_spaces_before * hours_each_;
    if (!go_on_until(begin)) return refused();
    const LogCounters before = count(machine_, load_);
    LogCounters middle = before;
    for (int i = 1; i <= kSamples; ++i) {
      if (!go_on_until(begin + options_.free_spaces_measured * hours_each_ * i / kSamples))
        return refused();
      add_utilization(run, log);
      if (i == kSamples / 2) middle = count(machine_, load_);
    }
    const LogCounters after = count(machine_, load_);
    add_log(run, before.log, after.log, log.superblock());
    run.half_costs = {cost_between(before.log, middle.log, log.superblock()),
                      cost_between(middle.log, after.log, log.superblock())};
    run.model_s = seconds_of(after.at);
    run.all_bytes_written = static_cast<double>(after.written_by_users);
    run.hours = static_cast<double>(after.at - before.at) / kHourNs;
    run.disk_busy =
        static_cast<double>(after.busy - before.busy) / static_cast<double>(after.at - before.at);
    run.bytes_written = static_cast<double>(after.written_by_users - before.written_by_users);
    run.files = load_.files();
    run.disk_bytes = options_.disk.megabytes * kMegabyte;
    VfsResult<void> synced;
    run_as_user(machine_, [&] { synced = machine_.vfs().syncfs(); });
    if (!synced) return refused();
    run.bytes_in_use = static_cast<double>(log.live_bytes());
    const auto live = live_blocks(*machine_.medium());
    if (!live)
      run.remark = live.error().message();
    else
      run.live = *live;
    return run;
  }

 private:
  bool go_on_until(double hours) {
    VfsResult<void> done;
    run_as_user(machine_, [&] {
      done = load_.run_until(machine_.vfs(), machine_.system().executor,
                             static_cast<os::TimeNs>(hours * kHourNs));
    });
    return done.has_value();
  }
  static ProductionRun refused() {
    ProductionRun run;
    run.remark = "a file system call failed";
    return run;
  }

  const ProductionOptions& options_;
  Ageing& load_;
  ModelledMachine& machine_;
  double hours_each_;
};

}  // namespace

const char* name(BlockType type) {
  static constexpr auto kNames =
      base::names<BlockType>({"data", "indirect blocks", "inode blocks", "inode map",
                              "segment usage", "summaries", "directory log"});
  return kNames[type].data();
}

ProductionOptions production_options(const ProductionDisk& disk, std::uint64_t seed, bool scaled) {
  ProductionOptions options{.disk = disk};
  options.system.mkfs = {.segment_bytes = 512 << 10, .checksums = false};
  options.system.machine.profile = "seagate-st41601n";
  if (scaled) {
    // On a small disk, segments and directories waste a larger share of the space, so a smaller
    // fraction of the disk can be used.
    constexpr double kScaledMegabytes = 32, kScaledUse = .85;
    options.disk.in_use *= kScaledUse;
    options.disk.megabytes_per_hour *= kScaledMegabytes / options.disk.megabytes;
    options.disk.megabytes = kScaledMegabytes;
    options.system.mkfs.segment_bytes = 128 << 10;
    options.free_spaces_before = 1;
    options.free_spaces_measured = 1.5;
  }
  options.load = ageing_of(options.disk);
  options.load.seed = seed;
  // Limits file sizes, so that no single file dominates the traffic of the disk.
  constexpr std::uint64_t kLargestShare = 32;
  const auto largest = static_cast<std::uint64_t>(options.load.bytes_in_use) /
                       (scaled ? kLargestShare : kLargestShare / 4);
  options.load.file_bytes_max = std::min(options.load.file_bytes_max, largest);
  options.system.machine.size_bytes =
      static_cast<std::uint64_t>(options.disk.megabytes) * kMegabyte;
  return options;
}

double ProductionRun::empty_share() const {
  return share_of(segments_emptied, segments_cleaned);
}

double ProductionRun::cleaned_utilization() const {
  if (segments_cleaned == 0) return 0;
  return cleaner_live_bytes / static_cast<double>(segments_cleaned * segment_bytes);
}

double ProductionRun::write_cost() const {
  return write_cost_of(empty_share(), cleaned_utilization());
}

double ProductionRun::write_cost_by_bytes() const {
  return (cleaner_read_bytes + log_bytes) / (log_bytes - cleaner_live_bytes);
}

double write_cost_of(double empty, double utilization) {
  return (1 + (1 - empty)) / (1 - (1 - empty) * utilization);
}

ProductionRun run_production(const ProductionOptions& options) {
  AgeingOptions ageing = options.load;
  ageing.hours =
      hours_for_a_free_space(options) * (options.free_spaces_before + options.free_spaces_measured);
  Ageing load(ageing);
  LfsSetup setup = options.system;
  setup.machine.populate = [&load](Vfs& vfs) { return load.populate(vfs); };
  const auto machine = setup.start();
  if (!machine) {
    ProductionRun run;
    run.remark = machine.error().message();
    return run;
  }
  return Production(options, load, **machine).run();
}

}  // namespace headcrash::experiment::rosenblum92
