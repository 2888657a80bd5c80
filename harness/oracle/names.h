#pragma once
// What names may show, and which tokens must show somewhere.

#include <optional>
#include <set>
#include <vector>

#include "harness/oracle/content.h"
#include "harness/oracle/history.h"

namespace headcrash::oracle {

/// What one name may show: what it was when it was last covered, and whatever it became since.
struct PermittedName {
  std::vector<Binding> bindings;  ///< the first is the covered one, or absence before anything
  std::optional<Cover> cover;
  bool kept_by_posix = false;  ///< a point that POSIX knows covers the same binding
  bool rename_in_flight = false;

  bool absence() const;
  /// Something happened to the name since it was last covered.
  bool changing() const { return bindings.size() > 1; }
  Tier tier() const { return cover && !kept_by_posix ? Tier::documented : Tier::posix; }
};
PermittedName permitted_name(const SlotHistory& slot, const Horizon& horizon);

/// Where nothing orders the writes of metadata (promises.h), a name is only relied on when it has
/// not changed since it was covered and what it names was synced itself: fsync of a directory
/// writes entries, not the inodes that they speak of, and fsck clears an entry without an inode.
bool may_show_anything(const WorkloadHistory& history, const PermittedName& name,
                       const Horizon& horizon, const adapters::Promises& promises);

/// The exception: a regular file that was made under this name and synced itself, and whose name
/// has neither changed nor gone since. Nobody else can have its inode, so that the name, where it
/// is there, shows that file as it was synced.
std::optional<TokenId> only_file(const WorkloadHistory& history, const PermittedName& name,
                                 const Horizon& horizon);

/// Hard links that were persistent under some name and that nothing can have removed.
struct PromisedTokens {
  /// Each must show under one of its names, since a rename in flight permits either name and never
  /// neither.
  std::set<TokenId> named;
  /// Where names are ordered: those that may be in a directory which is itself not on the disk yet,
  /// or not where it can be reached. The order is kept when such a directory has the new name
  /// before the old one goes; fsck then finds it without a name. They must show under one of their
  /// names or in lost+found.
  std::set<TokenId> adrift;
};
PromisedTokens promised_tokens(const WorkloadHistory& history, const Horizon& horizon,
                               const adapters::Promises& promises);

/// A name that was found, and the tokens it can stand for.
struct ShownName {
  std::string path;
  std::vector<TokenId> tokens;
};

/// Who stands for whom.
struct Assignment {
  std::vector<TokenId> unseen;  ///< promised tokens that no name can stand for
  std::vector<std::size_t>
      surplus;  ///< names left without a token of their own: one link shows twice
  std::vector<std::optional<TokenId>> tokens;  ///< by name
};
Assignment assign(const std::vector<ShownName>& shown, const std::vector<TokenId>& promised);

}  // namespace headcrash::oracle
