#pragma once
// Judges the size, the blocks, the inode fields and the attributes of an object against its
// history.

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/oracle/history.h"
#include "harness/oracle/observed_tree.h"
#include "harness/oracle/verdict.h"

namespace headcrash::oracle {

struct ContentTerms {
  Horizon horizon;
  /// The operation that renamed this file over another one. Set only if the file system promises to
  /// keep the file's contents in this case.
  std::optional<std::size_t> kept_by_replacing;
  bool exposes_stale_data = false;
  /// Allocation unit in blocks of 512 bytes (Promises::allocation_bytes).
  std::uint64_t allocation_blocks = 1;
  /// True if the file may have any size while it grows, because fsck extends the file to the end of
  /// its last block.
  bool ends_anywhere = false;
  /// If true, stale data may appear in every block with a change in flight. If false, stale data
  /// may appear only in blocks that may have been allocated since the persistence point. In
  /// particular, a truncation in flight then exposes no stale data.
  bool stale_anywhere_in_flight = false;
  /// If true, a file system that extends a file allocates the units at its old and its new end.
  bool fills_last_unit = false;
};

/// Judges the size and the blocks of a file. Returns at most one finding of each kind. A finding
/// names the first affected block and the number of affected blocks.
std::vector<Finding> judge_content(const ObjectHistory& object, const ObservedObject& observed,
                                   const ContentTerms& terms);

/// Judges the mode, the owner, the modification time and the number of blocks that fallocate has
/// reserved (inode_facts.cc). Applies to files and directories.
std::vector<Finding> judge_inode(const ObjectHistory& object, const ObservedObject& observed,
                                 const Horizon& horizon, const adapters::Promises& promises);

std::vector<Finding> judge_attributes(const ObjectHistory& object, const ObservedObject& observed,
                                      const Horizon& horizon);

}  // namespace headcrash::oracle
