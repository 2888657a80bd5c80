#pragma once
// State that the checker's phases share (fsck.h): the store, the inodes and directories that phase
// 1 has found, and the map of claimed blocks. Memory is kept from one checked state to the next;
// nothing is allocated for each inode.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/ufs/core/block_map.h"
#include "fs-adapters/ufs/format/inode_extension.h"
#include "fs-adapters/ufs/fsck/fsck.h"
#include "fs-adapters/ufs/schemes/journal_replay.h"

namespace headcrash::ufs {

/// A directory found by phase 1.
struct CheckedDirectory {
  InodeNumber inode = 0;
  /// The directory that contains this directory's name; 0 until the name has been found.
  InodeNumber parent = 0;
  InodeNumber dot_dot = 0;  ///< target of the directory's ".." entry
  /// The position of the directory's name: a block of the parent, and the entry's offset in that
  /// block.
  FragmentAddress named_block = 0;
  std::uint32_t named_offset = 0;
  /// True if the name found is the temporary name of an exchange (exchange_name.h). Any other name
  /// of the directory is preferred to a temporary one.
  bool named_by_exchange = false;
  std::uint32_t first_block = 0, blocks = 0;  ///< range in State::directory_blocks
  std::uint64_t size_bytes = 0;
  std::uint32_t entries = 0;  ///< number of entries other than "." and ".."
  enum class Reach : std::uint8_t { unknown, yes, no } reach = Reach::unknown;
};

/// The temporary name of an exchange, as found by phase 2. It refers to a file, or to a directory
/// that has another name.
struct ExchangeName {
  std::size_t directory = 0;  ///< index in State::directories
  InodeNumber inode = 0;
  /// The block that contains the name, and the entry's offset in that block.
  FragmentAddress block = 0;
  std::uint32_t offset = 0;
  bool reported = false;  ///< true if the name has already been reported; only for directories
};

/// An inode whose pointers are being visited.
struct CheckedInode {
  Inode inode;
  BmapCache bmap;         ///< the cached pointers (bmap_cache.h); empty if the cache is invalid
  bool bad_bmap = false;  ///< true if the cache is invalid, or if its indirect block is missing
  bool changed = false;   ///< visiting the pointers has changed the inode
  bool bmap_changed = false;
  /// The walk has reached the cache's indirect block, or has stopped above it, so the block may
  /// exist.
  bool bmap_reached = false;
};

/// One of the block pointers of a file, as passed to the visitor of walk().
struct FilePointer {
  std::uint32_t level = 0;  ///< level of the target block; 0 for data
  std::uint64_t block = 0;  ///< number of the first file block below the pointer
  FragmentAddress at = 0;
  std::uint32_t fragments = 0;
};
enum class Verdict : std::uint8_t { follow, stay, clear };
enum class EntryFate : std::uint8_t { keep, change, remove };

struct Fsck::State {
  // The current run.
  const model::SectorStore* source = nullptr;
  /// The store that a repair writes to; null for a read-only check.
  model::SectorStore* target = nullptr;
  FsckOptions options;
  FsckReport report;
  std::optional<Error> failure;  ///< the store's error, which ends the run
  Superblock superblock;
  std::uint64_t superblock_byte = 0;  ///< position at which the superblock was found
  Geometry geometry;
  JournalContents journal;   ///< in a check: the journal's contents
  std::optional<Redo> redo;  ///< in a check: an overlay with the blocks that a replay would write
  bool again = false;        ///< a repair has changed something on which earlier phases depend
  bool duplicates = false;   ///< true if phase 1 has found a block that is claimed twice

  // During the first pass of phase 1, an indirect block may later turn out to belong to another
  // file. Corrected indirect blocks are therefore not written while `holding_back` is set.
  // `held_back` records that at least one such block was not written.
  bool holding_back = false, held_back = false;
  bool quiet = false;  ///< suppress findings, because the first pass has already reported them

