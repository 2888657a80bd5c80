#pragma once
// Judges the size, the blocks and the attributes of an object against its history.

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/oracle/history.h"
#include "harness/oracle/observed_tree.h"
#include "harness/oracle/verdict.h"

namespace headcrash::oracle {

struct ContentTerms {
  Horizon horizon;
  /// The operation that renamed this file over another one, if the file system promises the renamed
  /// file's contents.
  std::optional<std::size_t> kept_by_replacing;
  bool exposes_stale_data = false;
  /// Allocation unit in blocks of 512 bytes (Promises::allocation_bytes).
  std::uint64_t allocation_blocks = 1;
  /// While the file grows, it may have any size, because fsck extends it to the end of the blocks
  /// that it finds.
  bool ends_anywhere = false;
  /// Selects the blocks in which stale data may show. True: every block with a change in flight.
  /// False: only blocks that may have been allocated since, so that a truncation in flight leaves
  /// the file's own data or less.
  bool stale_anywhere_in_flight = false;
  bool fills_last_unit = false;  ///< growth allocates the units at the old and the new end
};

/// Returns at most one finding of each kind. Each finding names the first affected block and how
/// many blocks are affected.
std::vector<Finding> judge_content(const ObjectHistory& object, const ObservedObject& observed,
                                   const ContentTerms& terms);

/// Judges mode, owner, modification time and the number of blocks that fallocate has reserved, for
/// files and directories (inode_facts.cc).
std::vector<Finding> judge_inode(const ObjectHistory& object, const ObservedObject& observed,
                                 const Horizon& horizon, const adapters::Promises& promises);

/// Judges the extended attributes of files and directories.
std::vector<Finding> judge_attributes(const ObjectHistory& object, const ObservedObject& observed,
                                      const Horizon& horizon);

}  // namespace headcrash::oracle
