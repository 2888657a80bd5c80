#pragma once
// Parses the text of a guest's block trace (harness/guest/block_trace.h):
//
//   jbd2/vda-8-77  [000] ..... 312: block_bio_queue: 254,0 WS 8236 + 8 [jbd2/vda-8]
//   jbd2/vda-8-77  [000] ..... 313: <stack trace>
//    => submit_bio+0x7e/0x90
//    => jbd2_journal_commit_transaction+0x1174/0x1f90 [jbd2]

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::explorer {

struct BlockEvent {
  enum class Kind : std::uint8_t {
    queued,        ///< a file system or a driver submitted it
    dirtied,       ///< the block became dirty in memory
    issued,        ///< it was sent to the disk's driver
    page_dirtied,  ///< page `at` (of 4 KiB) of file `inode` became dirty in memory
    /// `blocks` blocks of file `inode`, from file block `at` on, are stored from disk block `block`
    /// on
    placed,
  };
  enum class Op : std::uint8_t { write, zero, trim, flush };
  Kind kind = Kind::queued;
  Op op = Op::write;
  bool preflush = false;     ///< a flush precedes the data
  bool fua = false;          ///< the data must be on the medium when the write completes
  std::string device;        ///< major and minor number: "254,0"
  std::uint64_t sector = 0;  ///< in units of 512 bytes
  std::uint32_t sectors = 0;
  std::uint64_t inode = 0, at = 0;
  /// In units of the file system's blocks. In XFS, the high bits of `block` are the allocation
  /// group.
  std::uint64_t block = 0, blocks = 0;
  std::string task;                ///< name of the thread
  std::vector<std::string> stack;  ///< the innermost function first; empty if unknown
};

struct BlockTrace {
  std::vector<BlockEvent> events;  ///< in the order in which they happened
  std::uint64_t lost = 0;          ///< number of events that the buffer could not hold
};

/// Parses the text. Ignores events of other kinds. Fails at any other line; the error names the
/// line. Never crashes on damaged text.
Result<BlockTrace> parse_block_trace(std::string_view text);

}  // namespace headcrash::explorer
