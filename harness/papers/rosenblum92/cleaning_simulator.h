#pragma once
// The cleaning simulator of Rosenblum 1992, chapter 5: a fixed number of one-block files, a log of
// segments, a pattern of overwrites, and the cleaner's policies (fs-adapters/lfs/cleaning_policy.h,
// shared with the file system). Only the cleaner reads, and only file data is written. The result
// is the write cost: blocks moved to and from the disk, divided by blocks of new data.
//
//   slots    |0 1 2 3 4 5 6 7|8 9 ...        a segment is a row of slots, one per file
//   where_   file -> slot                    the only random access of a write
//   owner_   slot -> file                    written in log order
//   live_    one bit per slot                cleared when its file is written elsewhere
//   usage_   segment -> live slots, age of the youngest file written to it
//
// A write moves a file to the next slot of an open segment. Liveness is stored as one bit per slot,
// so that the cleaner need not look up `where_` for dead slots; accesses to that array of 2 MB
// dominate the running time.
//
// There are also variants that are not in the chapter. They differ in the placement of new data
// (WriteSeparation), in the method of reclaiming space (SpaceReuse), and in the time at which space
// is reclaimed (idle cleaning). The README of results/reference/rosenblum92 compares them.
//
// The simulation runs in virtual time (each write is one tick) on the calling thread. The
// same seed always yields the same counts.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fs-adapters/lfs/cleaning_policy.h"
#include "harness/papers/rosenblum92/access_pattern.h"

namespace headcrash::experiment::rosenblum92 {

/// Where the cleaner writes live data. The dissertation does not state whether live data and new
/// data share segments.
enum class CleanedData : std::uint8_t {
  shares_log,  ///< new data follows the live data in the cleaner's last segment
  own_log,     ///< the cleaner has a separate open segment
};

/// The event from which a segment's age is measured in cost-benefit selection.
enum class SegmentAge : std::uint8_t {
  /// The last modification of any file in the segment (section 5.4). Cleaning is not a
  /// modification.
  youngest_file,
  last_write,  ///< the last write to the segment, either by a user or by the cleaner
};

/// How new data is distributed over several open segments.
enum class WriteSeparation : std::uint8_t {
  none,
  by_interval,  ///< by the time since the last write of the file; a real system knows this time
  /// By the file's true write rate. A real system does not know this rate, so the result is an
  /// upper bound.
  known,
};

/// How space is obtained when no segment is clean.
enum class SpaceReuse : std::uint8_t {
  cleaning,  ///< the cleaner runs a pass, as in the dissertation
  /// A pass moves live data into dead slots of the fullest segments (Matthews 1997).
  plugging,
  adaptive_plugging,  ///< cleaning or plugging, whichever has the lower cost per freed slot
  /// New data is written into the dead slots of a segment (slack-space recycling, as in F2FS).
  recycling,
  adaptive_recycling  ///< cleaning or recycling, whichever is cheaper
};

/// Disk costs in addition to transfers, in units of the time to transfer one block. In equation 1
/// all of them are 0, that is, seeks and rotational latency are negligible.
struct Positioning {
  double access = 0;      ///< seek and latency before a transfer
  double revolution = 0;  ///< one revolution
  double request = 0;     ///< overhead between two requests, during which the disk rotates
  /// If true, each run of dead slots is written with a separate access. If false, the cheaper of
  /// two methods is used: separate accesses, or one pass over the whole segment. During a pass, the
  /// head crosses live slots without writing. If it crosses a range of live slots in less time than
  /// `request`, the next write comes too late and the pass loses a revolution.
  bool access_each_run = false;

  bool operator==(const Positioning&) const = default;
};

/// Returns the costs for a Wren IV with blocks of 4 KB: 1.3 MB/s and 29.5 ms per access (table
/// 4-1), 3,600 rpm, 5 ms between requests (section 4.4.2).
Positioning wren_iv();

struct SimulatorOptions {
  std::uint32_t files = 524288;
  std::uint32_t files_per_segment = 512;
  /// Fraction of the disk in use. REQUIRES: greater than 0 and less than 1.
  double utilization = .75;
  AccessPattern pattern = kUniform;
  lfs::Selection selection = lfs::Selection::greedy;
  lfs::WriteBackOrder order = lfs::WriteBackOrder::as_read;
  std::uint32_t files_cleaned_at_once = 2560;
  CleanedData cleaned_data = CleanedData::shares_log;
  SegmentAge segment_age = SegmentAge::youngest_file;
  /// Number of clean segments reserved for the cleaner. The dissertation does not mention reserved
  /// segments.
  std::uint32_t reserved_segments = 0;
  std::uint64_t seed = 1;
  bool histograms = false;

