// Sending what the medium delivers.
//
// The drive asks for the bus when a share of the request, the watermark, is in its buffer, and then
// sends without a pause unless it catches up with the medium. Sector i is sent no earlier than it
// was read, so
//
//   sent(last) = max over i of (read(i) + bus * (sectors - i))      and not before the watermark's own bound
//
// in whatever order the sectors are read (zero-latency access). Within one pass read(i) is linear
// in i: only the first and the last sector of each pass can decide. A request that is larger than
// the buffer would make the medium pause; the bus, the slower of the two, has enough to send all
// the same. Some drives keep the last sectors of a request together and send them only when all of
// them are there (the tail).
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
  std::uint32_t done = 0;  // read so far, in whatever order
  for (const TrackPass& pass : planned.passes) {
    if (done < watermark && watermark <= done + pass.sectors) {
      const OffsetPs on_bus_ps = pass.after_ps(watermark - done, revolution_ps) + to_bus_ps;
      sent_ps = std::max(sent_ps, on_bus_ps + bus_ps * sectors);
    }
    done += pass.sectors;
    const std::uint32_t behind = sectors - pass.first;  // to be sent from the first of the pass on
    const OffsetPs first_ps = pass.after_ps(1, revolution_ps) + bus_ps * behind;
    const OffsetPs last_ps =
        pass.after_ps(pass.sectors, revolution_ps) + bus_ps * (behind - pass.sectors + 1);
    sent_ps = std::max({sent_ps, first_ps, last_ps});
  }
  return sent_ps;
}

}  // namespace headcrash::model
