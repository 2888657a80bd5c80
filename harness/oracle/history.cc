// Records the changes that each operation makes (follower.h).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/oracle/follower.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

using workload::kStampBytes;
using workload::Operation;
using Kind = Operation::Kind;

}  // namespace

Result<void> Follower::make(const std::string& path, ObjectHistory fresh) {
  const auto place = look_up(path);
  if (!place) return wrong(fmt::format("the parent directory of \"{}\" does not exist", path));
  if (place->token) return wrong(fmt::format("\"{}\" already exists", path));
  const TokenId token = new_object(std::move(fresh));
  inherit_attributes(place->directory, token);
  bind(*place, path, token);
  return {};
}

TokenId Follower::new_object(ObjectHistory fresh) {
  fresh.made_by = index_;
  set_created(fresh);
  history_.objects.push_back(std::move(fresh));
  live_.emplace_back();
  const TokenId token = new_token(history_.objects.size() - 1);
  token_of_.push_back(token);
  return token;
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
  const bool open = workload::is_open_file(operation.path);
  const auto existing = open ? find_file(operation.path) : find(operation.path);
  const auto place = look_up(operation.target);
  if (!existing) return missing(operation.path);
  if (open && has_lost_its_names(*existing))
    return wrong(fmt::format("the open file \"{}\" no longer has a name, so it cannot be linked",
                             operation.path));
  if (object(*existing).type == FileType::directory)
    return wrong("a directory can have only one name");
  if (!place || place->token)
    return wrong(fmt::format("\"{}\" already exists, or its parent directory does not exist",
                             operation.target));
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
  if (!to)
    return wrong(fmt::format("the parent directory of \"{}\" does not exist", operation.target));
  const ObjectId moved = history_.tokens[*from->token].object;
  const bool directory = history_.objects[moved].type == FileType::directory;
  if (directory && lies_below(to->directory, moved))
    return wrong("a directory cannot be moved into itself");
  if (to->token) {
    if (operation.kind == Kind::rename_noreplace)
      return wrong(fmt::format("\"{}\" already exists", operation.target));
    // According to POSIX, rename() has no effect if both names are links to the same file.
    if (history_.tokens[*to->token].object == moved) return {};
    const bool onto_directory = object(*to->token).type == FileType::directory;
    if (directory != onto_directory || (directory && !empty(*to->token)))
      return wrong(fmt::format("\"{}\" has another type, or is a directory that is not empty",
                               operation.target));
    history_.tokens[*to->token].removed_by = index_;
  }
  std::optional<TokenId> left;
  if (operation.kind == Kind::rename_whiteout) left = new_object({.type = FileType::whiteout});
  bind(*from, operation.path, left, true);
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
    return wrong("a directory cannot be moved into itself");
  if (history_.tokens[*one->token].object == history_.tokens[*other->token].object) return {};
  bind(*one, operation.path, other->token, true);
  bind(*other, operation.target, one->token, true);
  slot(*one).bindings.back().by_exchange = slot(*other).bindings.back().by_exchange = true;
  slot(*one).bindings.back().had_third_name = true;
  return {};
}

Result<void> Follower::write(const Operation& operation) {
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  ObjectHistory& file = object(*token);
  // Because an earlier operation was skipped, the name may refer to another file, or the size of
  // the file may differ from what the list assumes.
  const bool other_file = file.file != 0 && file.file != operation.file;
  const bool other_end = operation.kind == Kind::append && operation.offset != size(file);
  file.unclear |= disturbed_ && (other_file || other_end);
  if (other_file && !file.unclear)
    return wrong("the list uses two different file numbers for this file");
  if (other_end && !file.unclear)
    return wrong(fmt::format("the append is at offset {}, but the file has {} bytes",
                             operation.offset, size(file)));
  file.file = operation.file;
  const std::uint64_t end = operation.offset + operation.length;
  const bool mapped = operation.kind == Kind::write_mapped || operation.kind == Kind::store;
  if (mapped) accessed(file);
  if (mapped && end > size(file) && !file.unclear)
    return wrong("a write through a mapping cannot extend a file");
  const std::uint64_t first_block = operation.offset / kStampBytes;
  const std::uint64_t end_block = (end + kStampBytes - 1) / kStampBytes;
  write_bytes(file, operation);
  resize(file, std::max(size(file), end));
  modified(file);
  if (workload::is_persistence_point(operation) && promises_.fsync_persists)
    file.data_covers.push_back({index_, CoverTier::posix, first_block, end_block, end});
  if (operation.kind == Kind::write_sync && promises_.fsync_persists)
    cover_attributes_and_names(*token, operation.path);
  return {};
}

