#pragma once
// Policies of the segment cleaner: selection and number of segments, write-back order of live data,
// and start and end of cleaning. There is no I/O and no clock here, so the file system's cleaner
// and the cleaning simulator share this code.
//
//   greedy              the least utilized segments first
//   cost-benefit        the highest (1 - u) * age / (1 + u) first: free space, weighted by the time
//                       that it is likely to stay free, over the cost of reading the segment and
//                       writing u of it back
//   min-declining-cost  the lowest decline of cost per freed byte first: the cost is 2 / (1 - u),
//                       and u falls by u / age per unit of time, where age estimates a block's
//                       lifetime; so the highest (1 - u)^2 * age / u first
//
// An empty segment costs nothing, because it is not read; it comes first under every policy. A full
// segment is never selected.
//
// Sources: Rosenblum 1992, sections 4.4.3, 5.3.3, 5.4 (equation 2), 5.5.1 and 5.5.2; Lomet and Luo,
// "Efficiently Reclaiming Space in a Log Structured Store", ICDE 2021, for min-declining-cost.
//
// An object must not be used from several threads at the same time.

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace headcrash::lfs {

enum class Selection : std::uint8_t { greedy, cost_benefit, min_declining_cost };
enum class WriteBackOrder : std::uint8_t {
  as_read,  ///< in selection order, and within a segment in log order
  by_age,   ///< by time of last modification, oldest first
};
std::string_view name(Selection selection);
std::string_view name(WriteBackOrder order);

/// A segment that a pass may clean: it is neither clean nor currently being written.
struct Candidate {
  std::uint32_t segment = 0;
  /// Live data, in the unit of `segment_size`: bytes, or files in the simulator. At most
  /// `segment_size`.
  std::uint32_t live = 0;
  /// Time since the youngest block was modified, in any unit that all candidates share.
  std::uint64_t age = 0;
};

/// Returns the value of cleaning a segment. Segments with higher values are cleaned first. An empty
/// segment has an infinite value, and a full one has the value 0. `live` and `segment_size` must
/// have the same unit.
double worth(Selection selection, const Candidate& candidate, std::uint64_t segment_size);

struct CleaningOptions {
  Selection selection = Selection::cost_benefit;
  WriteBackOrder order = WriteBackOrder::by_age;
  std::uint64_t segment_size = 512 * 1024;
  /// A pass reads further segments until it has read this much live data (Sprite LFS: 10 MB of the
  /// file cache). The last segment may exceed the limit; otherwise, a small limit could exclude
  /// every segment.
  std::uint64_t live_at_once = 10 * 1024 * 1024;
  std::uint32_t segments_at_once = std::numeric_limits<std::uint32_t>::max();
  /// Cleaning starts when fewer than `start_below` segments are clean, and continues until
  /// `stop_at` segments are clean. In Sprite LFS, `start_below` was a few tens, and `stop_at` was
  /// 50 to 100.
  std::uint32_t start_below = 20;
  std::uint32_t stop_at = 50;
};

inline bool must_start(const CleaningOptions& options, std::uint32_t clean_segments) {
  return clean_segments < options.start_below;
}
inline bool may_stop(const CleaningOptions& options, std::uint32_t clean_segments) {
  return clean_segments >= options.stop_at;
}

/// Selects the segments for a cleaning pass. Keeps its buffers between calls.
class SegmentSelector {
 public:
  explicit SegmentSelector(const CleaningOptions& options) : options_(options) {}

  /// Returns the segments of one pass in the order in which to read them. Among segments of equal
  /// value, those with lower numbers come first. The result is empty if all candidates are full,
  /// and is valid until the next call. REQUIRES: no candidate has more live data than fits in a
  /// segment.
  std::span<const Candidate> choose(std::span<const Candidate> candidates);

  const CleaningOptions& options() const { return options_; }

 private:
  struct Ranked {
    double worth = 0;
    std::uint32_t index = 0;
  };

  template <Selection kSelection>
  void rank(std::span<const Candidate> candidates, double least);
  void rank(std::span<const Candidate> candidates, double least);
  bool take(std::span<const Candidate> candidates);

  CleaningOptions options_;
  /// Candidates worth less than this are considered only if the others do not suffice. The value is
  /// derived from the previous pass. It affects the speed of the selection, but not the result.
  double least_worth_ = 0;
  std::vector<Ranked> ranked_;
  std::vector<Candidate> chosen_;
};

/// A block to be written back. In the simulator, each file is such a block.
struct LiveBlock {
  std::uint64_t modified = 0;  ///< time of last modification, in any unit
  std::uint64_t id = 0;        ///< assigned by the caller
};

/// Sorts live blocks into write-back order. Keeps its buffer between calls.
class WriteBackSorter {
 public:
  /// Sorts `blocks`, which must be in the order in which the pass has read them. Blocks of equal
  /// age stay in that order.
  void sort(WriteBackOrder order, std::vector<LiveBlock>& blocks);

 private:
  std::vector<LiveBlock> scratch_;
};

}  // namespace headcrash::lfs
