// Simulates a file system that loses everything that it has not promised to keep
// (reference_model.h).
#include "harness/oracle/testing/reference_model.h"

#include <algorithm>
#include <array>

#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

using workload::kStampBytes;
using workload::Operation;
using Kind = Operation::Kind;

bool by_chance(std::mt19937_64& random, unsigned percent) {
  return random() % 100 < percent;
}

bool changes_blocks(const Operation& operation) {
  return workload::is_write(operation.kind) || operation.kind == Kind::truncate ||
         operation.kind == Kind::punch || operation.kind == Kind::zero ||
         operation.kind == Kind::zero_keep;
}

bool is_shared_into(const Operation& operation, std::uint64_t block) {
  return operation.kind == Kind::clone && block >= operation.target_offset / kStampBytes &&
         block < (operation.target_offset + operation.length) / kStampBytes;
}

bool is_of_all(const Operation& operation) {
  switch (operation.kind) {
    case Kind::sync:
    case Kind::syncfs:
    case Kind::remount:
    case Kind::remount_read_only:
    case Kind::freeze:
    case Kind::rest:
      return true;
    default:
      return false;
  }
}

/// Returns true if the persistence point covers only a range of a file.
bool is_of_a_range(const Operation& operation) {
  return workload::is_write(operation.kind) || operation.kind == Kind::msync;
}

/// Returns true if the persistence point covers the attributes and names of a file.
bool keeps_inode(const Operation& operation) {
  return operation.kind == Kind::fsync || operation.kind == Kind::write_sync;
}

bool changes_content(const Operation& operation) {
  return changes_blocks(operation) || workload::moves_blocks(operation.kind) ||
         operation.kind == Kind::clone;
}

/// Returns the position that the block had before an operation that moves blocks. Returns nullopt
/// if the block is in a hole that the operation has inserted.
std::optional<std::uint64_t> moved_from(const Operation& operation, std::uint64_t block) {
  const std::uint64_t first = operation.offset / kStampBytes,
                      blocks = operation.length / kStampBytes;
  if (block < first) return block;
  if (operation.kind == Kind::collapse) return block + blocks;
  if (block < first + blocks) return std::nullopt;
  return block - blocks;
}

/// Returns the file size after the operation; `size` is the size before it.
std::uint64_t resized(const Operation& operation, std::uint64_t size) {
  if (operation.kind == Kind::collapse) return size - operation.length;
  if (operation.kind == Kind::insert) return size + operation.length;
  if (operation.kind == Kind::clone)
    return std::max(size, operation.target_offset + operation.length);
  if (operation.kind == Kind::truncate) return operation.length;
  const bool extends = workload::is_write(operation.kind) || operation.kind == Kind::allocate ||
                       operation.kind == Kind::zero;
  return extends ? std::max(size, operation.offset + operation.length) : size;
}

/// Applies the operation to the contents of a block. If the write is torn, only the first `tear`
/// bytes change.
void apply_to_block(const Operation& operation, std::uint64_t block, std::size_t tear,
                    std::vector<std::byte>& bytes) {
  const std::uint64_t start = block * kStampBytes, end = start + kStampBytes;
  if (operation.kind == Kind::truncate) {
    const std::uint64_t from = std::clamp(operation.length, start, end);
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from - start), bytes.end(), std::byte{0});
    return;
  }
  const std::uint64_t from = std::max(start, operation.offset);
  const std::uint64_t to = std::min(end, operation.offset + operation.length);
  if (from >= to) return;
  std::vector<std::byte> fresh(kStampBytes);
  if (workload::is_write(operation.kind))
    workload::write_stamp({operation.file, operation.version, block}, fresh);
  const std::size_t length = std::min<std::size_t>(to - from, tear);
  const auto at = static_cast<std::ptrdiff_t>(from - start);
  std::copy_n(fresh.begin() + at, length, bytes.begin() + at);
}

