#pragma once
// A file system of table 6-2 in production use: the load of ageing.h on Sprite LFS, of the table's
// size, and what the log's counters, its usage table and an independent reader of the disk say
// afterwards.
//
//   image      all files, made outside of model time (Ageing::populate)
//   warm-up    until the load has written as much as twice the space that is free
//   measured   three times as much again; usage of the segments is looked at twenty times
//
// The machine is chapter 6's but for its disk: a Wren IV has 300 MB. Which disks Sprite's file
// systems were on is not printed; the model's is a seagate-st41601n, of which as much is used as
// the table says. Segments have 512 KB, as Sprite's had; no checksums over data; the cleaner's
// thresholds are 20 and 50 clean segments ("a few tens", "50-100"). All files begin with the age 0,
// since the image is made in no time: a cold segment's age is the time since the run began.

#include <array>

#include "harness/papers/rosenblum92/ageing.h"
#include "harness/papers/rosenblum92/prototype.h"

namespace headcrash::experiment::rosenblum92 {

/// Kinds of blocks, as in table 6-4.
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
         free_spaces_measured = 3;  ///< written, in units of the space that is free
};
/// As the tables have it. `scaled`: a small disk.
ProductionOptions production_options(const ProductionDisk& disk, std::uint64_t seed, bool scaled);

/// Of the measured time.
struct ProductionRun {
  std::string remark;            ///< why there are no numbers
  double model_s = 0;            ///< all of it
  double all_bytes_written = 0;  ///< by users in all of it
  double hours = 0;
  std::uint64_t files = 0;
  double bytes_in_use = 0;      ///< live data at the end, as the log counts it
  double bytes_written = 0;     ///< by users
  double log_bytes = 0;         ///< written by the log, checkpoint regions not among them
  double checkpoint_bytes = 0;  ///< of checkpoint regions
  double cleaner_read_bytes = 0;
  double cleaner_live_bytes = 0;  ///< in what was cleaned: written again
  double disk_busy = 0;           ///< share of the time
  std::uint64_t checkpoints = 0;
  std::uint64_t segments_cleaned = 0;  ///< not empty
  std::uint64_t segments_emptied = 0;  ///< without the cleaner
  std::uint64_t segment_bytes = 0;
  BlockBytes log = {};   ///< what the log's bytes were
  BlockBytes live = {};  ///< what is on the disk at the end, by a reader of its own
  double disk_bytes = 0;
  std::array<double, 20> utilization =
      {};  ///< share of the segments in each twentieth, clean ones are in the first
  std::array<double, 2> half_costs = {};  ///< of the first and the second half

  bool good() const { return remark.empty(); }
  /// Of the segments that became clean, as table 6-3 counts them.
  double empty_share() const;
  double cleaned_utilization() const;
  /// By table 6-3's columns: (1 + (1 - e)) / (1 - (1 - e) u), which gives its last one.
  double write_cost() const;
  /// By bytes: all that was read and written, over what was written and not moved.
  double write_cost_by_bytes() const;
};
double write_cost_of(double empty, double utilization);

ProductionRun run_production(const ProductionOptions& options);

}  // namespace headcrash::experiment::rosenblum92
