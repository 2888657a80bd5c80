#pragma once
// A superblock for tests that need only a geometry: a file system of two groups, of which the first
// has 1000 blocks and the second is shorter.

#include "fs-adapters/ufs/format/format.h"

namespace headcrash::ufs {

inline Superblock superblock_for_tests(std::uint32_t block_bytes = 8192,
                                       std::uint32_t fragment_bytes = 1024) {
  Superblock s{.block_bytes = block_bytes, .fragment_bytes = fragment_bytes};
  const std::uint32_t per_block = s.fragments_per_block();
  const std::uint32_t eight_kib = 8192 / fragment_bytes;
  s.superblock_offset = 2 * eight_kib, s.header_offset = 3 * eight_kib;
  s.inodes_offset = s.header_offset + per_block;
  s.inodes_per_group = 4 * block_bytes / kInodeBytes;
  s.data_offset = s.inodes_offset + 4 * per_block;
  s.groups = 2;
  s.fragments_per_group = 1000 * per_block;
  s.size_fragments = 1900 * per_block;
  s.header_bytes = block_bytes;
  s.summary_address = s.data_offset, s.summary_bytes = fragment_bytes;
  s.reserve_percent = 10;
  s.inline_target_max = kInlineTargetBytes;
  s.file_bytes_max = 1ULL << 40;
  return s;
}
inline std::uint64_t device_bytes_for_tests(const Superblock& s) {
  return std::uint64_t{s.size_fragments} * s.fragment_bytes;
}

}  // namespace headcrash::ufs