/// Splits a write into a partial first block and the remaining blocks. If the write omits only the
/// first byte of the first block, treats this block as fully written, because the first byte of
/// every stamp is zero.
void Follower::write_bytes(ObjectHistory& file, const Operation& operation) {
  const std::uint64_t end = operation.offset + operation.length;
  const std::uint64_t end_block = (end + kStampBytes - 1) / kStampBytes;
  std::uint64_t first_block = operation.offset / kStampBytes;
  const auto begins = static_cast<std::uint32_t>(operation.offset % kStampBytes);
  if (begins > 1) {
    BlockEvent event{index_, BlockEvent::Kind::patch, first_block, first_block + 1,
                     operation.version};
    event.file = operation.file;
    event.hole = {begins, static_cast<std::uint32_t>(std::min<std::uint64_t>(
                              end - first_block * kStampBytes, kStampBytes))};
    file.blocks.push_back(event);
    ++first_block;
  }
  if (first_block >= end_block) return;
  const auto last_bytes = static_cast<std::uint32_t>(end - (end_block - 1) * kStampBytes);
  file.blocks.push_back({index_, BlockEvent::Kind::stamp, first_block, end_block, operation.version,
                         last_bytes, operation.file});
}

Result<void> Follower::truncate(const Operation& operation) {
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  ObjectHistory& file = object(*token);
  file.truncations.emplace_back(index_, std::min(operation.length, size(file)) / kStampBytes);
  if (operation.length < size(file)) {
    const std::uint64_t kept = operation.length / kStampBytes;
    const auto rest = static_cast<std::uint32_t>(operation.length % kStampBytes);
    if (rest != 0) file.blocks.push_back({index_, BlockEvent::Kind::trim, kept, kept + 1, 0, rest});
    file.blocks.push_back({index_, BlockEvent::Kind::zero, kept + (rest != 0 ? 1 : 0), kEndless});
  }
  resize(file, operation.length);
  modified(file);
  return {};
}

/// Zeroes a range: all blocks that are entirely in the range, and parts of the blocks at its ends.
void Follower::zero_bytes(ObjectHistory& file, std::uint64_t first, std::uint64_t end) {
  const std::uint64_t whole = (first + kStampBytes - 1) / kStampBytes,
                      whole_end = end / kStampBytes;
  if (whole < whole_end) file.blocks.push_back({index_, BlockEvent::Kind::zero, whole, whole_end});
  const auto part = [&](std::uint64_t block) {
    const std::uint64_t start = block * kStampBytes;
    const std::uint64_t from = std::max(first, start) - start;
    const std::uint64_t to = std::min(end, start + kStampBytes) - start;
    if (from >= to || (from == 0 && to == kStampBytes)) return;
    BlockEvent event{index_, BlockEvent::Kind::hole, block, block + 1};
    event.hole = {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)};
    file.blocks.push_back(event);
  };
  const std::uint64_t first_block = first / kStampBytes;
  part(first_block);
  if (whole_end != first_block) part(whole_end);
}

/// Handles all modes of fallocate(2).
Result<void> Follower::reshape(const Operation& operation) {
  const auto token = find_file(operation.path);
  if (!token) return wrong(fmt::format("there is no file \"{}\"", operation.path));
  ObjectHistory& file = object(*token);
  const std::uint64_t end = operation.offset + operation.length;
  const bool zeroes = operation.kind == Kind::punch || operation.kind == Kind::zero ||
                      operation.kind == Kind::zero_keep;
  if (zeroes) zero_bytes(file, operation.offset, end);
  if (operation.kind != Kind::punch)
    file.allocations.push_back(
        {index_, operation.offset / kStampBytes, (end + kStampBytes - 1) / kStampBytes, !zeroes});
  history_.judged.allocation |= !zeroes;
  if (operation.kind == Kind::allocate || operation.kind == Kind::zero)
    resize(file, std::max(size(file), end));
  modified(file);
  return {};
}

