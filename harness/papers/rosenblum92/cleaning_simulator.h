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
// A write moves a file to the next slot of an open segment. Liveness is a bit, so that the cleaner
// need not look up `where_` for dead slots; that array has 2 MB and dominates the running time.
//
// In addition to the chapter there are variants of the placement of new data (WriteSeparation), of
// reclaiming space (SpaceReuse) and of its time (idle cleaning); the README of
// results/reference/rosenblum92 compares them.
//
// Everything runs in virtual time (a write is a tick) on the calling thread; equal seeds give equal
// counts.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fs-adapters/lfs/cleaning_policy.h"
#include "harness/papers/rosenblum92/access_pattern.h"

namespace headcrash::experiment::rosenblum92 {

/// Placement of live data that the cleaner writes back. The dissertation does not say whether it
/// shares segments with new data (trap 7 of the design notes).
enum class CleanedData : std::uint8_t {
  shares_log,  ///< new data follows it in the cleaner's last segment
  own_log,     ///< the cleaner has a separate open segment
};

/// The reference point of a segment's age, in cost-benefit selection.
enum class SegmentAge : std::uint8_t {
  /// last modification of any file in it (section 5.4), unaffected by cleaning
  youngest_file,
  last_write,  ///< last write to the segment, by a user or the cleaner
};

/// Use of several open segments for new data.
enum class WriteSeparation : std::uint8_t {
  none,
  by_interval,  ///< by the time since the file was last written, which the writer knows
  known,        ///< by the file's true rate, which no writer knows; an upper bound for separation
};

/// The way to make space when no segment is clean.
enum class SpaceReuse : std::uint8_t {
  cleaning,  ///< a pass of the cleaner, as in the dissertation
  /// a pass that writes live data into dead slots of the fullest segments (Matthews 1997)
  plugging,
  adaptive_plugging,  ///< the cheaper of both per freed slot
  /// new data goes into the dead slots of a segment (slack-space recycling, as in F2FS)
  recycling,
  adaptive_recycling  ///< the cheaper of cleaning and recycling
};

/// Costs of the disk in addition to transfers, in units of the transfer time of one block. All 0 is
/// the assumption of equation 1: seeks and rotational latency are negligible.
struct Positioning {
  double access = 0;      ///< seek and latency before a transfer
  double revolution = 0;  ///< one revolution
  double request = 0;     ///< overhead between two requests, while the disk rotates
  /// Write each run of dead slots with a separate access. Otherwise use the cheaper of this and one
  /// pass over the segment. A pass moves over live slots, and loses a revolution where these are
  /// shorter than `request`.
  bool access_each_run = false;

  bool operator==(const Positioning&) const = default;
};

/// Returns a Wren IV with blocks of 4 KB: 1.3 MB/s and 29.5 ms per access (table 4-1), 3,600 rpm, 5
/// ms between requests (section 4.4.2).
Positioning wren_iv();

struct SimulatorOptions {
  std::uint32_t files = 524288;
  std::uint32_t files_per_segment = 512;
  double utilization = .75;  ///< of the disk; above 0, below 1
  AccessPattern pattern = kUniform;
  lfs::Selection selection = lfs::Selection::greedy;
  lfs::WriteBackOrder order = lfs::WriteBackOrder::as_read;
  std::uint32_t files_cleaned_at_once = 2560;
  CleanedData cleaned_data = CleanedData::shares_log;
  SegmentAge segment_age = SegmentAge::youngest_file;
  /// Clean segments reserved for the cleaner. The dissertation mentions none.
  std::uint32_t reserved_segments = 0;
  std::uint64_t seed = 1;
  bool histograms = false;

  // Not in the dissertation.
  WriteSeparation separation = WriteSeparation::none;
  std::uint32_t logs = 1;  ///< open segments for new data
  SpaceReuse reuse = SpaceReuse::cleaning;
  Positioning positioning;  ///< used for the decisions of adaptive reuse
  /// After this number of writes the disk is idle until `idle_clean_until` segments are clean.
  /// nullopt: never idle.
  std::optional<std::uint64_t> writes_between_idle_times;
  std::uint32_t idle_clean_until = 0;

  bool operator==(const SimulatorOptions&) const = default;
};

struct SimulatorCounts {
  std::uint64_t written = 0;           ///< files, by users
  std::uint64_t passes = 0;            ///< of the cleaner
  std::uint64_t segments_cleaned = 0;  ///< including empty ones
  std::uint64_t segments_read = 0;
  std::uint64_t files_copied = 0;
  std::uint64_t segments_opened = 0;     ///< clean segments opened for writing
  std::uint64_t segments_plugged = 0;    ///< segments whose dead slots were written
  std::uint64_t files_plugged = 0;       ///< of `written` or `files_copied`: those into dead slots
  std::uint64_t runs_plugged = 0;        ///< of dead slots
  std::uint64_t passes_over = 0;         ///< segments whose dead slots were written in one pass
  std::uint64_t accesses_to_runs = 0;    ///< runs written with a separate access
  std::uint64_t slots_passed = 0;        ///< live slots between two such runs
  std::uint64_t revolutions_lost = 0;    ///< live ranges between runs that were too short
  std::uint64_t idle_segments_read = 0;  ///< of `segments_read`: those while the disk was idle
  std::uint64_t idle_files_copied = 0;

