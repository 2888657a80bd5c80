#include "harness/explorer/guests/md_bitmap.h"

#include <algorithm>
#include <array>
#include <vector>

#include "plugin/base/little_endian.h"

namespace headcrash::explorer {
namespace {

using Sector = std::array<std::byte, model::kSectorBytes>;

constexpr std::uint64_t kSuperblockLba = 8;
constexpr std::uint32_t kSuperblockMagic = 0xa92b4efc, kBitmapMagic = 0x6d746962;
constexpr std::uint32_t kHasBitmap = 1;
constexpr std::uint64_t kBitmapHeaderBytes = 256;

constexpr const char* kHint =
    "set bitmap-marks-writes = false, or create a RAID-1 with --metadata=1.2 --bitmap=internal";

}  // namespace

Result<MdBitmap> MdBitmap::find(const states::StateImage& disk, const std::string& subject) {
  Sector sector;
  TRY(disk.read(kSuperblockLba, sector));
  const auto number = [&](std::size_t at) { return little_endian::load32(sector, at); };
  if (number(0) != kSuperblockMagic || (number(8) & kHasBitmap) == 0 || number(72) != 1)
    return fail(subject, "has no RAID-1 with an internal bitmap", kHint);
  MdBitmap found;
  const auto offset = static_cast<std::int32_t>(number(96));
  found.data_from_ = little_endian::load64(sector, 128);
  const std::uint64_t bitmap_lba = kSuperblockLba + static_cast<std::uint64_t>(offset);
  if (offset <= 0 || bitmap_lba >= found.data_from_)
    return fail(subject, "has a bitmap at an unexpected position", kHint);
  TRY(disk.read(bitmap_lba, sector));
  found.chunk_sectors_ = number(52) / model::kSectorBytes;
  if (number(0) != kBitmapMagic || found.chunk_sectors_ == 0)
    return fail(subject, "has no valid bitmap", kHint);
  found.bits_at_ = bitmap_lba * model::kSectorBytes + kBitmapHeaderBytes;
  return found;
}

Result<std::optional<std::uint64_t>> MdBitmap::first_unmarked(
    const states::StateImage& disk, const model::SectorRange& range) const {
  Sector sector;
  std::optional<std::uint64_t> loaded;
  for (std::uint64_t at = std::max(range.lba, data_from_); at < range.end();) {
    const std::uint64_t chunk = (at - data_from_) / chunk_sectors_;
    const std::uint64_t byte = bits_at_ + chunk / 8;
    if (const std::uint64_t lba = byte / model::kSectorBytes; loaded != lba) {
      TRY(disk.read(lba, sector));
      loaded = lba;
    }
    const auto bits = std::to_integer<unsigned>(sector[byte % model::kSectorBytes]);
    if ((bits >> (chunk % 8) & 1) == 0) return at;
    at = data_from_ + (chunk + 1) * chunk_sectors_;
  }
  return std::nullopt;
}

}  // namespace headcrash::explorer
