#pragma once
// A load that has the same effect on a file system as months of use. It is based on the description
// of a production file system in table 6-2.
//
// The table prints the disk's size, the fraction in use, the mean file size, and the megabytes
// written per hour, and the load has exactly these values. They determine the mean life of a byte:
// used space divided by the write rate (Little's law; 215 hours for /user6). The text does not
// specify the following properties, which we chose before any run:
//
//   sizes       log-normal with a spread of 2.2, as in a survey of 12 million files of Unix systems
//               (Irlam 1993: a mean of 21 KB, half of the files below 1.6 KB), but no file exceeds
//               16 MB. The size of a file does not change
//   lifetimes   log-normal with a spread of 3.4, like the lifetimes of new bytes in 4.2BSD at
//               Berkeley (Ousterhout et al. 1985: a quarter below 30 s, half below 5 minutes). Each
//               life is drawn independently. Most written data thus dies soon, and most data on the
//               disk is rarely written
//   end of      in half of the cases, the file is rewritten from the beginning under the same name.
//   a life      In the other half, the file is removed, and a new file of the same size is created.
//               Files die independently
//   hours       the load is the same by day and by night
//   folders     20 files per folder
//   /swap1      "large, sparse, and accessed non-sequentially": one in four blocks of a file
//               exists, and the blocks are written in random order; half of the lives end with a
//               rewrite of half of the file's blocks in place
//
// A second reading (AgeingOptions::folder_share) correlates deaths. The text says that whole files
// die, but not which files die together. In this reading, a file is rewritten alone and under its
// name, and it is removed together with all files of its folder, as by `rm -r` or a new release of
// a source tree:
//
//   folder_share   49 % of the bytes die by a removal and 51 % by a rewrite, as in the trace INS
//                  (Roselli, Lorch and Anderson 2000, section on block lifetimes: students' machines
//                  at Berkeley; in the traces of a research group, of a web server and of Windows
//                  NT, rewrites are 86 to 97 %)
//
// The rewrites of each file and the removals of each folder are independent processes with
// lifetimes as wide as above. No study that we found measures which files are removed together, so
// the folder is our choice. Its size remains that of the first reading.
//
// The used space is constant, because the sizes of files do not change. There are few large files,
// so the amount written in a period may differ greatly from its expectation. All times are
// therefore scaled by one factor, so that the load writes the printed amount in `hours`
// (AgeingOptions). The initial disk is in the state that an infinite run would leave if the log
// contained only live data: each file has an age and a remaining life, and files are in order of
// age.

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
         write_cost = 0;  ///< table 6-3, with percentages as fractions
};
const std::vector<ProductionDisk>& production_disks();
const ProductionDisk& production_disk(const std::string& name);

struct AgeingOptions {
  double bytes_in_use = 0, file_bytes = 0, bytes_per_hour = 0;
  /// Standard deviations of the logarithms of file size and lifetime.
  double size_spread = 2.2, lifetime_spread = 3.4;
  std::uint64_t file_bytes_max = 16 << 20;
  /// Fraction of lives that end with a rewrite of the file under the same name. Not used if
  /// `folder_share` is set.
  double overwritten = .5;
  /// Fraction of the bytes that die because all files of a folder are removed. The others die
  /// because one file is rewritten under the same name. If 0, files die in groups of
  /// `files_together`; otherwise, `files_together` must be 1.
  double folder_share = 0;
  /// The files of a directory are created and removed in groups of this size.
  std::uint32_t files_together = 1;
  std::uint32_t files_per_folder = 20;
  /// All changes of an hour take place at its beginning, within this fraction of the hour.
  double busy_share = 1;
  /// If the value is N, only one in N blocks of a file exists. If N exceeds 1, files are written
  /// block by block in random order.
  std::uint32_t sparseness = 1;
  double in_place = 0;          ///< fraction of lives that end with a rewrite of blocks in place
  double blocks_in_place = .5;  ///< probability that a block is included in such a rewrite
  std::uint32_t block_bytes = 4096;
  /// If not 0, all times are scaled so that the load writes exactly `bytes_per_hour` * `hours`
  /// bytes in the first `hours` hours.
  double hours = 0;
  std::uint64_t seed = 1;
};
/// Returns options with the values that the tables give for `disk`.
AgeingOptions ageing_of(const ProductionDisk& disk);

