#pragma once
// Checks whether a tree matches one point in the history (Promises::one_point).
//
// The number of executed operations determines the object to which each name refers, and that
// object's size, mode, owner, times, attributes and contents. Even if each name is permitted when
// it is considered alone, a tree may match no point: one name may show that an operation was
// executed, while another name shows that an earlier operation was not executed.
//
// Between two joins, concurrent users do not share names (ownership.h), so each name depends on
// only one thread. Each thread then has its own point. A tree matches if the point of each thread
// explains all names of that thread, and if all these points are between the same two joins.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/oracle/history.h"
#include "harness/oracle/observed_tree.h"
#include "harness/oracle/verdict.h"

namespace headcrash::oracle {

/// A name from the list of operations, and the object that the observed tree has under this name.
struct SeenName {
  const SlotHistory* slot = nullptr;
  std::string path;
  const ObservedObject* observed = nullptr;  ///< null if the tree lacks the name
  std::vector<TokenId> tokens;               ///< candidate tokens
};

/// Searches for a point in the list of operations after which the state matches the observed tree.
/// Points inside a transaction (fs-adapters/transactions.h) are not considered.
class OnePointJudge {
 public:
  /// All arguments must outlive this object.
  OnePointJudge(const WorkloadHistory& history, const adapters::Promises& promises,
                const Horizon& horizon)
      : history_(history), promises_(promises), horizon_(horizon) {}

  /// Returns nullopt if some point matches all names. Otherwise, finds the point that explains the
  /// most names, and returns a finding about a name that does not match this point.
  std::optional<Finding> judge(std::span<const SeenName> names);

 private:
  struct Contradiction {
    std::size_t explained = 0;  ///< number of names that match before the first mismatch
    std::size_t done = 0;
    const SeenName* name = nullptr;
  };
  bool explains(const Timeline::Section& section, std::size_t thread,
                const std::vector<const SeenName*>& names);
  std::size_t owner(const SeenName& name, const Timeline::Section& section) const;
  bool fits(const SeenName& name, std::size_t done) const;
  bool has_metadata(const ObjectHistory& object, const ObservedObject& observed,
                    std::size_t done) const;
  bool has_contents(const ObjectHistory& object, const ObservedObject& observed,
                    std::size_t done) const;

  const WorkloadHistory& history_;
  const adapters::Promises& promises_;
  const Horizon& horizon_;
  std::optional<Contradiction> nearest_;
};

}  // namespace headcrash::oracle
