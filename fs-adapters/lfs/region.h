#pragma once
// Puts a log region together: first what is to be in it, so that the summary's length and with it
// all addresses are known, then the bytes, from the leaves of files up, then summary and checksums.
//
//   | summary | files' data, index blocks | directory log | inodes | inode map | usage table | [trailer] |
//
// Sources: Rosenblum 1992, sections 4.4.5 and 4.4.6; that the summary is in front, and the region
// placed forwards, is ours (FORMAT.md).

#include <vector>

#include "fs-adapters/lfs/format.h"

namespace headcrash::lfs {

class Region {
 public:
  Region(const Superblock& superblock, std::uint32_t room_sectors)
      : superblock_(&superblock), room_sectors_(room_sectors) {}

  /// Its index; nothing: there is no room for it.
  std::optional<std::size_t> add(const SummaryEntry& entry);
  bool has_room(std::uint32_t entries, std::uint32_t sectors) const;
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  std::uint32_t sectors() const;  ///< all of it, as it stands

  /// Nothing can be added any more; all bytes are zero.
  void place(SectorAddress start);
  SectorAddress address(std::size_t index) const { return addresses_[index]; }
  const SummaryEntry& entry(std::size_t index) const { return entries_[index]; }
  std::span<std::byte> bytes(std::size_t index);
  SectorAddress start() const { return start_; }

  /// The region's bytes. Of `summary` sectors, checksum and entries are filled in.
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
