// Follows a workload's operations and writes down who covers what (history.h).
#include "harness/crash/history.h"

#include <fmt/format.h>

#include <utility>

#include "harness/workload/stamp.h"

namespace headcrash::crash {
namespace {

using workload::Operation;
using Kind = Operation::Kind;

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

class Follower {
 public:
  explicit Follower(const HistoryOptions& options) : options_(options) {}

  Result<void> step(std::size_t index, const Operation& operation) {
    index_ = index;
    if (workload::is_persistence_point(operation)) history_.persistence_points.push_back(index);
    switch (operation.kind) {
      case Kind::mkdir:
        return make(operation.path, {.directory = true, .made_by = index});
      case Kind::create:
        return make(operation.path, {.made_by = index});
      case Kind::write:
        return write(operation);
      case Kind::rename:
        return rename(operation);
      case Kind::unlink:
        return unlink(operation.path);
      case Kind::fsync:
        return fsync(operation.path);
      case Kind::fsync_directory:
        return fsync_directory(operation.path);
      case Kind::sync:
        for (auto& [path, id] : live_) history_.objects[id].covers.push_back(index);
        for (auto& [path, name] : history_.names) name.covers.push_back({index, NameTier::posix});
        return {};
      default:
        return wrong("the oracle does not follow \"" + workload::format(operation) + "\"");
    }
  }

  WorkloadHistory take() { return std::move(history_); }

 private:
  tl::unexpected<Error> wrong(const std::string& problem) const {
    return fail(fmt::format("operation {}", index_), problem,
                "a workload must be executable on a correct file system");
  }

  void bind(const std::string& path, std::optional<ObjectId> object, bool by_rename = false) {
    history_.names[path].bindings.push_back({index_, object, by_rename});
  }

  Result<void> make(const std::string& path, ObjectHistory object) {
    if (live_.contains(path)) return wrong("\"" + path + "\" exists already");
    const std::string parent = parent_of(path);
    if (!parent.empty() && !live_.contains(parent)) return wrong("there is no directory \"" + parent + "\"");
    history_.objects.push_back(std::move(object));
    live_[path] = history_.objects.size() - 1;
    bind(path, live_[path]);
    return {};
  }

  Result<void> write(const Operation& operation) {
    const auto live = live_.find(operation.path);
    if (live == live_.end()) return wrong("there is no file \"" + operation.path + "\"");
    ObjectHistory& object = history_.objects[live->second];
    if (object.file != 0 && object.file != operation.file)
      return wrong("a file is written under two numbers");
    object.file = operation.file;
    object.writes.push_back({index_, operation.offset / workload::kStampBytes,
                             (operation.length + workload::kStampBytes - 1) / workload::kStampBytes,
                             operation.version});
    const std::uint64_t end = operation.offset + operation.length;
    if (object.sizes.empty() || object.sizes.back().second < end) object.sizes.emplace_back(index_, end);
    return {};
  }

  Result<void> rename(const Operation& operation) {
    const auto from = live_.find(operation.path);
    if (from == live_.end()) return wrong("there is no \"" + operation.path + "\"");
    const ObjectId moved = from->second;
    if (history_.objects[moved].directory) return wrong("renames of directories are not followed");
    if (const auto replaced = live_.find(operation.target); replaced != live_.end()) {
      history_.objects[replaced->second].gone_by = index_;
    }
    live_.erase(from);
    live_[operation.target] = moved;
    bind(operation.path, std::nullopt, true);
    bind(operation.target, moved, true);
    return {};
  }

  Result<void> unlink(const std::string& path) {
    const auto live = live_.find(path);
    if (live == live_.end()) return wrong("there is no \"" + path + "\"");
    history_.objects[live->second].gone_by = index_;
    live_.erase(live);
    bind(path, std::nullopt);
    return {};
  }

  Result<void> fsync(const std::string& path) {
    const auto live = live_.find(path);
    if (live == live_.end()) return wrong("there is no \"" + path + "\"");
    history_.objects[live->second].covers.push_back(index_);
    if (options_.fsync_keeps_name) cover_path(path);
    return {};
  }

  Result<void> fsync_directory(const std::string& path) {
    for (auto& [name, history] : history_.names) {
      if (parent_of(name) == path) history.covers.push_back({index_, NameTier::posix});
    }
    if (options_.fsync_keeps_name) cover_path(path);
    return {};
  }

  void cover_path(std::string path) {
    for (; !path.empty(); path = parent_of(path))
      history_.names[path].covers.push_back({index_, NameTier::documented});
  }

  HistoryOptions options_;
  WorkloadHistory history_;
  std::map<std::string, ObjectId> live_;
  std::size_t index_ = 0;
};

}  // namespace

Result<WorkloadHistory> follow_operations(std::span<const Operation> operations,
                                          const HistoryOptions& options) {
  Follower follower(options);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (const auto stepped = follower.step(i, operations[i]); !stepped) return pass_on(stepped);
  }
  WorkloadHistory history = follower.take();
  history.operations = operations.size();
  return history;
}

}  // namespace headcrash::crash
