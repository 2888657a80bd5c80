#pragma once
// Bandwidth figures of two papers, measured again on models of the drives that the papers used. The
// figures are transfers of whole segments on one drive and on arrays, and the gain from sorting a
// long queue.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::profiles {

inline constexpr std::array<std::uint32_t, 9> kSegmentKib = {32,   64,   128,  256, 512,
                                                             1024, 2048, 4096, 8192};

/// Shares of the drives' maximum bandwidth that random transfers of whole segments achieve, indexed
/// like kSegmentKib.
struct SegmentRow {
  using Shares = std::array<double, kSegmentKib.size()>;
  std::uint32_t drives = 0;
  Shares printed{};  ///< as printed in the dissertation
  Shares synchronised{}, unsynchronised{};
};
/// Measures with `transfers` transfers of each size.
Result<std::vector<SegmentRow>> measure_segments(std::uint64_t transfers);

/// Shares of a drive's sustained bandwidth that random writes of 4 KiB achieve.
struct QueueRow {
  std::string profile;
  double printed_fcfs = 0, printed_sorted = 0;  ///< 0: not printed for this drive
  double fcfs = 0;                              ///< one request at a time
  double c_look = 0, sptf = 0;                  ///< a thousand requests in the drive's queue
};
Result<std::vector<QueueRow>> measure_queues();

}  // namespace headcrash::profiles
