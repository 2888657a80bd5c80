// Resolves directories that their names alone do not identify (judge.h).
//
// Such directories are identified by their contents. The ambiguous directories of one level are
// resolved together. First, each pair of a directory and a candidate is judged separately, with
// everything below it (misfit(), computed once for each pair), and the candidates with the fewest
// findings remain. Inodes that have names elsewhere exclude further candidates. Then a matching
// gives each directory its own token. Promised tokens are matched first.
//
//   read_directories()   finds one interpretation, in time proportional to the number of pairs
//   improve()            if findings remain: tries other interpretations of groups of directories
//                        that depend on each other
#include <algorithm>
#include <numeric>

#include "harness/oracle/judge.h"

namespace headcrash::oracle {

namespace {

// Maximum number of interpretations that improve() tries before it returns the best one.
constexpr std::size_t kWalksMost = 512;
constexpr std::size_t kWalksOfAGroupMost = 256;
// Maximum number of rounds in read_directories(). Each round but the last excludes at least one
// candidate.
constexpr std::size_t kLinkRoundsMost = 32;

/// Returns the token to which `slot` refers after `done` operations.
std::optional<TokenId> token_after(const SlotHistory& slot, std::size_t done) {
  std::optional<TokenId> token;
  for (const Binding& binding : slot.bindings)
    if (binding.operation < done) token = binding.token;
  return token;
}

bool intersect(const auto& one, const auto& other) {
  return std::ranges::any_of(
      one, [&](const auto& each) { return std::ranges::find(other, each) != other.end(); });
}

/// Divides the indices of `ambiguous` into groups. Directories that share a candidate or an inode
/// are in the same group.
std::vector<std::vector<std::size_t>> groups_of(
    const std::vector<DirectoryReading::Ambiguous>& ambiguous) {
  std::vector<std::size_t> leader(ambiguous.size());
  std::iota(leader.begin(), leader.end(), 0);
  for (std::size_t i = 0; i < ambiguous.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool dependent = intersect(ambiguous[i].fitting, ambiguous[j].fitting) ||
                             intersect(ambiguous[i].linked, ambiguous[j].linked);
      if (dependent && leader[i] != leader[j])
        std::replace(leader.begin(), leader.end(), leader[j], leader[i]);
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < ambiguous.size(); ++i) groups[leader[i]].push_back(i);
  std::vector<std::vector<std::size_t>> found;
  found.reserve(groups.size());
  for (auto& [first, group] : groups) found.push_back(std::move(group));
  return found;
}

}  // namespace

/// The directories at one depth, and their subdirectories in the tree.
struct Judge::Level {
  struct Directory {
    ObjectId object;
    std::string path;
    bool certain;  ///< true if this directory and all its parents have only one candidate
  };
  struct Child {
    const ObservedObject* observed;
    const SlotHistory* slot;
    std::vector<TokenId> fitting;
    bool certain;
  };
  std::vector<Directory> directories;
  std::vector<Child> children;
};

/// Assumes that `observed` is the directory that `token` identifies. Returns the severity of the
/// resulting findings below the directory. Caches the result.
std::size_t Judge::misfit(const ObservedObject& observed, TokenId token) {
  const auto known = misfits_.find({&observed, token});
  if (known != misfits_.end()) return known->second;
  const bool outermost = !std::exchange(trying_, true);
  auto shown = std::exchange(shown_, {});
  auto seen = std::exchange(seen_, {});
  auto faulty = std::exchange(faulty_, {});
  auto findings = std::exchange(findings_, {});
  const std::size_t below = std::exchange(misfit_below_, 0);
  judge_directory_as(observed, token);
  const std::size_t found = severity(findings_) + misfit_below_;
  misfit_below_ = below;
  findings_ = std::move(findings);
  faulty_ = std::move(faulty);
  seen_ = std::move(seen);
  shown_ = std::move(shown);
  trying_ = !outermost;
  misfits_.emplace(std::pair(&observed, token), found);
  return found;
}

std::vector<TokenId> Judge::fitting(const ObservedObject& observed,
                                    const std::vector<TokenId>& candidates,
                                    const DirectoryReading& reading) {
  if (candidates.size() < 2) return candidates;
  const auto forced = reading.forced.find(observed.path);
  if (forced != reading.forced.end() &&
      std::ranges::find(candidates, forced->second) != candidates.end())
    return {forced->second};
  std::size_t least = misfit(observed, candidates[0]);
  for (const TokenId token : candidates) least = std::min(least, misfit(observed, token));
  std::vector<TokenId> found;
  std::ranges::copy_if(candidates, std::back_inserter(found),
                       [&](TokenId token) { return misfit(observed, token) == least; });
  return found;
}

std::set<std::uint64_t> Judge::links_below(const std::string& path) const {
  std::set<std::uint64_t> linked;
  for (auto at = children_.lower_bound(path); at != children_.end() && at->first.starts_with(path);
       ++at) {
    if (at->first.size() > path.size() && at->first[path.size()] != '/') continue;
    for (const auto& [name, object] : at->second)
      if (object->inode != 0 && names_of_inode_.at(object->inode) > 1) linked.insert(object->inode);
  }
  return linked;
}

bool Judge::may_be_linked(const ObservedObject& observed,
                          const std::vector<TokenId>& tokens) const {
  const auto at = linked_.find(observed.inode);
  return at == linked_.end() || observed.type == FileType::directory ||
         std::ranges::any_of(tokens, [&](TokenId token) {
           return at->second.contains(history_.tokens[token].object);
         });
}

/// Uses the names in an unambiguous directory to exclude candidates for inodes that have several
/// names.
void Judge::note_links(ObjectId directory, const std::string& path) {
  const auto children = children_.find(path);
  if (children == children_.end()) return;
  for (const auto& [name, slot] : history_.objects[directory].entries) {
    const auto child = children->second.find(name);
    if (child == children->second.end()) continue;
    const ObservedObject& observed = *child->second;
    if (observed.inode == 0 || observed.type == FileType::directory) continue;
    if (names_of_inode_.at(observed.inode) < 2) continue;
    const PermittedName allowed = permitted_name(slot, horizon_);
    if (may_show_anything(history_, allowed, horizon_, promises_)) continue;
    std::set<ObjectId> objects;
    for (const TokenId token : candidates(allowed, observed))
      objects.insert(history_.tokens[token].object);
    if (objects.empty()) continue;
    const auto [at, fresh] = linked_.try_emplace(observed.inode, objects);
    if (fresh) continue;
    std::erase_if(at->second, [&](ObjectId object) { return !objects.contains(object); });
    // No single object can have all these names; judge_inodes() reports this.
    if (at->second.empty()) linked_.erase(at);
  }
}

/// Gives all names of an inode the same candidates. The candidates may differ, because a directory
/// may have two names while a rename is in flight.
void Judge::agree_by_inode(Level& level) {
  std::map<std::uint64_t, std::vector<TokenId>> common;
  for (const Level::Child& child : level.children) {
    const auto [at, fresh] = common.try_emplace(child.observed->inode, child.fitting);
    if (fresh) continue;
    std::erase_if(at->second, [&](TokenId token) {
      return std::ranges::find(child.fitting, token) == child.fitting.end();
    });
  }
  for (Level::Child& child : level.children) {
    const auto& agreed = common.at(child.observed->inode);
    if (child.observed->inode != 0 && !agreed.empty()) child.fitting = agreed;
  }
}

/// Finds the subdirectories of the directories in `level`, and assigns tokens to them.
void Judge::read_level(Level& level, DirectoryReading& reading) {
  for (const Level::Directory& directory : level.directories) {
    const auto children = children_.find(directory.path);
    if (children == children_.end()) continue;
    if (directory.certain) note_links(directory.object, directory.path);
    const auto& entries = history_.objects[directory.object].entries;
    for (const auto& [name, observed] : children->second) {
      if (observed->type != FileType::directory) continue;
      const auto entry = entries.find(name);
      const SlotHistory* slot = entry == entries.end() ? nullptr : &entry->second;
      if (slot == nullptr && !is_passing(name)) continue;
      const PermittedName allowed =
          slot != nullptr ? permitted_name(*slot, horizon_) : third_names(directory.object, slot);
      if (slot == nullptr || may_show_anything(history_, allowed, horizon_, promises_)) continue;
      auto possible = fitting(*observed, candidates(allowed, *observed), reading);
      if (possible.empty()) continue;
      const bool certain = directory.certain && possible.size() == 1;
      level.children.push_back({observed, slot, std::move(possible), certain});
    }
  }
  agree_by_inode(level);
  std::vector<ShownName> names;
  names.reserve(level.children.size());
  for (const Level::Child& child : level.children)
    names.push_back({child.observed->path, child.fitting});
  const std::vector<TokenId> promised(promised_.named.begin(), promised_.named.end());
  const Assignment assignment = assign(names, promised);
  level.directories.clear();
  for (std::size_t i = 0; i < level.children.size(); ++i) {
    const Level::Child& child = level.children[i];
    TokenId token = assignment.tokens[i].value_or(child.fitting[0]);
    const auto at_point = reading.point ? token_after(*child.slot, *reading.point) : std::nullopt;
    if (at_point && std::ranges::find(child.fitting, *at_point) != child.fitting.end())
      token = *at_point;
    reading.of[child.observed->path] = token;
    level.directories.push_back(
        {history_.tokens[token].object, child.observed->path, child.certain});
    if (child.fitting.size() < 2) continue;
    std::set<std::size_t> renamed_by;
    for (const Binding& binding : child.slot->bindings)
      if (horizon_.may_have_run(binding.operation)) renamed_by.insert(binding.operation);
    reading.ambiguous.push_back({child.observed->path, child.fitting,
                                 links_below(child.observed->path), std::move(renamed_by)});
  }
  level.children.clear();
}

/// Interprets the directories of the tree in several rounds. A round may exclude candidates for
/// inodes with several names; the next round uses the remaining candidates.
void Judge::read_directories(DirectoryReading& reading) {
  for (std::size_t round = 0; round < kLinkRoundsMost; ++round) {
    const auto linked = linked_;
    reading.of.clear();
    reading.ambiguous.clear();
    Level level{.directories = {{kRoot, "", true}}, .children = {}};
    while (!level.directories.empty()) read_level(level, reading);
    if (linked_ == linked || !reading.forced.empty()) return;
    misfits_.clear();
  }
}

/// Tries other interpretations of one group at a time. Stores the findings of the best
/// interpretation in `best`.
void Judge::improve(const DirectoryReading& start, std::vector<Finding>& best) {
  std::size_t walks = 0;
  DirectoryReading kept = start;
  const auto attempt = [&](DirectoryReading reading) {
    read_directories(reading);
    const bool better = walk_by(reading) < severity(best);
    if (better) best = findings_;
    if (better) kept = std::move(reading);
    return best.empty() || ++walks >= kWalksMost;
  };
  if (promises_.one_point != adapters::OnePoint::none) {
    std::set<std::size_t> points;
    for (const auto& each : start.ambiguous)
      points.insert(each.renamed_by.begin(), each.renamed_by.end());
    for (const std::size_t operation : points) {
      for (const std::size_t done : {operation, operation + 1}) {
        DirectoryReading reading;
        reading.point = done;
        if (attempt(std::move(reading))) return;
      }
    }
  }
  for (const std::vector<std::size_t>& group : groups_of(start.ambiguous)) {
    // Copied, because attempt() changes `kept`.
    const DirectoryReading base = kept;  // NOLINT(performance-unnecessary-copy-initialization)
    std::vector<std::size_t> choice(group.size(), 0);
    for (std::size_t tried = 0; tried < kWalksOfAGroupMost; ++tried) {
      DirectoryReading reading = base;
      for (std::size_t i = 0; i < group.size(); ++i) {
        const auto& each = start.ambiguous[group[i]];
        reading.forced[each.path] = each.fitting[choice[i]];
      }
      if (attempt(std::move(reading))) return;
      std::size_t at = 0;
      while (at < group.size() && ++choice[at] == start.ambiguous[group[at]].fitting.size())
        choice[at++] = 0;
      if (at == group.size()) break;
    }
  }
}

}  // namespace headcrash::oracle
