#pragma once
// What two papers say about bandwidth, measured on the emulated drives they used: transfers of
// whole segments on one drive and on arrays, and what sorting a long queue gains.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::profiles {

inline constexpr std::array<std::uint32_t, 9> kSegmentKib = {32,   64,   128,  256, 512,
                                                             1024, 2048, 4096, 8192};

/// Shares of the drives' maximum bandwidth that random transfers of whole segments reach, by
/// kSegmentKib.
struct SegmentRow {
  using Shares = std::array<double, kSegmentKib.size()>;
  std::uint32_t drives = 0;
  Shares printed{};  ///< by the dissertation
  Shares synchronised{}, unsynchronised{};
};
/// By this number of transfers of each size.
Result<std::vector<SegmentRow>> measure_segments(std::uint64_t transfers);

/// Shares of a drive's sustained bandwidth that random writes of 4 KiB reach.
struct QueueRow {
  std::string profile;
  double printed_fcfs = 0, printed_sorted = 0;  ///< 0: not of this drive
  double fcfs = 0;                              ///< one at a time
  double c_look = 0, sptf = 0;                  ///< a thousand in the drive's queue
};
Result<std::vector<QueueRow>> measure_queues();

}  // namespace headcrash::profiles
