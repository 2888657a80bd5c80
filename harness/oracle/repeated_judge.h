#pragma once
// The oracle for many trees of one run that are nearly alike: judges again only what can come out
// differently.
//
// Each object of a tree comes with a digest of all that the oracle looks at. A whole tree that has
// been judged before the same persistence point is not judged again; nor are lone names
// (lone_names.h) that showed the same thing in a tree without a finding. What it says is what
// Oracle::judge says.

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

/// One object of a tree.
struct SeenObject {
  const ObservedObject* object = nullptr;
  std::uint64_t digest = 0;  ///< digest_of(*object)
  LoneName lone = kNotLone;  ///< RepeatedJudge::lone_name() of its path
};

/// Of path, inode and everything else: equal objects have equal ones.
std::uint64_t digest_of(const ObservedObject& object);

class RepeatedJudge {
 public:
  /// The oracle must outlive it.
  explicit RepeatedJudge(const Oracle& oracle) : oracle_(&oracle) {}

  LoneName lone_name(const std::string& path) const;
  /// As Oracle::judge. The tree must be one that a check has found nothing wrong with: link counts
  /// are the numbers of names.
  const std::vector<Finding>& judge(std::optional<std::size_t> persisted,
                                    std::span<const SeenObject> tree);

 private:
  /// What follows from the last persistence point alone.
  struct Point {
    Horizon horizon;
    PromisedTokens promised;
    std::unordered_set<std::uint64_t> fine;  ///< digests of lone names
    std::unordered_map<std::uint64_t, std::vector<Finding>> trees;
  };
  Point& point(std::optional<std::size_t> persisted);

  const Oracle* oracle_;
  std::map<std::optional<std::size_t>, Point> points_;
  LeftOut left_out_;
  std::vector<const ObservedObject*> rest_;
};

}  // namespace headcrash::oracle
