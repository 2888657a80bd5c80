#pragma once
// The oracle: determines the permitted trees after a power cut.
//
// It follows the workload's list as a correct file system would. For every name, file and attribute
// it records the history of states and the persistence points that cover each state. After a cut,
// let P be the last operation known to be persistent, and Q the next persistence point. Operations
// up to Q may have run, later ones cannot. A name may then show its state at the last persistence
// point that covers it, or any later state up to Q. The same applies to each 512-byte block, each
// attribute and the size. Everything else is a finding, in a tier:
//
//   posix        fsync of a file keeps its data, size and attributes, fdatasync its data and size,
//                O_SYNC and O_DSYNC the written range; fsync of a directory keeps its entries
//   documented   sync and syncfs keep everything (POSIX lets sync return before any write; Linux
//                documents that it waits); fsync of a file also keeps its name, or all its names
//   de-facto     a rename shows the old or the new name, never both or neither; a file renamed over
//                another one has its content
//   integrity    bytes of other files, objects that never existed, torn sectors outside a write in
//                flight, link counts that disagree with the names
//
// fs-adapters/promises.h describes the promises of a file system. Persistence points are
// cumulative: all up to P are judged, not only the last.

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

/// Judges a recovered tree in place of the oracle. `persisted` is as for Oracle::judge(). May be
/// called by several threads at once.
using TreeJudge = std::function<std::vector<Finding>(std::optional<std::size_t> persisted,
                                                     const std::vector<ObservedObject>& tree)>;

struct OracleOptions {
  adapters::Promises promises;
  /// Operations that the agent skipped or executed only in part.
  std::vector<workload::FailedOperation> failed_operations;
  /// Position of each operation for error messages, for example "list.txt:12". If empty, errors say
  /// "operation N".
  std::vector<std::string> subjects;
};

/// Judges trees against one list. The oracle owns its history and keeps no references to promises,
/// operations or trees. It is immutable after follow(), so any number of threads may share it.
/// judge() never fails: an inexplicable tree is a finding.
class Oracle {
 public:
  /// Follows a list of operations. Fails if a correct file system could not execute the list, for
  /// example because a name does not exist.
  static Result<Oracle> follow(std::span<const workload::Operation> operations,
                               const OracleOptions& options);
  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;
  ~Oracle();

  /// Judges a tree. `persisted` is the index of the last persistence point known to have succeeded
  /// before the cut, or nullopt. The contents of "lost+found" are not judged, but its entries count
  /// as additional names for their objects.
  std::vector<Finding> judge(std::optional<std::size_t> persisted,
                             const std::vector<ObservedObject>& tree) const;

  /// Returns the inode fields that the list sets and that judge() needs. Other fields need not be
  /// observed.
  const Aspects& judged() const;

 private:
  friend class RepeatedJudge;
  struct History;
  explicit Oracle(std::unique_ptr<History> history);
  std::unique_ptr<History> history_;
};

}  // namespace headcrash::oracle
