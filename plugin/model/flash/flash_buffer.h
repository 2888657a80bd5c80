#pragma once
// The write buffer of a flash device: physical sectors ("units") in the order in which they became
// dirty.

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugin/model/disk/write_cache.h"

namespace headcrash::model {

/// What one program operation writes, in the order of its units.
struct FlashProgram {
  std::vector<Extent> extents;
  std::uint32_t sectors = 0;
  std::uint64_t oldest = 0;  ///< lowest sequence of its units
  bool partial = false;      ///< some unit is not whole: the rest of it must be read first
};

class FlashBuffer {
 public:
  explicit FlashBuffer(std::uint32_t unit_sectors) : unit_sectors_(unit_sectors) {}

  /// Copies the bytes of `extent`; a newer version replaces what is dirty. Returns the sequence of
  /// the
  /// insertion: all of it has landed when oldest() is higher.
  std::uint64_t insert(const Extent& extent);
  void drop(std::uint64_t lba, std::uint64_t sectors);  ///< of what is dirty

  /// The oldest dirty units, together at most `sectors_max`, none that is being programmed already.
  /// They are under way until landed().
  FlashProgram take(std::uint32_t sectors_max);
  void landed(const FlashProgram& program);

  bool covers(std::uint64_t lba, std::uint64_t sectors) const;
  bool under_way(std::uint64_t lba, std::uint64_t sectors) const;  ///< any of it
  void overlay(std::uint64_t lba, std::span<std::byte> into) const;

  std::uint64_t last_sequence() const { return last_sequence_; }
  std::uint64_t oldest_dirty()
      const;  ///< lowest sequence, or the highest number if nothing is dirty
  std::uint64_t dirty_sectors() const { return dirty_sectors_; }
  std::uint64_t held_sectors() const { return dirty_sectors_ + under_way_sectors_; }
  /// All that is dirty, oldest first.
  std::vector<Extent> all_dirty() const;
  void clear();

 private:
  struct Unit {
    std::uint64_t sequence = 0;  ///< 0: nothing dirty
    std::vector<Extent> dirty;   ///< by LBA, never overlapping
    std::vector<Extent> going;
  };
  void cut_out(Unit& unit, std::uint64_t from, std::uint64_t to);
  void forget_if_empty(std::uint64_t index);

  std::uint32_t unit_sectors_;
  std::unordered_map<std::uint64_t, Unit> units_;
  std::map<std::uint64_t, std::uint64_t> order_;  ///< sequence -> unit
  std::uint64_t last_sequence_ = 0;
  std::uint64_t dirty_sectors_ = 0, under_way_sectors_ = 0;
};

}  // namespace headcrash::model
