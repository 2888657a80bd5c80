#pragma once
// Says whether an image is consistent at its newest committed generation. Everything that is kept
// twice is computed again: which blocks and inodes are taken, link counts, the counts of the
// superblock. After a crash at any moment there is no finding at all, no leak either (Soares,
// Krieger and Da Silva, VI-5), so that nothing here repairs.

#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/snapfs/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::snapfs {

enum class FindingKind : std::uint8_t {
  tree,          ///< a map cannot be followed
  inode,         ///< a record makes no sense
  pointer,       ///< leads nowhere, or the count of blocks is wrong
  doubly_used,   ///< a block with two owners
  marked_free,   ///< a block or inode that is used
  leaked_block,  ///< marked used, and nobody has it
  leaked_inode,  ///< likewise
  name,          ///< an entry that leads to nothing, or to another type; "." and ".."
  links,         ///< a count
  unreachable,   ///< allocated, and no name leads to it
  totals,        ///< of the superblock
  snapshots      ///< their table
};
inline constexpr std::size_t kFindingKinds = 12;
std::string_view name_of(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::tree;
  InodeNumber inode = 0;   ///< 0: none
  BlockAddress block = 0;  ///< 0: none
  std::string text;
};

struct CheckReport {
  std::vector<Finding> findings;
  std::uint64_t more_findings = 0;
  Superblock superblock;
  std::size_t logged = 0;  ///< records of the intent log that continue the superblock
  std::uint32_t files = 0, directories = 0;
  std::uint32_t free_blocks = 0, free_inodes = 0;  ///< as counted
  bool nothing_found() const { return findings.empty() && more_findings == 0; }
  std::string text() const;  ///< a line each
};

/// An Error: there is no file system to be checked.
Result<CheckReport> check(const model::SectorStore& store, std::size_t findings_max = 100);

}  // namespace headcrash::snapfs
