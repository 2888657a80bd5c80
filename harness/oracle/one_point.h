#pragma once
// Whether a tree is that of one point of the history (Promises::one_point).
//
// What a name shows, and what its object has for size, mode, owner, times, attributes and contents,
// follows from how many operations of the list have been done. A tree whose names are all what they
// may be can still be none that ever was: the one shows that an operation has been done, the other
// that an earlier one has not.
//
// Users at once do not meet between two joins (ownership.h): each name there is what one of them
// has made of it, and each of them has a point of his own. So the tree is of one point when there
// are two joins between which, for each thread, some number of operations done explains all names
// that are its own.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/oracle/history.h"
#include "harness/oracle/observed_tree.h"
#include "harness/oracle/verdict.h"

namespace headcrash::oracle {

/// A name of a directory that is in the tree.
struct SeenName {
  const SlotHistory* slot = nullptr;
  std::string path;
  const ObservedObject* observed = nullptr;  ///< null: there is no such name
  std::vector<TokenId> tokens;               ///< that it can stand for
};

/// A point does not lie within a transaction (fs-adapters/transactions.h).
class OnePointJudge {
 public:
  /// All must outlive it.
  OnePointJudge(const WorkloadHistory& history, const adapters::Promises& promises,
                const Horizon& horizon)
      : history_(history), promises_(promises), horizon_(horizon) {}

  /// Nothing: there is such a point. Otherwise what contradicts the point that explains most.
  std::optional<Finding> judge(std::span<const SeenName> names);

 private:
  struct Contradiction {
    std::size_t explained = 0;  ///< names that fit, before the first that does not
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
