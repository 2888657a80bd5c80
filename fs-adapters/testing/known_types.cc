// Facts about particular types that the tests need: how to recompute checksums after an edit, and
// which areas a mount may write (damaged_image.h).
#include <algorithm>

#include "fs-adapters/examples/shadow/format.h"
#include "fs-adapters/lfs/image_reader.h"
#include "fs-adapters/snapfs/image_reader.h"
#include "fs-adapters/snapfs/log_record.h"
#include "fs-adapters/snapfs/snapshot_table.h"
#include "fs-adapters/testing/damaged_image.h"
#include "plugin/base/crc32c.h"
#include "plugin/base/little_endian.h"

namespace headcrash::adapters::damaged {
namespace {

using namespace little_endian;
using model::kSectorBytes;

/// A store over bytes that it does not own.
class BytesStore final : public model::SectorStore {
 public:
  explicit BytesStore(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t sectors() const override { return bytes_.size() / kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    if (lba > sectors() || into.size() > bytes_.size() - lba * kSectorBytes)
      return fail("store", "beyond its end");
    std::ranges::copy(bytes_.subspan(lba * kSectorBytes, into.size()), into.begin());
    return {};
  }
  Result<void> write(std::uint64_t, std::span<const std::byte>) override {
    return fail("store", "read-only");
  }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override {
    return fail("store", "read-only");
  }

 private:
  std::span<std::byte> bytes_;
};

void seal_lfs(std::span<std::byte> image) {
  constexpr std::size_t kChecksumAt = 60;
  const auto super = image.subspan(lfs::kSuperblockAddress * kSectorBytes, kSectorBytes);
  store32(super, kChecksumAt, 0);
  store32(super, kChecksumAt, crc32c(super));
  const BytesStore store(image);
  const auto reader = lfs::ImageReader::open(store);
  if (!reader || !reader->superblock().checksums) return;
  for (const lfs::MapEntry& entry : reader->map()) {
    const std::uint64_t at =
        std::uint64_t{entry.address} * kSectorBytes + entry.slot * lfs::kInodeBytes;
    if (!entry.allocated() || at + lfs::kInodeBytes > image.size()) continue;
    const auto raw = image.subspan(at, lfs::kInodeBytes);
    encode(lfs::decode_inode(raw), raw);
  }
}

void seal_snapfs(std::span<std::byte> image) {
  const BytesStore store(image);
  const auto reader = snapfs::ImageReader::open(store);
  if (!reader) return;
  const snapfs::Superblock& s = reader->superblock();
  if (s.snapshot_table != 0)
    snapfs::seal_snapshots(image.subspan(s.lba_of(s.snapshot_table) * kSectorBytes, s.block_bytes));
  if (s.log_blocks != 0)
    snapfs::seal_log(image.subspan(s.lba_of(s.log_block()) * kSectorBytes, s.log_bytes()));
  (void)reader->each_tree_block(
      s.record_map, s.record_tree(),
      [&](snapfs::BlockAddress at, const std::uint32_t* leaf, std::span<const std::byte>) {
        for (std::uint32_t i = 0; leaf != nullptr && i < s.records_per_block(); ++i)
          snapfs::seal_inode(
              image.subspan(s.lba_of(at) * kSectorBytes + std::size_t{i} * snapfs::kInodeBytes,
                            snapfs::kInodeBytes));
        return true;
      });
}

/// Recomputes the checksum of shadow's table. The table's position is taken from the sound image.
void seal_shadow(std::span<const std::byte> sound, std::span<std::byte> image) {
  const auto state = shadow::read_state(
      [&](std::uint64_t lba, std::span<std::byte> into) -> Result<void> {
        std::ranges::copy(sound.subspan(lba * kSectorBytes, into.size()), into.begin());
        return {};
      },
      sound.size() / kSectorBytes);
  if (!state) return;
  const std::size_t slot = state->header.slot();
  const auto sector = image.subspan(shadow::kHeaderSectors.at(slot) * kSectorBytes, kSectorBytes);
  const auto table = image.subspan(state->header.geometry.table_lba(slot) * kSectorBytes);
  const std::uint32_t length = load32(sector, 36);
  if (length <= table.size()) store32(sector, 40, crc32c(table.first(length)));
  store32(sector, kSectorBytes - 4, crc32c(sector.first(kSectorBytes - 4)));
}

bool lfs_is_in_place(std::span<const std::byte> before, std::span<const std::byte> after) {
  const auto s = lfs::decode_superblock(before.subspan(lfs::kSuperblockAddress * kSectorBytes),
                                        before.size() / kSectorBytes);
  for (std::uint64_t lba = 0; lba < before.size() / kSectorBytes; ++lba) {
    const bool may_differ =
        s && (s->holds(static_cast<lfs::SectorAddress>(lba), 1) ||
              std::ranges::any_of(s->checkpoints, [&](lfs::SectorAddress at) {
                return lba >= at && lba < std::uint64_t{at} + s->checkpoint_sectors;
              }));
    if (!may_differ && !std::ranges::equal(before.subspan(lba * kSectorBytes, kSectorBytes),
                                           after.subspan(lba * kSectorBytes, kSectorBytes)))
      return false;
  }
  return true;
}

}  // namespace

bool is_in_place(std::string_view type, std::span<const std::byte> before,
                 std::span<const std::byte> after) {
  return type != "lfs" || lfs_is_in_place(before, after);
}

void seal(std::string_view type, std::span<const std::byte> sound, std::span<std::byte> image) {
  if (type == "lfs") seal_lfs(image);
  if (type == "snapfs") seal_snapfs(image);
  if (type == "shadow") seal_shadow(sound, image);
}

}  // namespace headcrash::adapters::damaged
