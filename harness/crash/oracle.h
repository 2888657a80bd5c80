#pragma once
// The oracle: what a tree may look like after a power cut.
//
// It follows the workload's list of operations as a correct file system would and keeps, for every name and
// every file, the history of its states and the persistence points that cover it. After a cut, with operation
// P the last one known to be persistent, the operations up to Q, the next persistence point, may have run;
// none after it can have. A name may then show what it was at the last persistence point that covers it, or
// anything it became in between, up to Q; each 512-byte block of a file likewise. Everything else is a
// finding, in a tier:
//
//   posix        fsync of a file keeps its data and size; fsync of a directory, and sync, keep its entries
//   documented   fsync of a file keeps its name as well (adapters say which file systems document that)
//   integrity    bytes of other files, objects that never were, torn sectors outside a write in flight
//
// Persistence points are cumulative: every one up to P is judged, not only the last.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "harness/crash/observed_tree.h"
#include "harness/crash/verdict.h"
#include "harness/workload/operation.h"

namespace headcrash::crash {

struct OracleOptions {
  bool fsync_keeps_name = false;  ///< judge the documented tier too
};

class Oracle {
 public:
  /// Errors: a list that a correct file system could not execute (a name that does not exist), or one with a
  /// rename of a directory, which the oracle does not follow yet.
  static Result<Oracle> follow(std::span<const workload::Operation> operations, const OracleOptions& options);
  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;
  ~Oracle();

  /// `persisted`: index of the last persistence point known to have succeeded before the cut; nothing for
  /// none. "lost+found" and what is below it is left out.
  std::vector<Finding> judge(std::optional<std::size_t> persisted,
                             const std::vector<ObservedObject>& tree) const;

 private:
  struct History;
  explicit Oracle(std::unique_ptr<History> history);
  std::unique_ptr<History> history_;
};

}  // namespace headcrash::crash
