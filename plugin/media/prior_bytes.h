#pragma once
// The contents of a used disk before mkfs. Each sector identifies itself, so bytes that a file
// system failed to write are distinguishable from zeroes and from other files' blocks. The contents
// are computed, never stored. harness/workload/stamp.h recognises these bytes; write_before_mkfs
// writes them, too.
//
//   0        8        16        24                            512
//   +--------+--------+---------+------------------------------+
//   | magic  | 0      | sector  | fill: SplitMix64(sector)     |
//   +--------+--------+---------+------------------------------+

#include <cstddef>
#include <cstdint>
#include <span>

namespace headcrash::media {

/// Fills `into` with the prior contents of the sectors from `lba` on. REQUIRES: `into` consists of
/// whole sectors.
void read_prior_bytes(std::uint64_t lba, std::span<std::byte> into);

}  // namespace headcrash::media
