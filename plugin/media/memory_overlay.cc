// Which pages are whose (memory_overlay.h).
#include "plugin/media/memory_overlay.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plugin/media/range.h"

namespace headcrash::media {
namespace {

constexpr std::uint64_t kPageSectors = 8;

}  // namespace

Result<std::unique_ptr<MemoryOverlay>> MemoryOverlay::create(std::shared_ptr<const model::SectorStore> base) {
  auto own = MemoryStore::create(base->sectors());
  if (!own) return pass_on(own);
  return std::unique_ptr<MemoryOverlay>(new MemoryOverlay(std::move(base), *std::move(own)));
}

MemoryOverlay::MemoryOverlay(std::shared_ptr<const model::SectorStore> base, std::unique_ptr<MemoryStore> own)
    : base_(std::move(base)),
      own_(std::move(own)),
      mine_((own_->sectors() + kPageSectors - 1) / kPageSectors, false) {}

Result<void> MemoryOverlay::read(std::uint64_t lba, std::span<std::byte> into) const {
  if (auto inside = check_range("memory", sectors(), lba, into.size()); !inside) return inside;
  const std::uint64_t end = lba + into.size() / model::kSectorBytes;
  while (lba < end) {
    const bool mine = mine_[lba / kPageSectors];
    std::uint64_t until = lba / kPageSectors * kPageSectors;
    while (until < end && mine_[until / kPageSectors] == mine) until += kPageSectors;
    const std::uint64_t count = std::min(until, end) - lba;
    const model::SectorStore& from = mine ? static_cast<const model::SectorStore&>(*own_) : *base_;
    if (auto done = from.read(lba, into.first(count * model::kSectorBytes)); !done) return done;
    into = into.subspan(count * model::kSectorBytes);
    lba += count;
  }
  return {};
}

std::uint64_t MemoryOverlay::next_own(std::uint64_t lba) const {
  const auto from = std::min(lba / kPageSectors, std::uint64_t{mine_.size()});
  const auto page = std::find(mine_.begin() + static_cast<std::ptrdiff_t>(from), mine_.end(), true);
  return std::clamp(static_cast<std::uint64_t>(page - mine_.begin()) * kPageSectors, lba, sectors());
}

Result<void> MemoryOverlay::copy_page(std::uint64_t page) {
  std::array<std::byte, kPageSectors * model::kSectorBytes> bytes{};
  const std::uint64_t first = page * kPageSectors, count = std::min(kPageSectors, sectors() - first);
  const auto part = std::span(bytes).first(count * model::kSectorBytes);
  if (auto done = base_->read(first, part); !done) return done;
  return own_->write(first, part);
}

Result<void> MemoryOverlay::take(std::uint64_t lba, std::uint64_t count) {
  if (count == 0) return {};
  const std::uint64_t first = lba / kPageSectors, last = (lba + count - 1) / kPageSectors;
  if (lba % kPageSectors != 0 && !mine_[first])
    if (auto done = copy_page(first); !done) return done;
  if ((lba + count) % kPageSectors != 0 && !mine_[last])
    if (auto done = copy_page(last); !done) return done;
  for (std::uint64_t page = first; page <= last; ++page) mine_[page] = true;
  return {};
}

Result<void> MemoryOverlay::write(std::uint64_t lba, std::span<const std::byte> data) {
  if (auto inside = check_range("memory", sectors(), lba, data.size()); !inside) return inside;
  if (auto taken = take(lba, data.size() / model::kSectorBytes); !taken) return taken;
  return own_->write(lba, data);
}

Result<void> MemoryOverlay::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  if (auto inside = check_range("memory", sectors(), lba, count * model::kSectorBytes); !inside)
    return inside;
  if (auto taken = take(lba, count); !taken) return taken;
  return own_->write_zeroes(lba, count);
}

}  // namespace headcrash::media
