// Phase 2 within a directory chunk (fsck.h): checks the structure of the chunk and each of its
// entries. Changes are made in memory; once the whole chunk has been checked, it is written as a
// single sector.

#include <fmt/core.h>

#include "fs-adapters/substrate/tree/exchange_name.h"
#include "fs-adapters/ufs/fsck/fsck_state.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

/// Keeps the entries before the damage at offset `damage`, and turns the rest of the chunk into
/// free space.
void cut_chunk(std::span<std::byte> chunk, std::uint32_t damage) {
  std::optional<tree::Entry> last;
  tree::DirectoryCursor cursor(chunk);
  while (const auto entry = cursor.next()) last = entry;
  if (!last || damage == 0) {
    tree::format_chunks(chunk);
  } else {
    store16(chunk, last->offset + 4, static_cast<std::uint16_t>(tree::kChunkBytes - last->offset));
  }
}

/// Rebuilds a directory's first chunk with "." and "..", and with as many of its other entries as
/// fit.
void rebuild_first(std::span<std::byte> chunk, InodeNumber self, InodeNumber parent) {
  std::array<std::byte, tree::kChunkBytes> before;
  std::copy(chunk.begin(), chunk.end(), before.begin());
  tree::format_directory(chunk, self, parent);
  tree::DirectoryCursor cursor(before);
  while (const auto entry = cursor.next())
    if (entry->inode != 0 && entry->inode != self && !entry->is_dot() && !entry->is_dot_dot())
      tree::add_entry(chunk, entry->name, entry->inode, entry->type);
}

}  // namespace

/// Checks a chunk of `block`, which is the directory's block number `number`. Returns true if the
/// chunk must be written.
bool Fsck::State::check_chunk(std::size_t index, std::uint32_t number, std::uint32_t chunk,
                              FragmentAddress at) {
  bool changed = repair_chunk(directories[index], chunk);
  std::uint32_t from = chunk * tree::kChunkBytes;
  if (number == 0 && chunk == 0) {
    changed |= check_dots(directories[index]);
    const auto dot = tree::entry_at(block, 0);
    const auto dot_dot = dot ? tree::entry_at(block, dot->length) : std::nullopt;
    if (!dot_dot || !dot_dot->is_dot_dot())
      return changed;  // without a repair, the entries after the damage cannot be relied on
    from = dot_dot->offset + dot_dot->length;
  }
  const auto until =
      std::span<const std::byte>(block).first((std::size_t{chunk} + 1) * tree::kChunkBytes);
  tree::DirectoryCursor cursor(until, from);
  while (const auto entry = cursor.next()) {
    if (entry->inode == 0) continue;
    const std::uint32_t offset = entry->offset;
    const EntryFate fate = check_entry(index, *entry, at);
    if (fate == EntryFate::remove && repairing()) tree::remove_entry(block, offset);
    if (fate != EntryFate::remove) ++directories[index].entries;
    changed |= fate != EntryFate::keep && repairing();
  }
  return changed;
}

bool Fsck::State::repair_chunk(const CheckedDirectory& directory, std::uint32_t chunk) {
  const auto bytes =
      std::span(block).subspan(std::size_t{chunk} * tree::kChunkBytes, tree::kChunkBytes);
  tree::DirectoryCursor cursor(bytes);
  bool changed = false;
  while (const auto entry = cursor.next()) {
    if (entry->inode == 0) continue;
    const std::size_t end = entry->offset + tree::kEntryFixedBytes + entry->name.size();
    if (load8(bytes, end) == 0) continue;
    find(FindingKind::bad_entry, directory.inode, 0, 0,
         fmt::format("directory {}: a name without a terminating zero", directory.inode));
    if (repairing()) store8(bytes, end, 0);
    changed = true;
  }
  if (!cursor.damage()) return changed && repairing();
  find(FindingKind::bad_chunk, directory.inode, 0, 0,
       fmt::format("directory {}: a chunk is invalid from byte {} on", directory.inode,
                   *cursor.damage()));
  if (repairing()) cut_chunk(bytes, *cursor.damage());
  return repairing();
}

