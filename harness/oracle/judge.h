#pragma once
// One observed tree against one history (oracle.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/oracle/content.h"
#include "harness/oracle/names.h"
#include "harness/oracle/one_point.h"

namespace headcrash::oracle {

/// Directories cannot be distinguished by content. Where a name may stand for one of several, each is tried;
/// the choices of one walk are numbered in the order they are met.
class Choices {
 public:
  std::size_t choose(std::size_t options);
  bool next();  ///< false when all have been tried, or enough
  void restart() { met_ = 0; }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> taken_;  // choice, options
  std::size_t met_ = 0, walks_ = 1;
};

/// Lone names (lone_names.h) that have been judged already and are neither in the tree nor to be missed.
class LeftOut {
 public:
  bool contains(LoneName name) const { return name < flags_.size() && flags_[name] != 0; }
  /// False: it is left out already.
  bool add(LoneName name) {
    if (name >= flags_.size()) flags_.resize(std::size_t{name} + 1, 0);
    return std::exchange(flags_[name], 1) == 0;
  }
  void clear() { std::fill(flags_.begin(), flags_.end(), 0); }

 private:
  std::vector<std::uint8_t> flags_;
};

/// Judges one tree once. Owns only its own working memory; not thread-safe.
class Judge {
 public:
  struct Terms {
    const WorkloadHistory& history;
    const adapters::Promises& promises;
    const Horizon& horizon;
    const PromisedTokens& promised;  ///< promised_tokens() of these
    const LeftOut& left_out;
  };
  /// All must outlive this.
  Judge(const Terms& terms, std::span<const ObservedObject* const> tree);

  /// The findings of the reading of the tree that has the fewest.
  std::vector<Finding> judge();

 private:
  struct Shown {
    const ObservedObject* observed;
    ShownName name;
  };

  void walk();
  bool ordered() const { return promises_.names == adapters::NameOrder::ordered; }
  bool is_passing(const std::string& name) const;
  bool may_be_missing(const PermittedName& allowed) const;
  void judge_third_name(ObjectId directory, const ObservedObject& observed);
  void judge_directory(ObjectId directory, const std::string& path);
  void judge_name(const SlotHistory& slot, const std::string& path, const ObservedObject* observed);
  void judge_object(const SlotHistory& slot, const PermittedName& allowed, const ObservedObject& observed);
  void judge_subdirectory(const ObservedObject& observed, const std::vector<TokenId>& candidates);
  void judge_symlink(const SlotHistory& slot, const PermittedName& allowed, const ObservedObject& observed,
                     const std::vector<TokenId>& candidates);
  void judge_file(const SlotHistory& slot, const PermittedName& allowed, const ObservedObject& observed,
                  const std::vector<TokenId>& candidates);
  std::vector<Finding> judge_file_as(TokenId token, const PermittedName& allowed,
                                     const ObservedObject& observed) const;
  void judge_inodes();
  void judge_tokens();
  void judge_one_point();
  std::vector<ShownName> found_without_a_name() const;
  bool lost_its_third_name(TokenId token) const;
  void report_unseen(TokenId token);

  const ObjectHistory& object_of(TokenId token) const {
    return history_.objects[history_.tokens[token].object];
  }
  void show(const ObservedObject& observed, std::vector<TokenId> tokens) {
    shown_.push_back({&observed, {observed.path, std::move(tokens)}});
  }
  void report(Finding finding);
  void report_all(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) report(finding);
  }
  bool reported_at_or_above(std::string path) const;

  const WorkloadHistory& history_;
  const adapters::Promises& promises_;
  const Horizon& horizon_;
  const PromisedTokens& promised_;
  const LeftOut& left_out_;
  std::map<std::string, std::map<std::string, const ObservedObject*>> children_;  // by directory and name
  std::vector<const ObservedObject*> lost_and_found_;
  std::set<std::string> twice_;  // paths that a directory lists more than once
  std::map<std::uint64_t, std::size_t> names_of_inode_;

  // Of the walk at hand.
  Choices choices_;
  std::vector<Shown> shown_;
  std::vector<SeenName> seen_;  ///< where all has to be of one point
  std::set<std::string> faulty_;
  std::vector<Finding> findings_;
};

}  // namespace headcrash::oracle