bool touches(const Operation& operation, std::uint64_t block) {
  return operation.offset < (block + 1) * kStampBytes &&
         operation.offset + operation.length > block * kStampBytes;
}

bool is_fallocate(const Operation& operation) {
  return operation.kind == Kind::allocate || operation.kind == Kind::allocate_keep;
}

/// Applies an operation to `room`, the indices of the file's allocated blocks of kStampBytes.
/// `size` is the file size in bytes before the operation.
void apply_to_room(const Operation& operation, std::uint64_t size, std::set<std::uint64_t>& room) {
  const std::uint64_t end = operation.offset + operation.length;
  if (is_fallocate(operation) || workload::is_write(operation.kind))
    for (std::uint64_t block = operation.offset / kStampBytes; block * kStampBytes < end; ++block)
      room.insert(block);
  const bool cuts = operation.kind == Kind::truncate;
  std::erase_if(room, [&](std::uint64_t block) {
    const std::uint64_t start = block * kStampBytes;
    if (workload::moves_blocks(operation.kind)) return start >= operation.offset;
    if (operation.kind == Kind::clone) return is_shared_into(operation, block);
    if (cuts) return start >= std::min(operation.length, size);
    return changes_blocks(operation) && !workload::is_write(operation.kind) &&
           start >= operation.offset && start + kStampBytes <= end;
  });
}

ContentRun run_of(std::span<const std::byte> bytes, std::uint64_t block) {
  ContentRun run{.first_block = block, .blocks = 1};
  const workload::BlockContent content = workload::read_stamp(bytes);
  if (const auto* stamp = std::get_if<workload::Stamp>(&content)) {
    run.kind = stamp->block == block ? ContentRun::Kind::stamp : ContentRun::Kind::moved;
    run.file = stamp->file;
    run.version = stamp->version;
    run.stamped_block = stamp->block;
  } else if (std::holds_alternative<workload::BeforeMkfs>(content)) {
    run.kind = ContentRun::Kind::before_mkfs;
  } else if (std::holds_alternative<workload::Foreign>(content)) {
    run.kind = ContentRun::Kind::foreign;
    run.head.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min<std::size_t>(32, bytes.size())));
    run.digest = workload::block_digest(bytes);
  }
  return run;
}

}  // namespace

ReferenceModel::ReferenceModel(std::span<const Operation> operations,
                               const adapters::Promises& promises)
    : operations_(operations.begin(), operations.end()), promises_(promises) {
  files_[0] = {.type = FileType::directory};
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    learn(i, operations_[i]);
    if (is_kept_by(operations_[i])) learn_persistence(i, operations_[i]);
  }
}

/// Returns true if, on this file system, the changes that the operation covers become persistent.
bool ReferenceModel::is_kept_by(const Operation& operation) const {
  if (!workload::is_persistence_point(operation)) return false;
  if (operation.kind == Kind::rest) return promises_.keeps_rested(operation.seconds);
  return promises_.fsync_persists || is_of_all(operation);
}

std::optional<ReferenceModel::FileId> ReferenceModel::resolve(const std::string& path) const {
  FileId at = 0;
  std::size_t start = 0;
  while (start < path.size()) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const auto next = live_.find({at, path.substr(start, end - start)});
    if (next == live_.end()) return std::nullopt;
    at = next->second;
    start = end + 1;
  }
  return at;
}

ReferenceModel::Slot ReferenceModel::slot_of(const std::string& path) const {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {0, path};
  return {resolve(path.substr(0, slash)).value(), path.substr(slash + 1)};
}

void ReferenceModel::bind(NameOperation& about, const std::string& path,
                          std::optional<FileId> file) {
  const Slot slot = slot_of(path);
  about.changes.emplace_back(slot, file);
  about.needs.push_back(slot.first);
  if (file) about.needs.push_back(*file);
}

