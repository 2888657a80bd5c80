#pragma once
// How to write part of one stripe: which sectors of which role are read first, and which are
// written.
//
//   read-modify-write   old data and old parity of what changes       P' = P + old + new
//   reconstruct-write   the columns that do not change                P' = sum of all
//   recover-write       everything that survives, when neither of the above can do without a lost column
//
// Whichever needs the fewest reads; of equals, read-modify-write: it keeps fewer arms busy.
//
// Members are read and written in whole physical sectors, also where the host writes less: a cut
// can make the whole of one unreadable, and what is logged must then bring back all of it.
//
//   data column   |....|##..|....|....|    # the host's sectors     one | to the next: a physical sector
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
  RowRange rows;  ///< hull of all columns' rows; parity is handled over all of it
  std::array<RowRange, kArrayMembersMax> changed{};  ///< of each data role, by the host
  std::array<RowRange, kArrayMembersMax> read{};     ///< of each role
  std::array<RowRange, kArrayMembersMax> write{};    ///< of each role
};

/// The host writes the data sectors [lo, hi) of a stripe; `lost` is a mask of roles; `physical`
/// sectors, of which a stripe unit is a multiple, are written whole. Not for RAID-0.
StripePlan plan_write(const RaidLayout& layout, std::uint32_t lo, std::uint32_t hi,
                      std::uint64_t lost, std::uint32_t physical = 1);

}  // namespace headcrash::model
