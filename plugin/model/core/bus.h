#pragma once
// The bus transfer between drive and host, which delays the completion of reads.

#include <cstdint>

#include "plugin/model/disk/mechanism.h"

namespace headcrash::model {

/// Returns the time, as an offset from planned.base, at which the last of the `sectors` sectors
/// read by `planned` has crossed the bus. `segment_sectors` is the size of the buffer segment (0 if
/// it is large enough for any request).
OffsetPs read_sent_ps(const OverheadProfile& overhead, const MediaAccess& planned,
                      std::uint32_t sectors, std::uint32_t segment_sectors,
                      std::int64_t revolution_ps);

}  // namespace headcrash::model
