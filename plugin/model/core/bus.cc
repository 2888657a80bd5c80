// Computes when the bus has sent the last sector of a read to the host.
//
// The drive requests the bus when a given share of the request, the watermark, is in its buffer.
// The bus then transfers without a pause unless it catches up with the medium. No sector is sent
// before it has been read. The last sector has therefore been sent at the later of
//
//   granted(watermark) + bus * sectors
//   max over i of (read(i) + bus * (sectors - i))
//
// for any order of reading (zero-latency access). Within one pass, read(i) is linear in i, so only
// the first and the last sector of each pass matter. During a request that is larger than the
// buffer, the medium would have to pause. The formula still holds: the bus is slower than the
// medium, so the buffer would always contain enough to send. Some drives hold back the last sectors
// of a request (the tail) until the whole tail has been read.
#include "plugin/model/core/bus.h"

#include <algorithm>

namespace headcrash::model {

OffsetPs read_sent_ps(const OverheadProfile& overhead, const MediaAccess& planned,
                      std::uint32_t sectors, std::uint32_t segment_sectors,
                      std::int64_t revolution_ps) {
  const OffsetPs bus_ps = overhead.bus_read_sector_ns * kPicosecondsPerNs;
  const OffsetPs to_bus_ps =
      (overhead.read_data_preparation_ns + overhead.read_reselect_ns) * kPicosecondsPerNs;
  const std::uint64_t buffered = segment_sectors > 0 ? std::min(sectors, segment_sectors) : sectors;
  const std::uint64_t share = buffered * overhead.read_watermark_permille / 1000;
  const auto watermark = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(share));
  const std::uint32_t tail = std::min(overhead.read_tail_sectors, sectors);
  OffsetPs sent_ps = tail > 0 ? planned.end_ps + bus_ps * tail : 0;
  std::uint32_t done = 0;  // number of sectors read so far, in any order
  for (const TrackTransfer& pass : planned.passes) {
    if (done < watermark && watermark <= done + pass.sectors) {
      const OffsetPs on_bus_ps = pass.after_ps(watermark - done, revolution_ps) + to_bus_ps;
      sent_ps = std::max(sent_ps, on_bus_ps + bus_ps * sectors);
    }
    done += pass.sectors;
    // number of sectors from the beginning of this pass to the end of the request
    const std::uint32_t behind = sectors - pass.first;
    const OffsetPs first_ps = pass.after_ps(1, revolution_ps) + bus_ps * behind;
    const OffsetPs last_ps =
        pass.after_ps(pass.sectors, revolution_ps) + bus_ps * (behind - pass.sectors + 1);
    sent_ps = std::max({sent_ps, first_ps, last_ps});
  }
  return sent_ps;
}

}  // namespace headcrash::model
