#pragma once
// The load of SPEC SFS 1.1 (SPECnfs_A93, LADDIS) in numbers: for the timed workload (laddis.cc),
// whose threads share the requests out beforehand, and for the server that Peacock, Kamaraju and
// Agrawal measured with it 1998 (harness/papers/peacock98), whose threads take them from one queue.
//
// Source: the mix is nhfsstone's, which LADDIS took over. 5 MB of files for each request a second
// agree with the 3 GB at 600 of the paper's section 6.4. Shares and sizes below are those of SFS
// 1.1 from memory, not verified; the benchmark itself is licensed and is not part of this.

#include <array>
#include <cstdint>

namespace headcrash::timed::laddis_load {

inline constexpr std::uint64_t kTransferBytes = 8 << 10;  ///< as large as NFS version 2 allows
inline constexpr std::uint64_t kFilesPerFolder = 30;
inline constexpr std::uint64_t kFilesPerLink = 10;
inline constexpr std::uint64_t kUsedShare = 5;       ///< one file in five
inline constexpr std::uint64_t kAppendPercent = 70;  ///< of the writes
inline constexpr std::uint64_t kFileKib = 136, kKibPerOperation = 5 << 10;

enum class Kind : std::uint8_t {
  lookup,
  read,
  write,
  get_attributes,
  read_link,
  read_directory,
  create,
  remove,
  space,
  set_attributes
};

/// Per cent, in the order of Kind.
inline constexpr std::array<std::uint64_t, 10> kPercentOfKind = {34, 22, 15, 13, 8, 3, 2, 1, 1, 1};

/// Of a number below 100.
constexpr Kind kind_of(std::uint64_t drawn) {
  std::size_t kind = 0;
  while (drawn >= kPercentOfKind[kind]) drawn -= kPercentOfKind[kind++];
  return static_cast<Kind>(kind);
}

}  // namespace headcrash::timed::laddis_load
