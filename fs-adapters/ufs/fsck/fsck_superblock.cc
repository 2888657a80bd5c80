// Phase 0, and the end of a check (fsck.h). If the first superblock is damaged, every block on the
// device is examined in search of a replica that records its own position. A mounted file system
// rewrites only the first superblock, so a replica still has the counts that mkfs wrote; phase 5
// recomputes them anyway.

#include <fmt/core.h>

#include "fs-adapters/ufs/fsck/fsck_state.h"
#include "fs-adapters/ufs/schemes/journal_area.h"

namespace headcrash::ufs {

bool Fsck::State::superblock_at(std::uint64_t byte, bool replica) {
  const std::uint64_t device_bytes = source->sectors() * model::kSectorBytes;
  if (byte + kSuperblockBytes > device_bytes) return false;
  std::array<std::byte, 3 * kSectorBytes> bytes = {};
  static_assert(bytes.size() >= kSuperblockUsedBytes);
  if (!read_sectors(byte / kSectorBytes, bytes)) return false;
  const auto decoded = decode_superblock(bytes, device_bytes);
  if (!decoded) return false;
  const Geometry places(*decoded);
  if (replica) {
    const std::uint64_t fragment = byte / places.fragment_bytes();
    if (fragment >= places.size_fragments()) return false;
    const std::uint32_t group = places.group_of_fragment(static_cast<FragmentAddress>(fragment));
    if (places.byte_of(places.replica(group)) != byte) return false;
  }
  superblock = *decoded;
  geometry = places;
  superblock_byte = byte;
  return true;
}

bool Fsck::State::find_superblock() {
  if (superblock_at(kSuperblockByte, false)) {
    report.was_clean = superblock.clean;
    return true;
  }
  // Replicas begin at a block boundary. Every multiple of 4 KiB is tried first, and then every
  // sector, because test disks have smaller blocks.
  const std::uint64_t end = source->sectors() * model::kSectorBytes;
  for (const std::uint64_t step : {4096U, kSectorBytes})
    for (std::uint64_t byte = 2 * kSuperblockByte; byte < end && !stopped(); byte += step) {
      if (!superblock_at(byte, true)) continue;
      find(FindingKind::bad_superblock, 0, 0, 0,
           fmt::format("the superblock is damaged; using the replica at byte {}", byte));
      repair_superblock();
      return true;
    }
  return false;
}

/// Must be called before anything else is written, because a journal replay also changes the disk.
void Fsck::State::repair_superblock() {
  superblock.clean = false;  // the flag is unknown: a replica still has the value that mkfs wrote
  if (!repairing()) return;
  if (auto done = write_superblock(*target, superblock, kSuperblockByte, superblock_byte); !done)
    failure = done.error();
}

/// Marks the file system as needing a full check. Must be called before the first write of a full
/// repair: if that repair is interrupted, a fast check would not examine its changes.
void Fsck::State::demand_full_check() {
  if (!repairing() || stopped() || !superblock.features.fast_check || superblock.clean ||
      superblock.full_check)
    return;
  superblock.full_check = true;
  if (auto done = write_superblock(*target, superblock, kSuperblockByte); !done)
    failure = done.error();
}

/// Writes the totals and, if the file system is now clean, the clean flag. Must be called after
/// everything else has been written.
void Fsck::State::finish() {
  // If the last write of the superblock was torn, the first sector may say "clean" while the totals
  // in later sectors, which other systems use, are outdated.
  if (superblock.totals_differ) report.was_clean = false;
  if (!repairing() || stopped()) return;
  if (report.nothing_found() && superblock.clean && !superblock.modified &&
      !superblock.totals_differ)
    return;
  superblock.clean = !report.unrepaired, superblock.modified = false;
  if (superblock.clean && superblock.features.fast_check) superblock.begin_generation();
  superblock.written_at = std::max(superblock.written_at, options.time);
  if (auto done = write_superblock(*target, superblock, kSuperblockByte); !done)
    failure = done.error();
}

}  // namespace headcrash::ufs
