#pragma once
// A private copy of a medium that costs what is written to it: many machines begin with the same image.

#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/media/memory_store.h"

namespace headcrash::media {

/// Pages of 4 KiB that have been written are its own, the others the base's, which nobody may write as long as this
/// lives. Errors as MemoryStore's.
class MemoryOverlay : public model::SectorStore {
 public:
  static Result<std::unique_ptr<MemoryOverlay>> create(std::shared_ptr<const model::SectorStore> base);

  std::uint64_t sectors() const override { return own_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  const std::shared_ptr<const model::SectorStore>& base() const { return base_; }
  /// The first sector from `lba` on that is in a page of its own; sectors(): none.
  std::uint64_t next_own(std::uint64_t lba) const;

 private:
  MemoryOverlay(std::shared_ptr<const model::SectorStore> base, std::unique_ptr<MemoryStore> own);
  /// All pages of the range become its own; what of the first and the last is outside of it is copied.
  Result<void> take(std::uint64_t lba, std::uint64_t count);
  Result<void> copy_page(std::uint64_t page);

  std::shared_ptr<const model::SectorStore> base_;
  std::unique_ptr<MemoryStore> own_;
  std::vector<bool> mine_;  ///< by page
};

}  // namespace headcrash::media