void ReferenceModel::learn(std::size_t index, const Operation& operation) {
  NameOperation about{.operation = index,
                      .changes = {},
                      .needs = {},
                      .about = {},
                      .emptied = {},
                      .exchange = false};
  switch (operation.kind) {
    case Kind::mkdir:
    case Kind::create:
    case Kind::mknod:
    case Kind::symlink:
      files_[index + 1] = {.type = operation.kind == Kind::mkdir    ? FileType::directory
                                   : operation.kind == Kind::create ? FileType::regular
                                   : operation.kind == Kind::mknod  ? FileType::fifo
                                                                    : FileType::symlink,
                           .target = operation.target,
                           .operations = {},
                           .attributes = {}};
      about.about = index + 1;
      bind(about, operation.path, index + 1);
      about.needs.pop_back();
      break;
    case Kind::rmdir:
      about.emptied = resolve(operation.path);
      [[fallthrough]];
    case Kind::unlink:
      about.about = resolve(operation.path);
      bind(about, operation.path, std::nullopt);
      break;
    case Kind::link:
      about.about = resolve(operation.path);
      bind(about, operation.target, about.about);
      break;
    case Kind::rename:
    case Kind::rename_noreplace:
    case Kind::rename_whiteout: {
      about.about = resolve(operation.path);
      const auto replaced = resolve(operation.target);
      if (replaced == about.about) return;
      if (replaced && files_[*replaced].type == FileType::directory) about.emptied = replaced;
      if (operation.kind == Kind::rename_whiteout) {
        files_[index + 1].type = FileType::whiteout;
        bind(about, operation.path, index + 1);
        about.needs.pop_back();
      } else {
        bind(about, operation.path, std::nullopt);
      }
      bind(about, operation.target, about.about);
      break;
    }
    case Kind::rename_exchange: {
      const auto one = resolve(operation.path), other = resolve(operation.target);
      about.about = one;
      bind(about, operation.path, other);
      bind(about, operation.target, one);
      about.exchange = true;
      break;
    }
    case Kind::setxattr:
    case Kind::removexattr:
      files_[*resolve(operation.path)].attributes.insert(operation.attribute);
      files_[*resolve(operation.path)].operations.push_back(index);
      return;
    case Kind::clone:  // refers to the file that the operation changes
      files_[*resolve(operation.target)].operations.push_back(index);
      sources_[index] = *resolve(operation.path);
      return;
    case Kind::dedupe:
      return;
    default:
      if (!operation.path.empty() && resolve(operation.path))
        files_[*resolve(operation.path)].operations.push_back(index);
      return;
  }
  for (const auto& [slot, file] : about.changes) {
    if (file) {
      live_[slot] = *file;
    } else {
      live_.erase(slot);
    }
  }
  name_operations_.push_back(std::move(about));
}

void ReferenceModel::learn_persistence(std::size_t index, const Operation& operation) {
  Persistence point{.operation = index, .file = {}, .directory = {}, .slots = {}, .links_of = {}};
  if (is_of_all(operation)) {
    point.everything = true;
  } else if (operation.kind == Kind::fsync_directory) {
    point.directory = point.file = resolve(operation.path);
  } else {
    point.file = resolve(operation.path);
    point.data_only = !keeps_inode(operation);
    if (!point.data_only && promises_.fsync_keeps_links) point.links_of = point.file;
  }
  const bool full = keeps_inode(operation) || operation.kind == Kind::fsync_directory;
  if (full && promises_.fsync_keeps_name) {
    for (std::string path = operation.path; !path.empty();
         path = path.substr(0, path.find('/') == std::string::npos ? 0 : path.rfind('/')))
      point.slots.push_back(slot_of(path));
  }
  if (full && promises_.fsync_keeps_new_name) {
    for (const Slot& slot : new_path(operation.path)) point.slots.push_back(slot);
  }
  persistence_.push_back(std::move(point));
}

