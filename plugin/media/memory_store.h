#pragma once
// An in-memory medium: one private anonymous mapping as large as the drive. The kernel allocates a
// page when it is first written, so a terabyte drive that holds a megabyte of data uses a megabyte
// of memory. A read is one memcpy. Pages of zeroes are not stored, so an image takes only the
// memory of its nonzero pages, and unwritten pages are never read.

#include <cstdint>
#include <memory>

#include "plugin/model/core/store.h"

namespace headcrash::media {

/// The contents are lost when the store is destroyed. read() and write() fail only for a range
/// outside the medium. Reads may run concurrently with each other, but not with a write.
class MemoryStore : public model::SectorStore {
 public:
  /// Fails if the host cannot provide the address space.
  static Result<std::unique_ptr<MemoryStore>> create(std::uint64_t sectors);
  ~MemoryStore() override;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  std::uint64_t sectors() const override { return sectors_; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// Returns the first sector at or after `lba` that may be nonzero; sectors() if no such sector
  /// follows.
  std::uint64_t next_written(std::uint64_t lba) const;

 private:
  MemoryStore(std::byte* bytes, std::uint64_t* written, std::uint64_t sectors);
  bool written(std::uint64_t page) const;
  void mark(std::uint64_t page, bool written);
  std::uint64_t next_written_page(std::uint64_t page, std::uint64_t end) const;
  void put(std::uint64_t at, std::span<const std::byte> data);
  void zero(std::uint64_t begin, std::uint64_t end);  ///< byte offsets

  std::byte* bytes_;
  std::uint64_t* written_;  ///< one bit per 4 KiB page, set if the page's last write was nonzero
  std::uint64_t sectors_, pages_;
};

}  // namespace headcrash::media
