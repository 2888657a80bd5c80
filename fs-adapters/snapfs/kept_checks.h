#pragma once
// Checks of images that have nearly all sectors in common, such as the crash states of one run: an
// image in which every sector that a check has read is what it was then is as sound as it was then.
//
// Metadata is copied on write, so that all states with one superblock have the metadata of one
// generation; what is kept is kept by superblocks. Only checks that found nothing are.

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "fs-adapters/snapfs/check.h"

namespace headcrash::snapfs {

class KeptChecks {
 public:
  /// As snapfs::check(). `digests`: of each sector of the store; equal ones of one sector mean
  /// equal bytes, as long as this lives.
  Result<CheckReport> check(const model::SectorStore& store, std::size_t findings_max,
                            std::span<const std::uint64_t> digests);
  std::uint64_t known() const { return known_; }  ///< checks that read nothing

 private:
  struct Kept {
    std::vector<std::pair<std::uint32_t, std::uint64_t>>
        sectors;  ///< that it read, and their digests
    CheckReport report;
  };
  using Slots = std::vector<std::uint64_t>;  ///< digests of the sectors of both superblocks
  std::map<Slots, Kept> kept_;
  std::uint64_t known_ = 0;
};

}  // namespace headcrash::snapfs
