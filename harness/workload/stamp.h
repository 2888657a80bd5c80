#pragma once
// File content that says where it belongs.
//
// Every 512-byte block that a workload writes is a stamp: it names the file (a number the workload
// gave it, not its name: files are renamed), the version of the write, and the block's place in the
// file; the rest is filled from those three. After a crash a block is therefore one of: a stamp of
// a known write, a stamp in the wrong place, zeroes, or foreign bytes (stale data, a torn sector).
//
//   0        8        12        16        24                                  512
//   +--------+--------+---------+---------+-----------------------------------+
//   | magic  | file   | version | block   | fill: SplitMix64(file,version,block) |
//   +--------+--------+---------+---------+-----------------------------------+

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace headcrash::workload {

inline constexpr std::size_t kStampBytes = 512;
inline constexpr std::size_t kStampHeaderBytes = 24;  ///< a shorter last block cannot be recognised

struct Stamp {
  std::uint32_t file = 0;
  std::uint32_t version = 0;
  std::uint64_t block = 0;  ///< offset in the file / 512
  bool operator==(const Stamp&) const = default;
};

/// Fills `block` (at most kStampBytes: the last block of a file may be partial).
void write_stamp(const Stamp& stamp, std::span<std::byte> block);

/// Fills any length starting at `offset` of a file.
void write_stamps(std::uint32_t file, std::uint32_t version, std::uint64_t offset,
                  std::span<std::byte> data);

/// What was on the disk before mkfs: every sector names itself, under a magic of its own
/// ("\0HCPRIOR"), so that a dump tells such bytes from zeroes, from other files' blocks and from
/// torn ones.
struct BeforeMkfs {
  std::uint64_t sector = 0;
  bool operator==(const BeforeMkfs&) const = default;
};

/// Fills `data`, which begins at `first_sector` of the disk; done before mkfs, to the whole of it
/// or a part.
void write_before_mkfs(std::uint64_t first_sector, std::span<std::byte> data);

struct Zeroes {};
struct Foreign {};  ///< none of these: stale, torn or damaged
using BlockContent = std::variant<Stamp, BeforeMkfs, Zeroes, Foreign>;

/// What a block of 1..512 bytes holds. A stamp counts only when every byte is right, and so do
/// bytes from before mkfs.
BlockContent read_stamp(std::span<const std::byte> block);

}  // namespace headcrash::workload
