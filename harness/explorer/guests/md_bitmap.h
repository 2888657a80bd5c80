#pragma once
// The write-intent bitmap of an md RAID-1 on one of its disks.
//
//   sector  8                8 + bitmap_offset           data_offset
//           superblock 1.2   bitmap superblock, bits     data: a bit for each chunk
//
// Formats: struct mdp_superblock_1 (include/uapi/linux/raid/md_p.h) and bitmap_super_t
// (drivers/md/md-bitmap.h). All numbers are little-endian.

#include <cstdint>
#include <optional>
#include <string>

#include "plugin/base/result.h"
#include "plugin/model/core/sector_range.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

class MdBitmap {
 public:
  /// Reads the superblocks on a disk. `subject` names the disk in messages. Fails if there is no
  /// RAID-1 with metadata 1.2 and an internal bitmap.
  static Result<MdBitmap> find(const states::StateImage& disk, const std::string& subject);

  /// Returns the first sector of `range` whose chunk is not marked. Sector numbers count from the
  /// start of the disk. Ignores sectors before the data. Returns nullopt if all chunks are marked.
  Result<std::optional<std::uint64_t>> first_unmarked(const states::StateImage& disk,
                                                      const model::SectorRange& range) const;

 private:
  std::uint64_t bits_at_ = 0;  ///< position of the bitmap's first bit on the disk, in bytes
  std::uint64_t data_from_ = 0, chunk_sectors_ = 0;
};

}  // namespace headcrash::explorer