/// Checks "." and "..", which must be the first entries. Phase 3 checks whether ".." refers to the
/// correct parent.
bool Fsck::State::check_dots(CheckedDirectory& directory) {
  const auto bytes = std::span(block).first(tree::kChunkBytes);
  const auto dot = tree::entry_at(bytes, 0);
  const auto dot_dot = dot ? tree::entry_at(bytes, dot->length) : std::nullopt;
  ++names[directory.inode];
  const bool both = dot && dot->is_dot() && dot_dot && dot_dot->is_dot_dot();
  if (both && dot->inode == directory.inode) {
    directory.dot_dot = dot_dot->inode;
    return false;
  }
  find(FindingKind::bad_dot, directory.inode, 0, 0,
       both ? fmt::format("directory {}: '.' refers to inode {}", directory.inode, dot->inode)
            : fmt::format("directory {}: '.' and '..' are missing", directory.inode));
  if (both) {
    directory.dot_dot = dot_dot->inode;
    if (repairing()) tree::set_entry_inode(bytes, 0, directory.inode);
  } else {
    const auto elsewhere = tree::find_entry(bytes, "..");
    directory.dot_dot = elsewhere ? elsewhere->inode : kRootInode;
    if (repairing()) rebuild_first(bytes, directory.inode, directory.dot_dot);
  }
  return repairing();
}

/// Checks an entry of the directory block at address `at`.
EntryFate Fsck::State::check_entry(std::size_t index, const tree::Entry& entry,
                                   FragmentAddress at) {
  const InodeNumber in = directories[index].inode;
  if (entry.is_dot() || entry.is_dot_dot()) {
    find(FindingKind::bad_dot, in, 0, 0,
         fmt::format("directory {}: a second '{}'", in, entry.name));
    return EntryFate::remove;
  }
  if (entry.name.find('/') != std::string_view::npos ||
      entry.name.find('\0') != std::string_view::npos) {
    find(FindingKind::bad_entry, in, 0, 0,
         fmt::format("directory {}: a name with a slash or zero byte", in));
    return EntryFate::remove;
  }
  if (!geometry.is_inode(entry.inode)) {
    find(FindingKind::bad_entry, in, 0, 0,
         fmt::format("directory {}: '{}' is inode {}, which does not exist", in, entry.name,
                     entry.inode));
    return EntryFate::remove;
  }
  const std::uint8_t actual = type[entry.inode];
  if (actual == 0) {
    find(FindingKind::dangling_entry, entry.inode, 0, 0,
         fmt::format("directory {}: '{}' is inode {}, which is not allocated", in, entry.name,
                     entry.inode));
    return EntryFate::remove;
  }
  if (entry.inode == kRootInode ||
      (actual == entry_type(kTypeDirectory) && !keep_name_of_directory(index, entry, at))) {
    if (entry.inode == kRootInode)
      find(FindingKind::directory_second_name, kRootInode, 0, 0,
           fmt::format("directory {}: '{}' is the root", in, entry.name));
    return EntryFate::remove;
  }
  ++names[entry.inode];
  if (actual != entry_type(kTypeDirectory) && tree::is_exchange_name(entry.name, entry.inode))
    exchange_names.push_back(
        {.directory = index, .inode = entry.inode, .block = at, .offset = entry.offset});
  if (in == kRootInode && entry.name == "lost+found" && actual == entry_type(kTypeDirectory))
    lost_found = entry.inode;
  if (entry.type == actual || entry.type == 0) return EntryFate::keep;
  find(FindingKind::bad_entry, entry.inode, 0, 0,
       fmt::format("directory {}: '{}' has type {}, but inode {} has type {}", in, entry.name,
                   entry.type, entry.inode, actual));
  if (repairing()) tree::set_entry(block, entry.offset, entry.inode, actual);
  return EntryFate::change;
}

}  // namespace headcrash::ufs
