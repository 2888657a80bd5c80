#pragma once
// The write buffer of a flash device. It consists of physical sectors ("units") in the order in
// which they became dirty.

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugin/model/disk/write_cache.h"

namespace headcrash::model {

/// The contents of one program operation, in unit order.
struct FlashProgram {
  std::vector<Extent> extents;
  std::uint32_t sectors = 0;
  std::uint64_t oldest = 0;  ///< the lowest sequence number of the units
  bool partial = false;      ///< some unit lacks sectors; these must be read first
};

class FlashBuffer {
 public:
  explicit FlashBuffer(std::uint32_t unit_sectors) : unit_sectors_(unit_sectors) {}

  /// Copies the bytes of `extent` into the buffer, where they replace older dirty data. Returns the
  /// sequence number of the insertion. Once oldest() exceeds this number, all of the inserted data
  /// has been programmed.
  std::uint64_t insert(const Extent& extent);
  /// drops only dirty data, not data in flight
  void drop(std::uint64_t lba, std::uint64_t sectors);

  /// Takes the oldest dirty units, at most `sectors_max` sectors in total. Skips units of which an
  /// older version is being programmed. The units are in flight until program_completed() is
  /// called.
  FlashProgram take(std::uint32_t sectors_max);
  void program_completed(const FlashProgram& program);

  bool covers(std::uint64_t lba, std::uint64_t sectors) const;
  /// Returns true if any part of the range is in flight.
  bool in_flight(std::uint64_t lba, std::uint64_t sectors) const;
  void overlay(std::uint64_t lba, std::span<std::byte> into) const;

  std::uint64_t last_sequence() const { return last_sequence_; }
  /// Returns the lowest sequence number of a dirty unit; the maximum value if nothing is dirty.
  std::uint64_t oldest_dirty() const;
  std::uint64_t dirty_sectors() const { return dirty_sectors_; }
  std::uint64_t held_sectors() const { return dirty_sectors_ + in_flight_sectors_; }
  /// Returns all dirty extents, oldest first.
  std::vector<Extent> all_dirty() const;
  void clear();

 private:
  struct Unit {
    std::uint64_t sequence = 0;  ///< 0 if nothing is dirty
    std::vector<Extent> dirty;   ///< ordered by LBA; disjoint
    std::vector<Extent> going;
  };
  void cut_out(Unit& unit, std::uint64_t from, std::uint64_t to);
  void forget_if_empty(std::uint64_t index);

  std::uint32_t unit_sectors_;
  std::unordered_map<std::uint64_t, Unit> units_;
  std::map<std::uint64_t, std::uint64_t> order_;  ///< maps sequence numbers to units
  std::uint64_t last_sequence_ = 0;
  std::uint64_t dirty_sectors_ = 0, in_flight_sectors_ = 0;
};

}  // namespace headcrash::model
