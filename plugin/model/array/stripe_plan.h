#pragma once
// Plans the write of part of a stripe: which sectors of each role to read first, and which to
// write.
//
//   read-modify-write   old data and old parity of the changed rows   P' = P + old + new
//   reconstruct-write   the columns that do not change                P' = sum of all
//   recover-write       everything that survives, if both of the above need a lost column
//
// The plan uses the method with the fewest reads. Ties go to read-modify-write, which keeps fewer
// arms busy.
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
  RowRange rows;  ///< union of all columns' rows; parity covers all of it
  std::array<RowRange, kArrayMembersMax> changed{};  ///< by data role: rows that the host changes
  std::array<RowRange, kArrayMembersMax> read{};     ///< by role
  std::array<RowRange, kArrayMembersMax> write{};    ///< by role
};

/// Plans a write to the data sectors [lo, hi) of a stripe. `lost` is a mask of roles. `physical` is
/// the physical sector size, which divides the stripe unit. Not for RAID-0.
StripePlan plan_write(const RaidLayout& layout, std::uint32_t lo, std::uint32_t hi,
                      std::uint64_t lost, std::uint32_t physical = 1);

}  // namespace headcrash::model
