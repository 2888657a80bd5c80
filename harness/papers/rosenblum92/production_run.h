#pragma once
// A file system of table 6-2 in production use: the load of ageing.h on Sprite LFS, with the size
// in the table. The results are taken from the log's counters, its usage table, and an independent
// reader of the disk.
//
//   image      all files, created outside model time (Ageing::populate)
//   warm-up    lasts until the load has written twice the free space
//   measured   lasts until the load has written another three times the free space; segment usage
//              is sampled twenty times
//
// The machine is that of chapter 6 except for its disk, because a Wren IV holds only 300 MB. The
// text does not name the disks of Sprite's file systems; the model uses a part of a
// seagate-st41601n that has the size in the table. Segments are 512 KB, as in Sprite; data has no
// checksums; the cleaner's thresholds are 20 and 50 clean segments ("a few tens", "50-100"). All
// files initially have age 0, because creating the image takes no time. The age of a cold segment
// is thus the time since the start of the run.

#include <array>

#include "harness/papers/rosenblum92/ageing.h"
#include "harness/papers/rosenblum92/prototype.h"

namespace headcrash::experiment::rosenblum92 {

/// The kinds of blocks that table 6-4 distinguishes.
enum class BlockType : std::uint8_t {
  data,
  indirect,
  inodes,
  inode_map,
  usage,
  summary,
  directory_log
};
inline constexpr std::size_t kBlockTypes = 7;
const char* name(BlockType type);
using BlockBytes = std::array<double, kBlockTypes>;

struct ProductionOptions {
  ProductionDisk disk;
  AgeingOptions load;
  LfsSetup system;
  double free_spaces_before = 2,
         /// Amount written in each period, as a multiple of the free space.
      free_spaces_measured = 3;
};
/// Returns the options for a disk in the tables. If `scaled` is true, the disk is small.
ProductionOptions production_options(const ProductionDisk& disk, std::uint64_t seed, bool scaled);

/// The results of a run. Most of them cover only the measured period.
struct ProductionRun {
  std::string remark;            ///< the reason if there are no results
  double model_s = 0;            ///< total
  double all_bytes_written = 0;  ///< bytes written by users, over the whole run
  double hours = 0;
  std::uint64_t files = 0;
  double bytes_in_use = 0;      ///< bytes of live data at the end, according to the log
  double bytes_written = 0;     ///< bytes written by users
  double log_bytes = 0;         ///< bytes written by the log, excluding checkpoint regions
  double checkpoint_bytes = 0;  ///< bytes written to checkpoint regions
  double cleaner_read_bytes = 0;
  double cleaner_live_bytes = 0;  ///< live data that the cleaner copied from the cleaned segments
  double disk_busy = 0;           ///< fraction of the time during which the disk was busy
  std::uint64_t checkpoints = 0;
  std::uint64_t segments_cleaned = 0;  ///< number of nonempty segments that were cleaned
  std::uint64_t segments_emptied = 0;  ///< number of segments that became empty without cleaning
  std::uint64_t segment_bytes = 0;
  BlockBytes log = {};  ///< bytes written by the log, by type
  /// Live bytes of each type at the end of the run, counted by an independent reader.
  BlockBytes live = {};
  double disk_bytes = 0;
  /// Element i is the fraction of the segments with a utilization from i / 20 to (i + 1) / 20. The
  /// first element also counts clean segments.
  std::array<double, 20> utilization = {};
  /// Write costs of the first and the second half of the measured period.
  std::array<double, 2> half_costs = {};

  bool good() const { return remark.empty(); }
  /// Returns the fraction of empty segments among those that became clean, as in table 6-3.
  double empty_share() const;
  double cleaned_utilization() const;
  /// Returns the write cost calculated from the columns of table 6-3: (1 + (1 - e)) / (1 - (1 - e)
  /// u). With the numbers in the table, the result matches the table's last column.
  double write_cost() const;
  /// Returns the write cost calculated from bytes: all bytes read and written, divided by the bytes
  /// of new data.
  double write_cost_by_bytes() const;
};
double write_cost_of(double empty, double utilization);

ProductionRun run_production(const ProductionOptions& options);

}  // namespace headcrash::experiment::rosenblum92
