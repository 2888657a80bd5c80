#pragma once
// Determines which objects each name may show, and which tokens must show.

#include <optional>
#include <set>
#include <vector>

#include "harness/oracle/content.h"
#include "harness/oracle/history.h"

namespace headcrash::oracle {

/// The permitted states of one name: its state when last covered, and all later ones.
struct PermittedName {
  std::vector<Binding> bindings;  ///< the first is the covered one, or absence
  std::optional<Cover> cover;
  bool kept_by_posix = false;  ///< a point promised by POSIX covers the same binding
  bool rename_in_flight = false;

  bool absence() const;
  /// Returns true if the name has changed since it was last covered.
  bool changing() const { return bindings.size() > 1; }
  Tier tier() const { return cover && !kept_by_posix ? Tier::documented : Tier::posix; }
};
PermittedName permitted_name(const SlotHistory& slot, const Horizon& horizon);

/// Returns true if a name may show any object. If metadata writes are unordered (promises.h), a
/// name is reliable only if it has not changed since it was covered, and its object was synced
/// itself. fsync of a directory writes entries but not their inodes, and fsck clears an entry
/// without an inode.
bool may_show_anything(const WorkloadHistory& history, const PermittedName& name,
                       const Horizon& horizon, const adapters::Promises& promises);

/// Returns the exception: a regular file that was created under this name and synced itself, if the
/// name has neither changed nor been removed since. No other file can have its inode. The name, if
/// present, therefore shows that file as synced.
std::optional<TokenId> only_file(const WorkloadHistory& history, const PermittedName& name,
                                 const Horizon& horizon);

/// Hard links that were persistent under some name and that no operation can have removed.
struct PromisedTokens {
  /// Each must show under one of its names: a rename in flight permits either name, but never
  /// neither.
  std::set<TokenId> named;
  /// If names are ordered: links that may be in a directory which is not on the disk yet, or not
  /// reachable. The order is kept if such a directory has the new name before the old one is
  /// removed; fsck then finds it without a name. They must show under one of their names or in
  /// lost+found.
  std::set<TokenId> adrift;
};
PromisedTokens promised_tokens(const WorkloadHistory& history, const Horizon& horizon,
                               const adapters::Promises& promises);

/// A name that was found, and its candidate tokens.
struct ShownName {
  std::string path;
  std::vector<TokenId> tokens;
};

/// A matching of names to tokens.
struct Assignment {
  std::vector<TokenId> unseen;       ///< promised tokens without a matching name
  std::vector<std::size_t> surplus;  ///< names without a separate token: one link shows twice
  std::vector<std::optional<TokenId>> tokens;  ///< by name
};
Assignment assign(const std::vector<ShownName>& shown, const std::vector<TokenId>& promised);

}  // namespace headcrash::oracle
