// Determines the permitted names and the promised tokens, and matches names with tokens (names.h).
//
// Empty files are indistinguishable, so a name may stand for any of several tokens. A bipartite
// matching decides whether each promised token has a name and no token has two. Augmenting paths
// match all promised tokens first, then the remaining names. Once a vertex is matched, it remains
// matched.
#include "harness/oracle/names.h"

#include <algorithm>
#include <map>

namespace headcrash::oracle {
namespace {

class Matching {
 public:
  explicit Matching(const std::vector<ShownName>& shown) : shown_(shown), token_of_(shown.size()) {
    for (std::size_t i = 0; i < shown.size(); ++i) {
      for (const TokenId token : shown[i].tokens) names_of_[token].push_back(i);
    }
  }

  bool place_token(TokenId token) {
    visited_.clear();
    return find_name(token);
  }
  bool place_name(std::size_t name) {
    if (token_of_[name]) return true;
    visited_.clear();
    return find_token(name);
  }
  const std::vector<std::optional<TokenId>>& tokens() const { return token_of_; }

 private:
  bool find_name(TokenId token) {
    for (const std::size_t name : names_of_[token]) {
      if (!visited_.insert(name).second) continue;
      if (token_of_[name] && !find_name(*token_of_[name])) continue;
      set(name, token);
      return true;
    }
    return false;
  }
  bool find_token(std::size_t name) {
    for (const TokenId token : shown_[name].tokens) {
      if (!visited_.insert(token).second) continue;
      const auto holder = name_of_.find(token);
      if (holder != name_of_.end() && !find_token(holder->second)) continue;
      set(name, token);
      return true;
    }
    return false;
  }
  void set(std::size_t name, TokenId token) {
    token_of_[name] = token;
    name_of_[token] = name;
  }

  const std::vector<ShownName>& shown_;
  std::map<TokenId, std::vector<std::size_t>> names_of_;
  std::vector<std::optional<TokenId>> token_of_;
  std::map<TokenId, std::size_t> name_of_;
  std::set<std::size_t> visited_;
};

bool was_synced(const WorkloadHistory& history, TokenId token, const Horizon& horizon) {
  const ObjectHistory& object = history.objects[history.tokens[token].object];
  const auto known = [&](std::size_t operation) { return horizon.knows(operation); };
  return std::any_of(object.data_covers.begin(), object.data_covers.end(),
                     [&](const DataCover& cover) { return known(cover.operation); }) ||
         std::any_of(object.attribute_covers.begin(), object.attribute_covers.end(),
                     [&](const Cover& cover) { return known(cover.operation); }) ||
         std::any_of(object.inode_covers.begin(), object.inode_covers.end(), known);
}

std::optional<TokenId> token_at(const SlotHistory& slot, std::size_t operation) {
  std::optional<TokenId> token;
  for (const Binding& binding : slot.bindings) {
    if (binding.operation <= operation) token = binding.token;
  }
  return token;
}

/// The newest persistence point that covers a token, and the name that the token had at that point.
struct LastCover {
  ObjectId directory = kRoot;
  const SlotHistory* slot = nullptr;
  std::size_t operation = 0;
};

using LastCovers = std::map<TokenId, LastCover>;

void note_covers(const WorkloadHistory& history, const Horizon& horizon, ObjectId directory,
                 LastCovers& last) {
  for (const auto& [name, slot] : history.objects[directory].entries) {
    for (const Cover& cover : slot.covers) {
      if (!horizon.knows(cover.operation)) break;
      const auto token = token_at(slot, cover.operation);
      if (!token) continue;
      LastCover& newest = last[*token];
      if (newest.slot == nullptr || newest.operation <= cover.operation)
        newest = {directory, &slot, cover.operation};
    }
  }
}

bool may_be_removed(const WorkloadHistory& history, TokenId token, const Horizon& horizon) {
  const auto& removed_by = history.tokens[token].removed_by;
  return removed_by && horizon.may_have_run(*removed_by);
}

/// Finds the links that a tree must contain (PromisedTokens), if names are atomic or unordered.
class Promised {
 public:
  Promised(const WorkloadHistory& history, const Horizon& horizon,
           const adapters::Promises& promises)
      : history_(history), horizon_(horizon), promises_(promises) {
    find_reachable(kRoot);
  }

