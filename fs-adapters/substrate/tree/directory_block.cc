// Entries of a directory block (directory_block.h).

#include "fs-adapters/substrate/tree/directory_block.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "plugin/base/little_endian.h"

namespace headcrash::tree {
namespace {

using namespace little_endian;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kLength = 4, kType = 6, kNameLength = 7;

void write_entry(std::span<std::byte> block, std::uint32_t offset, const Entry& entry) {
  const auto bytes = block.subspan(offset, entry.length);
  std::fill_n(bytes.begin(), std::min<std::size_t>(entry_bytes(entry.name.size()), bytes.size()),
              std::byte{0});
  store32(bytes, kEntryInodeOffset, entry.inode);
  store16(bytes, kLength, static_cast<std::uint16_t>(entry.length));
  store8(bytes, kType, entry.type);
  store8(bytes, kNameLength, static_cast<std::uint8_t>(entry.name.size()));
  if (!entry.name.empty())
    std::memcpy(bytes.data() + kEntryFixedBytes, entry.name.data(), entry.name.size());
}

void set_length(std::span<std::byte> block, std::uint32_t offset, std::uint32_t length) {
  store16(block, offset + kLength, static_cast<std::uint16_t>(length));
}

std::span<const std::byte> chunk_of(std::span<const std::byte> block, std::uint32_t chunk) {
  return block.first(std::min<std::size_t>(block.size(), (std::size_t{chunk} + 1) * kChunkBytes));
}

/// Returns the total free space in a chunk; nullopt if the chunk is damaged.
std::optional<std::uint32_t> room_of(std::span<const std::byte> block, std::uint32_t chunk) {
  std::uint32_t room = 0;
  DirectoryCursor cursor(chunk_of(block, chunk), chunk * kChunkBytes);
  while (const auto entry = cursor.next()) room += entry->length - entry->needed();
  if (cursor.damage()) return std::nullopt;
  return room;
}

/// Writes the entry into the slack of `host` or, if `host` is a free entry, in its place. Returns
/// the new entry's offset.
std::uint32_t place_in(std::span<std::byte> block, const Entry& host, Entry added) {
  const std::uint32_t used = host.needed();
  added.offset = host.offset + used;
  added.length = host.length - used;
  if (used != 0) set_length(block, host.offset, used);
  write_entry(block, added.offset, added);
  return added.offset;
}

/// Moves all entries of the chunk to its front, so that the last entry gets all the slack. Returns
/// the moves.
std::vector<MovedEntry> compact(std::span<std::byte> block, std::uint32_t chunk) {
  std::vector<MovedEntry> moved;
  const std::uint32_t end = (chunk + 1) * kChunkBytes;
  std::uint32_t to = chunk * kChunkBytes;
  std::optional<std::uint32_t> last;
  for (std::uint32_t at = to; at < end;) {
    const auto entry = entry_at(block, at);
    invariant(entry.has_value(), "tree: a chunk must be validated before it is compacted");
    at += entry->length;
    if (entry->inode == 0) continue;
    const std::uint32_t needed = entry->needed(), from = entry->offset;
    if (from != to) {
      std::memmove(block.data() + to, block.data() + from, needed);
      moved.push_back({.from = from, .to = to});
    }
    set_length(block, to, needed);
    last = to;
    to += needed;
  }
  if (last) {
    set_length(block, *last, end - *last);
  } else {
    format_chunks(block.subspan(std::size_t{chunk} * kChunkBytes, kChunkBytes));
  }
  return moved;
}

}  // namespace

std::optional<Entry> entry_at(std::span<const std::byte> block, std::uint32_t offset) {
  const std::uint32_t left = kChunkBytes - offset % kChunkBytes;
  if (offset % 4 != 0 || left < kEntryFixedBytes || std::size_t{offset} + left > block.size())
    return std::nullopt;
  const auto bytes = block.subspan(offset, left);
  Entry entry{.offset = offset,
              .inode = load32(bytes, kEntryInodeOffset),
              .length = load16(bytes, kLength),
              .type = load8(bytes, kType)};
  const std::uint32_t name_bytes = load8(bytes, kNameLength);
  if (entry.length % 4 != 0 || entry.length < kEntryFixedBytes || entry.length > left)
    return std::nullopt;
  if (entry.inode == 0) return entry;
  if (name_bytes == 0 || entry_bytes(name_bytes) > entry.length) return std::nullopt;
  const auto name = bytes.subspan(kEntryFixedBytes, name_bytes);
  entry.name = {reinterpret_cast<const char*>(name.data()), name.size()};
  return entry;
}

std::optional<Entry> DirectoryCursor::next() {
  while (at_ < block_.size()) {
    if (const auto entry = entry_at(block_, at_)) {
      at_ += entry->length;
      return entry;
    }
    if (!damage_) damage_ = at_;
    at_ = (at_ / kChunkBytes + 1) * kChunkBytes;
  }
  return std::nullopt;
}

std::optional<Entry> find_entry(std::span<const std::byte> block, std::string_view name) {
  DirectoryCursor cursor(block);
  while (const auto entry = cursor.next())
    if (entry->inode != 0 && entry->name == name) return entry;
  return std::nullopt;
}

NameSearch search_block(std::span<const std::byte> block, std::string_view name) {
  NameSearch result;
  const std::uint32_t wanted = entry_bytes(name.size());
  for (std::uint32_t start = 0; start + kChunkBytes <= block.size(); start += kChunkBytes) {
    const auto chunk = block.subspan(start, kChunkBytes).first<kChunkBytes>();
    std::uint32_t room = 0, at = 0;
    while (at < kChunkBytes) {
      const std::uint32_t left = kChunkBytes - at;
      if (left < kEntryFixedBytes) break;
      std::uint32_t inode = 0;
      std::uint16_t length = 0;
      std::memcpy(&inode, chunk.data() + at + kEntryInodeOffset, sizeof inode);
      std::memcpy(&length, chunk.data() + at + kLength, sizeof length);
      const auto name_bytes = std::to_integer<std::uint32_t>(chunk[at + kNameLength]);
      const std::uint32_t needed = inode == 0 ? 0 : entry_bytes(name_bytes);
      const bool sound = length % 4 == 0 && length >= kEntryFixedBytes && length <= left &&
                         needed <= length && (inode == 0 || name_bytes != 0);
      if (!sound) break;
      ++result.entries;
      room += length - needed;
      if (inode != 0 && name_bytes == name.size() &&
          std::memcmp(chunk.data() + at + kEntryFixedBytes, name.data(), name_bytes) == 0) {
        result.inode = inode;
        result.offset = start + at;
        return result;
      }
      at += length;
    }
    if (at == kChunkBytes && room >= wanted) result.room = true;
  }
  return result;
}

std::optional<Entry> previous_entry(std::span<const std::byte> block, std::uint32_t offset) {
  std::optional<Entry> previous;
  DirectoryCursor cursor(chunk_of(block, offset / kChunkBytes), offset / kChunkBytes * kChunkBytes);
  while (const auto entry = cursor.next()) {
    if (entry->offset >= offset) break;
    previous = entry;
  }
  return previous;
}

std::optional<std::uint32_t> chunk_with_room(std::span<const std::byte> block,
                                             std::size_t name_bytes) {
  for (std::uint32_t chunk = 0; chunk < block.size() / kChunkBytes; ++chunk) {
    const auto room = room_of(block, chunk);
    if (room && *room >= entry_bytes(name_bytes)) return chunk;
  }
  return std::nullopt;
}

std::optional<AddedEntry> add_entry(std::span<std::byte> block, std::uint32_t chunk,
                                    std::string_view name, InodeNumber inode, std::uint8_t type) {
  invariant(!name.empty() && name.size() <= kNameBytesMax, "tree: a name must have 1 to 255 bytes");
  const std::uint32_t needed = entry_bytes(name.size());
  const Entry added{.inode = inode, .type = type, .name = name};
  const auto room = room_of(block, chunk);
  if (!room || *room < needed) return std::nullopt;
  const auto place = [&]() -> std::optional<std::uint32_t> {
    DirectoryCursor cursor(chunk_of(block, chunk), chunk * kChunkBytes);
    while (const auto entry = cursor.next())
      if (entry->length - entry->needed() >= needed) return place_in(block, *entry, added);
    return std::nullopt;
  };
  if (const auto offset = place()) return AddedEntry{.offset = *offset};
  AddedEntry result{.moved = compact(block, chunk)};
  const auto offset = place();
  invariant(offset.has_value(), "tree: a compacted chunk must have room for the new entry");
  result.offset = *offset;
  return result;
}

std::optional<AddedEntry> add_entry(std::span<std::byte> block, std::string_view name,
                                    InodeNumber inode, std::uint8_t type) {
  const auto chunk = chunk_with_room(block, name.size());
  if (!chunk) return std::nullopt;
  return add_entry(block, *chunk, name, inode, type);
}

void remove_entry(std::span<std::byte> block, std::uint32_t offset) {
  const auto entry = entry_at(block, offset);
  invariant(entry && entry->inode != 0, "tree: an entry must exist before it is removed");
  if (const auto previous = previous_entry(block, offset)) {
    set_length(block, previous->offset, previous->length + entry->length);
  } else {
    store32(block, offset + kEntryInodeOffset, 0);
  }
}

void set_entry_inode(std::span<std::byte> block, std::uint32_t offset, InodeNumber inode) {
  invariant(entry_at(block, offset).has_value(), "tree: an entry must exist before it is changed");
  store32(block, offset + kEntryInodeOffset, inode);
}

void set_entry(std::span<std::byte> block, std::uint32_t offset, InodeNumber inode,
               std::uint8_t type) {
  set_entry_inode(block, offset, inode);
  store8(block, offset + kType, type);
}

bool is_empty_directory_block(std::span<const std::byte> block) {
  DirectoryCursor cursor(block);
  while (const auto entry = cursor.next())
    if (entry->inode != 0 && !entry->is_dot() && !entry->is_dot_dot()) return false;
  return !cursor.damage();
}

void format_chunks(std::span<std::byte> block) {
  std::fill(block.begin(), block.end(), std::byte{0});
  for (std::uint32_t at = 0; at + kChunkBytes <= block.size(); at += kChunkBytes)
    set_length(block, at, kChunkBytes);
}

void format_directory(std::span<std::byte> chunk, InodeNumber self, InodeNumber parent) {
  format_chunks(chunk);
  constexpr std::uint32_t kDotBytes = entry_bytes(1);
  write_entry(
      chunk, 0,
      {.inode = self, .length = kDotBytes, .type = entry_type(kTypeDirectory), .name = "."});
  write_entry(chunk, kDotBytes,
              {.inode = parent,
               .length = kChunkBytes - kDotBytes,
               .type = entry_type(kTypeDirectory),
               .name = ".."});
}

std::optional<DirectoryDamage> damage_of_chunk(std::span<const std::byte> block,
                                               std::uint32_t chunk) {
  DirectoryCursor cursor(chunk_of(block, chunk), chunk * kChunkBytes);
  while (const auto entry = cursor.next()) {
    if (entry->inode == 0) continue;
    if (entry->name.find('/') != std::string_view::npos)
      return DirectoryDamage{.offset = entry->offset, .text = "a name with a slash"};
    if (entry->name.find('\0') != std::string_view::npos)
      return DirectoryDamage{.offset = entry->offset, .text = "a name with a zero byte"};
    if (load8(block, entry->offset + kEntryFixedBytes + entry->name.size()) != 0)
      return DirectoryDamage{.offset = entry->offset, .text = "a name without a terminating zero"};
  }
  const auto damage = cursor.damage();
  if (!damage) return std::nullopt;
  const std::uint32_t at = *damage % kChunkBytes;
  if (kChunkBytes - at < kEntryFixedBytes || block.size() - *damage < kEntryFixedBytes)
    return DirectoryDamage{.offset = *damage,
                           .text = fmt::format("no room for an entry at byte {} of its chunk", at)};
  return DirectoryDamage{.offset = *damage,
                         .text = fmt::format("an entry of {} bytes at byte {} of its chunk",
                                             load16(block, *damage + kLength), at)};
}

}  // namespace headcrash::tree
