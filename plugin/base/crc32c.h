#pragma once
// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as in iSCSI and ext4. Computed by ISA-L
// with carry-less multiplication, so checking a payload costs much less than copying it.

#include <cstddef>
#include <cstdint>
#include <span>

namespace headcrash {

/// Returns the checksum of `bytes`. `crc` is the checksum of the preceding bytes (0 at the start).
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace headcrash