  // `had_no_room`: lost+found had no space for an entry. `freed_later`: space has been freed since
  // then.
  bool had_no_room = false, freed_later = false;

  // Results.
  BlockMap map;
  /// Type of each inode, as in a directory entry; 0 if not allocated.
  std::vector<std::uint8_t> type;
  std::vector<std::uint16_t> links;
  std::vector<std::uint32_t> names;
  std::vector<CheckedDirectory> directories;  ///< sorted by inode number
  std::vector<FragmentAddress> directory_blocks;
  std::vector<ExchangeName> exchange_names;
  InodeNumber lost_found = 0;

  // Results of earlier checks. A result is used again if options.contents shows that the result's
  // input is unchanged.
  struct Known {
    Geometry geometry;
    std::vector<std::uint64_t> tables;  ///< digest of each sector in the inode tables
    /// For each sector, a bitmap of the inodes that were in use when the sector was last read.
    std::vector<std::uint8_t> inodes;
    /// Totals of groups that were found correct. The key is a digest of everything that the check
    /// of the group depends on.
    std::unordered_map<std::uint64_t, Summary> groups;
  } known;

  // Buffers.
  std::vector<std::byte> table, block;
  std::array<std::vector<std::byte>, kIndirectPointers> pointers;
  /// A lowest-level indirect block with cached pointers merged into it.
  std::vector<std::byte> merged;

  // fsck.cc
  void begin();
  Result<FsckReport> run();
  void round();
  bool repairing() const { return target != nullptr; }
  bool stopped() const { return failure.has_value(); }
  /// Reports a finding. During a repair, the finding counts as repaired unless `can_repair` is
  /// false.
  void find(FindingKind kind, InodeNumber inode, FragmentAddress at, std::uint32_t count,
            std::string text, bool can_repair = true);
  bool read(FragmentAddress at, std::span<std::byte> into);
  bool read_sectors(std::uint64_t lba, std::span<std::byte> into);
  bool write(FragmentAddress at, std::span<const std::byte> bytes);
  bool write_sectors(std::uint64_t lba, std::span<const std::byte> bytes);
  /// Reads an inode and, if `into` is large enough, its extension, which is in the same sector.
  bool read_slots(InodeNumber number, std::span<std::byte> into);
  Inode load(InodeNumber number);
  InodeExtension load_extension(InodeNumber number);  ///< empty if there are no extensions
  /// The effect of an inode's write on the inode's extension. `stays`: the extension is left
  /// unchanged. `goes`: the extension is cleared. `without_tags`: only the link tags are removed,
  /// because the link count has been corrected.
  enum class ExtensionFate : std::uint8_t { stays, goes, without_tags };
  void save(InodeNumber number, const Inode& inode, ExtensionFate extension = ExtensionFate::stays);
  // Returns the size of an inode, including its extension if the file system has extensions.
  std::size_t bytes_with_extension() const {
    return geometry.features().extensions() ? 2 * kInodeBytes : kInodeBytes;
  }
  CheckedInode load_with_bmap(InodeNumber number);
  CheckedInode decode_with_bmap(std::span<const std::byte> inode_and_extension) const;
  void save_with_bmap(InodeNumber number, const CheckedInode& checked);
  void save(InodeNumber number, const Inode& inode, ExtensionFate extension, const BmapCache* bmap);
  CheckedDirectory* directory(InodeNumber number);
  bool data_run(FragmentAddress at, std::uint32_t fragments) const;
  std::uint32_t directory_block_bytes(const CheckedDirectory& directory, std::uint32_t index) const;

  // Phase 0: fsck_superblock.cc
  bool find_superblock();
  bool superblock_at(std::uint64_t byte, bool replica);
  void repair_superblock();
  void demand_full_check();
  void finish();

  // The journal: fsck_journal.cc
  void check_journal();
  void give_up_journal();
  Result<std::optional<FsckReport>> recover_log();
  enum class Findings : std::uint8_t { all, of_the_log };
  void replay_in_place(Findings which);
  void replay_in_memory();

