#pragma once
// The mapping of array sectors to members.
//
//   RAID-5, left-symmetric, 5 members
//   stripe  m0  m1  m2  m3  m4
//     0     D0  D1  D2  D3  P
//     1     D1  D2  D3  P   D0      RAID-6: Q follows P, the data follow Q.
//     2     D2  D3  P   D0  D1      RAID-4: P stays on the last member.
//
//   layout of a member
//   | superblock A | superblock B | prewrite area | region bits | data ...
//     8 sectors      8 sectors      profile         if used
//
// The rotation is Linux md's left-symmetric (its default), so a sequential read visits all members
// in turn. A *role* is a position in a stripe: 0..data-1 are the data columns, then P, then Q; the
// copies of RAID-1 are roles 0..members-1. A *row* is a sector's offset in its stripe unit.

#include <array>
#include <cstdint>

#include "plugin/model/array/array_profile.h"

namespace headcrash::model {

inline constexpr std::uint32_t kArrayMembersMax = 32;
inline constexpr std::uint32_t kSuperblockSectors = 8;
inline constexpr std::uint32_t kSuperblockSlots = 2;
/// RAID-1 has no stripe unit. Its locks, resync and rebuild use units of this size.
inline constexpr std::uint32_t kMirrorUnitSectors = 128;

struct RaidLayout {
  RaidLevel level = RaidLevel::raid0;
  std::uint32_t members = 0;
  std::uint32_t data = 0;  ///< number of data columns of a stripe
  /// Number of members that may be lost. For RAID-1, the number of copies beyond the first.
  std::uint32_t parity = 0;
  std::uint32_t unit = 0;  ///< stripe unit in sectors
  std::uint64_t bitmap_first = 0, bitmap_sectors = 0;
  std::uint64_t data_first = 0;  ///< LBA of stripe 0 on every member
  std::uint64_t stripes = 0;

  /// Computes the layout, which has zero stripes if the members are too small. REQUIRES: a valid
  /// profile (Array::create checks it).
  static RaidLayout of(const ArrayProfile& profile, std::uint64_t member_sectors);

  bool mirrored() const { return level == RaidLevel::raid1; }
  std::uint32_t stripe_sectors() const { return data * unit; }
  std::uint64_t capacity() const { return stripes * stripe_sectors(); }
  std::uint64_t member_lba(std::uint64_t stripe, std::uint32_t row) const {
    return data_first + stripe * unit + row;
  }

  std::uint32_t member_of(std::uint64_t stripe, std::uint32_t role) const {
    switch (level) {
      case RaidLevel::raid5: {
        const auto p = members - 1 - static_cast<std::uint32_t>(stripe % members);
        return role == data ? p : wrapped(p + 1 + role);
      }
      case RaidLevel::raid6: {
        const auto p = members - 1 - static_cast<std::uint32_t>(stripe % members);
        return role >= data ? wrapped(p + role - data) : wrapped(p + 2 + role);
      }
      default:
        return role;
    }
  }
  std::uint32_t role_of(std::uint64_t stripe, std::uint32_t member) const {
    if (level != RaidLevel::raid5 && level != RaidLevel::raid6) return member;
    const auto p = members - 1 - static_cast<std::uint32_t>(stripe % members);
    const std::uint32_t after_p = wrapped(member + members - p);
    return after_p < parity ? data + after_p : after_p - parity;
  }

 private:
  std::uint32_t wrapped(std::uint32_t member) const {
    return member >= members ? member - members : member;
  }
};

}  // namespace headcrash::model
