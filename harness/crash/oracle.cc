// Names first, then content, then the objects that must still have a name (oracle.h).
#include "harness/crash/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/crash/content.h"
#include "harness/crash/history.h"

namespace headcrash::crash {

struct Oracle::History : WorkloadHistory {};

namespace {

/// What one name may show.
struct PermittedName {
  std::vector<std::optional<ObjectId>> bindings;
  std::optional<NameCover> cover;
  bool rename_in_flight = false;

  bool absence() const { return std::find(bindings.begin(), bindings.end(), std::nullopt) != bindings.end(); }
};

class Judge {
 public:
  Judge(const WorkloadHistory& history, const std::optional<std::size_t>& persisted,
        const std::vector<ObservedObject>& tree)
      : history_(history), horizon_{.persisted = persisted, .reached = reached(persisted)} {
    for (const ObservedObject& object : tree) {
      if (object.path == "lost+found" || object.path.starts_with("lost+found/")) continue;
      observed_[object.path] = &object;
    }
  }

  std::vector<Finding> judge() {
    for (const auto& [path, name] : history_.names) judge_name(path, name);
    for (const auto& [path, object] : observed_) {
      if (!history_.names.contains(path)) {
        report(
            {Verdict::wrong_data, Tier::integrity, path, "no such name", "an object that was never created"});
      }
    }
    judge_objects_without_name();
    judge_doubled_objects();
    return std::move(findings_);
  }

 private:
  std::size_t reached(const std::optional<std::size_t>& persisted) const {
    const auto& points = history_.persistence_points;
    const auto next = persisted ? std::upper_bound(points.begin(), points.end(), *persisted) : points.begin();
    if (next != points.end()) return *next;
    return history_.operations == 0 ? 0 : history_.operations - 1;
  }

  PermittedName permitted(const NameHistory& name) const {
    PermittedName permitted;
    for (const NameCover& cover : name.covers) {
      if (horizon_.persisted && cover.operation <= *horizon_.persisted) permitted.cover = cover;
    }
    std::optional<ObjectId> at_cover;
    for (const Binding& binding : name.bindings) {
      if (binding.operation > horizon_.reached) break;
      if (permitted.cover && binding.operation <= permitted.cover->operation) {
        at_cover = binding.object;
      } else {
        permitted.bindings.push_back(binding.object);
        permitted.rename_in_flight |= binding.by_rename;
      }
    }
    permitted.bindings.insert(permitted.bindings.begin(), at_cover);
    return permitted;
  }

  void judge_name(const std::string& path, const NameHistory& name) {
    const PermittedName allowed = permitted(name);
    const Tier tier =
        allowed.cover && allowed.cover->tier == NameTier::documented ? Tier::documented : Tier::posix;
    const auto at = observed_.find(path);
    if (at == observed_.end()) {
      if (allowed.absence()) return;
      const Verdict kind = allowed.rename_in_flight ? Verdict::non_atomic_rename : Verdict::lost_synced_data;
      return report({kind, tier, path, "the name to be there", "no such name"});
    }
    const ObservedObject& observed = *at->second;
    const bool directory = observed.type == FileType::directory;
    if (observed.type != FileType::regular && !directory) {
      return report(
          {Verdict::wrong_data, Tier::integrity, path, "a file or a directory", "another kind of object"});
    }
    std::vector<ObjectId> candidates;
    for (const std::optional<ObjectId>& object : allowed.bindings) {
      if (object && history_.objects[*object].directory == directory) candidates.push_back(*object);
    }
    if (candidates.empty()) {
      return report({Verdict::resurrected, tier, path, "no such name", directory ? "a directory" : "a file"});
    }
    if (directory) return;
    judge_file(path, observed, candidates, tier);
  }

  /// The file number that the first recognisable block names; nothing for an empty or foreign file.
  static std::optional<std::uint32_t> identity(const ObservedObject& observed) {
    for (const ContentRun& run : observed.runs) {
      if (run.kind == ContentRun::Kind::stamp) return run.file;
    }
    return std::nullopt;
  }

