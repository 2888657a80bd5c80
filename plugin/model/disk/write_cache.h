#pragma once
// What a volatile write cache holds: extents that have been acknowledged and are not yet on the
// medium.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "plugin/model/core/device.h"

namespace headcrash::model {

/// Consecutive sectors from one write.
struct Extent {
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  RequestId source = 0;
  bool zeroes = false;
  TimeNs since = 0;                  ///< when it was acknowledged
  std::span<const std::byte> bytes;  ///< empty: zeroes, or only times matter
  std::shared_ptr<const std::vector<std::byte>>
      keeps;  ///< what `bytes` points into, when it is the cache's own

  std::uint64_t end() const { return lba + sectors; }
  Extent slice(std::uint64_t from, std::uint64_t to) const;
};

/// Dirty extents, which a newer write replaces, and those under way to the medium, which it does
/// not touch.
class WriteCache {
 public:
  /// Copies the bytes of `extent`. What is dirty below it is forgotten.
  void insert(const Extent& extent);
  void drop(std::uint64_t lba, std::uint32_t sectors);

  bool covers(std::uint64_t lba, std::uint32_t sectors) const;
  /// Lays what is cached over bytes that came from the medium: first what is under way, then what
  /// is newer.
  void overlay(std::uint64_t lba, std::span<std::byte> into) const;

  /// The next dirty extents upwards from `lba` and round again, at most `count`. Valid until the
  /// next change.
  std::vector<const Extent*> upwards(std::uint64_t lba, std::size_t count) const;

  /// Takes the next extents upwards from `lba`, or from the lowest when there are none above
  /// (C-LOOK), with those that adjoin without a gap, at most `sectors_max` unless the first alone
  /// is longer. They are under way until landed().
  std::span<const Extent> take(std::uint64_t lba, std::uint32_t sectors_max);
  void landed();

  std::span<const Extent> under_way() const { return under_way_; }
  std::uint64_t dirty_sectors() const { return dirty_sectors_; }
  std::uint64_t held_sectors() const { return dirty_sectors_ + under_way_sectors_; }
  void clear();

 private:
  std::map<std::uint64_t, Extent> dirty_;  ///< by first LBA, never overlapping
  std::vector<Extent> under_way_;
  std::uint64_t dirty_sectors_ = 0;
  std::uint64_t under_way_sectors_ = 0;
};

}  // namespace headcrash::model
