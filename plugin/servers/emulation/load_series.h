#pragma once
// What a device did over time since the last `take`, in bins of equal width: bytes read and
// written, flushes, and the time that requests were inside. The number of bins is bounded: when
// there would be more, each two become one, so that a phase of any length costs the same.
//
//   requests   |----A----|
//                 |--------B--------|
//   bins       |  1  |  2  |  3  |  4  |     A's sectors are spread over bins 1 and 2, B's from the end of A on over 2 to 4: a
//                                            device that serves one after the other is never faster
//                                            than it was. The time of each counts in all bins where
//                                            it was inside: inside_ns / width is the mean number of
//                                            requests inside

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/model/core/device.h"

namespace headcrash::emulation {

class LoadSeries {
 public:
  struct Bin {
    std::uint64_t sectors_read = 0, sectors_written = 0, flushes = 0;
    model::TimeNs inside_ns = 0;  ///< summed over requests
    Bin& operator+=(const Bin& other);
  };
  static constexpr std::size_t kBinsMost = 256;
  static constexpr model::TimeNs kNarrowest = model::kMillisecondNs;

  /// A request counts from `begin` on.
  explicit LoadSeries(model::TimeNs begin = 0) : begin_(begin) {}

  /// A request that succeeded. Reads, writes and flushes count, others do not.
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
