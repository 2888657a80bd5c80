// Tracks open files, and determines what each persistence point covers (follower.h).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/oracle/follower.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {

Result<void> Follower::open(const workload::Operation& operation) {
  const auto token = find(operation.path);
  const bool can_be_open = token && (object(*token).type == FileType::regular ||
                                     object(*token).type == FileType::directory);
  if (!can_be_open)
    return wrong(fmt::format("there is no file or directory \"{}\"", operation.path));
  claim(*token, operation.path);
  return keep_open(operation.target, *token);
}

Result<void> Follower::keep_open(const std::string& name, TokenId token) {
  if (open_.size() >= workload::kOpenFilesMost)
    return wrong(
        fmt::format("at most {} files can be open at the same time", workload::kOpenFilesMost));
  if (!open_.try_emplace({thread_, name}, token).second)
    return wrong(fmt::format("\"{}\" is already open", name));
  return {};
}

/// Opens a file without a name (O_TMPFILE). The token stands for a link that has no name. If the
/// file gets a name later, an fsync covers this name only if the file system promises that fsync
/// covers all links of a file.
Result<void> Follower::make_nameless(const std::string& open_as) {
  const TokenId token = new_object({.type = FileType::regular});
  history_.tokens[token].removed_by = index_;
  inherit_attributes(kRoot, token);
  claim(token, open_as);
  return keep_open(open_as, token);
}

/// Returns true if the file has lost its last name. Returns false for a file that was opened with
/// O_TMPFILE and never had a name.
bool Follower::has_lost_its_names(TokenId token) const {
  const ObjectHistory& object = history_.objects[history_.tokens[token].object];
  const auto had_a_name = [&](TokenId each) { return !history_.tokens[each].slots.empty(); };
  const auto has_one = [&](TokenId each) {
    return had_a_name(each) && !history_.tokens[each].removed_by;
  };
  return std::ranges::any_of(object.tokens, had_a_name) &&
         std::ranges::none_of(object.tokens, has_one);
}

Result<void> Follower::close(const workload::Operation& operation) {
  if (open_.erase({thread_, operation.path}) == 0)
    return wrong(fmt::format("there is no open file \"{}\"", operation.path));
  return {};
}

/// Returns the current path of the link, or an empty path if the link has been removed.
std::string Follower::path_now(TokenId token) const {
  std::string path;
  for (TokenId at = token;;) {
    if (history_.tokens[at].removed_by) return {};
    const auto& [directory, name] = history_.tokens[at].slots.back();
    if (!path.empty()) path.insert(0, "/");
    path.insert(0, name);
    if (directory == kRoot) return path;
    at = *token_of_[directory];
  }
}

Result<void> Follower::sync_file(const workload::Operation& operation) {
  if (workload::is_open_file(operation.path)) {
    const auto open = find_open(operation.path);
    if (open && object(*open).type == FileType::directory)
      return sync_directory(history_.tokens[*open].object, path_now(*open));
  }
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  if (!promises_.fsync_persists) return {};
  object(*token).data_covers.push_back({.operation = index_});
  if (operation.kind != workload::Operation::Kind::fdatasync)
    cover_attributes_and_names(*token, operation.path);
  return {};
}

/// Records that this operation covers the attributes of the object and, depending on the promises,
/// its names. `path` is a path or an open file.
void Follower::cover_attributes_and_names(TokenId token, const std::string& path) {
  object(token).attribute_covers.push_back({index_, CoverTier::posix});
  const std::string path_of_name = workload::is_open_file(path) ? path_now(token) : path;
  if (promises_.fsync_keeps_name) cover_path(path_of_name);
  if (promises_.fsync_keeps_new_name) cover_new_path(path_of_name);
  if (promises_.fsync_keeps_links) cover_links(history_.tokens[token].object);
}

/// Handles msync and sync_file_range. msync covers the data in the range, and promises that the
/// file extends at least to the end of the range. sync_file_range covers nothing.
Result<void> Follower::sync_range(const workload::Operation& operation) {
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  ObjectHistory& file = object(*token);
  const std::uint64_t end = operation.offset + operation.length;
  if (end > size(file) && !file.unclear)
    return wrong("a mapping cannot extend beyond the end of its file");
  accessed(file);
  if (!workload::is_persistence_point(operation) || !promises_.fsync_persists) return {};
  file.data_covers.push_back({.operation = index_,
                              .first = operation.offset / workload::kStampBytes,
                              .end = end / workload::kStampBytes,
                              .end_bytes = end});
  return {};
}

