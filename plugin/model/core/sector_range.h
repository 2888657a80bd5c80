#pragma once
// A range of consecutive sectors.

#include <cstdint>

namespace headcrash::model {

struct SectorRange {
  std::uint64_t lba = 0;
  std::uint64_t sectors = 0;
  std::uint64_t end() const { return lba + sectors; }
  bool overlaps(const SectorRange& other) const { return lba < other.end() && other.lba < end(); }
  bool contains(const SectorRange& other) const { return lba <= other.lba && other.end() <= end(); }
};

}  // namespace headcrash::model
