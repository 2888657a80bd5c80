#pragma once
// A file system in use for months: the load that ages it, from what table 6-2 prints of a
// production file system.
//
// Printed, and kept exactly: the disk's size, the share in use, the mean size of its files,
// megabytes written an hour. From the last three follows how long a byte lives on average: what is
// in use over what is written (Little's law; 215 hours for /user6). The text leaves open, and is
// chosen here before anything was run:
//
//   sizes       log-normal, as wide as in a survey of 12 million files of Unix systems (Irlam 1993: a mean of 21 KB, half
//               of the files below 1.6 KB: 2.2), none above 16 MB. A file keeps its size
//   lifetimes   log-normal, each life drawn anew, as wide as the lifetimes of new bytes in 4.2BSD at Berkeley (Ousterhout
//               et al. 1985: a quarter below 30 s, half below 5 minutes: 3.4). So most of what is
//               written dies soon, and most of what is on the disk is hardly ever written
//   a life's    one file in two is written again from its beginning under its name, the other one is removed and
//   end         another one of its size made in its place. Files die each for itself
//   hours       day and night alike
//   folders     of 20 files
//   /swap1      "large, sparse, and accessed non-sequentially": one block in four of a file exists, written in random
//               order; at half of its lives' ends half of a file's blocks are written again where
//               they are
//
// What is in use never changes, since a file keeps its size. Large files are few, so that what is
// written in some time may be far from what is expected: all times are stretched by one factor,
// such that the load writes what is printed in `hours` (AgeingOptions). The disk begins as it would
// be had the load run for ever in a log without waste: each file has its age and what is left of
// its life, and they lie in the order of their ages.

#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/vfs.h"
#include "plugin/base/random.h"

namespace headcrash::experiment::rosenblum92 {

inline constexpr double kHourNs = 3600.0 * static_cast<double>(model::kSecondNs);

/// A row of tables 6-2 and 6-3.
struct ProductionDisk {
  std::string name;
  double megabytes = 0, in_use = 0, file_kilobytes = 0, megabytes_per_hour = 0;  ///< table 6-2
  double segments_cleaned = 0, empty = 0, utilization = 0,
         write_cost = 0;  ///< table 6-3; shares of 1
};
const std::vector<ProductionDisk>& production_disks();
const ProductionDisk& production_disk(const std::string& name);

struct AgeingOptions {
  double bytes_in_use = 0, file_bytes = 0, bytes_per_hour = 0;
  double size_spread = 2.2, lifetime_spread = 3.4;  ///< standard deviations of the logarithms
  std::uint64_t file_bytes_max = 16 << 20;
  double overwritten = .5;           ///< share of the lives' ends after which a file keeps its name
  std::uint32_t files_together = 1;  ///< that have the same lives, of a folder
  std::uint32_t files_per_folder = 20;
  double busy_share = 1;  ///< of each hour, in which all of it happens
  /// One block in this number of a file's blocks exists. More than 1: files are written by blocks,
  /// in random order.
  std::uint32_t sparseness = 1;
  double in_place = 0;  ///< share of the lives' ends after which blocks are written where they are
  double blocks_in_place = .5;  ///< how many of them: each with this probability
  std::uint32_t block_bytes = 4096;
  double hours = 0;  ///< in which `bytes_per_hour` is to be the mean; 0: as it comes
  std::uint64_t seed = 1;
};
/// With what the table has of it.
AgeingOptions ageing_of(const ProductionDisk& disk);

class Ageing {
 public:
  explicit Ageing(const AgeingOptions& options);

  /// Makes all files on an empty file system, the oldest first. From a fiber.
  VfsResult<void> populate(Vfs& vfs) const;
  /// What users do until then; time goes on from 0. From a fiber, in portions.
  VfsResult<void> run_until(Vfs& vfs, os::Executor& executor, os::TimeNs until);

  std::size_t files() const { return sizes_.size(); }
  const std::vector<std::uint64_t>& sizes() const { return sizes_; }
  std::uint64_t bytes_in_use() const;
  double mean_lifetime_hours() const { return mean_lifetime_hours_; }
  std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  /// A file's life, or that of the files that die together.
  struct Death {
    double at_hours;
    std::uint32_t group;
    std::uint32_t life;  ///< how many of its lives have ended by then
    bool operator>(const Death& other) const {
      return at_hours != other.at_hours ? at_hours > other.at_hours : group > other.group;
    }
  };
  using Deaths = std::priority_queue<Death, std::vector<Death>, std::greater<>>;

  /// All that is drawn for one life, the same whoever asks when.
  Random drawn(std::uint32_t number, std::uint32_t life) const;
  double lifetime(std::uint32_t group, std::uint32_t life) const;
  Death next(const Death& death) const {
    return {death.at_hours + lifetime(death.group, death.life + 1), death.group, death.life + 1};
  }
  void stretch();
  /// Of a file at the end of a life: which blocks are written where they are; nothing: all of it is
  /// new.
  std::optional<std::vector<std::uint64_t>> blocks_in_place(std::uint32_t number,
                                                            std::uint32_t life) const;
  std::uint64_t bytes_at_end(std::uint32_t number, std::uint32_t life) const;
  std::pair<std::uint32_t, std::uint32_t> files_of(std::uint32_t group) const;  ///< first, end

  std::string path(std::uint32_t file) const;
  os::TimeNs model_time(double hours) const;
  std::uint64_t blocks_of(std::uint32_t file) const {
    return (sizes_[file] + options_.block_bytes - 1) / options_.block_bytes;
  }
  std::uint64_t sparse_offset(std::uint32_t file, std::uint64_t block) const;
  VfsResult<void> write_whole(Vfs& vfs, FileHandle file, std::uint32_t number) const;
  VfsResult<void> write_blocks(Vfs& vfs, std::uint32_t number,
                               const std::vector<std::uint64_t>& blocks) const;
  VfsResult<void> begin_life(Vfs& vfs, std::uint32_t number, std::uint32_t life);

  AgeingOptions options_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint32_t> by_age_;  ///< groups, the oldest first
  Deaths deaths_;
  double mean_lifetime_hours_ = 0, median_lifetime_hours_ = 0;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace headcrash::experiment::rosenblum92
