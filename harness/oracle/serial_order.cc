// Searches for a serial order of a history (serial_order.h).
#include "harness/oracle/serial_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

using workload::Operation;
using Kind = Operation::Kind;
using NodeId = int;

constexpr NodeId kNoNode = -1, kSharedRoot = 0;
constexpr std::size_t kSearchedMost = 2'000'000;

struct SharedNode {
  bool directory = false;
  bool removed = false;
  NodeId parent = kNoNode;              ///< for a directory: its parent
  std::map<std::string, NodeId> names;  ///< for a directory: its names
  std::vector<std::size_t> writes;      ///< for a file: its writes and truncations, in order
};

/// The tree of the model. All calls return an errno, or 0.
class SharedModel {
 public:
  SharedModel() { nodes_.push_back({.directory = true}); }

  NodeId find(NodeId directory, const std::string& name) const {
    const auto& names = node(directory).names;
    const auto at = names.find(name);
    return at == names.end() ? kNoNode : at->second;
  }
  const SharedNode& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  bool has_links(NodeId file) const { return links(file) > 0; }
  std::uint32_t links(NodeId file) const {
    std::uint32_t count = 0;
    for (const SharedNode& each : nodes_)
      for (const auto& [name, target] : each.names) count += target == file ? 1 : 0;
    return count;
  }
  void write(NodeId file, std::size_t operation) { at(file).writes.push_back(operation); }

  int make(NodeId directory, const std::string& name, bool is_directory) {
    if (find(directory, name) != kNoNode) return EEXIST;
    if (node(directory).removed) return ENOENT;
    const auto made = static_cast<NodeId>(nodes_.size());
    nodes_.push_back({.directory = is_directory, .parent = directory});
    at(directory).names[name] = made;
    return 0;
  }
  int link(NodeId file, NodeId directory, const std::string& name) {
    if (find(directory, name) != kNoNode) return EEXIST;
    if (node(directory).removed || !has_links(file)) return ENOENT;
    at(directory).names[name] = file;
    return 0;
  }
  int remove(NodeId directory, const std::string& name, bool is_directory) {
    const NodeId gone = find(directory, name);
    if (gone == kNoNode) return ENOENT;
    if (node(gone).directory != is_directory) return is_directory ? ENOTDIR : EISDIR;
    if (is_directory && !node(gone).names.empty()) return ENOTEMPTY;
    at(directory).names.erase(name);
    if (is_directory) at(gone).removed = true;
    return 0;
  }
  int rename(NodeId from, const std::string& old_name, NodeId to, const std::string& new_name,
             Kind kind);

  /// Appends a description of the tree. Different trees have different descriptions.
  void describe(std::string& text) const;

 private:
  SharedNode& at(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  /// Returns true if `above` is `below` or one of its ancestors.
  bool contains(NodeId above, NodeId below) const {
    while (below != kNoNode && below != above) below = node(below).parent;
    return below == above;
  }
  void put(NodeId directory, const std::string& name, NodeId target) {
    at(directory).names[name] = target;
    if (node(target).directory) at(target).parent = directory;
  }

  std::vector<SharedNode> nodes_;
};

int SharedModel::rename(NodeId from, const std::string& old_name, NodeId to,
                        const std::string& new_name, Kind kind) {
  const bool exchange = kind == Kind::rename_exchange;
  const NodeId source = find(from, old_name), target = find(to, new_name);
  if (source == kNoNode || node(from).removed || node(to).removed) return ENOENT;
  if (node(source).directory && contains(source, to)) return EINVAL;
  if (target != kNoNode && node(target).directory && contains(target, from))
    return exchange ? EINVAL : ENOTEMPTY;
  if (source == target) return kind == Kind::rename_noreplace ? EEXIST : 0;
  if (exchange) {
    if (target == kNoNode) return ENOENT;
    put(to, new_name, source);
    put(from, old_name, target);
    return 0;
  }
  if (target != kNoNode) {
    if (kind == Kind::rename_noreplace) return EEXIST;
    if (node(target).directory != node(source).directory)
      return node(source).directory ? ENOTDIR : EISDIR;
    if (!node(target).names.empty()) return ENOTEMPTY;
    if (node(target).directory) at(target).removed = true;
  }
  at(from).names.erase(old_name);
  put(to, new_name, source);
  return 0;
}

void SharedModel::describe(std::string& text) const {
  for (const SharedNode& each : nodes_) {
    text += each.directory ? 'd' : 'f';
    text += each.removed ? '-' : '+';
    for (const auto& [name, target] : each.names) text += fmt::format("{}={},", name, target);
    for (const std::size_t write : each.writes) text += fmt::format("w{}", write);
    text += ';';
  }
}

struct UserProgress {
  std::size_t next = 0;  ///< number of the user's first call that is not complete
  std::uint8_t step = 0;
  /// Objects that earlier steps of the current call have found.
  NodeId directory = kSharedRoot, other_directory = kSharedRoot, file = kNoNode;
  std::map<std::string, NodeId> open;  ///< open files
};

/// A node of the search: the tree and the progress of each user.
struct SearchedState {
  SharedModel model;
  std::vector<UserProgress> users;

