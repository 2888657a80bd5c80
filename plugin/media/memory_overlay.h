#pragma once
// A private copy of a medium that costs what is written to it: many machines begin with the same
// image.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::media {

/// Sectors that have been written are its own, the others the base's, which nobody may write as
/// long as this lives. Own sectors cost 516 bytes each, of zeroes 4, since what experiments write
/// is a stamp and zeroes in each block; and 4 KiB for each half megabyte that holds any. read() and
/// write() fail for a range outside of the medium only. Reads may overlap each other, but no write.
class MemoryOverlay : public model::SectorStore {
 public:
  explicit MemoryOverlay(std::shared_ptr<const model::SectorStore> base);

  std::uint64_t sectors() const override { return base_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  const std::shared_ptr<const model::SectorStore>& base() const { return base_; }
  /// The first sector from `lba` on that is its own; sectors(): none.
  std::uint64_t next_own(std::uint64_t lba) const;

 private:
  /// Where an own sector is: kInBase, kZeroes, or kFirstKept and its number among those that are
  /// kept.
  using Place = std::uint32_t;
  static constexpr Place kInBase = 0, kZeroes = 1, kFirstKept = 2;
  static constexpr std::size_t kGroupSectors = 1024, kChunkSectors = 2048;
  using Group = std::array<Place, kGroupSectors>;

  Place place_of(std::uint64_t lba) const;
  /// Of the sectors from `lba` on that lie one behind the other, or are all the base's, or all
  /// zeroes; `most` at most.
  std::uint64_t alike(std::uint64_t lba, std::uint64_t most) const;
  std::byte* kept(Place place) const;
  void put(std::uint64_t lba, std::span<const std::byte> sector);  ///< empty: zeroes

  std::shared_ptr<const model::SectorStore> base_;
  std::vector<std::unique_ptr<Group>> groups_;  ///< null: all of it is the base's
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::vector<Place> free_;  ///< kept once, and zeroes since
  Place next_ = kFirstKept;
};

}  // namespace headcrash::media
