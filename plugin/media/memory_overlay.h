#pragma once
// A copy-on-write overlay over a shared medium. Many machines can start from one image; each
// machine uses memory only for its own writes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::media {

/// A writable copy of `base`. Written sectors are stored in the overlay; all other sectors are read
/// from the base, which must not change while the overlay exists. A stored sector takes 516 bytes,
/// but a sector of zeroes takes only 4. (Sectors of zeroes are frequent: experiments fill each
/// block with a stamp followed by zeroes.) Each half megabyte that contains written sectors takes
/// another 4 KiB. read() and write() fail only for a range outside the medium. Reads may run
/// concurrently with each other, but not with a write.
class MemoryOverlay : public model::SectorStore {
 public:
  explicit MemoryOverlay(std::shared_ptr<const model::SectorStore> base);

  std::uint64_t sectors() const override { return base_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  const std::shared_ptr<const model::SectorStore>& base() const { return base_; }
  /// Returns the first sector at or after `lba` that is stored in the overlay; sectors() if no such
  /// sector follows.
  std::uint64_t next_own(std::uint64_t lba) const;

 private:
  /// Where the bytes of a sector are: kInBase, kZeroes, or kFirstKept plus the index of the stored
  /// sector.
  using Place = std::uint32_t;
  static constexpr Place kInBase = 0, kZeroes = 1, kFirstKept = 2;
  static constexpr std::size_t kGroupSectors = 1024, kChunkSectors = 2048;
  using Group = std::array<Place, kGroupSectors>;

  Place place_of(std::uint64_t lba) const;
  /// Returns the number of sectors from `lba` on, at most `most`, that come from the same source:
  /// contiguous memory of the overlay, the base, or zeroes.
  std::uint64_t alike(std::uint64_t lba, std::uint64_t most) const;
  std::byte* kept(Place place) const;
  /// Stores one sector. An empty `sector` represents zeroes.
  void put(std::uint64_t lba, std::span<const std::byte> sector);

  std::shared_ptr<const model::SectorStore> base_;
  std::vector<std::unique_ptr<Group>> groups_;  ///< null if the whole group is in the base
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  /// Places that are free again because their sectors were overwritten with zeroes.
  std::vector<Place> free_;
  Place next_ = kFirstKept;
};

}  // namespace headcrash::media
