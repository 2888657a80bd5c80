#include "fs-adapters/lfs/region.h"

#include "plugin/base/crc32c.h"
#include "plugin/base/invariant.h"

namespace headcrash::lfs {

bool Region::has_room(std::uint32_t entries, std::uint32_t sectors) const {
  const std::uint32_t trailer = superblock_->checksums ? 0 : 1;
  return Summary::sectors_for(entries_.size() + entries) + content_sectors_ + sectors + trailer <=
         room_sectors_;
}

std::optional<std::size_t> Region::add(const SummaryEntry& entry) {
  invariant(start_ == 0 && entry.sectors != 0,
            "lfs: items must be added to a region before it is placed");
  if (!has_room(1, entry.sectors)) return std::nullopt;
  content_sectors_ += entry.sectors;
  entries_.push_back(entry);
  return entries_.size() - 1;
}

std::uint32_t Region::sectors() const {
  return Summary::sectors_for(entries_.size()) + content_sectors_ +
         (superblock_->checksums ? 0U : 1U);
}

void Region::place(SectorAddress start) {
  start_ = start;
  bytes_.assign(std::size_t{sectors()} * kSectorBytes, std::byte{0});
  SectorAddress at = start + Summary::sectors_for(entries_.size());
  for (const SummaryEntry& entry : entries_) {
    addresses_.push_back(at);
    at += entry.sectors;
  }
}

std::span<std::byte> Region::bytes(std::size_t index) {
  return std::span(bytes_).subspan(std::size_t{addresses_[index] - start_} * kSectorBytes,
                                   std::size_t{entries_[index].sectors} * kSectorBytes);
}

std::span<const std::byte> Region::finish(Summary summary) {
  summary.sectors = sectors();
  summary.entries = entries_;
  const std::span<std::byte> all(bytes_);
  const std::size_t own = std::size_t{summary.summary_sectors()} * kSectorBytes;
  if (superblock_->checksums)
    summary.data_checksum = crc32c(all.subspan(own));
  else
    encode_trailer(summary, *superblock_, all.last(kSectorBytes));
  encode(summary, *superblock_, all.first(own));
  return all;
}

}  // namespace headcrash::lfs
