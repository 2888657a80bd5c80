// The addresses in a bmap cache, and their encoding (bmap_cache.h).

#include "fs-adapters/ufs/core/bmap_cache.h"

#include <algorithm>

#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr std::size_t kFirst = 0, kCount = 4, kFlags = 5, kAddresses = 8;
constexpr std::uint8_t kAlone = 1;
static_assert(kAddresses + BmapCache::kAddressesMax * 4 == BmapCache::kBytes);

}  // namespace

void BmapCache::set(std::uint64_t block, FragmentAddress at) {
  addresses_.at(block - first_) = at;
  count_ = std::max(count_, static_cast<std::uint8_t>(block - first_ + 1));
}

bool BmapCache::has_room_for(const Geometry& geometry, std::uint64_t block) const {
  return !empty() && block >= first_ && block - first_ < kAddressesMax &&
         geometry.first_of_indirect(block) == geometry.first_of_indirect(first_);
}

bool BmapCache::is_of(const Geometry& geometry, std::uint64_t block) const {
  return !empty() && geometry.first_of_indirect(first_) == block;
}

void BmapCache::lay_over(const Geometry& geometry, std::span<std::byte> indirect) const {
  if (alone_) std::ranges::fill(indirect, std::byte{0});
  const std::uint64_t start = first_ - geometry.first_of_indirect(first_);
  for (std::uint32_t i = 0; i < count_; ++i) store32(indirect, (start + i) * 4, addresses_.at(i));
}

bool BmapCache::is_sound(const Geometry& geometry) const {
  if (empty()) return !alone_;
  if (count_ > kAddressesMax || first_ < kDirectPointers || end() > geometry.file_blocks_max())
    return false;
  const std::uint64_t start = geometry.first_of_indirect(first_);
  return geometry.first_of_indirect(end() - 1) == start && (!alone_ || start == kDirectPointers);
}

BmapCache BmapCache::decode(std::span<const std::byte> bytes) {
  BmapCache cache;
  cache.first_ = load32(bytes, kFirst);
  cache.count_ = load8(bytes, kCount);
  cache.alone_ = (load8(bytes, kFlags) & kAlone) != 0;
  for (std::uint32_t i = 0; i < kAddressesMax; ++i)
    cache.addresses_.at(i) = load32(bytes, kAddresses + std::size_t{i} * 4);
  return cache;
}

void BmapCache::encode(std::span<std::byte> bytes) const {
  std::fill_n(bytes.begin(), kBytes, std::byte{0});
  store32(bytes, kFirst, first_);
  store8(bytes, kCount, count_);
  store8(bytes, kFlags, alone_ ? kAlone : std::uint8_t{0});
  for (std::uint32_t i = 0; i < kAddressesMax; ++i)
    store32(bytes, kAddresses + std::size_t{i} * 4, addresses_.at(i));
}

}  // namespace headcrash::ufs
