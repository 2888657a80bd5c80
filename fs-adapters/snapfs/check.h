#pragma once
// Checks that an image is consistent at its newest committed generation. Recomputes all redundant
// information: used blocks and inodes, link counts, and the superblock's counts. After a crash at
// any moment there must be no findings, not even leaks (Soares, Krieger and Da Silva, VI-5), so
// there is no repair.

#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/snapfs/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::snapfs {

enum class FindingKind : std::uint8_t {
  tree,          ///< a map's tree has an invalid address
  inode,         ///< an inode record is invalid
  pointer,       ///< a pointer is invalid, or an inode's block count is wrong
  doubly_used,   ///< a block has two owners
  marked_free,   ///< a block or inode in use is marked free
  leaked_block,  ///< a block is marked used, but has no owner
  leaked_inode,  ///< an inode is marked used, but is not allocated
  name,          ///< a dangling entry, a wrong entry type, or a wrong "." or ".."
  links,         ///< a wrong link count
  unreachable,   ///< an allocated inode has no name
  totals,        ///< wrong totals in the superblock
  snapshots      ///< the table of snapshots is invalid
};
inline constexpr std::size_t kFindingKinds = 12;
std::string_view name_of(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::tree;
  InodeNumber inode = 0;   ///< 0 if not applicable
  BlockAddress block = 0;  ///< 0 if not applicable
  std::string text;
};

struct CheckReport {
  std::vector<Finding> findings;
  std::uint64_t more_findings = 0;
  Superblock superblock;
  /// Number of valid intent log records that were written after the superblock.
  std::size_t logged = 0;
  std::uint32_t files = 0, directories = 0;
  /// Numbers of free blocks and free inodes, as counted by the check.
  std::uint32_t free_blocks = 0, free_inodes = 0;
  bool nothing_found() const { return findings.empty() && more_findings == 0; }
  std::string text() const;  ///< one line per finding
};

/// Checks an image. Fails if there is no file system.
Result<CheckReport> check(const model::SectorStore& store, std::size_t findings_max = 100);

}  // namespace headcrash::snapfs
