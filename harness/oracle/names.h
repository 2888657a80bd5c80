#pragma once
// Determines to which objects each name may refer, and which hard links must have a name.

#include <optional>
#include <set>
#include <vector>

#include "harness/oracle/content.h"
#include "harness/oracle/history.h"

namespace headcrash::oracle {

/// The permitted states of one name: its state at the last persistence point that covers it, and
/// all later states.
struct PermittedName {
  /// bindings[0] is the state at the persistence point `cover`. Its token is nullopt if the name
  /// did not exist then.
  std::vector<Binding> bindings;
  std::optional<Cover> cover;
  bool kept_by_posix = false;  ///< a persistence point promised by POSIX covers bindings[0]
  bool rename_in_flight = false;

  bool absence() const;
  /// Returns true if the name has changed since it was last covered.
  bool changing() const { return bindings.size() > 1; }
  Tier tier() const { return cover && !kept_by_posix ? Tier::documented : Tier::posix; }
};
PermittedName permitted_name(const SlotHistory& slot, const Horizon& horizon);

/// Returns true if a name may refer to any object. If metadata writes are unordered (promises.h), a
/// name is reliable only if it has not changed since it was covered and its object was synced. The
/// reason is that fsync of a directory writes the entries, but not their inodes. If an inode was
/// not written, fsck clears its entry.
bool may_show_anything(const WorkloadHistory& history, const PermittedName& name,
                       const Horizon& horizon, const adapters::Promises& promises);

/// Returns the only file to which the name can refer, even if may_show_anything() is true; nullopt
/// if there is no such file. The file is a regular file that was created under this name after the
/// name was last covered, and was then synced. Nothing else has happened to the name. The inode of
/// a synced file cannot belong to another file.
std::optional<TokenId> only_file(const WorkloadHistory& history, const PermittedName& name,
                                 const Horizon& horizon);

/// Hard links that were persistent under some name and that no operation can have removed since.
struct PromisedTokens {
  /// Links that must be found under one of their names. While a rename is in flight, a link may be
  /// found under its old or its new name.
  std::set<TokenId> named;
  /// Links that must be found under one of their names or below lost+found. Used only if names are
  /// ordered (NameOrder::ordered). A rename may add the new name to a directory that is not yet
  /// reachable on the disk, and then remove the old name. After a cut, fsck moves the unreachable
  /// directory to lost+found.
  std::set<TokenId> adrift;
};
PromisedTokens promised_tokens(const WorkloadHistory& history, const Horizon& horizon,
                               const adapters::Promises& promises);

/// A name in the tree, and the tokens to which this name may refer.
struct ShownName {
  std::string path;
  std::vector<TokenId> tokens;
};

struct Assignment {
  std::vector<TokenId> unseen;  ///< promised tokens without a matching name
  /// Names for which all tokens were already used, for example a second name of a file that has
  /// only one link.
  std::vector<std::size_t> surplus;
  std::vector<std::optional<TokenId>> tokens;  ///< by name
};
Assignment assign(const std::vector<ShownName>& shown, const std::vector<TokenId>& promised);

}  // namespace headcrash::oracle
