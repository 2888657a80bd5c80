// Tracks the names and sizes in a list that is being created (draft.h). Keys are complete paths,
// because lists are short and have few directories. When a directory is renamed, all paths below it
// are renamed.
#include "harness/workload/draft.h"

#include <algorithm>

#include "harness/workload/operation_table.h"
#include "harness/workload/stamp.h"
#include "plugin/base/invariant.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

bool is_below(const std::string& path, const std::string& directory) {
  return path.starts_with(directory + "/");
}

}  // namespace

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::optional<std::size_t> Draft::find(const std::string& path) const {
  const auto& all = is_open_file(path) ? open_files_ : names_;
  const auto at = all.find(path);
  if (at == all.end()) return std::nullopt;
  return at->second;
}

std::optional<FileType> Draft::type(const std::string& path) const {
  if (path.empty()) return FileType::directory;
  const auto at = find(path);
  if (!at) return std::nullopt;
  return objects_[*at].type;
}

std::uint64_t Draft::size(const std::string& file) const {
  const auto at = find(file);
  return at ? objects_[*at].size : 0;
}

std::vector<std::string> Draft::children(const std::string& directory) const {
  std::vector<std::string> paths;
  for (const auto& [path, id] : names_) {
    if (parent_of(path) == directory) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> Draft::all(FileType type) const {
  std::vector<std::string> paths;
  for (const auto& [path, id] : names_) {
    if (objects_[id].type == type) paths.push_back(path);
  }
  return paths;
}

bool Draft::has_attribute(const std::string& path, const std::string& attribute) const {
  const Object& holder = path.empty() ? objects_[0] : object(path);
  return holder.attributes.contains(attribute);
}

bool Draft::same_object(const std::string& one, const std::string& other) const {
  return names_.at(one) == names_.at(other);
}

bool Draft::can_be_made(const std::string& path) const {
  return !path.empty() && !exists(path) && is(parent_of(path), FileType::directory);
}

bool Draft::can_be_renamed(const Operation& operation) const {
  const auto from = type(operation.path);
  const auto to = type(operation.target);
  if (!from || operation.path.empty() || operation.target.empty() ||
      operation.path == operation.target)
    return false;
  if (is_below(operation.target, operation.path) ||
      !is(parent_of(operation.target), FileType::directory))
    return false;
  if (operation.kind == Kind::rename_exchange)
    return to && !is_below(operation.path, operation.target) &&
           !same_object(operation.path, operation.target);
  if (!to) return true;
  if (operation.kind == Kind::rename_noreplace || same_object(operation.path, operation.target))
    return false;
  if (*from == FileType::directory)
    return *to == FileType::directory && children(operation.target).empty();
  return *to != FileType::directory;
}

/// Returns true if link() would succeed. link() fails for an open file that has no names left.
bool Draft::can_be_linked(const std::string& path) const {
  const auto id = find(path);
  if (!id || objects_[*id].type == FileType::directory) return false;
  return !objects_[*id].had_a_name ||
         std::ranges::any_of(names_, [&](const auto& name) { return name.second == *id; });
}

bool Draft::can_share(const Operation& operation) const {
  if (!is(operation.path, FileType::regular) || !is(operation.target, FileType::regular))
    return false;
  if (operation.offset + operation.length > size(operation.path)) return false;
  if (operation.kind == Kind::dedupe &&
      operation.target_offset + operation.length > size(operation.target))
    return false;
  const bool overlap = operation.offset < operation.target_offset + operation.length &&
                       operation.target_offset < operation.offset + operation.length;
  return !same_object(operation.path, operation.target) || !overlap;
}

bool Draft::possible(const Operation& operation) const {
  const std::string& path = operation.path;
  const bool is_file = is(path, FileType::regular), is_directory = is(path, FileType::directory);
  const bool file_or_directory = !path.empty() && (is_file || is_directory);
  const bool free_descriptor =
      !open_files_.contains(operation.target) && open_files_.size() < kOpenFilesMost;
  const std::uint64_t end = operation.offset + operation.length;
  switch (row_of(operation.kind).precondition) {
    case Precondition::nothing:
      return true;
    case Precondition::new_name:
      return can_be_made(path);
    case Precondition::file:
      return is_file;
    case Precondition::range_in_file:
      return is_file && end <= size(path);
    case Precondition::range_before_end:
      return is_file && end < size(path);
    case Precondition::offset_in_file:
      return is_file && operation.offset < size(path) &&
             size(path) + operation.length <= kLargestFileBytes;
    case Precondition::whole_stamps:
      return is_file && size(path) % kStampBytes == 0;
    case Precondition::two_ranges:
      return can_share(operation);
    case Precondition::file_or_directory:
      return file_or_directory;
    case Precondition::syncable:
      return is_file || (is_open_file(path) && is_directory);
    case Precondition::directory:
      return is_directory;
    case Precondition::empty_directory:
      return !path.empty() && is_directory && children(path).empty();
    case Precondition::no_directory:
      return exists(path) && !is_directory;
    case Precondition::linkable:
      return can_be_linked(path) && can_be_made(operation.target);
    case Precondition::rename:
      return can_be_renamed(operation);
    case Precondition::attribute_holder:
      return exists(path) && (is_file || is_directory);
    case Precondition::attribute:
      return exists(path) && has_attribute(path, operation.attribute);
    case Precondition::free_descriptor:
      return free_descriptor;
    case Precondition::file_to_open:
      return file_or_directory && free_descriptor;
    case Precondition::no_open_file:
      return open_files_.empty();
    case Precondition::subvolume_to_copy:
      return is_subvolume(path) && can_be_made(operation.target);
    case Precondition::subvolume_to_remove:
      return !path.empty() && is_subvolume(path) && !has_subvolumes(path);
  }
  return false;
}

void Draft::make(const std::string& path, FileType type) {
  objects_.push_back({.type = type});
  if (type == FileType::regular) objects_.back().number = next_file_++;
  names_[path] = objects_.size() - 1;
}

void Draft::move(const std::string& from, const std::string& to) {
  std::map<std::string, std::size_t> moved;
  for (auto at = names_.begin(); at != names_.end();) {
    const bool moves = at->first == from || is_below(at->first, from);
    if (moves) moved[to + at->first.substr(from.size())] = at->second;
    at = moves ? names_.erase(at) : std::next(at);
  }
  for (const auto& [path, id] : moved) names_[path] = id;
}

bool Draft::is_subvolume(const std::string& path) const {
  return path.empty() || (exists(path) && object(path).subvolume);
}

bool Draft::has_subvolumes(const std::string& path) const {
  return std::ranges::any_of(names_, [&](const auto& name) {
    return is_below(name.first, path) && objects_[name.second].subvolume;
  });
}

/// Copies a subvolume. If it contains a nested subvolume, the copy has an empty directory instead.
void Draft::copy(const std::string& from, const std::string& to) {
  const std::map<std::string, std::size_t> names = names_;
  make(to, FileType::directory);
  objects_.back().subvolume = true;
  // Maps each original to its copy, so that an object with two names is copied only once.
  std::map<std::size_t, std::size_t> copies;
  const auto in_another = [&](const std::string& path) {
    for (std::string above = parent_of(path); above != from && !above.empty();
         above = parent_of(above))
      if (objects_[names.at(above)].subvolume) return true;
    return false;
  };
  for (const auto& [path, id] : names) {
    const bool inside = from.empty() || is_below(path, from);
    if (!inside || in_another(path)) continue;
    if (!copies.contains(id)) {
      Object made = objects_[id];
      made.subvolume = false;
      if (made.type == FileType::regular) made.number = next_file_++;
      copies[id] = objects_.size();
      objects_.push_back(std::move(made));
    }
    names_[to + "/" + (from.empty() ? path : path.substr(from.size() + 1))] = copies[id];
  }
}

void Draft::exchange(const std::string& one, const std::string& other) {
  // A temporary name. No name in the list begins with '/', so this name is unique.
  const std::string aside = "/aside";
  move(one, aside);
  move(other, one);
  move(aside, other);
}

void Draft::apply(Operation& operation) {
  const auto found = find(operation.path);
  Object* file = found ? &objects_[*found] : nullptr;
  const std::uint64_t end = operation.offset + operation.length;
  if (is_write(operation.kind)) {
    if (operation.kind == Kind::append) operation.offset = file->size;
    operation.file = file->number;
    operation.version = next_version_++;
    file->size = std::max(file->size, operation.offset + operation.length);
    return;
  }
  switch (operation.kind) {
    case Kind::mkdir:
      return make(operation.path, FileType::directory);
    case Kind::subvolume:
      make(operation.path, FileType::directory);
      objects_.back().subvolume = true;
      return;
    case Kind::snapshot:
      return copy(operation.path, operation.target);
    case Kind::remove_subvolume:
      std::erase_if(names_, [&](const auto& name) {
        return name.first == operation.path || is_below(name.first, operation.path);
      });
      return;
    case Kind::create:
      return make(operation.path, FileType::regular);
    case Kind::symlink:
      return make(operation.path, FileType::symlink);
    case Kind::mknod:
      return make(operation.path, FileType::fifo);
    case Kind::tmpfile:
      objects_.push_back({.number = next_file_++, .had_a_name = false});
      open_files_[operation.target] = objects_.size() - 1;
      return;
    case Kind::rmdir:
    case Kind::unlink:
      names_.erase(operation.path);
      return;
    case Kind::link: {
      file->had_a_name = true;
      names_[operation.target] = *found;
      return;
    }
    case Kind::rename:
    case Kind::rename_noreplace:
      names_.erase(operation.target);
      return move(operation.path, operation.target);
    case Kind::rename_whiteout:
      names_.erase(operation.target);
      move(operation.path, operation.target);
      return make(operation.path, FileType::whiteout);
    case Kind::rename_exchange:
      return exchange(operation.path, operation.target);
    case Kind::truncate:
      file->size = operation.length;
      return;
    case Kind::open:
      open_files_[operation.target] = *found;
      return;
    case Kind::close:
      open_files_.erase(operation.path);
      return;
    case Kind::allocate:
    case Kind::zero:
      file->size = std::max(file->size, end);
      return;
    case Kind::collapse:
      file->size -= operation.length;
      return;
    case Kind::insert:
      file->size += operation.length;
      return;
    case Kind::clone: {
      Object& to = objects_[names_.at(operation.target)];
      to.size = std::max(to.size, operation.target_offset + operation.length);
      return;
    }
    case Kind::setxattr:
      (operation.path.empty() ? objects_[0] : *file).attributes.insert(operation.attribute);
      return;
    case Kind::removexattr:
      (operation.path.empty() ? objects_[0] : *file).attributes.erase(operation.attribute);
      return;
    default:
      return;
  }
}

void Draft::add(Operation operation) {
  invariant(possible(operation), "a generator must emit only possible operations");
  apply(operation);
  operations_.push_back(std::move(operation));
}

bool Draft::try_add(const Operation& operation) {
  if (!possible(operation)) return false;
  add(operation);
  return true;
}

bool Draft::try_add(const std::string& line) {
  return try_add(parse_operation(line, "workload generator").value());
}

}  // namespace headcrash::workload
