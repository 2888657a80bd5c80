#pragma once
// The superblock on each member of an array. It restores the array's state when a store is opened
// again.
//
// There are two slots at the start of each member. A write replaces the older of the two
// superblocks, so a power cut leaves at least one intact. Of the slots with a correct checksum, the
// one with the higher event count is valid. A member with fewer events than `settled` has missed
// updates and is an old copy. Numbers are little-endian.
//
//   0 magic "HCARRAY1"   32 stripe unit       64 state: bit 0 dirty     96 settled
//   8 array id           40 events            72 prewrite tail: older  104 rebuilt stripes (0: as
//  16 version            48 failed (mask)        updates are home          in versions without
//  24 level, members     56 rebuilding (mask) 80 prewrite, region       this field)
//  28 member index                            88 stripes               508 CRC-32C of bytes before

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
  std::uint32_t member = 0;  ///< the member that holds this superblock
  std::uint32_t stripe_unit_sectors = 0;
  std::uint32_t prewrite_sectors = 0, region_sectors = 0;
  std::uint64_t stripes = 0;
  std::uint64_t events = 0;
  std::uint64_t settled = 0;  ///< every non-failed member stores this event count or a higher one
  std::uint64_t failed = 0, rebuilding = 0;  ///< bit masks of members
  /// On a member that is being rebuilt, the stripes before this one are on the medium.
  std::uint64_t rebuilt = 0;
  bool dirty = false;
  std::uint64_t prewrite_tail = 0;

  /// Fills one sector.
  void encode(std::span<std::byte> sector) const;
  /// Returns nullopt if the sector has no valid superblock.
  static std::optional<Superblock> decode(std::span<const std::byte> sector);
  bool same_shape(const Superblock& other) const;
};

/// Store or load a little-endian number at a byte offset within the sector.
void store_number(std::span<std::byte> sector, std::size_t offset, std::uint64_t value,
                  std::size_t bytes);
std::uint64_t load_number(std::span<const std::byte> sector, std::size_t offset, std::size_t bytes);

}  // namespace headcrash::model