/// Returns the names on the path if none of them has ever changed; otherwise, an empty list.
std::vector<ReferenceModel::Slot> ReferenceModel::new_path(const std::string& path) const {
  std::vector<Slot> slots;
  for (std::string rest = path; !rest.empty();
       rest = rest.find('/') == std::string::npos ? "" : rest.substr(0, rest.rfind('/'))) {
    const auto file = resolve(rest);
    std::size_t names = 0;
    for (const NameOperation& each : name_operations_) {
      for (const auto& [slot, there] : each.changes) names += there == file ? 1 : 0;
    }
    if (names != 1) break;
    slots.push_back(slot_of(rest));
  }
  return slots;
}

bool ReferenceModel::was_persisted(FileId file, const Cut& cut,
                                   const std::function<bool(const Persistence&)>& fits) const {
  return cut.persisted &&
         std::any_of(persistence_.begin(), persistence_.end(), [&](const Persistence& point) {
           // The number of a file is 1 + the index of the operation that created it.
           const bool made_before = file <= point.operation;
           return point.operation <= *cut.persisted && made_before && fits(point);
         });
}

/// Simulates unordered writes of names. A name that is being changed may be missing, or may refer
/// to another file.
void ReferenceModel::disorder(const std::set<std::size_t>& required, const Cut& cut,
                              std::mt19937_64& random, std::map<Slot, FileId>& names) const {
  std::vector<FileId> regular;
  for (const auto& [slot, file] : names) {
    if (files_.at(file).type == FileType::regular) regular.push_back(file);
  }
  std::erase_if(names, [&](const auto& name) {
    const FileId file = name.second;
    const bool synced = was_persisted(file, cut, [&](const Persistence& point) {
      return point.everything || point.file == file ||
             std::find(point.slots.begin(), point.slots.end(), name.first) != point.slots.end();
    });
    return !synced && by_chance(random, 30);
  });
  const std::set<Slot> sure = names_of_new_synced_files(required, cut);
  for (std::size_t i = 0; i < name_operations_.size(); ++i) {
    if (required.contains(i) || name_operations_[i].operation > cut.reached) continue;
    for (const auto& [slot, file] : name_operations_[i].changes) {
      if (by_chance(random, 30)) names.erase(slot);
      if (by_chance(random, 20) && !regular.empty() && !sure.contains(slot))
        names[slot] = regular[random() % regular.size()];
    }
  }
}

/// Returns the names of files that were created and synced. The inode of such a file cannot belong
/// to another file.
std::set<ReferenceModel::Slot> ReferenceModel::names_of_new_synced_files(
    const std::set<std::size_t>& required, const Cut& cut) const {
  const auto synced = [&](FileId file) {
    return was_persisted(file, cut, [&](const Persistence& point) {
      return point.everything || point.file == file;
    });
  };
  std::map<Slot, int> changes;
  std::set<Slot> made;
  for (std::size_t i = 0; i < name_operations_.size(); ++i) {
    const NameOperation& each = name_operations_[i];
    if (required.contains(i) || each.operation > cut.reached) continue;
    for (const auto& [slot, file] : each.changes) {
      ++changes[slot];
      if (each.changes.size() == 1 && file && files_.at(*file).type == FileType::regular &&
          synced(*file))
        made.insert(slot);
    }
  }
  const std::map<Slot, FileId> before = names_after(required);
  std::erase_if(made,
                [&](const Slot& slot) { return changes.at(slot) > 1 || before.contains(slot); });
  return made;
}

std::set<std::size_t> ReferenceModel::required(const Cut& cut) const {
  std::set<std::size_t> kept;
  for (const Persistence& point : persistence_) {
    if (!cut.persisted || point.operation > *cut.persisted) break;
    for (std::size_t i = 0; i < name_operations_.size(); ++i) {
      const NameOperation& about = name_operations_[i];
      if (about.operation > point.operation) break;
      bool needed = point.everything || (point.links_of && about.about == point.links_of);
      for (const auto& [slot, file] : about.changes) {
        needed |= point.directory == slot.first;
        needed |= std::find(point.slots.begin(), point.slots.end(), slot) != point.slots.end();
      }
      if (needed) kept.insert(i);
    }
  }
  close(kept);
  return kept;
}