  // fsck_fast.cc: replaces all phases.
  bool fast_check();

  // Phase 1: fsck_inodes.cc
  void reset_map();
  void begin_inodes();
  void check_inodes();
  void check_all_inodes();
  std::uint32_t initialised_inodes(std::uint32_t group);
  void check_known_inodes();
  /// Checks one inode. `bytes` includes the extension, if the file system has extensions.
  void check_inode(InodeNumber number, std::span<const std::byte> bytes);
  bool check_bmap(InodeNumber number, CheckedInode& checked);
  bool check_size(InodeNumber number, Inode& inode, bool& changed);
  void note_directory(InodeNumber number, Inode& inode, std::uint32_t first, std::uint64_t until,
                      bool doubted, bool& changed);
  void clear_inode(InodeNumber number, const Inode& inode);
  /// Frees an inode that phase 1 has accepted, together with all its blocks.
  void free_inode(InodeNumber number);
  /// Visits all pointers of a file in order. visit(FilePointer) returns a Verdict. During a repair,
  /// pointers to be cleared are set to 0. Pointers in the inode and in its cache are cleared in
  /// memory, and the inode or the cache is marked as changed; pointers in indirect blocks are
  /// cleared on the disk.
  template <typename Visit>
  void walk(CheckedInode& checked, Visit visit);
  template <typename Visit>
  bool walk_one(CheckedInode& checked, std::uint32_t& pointer, std::uint32_t level,
                std::uint64_t first, Visit& visit);
  template <typename Visit>
  bool walk_below(CheckedInode& checked, std::uint32_t level, std::uint64_t first,
                  std::span<const std::byte> seen, Visit& visit);

  // Phase 1b: fsck_duplicates.cc
  void resolve_duplicates();
  void reclaim(InodeNumber number);

  // Phase 2: fsck_names.cc, fsck_chunks.cc.
  void check_names();
  void check_directory(std::size_t index);
  bool check_chunk(std::size_t index, std::uint32_t block, std::uint32_t chunk, FragmentAddress at);
  bool repair_chunk(const CheckedDirectory& directory, std::uint32_t chunk);
  bool check_dots(CheckedDirectory& directory);
  EntryFate check_entry(std::size_t index, const tree::Entry& entry, FragmentAddress at);
  bool is_reachable(InodeNumber number);
  std::map<InodeNumber, std::uint32_t> reachable_names();
  void end_exchanges();
  bool keep_name_of_directory(std::size_t index, const tree::Entry& entry, FragmentAddress at);
  void remove_name(FragmentAddress at, std::uint32_t offset);
  InodeNumber dot_dot_of(CheckedDirectory& directory);
  void make_root();

  // Phase 3: fsck_connectivity.cc. lost+found: fsck_lost_found.cc.
  void check_connectivity();
  void check_dot_dots();
  void adopt(CheckedDirectory& top, bool loop);
  void set_dot_dot(CheckedDirectory& directory, InodeNumber parent);
  InodeNumber find_free_inode();
  bool initialise_inodes();
  bool make_lost_found();
  bool put_into_lost_found(InodeNumber number);
  bool add_name(InodeNumber directory, std::string_view name, InodeNumber number,
                std::uint8_t type);
  bool grow(CheckedDirectory& directory);
  bool has_name(const CheckedDirectory& directory, std::string_view name);

  // Phase 4: fsck_links.cc
  void check_links();
  FindingKind low_kind(InodeNumber number);
  void check_file_without_name(InodeNumber number);