class Ageing {
 public:
  explicit Ageing(const AgeingOptions& options);

  /// Creates all files on an empty file system, in order of age, oldest first. Must run on a fiber.
  VfsResult<void> populate(Vfs& vfs) const;
  /// Executes the users' changes until the model time `until`. The clock starts at 0. Must run on a
  /// fiber. May be called several times.
  VfsResult<void> run_until(Vfs& vfs, os::Executor& executor, os::TimeNs until);

  std::size_t files() const { return sizes_.size(); }
  const std::vector<std::uint64_t>& sizes() const { return sizes_; }
  std::uint64_t bytes_in_use() const;
  double mean_lifetime_hours() const { return mean_lifetime_hours_; }
  std::uint64_t bytes_written() const { return bytes_written_; }
  /// Number of removals of whole folders, and the files and bytes that were removed with them.
  std::uint64_t removals() const { return removals_; }
  std::uint64_t files_removed() const { return files_removed_; }
  std::uint64_t bytes_removed() const { return bytes_removed_; }

 private:
  /// The end of a life of a unit. A unit is a file, a group of files that are created and removed
  /// together, or a folder. The folders' numbers follow those of the groups.
  struct Death {
    double at_hours;
    std::uint32_t unit;
    std::uint32_t life;  ///< number of the life that ends, counted from 0
    bool operator>(const Death& other) const {
      return at_hours != other.at_hours ? at_hours > other.at_hours : unit > other.unit;
    }
  };
  using Deaths = std::priority_queue<Death, std::vector<Death>, std::greater<>>;

  /// Returns the random numbers for one life. The result does not depend on the order of calls.
  Random drawn(std::uint32_t number, std::uint32_t life) const;
  double lifetime(std::uint32_t unit, std::uint32_t life) const;
  Death next(const Death& death) const {
    return {death.at_hours + lifetime(death.unit, death.life + 1), death.unit, death.life + 1};
  }
  bool is_folder(std::uint32_t unit) const { return unit >= groups_; }
  void stretch();
  /// Returns the blocks that are rewritten in place at the end of life number `life` of the file.
  /// Returns nullopt if the whole file is rewritten.
  std::optional<std::vector<std::uint64_t>> blocks_in_place(std::uint32_t number,
                                                            std::uint32_t life) const;
  std::uint64_t bytes_at_end(std::uint32_t number, const Death& death) const;
  /// Returns the range of the unit's files: the first file, and the end of the range.
  std::pair<std::uint32_t, std::uint32_t> files_of(std::uint32_t unit) const;
  /// Returns true if the file is rewritten under its name after this death.
  bool keeps_name(std::uint32_t number, const Death& death) const;

  std::string path(std::uint32_t file) const;
  os::TimeNs model_time(double hours) const;
  std::uint64_t blocks_of(std::uint32_t file) const {
    return (sizes_[file] + options_.block_bytes - 1) / options_.block_bytes;
  }
  std::uint64_t sparse_offset(std::uint32_t file, std::uint64_t block) const;
  VfsResult<void> write_whole(Vfs& vfs, FileHandle file, std::uint32_t number) const;
  VfsResult<void> write_blocks(Vfs& vfs, std::uint32_t number,
                               const std::vector<std::uint64_t>& blocks) const;
  VfsResult<void> begin_life(Vfs& vfs, std::uint32_t number, const Death& death);

  AgeingOptions options_;
  std::vector<std::uint64_t> sizes_;
  std::uint32_t groups_ = 0, folders_ = 0;  ///< `folders_` is 0 unless folders are removed
  std::vector<std::uint32_t> by_age_;       ///< groups, ordered from the oldest to the youngest
  Deaths deaths_;
  double mean_lifetime_hours_ = 0, median_lifetime_hours_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t removals_ = 0, files_removed_ = 0, bytes_removed_ = 0;
};

}  // namespace headcrash::experiment::rosenblum92
