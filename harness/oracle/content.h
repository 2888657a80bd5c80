#pragma once
// Judges the size, the blocks and the attributes of one object against its history.

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/oracle/history.h"
#include "harness/oracle/observed_tree.h"
#include "harness/oracle/verdict.h"

namespace headcrash::oracle {

struct ContentTerms {
  Horizon horizon;
  /// The operation that renamed the file over another one, where the file system promises its
  /// content then.
  std::optional<std::size_t> kept_by_replacing;
  bool exposes_stale_data = false;
  std::uint64_t allocation_blocks =
      1;                       ///< of 512 bytes that come together (Promises::allocation_bytes)
  bool ends_anywhere = false;  ///< while it grows, the file may be as long as fsck finds blocks
  /// Where stale data is exposed: in every block with a change in flight, and not only in those
  /// that may have been allocated since. Without it a truncation in flight leaves the file's own
  /// data or less.
  bool stale_anywhere_in_flight = false;
  bool fills_last_unit = false;  ///< when the file grows, the units of both ends are allocated
};

/// At most one finding of each kind; each names the first block and how many there are.
std::vector<Finding> judge_content(const ObjectHistory& object, const ObservedObject& observed,
                                   const ContentTerms& terms);

/// Mode, owner, time of modification and blocks allocated by fallocate, of files and directories
/// (inode_facts.cc).
std::vector<Finding> judge_inode(const ObjectHistory& object, const ObservedObject& observed,
                                 const Horizon& horizon, const adapters::Promises& promises);

/// Extended attributes, of files and directories.
std::vector<Finding> judge_attributes(const ObjectHistory& object, const ObservedObject& observed,
                                      const Horizon& horizon);

}  // namespace headcrash::oracle