  // Phase 5: fsck_maps.cc
  void check_maps();
  /// Returns true if the group was correct and nothing was written.
  bool check_group(std::uint32_t group, std::span<std::byte> header);
  std::optional<std::uint64_t> contents_of_group(std::uint32_t group) const;
  bool check_inode_map(class CylinderGroup& group);
  bool check_fragment_map(class CylinderGroup& group);
  void check_totals();
  std::vector<Summary> summaries;
};

template <typename Visit>
bool Fsck::State::walk_one(CheckedInode& checked, std::uint32_t& pointer, std::uint32_t level,
                           std::uint64_t first, Visit& visit) {
  if (pointer == 0 || stopped()) return false;
  const std::uint64_t size_bytes = checked.inode.size_bytes;
  const std::uint32_t fragments = level == 0 && first < geometry.blocks_of_size(size_bytes)
                                      ? geometry.fragments_of_block(size_bytes, first)
                                      : geometry.fragments_per_block();
  const Verdict verdict =
      visit(FilePointer{.level = level, .block = first, .at = pointer, .fragments = fragments});
  const std::uint64_t cached = checked.bmap.first();
  const bool has_cache = level > 0 && !checked.bmap.empty() && cached >= first &&
                         cached < first + geometry.blocks_below(level);
  if (verdict == Verdict::clear) {
    pointer = 0;
    if (has_cache) checked.bmap = {}, checked.bmap_changed = true;
    return true;
  }
  checked.bmap_reached |= has_cache && (level == 1 || verdict == Verdict::stay);
  if (level == 0 || verdict == Verdict::stay) return false;
  auto& bytes = pointers[level - 1];
  bytes.resize(geometry.block_bytes());
  const bool cached_here = level == 1 && has_cache;
  if (!(cached_here && checked.bmap.alone()) && !read(pointer, bytes)) return false;
  std::span<const std::byte> seen = bytes;
  if (cached_here) {
    merged = bytes;
    checked.bmap.lay_over(geometry, merged);
    seen = merged;
  }
  const bool changed = walk_below(checked, level, first, seen, visit);
  if (!changed || !repairing()) return false;
  held_back |= holding_back;
  if (!holding_back) write(pointer, bytes);
  return false;
}

/// Visits the pointers below an indirect block. `seen` contains the block's pointers, merged with
/// those of the bmap cache. Returns true if a pointer in the block itself was changed.
template <typename Visit>
bool Fsck::State::walk_below(CheckedInode& checked, std::uint32_t level, std::uint64_t first,
                             std::span<const std::byte> seen, Visit& visit) {
  bool changed = false;
  for (std::uint32_t i = 0; i < geometry.pointers_per_block(); ++i) {
    std::uint64_t two;  // two pointers are tested at once, because most pointers are zero
    std::memcpy(&two, seen.data() + std::size_t{i / 2} * 8, sizeof two);
    if (two == 0) {
      i |= 1U;
      continue;
    }
    std::uint32_t next;
    std::memcpy(&next, seen.data() + std::size_t{i} * 4, 4);
    if (next == 0) continue;
    const std::uint64_t of_file = first + i * geometry.blocks_below(level - 1);
    if (!walk_one(checked, next, level - 1, of_file, visit)) continue;
    if (level == 1 && checked.bmap.covers(of_file)) {
      checked.bmap.set(of_file, next);
      checked.bmap_changed = true;
    } else {
      std::memcpy(pointers[level - 1].data() + std::size_t{i} * 4, &next, 4);
      changed = true;
    }
  }
  return changed;
}

template <typename Visit>
void Fsck::State::walk(CheckedInode& checked, Visit visit) {
  Inode& inode = checked.inode;
  checked.bmap_reached = false;
  for (std::uint32_t i = 0; i < kDirectPointers; ++i)
    checked.changed |= walk_one(checked, inode.direct[i], 0, i, visit);
  for (std::uint32_t level = 1; level <= kIndirectPointers; ++level)
    checked.changed |= walk_one(checked, inode.indirect[level - 1], level,
                                geometry.blocks_within(level - 1), visit);
  if (checked.bmap.empty() || checked.bmap_reached || stopped()) return;
  checked.bad_bmap = true;
  checked.bmap = {};
}

}  // namespace headcrash::ufs
