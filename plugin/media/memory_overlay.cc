#include "plugin/media/memory_overlay.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plugin/base/zeroes.h"
#include "plugin/media/range.h"

namespace headcrash::media {

using model::kSectorBytes;

MemoryOverlay::MemoryOverlay(std::shared_ptr<const model::SectorStore> base)
    : base_(std::move(base)), groups_((base_->sectors() + kGroupSectors - 1) / kGroupSectors) {}

MemoryOverlay::Place MemoryOverlay::place_of(std::uint64_t lba) const {
  const auto& group = groups_[lba / kGroupSectors];
  return group ? (*group)[lba % kGroupSectors] : kInBase;
}

std::uint64_t MemoryOverlay::alike(std::uint64_t lba, std::uint64_t most) const {
  const Place first = place_of(lba);
  std::uint64_t count = 1;
  if (first < kFirstKept) {
    while (count < most && place_of(lba + count) == first) ++count;
    return count;
  }
  most = std::min<std::uint64_t>(most, kChunkSectors - (first - kFirstKept) % kChunkSectors);
  while (count < most && place_of(lba + count) == first + count) ++count;
  return count;
}

std::byte* MemoryOverlay::kept(Place place) const {
  const std::size_t number = place - kFirstKept;
  return chunks_[number / kChunkSectors].get() + number % kChunkSectors * kSectorBytes;
}

Result<void> MemoryOverlay::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(check_range("memory", sectors(), lba, into.size()));
  while (!into.empty()) {
    const std::uint64_t count = alike(lba, into.size() / kSectorBytes);
    const auto part = into.first(count * kSectorBytes);
    const Place place = place_of(lba);
    if (place == kInBase) {
      TRY(base_->read(lba, part));
    } else if (place == kZeroes) {
      std::ranges::fill(part, std::byte{0});
    } else {
      std::memcpy(part.data(), kept(place), part.size());
    }
    into = into.subspan(part.size());
    lba += count;
  }
  return {};
}

std::uint64_t MemoryOverlay::next_own(std::uint64_t lba) const {
  while (lba < sectors()) {
    if (!groups_[lba / kGroupSectors])
      lba = (lba / kGroupSectors + 1) * kGroupSectors;
    else if (place_of(lba) == kInBase)
      ++lba;
    else
      return lba;
  }
  return sectors();
}

void MemoryOverlay::put(std::uint64_t lba, std::span<const std::byte> sector) {
  auto& group = groups_[lba / kGroupSectors];
  if (!group) group = std::make_unique<Group>(Group{});
  Place& place = (*group)[lba % kGroupSectors];
  if (sector.empty()) {
    if (place >= kFirstKept) free_.push_back(place);
    place = kZeroes;
    return;
  }
  if (place < kFirstKept) {
    if (!free_.empty()) {
      place = free_.back();
      free_.pop_back();
    } else {
      place = next_++;
      if ((place - kFirstKept) % kChunkSectors == 0)
        chunks_.push_back(
            std::make_unique_for_overwrite<std::byte[]>(kChunkSectors * kSectorBytes));
    }
  }
  std::memcpy(kept(place), sector.data(), kSectorBytes);
}

Result<void> MemoryOverlay::write(std::uint64_t lba, std::span<const std::byte> data) {
  TRY(check_range("memory", sectors(), lba, data.size()));
  for (; !data.empty(); data = data.subspan(kSectorBytes), ++lba) {
    const auto sector = data.first(kSectorBytes);
    put(lba, base::all_zero(sector) ? std::span<const std::byte>() : sector);
  }
  return {};
}

Result<void> MemoryOverlay::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  TRY(check_range("memory", sectors(), lba, count * kSectorBytes));
  for (std::uint64_t i = 0; i < count; ++i) put(lba + i, {});
  return {};
}

}  // namespace headcrash::media
