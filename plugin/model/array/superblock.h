#pragma once
// What an array writes down about itself on each member, so that a store opened again has the same
// state.
//
// Two slots at the start of each member; always the one that does not hold the member's newest is
// written, so a power cut leaves one intact. The slot with the higher event count and a right
// checksum speaks. A member with fewer events than `settled` has missed something and is an old
// copy. Numbers are little-endian.
//
//   0 magic "HCARRAY1"   32 stripe unit       64 state: bit 0 dirty       96 settled
//   8 array id           40 events            72 prewrite tail: older    104 rebuilt stripes (0: from the
//  16 version            48 failed (mask)        updates are home            beginning, as before there was
//  24 level, members     56 rebuilding (mask) 80 prewrite, region sectors     this number)
//  28 member index                            88 stripes                 508 CRC-32C of what comes before

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "plugin/model/array/array_profile.h"

namespace headcrash::model {

struct Superblock {
  std::uint64_t array_id = 0;
  RaidLevel level = RaidLevel::raid0;
  std::uint32_t members = 0;
  std::uint32_t member = 0;  ///< whose superblock this is
  std::uint32_t stripe_unit_sectors = 0;
  std::uint32_t prewrite_sectors = 0, region_sectors = 0;
  std::uint64_t stripes = 0;
  std::uint64_t events = 0;
  std::uint64_t settled = 0;  ///< every member that had not failed has at least these events
  std::uint64_t failed = 0, rebuilding = 0;  ///< masks of members
  std::uint64_t rebuilt =
      0;  ///< stripes below are on the medium of the member that is being rebuilt
  bool dirty = false;
  std::uint64_t prewrite_tail = 0;

  /// Fills one sector.
  void encode(std::span<std::byte> sector) const;
  /// Nothing when the sector holds no superblock.
  static std::optional<Superblock> decode(std::span<const std::byte> sector);
  bool same_shape(const Superblock& other) const;
};

/// Little-endian numbers at a byte offset.
void put_number(std::span<std::byte> sector, std::size_t offset, std::uint64_t value,
                std::size_t bytes);
std::uint64_t get_number(std::span<const std::byte> sector, std::size_t offset, std::size_t bytes);

}  // namespace headcrash::model