/// Handles chmod, chown, flags, project, touch and access.
Result<void> Follower::change_inode(const Operation& operation) {
  const auto token = find(operation.path);
  if (!token) return missing(operation.path);
  ObjectHistory& of = object(*token);
  const bool file = of.type == FileType::regular;
  // A dump reads directories, and thereby changes their atime.
  const bool of_files = operation.kind == Kind::access;
  if (!file && (of.type != FileType::directory || of_files))
    return wrong(
        fmt::format("\"{}\" is not a file{}", operation.path, of_files ? "" : " or directory"));
  need(owners_.claim(history_.tokens[*token].object), operation.path);
  Aspects& judged = history_.judged;
  if (operation.kind == Kind::chmod) {
    set_mode(of, operation.mode);
    change_access_list(of, operation.mode);
  } else if (operation.kind == Kind::chown) {
    lose_capability(of);
    set_owner(of, operation.user, operation.group);
  } else if (operation.kind == Kind::flags) {
    of.flags.emplace_back(index_, operation.flags);
    judged.flags = true;
  } else if (operation.kind == Kind::project) {
    of.projects.emplace_back(index_, operation.project);
    judged.projects = true;
  } else if (operation.kind == Kind::access) {
    of.accesses.emplace_back(index_, operation.seconds);
  } else {
    of.times.emplace_back(index_, operation.seconds);
    judged.times = true;
  }
  return {};
}

Result<void> Follower::step(const Operation& operation) {
  begin(operation, false);
  TRY(act(operation));
  if (!conflict_) return {};
  return fail(
      subject(),
      fmt::format("another thread has used \"{}\" or a directory on its path since the last join",
                  *conflict_),
      "use separate files and names for each thread, or add a join between the operations");
}

Result<void> Follower::act(const Operation& operation) {
  if (workload::is_write(operation.kind)) return write(operation);
  switch (operation.kind) {
    case Kind::mkdir:
      return make(operation.path, {.type = FileType::directory});
    case Kind::subvolume:
      return make(operation.path, {.type = FileType::directory, .subvolume = true});
    case Kind::snapshot:
      return snapshot(operation);
    case Kind::remove_subvolume:
      return remove_subvolume(operation.path);
    case Kind::create:
      return make(operation.path, {.type = FileType::regular});
    case Kind::mknod:
      return make(operation.path, {.type = FileType::fifo});
    case Kind::tmpfile:
      return make_nameless(operation.target);
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
    case Kind::rename_whiteout:
      return rename(operation);
    case Kind::rename_exchange:
      return exchange(operation);
    case Kind::truncate:
      return truncate(operation);
    case Kind::collapse:
    case Kind::insert:
      return move_blocks(operation);
    case Kind::clone:
    case Kind::dedupe:
      return share(operation);
    case Kind::setxattr:
    case Kind::removexattr:
      return change_attribute(operation);
    case Kind::chmod:
    case Kind::chown:
    case Kind::flags:
    case Kind::project:
    case Kind::touch:
    case Kind::access:
      return change_inode(operation);
    case Kind::fsync:
    case Kind::fdatasync:
      return sync_file(operation);
    case Kind::msync:
    case Kind::sync_range:
      return sync_range(operation);
    case Kind::fsync_directory:
      return workload::is_open_file(operation.path) ? sync_file(operation)
                                                    : sync_directory(operation.path);
    case Kind::sync:
    case Kind::syncfs:
      if (promises_.sync_waits) sync_everything();
      return {};
    case Kind::rest:
      if (promises_.keeps_rested(operation.seconds)) sync_everything();
      return {};
    case Kind::remount:
    case Kind::remount_read_only:
    case Kind::freeze:
      sync_everything();
      return {};
    case Kind::evict:
    case Kind::
        // If the executor can cut the power, the list ends here, and the operations after the crash
        // have a separate history. Otherwise, the executor skips the crash.
        crash:
      return {};
    case Kind::join:
      owners_.join();
      return {};
    case Kind::begin:
    case Kind::commit:
      return {};
    case Kind::open:
      return open(operation);
    case Kind::close:
      return close(operation);
    default:
      return reshape(operation);
  }
}

Result<WorkloadHistory> follow_operations(
    std::span<const Operation> operations, const adapters::Promises& promises,
    std::span<const workload::FailedOperation> failed_operations,
    std::span<const std::string> subjects) {
  if (const auto problem = workload::problem_with_remounts(operations))
    return fail("the workload", *problem);
  Follower follower(promises, subjects);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto failed =
        std::find_if(failed_operations.begin(), failed_operations.end(),
                     [&](const workload::FailedOperation& each) { return each.operation == i; });
    if (failed != failed_operations.end()) {
      follower.step_over(operations[i], failed->outcome);
      continue;
    }
    TRY(follower.step(operations[i]));
  }
  return follower.take();
}

}  // namespace headcrash::oracle
