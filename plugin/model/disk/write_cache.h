#pragma once
// A volatile write cache: acknowledged extents that are not yet on the medium.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "plugin/model/core/device.h"

namespace headcrash::model {

/// Consecutive sectors that come from one write.
struct Extent {
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  RequestId source = 0;
  bool zeroes = false;
  TimeNs since = 0;                  ///< time at which the write was acknowledged
  std::span<const std::byte> bytes;  ///< empty for zeroes, or if only timing matters
  /// Owner of the memory of `bytes`; null if the cache does not own this memory.
  std::shared_ptr<const std::vector<std::byte>> keeps;

  std::uint64_t end() const { return lba + sectors; }
  Extent slice(std::uint64_t from, std::uint64_t to) const;
};

/// Dirty extents, and extents in flight to the medium. A newer write replaces dirty extents but
/// does not change extents in flight.
class WriteCache {
 public:
  /// Inserts a copy of `extent`. Drops the parts of older dirty data that the extent covers.
  void insert(const Extent& extent);
  void drop(std::uint64_t lba, std::uint32_t sectors);

  bool covers(std::uint64_t lba, std::uint32_t sectors) const;
  /// Overlays cached data on bytes that were read from the medium: first the extents in flight,
  /// then the dirty extents.
  void overlay(std::uint64_t lba, std::span<std::byte> into) const;

  /// Returns up to `count` dirty extents in ascending order, starting at `lba` and wrapping around.
  /// Valid until the next change.
  std::vector<const Extent*> upwards(std::uint64_t lba, std::size_t count) const;

  /// Takes the first extent at or above `lba` or, if all are below, the lowest extent (as in
  /// C-LOOK). Also takes adjoining extents, as long as the total does not exceed `sectors_max`; the
  /// first extent alone may exceed it. The extents are in flight until write_completed() is called.
  std::span<const Extent> take(std::uint64_t lba, std::uint32_t sectors_max);
  void write_completed();

  std::span<const Extent> in_flight() const { return in_flight_; }
  std::uint64_t dirty_sectors() const { return dirty_sectors_; }
  std::uint64_t held_sectors() const { return dirty_sectors_ + in_flight_sectors_; }
  void clear();

 private:
  std::map<std::uint64_t, Extent> dirty_;  ///< the key is the first LBA; the extents are disjoint
  std::vector<Extent> in_flight_;
  std::uint64_t dirty_sectors_ = 0;
  std::uint64_t in_flight_sectors_ = 0;
};

}  // namespace headcrash::model
