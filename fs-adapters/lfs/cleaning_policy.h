#pragma once
// The policies of the segment cleaner: which segments are cleaned, how many at a time, in what
// order their live data is written back, and when cleaning starts and stops. Nothing here does I/O
// or reads a clock, so that the file system's cleaner and the cleaning simulator run the same code.
//
//   greedy               the least utilized segments first
//   cost-benefit         the highest (1 - u) * age / (1 + u) first: free space weighted by the time that it is
//                        likely to stay free, over the cost of reading the segment and of writing u
//                        of it back
//   min-declining-cost   the lowest decline of the cost per byte freed first: that cost is 2 / (1 - u), and u
//                        falls by u / age a unit of time, age being the estimate of a block's
//                        lifetime; so the highest (1 - u)^2 * age / u first
//
// An empty segment costs nothing, since it is not read; it comes first under each of them. A full
// one gives nothing and is never chosen.
//
// Sources: Rosenblum 1992, sections 4.4.3, 5.3.3, 5.4 (equation 2), 5.5.1 and 5.5.2; Lomet and Luo,
// "Efficiently Reclaiming Space in a Log Structured Store", ICDE 2021, for min-declining-cost.
//
// Classes here may be used from one thread at a time each.

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace headcrash::lfs {

enum class Selection : std::uint8_t { greedy, cost_benefit, min_declining_cost };
enum class WriteBackOrder : std::uint8_t {
  as_read,  ///< as the live data lies in the segments, in the order in which these were chosen
  by_age,   ///< by the time of the last modification, the oldest first
};
std::string_view name(Selection selection);
std::string_view name(WriteBackOrder order);

/// A segment that is neither clean nor being written.
struct Candidate {
  std::uint32_t segment = 0;
  std::uint32_t live = 0;  ///< bytes (the simulator: files), at most `segment_size`
  std::uint64_t age =
      0;  ///< since the youngest block was modified; any unit, the same for all candidates
};

/// How much a segment is worth cleaning: a higher value is cleaned first. Infinite for an empty
/// segment, 0 for a full one. `live` and `segment_size` have the same unit.
double worth(Selection selection, const Candidate& candidate, std::uint64_t segment_size);

struct CleaningOptions {
  Selection selection = Selection::cost_benefit;
  WriteBackOrder order = WriteBackOrder::by_age;
  std::uint64_t segment_size = 512 * 1024;
  /// One pass reads segments until it has this much live data (10 MB of the file cache in Sprite
  /// LFS). The last segment may exceed it: a pass that may not exceed it could be too small for any
  /// segment.
  std::uint64_t live_at_once = 10 * 1024 * 1024;
  std::uint32_t segments_at_once = std::numeric_limits<std::uint32_t>::max();
  /// Cleaning starts when fewer segments than `start_below` are clean, and goes on, a pass after
  /// the other, until `stop_at` of them are. Sprite LFS: a few tens, and 50 to 100.
  std::uint32_t start_below = 20;
  std::uint32_t stop_at = 50;
};

inline bool must_start(const CleaningOptions& options, std::uint32_t clean_segments) {
  return clean_segments < options.start_below;
}
inline bool may_stop(const CleaningOptions& options, std::uint32_t clean_segments) {
  return clean_segments >= options.stop_at;
}

/// Chooses the segments of a pass, which are few of many. An object keeps its buffers from call to
/// call.
class SegmentSelector {
 public:
  explicit SegmentSelector(const CleaningOptions& options) : options_(options) {}

  /// The segments of one pass, in the order in which they are to be read; equal worth: the lower
  /// segment first. Empty when every candidate is full. What is returned is valid until the next
  /// call. REQUIRES: no candidate has more live data than a segment holds.
  std::span<const Candidate> choose(std::span<const Candidate> candidates);

  const CleaningOptions& options() const { return options_; }

 private:
  struct Ranked {
    double worth = 0;
    std::uint32_t index = 0;  ///< among the candidates
  };

  template <Selection kSelection>
  void rank(std::span<const Candidate> candidates, double least);
  void rank(std::span<const Candidate> candidates, double least);
  bool take(std::span<const Candidate> candidates);

  CleaningOptions options_;
  /// Candidates worth less are not looked at unless the others do not suffice: it follows from the
  /// pass before, and decides how long a choice takes, not what is chosen.
  double least_worth_ = 0;
  std::vector<Ranked> ranked_;
  std::vector<Candidate> chosen_;
};

/// A block, or a file, that is to be written back.
struct LiveBlock {
  std::uint64_t modified = 0;  ///< time of the last modification, any unit
  std::uint64_t id = 0;        ///< the caller's
};

/// Puts live blocks into the order in which they are written back. An object keeps its buffer from
/// call to call.
class WriteBackSorter {
 public:
  /// `blocks` come as they were read. The sort is stable: blocks of equal age stay as they were
  /// read.
  void sort(WriteBackOrder order, std::vector<LiveBlock>& blocks);

 private:
  std::vector<LiveBlock> scratch_;
};

}  // namespace headcrash::lfs
