#pragma once
// The locations in the log of the latest requests' bytes, so that a MEDIA event can refer to them
// instead of repeating them.
//
// A fixed-size ring indexed by request id (ids ascend). An entry cannot be kept until its write
// reaches the medium, because a newer write in the drive's cache may replace the write. If the
// entry of a request has been overwritten, the MEDIA event carries the bytes.

#include <cstdint>
#include <vector>

#include "plugin/model/core/device.h"

namespace headcrash::record {

class SourceRing {
 public:
  /// 5 MiB; a drive with a 64 MB cache holds 16384 blocks of 4 KiB.
  static constexpr std::size_t kRequests = 1 << 17;

  struct Source {
    model::RequestId id = 0;
    std::uint64_t bytes_at = 0;  ///< 0: no bytes
    std::uint64_t lba = 0;
    std::uint32_t sectors = 0;
    model::DeviceId device = 0;
    model::Op op = model::Op::read;

    bool covers(std::uint64_t first, std::uint32_t count) const {
      return first >= lba && count <= sectors && first - lba <= sectors - count;
    }
  };

  SourceRing() : sources_(kRequests) {}
  void add(const Source& source) { sources_[source.id % kRequests] = source; }
  const Source* find(model::DeviceId device, model::RequestId id) const {
    const Source& source = sources_[id % kRequests];
    return id != 0 && source.id == id && source.device == device ? &source : nullptr;
  }

 private:
  std::vector<Source> sources_;
};

}  // namespace headcrash::record