  PromisedTokens find() const {
    LastCovers last;
    for (const ObjectId directory : reachable_) note_covers(history_, horizon_, directory, last);
    PromisedTokens found;
    for (const auto& [token, cover] : last) {
      const bool unsynced = !promises_.names_are_atomic() && !was_synced(history_, token, horizon_);
      if (!may_be_removed(history_, token, horizon_) && !unsynced && !may_be_lost(cover, token))
        found.named.insert(token);
    }
    return found;
  }

 private:
  /// Finds the directories that can be reached through reliable names. A name is reliable if it was
  /// persistent and has not changed since. A directory that was renamed is not included: the rename
  /// may be lost, so neither the directory nor its contents are promised.
  void find_reachable(ObjectId directory) {
    if (!reachable_.insert(directory).second) return;
    for (const auto& [name, slot] : history_.objects[directory].entries) {
      if (may_show_anything(history_, permitted_name(slot, horizon_), horizon_, promises_))
        continue;
      for (const Cover& cover : slot.covers) {
        if (!horizon_.knows(cover.operation)) break;
        const auto token = token_at(slot, cover.operation);
        if (!token) continue;
        const ObjectId object = history_.tokens[*token].object;
        if (history_.objects[object].type != FileType::directory) continue;
        if (!may_be_lost({directory, &slot, cover.operation}, *token)) find_reachable(object);
      }
    }
  }

  bool may_be_lost(const LastCover& cover, TokenId token) const {
    bool renamed = false, name_taken = false;
    for (const Binding& since : cover.slot->bindings) {
      if (since.operation <= cover.operation || !horizon_.may_have_run(since.operation)) continue;
      renamed |= since.by_rename;
      name_taken |= since.token && *since.token != token;
    }
    if (!renamed) return false;
    return !promises_.names_are_atomic() || (!promises_.renamed_file_survives && name_taken);
  }

  const WorkloadHistory& history_;
  const Horizon& horizon_;
  const adapters::Promises& promises_;
  std::set<ObjectId> reachable_;
};

/// Finds the promised tokens if names are ordered. The old name of an object is removed only when
/// the new name is on the disk (rule R1), so a persistent object always has a name.
class OrderedPromised {
 public:
  OrderedPromised(const WorkloadHistory& history, const Horizon& horizon)
      : history_(history), horizon_(horizon) {
    find_known(kRoot);
    while (anchor_more()) {
    }
  }

  PromisedTokens find() const {
    PromisedTokens found;
    for (const auto& [token, cover] : last_) {
      if (may_be_removed(history_, token, horizon_)) continue;
      (stays_anchored(token, cover) ? found.named : found.adrift).insert(token);
    }
    return found;
  }

 private:
  /// Descends from the root through every directory that was ever persistent, and finds the newest
  /// cover of each link. Directories that were removed later do not change the result: each was
  /// empty before its removal, so its former contents have newer names elsewhere.
  void find_known(ObjectId directory) {
    if (!known_.insert(directory).second) return;
    LastCovers here;
    note_covers(history_, horizon_, directory, here);
    for (const auto& [token, cover] : here) {
      LastCover& newest = last_[token];
      if (newest.slot == nullptr || newest.operation <= cover.operation) newest = cover;
      const ObjectId object = history_.tokens[token].object;
      if (history_.objects[object].type == FileType::directory) find_known(object);
    }
  }

