// Judges a tree from the root downwards: first names, then the objects to which they refer.
// Finally, checks for links that must have a name and for links that must not have two (judge.h).
#include "harness/oracle/judge.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "harness/oracle/expectation.h"
#include "plugin/base/errno_text.h"
#include "plugin/base/printable.h"

namespace headcrash::oracle {
namespace {

std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

constexpr std::string_view kLostAndFound = "lost+found";

bool in_lost_and_found(const std::string& path) {
  return path == kLostAndFound || path.starts_with("lost+found/");
}

/// Returns the file numbers in all stamps of the object's contents.
std::set<std::uint32_t> stamped_files(const ObservedObject& observed) {
  std::set<std::uint32_t> numbers;
  for (const ContentRun& run : observed.runs) {
    if (run.kind == ContentRun::Kind::stamp) numbers.insert(run.file);
  }
  return numbers;
}

}  // namespace

std::size_t severity(const std::vector<Finding>& findings) {
  constexpr std::array<std::size_t, 4> kByTier{2, 1, 0, 3};
  std::size_t worst = 0;
  for (const Finding& finding : findings)
    worst = std::max(worst, kByTier.at(static_cast<std::size_t>(finding.tier)));
  return findings.size() * kByTier.size() + worst;
}

Judge::Judge(const Terms& terms, std::span<const ObservedObject* const> tree)
    : history_(terms.history),
      promises_(terms.promises),
      horizon_(terms.horizon),
      promised_(terms.promised),
      omitted_(terms.omitted) {
  for (const ObservedObject* const each : tree) {
    const ObservedObject& object = *each;
    if (object.inode != 0) ++names_of_inode_[object.inode];
    const std::string top = object.path.substr(0, object.path.find('/'));
    if (in_lost_and_found(object.path)) {
      lost_and_found_.push_back(&object);
      continue;
    }
    if (is_own(top)) continue;
    const auto [directory, name] = split_path(object.path);
    if (is_passing(name) && !ordered()) continue;
    if (!children_[directory].try_emplace(name, &object).second) twice_.insert(object.path);
  }
}

bool Judge::is_own(const std::string& top) const {
  return std::ranges::any_of(promises_.own_names, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), top.c_str(), 0) == 0;
  });
}

bool Judge::is_passing(const std::string& name) const {
  return !promises_.names_are_atomic() &&
         std::ranges::any_of(promises_.passing_names,
                             [&](const std::string& start) { return name.starts_with(start); });
}

/// Makes the findings printable, because they contain names and values from the disk and are shown
/// on terminals and pages.
std::vector<Finding> Judge::judge() {
  std::vector<Finding> found = least_findings();
  for (Finding& each : found)
    for (std::string* text : {&each.path, &each.expected, &each.found})
      *text = base::printable(*text);
  return found;
}

std::vector<Finding> Judge::least_findings() {
  walk();
  if (!in_doubt_ || findings_.empty()) return findings_;
  DirectoryReading reading;
  read_directories(reading);
  walk_by(reading);
  std::vector<Finding> best = findings_;
  if (!best.empty()) improve(reading, best);
  return best;
}

std::size_t Judge::walk_by(const DirectoryReading& reading) {
  read_as_ = reading.of;
  walk();
  return severity(findings_);
}

void Judge::walk() {
  in_doubt_ = false;
  shown_.clear();
  seen_.clear();
  faulty_.clear();
  findings_.clear();
  judge_directory(kRoot, "");
  for (const std::string& path : twice_)
    report({Verdict::wrong_data, Tier::integrity, path, "one entry with this name",
            "several in the same directory"});
  judge_inodes();
  judge_tokens();
  if (promises_.one_point != adapters::OnePoint::none && findings_.empty()) judge_one_point();
}

