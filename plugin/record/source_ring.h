#pragma once
// Which of the latest requests brought which bytes, and where in the log these lie: a MEDIA event
// can then refer to them instead of carrying them again.
//
// A ring of fixed size by request id (ids rise): a write that its drive's cache absorbs never comes
// to the medium and would otherwise be remembered for ever. A request that has been pushed out is
// not a loss: the MEDIA event carries its bytes itself.

#include <cstdint>
#include <vector>

#include "plugin/model/core/device.h"

namespace headcrash::record {

class SourceRing {
 public:
  static constexpr std::size_t kRequests =
      1 << 17;  ///< 5 MiB; a drive of 64 MB cache holds 16384 blocks of 4 KiB

  struct Source {
    model::RequestId id = 0;
    std::uint64_t bytes_at = 0;  ///< 0: it brought no bytes
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
