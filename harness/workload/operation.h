#pragma once
// The operation language: what a workload does, one line of text an operation.
//
//   mkdir PATH                              create PATH
//   write PATH OFFSET LENGTH FILE VERSION   stamps (stamp.h); OFFSET is a multiple of 512
//   rename FROM TO                          unlink PATH
//   fsync PATH                              fsyncdir PATH        sync
//
// A workload is a list of operations made from a seed before anything runs. The agent executes it, the oracle
// follows the same list on the host: neither needs to be told what the other did. Paths are those of vfs.h,
// without blanks.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"
#include "plugin/model/result.h"

namespace headcrash::workload {

struct Operation {
  enum class Kind : std::uint8_t { mkdir, create, write, rename, unlink, fsync, fsync_directory, sync };
  Kind kind = Kind::sync;
  std::string path;
  std::string target;         ///< rename: the new name
  std::uint64_t offset = 0;   ///< write: bytes
  std::uint64_t length = 0;   ///< write: bytes, at most kLongestWriteBytes
  std::uint32_t file = 0;     ///< write: the file's number
  std::uint32_t version = 0;  ///< write: rises with every write of the workload
  bool operator==(const Operation&) const = default;
};

inline constexpr std::uint64_t kLongestWriteBytes = 16 << 20;

std::string format(const Operation& operation);

/// Errors name the word that is wrong. `subject` is put in front ("workload.txt:12").
Result<Operation> parse_operation(std::string_view line, const std::string& subject);

/// After success, something is promised to survive a power cut.
bool is_persistence_point(const Operation& operation);

/// Does it. A write opens, writes and closes; nothing is kept open between operations.
VfsResult<void> execute(const Operation& operation, Vfs& vfs);

}  // namespace headcrash::workload