Result<void> Follower::sync_directory(const std::string& path) {
  const auto directory = find_directory(path);
  if (!directory) return wrong(fmt::format("there is no directory \"{}\"", path));
  return sync_directory(*directory, path);
}

/// Handles fsync of a directory. `path` is empty for the root and for a removed directory.
Result<void> Follower::sync_directory(ObjectId directory, const std::string& path) {
  if (!promises_.fsync_persists) return {};
  cover_entries(directory, CoverTier::posix);
  if (!owners_.is_foreign(directory))
    history_.objects[directory].attribute_covers.push_back({index_, CoverTier::posix});
  if (promises_.fsync_keeps_name) cover_path(path);
  if (promises_.fsync_keeps_new_name) cover_new_path(path);
  return {};
}

/// Records that this operation covers all entries of a directory, except entries that another
/// thread has changed since the last join. Such a change may have happened after the operation
/// began.
void Follower::cover_entries(ObjectId directory, CoverTier tier) {
  for (auto& [name, entry] : history_.objects[directory].entries) {
    if (!owners_.is_foreign(Ownership::Name(directory, name)))
      entry.covers.push_back({index_, tier});
  }
}

void Follower::sync_everything() {
  for (ObjectId id = 0; id < history_.objects.size(); ++id) {
    cover_entries(id, CoverTier::documented);
    if (owners_.is_foreign(id)) continue;
    history_.objects[id].data_covers.push_back(
        {.operation = index_, .tier = CoverTier::documented});
    history_.objects[id].attribute_covers.push_back({index_, CoverTier::documented});
  }
}

bool Follower::fsync_keeps(const SlotHistory& name) const {
  return promises_.fsync_keeps_exchanged_name || name.bindings.empty() ||
         !name.bindings.back().by_exchange;
}

/// Returns true if an fsync of an object below `directory` may leave the last rename of `directory`
/// unwritten. `named` is the operation that gave the object its current name. fsync writes a rename
/// after `named` only if the file system checks whether parents were moved
/// (fsync_keeps_moved_path). fsync writes an earlier rename only if the file system logs all
/// changes in order (fsync_keeps_renamed_parents).
bool Follower::fsync_leaves_out(const SlotHistory& directory, std::size_t named) const {
  const Binding& last = directory.bindings.back();
  const bool covered =
      !directory.covers.empty() && directory.covers.back().operation > last.operation;
  if (!last.by_rename || covered) return false;
  return last.operation > named ? !promises_.fsync_keeps_moved_path
                                : !promises_.fsync_keeps_renamed_parents;
}

/// Records that this fsync covers the names on the path, from the object upwards. Stops at the
/// first renamed directory whose new name fsync may leave unwritten, because fsync may then have
/// left the names above it unwritten, too.
void Follower::cover_path(const std::string& path) {
  std::optional<std::size_t> named;
  for (std::string rest = path; !rest.empty();) {
    const auto place = look_up(rest);
    if (!place || !place->token) return;
    SlotHistory& name = slot(*place);
    if (named && fsync_leaves_out(name, *named)) return;
    if (!named) named = name.bindings.back().operation;
    if (fsync_keeps(name)) name.covers.push_back({index_, CoverTier::documented});
    const std::size_t slash = rest.rfind('/');
    rest = slash == std::string::npos ? "" : rest.substr(0, slash);
  }
}

/// Records that this fsync covers the name of the object and the names of its parents. Does nothing
/// if any object on the path was moved or has several links, because it is unknown whether the file
/// system wrote the names above that object.
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
  for (SlotHistory* each : names) each->covers.push_back({index_, CoverTier::documented});
  for (ObjectHistory* each : parents) each->inode_covers.push_back(index_);
}

/// Records that this operation covers every current and former name of the file, except former
/// names that have been reused.
void Follower::cover_links(ObjectId id) {
  for (const TokenId token : history_.objects[id].tokens) {
    for (const auto& [directory, name] : history_.tokens[token].slots) {
      SlotHistory& entry = history_.objects[directory].entries[name];
      const Binding& last = entry.bindings.back();
      const bool here = last.token && history_.tokens[*last.token].object == id;
      const bool left = !last.token && entry.bindings.size() > 1 &&
                        history_.tokens[*std::prev(entry.bindings.end(), 2)->token].object == id;
      const bool covered = !entry.covers.empty() && entry.covers.back().operation == index_;
      if ((here || left) && !covered && fsync_keeps(entry))
        entry.covers.push_back({index_, CoverTier::documented});
    }
  }
}

}  // namespace headcrash::oracle