void ReferenceModel::close(std::set<std::size_t>& kept) const {
  if (kept.empty()) return;
  for (std::size_t i = *kept.rbegin() + 1; i-- > 0;) {
    if (!kept.contains(i)) continue;
    const NameOperation& later = name_operations_[i];
    for (std::size_t j = 0; j < i; ++j) {
      const NameOperation& earlier = name_operations_[j];
      bool needed = false;
      for (const auto& [slot, file] : earlier.changes) {
        for (const auto& [other, there] : later.changes) needed |= slot == other;
        needed |= later.emptied == slot.first;
      }
      for (const FileId file : later.needs) needed |= file == earlier.operation + 1;
      if (needed) kept.insert(j);
    }
  }
}

std::map<ReferenceModel::Slot, ReferenceModel::FileId> ReferenceModel::names_after(
    const std::set<std::size_t>& kept) const {
  std::map<Slot, FileId> names;
  for (const std::size_t i : kept) {
    for (const auto& [slot, file] : name_operations_[i].changes) {
      names.erase(slot);
      if (file) names[slot] = *file;
    }
  }
  return names;
}

bool ReferenceModel::covers(const Persistence& point, FileId file,
                            std::optional<std::uint64_t> block) const {
  if (point.everything) return true;
  if (point.file != file) return false;
  const Operation& operation = operations_[point.operation];
  if (!is_of_a_range(operation)) return true;
  return block && *block >= operation.offset / kStampBytes &&
         *block * kStampBytes < operation.offset + operation.length;
}

std::optional<std::size_t> ReferenceModel::covered_until(FileId file,
                                                         std::optional<std::uint64_t> block,
                                                         const Cut& cut, bool attributes) const {
  std::optional<std::size_t> until;
  for (const Persistence& point : persistence_) {
    if (!cut.persisted || point.operation > *cut.persisted) break;
    if (attributes && point.data_only) continue;
    if (covers(point, file, block) || (attributes && point.file == file)) until = point.operation;
  }
  return until;
}

std::uint64_t ReferenceModel::size_after(FileId file, const Cut& cut,
                                         std::mt19937_64& random) const {
  const auto until = covered_until(file, std::nullopt, cut, false);
  std::uint64_t size = 0, truth = 0, at_least = 0;
  for (const std::size_t index : files_.at(file).operations) {
    const Operation& operation = operations_[index];
    if (index > cut.reached) break;
    const std::uint64_t next = resized(operation, truth);
    if (until && index <= *until) {
      size = next;
    } else if (next != truth && by_chance(random, 60)) {
      size = next > size && by_chance(random, 30) ? size + random() % (next - size) : next;
    }
    truth = next;
    // A write with O_SYNC guarantees that the file extends at least to the end of the write. The
    // guarantee ends when a later operation truncates the file.
    if (next < at_least) at_least = 0;
    const bool synced = is_of_a_range(operation) && is_kept_by(operation);
    if (synced && cut.persisted && index <= *cut.persisted)
      at_least = std::max(at_least, operation.offset + operation.length);
  }
  return std::max(size, at_least);
}

