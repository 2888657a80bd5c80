// Handles subvolumes and snapshots (follower.h). A snapshot is a copy of a subvolume. In the
// oracle's history, the operation adds the names of this copy one by one. Parts of a snapshot may
// therefore be missing until the snapshot is persistent.
#include <fmt/format.h>

#include <utility>

#include "harness/oracle/follower.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

template <typename States>
void keep_last(const States& states, States& copy, std::size_t operation) {
  if (!states.empty()) copy.emplace_back(operation, states.back().second);
}

}  // namespace

/// Copies the current state of an object. The copy gets its own stamp number when it is first
/// written.
ObjectHistory Follower::copy_of(const ObjectHistory& object) {
  ObjectHistory copy{.type = object.type, .link_target = object.link_target};
  keep_last(object.modes, copy.modes, index_);
  keep_last(object.owners, copy.owners, index_);
  keep_last(object.flags, copy.flags, index_);
  keep_last(object.projects, copy.projects, index_);
  keep_last(object.times, copy.times, index_);
  for (const auto& [name, states] : object.attributes)
    keep_last(states, copy.attributes[name], index_);
  if (object.type != FileType::regular) return copy;
  copy.unclear = object.unclear;
  copy.shared_files = object.shared_files;
  if (object.file != 0) copy.shared_files.insert(object.file);
  const std::uint64_t bytes = size(object);
  put(copy, content_now(object, 0, (bytes + workload::kStampBytes - 1) / workload::kStampBytes), 0,
      false);
  resize(copy, bytes);
  return copy;
}

/// Copies the entries of a directory. If an entry is a nested subvolume, the snapshot has an empty
/// directory instead.
void Follower::copy_entries(ObjectId from, ObjectId to,
                            const std::map<std::string, TokenId>& entries, const std::string& path,
                            std::map<ObjectId, ObjectId>& copies) {
  need(owners_.claim(from), path);
  for (const auto& [name, token] : entries) {
    const ObjectId object = history_.tokens[token].object;
    const auto known = copies.find(object);
    const TokenId made = known == copies.end() ? new_object(copy_of(history_.objects[object]))
                                               : new_token(known->second);
    const ObjectId copy = history_.tokens[made].object;
    copies[object] = copy;
    const std::string at = fmt::format("{}/{}", path, name);
    bind({to, name, std::nullopt}, at, made);
    const bool enters =
        history_.objects[object].type == FileType::directory && !history_.objects[object].subvolume;
    if (enters) copy_entries(object, copy, std::map(live_[object]), at, copies);
  }
}

Result<void> Follower::snapshot(const workload::Operation& operation) {
  const auto from = find_directory(operation.path);
  const auto place = look_up(operation.target);
  if (!from) return missing(operation.path);
  if (*from != kRoot && !history_.objects[*from].subvolume)
    return wrong(fmt::format("\"{}\" is not a subvolume", operation.path));
  if (!place || place->token)
    return wrong(fmt::format("\"{}\" already exists, or its parent directory does not exist",
                             operation.target));
  const std::map<std::string, TokenId> entries = live_[*from];
  const TokenId made = new_object({.type = FileType::directory, .subvolume = true});
  bind(*place, operation.target, made);
  std::map<ObjectId, ObjectId> copies;
  copy_entries(*from, history_.tokens[made].object, entries, operation.target, copies);
  return {};
}

bool Follower::has_subvolumes(ObjectId directory) const {
  for (const auto& [name, token] : live_[directory]) {
    const ObjectId object = history_.tokens[token].object;
    if (history_.objects[object].subvolume) return true;
    if (history_.objects[object].type == FileType::directory && has_subvolumes(object)) return true;
  }
  return false;
}

void Follower::remove_entries(ObjectId directory, const std::string& path) {
  for (const auto& [name, token] : std::map(live_[directory])) {
    const std::string at = fmt::format("{}/{}", path, name);
    const ObjectId object = history_.tokens[token].object;
    if (history_.objects[object].type == FileType::directory) remove_entries(object, at);
    history_.tokens[token].removed_by = index_;
    bind({directory, name, token}, at, std::nullopt);
  }
}

Result<void> Follower::remove_subvolume(const std::string& path) {
  const auto place = look_up(path);
  if (!place || !place->token) return missing(path);
  const ObjectId object = history_.tokens[*place->token].object;
  if (!history_.objects[object].subvolume)
    return wrong(fmt::format("\"{}\" is not a subvolume", path));
  if (has_subvolumes(object))
    return wrong(fmt::format("\"{}\" cannot be deleted, because it contains subvolumes", path));
  remove_entries(object, path);
  history_.tokens[*place->token].removed_by = index_;
  bind(*place, path, std::nullopt);
  return {};
}

}  // namespace headcrash::oracle
