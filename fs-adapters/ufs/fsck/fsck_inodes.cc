// Phase 1 (fsck.h): checks all inodes, in the order of the tables, which are read in long runs. For
// allocated inodes, checks the type, the size, and each pointer in file order. A block is claimed
// when it is first visited, and an indirect block is followed only then. Therefore, even if
// pointers form a cycle, no more blocks are read than the device has.

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/fsck/fsck_state.h"

namespace headcrash::ufs {
namespace {

constexpr std::uint32_t kTableRunBytes = 65536;

bool is_type(std::uint16_t mode) {
  switch (mode & kTypeMask) {
    case kTypeDirectory:
    case kTypeRegular:
    case kTypeSymlink:
    case kTypeFifo:
    case kTypeCharacter:
    case kTypeBlock:
    case kTypeSocket:
      return true;
    default:
      return false;
  }
}

/// Returns true if the inode has mode 0, no size and no pointers. The inode may still have the
/// times and the generation of its previous use.
bool is_free(const std::byte* inode) {
  std::uint16_t mode;
  std::memcpy(&mode, inode, sizeof mode);
  if (mode != 0) return false;
  std::uint64_t any;
  std::memcpy(&any, inode + kInodeSizeOffset, sizeof any);
  std::uint32_t last;
  std::memcpy(&last, inode + kInodeDirectOffset + kInlineTargetBytes - 4, sizeof last);
  any |= last;
  for (std::size_t at = kInodeDirectOffset; at < kInodeDirectOffset + kInlineTargetBytes - 4;
       at += 8) {
    std::uint64_t word;
    std::memcpy(&word, inode + at, sizeof word);
    any |= word;
  }
  return any == 0;
}

}  // namespace

void Fsck::State::reset_map() {
  map.reset(geometry);
  const std::uint32_t fragments = geometry.fragments_of(superblock.summary_bytes);
  for (std::uint32_t i = 0; i < fragments; ++i) map.claim(superblock.summary_address + i, 1);
  const Extent journal_area = superblock.journal_inside();
  for (std::uint32_t i = 0; i < journal_area.fragments; ++i) map.claim(journal_area.at + i, 1);
}

/// Checks all inodes, twice if necessary. A wrong indirect pointer may refer to another file's
/// block, which then looks like an indirect block with invalid pointers. Whether a block has two
/// owners is known only after all inodes have been read, so the first pass does not write corrected
/// indirect blocks. If the first pass found invalid pointers but no block with two owners, the
/// second pass clears the pointers.
void Fsck::State::check_inodes() {
  holding_back = true, held_back = false;
  check_all_inodes();
  holding_back = false;
  if (!held_back || duplicates || stopped()) return;
  quiet = true;
  check_all_inodes();
  quiet = false;
}

/// Returns the number of initialised inodes. If the header is damaged, all inodes of the table
/// count as initialised.
std::uint32_t Fsck::State::initialised_inodes(std::uint32_t group) {
  if (!geometry.features().lazy_inodes) return geometry.inodes_per_group();
  block.resize(geometry.block_bytes());
  if (!read(geometry.header(group), block)) return 0;
  if (!CylinderGroup::problem_of(geometry, block, group).empty())
    return geometry.inodes_per_group();
  return CylinderGroup(geometry, block, group).initialised_inodes();
}

void Fsck::State::begin_inodes() {
  reset_map();
  type.assign(geometry.inodes(), 0);
  links.assign(geometry.inodes(), 0);
  names.assign(geometry.inodes(), 0);
  directories.clear(), directory_blocks.clear();
  lost_found = 0, duplicates = false;
  report.files = report.directories = 0;
}

void Fsck::State::check_all_inodes() {
  begin_inodes();
  if (!options.contents.empty()) return check_known_inodes();
  table.resize(kTableRunBytes);
  const std::size_t inode_bytes = bytes_with_extension();
  for (std::uint32_t group = 0; group < geometry.groups(); ++group) {
    const std::uint64_t start = geometry.lba_of(geometry.inode_table(group));
    InodeNumber number = group * geometry.inodes_per_group();
    const std::uint64_t group_bytes = std::uint64_t{initialised_inodes(group)} * kInodeBytes;
    for (std::uint64_t at = 0; at < group_bytes; at += kTableRunBytes) {
      const auto run =
          std::span(table).first(std::min<std::uint64_t>(kTableRunBytes, group_bytes - at));
      if (!read_sectors(start + at / kSectorBytes, run)) return;
      for (std::size_t i = 0; i < run.size(); i += kInodeBytes, ++number)
        if (geometry.is_inode(number) && !is_free(run.data() + i))
          check_inode(number, run.subspan(i, inode_bytes));
    }
  }
}

/// Checks inodes sector by sector. Skips a sector if it has not changed and contains no inode in
/// use.
void Fsck::State::check_known_inodes() {
  constexpr std::uint32_t kInSector = kSectorBytes / kInodeBytes;
  const std::uint32_t sectors = geometry.inodes_per_group() / kInSector;
  if (known.geometry != geometry || known.tables.empty()) {
    known = {.geometry = geometry};
    known.tables.assign(std::size_t{sectors} * geometry.groups(),
                        0);  // digest 0: a table of zeroes, in which all inodes are free
    known.inodes.assign(known.tables.size(), 0);
  }
  std::array<std::byte, kSectorBytes> bytes = {};
  for (std::uint32_t group = 0; group < geometry.groups(); ++group) {
    const std::uint64_t start = geometry.lba_of(geometry.inode_table(group));
    const std::uint32_t initialised = initialised_inodes(group) / kInSector;
    for (std::uint32_t s = 0; s < initialised; ++s) {
      const std::size_t at = std::size_t{group} * sectors + s;
      const std::uint64_t holds = options.contents[start + s];
      if (holds == known.tables[at] && known.inodes[at] == 0) continue;
      if (!read_sectors(start + s, bytes)) return;
      if (holds != known.tables[at]) {
        known.tables[at] = holds;
        known.inodes[at] = 0;
        for (std::uint32_t i = 0; i < kInSector; ++i)
          if (!is_free(bytes.data() + std::size_t{i} * kInodeBytes))
            known.inodes[at] |= static_cast<std::uint8_t>(1U << i);
      }
      // The repair of another inode in the same sector may have changed these inodes in the
      // meantime.
      const std::uint8_t there = known.inodes[at];
      for (std::uint32_t i = 0; i < kInSector; ++i) {
        const InodeNumber number = group * geometry.inodes_per_group() + s * kInSector + i;
        if ((there >> i & 1U) != 0 && geometry.is_inode(number))
          check_inode(number, std::span(bytes).subspan(std::size_t{i} * kInodeBytes,
                                                       bytes_with_extension()));
      }
    }
  }
}

void Fsck::State::clear_inode(InodeNumber number, const Inode& inode) {
  type[number] = 0, links[number] = 0;
  save(number, {{.generation = inode.generation}}, ExtensionFate::goes);
}

bool Fsck::State::check_size(InodeNumber number, Inode& inode, bool& changed) {
  if (inode.size_bytes > geometry.file_blocks_max() * geometry.block_bytes()) {
    find(FindingKind::bad_size, number, 0, 0,
         fmt::format("inode {}: size ({} bytes) exceeds what its pointers can reach; freed", number,
                     inode.size_bytes));
    return false;
  }
  if (inode.is_directory() && inode.size_bytes % tree::kChunkBytes != 0) {
    find(FindingKind::bad_size, number, 0, 0,
         fmt::format("directory {}: {} bytes are not a multiple of the chunk size", number,
                     inode.size_bytes));
    inode.size_bytes = (inode.size_bytes / tree::kChunkBytes + 1) * tree::kChunkBytes;
    changed = true;
  }
  return true;
}

void Fsck::State::check_inode(InodeNumber number, std::span<const std::byte> bytes) {
  CheckedInode checked = decode_with_bmap(bytes);
  Inode& inode = checked.inode;
  if (!inode.allocated() || !is_type(inode.mode)) {
    find(inode.allocated() ? FindingKind::bad_mode : FindingKind::partly_allocated, number, 0, 0,
         fmt::format("inode {}: mode {:o} has no valid file type; freed", number, inode.mode));
    return clear_inode(number, inode);
  }
  bool changed = false;
  if (!check_size(number, inode, changed)) return clear_inode(number, inode);
  type[number] = entry_type(inode.mode);
  links[number] = inode.links;
  const auto first = static_cast<std::uint32_t>(directory_blocks.size());
  const std::uint64_t end = geometry.blocks_of_size(inode.size_bytes);
  // Number of the directory's next block. At a hole, `next` stops increasing and remains the number
  // of the first missing block.
  std::uint64_t next = 0;
  std::uint32_t fragments = 0;
  bool doubted = false;
  const auto judge = [&](const FilePointer& p) {
    if (p.block >= end) {
      find(FindingKind::blocks_behind_end, number, p.at, p.fragments,
           fmt::format("inode {}: fragment {} is beyond the end of the file", number, p.at));
      return Verdict::clear;
    }
    if (!data_run(p.at, p.fragments)) {
      find(FindingKind::bad_pointer, number, p.at, p.fragments,
           fmt::format("inode {}: block {} is at fragment {}, outside of the data area", number,
                       p.block, p.at));
      return Verdict::clear;
    }
    fragments += p.fragments;
    const bool first_claim = map.claim(p.at, p.fragments);
    duplicates |= !first_claim, doubted |= !first_claim;
    if (p.level == 0 && inode.is_directory() && p.block == next)
      directory_blocks.push_back(p.at), ++next;
    return first_claim ? Verdict::follow : Verdict::stay;
  };
  if (!pointers_are_text(inode, geometry.inline_target_max())) walk(checked, judge);
  changed |= checked.changed;
  const bool bmap_changed = check_bmap(number, checked);
  const std::uint32_t sectors = fragments * geometry.sectors_per_fragment();
  if (sectors != inode.sectors && !doubted) {
    find(FindingKind::bad_sectors, number, 0, sectors,
         fmt::format("inode {}: has sector count {}, but {} sectors", number, inode.sectors,
                     sectors));
    inode.sectors = sectors;
    changed = true;
  }
  if (inode.is_directory()) {
    note_directory(number, inode, first, next, doubted, changed);
  } else {
    ++report.files;
  }
  if (type[number] == 0) return;
  if (bmap_changed)
    save_with_bmap(number, checked);
  else if (changed)
    save(number, inode);
}

/// Reports and clears an invalid bmap cache. Returns true if the cache has changed.
bool Fsck::State::check_bmap(InodeNumber number, CheckedInode& checked) {
  if (!checked.bad_bmap) return checked.bmap_changed;
  find(FindingKind::bad_bmap_cache, number, 0, 0,
       fmt::format("inode {}: its bmap cache does not match an indirect block; cleared", number));
  return true;
}

/// Records a directory. If a block is missing, truncates the directory there; files named in later
/// blocks go to lost+found. `doubted` is true if the pointers in an indirect block were not
/// followed, because another file has already claimed that block. In this case, the next round
/// decides whether blocks are missing.
void Fsck::State::note_directory(InodeNumber number, Inode& inode, std::uint32_t first,
                                 std::uint64_t until, bool doubted, bool& changed) {
  const bool missing =
      until < geometry.blocks_of_size(inode.size_bytes) && (!doubted || until == 0);
  if (missing || inode.size_bytes == 0) {
    find(FindingKind::directory_hole, number, 0, 0,
         fmt::format("directory {}: block {} is missing; truncated there", number, until));
    inode.size_bytes = until * geometry.block_bytes();
    changed = again = repairing();
    if (until == 0) {
      clear_inode(number, inode);
      return;
    }
  }
  ++report.directories;
  directories.push_back({.inode = number,
                         .first_block = first,
                         .blocks = static_cast<std::uint32_t>(directory_blocks.size()) - first,
                         .size_bytes = inode.size_bytes});
}

void Fsck::State::free_inode(InodeNumber number) {
  freed_later |= had_no_room;
  CheckedInode checked = load_with_bmap(number);
  if (stopped()) return;
  if (!pointers_are_text(checked.inode, geometry.inline_target_max()))
    walk(checked, [&](const FilePointer& p) {
      if (!data_run(p.at, p.fragments)) return Verdict::stay;
      map.release(p.at, p.fragments);
      return Verdict::follow;
    });
  clear_inode(number, checked.inode);
}

}  // namespace headcrash::ufs
