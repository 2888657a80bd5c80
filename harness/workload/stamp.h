#pragma once
// Self-describing file contents.
//
// Every 512-byte block that a workload writes is a stamp. It contains the file's number (not its
// name, which can change), the version of the write, and the block's position in the file. The rest
// of the block is computed from these three numbers. After a crash, a block is therefore a stamp of
// a known write, a stamp in the wrong place, zeroes, or foreign bytes (stale data, a torn sector).
//
//   0        8        12        16        24                                     512
//   +--------+--------+---------+---------+--------------------------------------+
//   | magic  | file   | version | block   | fill: SplitMix64(file,version,block) |
//   +--------+--------+---------+---------+--------------------------------------+

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace headcrash::workload {

inline constexpr std::size_t kStampBytes = 512;
/// A shorter block cannot be recognised as a stamp.
inline constexpr std::size_t kStampHeaderBytes = 24;

struct Stamp {
  std::uint32_t file = 0;
  std::uint32_t version = 0;
  std::uint64_t block = 0;  ///< offset of the block in the file, in units of 512 bytes
  bool operator==(const Stamp&) const = default;
};

/// Fills `block` with the stamp. If the last block of a file is shorter than kStampBytes, it gets
/// only the beginning of the stamp.
void write_stamp(const Stamp& stamp, std::span<std::byte> block);

/// Fills `data` with stamps. `data` begins at `offset` in the file and may have any length.
void write_stamps(std::uint32_t file, std::uint32_t version, std::uint64_t offset,
                  std::span<std::byte> data);

/// A sector that the disk contained before mkfs. It contains its own number and a magic number that
/// no stamp has ("\0HCPRIOR"). A dump can therefore distinguish such a sector from zeroes, from
/// blocks of other files and from torn blocks.
struct BeforeMkfs {
  std::uint64_t sector = 0;
  bool operator==(const BeforeMkfs&) const = default;
};

/// Fills `data` with the contents that the disk had before mkfs, starting at `first_sector`.
void write_before_mkfs(std::uint64_t first_sector, std::span<std::byte> data);

struct Zeroes {};
struct Foreign {};  ///< any other contents: stale data, or a torn or damaged block
using BlockContent = std::variant<Stamp, BeforeMkfs, Zeroes, Foreign>;

/// Classifies the contents of a block of 1 to 512 bytes. A stamp or a sector from before mkfs is
/// recognised only if every byte of it matches.
BlockContent read_stamp(std::span<const std::byte> block);

/// Returns a digest of the bytes (FNV-1a), for comparing blocks that are not stamps. The digest is
/// never 0.
std::uint64_t block_digest(std::span<const std::byte> block);

}  // namespace headcrash::workload
