// Bytes on the medium, and what a power cut leaves of the sector under the head.
//
// A physical sector is written from its first byte on. When the power goes in the middle, a prefix of random
// length is new and the rest is still old; real drives would often fail its checksum instead, which a file
// system notices, so the silent mix is the harder case for it. The length comes from the seed (splitmix64),
// equal seeds tear equally.
#include "plugin/model/platter.h"

#include <algorithm>

namespace headcrash::model {

Platter::Platter(SectorStore* store, Witness& witness, DeviceId device, std::uint64_t seed,
                 std::uint32_t physical_sectors)
    : store_(store),
      witness_(witness),
      device_(device),
      random_state_(seed ^ (std::uint64_t{device} << 48)),
      physical_sectors_(physical_sectors) {}

std::uint64_t Platter::random() {
  std::uint64_t z = random_state_ += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

void Platter::put(TimeNs at, const Extent& extent) {
  if (extent.sectors == 0) return;
  if (store_ != nullptr) {
    if (extent.zeroes) {
      failed_ |= !store_->write_zeroes(extent.lba, extent.sectors).has_value();
    } else if (!extent.bytes.empty()) {
      failed_ |= !store_->write(extent.lba, extent.bytes).has_value();
    }
  }
  sectors_written_ += extent.sectors;
  witness_.media_written(
      device_, at, {extent.source, extent.lba, extent.sectors, MediaWrite::Outcome::written, extent.bytes});
}

void Platter::write(TimeNs at, std::span<const Extent> extents) {
  for (const Extent& extent : extents) put(at, extent);
}

void Platter::write_cut_short(TimeNs at, std::span<const Extent> extents, std::uint64_t passed,
                              bool under_head) {
  if (extents.empty()) return;
  const std::uint64_t start = extents.front().lba;
  const std::uint64_t end = extents.back().end();
  const std::uint64_t head_at = start + passed;
  const std::uint64_t torn_begin = std::max(start, head_at - head_at % physical_sectors_);
  const bool begun = under_head || torn_begin < head_at;
  const std::uint64_t physical_end = torn_begin - torn_begin % physical_sectors_ + physical_sectors_;
  const std::uint64_t torn_end = begun ? std::min(end, physical_end) : torn_begin;
  const std::uint64_t torn_bytes = (torn_end - torn_begin) * kSectorBytes;
  const std::uint64_t new_bytes = torn_bytes > 0 ? random() % (torn_bytes + 1) : 0;

  for (const Extent& extent : extents) {
    if (extent.lba < torn_begin) put(at, extent.slice(extent.lba, std::min(extent.end(), torn_begin)));
    const std::uint64_t from = std::max(extent.lba, torn_begin);
    const std::uint64_t to = std::min(extent.end(), torn_end);
    if (from >= to) continue;
    const std::uint64_t before = (from - torn_begin) * kSectorBytes;
    tear(at, extent.slice(from, to), new_bytes > before ? new_bytes - before : 0);
  }
}

void Platter::tear(TimeNs at, const Extent& extent, std::uint64_t new_bytes) {
  torn_.clear();
  if (store_ != nullptr && (extent.zeroes || !extent.bytes.empty())) {
    torn_.resize(std::size_t{extent.sectors} * kSectorBytes);
    failed_ |= !store_->read(extent.lba, torn_).has_value();
    const auto fresh = std::span(torn_).first(std::min<std::size_t>(new_bytes, torn_.size()));
    if (extent.zeroes) {
      std::fill(fresh.begin(), fresh.end(), std::byte{0});
    } else {
      std::copy_n(extent.bytes.begin(), fresh.size(), fresh.begin());
    }
    failed_ |= !store_->write(extent.lba, torn_).has_value();
  }
  sectors_written_ += extent.sectors;
  witness_.media_written(device_, at,
                         {extent.source, extent.lba, extent.sectors, MediaWrite::Outcome::torn, torn_});
}

void Platter::read(std::uint64_t lba, std::span<std::byte> into) {
  if (store_ == nullptr || into.empty()) return;
  failed_ |= !store_->read(lba, into).has_value();
}

}  // namespace headcrash::model
