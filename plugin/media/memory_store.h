#pragma once
// A medium in memory. One private anonymous mapping as large as the drive: the kernel hands out a
// page at the first write of it, so a terabyte drive that holds a megabyte costs a megabyte, and a
// read is one memcpy. Pages of zeroes are not kept: an image that is put here costs what it holds
// other than zeroes, and what nobody has written is not looked at.

#include <cstdint>
#include <memory>

#include "plugin/model/core/store.h"

namespace headcrash::media {

/// Contents end with the store. read() and write() fail for a range outside of the medium only.
/// Reads may overlap each other, but no write.
class MemoryStore : public model::SectorStore {
 public:
  /// Fails when the host refuses so much address space.
  static Result<std::unique_ptr<MemoryStore>> create(std::uint64_t sectors);
  ~MemoryStore() override;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  std::uint64_t sectors() const override { return sectors_; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// The first sector from `lba` on that may hold something other than zeroes; sectors(): none.
  std::uint64_t next_written(std::uint64_t lba) const;

 private:
  MemoryStore(std::byte* bytes, std::uint64_t* written, std::uint64_t sectors);
  bool written(std::uint64_t page) const;
  void mark(std::uint64_t page, bool written);
  std::uint64_t next_written_page(std::uint64_t page, std::uint64_t end) const;
  void put(std::uint64_t at, std::span<const std::byte> data);
  void zero(std::uint64_t begin, std::uint64_t end);  ///< of bytes

  std::byte* bytes_;
  std::uint64_t*
      written_;  ///< a bit for each 4 KiB: something other than zeroes was written there last
  std::uint64_t sectors_, pages_;
};

}  // namespace headcrash::media
