#pragma once
// The checker: compares everything that the file system says twice, and on request makes it agree.
//
//   phase 0   superblock, else a replica           fsck_superblock.cc
//             then the journal, if there is one      fsck_journal.cc
//   phase 1   inodes, their sizes and blocks       fsck_inodes.cc
//   phase 1b  blocks that two files claim          fsck_duplicates.cc
//   phase 2   directories and their names          fsck_names.cc, fsck_chunks.cc
//   phase 3   directories that nobody names        fsck_connectivity.cc
//   phase 4   link counts, files nobody names      fsck_links.cc
//   phase 5   maps, counts, summaries              fsck_maps.cc
//   or instead of 1 to 5, after a cut, what was busy: fsck_fast.cc
//
// It works on a store, so that a device can time each of its requests, or memory none; inode tables
// are read in long runs, everything else once. A repair may be cut anywhere and begun again: each
// write leaves a file system whose repair ends in the same state or a later one, entries are made
// before links are counted, and the clean flag is written last. One object checks any number of
// states and keeps its memory between them. When the contents of the sectors are known
// (FsckOptions::contents), it does not look again for inodes in sectors of a table that hold what
// they held, nor at groups that it found in order when all that they are compared with was the
// same. What it finds does not depend on that.
//
// Source: McKusick and Kowalski, "Fsck - The UNIX File System Check Program", 1994 (4.4BSD SMM:3),
// for what is checked in which phase. What a repair does is our choice where BSD would ask.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/ufs/format/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

enum class FindingKind : std::uint8_t {
  // Stale on every file system that was not unmounted; no information is lost.
  totals,        ///< superblock's or groups' summaries
  group_totals,  ///< a group's own counts, against its own maps
  // What may be left over by updates in the right order.
  leaked_blocks,      ///< not free, but nobody's; `count` fragments
  leaked_inode,       ///< not free in the map, but not allocated
  links_too_high,     ///< than there are names
  links_lowered,      ///< before a name went that is still there: a link tag says so
  unreferenced_file,  ///< allocated, without a name
  unreferenced_directory,
  blocks_behind_end,     ///< of a file that was being cut
  interrupted_exchange,  ///< of an exchange that did not end, beside another name of the same file
  // Everything else is damage.
  block_marked_free,  ///< somebody's, but free in the map; `count` fragments
  inode_marked_free,  ///< allocated, but free in the map
  links_too_low,
  duplicate_block,  ///< claimed by two files
  bad_pointer,      ///< to where no data are
  bad_mode,
  bad_size,
  bad_sectors,        ///< di_blocks is not what the pointers lead to
  partly_allocated,   ///< mode 0, but pointers or a size
  dangling_entry,     ///< a name of an inode that is not allocated
  bad_entry,          ///< a number that no inode has, a name that no file may have, a wrong type
  bad_dot,            ///< "." or ".." missing, wrong, or somewhere else
  dot_dot_elsewhere,  ///< ".." is not the directory that has its name
  bad_chunk,          ///< a directory's chunk is invalid
  directory_hole,
  directory_second_name,
  bad_root,
  bad_group,  ///< a group's header is invalid
  bad_superblock,
  bad_journal,     ///< what was committed, or the journal itself, is invalid
  lost_journal,    ///< FsckOptions::without_log: what only it held is given up
  bad_bmap_cache,  ///< of a file that can have none, or of pointers that lead nowhere
  no_room,         ///< for what would have to be put into lost+found
};
std::string_view name_of(FindingKind kind);

/// How bad it is: what every power cut leaves, what ordered updates may leave, what they may not.
enum class Weight : std::uint8_t { stale, residue, damage };
Weight weight_of(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::totals;
  InodeNumber inode = 0;      ///< 0: none
  FragmentAddress block = 0;  ///< 0: none
  std::uint32_t count = 0;    ///< fragments, links, by how much; where it means something
  bool repaired = false;
  std::string text;  ///< for people: one line
};

struct FsckOptions {
  bool repair = false;
  /// A repair that looks only at what was busy, where the file system notes that
  /// (Features::fast_check) and no more is wrong than a power cut leaves. Else it is `unrepaired`,
  /// and the full one has to follow.
  bool fast = false;
  /// The device of an external journal is gone for good: it is neither read nor written, and a
  /// repair makes the file system one without a journal. Without effect on others.
  bool without_log = false;
  std::size_t findings_max = 1000;  ///< kept; the rest is counted
  std::uint32_t time = 0;           ///< for what a repair writes
  /// For who shows one state of a store after the other: what each sector holds, as a number. Equal
  /// numbers of one sector: equal bytes, as long as the Fsck lives; 0: zeroes. It follows what a
  /// repair writes. Empty: nothing is known.
  std::span<const std::uint64_t> contents = {};
};

struct FsckReport {
  std::vector<Finding> findings;
  std::uint64_t more_findings = 0;  ///< beyond findings_max
  Weight worst = Weight::stale;     ///< of all findings
  bool was_clean = false;           ///< the flag of the superblock before
  bool journalled = false;  ///< not clean, and changed under a journal, which holds the rest
  bool unrepaired = false;  ///< a repair that left something
  bool fast = false;  ///< FsckOptions::fast has sufficed; files and directories were not counted
  std::size_t replayed =
      0;  ///< transactions of the journal; a check has seen the disk as after that
  std::uint32_t files = 0, directories = 0;
  Summary totals;  ///< as they are or would be right

  bool nothing_found() const { return findings.empty() && more_findings == 0; }
  bool has(FindingKind kind) const;
};

class Fsck {
 public:
  Fsck();
  ~Fsck();
  Fsck(const Fsck&) = delete;
  Fsck& operator=(const Fsck&) = delete;

  /// Without `repair` nothing is written. An Error: no file system could be found, or the store
  /// failed.
  Result<FsckReport> run(model::SectorStore& store, const FsckOptions& options = {});
  Result<FsckReport> check(const model::SectorStore& store, std::size_t findings_max = 1000,
                           std::span<const std::uint64_t> contents = {});
  /// `how.repair` and `how.fast` are not looked at.
  Result<FsckReport> check(const model::SectorStore& store, FsckOptions how);

 private:
  friend class FastCheck;  // fsck_fast.cc
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::ufs
