#pragma once
// Plans the write of part of a stripe: which sectors of each role to read first, and which to
// write.
//
//   read-modify-write   old data and old parity of the changed rows   P' = P + old + new
//   reconstruct-write   the columns that do not change                P' = sum of all
//   recover-write       all surviving columns, if both other methods need a lost column
//
// The plan uses the method with the fewest reads. Among equals, it uses read-modify-write, which
// keeps fewer arms busy.
//
// Members are read and written in whole physical sectors, even if the host writes less. A power cut
// can make a whole physical sector unreadable, and the log must then restore the whole sector.
//
//   data column   |....|##..|....|....|   # the host's sectors   between | and |: a physical sector
//   read, written      |----|

#include <array>
#include <cstdint>

#include "plugin/model/array/raid_layout.h"

namespace headcrash::model {

enum class WriteMethod : std::uint8_t {
  full_stripe,
  read_modify,
  reconstruct,
  recover,
  data_only,
  impossible
};

struct RowRange {
  std::uint32_t first = 0, last = 0;  ///< [first, last)
  std::uint32_t sectors() const { return last - first; }
  bool empty() const { return first == last; }
};

struct StripePlan {
  WriteMethod method = WriteMethod::impossible;
  RowRange rows;  ///< union of the rows of all columns; the parity covers all of these rows
  /// For each data role, the rows that the host's write changes.
  std::array<RowRange, kArrayMembersMax> changed{};
  std::array<RowRange, kArrayMembersMax> read{};   ///< by role
  std::array<RowRange, kArrayMembersMax> write{};  ///< by role
};

/// Plans a write to the data sectors [lo, hi) of a stripe. `lost` is a mask of roles. `physical` is
/// the physical sector size; the stripe unit must be a multiple of it. Not for RAID-0.
StripePlan plan_write(const RaidLayout& layout, std::uint32_t lo, std::uint32_t hi,
                      std::uint64_t lost, std::uint32_t physical = 1);

}  // namespace headcrash::model
