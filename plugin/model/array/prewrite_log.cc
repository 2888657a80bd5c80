#include "plugin/model/array/prewrite_log.h"

#include <algorithm>

#include "plugin/base/crc32c.h"
#include "plugin/base/invariant.h"
#include "plugin/model/array/superblock.h"

namespace headcrash::model {
namespace {

constexpr std::uint64_t kPrewriteMagic = 0x3145524552504348;  // "HCPRERE1"
constexpr std::size_t kPrewriteCrcAt = kSectorBytes - 4;

std::uint64_t ring_length(std::uint64_t sectors, std::uint32_t align) {
  return (sectors + align - 1) / align * align + align;
}

}  // namespace

void PrewriteHeader::encode(std::span<std::byte> sector) const {
  std::fill(sector.begin(), sector.end(), std::byte{0});
  store_number(sector, 0, kPrewriteMagic, 8);
  store_number(sector, 8, array_id, 8);
  store_number(sector, 16, sequence, 8);
  store_number(sector, 24, tail, 8);
  store_number(sector, 32, parts, 8);
  store_number(sector, 40, home, 8);
  store_number(sector, 48, sectors, 4);
  store_number(sector, 52, member, 4);
  store_number(sector, 56, at, 8);
  store_number(sector, 64, payload_crc, 4);
  store_number(sector, kPrewriteCrcAt, crc32c(sector.first(kPrewriteCrcAt)), 4);
}

std::optional<PrewriteHeader> PrewriteHeader::decode(std::span<const std::byte> sector) {
  if (load_number(sector, 0, 8) != kPrewriteMagic ||
      load_number(sector, kPrewriteCrcAt, 4) != crc32c(sector.first(kPrewriteCrcAt)))
    return std::nullopt;
  PrewriteHeader h;
  h.array_id = load_number(sector, 8, 8);
  h.sequence = load_number(sector, 16, 8);
  h.tail = load_number(sector, 24, 8);
  h.parts = load_number(sector, 32, 8);
  h.home = load_number(sector, 40, 8);
  h.sectors = static_cast<std::uint32_t>(load_number(sector, 48, 4));
  h.member = static_cast<std::uint32_t>(load_number(sector, 52, 4));
  h.at = load_number(sector, 56, 8);
  h.payload_crc = static_cast<std::uint32_t>(load_number(sector, 64, 4));
  return h;
}

void PrewriteLog::open(std::uint32_t members, std::uint64_t first, std::uint64_t sectors,
                       std::uint32_t align, std::uint64_t next_sequence) {
  for (std::uint32_t m = 0; m < members; ++m) rings_[m] = {};
  live_.clear();
  first_ = first;
  sectors_ = sectors / align * align;
  align_ = align;
  next_sequence_ = next_sequence;
  durable_tail_ = next_sequence;
}

std::uint64_t PrewriteLog::payload_max(std::uint64_t area_sectors, std::uint32_t align) {
  // A record may take at most a quarter of the area, because there must be space for four pieces of
  // this size. The first is a record that is being logged. The second is a record whose update is
  // not yet written in place. The third is a gap at the end of the ring, which is at most as long
  // as a record. The fourth is a record that is in place but not yet covered by a stored tail.
  const std::uint64_t quarter = area_sectors / 4 / align * align;
  return quarter > align ? quarter - align : 0;
}

std::optional<PrewriteLog::Place> PrewriteLog::reserve(
    std::uint64_t parts, std::span<const std::uint32_t> payload_sectors) {
  const auto skipped = [this](const Ring& ring, std::uint64_t length) {
    return ring.head + length > sectors_ ? sectors_ - ring.head : 0;
  };
  for (std::uint32_t m = 0; m < payload_sectors.size(); ++m) {
    if ((parts >> m & 1) == 0) continue;
    const std::uint64_t length = ring_length(payload_sectors[m], align_);
    if (rings_[m].used + skipped(rings_[m], length) + length > sectors_) return std::nullopt;
  }
  Place place;
  place.sequence = next_sequence_++;
  live_.insert(place.sequence);
  for (std::uint32_t m = 0; m < payload_sectors.size(); ++m) {
    if ((parts >> m & 1) == 0) continue;
    Ring& ring = rings_[m];
    const std::uint64_t length = ring_length(payload_sectors[m], align_);
    const std::uint64_t skip = skipped(ring, length);
    if (ring.head + length > sectors_) ring.head = 0;
    place.at[m] = first_ + ring.head;
    ring.head += length;
    ring.used += skip + length;
    ring.records.push_back({place.sequence, skip + length});
  }
  return place;
}

void PrewriteLog::home(std::uint64_t sequence) {
  const std::size_t logged = live_.erase(sequence);
  invariant(logged == 1, "prewrite log: every completed update must have been logged");
}

void PrewriteLog::tail_durable(std::uint64_t tail) {
  invariant(tail <= this->tail(), "prewrite log: all updates before the tail must be complete");
  if (tail <= durable_tail_) return;
  durable_tail_ = tail;
  for (Ring& ring : rings_) {
    while (!ring.records.empty() && ring.records.front().sequence < durable_tail_) {
      invariant(ring.records.front().used <= ring.used,
                "prewrite log: the space of a record must be released only once");
      ring.used -= ring.records.front().used;
      ring.records.pop_front();
    }
  }
}

}  // namespace headcrash::model
