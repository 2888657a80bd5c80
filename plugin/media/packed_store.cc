// Finds stored sectors (packed_store.h). The index of a sector is the number of sectors stored for
// all preceding groups, plus the number of mask bits that are set before the sector in its own
// group.
#include "plugin/media/packed_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "plugin/base/invariant.h"
#include "plugin/base/zeroes.h"
#include "plugin/media/range.h"

namespace headcrash::media {

using model::kSectorBytes;

namespace {

Result<void> refuse() {
  return fail("a packed medium", "is read-only", "use a MemoryOverlay above it for writing");
}

}  // namespace

PackedStore::PackedStore(std::uint64_t sectors)
    : sectors_(sectors),
      masks_((sectors + kPageSectors - 1) / kPageSectors, 0),
      kept_of_groups_(masks_.size() / kGroupPages + 1, 0) {}

template <typename Next>
void PackedStore::pack(const model::SectorStore& medium, const Next& next) {
  const auto sectors_that_are_there = [&](const auto& body) {
    std::array<std::byte, kPageSectors * kSectorBytes> bytes{};
    for (std::uint64_t lba = next(0); lba < sectors_;) {
      const std::uint64_t page = lba / kPageSectors, first = page * kPageSectors;
      const std::uint64_t count = std::min(kPageSectors, sectors_ - first);
      const auto read = medium.read(first, std::span(bytes).first(count * kSectorBytes));
      invariant(read.has_value(), "reading from memory must succeed");
      if (base_) changed_[page] = true;
      for (std::uint64_t i = 0; i < count; ++i)
        if (const auto sector =
                std::span<const std::byte>(bytes).subspan(i * kSectorBytes, kSectorBytes);
            !base::all_zero(sector))
          body(page, i, sector);
      lba = first + count == sectors_ ? first + count : next(first + count);
    }
  };
  std::uint64_t kept = 0;
  sectors_that_are_there([&](std::uint64_t page, std::uint64_t sector, std::span<const std::byte>) {
    masks_[page] = static_cast<std::uint8_t>(masks_[page] | 1U << sector);
    ++kept;
  });
  kept_.reserve(kept * kSectorBytes);
  sectors_that_are_there([&](std::uint64_t, std::uint64_t, std::span<const std::byte> sector) {
    kept_.insert(kept_.end(), sector.begin(), sector.end());
  });
  std::uint32_t before = 0;
  for (std::uint64_t page = 0; page < masks_.size(); ++page) {
    if (page % kGroupPages == 0) kept_of_groups_[page / kGroupPages] = before;
    if (masks_[page] != 0) before += static_cast<std::uint32_t>(std::popcount(masks_[page]));
  }
}

std::unique_ptr<PackedStore> PackedStore::of(const MemoryStore& medium) {
  std::unique_ptr<PackedStore> packed(new PackedStore(medium.sectors()));
  packed->pack(medium, [&](std::uint64_t lba) { return medium.next_written(lba); });
  return packed;
}

std::unique_ptr<PackedStore> PackedStore::of(const MemoryOverlay& medium) {
  std::unique_ptr<PackedStore> packed(new PackedStore(medium.sectors()));
  packed->base_ = medium.base();
  packed->changed_.assign(packed->masks_.size(), false);
  packed->pack(medium, [&](std::uint64_t lba) { return medium.next_own(lba); });
  return packed;
}

std::uint64_t PackedStore::next_packed(std::uint64_t lba) const {
  for (std::uint64_t page = lba / kPageSectors; page < masks_.size(); ++page)
    if (base_ ? changed_[page] : masks_[page] != 0) return std::max(lba, page * kPageSectors);
  return sectors_;
}

std::uint64_t PackedStore::kept_before(std::uint64_t page) const {
  std::uint64_t kept = kept_of_groups_[page / kGroupPages];
  for (std::uint64_t each = page / kGroupPages * kGroupPages; each < page; ++each)
    if (masks_[each] != 0) kept += static_cast<std::uint64_t>(std::popcount(masks_[each]));
  return kept;
}

Result<void> PackedStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(check_range("memory", sectors_, lba, into.size()));
  while (!into.empty()) {
    const std::uint64_t page = lba / kPageSectors, bit = lba % kPageSectors;
    std::uint64_t count = std::min(kPageSectors - bit, into.size() / kSectorBytes);
    if (in_base(page)) {
      const std::uint64_t all = into.size() / kSectorBytes;
      while (count < all && in_base((lba + count) / kPageSectors))
        count = std::min(count + kPageSectors, all);
      TRY(base_->read(lba, into.first(count * kSectorBytes)));
      into = into.subspan(count * kSectorBytes);
      lba += count;
      continue;
    }
    const unsigned mask = masks_[page];
    std::memset(into.data(), 0, count * kSectorBytes);
    if (mask != 0) {
      const std::byte* kept = kept_.data() + kept_before(page) * kSectorBytes;
      kept += static_cast<std::size_t>(std::popcount(mask & ((1U << bit) - 1))) * kSectorBytes;
      for (std::uint64_t i = 0; i < count; ++i) {
        if ((mask >> (bit + i) & 1U) == 0) continue;
        std::memcpy(into.data() + i * kSectorBytes, kept, kSectorBytes);
        kept += kSectorBytes;
      }
    }
    into = into.subspan(count * kSectorBytes);
    lba += count;
  }
  return {};
}

Result<void> PackedStore::write(std::uint64_t, std::span<const std::byte>) {
  return refuse();
}

Result<void> PackedStore::write_zeroes(std::uint64_t, std::uint64_t) {
  return refuse();
}

std::uint64_t PackedStore::bytes() const {
  return masks_.size() + kept_of_groups_.size() * sizeof(std::uint32_t) + kept_.size() +
         changed_.size() / 8;
}

}  // namespace headcrash::media
