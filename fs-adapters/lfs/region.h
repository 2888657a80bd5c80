#pragma once
// Builds a log region. First, all items are added; the items determine the length of the summary
// and all addresses. Then the bytes of the items are filled in, a file's data before its index
// blocks, and finally the summary and the checksums.
//
//   | summary | data, index blocks | directory log | inodes | inode map | usage table | [trailer] |
//
// Sources: Rosenblum 1992, sections 4.4.5 and 4.4.6. Unlike Sprite, we place the summary at the
// beginning of its region, and write a segment's regions in ascending order (FORMAT.md).

#include <vector>

#include "fs-adapters/lfs/format.h"

namespace headcrash::lfs {

class Region {
 public:
  Region(const Superblock& superblock, std::uint32_t room_sectors)
      : superblock_(&superblock), room_sectors_(room_sectors) {}

  /// Adds an item and returns its index; nullopt if the region is full.
  std::optional<std::size_t> add(const SummaryEntry& entry);
  bool has_room(std::uint32_t entries, std::uint32_t sectors) const;
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  std::uint32_t sectors() const;  ///< current total size

  /// Sets the region's address and allocates its bytes, which are zero. After this call, no item
  /// can be added.
  void place(SectorAddress start);
  SectorAddress address(std::size_t index) const { return addresses_[index]; }
  const SummaryEntry& entry(std::size_t index) const { return entries_[index]; }
  std::span<std::byte> bytes(std::size_t index);
  SectorAddress start() const { return start_; }

  /// Completes the region and returns its bytes. Fills in `sectors`, the checksum and the entries
  /// of `summary`.
  std::span<const std::byte> finish(Summary summary);

 private:
  const Superblock* superblock_;
  std::uint32_t room_sectors_;
  std::uint32_t content_sectors_ = 0;
  SectorAddress start_ = 0;
  std::vector<SummaryEntry> entries_;
  std::vector<SectorAddress> addresses_;
  std::vector<std::byte> bytes_;
};

}  // namespace headcrash::lfs
