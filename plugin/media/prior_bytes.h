#pragma once
// What is on a disk before mkfs, when the disk is to be a used one: every sector names itself, so
// that bytes which a file system forgot to write are distinguished from zeroes and from other
// files' blocks. Computed, never stored. harness/workload/stamp.h recognises them
// (write_before_mkfs makes the same).
//
//   0        8        16        24                            512
//   +--------+--------+---------+------------------------------+
//   | magic  | 0      | sector  | fill: SplitMix64(sector)     |
//   +--------+--------+---------+------------------------------+

#include <cstddef>
#include <cstdint>
#include <span>

namespace headcrash::media {

/// Fills whole sectors that lie one after the other from `lba` on.
void read_prior_bytes(std::uint64_t lba, std::span<std::byte> into);

}  // namespace headcrash::media
