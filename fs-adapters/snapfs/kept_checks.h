#pragma once
// Checks images that share nearly all sectors, such as the crash states of one run. The result of
// an earlier check is still valid if all sectors that it depends on are unchanged.
//
// Because metadata is copied on write, all states with the same superblock have the same
// generation's metadata. Results are therefore indexed by the superblocks. Only results without
// findings are kept.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fs-adapters/snapfs/check.h"
#include "plugin/model/core/sector_digests.h"

namespace headcrash::snapfs {

class KeptChecks {
 public:
  /// Like snapfs::check(). `digests` has one digest for each sector of the store. Sectors with
  /// equal digests must have equal bytes, even if the digests were passed in different calls.
  Result<CheckReport> check(const model::SectorStore& store, std::size_t findings_max,
                            const model::SectorDigests& digests);
  std::uint64_t known() const { return known_; }  ///< number of checks whose result was reused

 private:
  struct Kept {
    /// The sectors that the check has read, with their digests.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> sectors;
    CheckReport report;
  };
  using Slots = std::vector<std::uint64_t>;  ///< digests of the sectors in both superblock slots
  std::map<Slots, Kept> kept_;
  std::uint64_t known_ = 0;
};

}  // namespace headcrash::snapfs
