#pragma once
// An oracle for many similar trees from the same run. Judges again only those parts of a tree whose
// result may differ.
//
// Each object of a tree has a digest of everything that the oracle examines. A tree is not judged
// again if an equal tree was already judged at the same persistence point. A lone name can be
// judged independently of other names (lone_names.h). A lone name is not judged again if an earlier
// tree without findings had the same contents under this name. The results equal those of
// Oracle::judge().

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

struct SeenObject {
  const ObservedObject* object = nullptr;
  std::uint64_t digest = 0;  ///< digest_of(*object)
  /// Number of a lone name (lone_names.h); kNotLone for any other name.
  LoneName lone = kNotLone;
};

/// Returns a digest of all values of the object, including its path and inode. Equal objects have
/// equal digests.
std::uint64_t digest_of(const ObservedObject& object);

class RepeatedJudge {
 public:
  /// `oracle` must outlive this object.
  explicit RepeatedJudge(const Oracle& oracle) : oracle_(&oracle) {}

  LoneName lone_name(const std::string& path) const;
  /// Returns the same findings as Oracle::judge(). The tree must come from an image that fsck has
  /// found free of errors, so that each link count equals the number of names.
  const std::vector<Finding>& judge(std::optional<std::size_t> persisted,
                                    std::span<const SeenObject> tree);

 private:
  /// The data and the cached results for one value of `persisted`.
  struct Point {
    Horizon horizon;
    PromisedTokens promised;
    /// Digests of objects that are under lone names and had no findings.
    std::unordered_set<std::uint64_t> fine;
    std::unordered_map<std::uint64_t, std::vector<Finding>> trees;
  };
  Point& point(std::optional<std::size_t> persisted);

  const Oracle* oracle_;
  std::map<std::optional<std::size_t>, Point> points_;
  OmittedNames omitted_;
  std::vector<const ObservedObject*> rest_;
};

}  // namespace headcrash::oracle
