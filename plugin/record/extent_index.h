#pragma once
// The mapping from sectors of one medium to bytes in a recording.
//
//   medium    | chunk 0: 2048 sectors | chunk 1 | (never written) | chunk 3 | ...
//   table     [ 512 chunks ] -> shared by all copies until one of them writes
//   chunk     first 0, 256 sectors -> offset 4096 | first 256, 8 sectors -> zeroes | first 300, ...
//
// A chunk is a sorted array of 16-byte extents. An assignment trims or drops the extents that it
// overlaps, and merges neighbours that are contiguous in the file. An array therefore never has
// more extents than a chunk has sectors. The worst case is 32 KiB per MiB of medium (single sectors
// in random order); random 4 KiB blocks take 4 KiB, and 128 KiB writes about 200 bytes. Copies
// share tables and chunks and copy only what they change (a persistent tree with reference counts),
// so thousands of crash states of one run cost little more than their differences.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::record {

/// The location of a run of bytes, with flags, packed into 8 bytes.
class ExtentLocation {
 public:
  static constexpr ExtentLocation zeroes() { return ExtentLocation(0); }
  static constexpr ExtentLocation at(std::uint64_t offset) {
    return ExtentLocation(offset & kOffsetMask);
  }
  constexpr ExtentLocation() = default;

  constexpr bool is_zeroes() const { return (word_ & kOffsetMask) == 0 && !unknown(); }
  /// 0 if the bytes are zeroes or unknown
  constexpr std::uint64_t offset() const { return word_ & kOffsetMask; }
  /// Returns true if the bytes differ from those that were sent.
  constexpr bool torn() const { return (word_ & kTorn) != 0; }
  constexpr bool unreadable() const { return (word_ & kUnreadable) != 0; }
  /// Returns true if the run was recorded without data.
  constexpr bool unknown() const { return (word_ & kUnknown) != 0; }
  constexpr bool plain() const { return (word_ & ~kOffsetMask) == 0; }
  constexpr ExtentLocation with_torn() const { return ExtentLocation(word_ | kTorn); }
  constexpr ExtentLocation with_unreadable() const { return ExtentLocation(word_ | kUnreadable); }
  static constexpr ExtentLocation unrecorded() { return ExtentLocation(kUnknown); }

  /// Returns this location, advanced by `sectors`.
  constexpr ExtentLocation after(std::uint64_t sectors) const {
    return offset() == 0 ? *this : ExtentLocation(word_ + sectors * model::kSectorBytes);
  }
  constexpr bool operator==(const ExtentLocation&) const = default;

  constexpr std::uint64_t word() const { return word_; }  ///< for checkpoints
  static constexpr ExtentLocation from_word(std::uint64_t word) { return ExtentLocation(word); }

 private:
  static constexpr std::uint64_t kTorn = 1ULL << 63, kUnreadable = 1ULL << 62,
                                 kUnknown = 1ULL << 61;
  static constexpr std::uint64_t kOffsetMask = (1ULL << 56) - 1;
  explicit constexpr ExtentLocation(std::uint64_t word) : word_(word) {}
  std::uint64_t word_ = 0;
};

class ExtentIndex {
 public:
  static constexpr std::uint64_t kChunkSectors = 2048;
  static constexpr std::uint64_t kNoChunk = std::numeric_limits<std::uint64_t>::max();

  struct Extent {
    std::uint16_t first = 0;    ///< offset in the chunk
    std::uint16_t sectors = 0;  ///< at least 1
    ExtentLocation where;
    std::uint32_t end() const { return std::uint32_t{first} + sectors; }
  };
  static_assert(sizeof(Extent) == 16);

  explicit ExtentIndex(std::uint64_t sectors);

  std::uint64_t sectors() const { return sectors_; }

  /// REQUIRES: the range is inside the medium.
  void assign(std::uint64_t lba, std::uint64_t count, ExtentLocation where);
  /// Marks sectors as unreadable; their bytes remain known.
  void mark_unreadable(std::uint64_t lba, std::uint64_t count);

  /// Calls `visit(lba, count, where)` for the assigned parts of [lba, lba+count), in order. A
  /// visited part never crosses a chunk boundary.
  template <typename Visit>
  void visit(std::uint64_t lba, std::uint64_t count, Visit visit) const;

  std::uint64_t extents() const { return extents_; }
  /// Returns the memory that the index would use if no chunk were shared.
  std::size_t memory_bytes() const { return memory_bytes_; }

  /// Returns the first chunk at or after `chunk` that has at least `extents` extents; kNoChunk if
  /// no such chunk exists.
  std::uint64_t find_fragmented(std::uint64_t chunk, std::size_t extents) const;

 private:
  using Chunk = std::vector<Extent>;
  static constexpr std::size_t kTableChunks = 512;
  struct Table {
    std::array<std::shared_ptr<Chunk>, kTableChunks> chunks;
  };
  /// Estimated memory per chunk for the vector, the reference count and the allocator.
  static constexpr std::size_t kChunkOverheadBytes = 64;

  const Chunk* chunk_at(std::uint64_t number) const;
  Chunk& own_chunk(std::uint64_t number);
  void assign_in_chunk(Chunk& chunk, std::uint32_t first, std::uint32_t end, ExtentLocation where);
  void account(const Chunk& chunk, std::size_t extents_before, std::size_t capacity_before);

  std::uint64_t sectors_;
  std::vector<std::shared_ptr<Table>> tables_;
  std::uint64_t extents_ = 0;
  std::size_t memory_bytes_ = 0;
};

template <typename Visit>
void ExtentIndex::visit(std::uint64_t lba, std::uint64_t count, Visit visit) const {
  const std::uint64_t end = lba + count;
  while (lba < end) {
    const std::uint64_t base = lba - lba % kChunkSectors;
    const std::uint64_t stop = end < base + kChunkSectors ? end : base + kChunkSectors;
    if (const Chunk* chunk = chunk_at(base / kChunkSectors)) {
      std::size_t low = 0;
      for (std::size_t high = chunk->size(); low < high;) {
        const std::size_t middle = (low + high) / 2;
        if (base + (*chunk)[middle].end() <= lba) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      for (; low < chunk->size() && base + (*chunk)[low].first < stop; ++low) {
        const Extent& extent = (*chunk)[low];
        const std::uint64_t from = lba > base + extent.first ? lba : base + extent.first;
        const std::uint64_t to = stop < base + extent.end() ? stop : base + extent.end();
        visit(from, to - from, extent.where.after(from - base - extent.first));
      }
    }
    lba = stop;
  }
}

}  // namespace headcrash::record
