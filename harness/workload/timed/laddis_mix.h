#pragma once
// The load of SPEC SFS 1.1 (SPECnfs_A93, LADDIS) in numbers. The timed workload (laddis.cc) assigns
// requests to its threads in advance. The server that Peacock, Kamaraju and Agrawal measured in
// 1998 (harness/papers/peacock98) takes requests from a single queue.
//
// Source: LADDIS adopted the mix of nhfsstone. The size of the files is 5 MB times the rate in
// requests per second, which agrees with the 3 GB at 600 requests per second in section 6.4 of the
// paper. The shares and sizes of SFS 1.1 are from memory and have not been verified. The benchmark
// itself is licensed and not included.

#include <array>
#include <cstdint>

namespace headcrash::timed::laddis_load {

inline constexpr std::uint64_t kTransferBytes = 8 << 10;  ///< the maximum in NFS version 2
inline constexpr std::uint64_t kFilesPerFolder = 30;
inline constexpr std::uint64_t kFilesPerLink = 10;
/// The load uses one file in kUsedShare.
inline constexpr std::uint64_t kUsedShare = 5;
inline constexpr std::uint64_t kAppendPercent = 70;  ///< percentage of the writes that append
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

/// Percentages of the requests, one for each kind, in the order of Kind.
inline constexpr std::array<std::uint64_t, 10> kPercentOfKind = {34, 22, 15, 13, 8, 3, 2, 1, 1, 1};

/// Converts a random number below 100 to a kind of request.
constexpr Kind kind_of(std::uint64_t drawn) {
  std::size_t kind = 0;
  while (drawn >= kPercentOfKind[kind]) drawn -= kPercentOfKind[kind++];
  return static_cast<Kind>(kind);
}

}  // namespace headcrash::timed::laddis_load