  std::string key() const {
    std::string text;
    for (const UserProgress& user : users) {
      text += fmt::format("{}.{}.{}.{}.{}", user.next, user.step, user.directory,
                          user.other_directory, user.file);
      for (const auto& [name, file] : user.open) text += fmt::format(" {}={}", name, file);
      text += '|';
    }
    model.describe(text);
    return text;
  }
};

std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

bool names_two(Kind kind) {
  return kind == Kind::link || kind == Kind::rename || kind == Kind::rename_exchange ||
         kind == Kind::rename_noreplace;
}

/// The steps of one call. Each returns an errno, or 0. The result of the last step is the result of
/// the call.
class CallSteps {
 public:
  CallSteps(const Operation& operation, std::size_t number) : op_(operation), number_(number) {
    if (is_waiting(op_.kind)) return;
    const bool on_open_file = workload::is_open_file(op_.path);
    if (!on_open_file && !split(op_.path).first.empty()) steps_.push_back(Step::find_directory);
    if (op_.kind == Kind::link || (looks_up_file(op_.kind) && !on_open_file))
      steps_.push_back(Step::find_file);
    if (names_two(op_.kind) && !split(op_.target).first.empty())
      steps_.push_back(Step::find_other_directory);
    if (!looks_up_file(op_.kind) || on_open_file) steps_.push_back(Step::act);
  }

  std::size_t count() const { return std::max<std::size_t>(1, steps_.size()); }

  int run(std::size_t step, SharedModel& model, UserProgress& user) const {
    if (steps_.empty()) return 0;
    switch (steps_[step]) {
      case Step::find_directory:
        return find_directory(model, split(op_.path).first, user.directory);
      case Step::find_other_directory:
        return find_directory(model, split(op_.target).first, user.other_directory);
      case Step::find_file:
        return find_file(model, user);
      case Step::act:
        return act(model, user);
    }
    return EINVAL;
  }

 private:
  enum class Step : std::uint8_t { find_directory, find_file, find_other_directory, act };

  static bool is_waiting(Kind kind) {
    return kind == Kind::sync || kind == Kind::syncfs || kind == Kind::join || kind == Kind::evict;
  }
  static bool looks_up_file(Kind kind) {
    return kind == Kind::open || kind == Kind::fsync || kind == Kind::fdatasync ||
           kind == Kind::fsync_directory;
  }