  // The following options do not exist in the dissertation.
  WriteSeparation separation = WriteSeparation::none;
  std::uint32_t logs = 1;  ///< number of open segments for new data
  SpaceReuse reuse = SpaceReuse::cleaning;
  Positioning positioning;  ///< used by adaptive reuse to calculate which method is cheaper
  /// Number of writes between two idle periods. In an idle period, the disk cleans until
  /// `idle_clean_until` segments are clean. nullopt if the disk is never idle.
  std::optional<std::uint64_t> writes_between_idle_times;
  std::uint32_t idle_clean_until = 0;

  bool operator==(const SimulatorOptions&) const = default;
};

struct SimulatorCounts {
  std::uint64_t written = 0;  ///< number of files written by users
  std::uint64_t passes = 0;
  std::uint64_t segments_cleaned = 0;  ///< includes empty segments
  std::uint64_t segments_read = 0;
  std::uint64_t files_copied = 0;
  std::uint64_t segments_opened = 0;  ///< number of clean segments opened for writing
  /// Number of segments that received data in their dead slots.
  std::uint64_t segments_plugged = 0;
  /// Number of files in `written` or `files_copied` that were written into dead slots.
  std::uint64_t files_plugged = 0;
  std::uint64_t runs_plugged = 0;  ///< number of runs of dead slots that were overwritten
  /// Number of segments whose dead slots were written in one pass.
  std::uint64_t passes_over = 0;
  std::uint64_t accesses_to_runs = 0;  ///< number of runs that were written with a separate access
  /// Number of live slots that the passes counted in `passes_over` crossed.
  std::uint64_t slots_passed = 0;
  /// Number of revolutions lost in these passes. A pass loses one revolution at each range of live
  /// slots that the head passes in less time than Positioning::request.
  std::uint64_t revolutions_lost = 0;
  /// Number of segments in `segments_read` that were read while the disk was idle.
  std::uint64_t idle_segments_read = 0;
  std::uint64_t idle_files_copied = 0;

  SimulatorCounts operator-(const SimulatorCounts& earlier) const;
};

/// Returns the write cost of equation 1: blocks moved divided by blocks of new data. REQUIRES: at
/// least one block was written.
double write_cost(const SimulatorCounts& counts, std::uint32_t files_per_segment);
/// Returns the write cost including `positioning`. If all costs in `positioning` are 0 and no
/// segments were plugged, this is the write cost of equation 1.
double write_cost(const SimulatorCounts& counts, std::uint32_t files_per_segment,
                  const Positioning& positioning);
/// Returns the write cost without the work in idle time, for which users do not wait.
double foreground_cost(const SimulatorCounts& counts, std::uint32_t files_per_segment);
/// Returns the mean utilization of cleaned segments, including empty segments. The dissertation
/// calls this quantity u.
double utilization_cleaned(const SimulatorCounts& counts, std::uint32_t files_per_segment);

/// Number of segments for each range of utilization. Bin i of kBins begins at i / kBins. The last
/// bin also contains full segments.
struct UtilizationHistogram {
  static constexpr std::size_t kBins = 50;
  std::vector<std::uint64_t> segments = std::vector<std::uint64_t>(kBins, 0);

  void add(std::uint32_t live, std::uint32_t files_per_segment);
  std::uint64_t total() const;
  double share(std::size_t bin) const;
  double mean() const;  ///< mean of the midpoints of the bins
};

class CleaningSimulator {
 public:
  /// Fills segments with all files, in order of their numbers. These segments are as full as
  /// possible, and all other segments are clean. REQUIRES: 0 < utilization < 1; each segment
  /// contains at least one file; there is space for all logs.
  explicit CleaningSimulator(const SimulatorOptions& options);

  /// Overwrites `files` files. Runs the cleaner whenever no segment is clean.
  void write(std::uint64_t files);

  const SimulatorCounts& counts() const { return counts_; }
  const SimulatorOptions& options() const { return options_; }
  std::uint32_t segments() const { return static_cast<std::uint32_t>(usage_.size()); }
  std::uint32_t clean_segments() const { return static_cast<std::uint32_t>(clean_.size()); }

  /// Returns the utilizations of all segments at the start of each pass (figures 5-4 and 5-5), and
  /// the utilizations of the cleaned segments. The utilizations of cleaned segments are counted
  /// separately for mostly hot and mostly cold segments. Requires `histograms`.
  const UtilizationHistogram& at_cleaning() const { return at_cleaning_; }
  const UtilizationHistogram& hot_cleaned() const { return hot_cleaned_; }
  const UtilizationHistogram& cold_cleaned() const { return cold_cleaned_; }
  void forget_histograms();

  /// For tests: aborts unless every file is in exactly one live slot and all counts agree.
  void verify() const;

 private:
  enum class State : std::uint8_t { clean, open, dirty };
  struct Usage {
    std::uint32_t live = 0;
    std::uint32_t youngest = 0;  ///< time of the last modification of any file in the segment
    State state = State::clean;
    std::uint8_t log = 0;  ///< index of the log that opened the segment
  };
  /// An open segment, its next slot, and the end of the run of consecutive writable slots.
  struct Log {
    std::uint32_t next = 0, end = 0, segment = 0;
    bool open = false;
    /// True if the log fills the dead slots of a segment that also has live data. `end` is then the
    /// end of a run of dead slots.
    bool plugging = false;
  };
  struct PlugCounts {
    std::uint64_t holes = 0, runs = 0, passed = 0, short_passed = 0;
  };

