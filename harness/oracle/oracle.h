#pragma once
// The oracle: what a tree may look like after a power cut.
//
// It follows the workload's list of operations as a correct file system would and keeps, for every
// name, file and attribute, the history of its states and the persistence points that cover it.
// After a cut, with operation P the last one known to be persistent, the operations up to Q, the
// next persistence point, may have run; none after it can have. A name may then show what it was at
// the last persistence point that covers it, or anything it became in between, up to Q; each
// 512-byte block, each attribute and the size likewise. Everything else is a finding, in a tier:
//
//   posix        fsync of a file keeps its data, size and attributes, fdatasync its data and size, O_SYNC and
//                O_DSYNC what was written; fsync of a directory keeps its entries
//   documented   sync and syncfs keep everything (POSIX lets sync return before anything is written; Linux
//                documents that it waits); fsync of a file keeps its name as well, or all of its
//                names
//   de-facto     a rename shows the old or the new name, never both or neither; a file renamed over another
//                one has its content
//   integrity    bytes of other files, objects that never were, torn sectors outside a write in flight, link
//                counts that disagree with the names
//
// fs-adapters/promises.h says which of these a file system promises. Persistence points are
// cumulative: every one up to P is judged, not only the last.

#include <cstddef>
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

struct OracleOptions {
  adapters::Promises promises;
  std::vector<workload::FailedOperation>
      failed_operations;  ///< operations that the agent skipped or did in part
  /// By operation, for errors: "list.txt:12". Empty: "operation N".
  std::vector<std::string> subjects;
};

/// Owns its history; promises, operations and trees are the caller's and are not kept beyond the
/// calls. Immutable after follow(): any number of threads may judge with one oracle. judge() does
/// not fail: what cannot be explained is a finding.
class Oracle {
 public:
  /// Errors: a list that a correct file system could not execute (a name that does not exist).
  static Result<Oracle> follow(std::span<const workload::Operation> operations,
                               const OracleOptions& options);
  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;
  ~Oracle();

  /// `persisted`: index of the last persistence point known to have succeeded before the cut;
  /// nothing for none. The content of "lost+found" is left out, but counts as names of what is
  /// elsewhere.
  std::vector<Finding> judge(std::optional<std::size_t> persisted,
                             const std::vector<ObservedObject>& tree) const;

  /// What the list sets and its judgement looks at; nothing else of an inode need be observed.
  const Aspects& judged() const;

 private:
  friend class RepeatedJudge;
  struct History;
  explicit Oracle(std::unique_ptr<History> history);
  std::unique_ptr<History> history_;
};

}  // namespace headcrash::oracle