  static int find_directory(const SharedModel& model, const std::string& name, NodeId& found) {
    found = model.find(kSharedRoot, name);
    if (found == kNoNode) return ENOENT;
    return model.node(found).directory ? 0 : ENOTDIR;
  }
  int find_file(const SharedModel& model, UserProgress& user) const {
    user.file = model.find(user.directory, split(op_.path).second);
    if (user.file == kNoNode) return ENOENT;
    const bool directory = model.node(user.file).directory;
    if (op_.kind == Kind::fsync_directory) return directory ? 0 : ENOTDIR;
    if (directory) return op_.kind == Kind::link ? EPERM : EISDIR;
    if (op_.kind == Kind::open) user.open[op_.target] = user.file;
    return 0;
  }
  int act(SharedModel& model, UserProgress& user) const {
    const std::string name = split(op_.path).second, other = split(op_.target).second;
    switch (op_.kind) {
      case Kind::mkdir:
      case Kind::create:
        return model.make(user.directory, name, op_.kind == Kind::mkdir);
      case Kind::rmdir:
      case Kind::unlink:
        return model.remove(user.directory, name, op_.kind == Kind::rmdir);
      case Kind::link:
        return model.link(user.file, user.other_directory, other);
      case Kind::rename:
      case Kind::rename_exchange:
      case Kind::rename_noreplace:
        return model.rename(user.directory, name, user.other_directory, other, op_.kind);
      default:
        return use_open_file(model, user);
    }
  }
  int use_open_file(SharedModel& model, UserProgress& user) const {
    const auto file = user.open.find(op_.path);
    if (file == user.open.end()) return EBADF;
    if (op_.kind == Kind::write || op_.kind == Kind::truncate) model.write(file->second, number_);
    if (op_.kind == Kind::close) user.open.erase(file);
    return 0;
  }

  const Operation& op_;
  std::size_t number_;
  std::vector<Step> steps_;
};

/// Returns true if the results agree. If EISDIR is expected, ENOTSUP is accepted too:
/// open_directory() of our own file systems may return it.
bool same_result(int expected, int found) {
  return expected == found || (expected == EISDIR && found == ENOTSUP);
}

class SerialSearch {
 public:
  explicit SerialSearch(const SharedHistory& history) : history_(history) {
    calls_.resize(workload::threads_of(history.operations));
    for (const SharedCall& call : history.calls)
      calls_.at(history.operations[call.operation].thread).push_back(&call);
    for (auto& calls : calls_) std::ranges::sort(calls, {}, &SharedCall::begun);
    for (std::size_t i = 0; i < history.operations.size(); ++i)
      steps_.emplace_back(history.operations[i], i);
    final_ = described(history.tree);
  }

  /// Returns true if a serial order exists, or if the search exceeds its limit.
  bool succeeds() {
    SearchedState state;
    state.users.resize(calls_.size());
    return succeeds(state);
  }

 private:
  bool succeeds(const SearchedState& state) {
    if (seen_.size() >= kSearchedMost || !seen_.insert(state.key()).second)
      return seen_.size() >= kSearchedMost;
    bool all_done = true;
    for (std::size_t user = 0; user < calls_.size(); ++user) {
      if (state.users[user].next == calls_[user].size()) continue;
      all_done = false;
      if (!may_begin(state, user)) continue;
      SearchedState next = state;
      if (step(next, user) && succeeds(next)) return true;
    }
    return all_done && described(objects(state.model)) == final_;
  }

  /// Returns false if this call cannot be the next one, because another call, not yet complete in
  /// `state`, returned before this call began in the real execution.
  bool may_begin(const SearchedState& state, std::size_t user) const {
    const SharedCall& call = *calls_[user][state.users[user].next];
    for (std::size_t other = 0; other < calls_.size(); ++other) {
      const std::size_t next = state.users[other].next;
      if (next < calls_[other].size() && calls_[other][next]->ended < call.begun) return false;
    }
    return true;
  }

  /// Runs one step of the user's call. Returns false if the result differs from the observed one.
  bool step(SearchedState& state, std::size_t number) const {
    UserProgress& user = state.users[number];
    const SharedCall& call = *calls_[number][user.next];
    const CallSteps& steps = steps_[call.operation];
    const int error = steps.run(user.step, state.model, user);
    if (error == 0 && ++user.step < steps.count()) return true;
    user.step = 0;
    user.directory = user.other_directory = kSharedRoot;
    user.file = kNoNode;
    ++user.next;
    return same_result(error, call.error);
  }