void Judge::judge_directory(ObjectId directory, const std::string& path) {
  static const std::map<std::string, const ObservedObject*> kNothing;
  const auto found = children_.find(path);
  const auto& children = found == children_.end() ? kNothing : found->second;
  const auto& entries = history_.objects[directory].entries;
  const auto full = [&](const std::string& name) {
    return path.empty() ? name : path + "/" + name;
  };
  for (const auto& [name, slot] : entries) {
    if (omitted_.contains(slot.lone)) continue;
    const auto child = children.find(name);
    judge_name(slot, full(name), child == children.end() ? nullptr : child->second);
  }
  for (const auto& [name, object] : children) {
    if (entries.contains(name)) continue;
    if (is_passing(name)) {
      judge_third_name(directory, *object);
      continue;
    }
    report({Verdict::wrong_data, Tier::integrity, full(name),
            words({.kind = Expectation::Kind::no_name}),
            fmt::format("{} that was never created", kind_of(object->type))});
  }
}

void Judge::judge_name(const SlotHistory& slot, const std::string& path,
                       const ObservedObject* observed) {
  const PermittedName allowed = permitted_name(slot, horizon_);
  if (promises_.one_point != adapters::OnePoint::none)
    seen_.push_back({.slot = &slot, .path = path, .observed = observed, .tokens = {}});
  // The name may refer to any object, for example to an inode that another file reused, or to a
  // directory that lost its entries.
  if (may_show_anything(history_, allowed, horizon_, promises_)) {
    const auto token = only_file(history_, allowed, horizon_);
    if (token && observed != nullptr && observed->type == FileType::regular)
      report_all(judge_file_as(*token, allowed, *observed));
    return;
  }
  if (observed != nullptr) return judge_object(slot, allowed, *observed);
  if (may_be_missing(allowed)) return;
  const Verdict kind =
      allowed.rename_in_flight ? Verdict::non_atomic_rename : Verdict::lost_synced_data;
  report({kind, allowed.tier(), path, words({.kind = Expectation::Kind::name}),
          words({.kind = Expectation::Kind::no_name})});
}

/// Returns true if a name may be missing although it was persistent. This may happen to both names
/// of a directory that is being renamed. If names are ordered, the directory may have both names on
/// the disk, and fsck then removes one of them.
bool Judge::may_be_missing(const PermittedName& allowed) const {
  if (allowed.absence()) return true;
  const auto is_directory = [&](const Binding& binding) {
    return binding.token && object_of(*binding.token).type == FileType::directory;
  };
  return ordered() && allowed.rename_in_flight &&
         std::any_of(allowed.bindings.begin(), allowed.bindings.end(), is_directory);
}

/// An exchange in flight may leave a temporary third name in `directory`. Returns the files to
/// which this name may refer. Sets `exchanged` to the name in `directory` that the exchange
/// changes; leaves `exchanged` unchanged if there is no such exchange.
PermittedName Judge::third_names(ObjectId directory, const SlotHistory*& exchanged) const {
  const auto& written = history_.objects[directory].attribute_covers;
  // Returns true if the third name can no longer exist. This is the case if a persistence point
  // after the exchange covers both the name and the directory, and is known to have succeeded.
  const auto gone = [&](const SlotHistory& slot, std::size_t exchange) {
    return std::ranges::any_of(slot.covers, [&](const Cover& cover) {
      return cover.operation > exchange && horizon_.knows(cover.operation) &&
             std::ranges::find(written, cover.operation, &Cover::operation) != written.end();
    });
  };
  PermittedName allowed;
  for (const auto& [name, slot] : history_.objects[directory].entries) {
    for (const Binding& binding : slot.bindings) {
      if (!binding.had_third_name || !horizon_.may_have_run(binding.operation)) continue;
      if (gone(slot, binding.operation)) continue;
      allowed.bindings.push_back(binding);
      exchanged = &slot;
    }
  }
  return allowed;
}

void Judge::judge_third_name(ObjectId directory, const ObservedObject& observed) {
  const SlotHistory* exchanged = nullptr;
  const PermittedName allowed = third_names(directory, exchanged);
  if (exchanged != nullptr) return judge_object(*exchanged, allowed, observed);
  report({Verdict::wrong_data, Tier::integrity, observed.path,
          "no temporary name left behind by an exchange", std::string(kind_of(observed.type))});
}