/// Returns the contents of a block after all operations before `end`. These are the contents that a
/// clone copies.
std::vector<std::byte> ReferenceModel::block_before(FileId file, std::uint64_t block,
                                                    std::size_t end) const {
  std::vector<std::size_t> changes;
  std::vector<std::uint64_t> places;
  const auto& all = files_.at(file).operations;
  std::vector<std::byte> bytes(kStampBytes);
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    if (*at >= end) continue;
    const Operation& operation = operations_[*at];
    if (workload::moves_blocks(operation.kind)) {
      const auto from = moved_from(operation, block);
      if (!from) break;
      block = *from;
    } else if (is_shared_into(operation, block)) {
      const std::uint64_t first = operation.offset / kStampBytes;
      bytes = block_before(sources_.at(*at), block - operation.target_offset / kStampBytes + first,
                           *at);
      break;
    } else if (changes_blocks(operation)) {
      changes.push_back(*at);
      places.push_back(block);
    }
  }
  for (std::size_t i = changes.size(); i-- > 0;)
    apply_to_block(operations_[changes[i]], places[i], kStampBytes, bytes);
  return bytes;
}

/// Computes the contents backwards, from the last operation to the first. An operation in flight
/// may or may not have moved the block; a random choice decides. If it has moved the block, earlier
/// operations wrote the block at another position.
std::vector<std::byte> ReferenceModel::block_after(FileId file, std::uint64_t block, const Cut& cut,
                                                   std::mt19937_64& random) const {
  const auto& all = files_.at(file).operations;
  std::vector<std::size_t> changes;
  std::vector<std::uint64_t> places;
  std::vector<bool> surely;
  std::vector<std::byte> bytes(kStampBytes);
  auto point = persistence_.rbegin();
  bool kept = false;
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    if (*at > cut.reached) continue;
    for (; point != persistence_.rend() && point->operation >= *at; ++point)
      kept |= cut.persisted && point->operation <= *cut.persisted && covers(*point, file, block);
    const Operation& operation = operations_[*at];
    const bool done = kept || by_chance(random, 60);
    if (workload::moves_blocks(operation.kind)) {
      const auto from = moved_from(operation, block);
      // While the move is in flight, the block may be a hole.
      if (!kept && from != block && by_chance(random, 10)) break;
      if (!done) continue;
      if (!from) break;
      block = *from;
    } else if (is_shared_into(operation, block)) {
      if (!done) continue;
      const std::uint64_t first = operation.offset / kStampBytes;
      bytes = block_before(sources_.at(*at), block - operation.target_offset / kStampBytes + first,
                           *at);
      break;
    } else if (changes_blocks(operation) && done) {
      changes.push_back(*at);
      places.push_back(block);
      surely.push_back(kept);
    }
  }
  bool written = false;
  for (std::size_t i = changes.size(); i-- > 0;) {
    const Operation& operation = operations_[changes[i]];
    const bool writes = workload::is_write(operation.kind) && touches(operation, places[i]);
    const bool fresh = !surely[i] && writes && !written;
    written |= writes;
    const bool stale =
        promises_.names == adapters::NameOrder::ordered && promises_.exposes_stale_data;
    if (fresh && stale && by_chance(random, 10)) {
      workload::write_before_mkfs(block, bytes);
      break;
    }
    const bool torn = !surely[i] && operation.length >= kStampBytes && by_chance(random, 5);
    apply_to_block(operation, places[i], torn ? 30 + random() % 400 : kStampBytes, bytes);
    // Tears at most one write. If two writes of a block were torn, a dump would not contain enough
    // of the block for the oracle to decide whether the state is permitted.
    if (torn) break;
  }
  return bytes;
}

std::uint64_t ReferenceModel::allocated_by(FileId file, const Cut& cut,
                                           const std::function<bool(std::size_t)>& counts) const {
  std::set<std::uint64_t> room;
  std::uint64_t size = 0;
  for (const std::size_t index : files_.at(file).operations) {
    const Operation& operation = operations_[index];
    if (index > cut.reached) break;
    if (counts(index)) apply_to_room(operation, size, room);
    size = resized(operation, size);
  }
  return room.size() * kStampBytes;
}

