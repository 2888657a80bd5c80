#pragma once
// The bus transfer between drive and host, which delays the completion of reads.

#include <cstdint>

#include "plugin/model/disk/mechanism.h"

namespace headcrash::model {

/// Returns the time at which the bus has sent the last sector of a read, as an offset from
/// planned.base. `planned` is the access that reads the `sectors` sectors from the medium.
/// `segment_sectors` is the size of the buffer segment; 0 if every request fits.
OffsetPs read_sent_ps(const OverheadProfile& overhead, const MediaAccess& planned,
                      std::uint32_t sectors, std::uint32_t segment_sectors,
                      std::int64_t revolution_ps);

}  // namespace headcrash::model
