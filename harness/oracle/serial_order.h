#pragma once
// Judges a history of users who change the same names at once.
//
// The oracle's other parts know the result of each operation in advance, because users share no
// names (ownership.h). Here the results are observed. A history is correct if some serial order of
// its calls gives these results and this final tree, and respects real time: a call that returned
// before another began precedes it (linearizability: Herlihy and Wing, TOPLAS 1990). The order is
// found by search (Wing and Gong, 1993), so histories must be small.
//
// POSIX does not make a whole call atomic. A call that names a file in a directory first finds the
// directory; link, open and fsync first find the file. Each such step has its own place in the
// order:
//
//   link a d/b   [find a]   [find d]   [make the name b in that directory]
//
// Known operations: mkdir, rmdir, create, unlink, link, the renames, open, close, write and
// truncate of open files, fsync, fdatasync, fsyncdir, sync, syncfs, evict, join.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::oracle {

/// One operation's call and its result.
struct SharedCall {
  std::size_t operation = 0;           ///< index in the list
  std::uint64_t begun = 0, ended = 0;  ///< instants of a counter that all users share
  int error = 0;                       ///< errno; 0 for success
};

/// A name in the final tree.
struct SharedObject {
  std::string path;
  std::uint64_t inode = 0;
  bool directory = false;
  std::uint32_t links = 0;
  std::vector<std::byte> content;  ///< a regular file's contents, or a symbolic link's target
  bool operator==(const SharedObject&) const = default;
};

struct SharedHistory {
  std::span<const workload::Operation> operations;
  std::vector<SharedCall> calls;
  std::vector<SharedObject> tree;  ///< in any order
};

/// Returns nullopt if a serial order explains the history, otherwise a description. Also returns
/// nullopt if the search exceeds its limit, which a history of 12 concurrent calls does not.
std::optional<std::string> contradiction_in(const SharedHistory& history);

}  // namespace headcrash::oracle