std::vector<TokenId> Judge::candidates(const PermittedName& allowed,
                                       const ObservedObject& observed) const {
  std::vector<TokenId> found;
  for (const Binding& binding : allowed.bindings) {
    if (!binding.token || object_of(*binding.token).type != observed.type) continue;
    if (std::find(found.begin(), found.end(), *binding.token) == found.end())
      found.push_back(*binding.token);
  }
  return found;
}

void Judge::judge_object(const SlotHistory& slot, const PermittedName& allowed,
                         const ObservedObject& observed) {
  const std::vector<TokenId> possible = candidates(allowed, observed);
  if (possible.empty()) {
    const bool was_once = std::any_of(
        slot.bindings.begin(), slot.bindings.end(),
        [&](const Binding& b) { return b.token && object_of(*b.token).type == observed.type; });
    const Verdict kind = !was_once           ? Verdict::wrong_data
                         : allowed.absence() ? Verdict::resurrected
                                             : Verdict::lost_synced_data;
    const auto& first = allowed.bindings[0].token;
    return report({kind, was_once ? allowed.tier() : Tier::integrity, observed.path,
                   first ? std::string(kind_of(object_of(*first).type))
                         : words({.kind = Expectation::Kind::no_name}),
                   std::string(kind_of(observed.type))});
  }
  if (observed.type == FileType::directory) return judge_subdirectory(observed, possible);
  if (observed.type == FileType::symlink) return judge_symlink(slot, allowed, observed, possible);
  if (observed.type == FileType::regular) return judge_file(slot, allowed, observed, possible);
  judge_special(observed, possible);
}

/// Judges FIFOs and whiteouts.
void Judge::judge_special(const ObservedObject& observed, const std::vector<TokenId>& candidates) {
  if (observed.error != 0) {
    show(observed, candidates);
    return report({Verdict::wrong_data, Tier::integrity, observed.path,
                   fmt::format("{}", kind_of(observed.type)),
                   "read error: " + base::errno_text(observed.error)});
  }
  show_best(observed, candidates, [&](TokenId token) { return judge_metadata(token, observed); });
}

/// Judges extended attributes and inode fields.
std::vector<Finding> Judge::judge_metadata(TokenId token, const ObservedObject& observed) const {
  std::vector<Finding> findings = judge_attributes(object_of(token), observed, horizon_);
  for (Finding& finding : judge_inode(object_of(token), observed, horizon_, promises_))
    findings.push_back(std::move(finding));
  return findings;
}

/// Interprets the object as one of the candidates for which `findings_as` returns no findings. If
/// there is no such candidate, reports the findings for the candidate with the fewest findings.
void Judge::show_best(const ObservedObject& observed, const std::vector<TokenId>& candidates,
                      const std::function<std::vector<Finding>(TokenId)>& findings_as) {
  std::vector<TokenId> fitting;
  std::optional<std::vector<Finding>> fewest;
  TokenId nearest = candidates[0];
  for (const TokenId token : candidates) {
    std::vector<Finding> findings = findings_as(token);
    if (findings.empty()) fitting.push_back(token);
    if (fewest && severity(*fewest) <= severity(findings)) continue;
    fewest = std::move(findings);
    nearest = token;
  }
  if (!fitting.empty()) return show(observed, fitting);
  show(observed, {nearest});
  report_all(*fewest);
}

void Judge::judge_subdirectory(const ObservedObject& observed,
                               const std::vector<TokenId>& candidates) {
  if (trying_) {
    std::size_t least = misfit(observed, candidates[0]);
    for (const TokenId token : candidates) least = std::min(least, misfit(observed, token));
    misfit_below_ += least;
    return;
  }
  in_doubt_ |= candidates.size() > 1;
  const auto read = candidates.size() > 1 ? read_as_.find(observed.path) : read_as_.end();
  const bool known =
      read != read_as_.end() && std::ranges::find(candidates, read->second) != candidates.end();
  judge_directory_as(observed, known ? read->second : candidates[0]);
}