std::uint64_t ReferenceModel::allocated_after(FileId file, const Cut& cut,
                                              std::mt19937_64& random) const {
  const auto until = covered_until(file, std::nullopt, cut, false);
  return allocated_by(file, cut, [&](std::size_t index) {
    return (until && index <= *until) || by_chance(random, 60);
  });
}

void ReferenceModel::fill_in(FileId file, const Cut& cut, std::mt19937_64& random,
                             ObservedObject& object) const {
  const Content& content = files_.at(file);
  object.type = content.type;
  object.inode = 100 + file;
  object.link_target = content.target;
  const auto until = covered_until(file, std::nullopt, cut, true);
  for (const std::size_t index : content.operations) {
    const Operation& operation = operations_[index];
    if (index > cut.reached || operation.attribute.empty()) continue;
    if (!(until && index <= *until) && by_chance(random, 40)) continue;
    object.attributes.erase(operation.attribute);
    if (operation.kind == Kind::setxattr) object.attributes[operation.attribute] = operation.value;
  }
  for (const std::size_t index : content.operations) {
    const Operation& operation = operations_[index];
    if (index > cut.reached || (!(until && index <= *until) && by_chance(random, 40))) continue;
    if (operation.kind == Kind::chmod) object.mode = operation.mode;
    if (operation.kind == Kind::chown) object.user = operation.user, object.group = operation.group;
    if (operation.kind == Kind::flags) object.flags = operation.flags;
    if (operation.kind == Kind::project) object.project = operation.project;
    if (operation.kind == Kind::touch) object.modified_seconds = operation.seconds;
    if (operation.kind == Kind::access) object.accessed_seconds = operation.seconds;
    if (operation.kind == Kind::store || operation.kind == Kind::write_mapped ||
        operation.kind == Kind::msync)
      object.accessed_seconds = 0;
    if (changes_content(operation) || is_fallocate(operation)) object.modified_seconds = 0;
  }
  if (content.type != FileType::regular) return;
  object.size_bytes = size_after(file, cut, random);
  object.allocated_bytes = allocated_after(file, cut, random);
  for (std::uint64_t block = 0; block * kStampBytes < object.size_bytes; ++block) {
    std::vector<std::byte> bytes = block_after(file, block, cut, random);
    bytes.resize(std::min<std::uint64_t>(kStampBytes, object.size_bytes - block * kStampBytes));
    object.runs.push_back(run_of(bytes, block));
  }
}

std::vector<ObservedObject> ReferenceModel::tree_after(const Cut& cut,
                                                       std::mt19937_64& random) const {
  std::set<std::size_t> kept = required(cut);
  constexpr std::array<unsigned, 4> kPercent{0, 30, 70, 100};
  const unsigned percent = kPercent[random() % kPercent.size()];
  for (std::size_t i = 0; i < name_operations_.size(); ++i) {
    if (name_operations_[i].operation <= cut.reached && by_chance(random, percent)) kept.insert(i);
  }
  close(kept);
  std::map<Slot, FileId> names = names_after(kept);
  if (promises_.names == adapters::NameOrder::unordered)
    disorder(required(cut), cut, random, names);
  if (promises_.names == adapters::NameOrder::ordered) names = ordered_names(cut, random);
  std::map<FileId, std::uint32_t> links;
  std::map<FileId, ObservedObject> inodes;
  std::vector<ObservedObject> tree;
  const auto walk = [&](const auto& self, FileId directory, const std::string& above) -> void {
    for (auto at = names.lower_bound({directory, ""});
         at != names.end() && at->first.first == directory; ++at) {
      const FileId file = at->second;
      if (!inodes.contains(file) && file != kLostAndFound) fill_in(file, cut, random, inodes[file]);
      if (file == kLostAndFound) inodes[file] = {.type = FileType::directory, .inode = 100 + file};
      ObservedObject object = inodes[file];
      object.path = above + at->first.second;
      ++links[file];
      tree.push_back(object);
      if (object.type == FileType::directory) self(self, file, object.path + "/");
    }
  };
  walk(walk, 0, "");
  for (ObservedObject& object : tree) object.links = links[object.inode - 100];
  return tree;
}

