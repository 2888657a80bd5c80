#include "plugin/model/array/superblock.h"

#include <algorithm>

#include "plugin/base/crc32c.h"
#include "plugin/model/core/store.h"

namespace headcrash::model {
namespace {

constexpr std::uint64_t kSuperblockMagic = 0x3159415252414348;  // "HCARRAY1"
constexpr std::uint32_t kSuperblockVersion = 1;
constexpr std::size_t kSuperblockCrcAt = kSectorBytes - 4;

}  // namespace

void store_number(std::span<std::byte> sector, std::size_t offset, std::uint64_t value,
                  std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) sector[offset + i] = std::byte(value >> (8 * i) & 0xff);
}

std::uint64_t load_number(std::span<const std::byte> sector, std::size_t offset,
                          std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value |= static_cast<std::uint64_t>(sector[offset + i]) << (8 * i);
  return value;
}

void Superblock::encode(std::span<std::byte> sector) const {
  std::fill(sector.begin(), sector.end(), std::byte{0});
  store_number(sector, 0, kSuperblockMagic, 8);
  store_number(sector, 8, array_id, 8);
  store_number(sector, 16, kSuperblockVersion, 4);
  store_number(sector, 24, static_cast<std::uint64_t>(level), 2);
  store_number(sector, 26, members, 2);
  store_number(sector, 28, member, 4);
  store_number(sector, 32, stripe_unit_sectors, 4);
  store_number(sector, 40, events, 8);
  store_number(sector, 48, failed, 8);
  store_number(sector, 56, rebuilding, 8);
  store_number(sector, 64, dirty ? 1 : 0, 8);
  store_number(sector, 72, prewrite_tail, 8);
  store_number(sector, 80, prewrite_sectors, 4);
  store_number(sector, 84, region_sectors, 4);
  store_number(sector, 88, stripes, 8);
  store_number(sector, 96, settled, 8);
  store_number(sector, 104, rebuilt, 8);
  store_number(sector, kSuperblockCrcAt, crc32c(sector.first(kSuperblockCrcAt)), 4);
}

std::optional<Superblock> Superblock::decode(std::span<const std::byte> sector) {
  if (load_number(sector, 0, 8) != kSuperblockMagic ||
      load_number(sector, 16, 4) != kSuperblockVersion ||
      load_number(sector, kSuperblockCrcAt, 4) != crc32c(sector.first(kSuperblockCrcAt)))
    return std::nullopt;
  Superblock s;
  s.array_id = load_number(sector, 8, 8);
  s.level = static_cast<RaidLevel>(load_number(sector, 24, 2));
  s.members = static_cast<std::uint32_t>(load_number(sector, 26, 2));
  s.member = static_cast<std::uint32_t>(load_number(sector, 28, 4));
  s.stripe_unit_sectors = static_cast<std::uint32_t>(load_number(sector, 32, 4));
  s.events = load_number(sector, 40, 8);
  s.failed = load_number(sector, 48, 8);
  s.rebuilding = load_number(sector, 56, 8);
  s.dirty = (load_number(sector, 64, 8) & 1) != 0;
  s.prewrite_tail = load_number(sector, 72, 8);
  s.prewrite_sectors = static_cast<std::uint32_t>(load_number(sector, 80, 4));
  s.region_sectors = static_cast<std::uint32_t>(load_number(sector, 84, 4));
  s.stripes = load_number(sector, 88, 8);
  s.settled = load_number(sector, 96, 8);
  s.rebuilt = load_number(sector, 104, 8);
  return s;
}

bool Superblock::same_shape(const Superblock& other) const {
  return level == other.level && members == other.members &&
         stripe_unit_sectors == other.stripe_unit_sectors &&
         prewrite_sectors == other.prewrite_sectors && region_sectors == other.region_sectors &&
         stripes == other.stripes;
}

}  // namespace headcrash::model
