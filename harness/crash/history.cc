// Follows a workload's operations as a correct file system would and writes down who covers what (history.h).
#include "harness/crash/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/crash/ownership.h"
#include "harness/workload/stamp.h"

namespace headcrash::crash {
namespace {

using workload::kStampBytes;
using workload::Operation;
using Kind = Operation::Kind;

class Follower {
 public:
  explicit Follower(const adapters::Promises& promises) : promises_(promises) {
    history_.objects.push_back({.type = FileType::directory});
    live_.emplace_back();
    token_of_.push_back(std::nullopt);
  }

  Result<void> step(const Operation& operation);
  /// An operation that was skipped or found no room.
  void step_over(const Operation& operation, workload::Outcome outcome) {
    begin(operation, true);
    disturbed_ = true;
    if (outcome != workload::Outcome::partial) return;
    if (const auto file = find(operation.path)) object(*file).unclear = true;
  }
  WorkloadHistory take() { return std::move(history_); }

 private:
  /// A name and where it is looked up. `token` is there while the name exists.
  struct Place {
    ObjectId directory;
    std::string name;
    std::optional<TokenId> token;
  };

  tl::unexpected<Error> wrong(const std::string& problem) const {
    return fail(fmt::format("operation {}", index_), problem,
                "a workload must be executable on a correct file system");
  }
  tl::unexpected<Error> missing(const std::string& path) const {
    return wrong(fmt::format("there is no \"{}\"", path));
  }

  ObjectHistory& object(TokenId token) { return history_.objects[history_.tokens[token].object]; }
  SlotHistory& slot(const Place& place) { return history_.objects[place.directory].entries[place.name]; }

  void begin(const Operation& operation, bool skipped) {
    index_ = history_.timeline.operations();
    history_.timeline.add(operation, skipped);
    owners_.act_as(operation.thread);
  }
  Result<void> act(const Operation& operation);

  // The first thing that another thread has is remembered; it fails the step.
  void need(bool granted, const std::string& path) {
    if (!granted && !conflict_) conflict_ = path;
  }
  void claim(const Place& place, const std::string& path) {
    need(owners_.claim(Ownership::Name(place.directory, place.name)), path);
  }
  void claim(TokenId token, const std::string& path) {
    need(owners_.claim(history_.tokens[token].object), path);
  }
  void pass(ObjectId directory, const std::string& name, const std::string& path) {
    need(owners_.pass(Ownership::Name(directory, name)), path);
  }

  /// The directory of `path` must exist.
  std::optional<Place> look_up(const std::string& path) {
    ObjectId directory = kRoot;
    std::size_t start = 0;
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', start)) {
      const std::string name = path.substr(start, slash - start);
      pass(directory, name, path);
      const auto next = live_[directory].find(name);
      if (next == live_[directory].end()) return std::nullopt;
      directory = history_.tokens[next->second].object;
      if (history_.objects[directory].type != FileType::directory) return std::nullopt;
      start = slash + 1;
    }
    Place place{directory, path.substr(start), std::nullopt};
    if (place.name.empty()) return std::nullopt;
    const auto at = live_[directory].find(place.name);
    if (at != live_[directory].end()) place.token = at->second;
    return place;
  }

  std::optional<TokenId> find(const std::string& path) {
    const auto place = look_up(path);
    return place ? place->token : std::nullopt;
  }
  std::optional<TokenId> find_file(const std::string& path) {
    const auto token = find(path);
    if (!token || object(*token).type != FileType::regular) return std::nullopt;
    claim(*token, path);
    return token;
  }
  std::optional<ObjectId> find_directory(const std::string& path) {
    if (path.empty()) return kRoot;
    const auto place = look_up(path);
    if (!place || !place->token || object(*place->token).type != FileType::directory) return std::nullopt;
    pass(place->directory, place->name, path);
    return history_.tokens[*place->token].object;
  }

  void bind(const Place& place, const std::string& path, std::optional<TokenId> token, bool by_rename = false,
            bool replaced = false) {
    claim(place, path);
    if (token) claim(*token, path);
    if (place.token) claim(*place.token, path);
    SlotHistory& history = slot(place);
    if (history.bindings.empty()) history.path = path;
    history.bindings.push_back({index_, token, by_rename, replaced});
    if (!token) {
      live_[place.directory].erase(place.name);
      return;
    }
    live_[place.directory][place.name] = *token;
    history_.tokens[*token].slots.emplace_back(place.directory, place.name);
  }

  TokenId new_token(ObjectId id) {
    history_.tokens.push_back({.object = id, .removed_by = std::nullopt, .slots = {}});
    history_.objects[id].tokens.push_back(history_.tokens.size() - 1);
    return history_.tokens.size() - 1;
  }

