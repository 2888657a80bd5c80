#pragma once
// What a medium holds, in as little memory as that takes: of an image that many machines begin
// with. Metadata fills few sectors of its pages, so that a large file system's image is a fifth of
// what it is in a MemoryStore.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/media/memory_overlay.h"
#include "plugin/media/memory_store.h"

namespace headcrash::media {

/// Sectors that hold something other than zeroes, and where they are: 1 byte and a quarter for each
/// 4 KiB of the medium, and the sectors. Nobody writes it: write() and write_zeroes() fail. read()
/// fails for a range outside of the medium only, and may be called from several threads.
class PackedStore : public model::SectorStore {
 public:
  /// A copy.
  static std::unique_ptr<PackedStore> of(const MemoryStore& medium);
  /// A copy of the overlay's own pages; the others are its base's, which the copy keeps.
  static std::unique_ptr<PackedStore> of(const MemoryOverlay& medium);

  std::uint64_t sectors() const override { return sectors_; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// The first sector from `lba` on whose page is here, not in a base, and does not hold zeroes
  /// only, unless a base has the page, too; sectors(): none.
  std::uint64_t next_packed(std::uint64_t lba) const;
  /// Null: a copy of all of the medium.
  const std::shared_ptr<const model::SectorStore>& base() const { return base_; }
  /// Of memory, without the base.
  std::uint64_t bytes() const;

 private:
  static constexpr std::uint64_t kPageSectors = 8, kGroupPages = 16;
  explicit PackedStore(std::uint64_t sectors);
  /// `next`: the first sector from one on that is to be packed; sectors(): none.
  template <typename Next>
  void pack(const model::SectorStore& medium, const Next& next);
  bool in_base(std::uint64_t page) const { return base_ && !changed_[page]; }
  /// How many sectors before this page are kept.
  std::uint64_t kept_before(std::uint64_t page) const;

  std::uint64_t sectors_;
  std::vector<std::uint8_t> masks_;            ///< of each page: a bit for each sector that is kept
  std::vector<std::uint32_t> kept_of_groups_;  ///< sectors kept before each kGroupPages pages
  std::vector<std::byte> kept_;                ///< by LBA
  std::shared_ptr<const model::SectorStore> base_;
  std::vector<bool> changed_;  ///< of each page, if there is a base: it is here
};

}  // namespace headcrash::media