  SimulatorCounts operator-(const SimulatorCounts& earlier) const;
};

/// Equation 1: blocks moved divided by blocks of new data. REQUIRES: something was written.
double write_cost(const SimulatorCounts& counts, std::uint32_t files_per_segment);
/// Returns the write cost with `positioning`; equal to the above if that is 0 and nothing was
/// plugged.
double write_cost(const SimulatorCounts& counts, std::uint32_t files_per_segment,
                  const Positioning& positioning);
/// Returns the cost for waiting users, without work in idle time.
double foreground_cost(const SimulatorCounts& counts, std::uint32_t files_per_segment);
/// Returns the mean utilization of cleaned segments, including empty ones: u of the dissertation.
double utilization_cleaned(const SimulatorCounts& counts, std::uint32_t files_per_segment);

/// Numbers of segments by utilization. Bin i of kBins begins at i / kBins; the last one includes
/// full segments.
struct UtilizationHistogram {
  static constexpr std::size_t kBins = 50;
  std::vector<std::uint64_t> segments = std::vector<std::uint64_t>(kBins, 0);

  void add(std::uint32_t live, std::uint32_t files_per_segment);
  std::uint64_t total() const;
  double share(std::size_t bin) const;
  double mean() const;  ///< of the bins' midpoints
};

class CleaningSimulator {
 public:
  /// Places all files in segments that are as full as possible, in the order of their numbers;
  /// other segments are clean. REQUIRES: 0 < utilization < 1, at least one file per segment, space
  /// for all logs.
  explicit CleaningSimulator(const SimulatorOptions& options);

  /// Overwrites `files` files, and cleans whenever no segment is clean.
  void write(std::uint64_t files);

  const SimulatorCounts& counts() const { return counts_; }
  const SimulatorOptions& options() const { return options_; }
  std::uint32_t segments() const { return static_cast<std::uint32_t>(usage_.size()); }
  std::uint32_t clean_segments() const { return static_cast<std::uint32_t>(clean_.size()); }

  /// Returns the utilizations at the start of each pass (figures 5-4 and 5-5), and those of the
  /// cleaned segments, separately for segments with mostly hot and mostly cold files. Requires
  /// `histograms`.
  const UtilizationHistogram& at_cleaning() const { return at_cleaning_; }
  const UtilizationHistogram& hot_cleaned() const { return hot_cleaned_; }
  const UtilizationHistogram& cold_cleaned() const { return cold_cleaned_; }
  void forget_histograms();

  /// Verifies that every file is in one live slot and that all counts agree. Stops the program if
  /// not; for tests.
  void verify() const;

 private:
  enum class State : std::uint8_t { clean, open, dirty };
  struct Usage {
    std::uint32_t live = 0;
    std::uint32_t youngest = 0;  ///< time of the last modification
    State state = State::clean;
    std::uint8_t log = 0;  ///< log that opened it
  };
  /// An open segment: the next slot, and the end of the run of consecutive writable slots.
  struct Log {
    std::uint32_t next = 0, end = 0, segment = 0;
    bool open = false;
    bool plugging = false;  ///< writes dead slots of a segment; `end` is their end
  };
  struct PlugCounts {
    std::uint64_t holes = 0, runs = 0, passed = 0, short_passed = 0;
  };

  // cleaning_simulator.cc: users' writes
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

  // simulator_cleaner.cc: reclaiming space
  void make_room(std::uint32_t log);
  void clean_while_idle();
  void find_candidates();
  void clean_pass(std::span<const lfs::Candidate> victims);
  void gather(const lfs::Candidate& victim);
  void write_back(std::uint32_t log);
  void put_back(Log& log, std::size_t& done);
  void record_utilizations();
  void record_victim(const lfs::Candidate& victim);

  // simulator_plugging.cc: dead slots of segments with live data
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
  /// Log2 of the slot numbers per segment; the last numbers of a segment may be unused.
  std::uint32_t shift_ = 0;
  std::uint32_t now_ = 0;
  bool keeps_times_ = true;
  std::uint64_t until_idle_ = 0;

  /// Files to be written, drawn one batch ahead, so that their `where_` entries are in the
  /// processor's cache.
  static constexpr std::size_t kBatch = 128;
  std::array<std::uint32_t, kBatch> batch_{}, batch_after_{};
  std::size_t drawn_used_ = kBatch;  ///< of `batch_`

  std::vector<std::uint32_t> where_, owner_;
  /// Slot -> last modification of the file when it was placed there.
  std::vector<std::uint32_t> modified_;
  std::vector<std::uint64_t> live_;
  std::vector<Usage> usage_;
  std::deque<std::uint32_t> clean_;
  std::vector<Log> logs_;  ///< the last one is the cleaner's, if separate
  std::uint32_t cleaners_log_ = 0;

  lfs::SegmentSelector selector_, recycling_selector_;
  lfs::WriteBackSorter sorter_;
  std::vector<lfs::Candidate> candidates_;
  std::vector<lfs::LiveBlock> blocks_;

  SimulatorCounts counts_;
  UtilizationHistogram at_cleaning_, hot_cleaned_, cold_cleaned_;
};

/// A run until the write cost is stable.
struct StableCost {
  SimulatorCounts counts;  ///< of the evaluated part
  double cost = 0;         ///< the metric of equation 1
  double u = 0;            ///< of the cleaned segments
  double spread = 0;       ///< of the cost between the evaluated windows: (highest - lowest) / mean
  std::uint64_t written = 0;  ///< total
  bool stable = false;        ///< otherwise the limit on the run was reached first
};
struct StabilityOptions {
  double window_turnovers = 2;  ///< writes of a window, as a multiple of the number of files
  std::uint32_t windows_min = 8;
  std::uint32_t windows_max = 40;
  double tolerance =
      /// Stable if the means of the last quarter of the windows and of the quarter before differ by
      /// less.
      .01;
};
StableCost run_until_stable(CleaningSimulator& simulator, const StabilityOptions& stability = {});

}  // namespace headcrash::experiment::rosenblum92
