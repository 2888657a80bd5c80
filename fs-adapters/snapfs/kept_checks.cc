// Notes what a check reads (kept_checks.h).
#include "fs-adapters/snapfs/kept_checks.h"

#include <algorithm>

namespace headcrash::snapfs {
namespace {

constexpr std::size_t kKeptMax = 256;  // generations

class NotedStore final : public model::SectorStore {
 public:
  explicit NotedStore(const model::SectorStore& store) : store_(store), read_(store.sectors()) {}
  std::uint64_t sectors() const override { return store_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    if (auto done = store_.read(lba, into); !done) return done;
    std::fill_n(read_.begin() + static_cast<std::ptrdiff_t>(lba), into.size() / kSectorBytes, true);
    return {};
  }
  Result<void> write(std::uint64_t, std::span<const std::byte>) override { return refuse(); }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override { return refuse(); }
  const std::vector<bool>& what_was_read() const { return read_; }

 private:
  static Result<void> refuse() { return fail("snapfs", "a check writes nothing"); }
  const model::SectorStore& store_;
  mutable std::vector<bool> read_;
};

std::vector<std::uint64_t> digests_of_slots(std::span<const std::uint64_t> digests) {
  std::vector<std::uint64_t> slots;
  for (const std::uint64_t at : kSlotAt) {
    const auto sectors = digests.subspan(at / kSectorBytes, kSuperblockBytes / kSectorBytes);
    slots.insert(slots.end(), sectors.begin(), sectors.end());
  }
  return slots;
}

}  // namespace

Result<CheckReport> KeptChecks::check(const model::SectorStore& store, std::size_t findings_max,
                                      std::span<const std::uint64_t> digests) {
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
  const NotedStore noted(store);
  auto report = snapfs::check(noted, findings_max);
  if (!report || !report->nothing_found()) return report;
  Kept kept{.report = *report};
  const std::vector<bool>& read = noted.what_was_read();
  for (std::uint32_t sector = 0; sector < read.size(); ++sector)
    if (read[sector]) kept.sectors.emplace_back(sector, digests[sector]);
  if (kept_.size() >= kKeptMax) kept_.clear();
  kept_[std::move(slots)] = std::move(kept);
  return report;
}

}  // namespace headcrash::snapfs
