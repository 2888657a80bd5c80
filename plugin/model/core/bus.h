#pragma once
// The bus between drive and host, as far as it decides when a read is complete.

#include <cstdint>

#include "plugin/model/disk/mechanism.h"

namespace headcrash::model {

/// When, counted as `planned` counts, the last of the `sectors` that `planned` reads has crossed
/// the bus. A buffer of `segment_sectors` (0: as large as any request) is where they wait for it.
OffsetPs read_sent_ps(const OverheadProfile& overhead, const MediaAccess& planned,
                      std::uint32_t sectors, std::uint32_t segment_sectors,
                      std::int64_t revolution_ps);

}  // namespace headcrash::model
