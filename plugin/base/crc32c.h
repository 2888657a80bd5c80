#pragma once
// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as in iSCSI and ext4, by ISA-L, which
// folds with the processor's carry-less multiplication: checking a payload costs a small part of
// copying it.

#include <cstddef>
#include <cstdint>
#include <span>

namespace headcrash {

/// Continues `crc`, the value of the bytes before (0 at the start).
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace headcrash
