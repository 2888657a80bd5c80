#pragma once
// The faults that make the request under test in a cell fail. A fault recognises a block by the
// content that is written (a content stamp, a magic number, or the inode of the file), not by its
// position in an earlier run.
//
//   setup --> [arm: early] --> write, fsync, fsync --> [arm: late] --> sync, fsync --> more work
//   --> end
//
// If metadata is first written to a journal, the fault for `metadata` is armed late. The later
// write of the metadata to its final place then fails, although an earlier fsync has succeeded.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/campaign/surveys/io_errors_plan.h"

namespace headcrash::campaign {

/// The files of the workload. Positions and sizes are in blocks of 512 bytes. The write to `a`
/// fails.
struct IoErrorFiles {
  static constexpr std::uint32_t kFileA = 1, kFileB = 2, kFileC = 3;
  static constexpr std::uint32_t kOldVersion = 1, kFailedVersion = 2, kLaterVersion = 3;
  static constexpr std::uint64_t kBlocksOfA = 40, kBlocksOfB = 8;
  static constexpr std::uint64_t kWrittenBlocks = 8;  ///< size of each write after the setup
  /// First block of the failing write in cells of kind data_overwrite. In all other cells, the
  /// write appends to the file.
  static constexpr std::uint64_t kOverwrittenFrom = 16;
  /// First block of the second write to `a`. This write is issued after the write that fails.
  static constexpr std::uint64_t kLaterFrom = 0;
};

struct ArmedFaults {
  std::vector<std::string> specs;  ///< in the format of plugin/model/faults/faults.h
  bool late = false;
  std::string what;  ///< description of the block whose write fails
};

/// Returns the faults of a cell. `type` is the file system type of the adapter; `inode` is the
/// inode number of the workload's file "a".
ArmedFaults faults_of(const IoErrorCell& cell, std::string_view type, std::uint64_t inode);

}  // namespace headcrash::campaign