  void judge_file(const std::string& path, const ObservedObject& observed,
                  const std::vector<ObjectId>& candidates, Tier tier) {
    const std::optional<std::uint32_t> number = identity(observed);
    for (const ObjectId id : candidates) {
      if (number && history_.objects[id].file == *number) {
        shown_as_[id].push_back(path);
        return report_all(judge_content(history_.objects[id], observed, horizon_));
      }
    }
    if (number && was_once(path, *number)) {
      return report({Verdict::lost_synced_data, tier, path,
                     fmt::format("file {}", history_.objects[candidates[0]].file),
                     fmt::format("file {}, which this name had shown before", *number)});
    }
    // Nothing tells which file this is: it may be any that fits; if none does, the first tells why.
    std::optional<std::vector<Finding>> first;
    for (const ObjectId id : candidates) {
      std::vector<Finding> findings = judge_content(history_.objects[id], observed, horizon_);
      if (findings.empty() || candidates.size() == 1) shown_as_[id].push_back(path);
      if (findings.empty()) return;
      if (!first) first = std::move(findings);
    }
    report_all(*first);
  }

  bool was_once(const std::string& path, std::uint32_t number) const {
    for (const Binding& binding : history_.names.at(path).bindings) {
      if (binding.object && history_.objects[*binding.object].file == number) return true;
    }
    return false;
  }

  /// A file whose name was persistent and that nothing can have removed must show under one of its names:
  /// renames in flight permit either, never neither.
  void judge_objects_without_name() {
    std::set<ObjectId> promised;
    std::map<ObjectId, std::set<std::string>> names;
    for (const auto& [path, name] : history_.names) {
      const PermittedName allowed = permitted(name);
      if (allowed.cover && allowed.bindings[0]) promised.insert(*allowed.bindings[0]);
      for (const auto& object : allowed.bindings) {
        if (object) names[*object].insert(path);
      }
    }
    for (const ObjectId id : promised) {
      const ObjectHistory& object = history_.objects[id];
      const bool removable = object.gone_by && *object.gone_by <= horizon_.reached;
      if (object.directory || removable || shown_as_.contains(id)) continue;
      const bool reported = std::any_of(names[id].begin(), names[id].end(),
                                        [&](const std::string& path) { return faulty_.contains(path); });
      if (!reported) {
        report({Verdict::lost_synced_data, Tier::posix, *names[id].begin(),
                fmt::format("file {} under one of its names", object.file), "none of them shows it"});
      }
    }
  }

  void judge_doubled_objects() {
    for (const auto& [id, paths] : shown_as_) {
      if (paths.size() < 2 || history_.objects[id].file == 0) continue;
      report({Verdict::non_atomic_rename, Tier::posix, paths[0], "one name",
              fmt::format("also \"{}\"", paths[1])});
    }
  }

  void report(Finding finding) {
    faulty_.insert(finding.path);
    findings_.push_back(std::move(finding));
  }
  void report_all(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) report(finding);
  }

  const WorkloadHistory& history_;
  Horizon horizon_;
  std::map<std::string, const ObservedObject*> observed_;
  std::map<ObjectId, std::vector<std::string>> shown_as_;
  std::set<std::string> faulty_;
  std::vector<Finding> findings_;
};

}  // namespace

Oracle::Oracle(std::unique_ptr<History> history) : history_(std::move(history)) {}
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle& Oracle::operator=(Oracle&&) noexcept = default;
Oracle::~Oracle() = default;

Result<Oracle> Oracle::follow(std::span<const workload::Operation> operations, const OracleOptions& options) {
  Result<WorkloadHistory> history =
      follow_operations(operations, {.fsync_keeps_name = options.fsync_keeps_name});
  if (!history) return pass_on(history);
  return Oracle(std::make_unique<History>(History{std::move(*history)}));
}

std::vector<Finding> Oracle::judge(std::optional<std::size_t> persisted,
                                   const std::vector<ObservedObject>& tree) const {
  return Judge(*history_, persisted, tree).judge();
}

}  // namespace headcrash::crash
