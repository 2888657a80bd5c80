#pragma once
// Which groups are busy, in a place that a check reads at once: the feature busy-map. Beyond the
// paper, whose fast fsck reads every group's header to learn it (Peacock, Kamaraju and Agrawal
// 1998, section 5.1).
//
// Such a check needs two things of a group that it does not look at: that it is quiet, and its
// counts, for the totals. So they are one record of the summary area, which lies in one sector and
// is written whole or not at all:
//
//   | directories 31 bits, busy 1 | free blocks | free inodes | free fragments |     16 bytes a group
//
//   quiet --- record: busy ---> marks in the header ---> changes --- ... --- header: quiet ---> record: counts, quiet
//             waits             waits (busy_marks.h)                         waits
//
// What the counts of a busy one say does not matter. A group may be quiet and its record still say
// "busy": that costs a check a read. 44 GB in 2816 groups have an area of 44 KiB, 6 blocks of 8
// KiB; nothing in it has to grow with it.

#include <cstdint>
#include <span>

#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

/// A group in the summary area.
struct GroupRecord {
  Summary counts;
  bool busy = false;
};

/// kSummaryBytes each. Where the feature is missing nothing is busy, and all of it is counts.
GroupRecord decode_group_record(std::span<const std::byte> bytes, const Features& features);
void encode_group_record(const GroupRecord& record, std::span<std::byte> bytes);

/// False: no group of this size can have these counts, so that the record is damaged.
bool possible_counts(const Geometry& geometry, std::uint32_t group, const Summary& counts);

}  // namespace headcrash::ufs
