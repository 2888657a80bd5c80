#pragma once
// On-disk format (FORMAT.md): two headers, two inode tables, and blocks. All input is validated: an
// address or a size beyond the end of the device is an Error.

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
using BlockAddress = std::uint32_t;  ///< number of a block; block 0 follows the tables

inline constexpr std::uint32_t kSectorBytes = model::kSectorBytes;
inline constexpr InodeNumber kRootInode = 2;
/// Positions of the headers, each in a separate physical sector.
inline constexpr std::array<std::uint64_t, 2> kHeaderSectors{0, 8};
inline constexpr std::uint64_t kFirstTableSector = 16;
inline constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 30U;
/// Size of an inode's record without its block addresses.
inline constexpr std::size_t kRecordBytes = 56;
inline constexpr std::size_t kPointerBytes = 8;

/// The layout of the file system. mkfs determines it, and each header contains a copy.
struct Geometry {
  std::uint64_t id = 0;
  std::uint32_t block_bytes = 0, blocks = 0, inodes = 0;
  bool operator==(const Geometry&) const = default;

  std::uint32_t block_sectors() const { return block_bytes / kSectorBytes; }
  /// Returns the size of one table, which has room for all inodes and the addresses of all blocks.
  std::uint64_t table_sectors() const;
  std::uint64_t table_lba(std::size_t slot) const {
    return kFirstTableSector + slot * table_sectors();
  }
  std::uint64_t lba_of(BlockAddress block) const;
  std::uint64_t device_sectors() const { return lba_of(blocks); }
};

/// A header, which represents one complete state of the file system.
struct Header {
  Geometry geometry;
  std::uint64_t sequence = 0;  ///< number of the commit that wrote this header
  std::uint32_t table_bytes = 0, table_checksum = 0;
  std::uint32_t next_generation = 1;  ///< generation of the next new inode
  bool clean = false;                 ///< written by an unmount
  std::size_t slot() const { return sequence % kHeaderSectors.size(); }
};

struct Record {
  InodeNumber number = 0;
  tree::Attributes attributes;
  /// Address of each block, by the block's number within the file. Blocks that are not in the map
  /// are holes.
  std::map<std::int64_t, BlockAddress> blocks;
};

/// Encodes a header as one sector.
std::vector<std::byte> encode(const Header& header);
void append(const Record& record, std::vector<std::byte>& table);

/// The state described by the newest header.
struct State {
  Header header;
  std::vector<Record> records;  ///< allocated inodes, by inode number
};
using ReadSectors = std::function<Result<void>(std::uint64_t lba, std::span<std::byte> into)>;
/// Reads the newest state. Fails if there is no valid header, if the table is invalid or does not
/// match its header, or if `read` fails.
Result<State> read_state(const ReadSectors& read, std::uint64_t device_sectors);

}  // namespace headcrash::shadow
