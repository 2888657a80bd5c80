#pragma once
// Assigns the events of a guest's block trace to the requests of a recording.
//
//   queued  ------------->  issued  ------------------>  SUBMIT of the recording
//           sectors overlap         same sectors, in the order of issue
//
// Times are not compared. The guest's block layer merges and splits queued requests. An issued
// request may therefore have several issuers, and several issued requests may have the same issuer.
// QEMU merges adjacent requests, so a recorded request may consist of several issued ones. A write
// with a preflush or FUA becomes up to three requests: flush, write, flush.

#include <span>
#include <string>
#include <vector>

#include "harness/explorer/explain/issuers.h"
#include "harness/explorer/guests/block_trace_text.h"
#include "plugin/states/run_history.h"

namespace headcrash::explorer {

/// Converts the block numbers of a file system to sectors.
struct FileSystemBlocks {
  std::uint32_t sectors = 0;  ///< sectors in a block; 0 if unknown
  /// In XFS, a block number is `group << group_bits | block in the group`, and a group has
  /// `group_blocks` blocks. In other file systems, both members are 0.
  std::uint32_t group_blocks = 0, group_bits = 0;
};
/// Number of bytes at the beginning of a disk that file_system_blocks() reads.
inline constexpr std::size_t kFileSystemBlocksBytes = 2048;
/// Reads the superblock of ext2, ext4, XFS or F2FS. If there is no such superblock, `sectors` of
/// the result is 0.
FileSystemBlocks file_system_blocks(std::span<const std::byte> beginning);

/// A device of the recording, and its number in the guest, such as "254,0".
struct TracedDevice {
  model::DeviceId device = 0;
  std::string number;
  FileSystemBlocks blocks = {};
};

struct MatchedIssuers {
  Issuers issuers;
  std::size_t requests = 0;  ///< number of writes and flushes of these devices
  std::size_t matched = 0;   ///< number of these writes and flushes whose issuer is known
};

MatchedIssuers match_issuers(const states::RunHistory& run,
                             const std::vector<TracedDevice>& devices,
                             const std::vector<BlockEvent>& events);

}  // namespace headcrash::explorer