  std::vector<std::byte> content(const SharedNode& node) const {
    std::vector<std::byte> bytes;
    for (const std::size_t number : node.writes) {
      const Operation& op = history_.operations[number];
      if (op.kind == Kind::truncate) {
        bytes.resize(op.length);
        continue;
      }
      bytes.resize(std::max<std::size_t>(bytes.size(), op.offset + op.length));
      workload::write_stamps(op.file, op.version, op.offset,
                             std::span(bytes).subspan(op.offset, op.length));
    }
    return bytes;
  }

  std::vector<SharedObject> objects(const SharedModel& model) const {
    std::vector<SharedObject> all;
    add_objects(model, kSharedRoot, "", all);
    return all;
  }
  void add_objects(const SharedModel& model, NodeId directory, const std::string& prefix,
                   std::vector<SharedObject>& all) const {
    for (const auto& [name, id] : model.node(directory).names) {
      const SharedNode& node = model.node(id);
      SharedObject object{.path = prefix + name,
                          .inode = static_cast<std::uint64_t>(id),
                          .directory = node.directory,
                          .links = model.links(id),
                          .content = content(node)};
      if (node.directory) {
        object.links = 2;
        for (const auto& [below, child] : node.names)
          object.links += model.node(child).directory ? 1 : 0;
      }
      all.push_back(object);
      if (node.directory) add_objects(model, id, prefix + name + "/", all);
    }
  }

  /// Describes the tree without inode numbers.
  static std::string described(std::vector<SharedObject> tree) {
    std::ranges::sort(tree, {}, &SharedObject::path);
    std::map<std::uint64_t, std::string> first_name;
    std::string text;
    for (const SharedObject& each : tree) {
      const std::string& first = first_name.emplace(each.inode, each.path).first->second;
      text += fmt::format("{} {} {} {} ", each.path, each.directory ? "directory" : first,
                          each.links, each.content.size());
      text.append(reinterpret_cast<const char*>(each.content.data()), each.content.size());
      text += '\n';
    }
    return text;
  }

  const SharedHistory& history_;
  std::vector<std::vector<const SharedCall*>> calls_;  ///< by user
  std::vector<CallSteps> steps_;                       ///< by operation
  std::string final_;
  std::unordered_set<std::string> seen_;
};

std::string summary_of(const std::vector<std::byte>& content) {
  std::string text;
  for (std::size_t at = 0; at < content.size(); at += workload::kStampBytes) {
    const auto block =
        std::span(content).subspan(at, std::min(workload::kStampBytes, content.size() - at));
    const auto read = workload::read_stamp(block);
    if (const auto* const stamp = std::get_if<workload::Stamp>(&read))
      text += fmt::format(" v{}", stamp->version);
    else
      text += std::holds_alternative<workload::Zeroes>(read) ? " 0" : " ?";
  }
  return text;
}

std::string text_of(const SharedHistory& history) {
  std::string text;
  for (const SharedCall& call : history.calls)
    text += fmt::format("\n  [{}-{}] {}: {}", call.begun, call.ended,
                        workload::format(history.operations[call.operation]),
                        call.error == 0 ? "ok" : std::strerror(call.error));
  for (const SharedObject& each : history.tree)
    text += fmt::format("\n  {} {}, inode {}, {} links, {} bytes{}",
                        each.directory ? "directory" : "file", each.path, each.inode, each.links,
                        each.content.size(), summary_of(each.content));
  return text;
}

}  // namespace

std::optional<std::string> contradiction_in(const SharedHistory& history) {
  if (SerialSearch(history).succeeds()) return std::nullopt;
  return "no serial order of these calls explains their results and the final tree:" +
         text_of(history);
}

}  // namespace headcrash::oracle
