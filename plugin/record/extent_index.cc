#include "plugin/record/extent_index.h"

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::record {
namespace {

bool adjoins(const ExtentIndex::Extent& left, const ExtentIndex::Extent& right) {
  return left.end() == right.first && left.where.after(left.sectors) == right.where;
}

}  // namespace

ExtentIndex::ExtentIndex(std::uint64_t sectors)
    : sectors_(sectors), tables_((sectors / kChunkSectors) / kTableChunks + 1) {
  memory_bytes_ = tables_.size() * sizeof(tables_[0]);
}

const ExtentIndex::Chunk* ExtentIndex::chunk_at(std::uint64_t number) const {
  const auto& table = tables_[number / kTableChunks];
  return table ? table->chunks[number % kTableChunks].get() : nullptr;
}

ExtentIndex::Chunk& ExtentIndex::own_chunk(std::uint64_t number) {
  auto& table = tables_[number / kTableChunks];
  if (!table) {
    table = std::make_shared<Table>();
    memory_bytes_ += sizeof(Table);
  } else if (table.use_count() > 1) {
    table = std::make_shared<Table>(*table);
  }
  auto& chunk = table->chunks[number % kTableChunks];
  if (!chunk) {
    chunk = std::make_shared<Chunk>();
    memory_bytes_ += kChunkOverheadBytes;
  } else if (chunk.use_count() > 1) {
    memory_bytes_ -= chunk->capacity() * sizeof(Extent);
    chunk = std::make_shared<Chunk>(*chunk);
    memory_bytes_ += chunk->capacity() * sizeof(Extent);
  }
  return *chunk;
}

void ExtentIndex::account(const Chunk& chunk, std::size_t extents_before,
                          std::size_t capacity_before) {
  extents_ += chunk.size();
  extents_ -= extents_before;
  memory_bytes_ += chunk.capacity() * sizeof(Extent);
  memory_bytes_ -= capacity_before * sizeof(Extent);
}

void ExtentIndex::assign_in_chunk(Chunk& chunk, std::uint32_t first, std::uint32_t end,
                                  ExtentLocation where) {
  const auto low = std::partition_point(
      chunk.begin(), chunk.end(), [&](const Extent& extent) { return extent.end() <= first; });
  const auto high = std::partition_point(low, chunk.end(),
                                         [&](const Extent& extent) { return extent.first < end; });
  // Up to three pieces replace the extents [low, high): the front of the first extent, the new
  // extent, and the tail of the last extent.
  std::array<Extent, 3> pieces;
  std::size_t count = 0;
  const auto add = [&](std::uint32_t from, std::uint32_t to, ExtentLocation at) {
    const Extent piece{static_cast<std::uint16_t>(from), static_cast<std::uint16_t>(to - from), at};
    if (count > 0 && adjoins(pieces[count - 1], piece)) {
      pieces[count - 1].sectors = static_cast<std::uint16_t>(to - pieces[count - 1].first);
    } else {
      pieces[count++] = piece;
    }
  };
  if (low != high && low->first < first) add(low->first, first, low->where);
  add(first, end, where);
  if (low != high && (high - 1)->end() > end)
    add(end, (high - 1)->end(), (high - 1)->where.after(end - (high - 1)->first));

  auto from = low;
  auto to = high;
  if (from != chunk.begin() && adjoins(*(from - 1), pieces[0])) {
    --from;
    pieces[0].sectors = static_cast<std::uint16_t>(pieces[0].end() - from->first);
    pieces[0].first = from->first;
    pieces[0].where = from->where;
  }
  if (to != chunk.end() && adjoins(pieces[count - 1], *to)) {
    pieces[count - 1].sectors = static_cast<std::uint16_t>(to->end() - pieces[count - 1].first);
    ++to;
  }
  const auto room = static_cast<std::size_t>(to - from);
  const std::size_t shared = std::min(room, count);
  const auto rest = std::copy_n(pieces.begin(), shared, from);
  if (room > count) {
    chunk.erase(rest, to);
  } else {
    chunk.insert(rest, pieces.begin() + static_cast<std::ptrdiff_t>(shared),
                 pieces.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (chunk.capacity() > 16 && chunk.capacity() > 4 * chunk.size()) chunk.shrink_to_fit();
}

void ExtentIndex::assign(std::uint64_t lba, std::uint64_t count, ExtentLocation where) {
  invariant(lba <= sectors_ && count <= sectors_ - lba, "an extent must be within its medium");
  while (count > 0) {
    const std::uint64_t first = lba % kChunkSectors;
    const std::uint64_t run = std::min(count, kChunkSectors - first);
    Chunk& chunk = own_chunk(lba / kChunkSectors);
    const std::size_t extents_before = chunk.size();
    const std::size_t capacity_before = chunk.capacity();
    assign_in_chunk(chunk, static_cast<std::uint32_t>(first),
                    static_cast<std::uint32_t>(first + run), where);
    account(chunk, extents_before, capacity_before);
    where = where.after(run);
    lba += run;
    count -= run;
  }
}

void ExtentIndex::mark_unreadable(std::uint64_t lba, std::uint64_t count) {
  struct Piece {
    std::uint64_t lba, count;
    ExtentLocation where;
  };
  std::vector<Piece> known;
  visit(lba, count, [&](std::uint64_t from, std::uint64_t sectors, ExtentLocation where) {
    known.push_back({from, sectors, where});
  });
  assign(lba, count, ExtentLocation::zeroes().with_unreadable());
  for (const Piece& piece : known) assign(piece.lba, piece.count, piece.where.with_unreadable());
}

std::uint64_t ExtentIndex::find_fragmented(std::uint64_t chunk, std::size_t extents) const {
  const std::uint64_t chunks = (sectors_ + kChunkSectors - 1) / kChunkSectors;
  for (; chunk < chunks; ++chunk) {
    if (!tables_[chunk / kTableChunks]) {
      chunk += kTableChunks - 1 - chunk % kTableChunks;
      continue;
    }
    if (const Chunk* found = chunk_at(chunk); found != nullptr && found->size() >= extents)
      return chunk;
  }
  return kNoChunk;
}

}  // namespace headcrash::record
