#pragma once
// A copy-on-write overlay over a shared medium. Many machines can start from one image; each costs
// only the memory for its own writes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::media {

/// A writable copy of `base`. Written sectors are stored in the overlay; all other sectors are read
/// from the base, which must not change while the overlay exists. A stored sector costs 516 bytes,
/// a sector of zeroes 4 bytes (experiments write a stamp followed by zeroes in each block). Each
/// half megabyte that contains written sectors costs another 4 KiB. read() and write() fail only
/// for a range outside the medium. Reads may run concurrently with each other, but not with a
/// write.
class MemoryOverlay : public model::SectorStore {
 public:
  explicit MemoryOverlay(std::shared_ptr<const model::SectorStore> base);

  std::uint64_t sectors() const override { return base_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  const std::shared_ptr<const model::SectorStore>& base() const { return base_; }
  /// Returns the first sector at or after `lba` that is stored in the overlay; sectors() if
  /// absent.
  std::uint64_t next_own(std::uint64_t lba) const;

 private:
  /// Location of a sector's bytes: kInBase, kZeroes, or kFirstKept plus an index into the kept
  /// sectors.
  using Place = std::uint32_t;
  static constexpr Place kInBase = 0, kZeroes = 1, kFirstKept = 2;
  static constexpr std::size_t kGroupSectors = 1024, kChunkSectors = 2048;
  using Group = std::array<Place, kGroupSectors>;

  Place place_of(std::uint64_t lba) const;
  /// Returns how many sectors starting at `lba`, at most `most`, have one source: contiguous memory
  /// of the overlay, the base, or zeroes.
  std::uint64_t alike(std::uint64_t lba, std::uint64_t most) const;
  std::byte* kept(Place place) const;
  void put(std::uint64_t lba, std::span<const std::byte> sector);  ///< `sector` is empty for zeroes

  std::shared_ptr<const model::SectorStore> base_;
  std::vector<std::unique_ptr<Group>> groups_;  ///< null if the whole group is in the base
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::vector<Place> free_;  ///< slots of kept sectors that were later overwritten with zeroes
  Place next_ = kFirstKept;
};

}  // namespace headcrash::media
