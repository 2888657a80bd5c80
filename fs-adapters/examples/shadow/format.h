#pragma once
// The form on the disk (FORMAT.md): two headers, two tables of inodes, blocks. Nothing here
// believes what it
// reads: what does not fit the device is an Error, and nothing outside of it is ever followed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "fs-adapters/substrate/tree/attributes.h"
#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::shadow {

using tree::InodeNumber;
using BlockAddress = std::uint32_t;  ///< of the blocks behind the tables, from 0

inline constexpr std::uint32_t kSectorBytes = model::kSectorBytes;
inline constexpr InodeNumber kRootInode = 2;
/// Where the headers are, whatever else is on the disk: in physical sectors of their own.
inline constexpr std::array<std::uint64_t, 2> kHeaderSectors{0, 8};
inline constexpr std::uint64_t kFirstTableSector = 16;
inline constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 30U;
inline constexpr std::size_t kRecordBytes = 56;  ///< of an inode without blocks
inline constexpr std::size_t kPointerBytes = 8;

/// Says where everything is. Made by mkfs, and the same in both headers ever after.
struct Geometry {
  std::uint64_t id = 0;
  std::uint32_t block_bytes = 0, blocks = 0, inodes = 0;
  bool operator==(const Geometry&) const = default;

  std::uint32_t block_sectors() const { return block_bytes / kSectorBytes; }
  /// Room for every inode and every block.
  std::uint64_t table_sectors() const;
  std::uint64_t table_lba(std::size_t slot) const {
    return kFirstTableSector + slot * table_sectors();
  }
  std::uint64_t lba_of(BlockAddress block) const;
  std::uint64_t device_sectors() const { return lba_of(blocks); }
};

/// One state of the file system, whole.
struct Header {
  Geometry geometry;
  std::uint64_t sequence = 0;  ///< of the commit that wrote it
  std::uint32_t table_bytes = 0, table_checksum = 0;
  std::uint32_t next_generation = 1;  ///< of inodes
  bool clean = false;                 ///< written by an unmount
  std::size_t slot() const { return sequence % kHeaderSectors.size(); }
};

struct Record {
  InodeNumber number = 0;
  tree::Attributes attributes;
  std::map<std::int64_t, BlockAddress>
      blocks;  ///< by their number in the file; the others are holes
};

/// A sector.
std::vector<std::byte> encode(const Header& header);
void append(const Record& record, std::vector<std::byte>& table);

/// What the newest header describes.
struct State {
  Header header;
  std::vector<Record> records;  ///< by number; those that are allocated
};
using ReadSectors = std::function<Result<void>(std::uint64_t lba, std::span<std::byte> into)>;
/// Errors: no header; a table that is not the one the header tells of, or is invalid; what cannot
/// be read.
Result<State> read_state(const ReadSectors& read, std::uint64_t device_sectors);

}  // namespace headcrash::shadow
