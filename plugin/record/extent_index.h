#pragma once
// Where in a recording the bytes of each sector of one medium lie.
//
//   medium    | chunk 0: 2048 sectors | chunk 1 | (never written) | chunk 3 | ...
//   table     [ 512 chunks ] -> shared by all copies until one of them writes
//   chunk     first 0, 256 sectors -> offset 4096 | first 256, 8 sectors -> zeroes | first 300, ...
//
// A chunk is a sorted array of extents of 16 bytes. An assignment cuts and drops the extents below
// it and joins neighbours whose bytes adjoin in the file, so the array never holds more than a
// chunk has sectors: 32 KiB for 1 MiB of medium in the worst case (single sectors in random order),
// 4 KiB for random 4 KiB blocks, some 200 bytes for 128 KiB writes. Copies share tables and chunks
// and copy only what they change (persistent tree, reference counted): thousands of crash states of
// one run cost little more than their differences.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::record {

/// Where bytes lie and what is odd about them, in 8 bytes.
class ExtentLocation {
 public:
  static constexpr ExtentLocation zeroes() { return ExtentLocation(0); }
  static constexpr ExtentLocation at(std::uint64_t offset) {
    return ExtentLocation(offset & kOffsetMask);
  }
  constexpr ExtentLocation() = default;

  constexpr bool is_zeroes() const { return (word_ & kOffsetMask) == 0 && !unknown(); }
  constexpr std::uint64_t offset() const { return word_ & kOffsetMask; }  ///< 0: zeroes or unknown
  constexpr bool torn() const { return (word_ & kTorn) != 0; }  ///< the bytes are not what was sent
  constexpr bool unreadable() const { return (word_ & kUnreadable) != 0; }
  constexpr bool unknown() const {
    return (word_ & kUnknown) != 0;
  }  ///< the run was made without data
  constexpr bool plain() const { return (word_ & ~kOffsetMask) == 0; }
  constexpr ExtentLocation with_torn() const { return ExtentLocation(word_ | kTorn); }
  constexpr ExtentLocation with_unreadable() const { return ExtentLocation(word_ | kUnreadable); }
  static constexpr ExtentLocation unrecorded() { return ExtentLocation(kUnknown); }

  /// The same, `sectors` further on.
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
    std::uint16_t first = 0;    ///< in the chunk
    std::uint16_t sectors = 0;  ///< at least 1
    ExtentLocation where;
    std::uint32_t end() const { return std::uint32_t{first} + sectors; }
  };
  static_assert(sizeof(Extent) == 16);

  explicit ExtentIndex(std::uint64_t sectors);

  std::uint64_t sectors() const { return sectors_; }

  /// The range lies inside the medium.
  void assign(std::uint64_t lba, std::uint64_t count, ExtentLocation where);
  /// Marks sectors as unreadable; what they hold stays known.
  void mark_unreadable(std::uint64_t lba, std::uint64_t count);

  /// Calls `visit(lba, count, where)` for the assigned parts of [lba, lba+count), in order. A piece
  /// never crosses a chunk.
  template <typename Visit>
  void visit(std::uint64_t lba, std::uint64_t count, Visit visit) const;

  std::uint64_t extents() const { return extents_; }
  /// Memory of the index if nothing were shared.
  std::size_t memory_bytes() const { return memory_bytes_; }

  /// The first chunk at or after `chunk` that has at least `extents` extents; kNoChunk: none up to
  /// the end.
  std::uint64_t find_crowded(std::uint64_t chunk, std::size_t extents) const;

 private:
  using Chunk = std::vector<Extent>;
  static constexpr std::size_t kTableChunks = 512;
  struct Table {
    std::array<std::shared_ptr<Chunk>, kTableChunks> chunks;
  };
  static constexpr std::size_t kChunkOverheadBytes =
      64;  ///< vector, reference count, allocator (estimate)

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
