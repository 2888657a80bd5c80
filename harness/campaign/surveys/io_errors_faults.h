#pragma once
// Which faults make the request of a cell fail. A block is recognised by what is written, as it
// arrives at the disk, and not by where it lay in an earlier run: content stamps, magic numbers,
// the file's own inode.
//
//   setup --> [arm: early] --> write, fsync, fsync --> [arm: late] --> sync, fsync --> more work --> end
//
// Where metadata go to a journal first, the fault of `metadata` is armed when they are in it
// (late): what fails is the write to their own place, after a successful fsync.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/campaign/surveys/io_errors_plan.h"

namespace headcrash::campaign {

/// The files of the workload, in 512-byte blocks. `a` is the file whose write fails.
struct IoErrorFiles {
  static constexpr std::uint32_t kFileA = 1, kFileB = 2, kFileC = 3;
  static constexpr std::uint32_t kOldVersion = 1, kFailedVersion = 2, kLaterVersion = 3;
  static constexpr std::uint64_t kBlocksOfA = 40, kBlocksOfB = 8;
  static constexpr std::uint64_t kWrittenBlocks = 8;     ///< of each write after the setup
  static constexpr std::uint64_t kOverwrittenFrom = 16;  ///< data-overwrite; the others append
  static constexpr std::uint64_t kLaterFrom = 0;         ///< of the later write to the same file
};

struct ArmedFaults {
  std::vector<std::string> specs;  ///< plugin/model/faults/faults.h
  bool late = false;
  std::string what;  ///< the block, in words
};

/// `type` is the adapter's; `inode` is the number of `a`.
ArmedFaults faults_of(const IoErrorCell& cell, std::string_view type, std::uint64_t inode);

}  // namespace headcrash::campaign
