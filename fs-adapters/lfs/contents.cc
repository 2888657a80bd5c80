// Implements overlays, and combined digests of several sectors (contents.h).
#include "fs-adapters/lfs/contents.h"

#include <algorithm>
#include <cstring>

namespace headcrash::lfs {

void Overlay::show(const model::SectorStore& below, const WrittenSectors& above) {
  below_ = &below;
  above_ = &above;
  for (const std::uint32_t sector : shown_) places_[sector] = 0;
  places_.resize(below.sectors());
  shown_ = above.sectors;
  for (std::uint32_t i = 0; i < shown_.size(); ++i) places_[shown_[i]] = i + 1;
}

Result<void> Overlay::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(below_->read(lba, into));
  for (std::size_t at = 0; at < into.size(); at += model::kSectorBytes, ++lba)
    if (const std::uint32_t place = places_[lba]; place != 0)
      std::memcpy(into.data() + at,
                  above_->bytes.data() + std::size_t{place - 1} * model::kSectorBytes,
                  model::kSectorBytes);
  return {};
}

Sources::Sources(std::vector<Run> runs, bool whole, const Contents& contents)
    : runs_(std::move(runs)), whole_(whole) {
  if (whole_ && contents.known()) digest_ = digest_of(contents);
  whole_ = whole_ && contents.known();
}

std::uint64_t Sources::digest_of(const Contents& contents) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  std::uint64_t digest = 1;
  for (const Run& run : runs_) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      digest = (digest ^ contents.of(run.first + i)) * kOdd;
      digest ^= digest >> 29U;
    }
  }
  return digest;
}

}  // namespace headcrash::lfs