  Result<void> make(const std::string& path, ObjectHistory fresh);
  Result<void> remove(const std::string& path, bool directory);
  Result<void> link(const Operation& operation);
  Result<void> rename(const Operation& operation);
  Result<void> exchange(const Operation& operation);
  bool lies_below(ObjectId directory, ObjectId above) const;
  bool empty(TokenId directory) const { return live_[history_.tokens[directory].object].empty(); }

  Result<void> write(const Operation& operation);
  Result<void> truncate(const Operation& operation);
  Result<void> reshape(const Operation& operation);
  Result<void> change_attribute(const Operation& operation);
  std::uint64_t size(const ObjectHistory& file) const {
    return file.sizes.empty() ? 0 : file.sizes.back().second;
  }
  void resize(ObjectHistory& file, std::uint64_t bytes) {
    if (size(file) != bytes) file.sizes.emplace_back(index_, bytes);
  }

  Result<void> sync_file(const Operation& operation);
  Result<void> sync_directory(const std::string& path);
  void cover_entries(ObjectId directory);
  void sync_everything();
  void cover_path(const std::string& path);
  void cover_links(ObjectId id);
  void cover_new_path(const std::string& path);

  adapters::Promises promises_;
  WorkloadHistory history_;
  std::vector<std::map<std::string, TokenId>> live_;  // by object: the entries of directories
  std::vector<std::optional<TokenId>> token_of_;      // by object: its newest token
  Ownership owners_;
  std::optional<std::string> conflict_;
  std::size_t index_ = 0;
  bool disturbed_ = false;
};

Result<void> Follower::make(const std::string& path, ObjectHistory fresh) {
  const auto place = look_up(path);
  if (!place) return wrong(fmt::format("there is no directory for \"{}\"", path));
  if (place->token) return wrong(fmt::format("\"{}\" exists already", path));
  fresh.made_by = index_;
  history_.objects.push_back(std::move(fresh));
  live_.emplace_back();
  const ObjectId id = history_.objects.size() - 1;
  const TokenId token = new_token(id);
  token_of_.push_back(token);
  bind(*place, path, token);
  return {};
}

Result<void> Follower::remove(const std::string& path, bool directory) {
  const auto place = look_up(path);
  if (!place || !place->token) return missing(path);
  if ((object(*place->token).type == FileType::directory) != directory)
    return wrong(fmt::format("\"{}\" is {}a directory", path, directory ? "not " : ""));
  if (directory && !empty(*place->token)) return wrong(fmt::format("\"{}\" is not empty", path));
  history_.tokens[*place->token].removed_by = index_;
  bind(*place, path, std::nullopt);
  return {};
}

Result<void> Follower::link(const Operation& operation) {
  const auto existing = find(operation.path);
  const auto place = look_up(operation.target);
  if (!existing) return missing(operation.path);
  if (object(*existing).type == FileType::directory) return wrong("a directory has one name only");
  if (!place || place->token) return wrong(fmt::format("\"{}\" cannot be a new name", operation.target));
  bind(*place, operation.target, new_token(history_.tokens[*existing].object));
  return {};
}

bool Follower::lies_below(ObjectId directory, ObjectId above) const {
  while (directory != kRoot) {
    if (directory == above) return true;
    directory = history_.tokens[*token_of_[directory]].slots.back().first;
  }
  return above == kRoot;
}

Result<void> Follower::rename(const Operation& operation) {
  const auto from = look_up(operation.path);
  const auto to = look_up(operation.target);
  if (!from || !from->token) return missing(operation.path);
  if (!to) return wrong(fmt::format("there is no directory for \"{}\"", operation.target));
  const ObjectId moved = history_.tokens[*from->token].object;
  const bool directory = history_.objects[moved].type == FileType::directory;
  if (directory && lies_below(to->directory, moved)) return wrong("a directory cannot move into itself");
  if (to->token) {
    if (operation.kind == Kind::rename_noreplace)
      return wrong(fmt::format("\"{}\" exists already", operation.target));
    if (history_.tokens[*to->token].object == moved) return {};  // POSIX: does nothing
    const bool onto_directory = object(*to->token).type == FileType::directory;
    if (directory != onto_directory || (directory && !empty(*to->token)))
      return wrong(fmt::format("\"{}\" cannot be replaced", operation.target));
    history_.tokens[*to->token].removed_by = index_;
  }
  bind(*from, operation.path, std::nullopt, true);
  bind(*to, operation.target, from->token, true, to->token.has_value());
  return {};
}

Result<void> Follower::exchange(const Operation& operation) {
  const auto one = look_up(operation.path);
  const auto other = look_up(operation.target);
  if (!one || !one->token) return missing(operation.path);
  if (!other || !other->token) return missing(operation.target);
  if (lies_below(other->directory, history_.tokens[*one->token].object) ||
      lies_below(one->directory, history_.tokens[*other->token].object))
    return wrong("a directory cannot move into itself");
  if (history_.tokens[*one->token].object == history_.tokens[*other->token].object) return {};
  bind(*one, operation.path, other->token, true);
  bind(*other, operation.target, one->token, true);
  return {};
}

Result<void> Follower::write(const Operation& operation) {
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  ObjectHistory& file = object(*token);
  // After an operation that did not happen, a later one may find another file, or another size, than the list
  // was made for.
  const bool other_file = file.file != 0 && file.file != operation.file;
  const bool other_end = operation.kind == Kind::append && operation.offset != size(file);
  file.unclear |= disturbed_ && (other_file || other_end);
  if (other_file && !file.unclear) return wrong("a file is written under two numbers");
  if (other_end && !file.unclear)
    return wrong(fmt::format("it appends at {}, but the file has {} bytes", operation.offset, size(file)));
  file.file = operation.file;
  const std::uint64_t end = operation.offset + operation.length;
  if (operation.kind == Kind::write_mapped && end > size(file) && !file.unclear)
    return wrong("a mapping cannot make a file longer");
  const std::uint64_t first_block = operation.offset / kStampBytes;
  const std::uint64_t end_block = (end + kStampBytes - 1) / kStampBytes;
  const auto last_bytes = static_cast<std::uint32_t>(end - (end_block - 1) * kStampBytes);
  file.blocks.push_back(
      {index_, BlockEvent::Kind::stamp, first_block, end_block, operation.version, last_bytes});
  resize(file, std::max(size(file), end));
  if (workload::is_persistence_point(operation))
    file.data_covers.push_back({index_, first_block, end_block, end});
  return {};
}

Result<void> Follower::truncate(const Operation& operation) {
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  ObjectHistory& file = object(*token);
  if (operation.length < size(file)) {
    const std::uint64_t kept = operation.length / kStampBytes;
    const auto rest = static_cast<std::uint32_t>(operation.length % kStampBytes);
    if (rest != 0) file.blocks.push_back({index_, BlockEvent::Kind::trim, kept, kept + 1, 0, rest});
    file.blocks.push_back({index_, BlockEvent::Kind::zero, kept + (rest != 0 ? 1 : 0), kEndless});
  }
  resize(file, operation.length);
  return {};
}

/// fallocate in all its modes.
Result<void> Follower::reshape(const Operation& operation) {
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  ObjectHistory& file = object(*token);
  const std::uint64_t end = operation.offset + operation.length;
  const bool zeroes =
      operation.kind == Kind::punch || operation.kind == Kind::zero || operation.kind == Kind::zero_keep;
  if (zeroes) {
    file.blocks.push_back(
        {index_, BlockEvent::Kind::zero, operation.offset / kStampBytes, end / kStampBytes});
  }
  if (operation.kind == Kind::allocate || operation.kind == Kind::zero)
    resize(file, std::max(size(file), end));
  return {};
}

Result<void> Follower::change_attribute(const Operation& operation) {
  ObjectId id = kRoot;
  if (!operation.path.empty()) {
    const auto token = find(operation.path);
    if (!token) return missing(operation.path);
    id = history_.tokens[*token].object;
  }
  need(owners_.claim(id), operation.path);
  ObjectHistory& holder = history_.objects[id];
  if (holder.type == FileType::symlink) return wrong("a symbolic link has no user attributes");
  auto& states = holder.attributes[operation.attribute];
  if (operation.kind == Kind::setxattr) {
    states.emplace_back(index_, operation.value);
  } else {
    if (states.empty() || !states.back().second)
      return wrong(fmt::format("\"{}\" has no attribute \"{}\"", operation.path, operation.attribute));
    states.emplace_back(index_, std::nullopt);
  }
  return {};
}

Result<void> Follower::sync_file(const Operation& operation) {
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  object(*token).data_covers.push_back({.operation = index_});
  if (operation.kind == Kind::fdatasync) return {};
  object(*token).attribute_covers.push_back(index_);
  if (promises_.fsync_keeps_name) cover_path(operation.path);
  if (promises_.fsync_keeps_new_name) cover_new_path(operation.path);
  if (promises_.fsync_keeps_links) cover_links(history_.tokens[*token].object);
  return {};
}

Result<void> Follower::sync_directory(const std::string& path) {
  const auto directory = find_directory(path);
  if (!directory) return wrong(fmt::format("there is no directory \"{}\"", path));
  cover_entries(*directory);
  if (!owners_.is_foreign(*directory)) history_.objects[*directory].attribute_covers.push_back(index_);
  if (promises_.fsync_keeps_name) cover_path(path);
  if (promises_.fsync_keeps_new_name) cover_new_path(path);
  return {};
}

/// What another thread has changed since the last join may or may not have been there when the call began.
void Follower::cover_entries(ObjectId directory) {
  for (auto& [name, entry] : history_.objects[directory].entries) {
    if (!owners_.is_foreign(Ownership::Name(directory, name)))
      entry.covers.push_back({index_, NameTier::posix});
  }
}

void Follower::sync_everything() {
  for (ObjectId id = 0; id < history_.objects.size(); ++id) {
    cover_entries(id);
    if (owners_.is_foreign(id)) continue;
    history_.objects[id].data_covers.push_back({.operation = index_});
    history_.objects[id].attribute_covers.push_back(index_);
  }
}

void Follower::cover_path(const std::string& path) {
  for (std::string rest = path; !rest.empty();) {
    if (const auto place = look_up(rest)) slot(*place).covers.push_back({index_, NameTier::documented});
    const std::size_t slash = rest.rfind('/');
    rest = slash == std::string::npos ? "" : rest.substr(0, slash);
  }
}

/// From the object upwards, as long as each still has the name that it was made under and no other. One that
/// was moved or linked ends the walk: above it nothing is known to have been written.
void Follower::cover_new_path(const std::string& path) {
  std::vector<SlotHistory*> names;
  std::vector<ObjectHistory*> parents;
  for (std::string rest = path; !rest.empty();) {
    const auto place = look_up(rest);
    if (!place || !place->token) return;
    const bool one_name = history_.tokens[*place->token].slots.size() == 1;
    if (!one_name || object(*place->token).tokens.size() != 1) return;
    names.push_back(&slot(*place));
    parents.push_back(&object(*place->token));
    const std::size_t slash = rest.rfind('/');
    rest = slash == std::string::npos ? "" : rest.substr(0, slash);
  }
  for (SlotHistory* each : names) each->covers.push_back({index_, NameTier::documented});
  for (ObjectHistory* each : parents) each->inode_covers.push_back(index_);
}

/// Every name whose last change concerned this file: where it is, and where it was and nothing has come
/// since.
void Follower::cover_links(ObjectId id) {
  for (const TokenId token : history_.objects[id].tokens) {
    for (const auto& [directory, name] : history_.tokens[token].slots) {
      SlotHistory& entry = history_.objects[directory].entries[name];
      const Binding& last = entry.bindings.back();
      const bool here = last.token && history_.tokens[*last.token].object == id;
      const bool left = !last.token && entry.bindings.size() > 1 &&
                        history_.tokens[*std::prev(entry.bindings.end(), 2)->token].object == id;
      const bool covered = !entry.covers.empty() && entry.covers.back().operation == index_;
      if ((here || left) && !covered) entry.covers.push_back({index_, NameTier::documented});
    }
  }
}

Result<void> Follower::step(const Operation& operation) {
  begin(operation, false);
  if (const auto acted = act(operation); !acted) return acted;
  if (!conflict_) return {};
  return fail(
      fmt::format("operation {}", index_),
      fmt::format("another thread uses \"{}\" or a directory on its path since the last join", *conflict_),
      "give each thread files and names of its own, or put a join between");
}

Result<void> Follower::act(const Operation& operation) {
  if (workload::is_write(operation.kind)) return write(operation);
  switch (operation.kind) {
    case Kind::mkdir:
      return make(operation.path, {.type = FileType::directory});
    case Kind::create:
      return make(operation.path, {.type = FileType::regular});
    case Kind::symlink:
      return make(operation.path, {.type = FileType::symlink, .link_target = operation.target});
    case Kind::rmdir:
      return remove(operation.path, true);
    case Kind::unlink:
      return remove(operation.path, false);
    case Kind::link:
      return link(operation);
    case Kind::rename:
    case Kind::rename_noreplace:
      return rename(operation);
    case Kind::rename_exchange:
      return exchange(operation);
    case Kind::truncate:
      return truncate(operation);
    case Kind::setxattr:
    case Kind::removexattr:
      return change_attribute(operation);
    case Kind::fsync:
    case Kind::fdatasync:
      return sync_file(operation);
    case Kind::fsync_directory:
      return sync_directory(operation.path);
    case Kind::sync:
    case Kind::syncfs:
      sync_everything();
      return {};
    case Kind::join:
      owners_.join();
      return {};
    default:
      return reshape(operation);
  }
}

}  // namespace

Result<WorkloadHistory> follow_operations(std::span<const Operation> operations,
                                          const adapters::Promises& promises,
                                          std::span<const workload::Mishap> mishaps) {
  Follower follower(promises);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto mishap = std::find_if(mishaps.begin(), mishaps.end(),
                                     [&](const workload::Mishap& each) { return each.operation == i; });
    if (mishap != mishaps.end()) {
      follower.step_over(operations[i], mishap->outcome);
      continue;
    }
    if (const auto stepped = follower.step(operations[i]); !stepped) return pass_on(stepped);
  }
  return follower.take();
}

}  // namespace headcrash::crash