void Judge::judge_directory_as(const ObservedObject& observed, TokenId token) {
  show(observed, {token});
  if (observed.error != 0) {
    return report({Verdict::wrong_data, Tier::integrity, observed.path,
                   words({.kind = Expectation::Kind::readable_directory}),
                   "read error: " + base::errno_text(observed.error)});
  }
  report_all(judge_metadata(token, observed));
  judge_directory(history_.tokens[token].object, observed.path);
}

void Judge::judge_symlink(const SlotHistory& slot, const PermittedName& allowed,
                          const ObservedObject& observed, const std::vector<TokenId>& candidates) {
  if (observed.error != 0) {
    show(observed, candidates);
    return report({Verdict::wrong_data, Tier::integrity, observed.path, "a readable symbolic link",
                   "read error: " + base::errno_text(observed.error)});
  }
  std::vector<TokenId> fitting;
  const auto fits = [&](TokenId token) {
    return object_of(token).link_target == observed.link_target;
  };
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(fitting), fits);
  if (!fitting.empty()) {
    return show_best(observed, fitting,
                     [&](TokenId token) { return judge_metadata(token, observed); });
  }
  const auto target = [](const std::string& text) {
    return words({.kind = Expectation::Kind::target, .text = text});
  };
  show(observed, candidates);
  const bool was_once =
      std::any_of(slot.bindings.begin(), slot.bindings.end(), [&](const Binding& b) {
        return b.token && object_of(*b.token).type == FileType::symlink && fits(*b.token);
      });
  const Verdict kind = was_once                       ? Verdict::lost_synced_data
                       : observed.link_target.empty() ? Verdict::zero_length
                                                      : Verdict::wrong_data;
  report({kind, was_once ? allowed.tier() : Tier::integrity, observed.path,
          target(object_of(candidates[0]).link_target), target(observed.link_target)});
}

std::vector<Finding> Judge::judge_file_as(TokenId token, const PermittedName& allowed,
                                          const ObservedObject& observed) const {
  ContentTerms terms{.horizon = horizon_,
                     .exposes_stale_data = promises_.exposes_stale_data,
                     .allocation_blocks = std::max(1U, promises_.allocation_bytes / 512),
                     .ends_anywhere = promises_.names == adapters::NameOrder::unordered,
                     .stale_anywhere_in_flight = promises_.names == adapters::NameOrder::unordered,
                     .fills_last_unit = ordered()};
  for (const Binding& binding : allowed.bindings) {
    if (promises_.replace_keeps_content && binding.replaced && binding.token == token)
      terms.kept_by_replacing = binding.operation;
  }
  std::vector<Finding> findings = judge_content(object_of(token), observed, terms);
  for (Finding& finding : judge_metadata(token, observed)) findings.push_back(std::move(finding));
  return findings;
}

/// Judges a file. The stamps in its contents identify the candidate. If the contents have no
/// stamps, accepts any candidate that matches. If none matches, reports the findings for the
/// candidate with the fewest findings. If stale data is permitted, the stamps may belong to other
/// files, so any candidate that matches is accepted in that case, too.
void Judge::judge_file(const SlotHistory& slot, const PermittedName& allowed,
                       const ObservedObject& observed, const std::vector<TokenId>& candidates) {
  const std::set<std::uint32_t> numbers = stamped_files(observed);
  const auto named = [&](TokenId token) {
    const ObjectHistory& object = object_of(token);
    return numbers.contains(object.file) ||
           std::ranges::any_of(object.shared_files,
                               [&](auto file) { return numbers.contains(file); });
  };
  std::vector<TokenId> possible;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(possible), named);
  const auto unclear = [&](TokenId token) { return object_of(token).unclear; };
  if (std::any_of(candidates.begin(), candidates.end(), unclear)) return show(observed, candidates);
  const auto findings_as = [&](TokenId token) { return judge_file_as(token, allowed, observed); };
  const auto fits = [&](TokenId token) { return findings_as(token).empty(); };
  if (promises_.exposes_stale_data && std::any_of(candidates.begin(), candidates.end(), fits))
    possible = candidates;
  if (possible.empty()) {
    for (const Binding& binding : slot.bindings) {
      if (!binding.token || !named(*binding.token)) continue;
      const ObjectHistory& now = object_of(candidates[0]);
      return report({Verdict::lost_synced_data, allowed.tier(), observed.path,
                     fmt::format("file {}", now.file),
                     fmt::format("file {}, to which this name referred at another time",
                                 object_of(*binding.token).file)});
    }
    possible = candidates;
  }
  show_best(observed, possible, findings_as);
}