  /// Adds to anchored_ the directories that can be reached regardless of whether their old or new
  /// names are on the disk. Returns true if any directory was added.
  bool anchor_more() {
    const std::size_t before = anchored_.size();
    for (const auto& [token, cover] : last_) {
      const ObjectId object = history_.tokens[token].object;
      if (history_.objects[object].type == FileType::directory && stays_anchored(token, cover))
        anchored_.insert(object);
    }
    return anchored_.size() > before;
  }

  bool stays_anchored(TokenId token, const LastCover& cover) const {
    if (!anchored_.contains(cover.directory)) return false;
    const auto& slots = history_.tokens[token].slots;
    return std::all_of(slots.begin(), slots.end(), [&](const auto& slot) {
      const auto& [directory, name] = slot;
      if (anchored_.contains(directory)) return true;
      const auto& bindings = history_.objects[directory].entries.at(name).bindings;
      return std::none_of(bindings.begin(), bindings.end(), [&](const Binding& binding) {
        return binding.token == token && binding.operation > cover.operation &&
               horizon_.may_have_run(binding.operation);
      });
    });
  }

  const WorkloadHistory& history_;
  const Horizon& horizon_;
  LastCovers last_;
  std::set<ObjectId> known_, anchored_{kRoot};
};

}  // namespace

bool PermittedName::absence() const {
  return std::any_of(bindings.begin(), bindings.end(), [](const Binding& b) { return !b.token; });
}

PermittedName permitted_name(const SlotHistory& slot, const Horizon& horizon) {
  PermittedName permitted;
  std::optional<std::size_t> by_posix;
  for (const Cover& cover : slot.covers) {
    if (!horizon.knows(cover.operation)) continue;
    permitted.cover = cover;
    if (cover.tier == CoverTier::posix) by_posix = cover.operation;
  }
  Binding at_cover{.operation = 0, .token = std::nullopt};
  for (const Binding& binding : slot.bindings) {
    if (!horizon.may_have_run(binding.operation)) break;
    if (permitted.cover && binding.operation <= permitted.cover->operation) {
      at_cover = binding;
    } else {
      permitted.bindings.push_back(binding);
      permitted.rename_in_flight |= binding.by_rename;
    }
  }
  permitted.kept_by_posix = by_posix && at_cover.operation <= *by_posix;
  permitted.bindings.insert(permitted.bindings.begin(), at_cover);
  return permitted;
}

bool may_show_anything(const WorkloadHistory& history, const PermittedName& name,
                       const Horizon& horizon, const adapters::Promises& promises) {
  if (promises.names != adapters::NameOrder::unordered) return false;
  const auto& token = name.bindings[0].token;
  return name.changing() || (token && !was_synced(history, *token, horizon));
}

std::optional<TokenId> only_file(const WorkloadHistory& history, const PermittedName& name,
                                 const Horizon& horizon) {
  if (name.bindings.size() != 2 || name.bindings[0].token || name.bindings[1].by_rename)
    return std::nullopt;
  const std::optional<TokenId>& token = name.bindings[1].token;
  if (!token || !was_synced(history, *token, horizon)) return std::nullopt;
  const ObjectHistory& object = history.objects[history.tokens[*token].object];
  return object.type == FileType::regular && !object.unclear ? token : std::nullopt;
}

PromisedTokens promised_tokens(const WorkloadHistory& history, const Horizon& horizon,
                               const adapters::Promises& promises) {
  if (promises.names == adapters::NameOrder::ordered)
    return OrderedPromised(history, horizon).find();
  return Promised(history, horizon, promises).find();
}

Assignment assign(const std::vector<ShownName>& shown, const std::vector<TokenId>& promised) {
  Matching matching(shown);
  Assignment assignment;
  for (const TokenId token : promised) {
    if (!matching.place_token(token)) assignment.unseen.push_back(token);
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i].tokens.empty() && !matching.place_name(i)) assignment.surplus.push_back(i);
  }
  assignment.tokens = matching.tokens();
  return assignment;
}

}  // namespace headcrash::oracle
