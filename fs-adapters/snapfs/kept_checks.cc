// Reuses the result of an earlier check if the sectors that the earlier check read are unchanged
// (kept_checks.h).
#include "fs-adapters/snapfs/kept_checks.h"

#include <algorithm>

#include "fs-adapters/substrate/tree/noted_store.h"

namespace headcrash::snapfs {
namespace {

constexpr std::size_t kKeptMax = 256;  // maximum number of results to keep

std::vector<std::uint64_t> digests_of_slots(const model::SectorDigests& digests) {
  std::vector<std::uint64_t> slots;
  for (const std::uint64_t at : kSlotAt) {
    const std::uint64_t end = (at + kSuperblockBytes) / kSectorBytes;
    for (std::uint64_t sector = at / kSectorBytes; sector < end; ++sector)
      slots.push_back(digests[sector]);
  }
  return slots;
}

}  // namespace

Result<CheckReport> KeptChecks::check(const model::SectorStore& store, std::size_t findings_max,
                                      const model::SectorDigests& digests) {
  if (digests.size() != store.sectors() || store.sectors() * kSectorBytes < kReservedBytes)
    return snapfs::check(store, findings_max);
  Slots slots = digests_of_slots(digests);
  const auto before = kept_.find(slots);
  if (before != kept_.end() && std::ranges::all_of(before->second.sectors, [&](const auto& sector) {
        return digests[sector.first] == sector.second;
      })) {
    ++known_;
    return before->second.report;
  }
  tree::NotedStore noted;
  noted.show(store);
  auto report = snapfs::check(noted, findings_max);
  if (!report || !report->nothing_found() || noted.failed()) return report;
  Kept kept{.report = *report};
  std::vector<bool> read(store.sectors());
  for (const auto& run : noted.runs())
    std::fill_n(read.begin() + static_cast<std::ptrdiff_t>(run.first), run.count, true);
  for (std::uint32_t sector = 0; sector < read.size(); ++sector)
    if (read[sector]) kept.sectors.emplace_back(sector, digests[sector]);
  if (kept_.size() >= kKeptMax) kept_.clear();
  kept_[std::move(slots)] = std::move(kept);
  return report;
}

}  // namespace headcrash::snapfs
