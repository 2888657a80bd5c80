#pragma once
// The checker: compares all redundant information of a file system, and repairs the file system on
// request.
//
//   phase 0   superblock, or a replica                 fsck_superblock.cc
//             then the journal, if there is one        fsck_journal.cc
//   phase 1   inodes, their sizes and blocks           fsck_inodes.cc
//   phase 1b  blocks claimed by two files              fsck_duplicates.cc
//   phase 2   directories and their names              fsck_names.cc, fsck_chunks.cc
//   phase 3   directories without a name               fsck_connectivity.cc
//   phase 4   link counts, files without a name        fsck_links.cc
//   phase 5   maps, counts, summaries                  fsck_maps.cc
//   or, after a cut, only busy groups instead of phases 1 to 5: fsck_fast.cc
//
// The checker works on a store, so it runs on an emulated device with realistic request times as
// well as on memory. It reads inode tables in long runs, and everything else once. A repair may be
// cut at any point and restarted: after each write, another repair reaches the same state or a
// later one. Entries are made before links are counted, and the clean flag is written last.
//
// An object can check any number of states and keeps its memory between them. If the contents of
// sectors are known (FsckOptions::contents), it skips unchanged sectors of inode tables, and groups
// that it found correct with the same inputs. This does not affect the findings.
//
// Source: McKusick and Kowalski, "Fsck - The UNIX File System Check Program", 1994 (4.4BSD SMM:3),
// for the checks of each phase. Where BSD would ask, we choose the repair.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/ufs/format/format.h"
#include "plugin/model/core/sector_digests.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

enum class FindingKind : std::uint8_t {
  // Stale information. Every file system that was not unmounted has such a finding, but no
  // information is lost.
  totals,        ///< wrong summaries in the superblock or the groups
  group_totals,  ///< a group's counts do not match its maps
  // Residue: findings that a power cut may leave behind even if updates were correctly ordered.
  leaked_blocks,   ///< `count` fragments are not free, but have no owner
  leaked_inode,    ///< an inode is in use according to the map, but is not allocated
  links_too_high,  ///< the link count exceeds the number of names
  /// The link count is too low, but a link tag shows why: it was lowered before a name was removed.
  links_lowered,
  unreferenced_file,  ///< an allocated file has no name
  unreferenced_directory,
  blocks_behind_end,  ///< a file has blocks beyond its end, because a truncation was interrupted
  /// The temporary name of an interrupted exchange; its file also has another name.
  interrupted_exchange,
  // All other kinds are damage.
  block_marked_free,  ///< `count` fragments have an owner, but are free in the map
  inode_marked_free,  ///< an inode is allocated, but is free according to the map
  links_too_low,
  duplicate_block,  ///< a block is claimed by two files
  bad_pointer,      ///< a pointer refers to a place outside the data area
  bad_mode,
  bad_size,
  bad_sectors,        ///< di_blocks does not match the pointers
  partly_allocated,   ///< an inode is free according to its mode of 0, but has pointers or a size
  dangling_entry,     ///< a name refers to an inode that is not allocated
  bad_entry,          ///< an invalid inode number, an invalid name, or a wrong type
  bad_dot,            ///< "." or ".." missing, wrong, or misplaced
  dot_dot_elsewhere,  ///< ".." does not refer to the directory that contains the name
  bad_chunk,          ///< a directory's chunk is invalid
  directory_hole,
  directory_second_name,
  bad_root,
  bad_group,  ///< a group's header is invalid
  bad_superblock,
  bad_journal,     ///< a committed transaction, or the journal itself, is invalid
  lost_journal,    ///< with FsckOptions::without_log: the log's contents are lost
  bad_bmap_cache,  ///< a bmap cache belongs to a file that cannot have one, or has invalid pointers
  no_room,         ///< lost+found has no space for another entry
};
std::string_view name_of(FindingKind kind);

/// Severity of a finding. `stale`: left behind by every power cut. `residue`: may be left behind by
/// a power cut even if updates were correctly ordered. `damage`: all other findings.
enum class Severity : std::uint8_t { stale, residue, damage };
Severity severity_of(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::totals;
  InodeNumber inode = 0;      ///< 0 if not applicable
  FragmentAddress block = 0;  ///< 0 if not applicable
  /// Depends on `kind`: a number of fragments, a number of links, or a difference between two
  /// numbers.
  std::uint32_t count = 0;
  bool repaired = false;
  std::string text;  ///< one line for users
};

struct FsckOptions {
  bool repair = false;
  /// If true, repairs only busy groups. The file system must mark busy groups
  /// (Features::fast_check), and all other parts must be in a state that a power cut may leave
  /// behind. Otherwise, the report is `unrepaired`, and a full repair must follow.
  bool fast = false;
  /// True if the device of an external journal is lost. The device is then neither read nor
  /// written, and a repair converts the file system to one without a journal. Has no effect on file
  /// systems without an external journal.
  bool without_log = false;
  /// Number of findings to keep; further findings are only counted.
  std::size_t findings_max = 1000;
  std::uint32_t time = 0;  ///< timestamp that repairs store, in seconds since the epoch
  /// A digest of each sector, for callers that check successive states of a store. Sectors with
  /// equal digests have equal bytes for the lifetime of the Fsck; 0 means zeroes. When a repair
  /// writes, the caller must update the digests. If empty, the digests are unknown.
  model::SectorDigests contents = {};
};

struct FsckReport {
  std::vector<Finding> findings;
  std::uint64_t more_findings = 0;   ///< number of findings beyond findings_max
  Severity worst = Severity::stale;  ///< the most severe of all findings
  /// The clean flag in the superblock before the check. False if the last write of the superblock
  /// was torn.
  bool was_clean = false;
  /// The file system is not clean, but its journal is in use and contains the missing updates.
  bool journalled = false;
  bool unrepaired = false;  ///< findings remain after the repair
  /// The fast check was sufficient (FsckOptions::fast), so files and directories were not counted.
  bool fast = false;
  /// Number of transactions that were replayed from the journal. A check examines the disk as it
  /// would be after the replay.
  std::size_t replayed = 0;
  std::uint32_t files = 0, directories = 0;
  Summary totals;  ///< the correct totals

  bool nothing_found() const { return findings.empty() && more_findings == 0; }
  bool has(FindingKind kind) const;
};

class Fsck {
 public:
  Fsck();
  ~Fsck();
  Fsck(const Fsck&) = delete;
  Fsck& operator=(const Fsck&) = delete;

  /// Checks the store, and repairs it if `repair` is set; otherwise nothing is written. Fails if no
  /// file system is found or the store fails.
  Result<FsckReport> run(model::SectorStore& store, const FsckOptions& options = {});
  Result<FsckReport> check(const model::SectorStore& store, std::size_t findings_max = 1000,
                           const model::SectorDigests& contents = {});
  /// Checks without writing; ignores `how.repair` and `how.fast`.
  Result<FsckReport> check(const model::SectorStore& store, FsckOptions how);
  /// Replays the journal and empties it, as a repair does at first. Returns nullopt, and writes
  /// nothing, if the file system is clean, or has no internal journal or no valid first superblock.
  Result<std::optional<FsckReport>> recover_log(model::SectorStore& store,
                                                const FsckOptions& options);

 private:
  friend class FastCheck;  // fsck_fast.cc
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::ufs
