#pragma once
// Judges a history of users who change the same names concurrently.
//
// The other parts of the oracle know the result of each operation in advance, because users share
// no names (ownership.h). Here the results are observed. A history is correct if some serial order
// of its calls gives these results and this final tree. The order must respect real time: if a call
// returned before another one began, it precedes that one (linearizability: Herlihy and Wing,
// TOPLAS 1990). The order is found by search (Wing and Gong, 1993), so histories must be small.
//
// POSIX does not make a whole call atomic. A call that names a file in a directory first finds the
// directory; link, open and fsync first find the file. Each of these steps has its own place in the
// order:
//
//   link a d/b   [find a]   [find d]   [make the name b in that directory]
//
// Supported operations: mkdir, rmdir, create, unlink, link, all kinds of rename, open, close, write
// and truncate of open files, fsync, fdatasync, fsyncdir, sync, syncfs, evict, join.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::oracle {

/// An executed operation: the interval of its call, and its result.
struct SharedCall {
  std::size_t operation = 0;           ///< index in the list
  std::uint64_t begun = 0, ended = 0;  ///< times, as values of a counter that all users share
  int error = 0;                       ///< errno; 0 for success
};

/// A name in the final tree, and the object to which it refers.
struct SharedObject {
  std::string path;
  std::uint64_t inode = 0;
  bool directory = false;
  std::uint32_t links = 0;
  std::vector<std::byte> content;  ///< contents of a regular file, or target of a symbolic link
  bool operator==(const SharedObject&) const = default;
};

struct SharedHistory {
  std::span<const workload::Operation> operations;
  std::vector<SharedCall> calls;
  std::vector<SharedObject> tree;  ///< in any order
};

/// Returns nullopt if some serial order explains the history; otherwise, returns a description of
/// the contradiction. Also returns nullopt if the search exceeds its limit; with up to 12
/// concurrent calls, it does not.
std::optional<std::string> contradiction_in(const SharedHistory& history);

}  // namespace headcrash::oracle
