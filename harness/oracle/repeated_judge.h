#pragma once
// An oracle for many similar trees from one run. It judges only those parts of a tree again whose
// result may differ.
//
// Each object in a tree has a digest of everything that the oracle examines. A tree that was
// already judged at the same persistence point is not judged again. Neither are lone names
// (lone_names.h) whose contents are the same as in an earlier tree without findings. The results
// equal those of Oracle::judge().

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "harness/oracle/judge.h"
#include "harness/oracle/oracle.h"

namespace headcrash::oracle {

/// One object of an observed tree.
struct SeenObject {
  const ObservedObject* object = nullptr;
  std::uint64_t digest = 0;  ///< digest_of(*object)
  LoneName lone = kNotLone;  ///< RepeatedJudge::lone_name() of its path
};

/// Returns a digest of the object's path, inode and all other values. Equal objects have equal
/// digests.
std::uint64_t digest_of(const ObservedObject& object);

class RepeatedJudge {
 public:
  /// The oracle must outlive this object.
  explicit RepeatedJudge(const Oracle& oracle) : oracle_(&oracle) {}

  LoneName lone_name(const std::string& path) const;
  /// Judges a tree like Oracle::judge(). The image must have passed fsck without errors, so that
  /// link counts equal the numbers of names.
  const std::vector<Finding>& judge(std::optional<std::size_t> persisted,
                                    std::span<const SeenObject> tree);

 private:
  /// Results and data that depend only on the last persistence point.
  struct Point {
    Horizon horizon;
    PromisedTokens promised;
    std::unordered_set<std::uint64_t> fine;  ///< digests of lone names that had no findings
    std::unordered_map<std::uint64_t, std::vector<Finding>> trees;
  };
  Point& point(std::optional<std::size_t> persisted);

  const Oracle* oracle_;
  std::map<std::optional<std::size_t>, Point> points_;
  OmittedNames omitted_;
  std::vector<const ObservedObject*> rest_;
};

}  // namespace headcrash::oracle
