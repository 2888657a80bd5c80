#pragma once
// The small-file workload. It creates, overwrites, renames, replaces and removes small files in a
// few directories. About half of the changes are followed by a sync, or by an fsync of the file or
// directory.

#include <cstdint>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

struct SmallFilesOptions {
  std::uint64_t seed = 0;
  std::uint32_t rounds = 60;  ///< number of changes, each of which takes one to six operations
  std::uint32_t folders = 3;
  std::uint32_t largest_blocks = 24;  ///< maximum size of a file in 512-byte blocks
};

/// Returns the list. The same options always give the same list. File numbers and versions start at
/// 1.
std::vector<Operation> small_files(const SmallFilesOptions& options);

}  // namespace headcrash::workload
