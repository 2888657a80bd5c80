#pragma once
// The load of a device over time since the last `take`, in bins of equal width: bytes read and
// written, flushes, and the time that requests spent in the device. When the number of bins would
// exceed its limit, pairs of bins are merged, so the memory used does not depend on the length of a
// phase.
//
//   requests   |----A----|
//                 |--------B--------|
//   bins       |  1  |  2  |  3  |  4  |
//
// The sectors of A are spread over its duration, in bins 1 and 2. The sectors of B are spread over
// the time after A's completion, in bins 2 to 4. A device that serves requests serially therefore
// never appears faster than it is. The time that a request spends in the device is added to every
// bin in which it is spent, so inside_ns / width is the mean number of requests in the device.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/model/core/device.h"

namespace headcrash::emulation {

class LoadSeries {
 public:
  struct Bin {
    std::uint64_t sectors_read = 0, sectors_written = 0, flushes = 0;
    /// Time that requests spent in the device, summed over all requests.
    model::TimeNs inside_ns = 0;
    Bin& operator+=(const Bin& other);
  };
  static constexpr std::size_t kBinsMost = 256;
  static constexpr model::TimeNs kNarrowest = model::kMillisecondNs;

  /// Time before `begin` is ignored.
  explicit LoadSeries(model::TimeNs begin = 0) : begin_(begin) {}

  /// Adds a successful request. Operations other than reads, writes and flushes are ignored.
  void completed(model::Op op, std::uint32_t sectors, model::TimeNs submitted_at,
                 model::TimeNs completed_at);

  model::TimeNs begin() const { return begin_; }
  model::TimeNs width() const { return width_; }
  const std::vector<Bin>& bins() const { return bins_; }

 private:
  Bin& bin_at(model::TimeNs at);  ///< REQUIRES: at >= begin()
  void spread(std::uint64_t Bin::* count, std::uint64_t sectors, model::TimeNs from,
              model::TimeNs to);

  model::TimeNs begin_;
  model::TimeNs last_completion_ = 0;
  model::TimeNs width_ = kNarrowest;
  std::vector<Bin> bins_;
};

}  // namespace headcrash::emulation
