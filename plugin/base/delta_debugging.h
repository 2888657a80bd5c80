#pragma once
// Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input",
// 2002): searches for a small subset of elements that still has a property, such as "fails".
//
// It first omits halves, then quarters, and so on, of the remaining elements. It keeps any subset
// that still has the property, and stops when no single element can be omitted.

#include <cstddef>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace headcrash::base {

/// Indices of the kept elements, ascending.
using Chosen = std::vector<std::size_t>;

class DeltaDebugging {
 public:
  struct Predicates {
    /// Returns the kept elements without those that require an omitted element. If this function is
    /// empty, all kept elements are usable.
    std::function<Chosen(const Chosen&)> usable;
    std::function<bool(const Chosen&)> still_fails;
  };
  struct Limits {
    std::size_t checks = 200;  ///< maximum number of calls to still_fails()
    /// If set, called before each check. The search ends if it returns true.
    std::function<bool()> out_of_time;
  };

  DeltaDebugging(Predicates predicates, Limits limits)
      : predicates_(std::move(predicates)), limits_(std::move(limits)) {}

  /// Starts the search with all `items` elements. REQUIRES: the set of all elements has the
  /// property.
  Chosen run(std::size_t items);

  std::size_t checks() const { return checks_; }
  bool stopped() const { return stopped_; }  ///< true if a limit ended the search

 private:
  bool keep_one_part(std::size_t parts);
  bool leave_out_one_part(std::size_t parts);
  bool fails(const Chosen& chosen);
  /// Divides the elements into `parts` parts, and returns the half-open range of part `index`.
  std::pair<std::size_t, std::size_t> part(std::size_t index, std::size_t parts) const {
    return {index * current_.size() / parts, (index + 1) * current_.size() / parts};
  }

  Predicates predicates_;
  Limits limits_;
  Chosen current_;
  std::set<Chosen> asked_;  // subsets that have already been checked
  std::size_t checks_ = 0;
  bool stopped_ = false;
};

}  // namespace headcrash::base
