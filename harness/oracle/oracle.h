#pragma once
// The oracle: determines which trees are permitted after a power cut.
//
// It follows the operations of a workload in the way a correct file system executes them. For every
// name, file and attribute, it records all states and the persistence points that cover each state.
// After a cut, let P be the last operation that is known to be persistent, and let Q be the next
// persistence point. Operations up to Q may have run; later ones cannot have run. A name may then
// show its state at the last persistence point that covers it, or any later state up to Q. The same
// applies to each 512-byte block, to each attribute and to the size. Everything else is a finding,
// in one of these tiers:
//
//   posix        fsync of a file keeps its data, size and attributes; fdatasync keeps its data and
//                size; O_SYNC and O_DSYNC keep the written range; fsync of a directory keeps its
//                entries
//   documented   sync and syncfs keep everything (POSIX lets sync return before any write; Linux
//                documents that it waits); fsync of a file also keeps its name, or all its names
//   de-facto     a rename shows the old or the new name, never both or neither; a file that was
//                renamed over another one has its content
//   integrity    no bytes of other files, no objects that never existed, no torn sectors except for
//                writes in flight, no link counts that differ from the number of names
//
// fs-adapters/promises.h describes the promises of a file system. Persistence points are
// cumulative: all points up to P are judged, not only the last one.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fs-adapters/promises.h"
#include "harness/oracle/history.h"
#include "harness/oracle/observed_tree.h"
#include "harness/oracle/verdict.h"
#include "harness/workload/operation.h"

namespace headcrash::oracle {

/// A function that replaces the oracle as the judge of recovered trees. `persisted` has the same
/// meaning as in Oracle::judge(). Several threads may call the function concurrently.
using TreeJudge = std::function<std::vector<Finding>(std::optional<std::size_t> persisted,
                                                     const std::vector<ObservedObject>& tree)>;

struct OracleOptions {
  adapters::Promises promises;
  /// Operations that the agent skipped or executed only partly.
  std::vector<workload::FailedOperation> failed_operations;
  /// For error messages: the place where each operation is defined, such as "list.txt:12". If
  /// empty, errors say "operation N".
  std::vector<std::string> subjects;
};

/// Judges trees against one list of operations. The oracle owns the history of the list and keeps
/// no references to promises, operations or trees. It is immutable once follow() has returned, so
/// any number of threads may share it. judge() never fails: a tree that cannot be explained gives a
/// finding.
class Oracle {
 public:
  /// Creates the oracle for a list of operations. Fails if a correct file system could not execute
  /// the list, for example because a name does not exist.
  static Result<Oracle> follow(std::span<const workload::Operation> operations,
                               const OracleOptions& options);
  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;
  ~Oracle();

  /// Judges a tree. `persisted` is the index of the last persistence point that is known to have
  /// succeeded before the cut, or nullopt if there is no such point. The contents of "lost+found"
  /// are not judged, but its entries count as further names of their objects.
  std::vector<Finding> judge(std::optional<std::size_t> persisted,
                             const std::vector<ObservedObject>& tree) const;

  /// Returns the inode fields that the list sets. judge() needs no other fields, so a tree may omit
  /// them.
  const Aspects& judged() const;

 private:
  friend class RepeatedJudge;
  struct History;
  explicit Oracle(std::unique_ptr<History> history);
  std::unique_ptr<History> history_;
};

}  // namespace headcrash::oracle