/// Judges inodes that have several names. All names of an inode must be links to the same file, and
/// the link count must equal the number of names.
void Judge::judge_inodes() {
  std::map<std::uint64_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    const ObservedObject& observed = *shown_[i].observed;
    if (observed.inode != 0) groups[observed.inode].push_back(i);
  }
  for (const auto& [inode, names] : groups) {
    const ObservedObject& first = *shown_[names[0]].observed;
    const bool counted = first.type != FileType::directory && first.error == 0;
    if (counted && first.links != names_of_inode_.at(inode)) {
      report({Verdict::wrong_data, Tier::integrity, first.path,
              words({.kind = Expectation::Kind::links, .least = names_of_inode_.at(inode)}),
              fmt::format("{}", first.links)});
    }
    std::set<ObjectId> common;
    for (const TokenId token : shown_[names[0]].name.tokens)
      common.insert(history_.tokens[token].object);
    for (const std::size_t i : names) {
      std::set<ObjectId> here;
      for (const TokenId token : shown_[i].name.tokens) here.insert(history_.tokens[token].object);
      std::erase_if(common, [&](ObjectId object) { return !here.contains(object); });
      if (!common.empty()) continue;
      report({Verdict::wrong_data, Tier::integrity, shown_[i].observed->path,
              fmt::format("a file other than \"{}\"", first.path), "the same inode"});
      break;
    }
    // Keep only tokens of objects to which all these names may refer.
    for (const std::size_t i : names) {
      std::erase_if(shown_[i].name.tokens, [&](TokenId token) {
        return !common.empty() && !common.contains(history_.tokens[token].object);
      });
    }
  }
  std::map<ObjectId, const ObservedObject*> seen;
  for (const Shown& each : shown_) {
    if (each.observed->inode == 0 || each.name.tokens.size() != 1) continue;
    const ObjectId object = history_.tokens[each.name.tokens[0]].object;
    if (history_.objects[object].type != FileType::regular || history_.objects[object].file == 0)
      continue;
    const auto [at, fresh] = seen.try_emplace(object, each.observed);
    const bool one_name = !ordered() && history_.objects[object].tokens.size() < 2;
    if (fresh || at->second->inode == each.observed->inode || one_name) continue;
    report({Verdict::wrong_data, Tier::integrity, each.observed->path,
            fmt::format("a link to the file of \"{}\"", at->second->path), "a separate inode"});
  }
}

void Judge::judge_tokens() {
  std::vector<ShownName> names;
  names.reserve(shown_.size());
  for (const Shown& each : shown_) names.push_back(each.name);
  std::vector<TokenId> promised;
  std::copy_if(promised_.named.begin(), promised_.named.end(), std::back_inserter(promised),
               [&](TokenId token) { return !omitted_.contains(history_.tokens[token].lone); });
  if (!promised_.adrift.empty()) {
    std::ranges::copy(found_without_a_name(), std::back_inserter(names));
    promised.insert(promised.end(), promised_.adrift.begin(), promised_.adrift.end());
  }
  const Assignment assignment = assign(names, promised);
  for (const TokenId token : assignment.unseen)
    if (!ordered() || !lost_its_third_name(token)) report_unseen(token);
  if (!promises_.names_are_atomic()) return;
  for (const std::size_t i : assignment.surplus) {
    const auto other = std::find_if(names.begin(), names.end(), [&](const ShownName& name) {
      return name.path != names[i].path && std::find(name.tokens.begin(), name.tokens.end(),
                                                     names[i].tokens[0]) != name.tokens.end();
    });
    if (faulty_.contains(names[i].path)) continue;
    report({Verdict::non_atomic_rename, Tier::de_facto, names[i].path,
            words({.kind = Expectation::Kind::one_name}),
            other == names.end() ? "a second name of a file" : also_found_as(other->path)});
  }
}

