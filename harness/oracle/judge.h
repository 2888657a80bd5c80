#pragma once
// Judges one observed tree against the history of a list (oracle.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// An interpretation of the ambiguous directories. Stamps identify files but not directories, so a
/// name may refer to any of several directories. `of` maps each path to the chosen directory. The
/// search determines the choices in `forced`; the matching determines all others.
struct DirectoryReading {
  struct Ambiguous {
    std::string path;
    /// The tokens that this directory may represent: those that cause the fewest findings below it.
    std::vector<TokenId> fitting;
    /// Inodes of objects below this directory that also have names outside of it.
    std::set<std::uint64_t> linked;
    std::set<std::size_t> renamed_by;  ///< operations that may have changed the name
  };
  std::map<std::string, TokenId> of, forced;
  std::vector<Ambiguous> ambiguous;
  /// Set only if the whole tree must match one point: the number of operations before this point.
  /// The assignment prefers tokens that existed at the point.
  std::optional<std::size_t> point;
};

/// Lone names (lone_names.h) that were omitted from the tree, because their objects have already
/// been judged. These names must not be reported as missing.
class OmittedNames {
 public:
  bool contains(LoneName name) const { return name < flags_.size() && flags_[name] != 0; }
  /// Adds a name. Returns false if it was already present.
  bool add(LoneName name) {
    if (name >= flags_.size()) flags_.resize(std::size_t{name} + 1, 0);
    return std::exchange(flags_[name], 1) == 0;
  }
  void clear() { std::fill(flags_.begin(), flags_.end(), 0); }

 private:
  std::vector<std::uint8_t> flags_;
};

/// Returns a number that is larger for more severe findings. Of several interpretations of a tree,
/// the judge selects the one with the smallest number. A broken de-facto promise counts less than a
/// broken documented promise.
std::size_t severity(const std::vector<Finding>& findings);

/// Compares an observed tree with a history. A Judge judges only one tree, once. Not thread-safe.
class Judge {
 public:
  struct Terms {
    const WorkloadHistory& history;
    const adapters::Promises& promises;
    const Horizon& horizon;
    const PromisedTokens& promised;  ///< result of promised_tokens() for this history and horizon
    const OmittedNames& omitted;
  };
  /// Everything that the arguments refer to must outlive this object.
  Judge(const Terms& terms, std::span<const ObservedObject* const> tree);

  /// Returns the findings of the interpretation that has the fewest findings.
  std::vector<Finding> judge();

 private:
  struct Shown {
    const ObservedObject* observed;
    ShownName name;
  };

  std::vector<Finding> least_findings();
  void walk();
  std::size_t walk_by(const DirectoryReading& reading);
  bool ordered() const { return promises_.names == adapters::NameOrder::ordered; }
  bool is_own(const std::string& top) const;
  bool is_passing(const std::string& name) const;
  bool may_be_missing(const PermittedName& allowed) const;
  void judge_third_name(ObjectId directory, const ObservedObject& observed);
  void judge_directory(ObjectId directory, const std::string& path);
  void judge_name(const SlotHistory& slot, const std::string& path, const ObservedObject* observed);
  void judge_object(const SlotHistory& slot, const PermittedName& allowed,
                    const ObservedObject& observed);
  void judge_special(const ObservedObject& observed, const std::vector<TokenId>& candidates);
  void judge_subdirectory(const ObservedObject& observed, const std::vector<TokenId>& candidates);
  void judge_directory_as(const ObservedObject& observed, TokenId token);
  std::vector<TokenId> candidates(const PermittedName& allowed,
                                  const ObservedObject& observed) const;
  PermittedName third_names(ObjectId directory, const SlotHistory*& exchanged) const;

  // judge_directories.cc
  struct Level;
  void read_directories(DirectoryReading& reading);
  void read_level(Level& level, DirectoryReading& reading);
  static void agree_by_inode(Level& level);
  void note_links(ObjectId directory, const std::string& path);
  bool may_be_linked(const ObservedObject& observed, const std::vector<TokenId>& tokens) const;
  std::size_t misfit(const ObservedObject& observed, TokenId token);
  std::vector<TokenId> fitting(const ObservedObject& observed,
                               const std::vector<TokenId>& candidates,
                               const DirectoryReading& reading);
  std::set<std::uint64_t> links_below(const std::string& path) const;
  void improve(const DirectoryReading& start, std::vector<Finding>& best);
  void judge_symlink(const SlotHistory& slot, const PermittedName& allowed,
                     const ObservedObject& observed, const std::vector<TokenId>& candidates);
  void judge_file(const SlotHistory& slot, const PermittedName& allowed,
                  const ObservedObject& observed, const std::vector<TokenId>& candidates);
  std::vector<Finding> judge_file_as(TokenId token, const PermittedName& allowed,
                                     const ObservedObject& observed) const;
  std::vector<Finding> judge_metadata(TokenId token, const ObservedObject& observed) const;
  void show_best(const ObservedObject& observed, const std::vector<TokenId>& candidates,
                 const std::function<std::vector<Finding>(TokenId)>& findings_as);
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
    if (trying_ && !may_be_linked(observed, tokens))
      report(
          {Verdict::wrong_data, Tier::integrity, observed.path, "another file", "the same inode"});
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
  const OmittedNames& omitted_;
  std::map<std::string, std::map<std::string, const ObservedObject*>>
      children_;  // keyed by directory and name
  std::vector<const ObservedObject*> lost_and_found_;
  std::set<std::string> twice_;  // paths that a directory lists more than once
  std::map<std::uint64_t, std::size_t> names_of_inode_;

  /// The objects that each inode with several names may represent, deduced from its unambiguous
  /// names.
  std::map<std::uint64_t, std::set<ObjectId>> linked_;
  /// Cached results of misfit(). Each directory below the observed directory is interpreted so as
  /// to minimise the findings.
  std::map<std::pair<const ObservedObject*, TokenId>, std::size_t> misfits_;

  // The state of one traversal of the tree.
  std::map<std::string, TokenId> read_as_;  ///< DirectoryReading::of
  /// True if a directory with several candidate tokens has been found.
  bool in_doubt_ = false;
  bool trying_ = false;  ///< inside misfit()
  std::size_t misfit_below_ = 0;
  std::vector<Shown> shown_;
  /// filled only if the whole tree must match one point in the history
  std::vector<SeenName> seen_;
  std::set<std::string> faulty_;
  std::vector<Finding> findings_;
};

}  // namespace headcrash::oracle
