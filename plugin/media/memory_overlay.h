#pragma once
// A copy-on-write overlay over a shared medium. Many machines start from the same image, each at
// the cost of the writes that it adds.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::media {

/// A writable copy of `base`. Written sectors belong to the overlay; the others are read from the
/// base, which must not change while the overlay exists. An own sector costs 516 bytes, a sector of
/// zeroes 4 bytes (experiments write a stamp and zeroes in each block). Each half megabyte with own
/// sectors costs another 4 KiB. read() and write() fail only for a range outside the medium. Reads
/// may run concurrently with each other, but not with a write.
class MemoryOverlay : public model::SectorStore {
 public:
  explicit MemoryOverlay(std::shared_ptr<const model::SectorStore> base);

  std::uint64_t sectors() const override { return base_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  const std::shared_ptr<const model::SectorStore>& base() const { return base_; }
  /// Returns the first own sector from `lba` on; sectors() if no such sector exists.
  std::uint64_t next_own(std::uint64_t lba) const;

 private:
  /// Location of an own sector: kInBase, kZeroes, or kFirstKept plus an index into the kept
  /// sectors.
  using Place = std::uint32_t;
  static constexpr Place kInBase = 0, kZeroes = 1, kFirstKept = 2;
  static constexpr std::size_t kGroupSectors = 1024, kChunkSectors = 2048;
  using Group = std::array<Place, kGroupSectors>;

  Place place_of(std::uint64_t lba) const;
  /// Returns how many sectors from `lba` on, at most `most`, are contiguous in memory, or all in
  /// the base, or all zeroes.
  std::uint64_t alike(std::uint64_t lba, std::uint64_t most) const;
  std::byte* kept(Place place) const;
  void put(std::uint64_t lba, std::span<const std::byte> sector);  ///< zeroes if `sector` is empty

  std::shared_ptr<const model::SectorStore> base_;
  std::vector<std::unique_ptr<Group>> groups_;  ///< null if the whole group is in the base
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::vector<Place> free_;  ///< formerly kept places that now hold zeroes
  Place next_ = kFirstKept;
};

}  // namespace headcrash::media
