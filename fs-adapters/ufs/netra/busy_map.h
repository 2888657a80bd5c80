#pragma once
// The feature busy-map: a compact record of busy groups for the fast check. It extends the paper,
// whose fast fsck reads every group's header to find busy groups (Peacock, Kamaraju and Agrawal
// 1998, section 5.1).
//
// To skip a group, a check must know that the group is quiet, and must know its counts for the
// totals. Both are in one record of the summary area. A record is within one sector, and is
// therefore written atomically:
//
//   | directories 31 bits, busy 1 | free blocks | free inodes | free fragments |  16 bytes each
//
//   quiet -> record: busy -> marks in the header -> changes ... -> header: quiet -> record: quiet
//            wait            wait (busy_marks.h)                   wait             and counts
//
// The counts in the record of a busy group are meaningless. A quiet group may have a busy record;
// that only costs the check a read. For 44 GB in 2816 groups, the area has 44 KiB, 6 blocks of 8
// KiB.

#include <cstdint>
#include <span>

#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

/// A group's record in the summary area.
struct GroupRecord {
  Summary counts;
  bool busy = false;
};

/// Decodes a record of kSummaryBytes bytes. Without the feature, the record consists only of
/// counts, and no group is busy.
GroupRecord decode_group_record(std::span<const std::byte> bytes, const Features& features);
void encode_group_record(const GroupRecord& record, std::span<std::byte> bytes);

/// Returns false if a group of this size cannot have these counts. A record with such counts is
/// damaged.
bool possible_counts(const Geometry& geometry, std::uint32_t group, const Summary& counts);

}  // namespace headcrash::ufs
