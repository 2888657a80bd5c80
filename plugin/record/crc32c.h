#pragma once
// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as in iSCSI and ext4: eight bytes a step by eight
// tables.

#include <cstddef>
#include <cstdint>
#include <span>

namespace headcrash::record {

/// Continues `crc`, the value of the bytes before (0 at the start).
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace headcrash::record
