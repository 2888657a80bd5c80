// Phase 2 (fsck.h): checks every directory, reachable or not, block by block. Each name counts as a
// link of its inode, and a directory's name also determines its parent. A directory may have only
// one name. If an interrupted move has left a directory with two names, the name in the directory
// to which ".." refers stays. The temporary name of an exchange (exchange_name.h) is removed if
// there is another reachable name.

#include <fmt/core.h>

#include <algorithm>

#include "fs-adapters/substrate/tree/exchange_name.h"
#include "fs-adapters/ufs/fsck/fsck_state.h"

namespace headcrash::ufs {

void Fsck::State::check_names() {
  if (type[kRootInode] != entry_type(kTypeDirectory)) {
    find(FindingKind::bad_root, kRootInode, 0, 0, "the root is not a directory; recreated");
    if (repairing()) make_root();
    return;
  }
  CheckedDirectory* const root = directory(kRootInode);
  root->parent = kRootInode;
  exchange_names.clear();
  for (std::size_t i = 0; i < directories.size() && !stopped(); ++i) check_directory(i);
  end_exchanges();
}

/// Returns true if the directory is reachable from the root without passing through lost+found.
/// Names below lost+found do not count, because their files may have been removed before the power
/// failed.
bool Fsck::State::is_reachable(InodeNumber number) {
  for (std::size_t steps = 0; steps < directories.size(); ++steps) {
    if (number == kRootInode) return true;
    const CheckedDirectory* const at = directory(number);
    if (at == nullptr || at->parent == 0 || number == lost_found) return false;
    number = at->parent;
  }
  return false;  // a ring
}

/// For each inode that has the temporary name of an exchange (exchange_name.h), counts the inode's
/// names in reachable directories.
std::map<InodeNumber, std::uint32_t> Fsck::State::reachable_names() {
  std::map<InodeNumber, std::uint32_t> count;
  for (const ExchangeName& third : exchange_names)
    if (!third.reported) count[third.inode] = 0;
  if (count.empty()) return count;
  for (const CheckedDirectory& d : directories) {
    if (stopped() || !is_reachable(d.inode)) continue;
    for (std::uint32_t b = 0; b < d.blocks; ++b) {
      block.resize(geometry.block_bytes());
      const auto held = std::span(block).first(directory_block_bytes(d, b));
      if (!read(directory_blocks[d.first_block + b], held)) return count;
      tree::DirectoryCursor cursor(held);
      while (const auto entry = cursor.next()) {
        // In a directory that was just checked, ".." may still refer to any inode.
        if (entry->is_dot() || entry->is_dot_dot()) continue;
        if (const auto found = count.find(entry->inode); found != count.end()) ++found->second;
      }
    }
  }
  return count;
}

/// Removes the temporary names of interrupted exchanges. Runs at the end of phase 2, because until
/// then such a name may be in the chunk that is being checked.
void Fsck::State::end_exchanges() {
  std::map<InodeNumber, std::uint32_t> reachable = reachable_names();
  for (const ExchangeName& third : exchange_names) {
    if (stopped()) return;
    if (!third.reported) {
      const std::uint32_t itself = is_reachable(directories[third.directory].inode) ? 1 : 0;
      if (reachable[third.inode] <= itself) continue;
      reachable[third.inode] -= itself;
      find(FindingKind::interrupted_exchange, third.inode, 0, 1,
           fmt::format(
               "inode {}: has a regular name and one left by an unfinished exchange; the latter is "
               "removed",
               third.inode));
    }
    remove_name(third.block, third.offset);
    --names[third.inode];
    --directories[third.directory].entries;
  }
}

void Fsck::State::check_directory(std::size_t index) {
  block.resize(geometry.block_bytes());
  for (std::uint32_t b = 0; b < directories[index].blocks; ++b) {
    const FragmentAddress at = directory_blocks[directories[index].first_block + b];
    const std::uint32_t bytes = directory_block_bytes(directories[index], b);
    block.resize(geometry.block_bytes());
    const auto held = std::span(block).first(bytes);
    if (!read(at, held)) return;
    for (std::uint32_t chunk = 0; chunk < bytes / tree::kChunkBytes; ++chunk) {
      if (!check_chunk(index, b, chunk, at)) continue;
      const std::size_t byte = std::size_t{chunk} * tree::kChunkBytes;
      write_sectors(geometry.lba_of(at) + chunk, held.subspan(byte, tree::kChunkBytes));
    }
  }
}

/// Returns the inode to which the ".." of a directory refers, even if the directory has not been
/// checked yet.
InodeNumber Fsck::State::dot_dot_of(CheckedDirectory& d) {
  if (d.dot_dot != 0) return d.dot_dot;
  std::array<std::byte, tree::kChunkBytes> chunk = {};
  if (!read(directory_blocks[d.first_block], chunk)) return 0;
  const auto entry = tree::find_entry(chunk, "..");
  return entry ? entry->inode : 0;
}

/// Removes the entry at `offset` in the directory block at `at`, which is not in memory.
void Fsck::State::remove_name(FragmentAddress at, std::uint32_t offset) {
  std::array<std::byte, tree::kChunkBytes> chunk = {};
  const std::uint64_t lba = geometry.lba_of(at) + offset / tree::kChunkBytes;
  if (!repairing() || !read_sectors(lba, chunk)) return;
  const auto entry = tree::entry_at(chunk, offset % tree::kChunkBytes);
  if (!entry || entry->inode == 0) return;
  tree::remove_entry(chunk, offset % tree::kChunkBytes);
  write_sectors(lba, chunk);
}

/// Called for the name of a directory. Returns false if this name must be removed because the
/// directory has another one.
bool Fsck::State::keep_name_of_directory(std::size_t index, const tree::Entry& entry,
                                         FragmentAddress at) {
  CheckedDirectory& named = *directory(entry.inode);
  CheckedDirectory& in = directories[index];
  const bool by_exchange = tree::is_exchange_name(entry.name, named.inode);
  if (named.parent != 0) {
    const bool confirmed = named.parent != in.inode && dot_dot_of(named) == in.inode;
    const bool newer =
        named.inode != kRootInode && !by_exchange && (named.named_by_exchange || confirmed);
    find(FindingKind::directory_second_name, named.inode, 0, 1,
         fmt::format("directory {}: has names in directories {} and {}; the one in {} is removed",
                     named.inode, named.parent, in.inode, newer ? named.parent : in.inode));
    if (!newer) return false;
    CheckedDirectory* const before = directory(named.parent);
    if (named.named_by_exchange) {
      exchange_names.push_back({.directory = static_cast<std::size_t>(before - directories.data()),
                                .inode = named.inode,
                                .block = named.named_block,
                                .offset = named.named_offset,
                                .reported = true});
    } else {
      remove_name(named.named_block, named.named_offset);
      if (before != nullptr) --before->entries;
      --names[named.inode];
    }
  }
  named.parent = in.inode;
  named.named_block = at, named.named_offset = entry.offset;
  named.named_by_exchange = by_exchange;
  return true;
}

void Fsck::State::make_root() {
  const FragmentAddress at = map.allocate(1);
  if (at == 0) {
    find(FindingKind::no_room, kRootInode, 0, 1, "no free fragment for a root directory", false);
    return;
  }
  std::vector<std::byte> bytes(geometry.fragment_bytes());
  tree::format_directory(std::span(bytes).first(tree::kChunkBytes), kRootInode, kRootInode);
  if (!write(at, bytes)) return;
  Inode root{{.mode = kTypeDirectory | 0755, .links = 2, .size_bytes = tree::kChunkBytes}};
  root.sectors = geometry.sectors_per_fragment();
  root.modified.seconds = root.changed.seconds = root.accessed.seconds =
      static_cast<std::int32_t>(options.time);
  root.direct[0] = at;
  save(kRootInode, root);
  again = true;
}

}  // namespace headcrash::ufs