/// Checks whether all names together match one point, given that each name by itself is permitted.
void Judge::judge_one_point() {
  std::map<const ObservedObject*, const std::vector<TokenId>*> tokens;
  for (const Shown& each : shown_) tokens[each.observed] = &each.name.tokens;
  for (SeenName& name : seen_)
    if (name.observed != nullptr) name.tokens = *tokens.at(name.observed);
  if (auto finding = OnePointJudge(history_, promises_, horizon_).judge(seen_))
    report(std::move(*finding));
}

/// Returns true if the link may be missing because of an exchange in flight. The exchange may have
/// left only the link's third name on the disk, and fsck removes this name if the file has other
/// links.
bool Judge::lost_its_third_name(TokenId token) const {
  const ObjectId object = history_.tokens[token].object;
  const auto in_flight = [&](const auto& at) {
    const SlotHistory& slot = history_.objects[at.first].entries.at(at.second);
    return std::any_of(slot.bindings.begin(), slot.bindings.end(), [&](const Binding& binding) {
      const bool covered =
          std::any_of(slot.covers.begin(), slot.covers.end(), [&](const Cover& cover) {
            return cover.operation > binding.operation && horizon_.knows(cover.operation);
          });
      return binding.had_third_name && binding.token == token && !covered &&
             horizon_.may_have_run(binding.operation);
    });
  };
  const auto shows_it = [&](const Shown& shown) {
    return std::any_of(shown.name.tokens.begin(), shown.name.tokens.end(),
                       [&](TokenId other) { return history_.tokens[other].object == object; });
  };
  const auto& slots = history_.tokens[token].slots;
  return std::any_of(slots.begin(), slots.end(), in_flight) &&
         std::any_of(shown_.begin(), shown_.end(), shows_it);
}

/// Returns the objects in lost+found, each with the links (PromisedTokens::adrift) that the object
/// may represent.
std::vector<ShownName> Judge::found_without_a_name() const {
  std::vector<ShownName> names;
  for (const ObservedObject* const observed : lost_and_found_) {
    ShownName name{.path = observed->path, .tokens = {}};
    for (const TokenId token : promised_.adrift) {
      const ObjectHistory& object = object_of(token);
      if (object.type != observed->type) continue;
      // An unfinished rename leaves only directories at the top of lost+found. Other objects that
      // may have lost their names (PromisedTokens::adrift) are below such a directory.
      if (observed->type != FileType::directory &&
          split_path(observed->path).first == kLostAndFound)
        continue;
      const bool file = observed->type == FileType::regular,
                 link = observed->type == FileType::symlink;
      if (file && !object.unclear && !judge_file_as(token, {}, *observed).empty()) continue;
      if (link && object.link_target != observed->link_target) continue;
      name.tokens.push_back(token);
    }
    names.push_back(std::move(name));
  }
  return names;
}

void Judge::report_unseen(TokenId token) {
  const ObjectHistory& object = object_of(token);
  std::string path;
  for (const auto& [directory, name] : history_.tokens[token].slots) {
    const SlotHistory& slot = history_.objects[directory].entries.at(name);
    if (reported_at_or_above(slot.path)) return;
    if (path.empty()) path = slot.path;
  }
  const std::string what = object.file != 0
                               ? fmt::format("file {}", object.file)
                               : std::string(kind_of(object.type)) + " created by operation " +
                                     std::to_string(object.made_by);
  report({Verdict::lost_synced_data, Tier::de_facto, path, what + " under one of its names",
          "it under none of them"});
}

bool Judge::reported_at_or_above(std::string path) const {
  while (!path.empty()) {
    if (faulty_.contains(path)) return true;
    path = split_path(path).first;
  }
  return false;
}

void Judge::report(Finding finding) {
  faulty_.insert(finding.path);
  findings_.push_back(std::move(finding));
}

}  // namespace headcrash::oracle
