#pragma once
// What a medium holds, in as little memory as that takes: of an image that many machines begin with. Metadata fills few
// sectors of its pages, so that a large file system's image is a fifth of what it is in a MemoryStore.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/media/memory_store.h"

namespace headcrash::media {

/// Sectors that hold something other than zeroes, and where they are: 1 byte and a quarter for each 4 KiB of the medium,
/// and the sectors. Nobody writes it: write() and write_zeroes() fail. read() fails for a range outside of the medium only,
/// and may be called from several threads.
class PackedStore : public model::SectorStore {
 public:
  /// A copy.
  static std::unique_ptr<PackedStore> of(const MemoryStore& medium);

  std::uint64_t sectors() const override { return sectors_; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// Of memory.
  std::uint64_t bytes() const;

 private:
  static constexpr std::uint64_t kPageSectors = 8, kGroupPages = 16;
  explicit PackedStore(std::uint64_t sectors);
  /// How many sectors before this page are kept.
  std::uint64_t kept_before(std::uint64_t page) const;

  std::uint64_t sectors_;
  std::vector<std::uint8_t> masks_;            ///< of each page: a bit for each sector that is kept
  std::vector<std::uint32_t> kept_of_groups_;  ///< sectors kept before each kGroupPages pages
  std::vector<std::byte> kept_;                ///< by LBA
};

}  // namespace headcrash::media