std::vector<ReferenceModel::Pinned> ReferenceModel::pinned_names(const Cut& cut) const {
  const std::set<std::size_t> kept = required(cut);
  std::map<Slot, std::optional<FileId>> before;
  std::set<Slot> touched_later;
  std::map<Slot, std::size_t> last_change;
  std::map<Slot, FileId> names;
  for (std::size_t i = 0; i < name_operations_.size(); ++i) {
    if (name_operations_[i].operation > cut.reached) break;
    for (const auto& [slot, file] : name_operations_[i].changes) {
      if (!kept.contains(i)) {
        touched_later.insert(slot);
        continue;
      }
      before[slot] = names.contains(slot) ? std::optional(names[slot]) : std::nullopt;
      names.erase(slot);
      if (file) names[slot] = *file;
      last_change[slot] = i;
    }
  }
  // A name is pinned only if a persistence point after the name's last change covers the name
  // itself. A name on which a persistent name depends is not pinned, because such dependencies
  // exist only in this simulation.
  const auto named = [&](const Slot& slot) {
    return std::any_of(persistence_.begin(), persistence_.end(), [&](const Persistence& point) {
      if (!cut.persisted || point.operation > *cut.persisted) return false;
      if (point.operation < name_operations_[last_change[slot]].operation) return false;
      return point.everything || point.directory == slot.first ||
             std::find(point.slots.begin(), point.slots.end(), slot) != point.slots.end();
    });
  };
  std::vector<Pinned> pinned;
  const auto walk = [&](const auto& self, FileId directory, const std::string& above) -> void {
    for (const auto& [slot, was] : before) {
      if (slot.first != directory || touched_later.contains(slot) || !named(slot)) continue;
      const auto at = names.find(slot);
      const auto file = at == names.end() ? std::nullopt : std::optional(at->second);
      pinned.push_back({above + slot.second, file, was});
      if (file && files_.at(*file).type == FileType::directory)
        self(self, *file, above + slot.second + "/");
    }
  };
  walk(walk, 0, "");
  return pinned;
}

bool ReferenceModel::data_is_pinned(FileId file, const Cut& cut) const {
  const auto until = covered_until(file, std::nullopt, cut, false);
  if (!until) return false;
  const auto& all = files_.at(file).operations;
  return std::none_of(all.begin(), all.end(), [&](std::size_t index) {
    const bool data =
        changes_content(operations_[index]) || operations_[index].kind == Kind::allocate;
    return data && index > *until && index <= cut.reached;
  });
}

bool ReferenceModel::attributes_are_pinned(FileId file, const Cut& cut) const {
  const auto until = covered_until(file, std::nullopt, cut, true);
  if (!until) return false;
  const auto& all = files_.at(file).operations;
  return std::none_of(all.begin(), all.end(), [&](std::size_t index) {
    const Operation& operation = operations_[index];
    const bool sets = !operation.attribute.empty() || operation.kind == Kind::chmod ||
                      operation.kind == Kind::chown || operation.kind == Kind::flags ||
                      operation.kind == Kind::project;
    return sets && index > *until && index <= cut.reached;
  });
}

std::uint64_t ReferenceModel::bytes_that_stay_allocated(FileId file, const Cut& cut) const {
  const auto until = covered_until(file, std::nullopt, cut, false);
  if (!until) return 0;
  // The result must not exceed the space that is allocated on the disk. Space is subtracted if an
  // operation may have freed it on the disk, but an allocation is counted only if it must have
  // reached the disk.
  return allocated_by(file, cut, [&](std::size_t index) {
    const Operation& operation = operations_[index];
    return is_fallocate(operation) ? index <= *until : !workload::is_write(operation.kind);
  });
}

}  // namespace headcrash::oracle
