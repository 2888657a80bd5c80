#pragma once
// Determines which objects each name may refer to, and which hard links must have a name.

#include <optional>
#include <set>
#include <vector>

#include "harness/oracle/content.h"
#include "harness/oracle/history.h"

namespace headcrash::oracle {

/// The permitted states of one name: the state that a persistence point last covered, and all later
/// states.
struct PermittedName {
  std::vector<Binding> bindings;  ///< bindings[0] is the covered binding, or absence
  std::optional<Cover> cover;
  bool kept_by_posix = false;  ///< POSIX promises a point that covers the same binding
  bool rename_in_flight = false;

  bool absence() const;
  /// Returns true if the name has changed since it was last covered.
  bool changing() const { return bindings.size() > 1; }
  Tier tier() const { return cover && !kept_by_posix ? Tier::documented : Tier::posix; }
};
PermittedName permitted_name(const SlotHistory& slot, const Horizon& horizon);

/// Returns true if a name may refer to any object. If metadata writes are unordered (promises.h), a
/// name is reliable only if it has not changed since it was covered and its object itself was
/// synced. The reason: fsync of a directory writes entries but not the inodes they name, and fsck
/// clears an entry whose inode was not written.
bool may_show_anything(const WorkloadHistory& history, const PermittedName& name,
                       const Horizon& horizon, const adapters::Promises& promises);

/// Returns true for the exception to may_show_anything(): a regular file that was created under
/// this name and synced itself, if the name has neither changed nor been removed since. No other
/// file can have this file's inode, so the name, if present, refers to the file as synced.
std::optional<TokenId> only_file(const WorkloadHistory& history, const PermittedName& name,
                                 const Horizon& horizon);

/// Hard links that were persistent under some name and that no operation can have removed.
struct PromisedTokens {
  /// Links that must be found under one of their names. A rename in flight permits either name, but
  /// not the absence of both.
  std::set<TokenId> named;
  /// Used only if names are ordered: links whose directory may not be on the disk yet, or may be
  /// unreachable. Ordering permits this if the new name was added to such a directory before the
  /// old name is removed; fsck then finds the object without a name. The links must be found under
  /// one of their names or in lost+found.
  std::set<TokenId> adrift;
};
PromisedTokens promised_tokens(const WorkloadHistory& history, const Horizon& horizon,
                               const adapters::Promises& promises);

/// A name found in the tree, and the tokens to which it may belong.
struct ShownName {
  std::string path;
  std::vector<TokenId> tokens;
};

/// A matching of names to tokens.
struct Assignment {
  std::vector<TokenId> unseen;  ///< promised tokens that match no name
  /// Names that match no other token, for example the second name of one link.
  std::vector<std::size_t> surplus;
  std::vector<std::optional<TokenId>> tokens;  ///< by name
};
Assignment assign(const std::vector<ShownName>& shown, const std::vector<TokenId>& promised);

}  // namespace headcrash::oracle