  // cleaning_simulator.cc: users' writes.
  std::span<const std::uint32_t> next_files(std::uint64_t most);
  void write_batch(std::span<const std::uint32_t> files);
  void write_separated(std::span<const std::uint32_t> files);
  void store_run(Log& log, std::span<const std::uint32_t> files);
  void bury(std::uint32_t slot);
  std::uint32_t log_of(std::uint32_t file) const;
  void ensure_room(std::uint32_t log);
  bool next_run(Log& log);
  void close(Log& log);
  void open_clean(std::uint32_t log);
  std::uint32_t first_slot(std::uint32_t segment) const { return segment << shift_; }
  bool is_live(std::uint32_t slot) const { return (live_[slot >> 6] >> (slot & 63)) & 1; }
  void set_live(std::uint32_t slot) { live_[slot >> 6] |= std::uint64_t{1} << (slot & 63); }
  void set_live(std::uint32_t first, std::uint32_t end);

  // simulator_cleaner.cc: reclaims space.
  void make_room(std::uint32_t log);
  void clean_while_idle();
  void find_candidates();
  void clean_pass(std::span<const lfs::Candidate> victims);
  void gather(const lfs::Candidate& victim);
  void write_back(std::uint32_t log);
  void put_back(Log& log, std::size_t& done);
  void record_utilizations();
  void record_victim(const lfs::Candidate& victim);

  // simulator_plugging.cc: reuses dead slots of segments with live data.
  PlugCounts plug_counts(std::uint32_t segment) const;
  double pass_over_time(const PlugCounts& counts) const;
  double plug_time(const PlugCounts& counts) const;
  void open_plugged(std::uint32_t log, std::uint32_t segment);
  bool recycle(std::uint32_t log);
  bool plug_pass(std::span<const lfs::Candidate> victims);
  std::vector<std::uint32_t> plug_targets(std::span<const lfs::Candidate> victims) const;
  double cleaning_time_a_slot(std::span<const lfs::Candidate> victims) const;
  double plugging_time_a_slot(std::span<const lfs::Candidate> victims) const;
  std::optional<std::uint32_t> segment_to_recycle(std::uint32_t log);

  SimulatorOptions options_;
  AccessGenerator generator_;
  /// Each segment has 2^shift_ slot numbers. The last of these numbers are unused if the segment
  /// has fewer slots.
  std::uint32_t shift_ = 0;
  std::uint32_t now_ = 0;
  bool keeps_times_ = true;
  std::uint64_t until_idle_ = 0;

  /// The files to write next. They are drawn one batch ahead, so that their `where_` entries are in
  /// the processor's cache when they are needed.
  static constexpr std::size_t kBatch = 128;
  std::array<std::uint32_t, kBatch> batch_{}, batch_after_{};
  std::size_t drawn_used_ = kBatch;  ///< number of used elements of `batch_`

  std::vector<std::uint32_t> where_, owner_;
  /// Indexed by slot: the time at which the slot's file was last modified before the slot was
  /// written.
  std::vector<std::uint32_t> modified_;
  std::vector<std::uint64_t> live_;
  std::vector<Usage> usage_;
  std::deque<std::uint32_t> clean_;
  std::vector<Log> logs_;  ///< the last log is the cleaner's, if the cleaner has a separate log
  std::uint32_t cleaners_log_ = 0;

  lfs::SegmentSelector selector_, recycling_selector_;
  lfs::WriteBackSorter sorter_;
  std::vector<lfs::Candidate> candidates_;
  std::vector<lfs::LiveBlock> blocks_;

  SimulatorCounts counts_;
  UtilizationHistogram at_cleaning_, hot_cleaned_, cold_cleaned_;
};

/// The result of a run that ends when the write cost is stable.
struct StableCost {
  SimulatorCounts counts;  ///< counts in the evaluated part of the run
  double cost = 0;         ///< write cost of equation 1
  double u = 0;            ///< mean utilization of the cleaned segments
  /// Relative spread of the cost over the evaluated windows: (highest - lowest) / mean.
  double spread = 0;
  std::uint64_t written = 0;  ///< total number of writes
  bool stable = false;        ///< false if the run reached its limit before the cost was stable
};
struct StabilityOptions {
  /// Length of a window: the number of writes divided by the number of files.
  double window_turnovers = 2;
  std::uint32_t windows_min = 8;
  std::uint32_t windows_max = 40;
  /// The cost is stable if its means over the last quarter of the windows and over the previous
  /// quarter differ by less than this fraction.
  double tolerance = .01;
};
StableCost run_until_stable(CleaningSimulator& simulator, const StabilityOptions& stability = {});

}  // namespace headcrash::experiment::rosenblum92
