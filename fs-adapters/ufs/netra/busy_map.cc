// Encodes and decodes group records (busy_map.h).
#include "fs-adapters/ufs/netra/busy_map.h"

namespace headcrash::ufs {
namespace {

constexpr std::uint32_t kBusy =
    0x80000000;  // a bit of the first field; the other bits contain the number of directories

}  // namespace

GroupRecord decode_group_record(std::span<const std::byte> bytes, const Features& features) {
  GroupRecord record{.counts = decode_summary(bytes)};
  if (!features.busy_map) return record;
  record.busy = (record.counts.directories & kBusy) != 0;
  record.counts.directories &= ~kBusy;
  return record;
}

void encode_group_record(const GroupRecord& record, std::span<std::byte> bytes) {
  Summary all = record.counts;
  if (record.busy) all.directories |= kBusy;
  encode_summary(all, bytes);
}

bool possible_counts(const Geometry& geometry, std::uint32_t group, const Summary& counts) {
  const std::uint64_t free =
      std::uint64_t{counts.free_blocks} * geometry.fragments_per_block() + counts.free_fragments;
  return free <= geometry.group_fragments(group) &&
         std::uint64_t{counts.directories} + counts.free_inodes <= geometry.inodes_per_group();
}

}  // namespace headcrash::ufs
