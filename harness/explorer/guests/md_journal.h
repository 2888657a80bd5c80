#pragma once
// Blocks of the journal of an md RAID-5. In write-back mode, the journal records which stripes are
// on the other disks; recovery then ignores the data that the journal has for these stripes.
//
// Format: struct r5l_meta_block, r5l_payload_data_parity and r5l_payload_flush
// (include/uapi/linux/raid/md_p.h). All numbers are little-endian.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headcrash::explorer {

/// Size of a block of the journal, and of the part of a stripe on a disk.
inline constexpr std::size_t kMdPageBytes = 4096;

/// Returns the stripes that a block of the journal says are on the disks, as numbers of the first
/// sector on each disk, counted from the start of the data. Returns an empty list for any other
/// block, and ignores the rest of a damaged block.
std::vector<std::uint64_t> stripes_on_disks(std::span<const std::byte> block);

}  // namespace headcrash::explorer
