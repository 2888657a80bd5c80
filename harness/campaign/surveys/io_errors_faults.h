#pragma once
// The faults that make a cell's request fail. A block is recognised by its written content, not by
// its place in an earlier run: content stamps, magic numbers, the inode of the file.
//
//   setup --> [arm: early] --> write, fsync, fsync --> [arm: late] --> sync, fsync --> more work
//   --> end
//
// If metadata is first written to a journal, the fault of `metadata` is armed afterwards (late):
// the write to its final place fails, after a successful fsync.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/campaign/surveys/io_errors_plan.h"

namespace headcrash::campaign {

/// The files of the workload, in 512-byte blocks. The write to `a` fails.
struct IoErrorFiles {
  static constexpr std::uint32_t kFileA = 1, kFileB = 2, kFileC = 3;
  static constexpr std::uint32_t kOldVersion = 1, kFailedVersion = 2, kLaterVersion = 3;
  static constexpr std::uint64_t kBlocksOfA = 40, kBlocksOfB = 8;
  static constexpr std::uint64_t kWrittenBlocks = 8;     ///< size of each write after the setup
  static constexpr std::uint64_t kOverwrittenFrom = 16;  ///< data-overwrite; the other kinds append
  static constexpr std::uint64_t kLaterFrom = 0;         ///< for the later write to the same file
};

struct ArmedFaults {
  std::vector<std::string> specs;  ///< in the format of plugin/model/faults/faults.h
  bool late = false;
  std::string what;  ///< description of the block
};

/// Returns a cell's faults. `type` is the adapter's; `inode` is the number of `a`.
ArmedFaults faults_of(const IoErrorCell& cell, std::string_view type, std::uint64_t inode);

}  // namespace headcrash::campaign
