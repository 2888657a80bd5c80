#pragma once
// A compact read-only image, used as the base of many machines. File system metadata fills only a
// few sectors of each page, so the packed image of a large file system takes a fifth of the memory
// that a MemoryStore takes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/media/memory_overlay.h"
#include "plugin/media/memory_store.h"

namespace headcrash::media {

/// A read-only medium that stores only nonzero sectors. It takes the memory of these sectors, plus
/// 1.25 bytes for each 4 KiB of the medium. write() and write_zeroes() fail. read() fails only for
/// a range outside the medium, and is thread-safe.
class PackedStore : public model::SectorStore {
 public:
  /// Copies the medium.
  static std::unique_ptr<PackedStore> of(const MemoryStore& medium);
  /// Copies the pages stored in the overlay and shares the overlay's base for all other pages.
  static std::unique_ptr<PackedStore> of(const MemoryOverlay& medium);

  std::uint64_t sectors() const override { return sectors_; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// Returns the first sector at or after `lba` whose page is stored in this object, or sectors()
  /// if no such sector follows. A page is stored if it differs from the base and is not all zeroes,
  /// or if it is all zeroes and the base's page is not.
  std::uint64_t next_packed(std::uint64_t lba) const;
  /// Returns the shared base; null if this store is a complete copy.
  const std::shared_ptr<const model::SectorStore>& base() const { return base_; }
  /// Returns the memory used, in bytes, excluding the base.
  std::uint64_t bytes() const;

 private:
  static constexpr std::uint64_t kPageSectors = 8, kGroupPages = 16;
  explicit PackedStore(std::uint64_t sectors);
  /// Packs the sectors that `next` yields. `next(lba)` returns the first sector to pack at or after
  /// `lba`, or sectors() if no such sector follows.
  template <typename Next>
  void pack(const model::SectorStore& medium, const Next& next);
  bool in_base(std::uint64_t page) const { return base_ && !changed_[page]; }
  /// Returns the number of stored sectors in the pages before this one.
  std::uint64_t kept_before(std::uint64_t page) const;

  std::uint64_t sectors_;
  /// For each page: one bit per sector, set if the sector is stored.
  std::vector<std::uint8_t> masks_;
  /// For each group of kGroupPages pages: number of stored sectors before the group.
  std::vector<std::uint32_t> kept_of_groups_;
  std::vector<std::byte> kept_;  ///< the stored sectors, in ascending order
  std::shared_ptr<const model::SectorStore> base_;
  /// For each page, true if the page is stored in this object and not in the base. Empty if there
  /// is no base.
  std::vector<bool> changed_;
};

}  // namespace headcrash::media
