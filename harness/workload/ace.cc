// Enumerates bounded workloads (ace.h). First lists all possible steps. Then, for each set of names
// already in use, counts the ways to continue a workload; new names must be taken in a fixed order.
// These counts convert the number of a workload to its steps. Finally, the prerequisites of each
// step are added.
#include "harness/workload/ace.h"

#include <fmt/format.h>
#include <linux/fs.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "harness/workload/draft.h"
#include "harness/workload/operation_table.h"
#include "plugin/base/invariant.h"

namespace headcrash::workload {

// Not an unnamed namespace, because Ace::Space has members of these types.
namespace ace {

struct Step {
  Operation operation;
  bool target_exists = false;  ///< for a rename: the target exists before the operation
  std::optional<Operation> persistence;
  bool persistent = false;  ///< the step ends with a persistence point
  bool of_more = false;     ///< the step belongs only to Vocabulary::more
};

/// Number of names in use in each place: files in the root, directories, files in A, files in B.
using NamesUsed = std::array<std::uint8_t, 4>;

}  // namespace ace

namespace {

using ace::NamesUsed;
using ace::Step;

using Kind = Operation::Kind;

constexpr std::uint64_t kFileBytes = 32 << 10;  // size of files that exist before a step
constexpr std::uint64_t kPiece = 8 << 10;       // size of a write, as in ACE
constexpr std::array<const char*, 6> kFiles{"foo", "bar", "A/foo", "A/bar", "B/foo", "B/bar"};
constexpr std::array<const char*, 2> kDirectories{"A", "B"};

// All operations.

Operation on(Kind kind, std::string path, std::uint64_t offset = 0, std::uint64_t length = 0) {
  return {.kind = kind, .path = std::move(path), .offset = offset, .length = length};
}

void add_writes(const std::string& file, std::vector<Step>& steps) {
  const std::uint64_t middle = kPiece, at_end = kFileBytes - kPiece / 2;
  for (const Kind kind : {Kind::write, Kind::write_direct, Kind::write_sync, Kind::write_dsync}) {
    for (const std::uint64_t offset : {std::uint64_t{0}, middle, at_end, kFileBytes})
      steps.push_back({on(kind, file, offset, kPiece)});
  }
  // Neither end of the write is at a page boundary.
  steps.push_back({on(Kind::write, file, 3 * 512, 3000)});
  steps.push_back({on(Kind::append, file, kFileBytes, kPiece)});
  for (const std::uint64_t offset : {std::uint64_t{0}, middle, kFileBytes - kPiece})
    steps.push_back({on(Kind::write_mapped, file, offset, kPiece)});
  for (const Kind kind : {Kind::allocate, Kind::allocate_keep, Kind::zero, Kind::zero_keep}) {
    for (const std::uint64_t offset : {middle, at_end, kFileBytes})
      steps.push_back({on(kind, file, offset, kPiece)});
  }
  for (const std::uint64_t offset : {middle, at_end})
    steps.push_back({on(Kind::punch, file, offset, kPiece)});
  for (const std::uint64_t size :
       {std::uint64_t{0}, kFileBytes / 2, kFileBytes / 2 + 700, 2 * kFileBytes})
    steps.push_back({on(Kind::truncate, file, 0, size)});
}

void add_file_operations(const std::string& file, std::vector<Step>& steps) {
  steps.push_back({on(Kind::create, file)});
  steps.push_back({on(Kind::unlink, file)});
  add_writes(file, steps);
  steps.push_back({{.kind = Kind::setxattr, .path = file, .attribute = "user.x", .value = "new"}});
  steps.push_back({{.kind = Kind::removexattr, .path = file, .attribute = "user.x"}});
}

void add_pair_operations(const std::string& one, const std::string& other,
                         std::vector<Step>& steps) {
  const auto pair = [&](Kind kind) {
    return Operation{.kind = kind, .path = one, .target = other};
  };
  steps.push_back({pair(Kind::link)});
  steps.push_back({{.kind = Kind::symlink, .path = other, .target = one}});
  steps.push_back({pair(Kind::rename)});
  steps.push_back({pair(Kind::rename), true});
  steps.push_back({pair(Kind::rename_noreplace)});
  steps.push_back({pair(Kind::rename_exchange), true});
}

std::vector<Step> all_operations() {
  std::vector<Step> steps;
  for (const std::string file : kFiles) add_file_operations(file, steps);
  for (const std::string one : kFiles) {
    for (const std::string other : kFiles) {
      if (one != other) add_pair_operations(one, other, steps);
    }
  }
  for (const std::string directory : kDirectories) {
    const std::string other = directory == "A" ? "B" : "A";
    steps.push_back({on(Kind::mkdir, directory)});
    steps.push_back({on(Kind::rmdir, directory)});
    steps.push_back(
        {{.kind = Kind::setxattr, .path = directory, .attribute = "user.x", .value = "new"}});
    steps.push_back({{.kind = Kind::removexattr, .path = directory, .attribute = "user.x"}});
    steps.push_back({{.kind = Kind::rename, .path = directory, .target = other}});
    steps.push_back({{.kind = Kind::rename, .path = directory, .target = other}, true});
    steps.push_back({{.kind = Kind::rename_exchange, .path = directory, .target = other}, true});
  }
  return steps;
}

Operation clone_of(const std::string& from, std::uint64_t offset, const std::string& to,
                   std::uint64_t to_offset) {
  Operation clone = on(Kind::clone, from, offset, kPiece);
  clone.target = to;
  clone.target_offset = to_offset;
  return clone;
}

/// Returns the steps that exist only in the second space (ace.h).
std::vector<Step> more_operations() {
  std::vector<Step> steps;
  const std::uint64_t middle = kPiece;
  for (const std::string file : kFiles) {
    for (const std::uint64_t offset : {std::uint64_t{0}, middle}) {
      for (const Kind kind : {Kind::collapse, Kind::insert, Kind::store})
        steps.push_back({on(kind, file, offset, kPiece)});
      steps.push_back({clone_of(file, middle, file, offset == 0 ? 0 : kFileBytes)});
    }
    for (const std::string other : kFiles)
      if (file != other)
        for (const std::uint64_t to : {middle, kFileBytes})
          steps.push_back({clone_of(file, 0, other, to)});
    steps.push_back({{.kind = Kind::mknod, .path = file, .target = "fifo"}});
    steps.push_back({{.kind = Kind::flags, .path = file, .flags = FS_NODUMP_FL}});
    for (const Kind kind : {Kind::write_direct_dsync, Kind::write_uring})
      for (const std::uint64_t offset : {middle, kFileBytes})
        steps.push_back({on(kind, file, offset, kPiece)});
    for (const Kind kind : {Kind::punch, Kind::zero, Kind::zero_keep})
      // Neither end of the write is at a stamp boundary.
      steps.push_back({on(kind, file, middle + 100, kPiece)});
    steps.push_back({on(Kind::allocate, file, kFileBytes + 100, 40)});
  }
  for (const Kind kind : {Kind::remount, Kind::freeze}) steps.push_back({{.kind = kind}});
  for (Step& each : steps) each.of_more = true;
  return steps;
}

// Persistence points.

bool is_directory_name(const std::string& path) {
  return path == "A" || path == "B";
}

bool changes_names(Kind kind) {
  return row_of(kind).has(kChangesNames);
}

/// Returns true if the operation creates an object that fsync cannot open.
bool is_made_of_nothing(Kind kind) {
  return kind == Kind::symlink || kind == Kind::mknod;
}

std::string sibling(const std::string& file) {
  const bool foo = file.ends_with("foo");
  return file.substr(0, file.size() - 3) + (foo ? "bar" : "foo");
}

/// Lists the persistence points for all objects that the operation affects, if the objects exist
/// afterwards. If the operation changes names, also lists persistence points for a neighbouring
/// file, because a log may write the neighbour's changes together with those of this operation.
std::vector<Operation> persistence_of(const Operation& operation) {
  if (operation.kind == Kind::remount || operation.kind == Kind::freeze) return {};
  std::set<std::string> files, directories;
  const auto concern = [&](const std::string& path) {
    directories.insert(parent_of(path));
    (is_directory_name(path) ? directories : files).insert(path);
  };
  concern(operation.path);
  const bool two_names = !operation.target.empty() && !is_made_of_nothing(operation.kind);
  if (two_names) concern(operation.target);
  const bool moved = operation.kind == Kind::rename || operation.kind == Kind::rename_noreplace;
  const bool gone = moved || operation.kind == Kind::unlink || operation.kind == Kind::rmdir;
  if (is_made_of_nothing(operation.kind)) files.clear();
  if (gone) files.erase(operation.path), directories.erase(operation.path);
  if (changes_names(operation.kind) && !is_directory_name(operation.path)) {
    const std::string beside = sibling(operation.path);
    if (beside != operation.target) files.insert(beside);
  }
  std::vector<Operation> list{{.kind = Kind::sync}};
  for (const std::string& file : files) {
    list.push_back(on(Kind::fsync, file));
    if (!changes_names(operation.kind)) list.push_back(on(Kind::fdatasync, file));
  }
  if (!changes_names(operation.kind)) directories.erase(parent_of(operation.path));
  for (const std::string& directory : directories)
    list.push_back(on(Kind::fsync_directory, directory));
  if (operation.kind == Kind::store)
    list.push_back(on(Kind::msync, operation.path, operation.offset, operation.length));
  return list;
}

std::vector<Step> all_steps(Ace::Vocabulary words) {
  std::vector<Step> steps, operations = all_operations();
  if (words == Ace::Vocabulary::more)
    std::ranges::copy(more_operations(), std::back_inserter(operations));
  for (const Step& plain : operations) {
    steps.push_back(plain);
    steps.back().persistent = is_persistence_point(plain.operation);
    for (const Operation& persistence : persistence_of(plain.operation)) {
      steps.push_back(plain);
      steps.back().persistence = persistence;
      steps.back().persistent = true;
    }
  }
  return steps;
}

// ---- symmetry

/// Marks a name as used. The names in `order` differ only by symmetry. Returns false if an earlier
/// name in `order` is unused.
bool use_name(const std::string& name, std::size_t place, std::array<const char*, 2> order,
              NamesUsed& used) {
  const std::size_t rank = name == order[0] ? 0 : 1;
  if (rank > used[place]) return false;
  used[place] = std::max<std::uint8_t>(used[place], static_cast<std::uint8_t>(rank + 1));
  return true;
}

bool use_path(const std::string& path, NamesUsed& used) {
  if (path.empty()) return true;
  if (is_directory_name(path)) return use_name(path, 1, {"A", "B"}, used);
  const std::string directory = parent_of(path);
  if (directory.empty()) return use_name(path, 0, {"foo", "bar"}, used);
  return use_name(directory, 1, {"A", "B"}, used) &&
         use_name(path.substr(2), directory == "A" ? 2 : 3, {"foo", "bar"}, used);
}

std::optional<NamesUsed> follow(const Step& step, NamesUsed used) {
  // For a symbolic link, the target takes the first free name, and the link takes the next one.
  const bool link = step.operation.kind == Kind::symlink;
  const bool node = step.operation.kind == Kind::mknod;
  const std::string& first = link ? step.operation.target : step.operation.path;
  const std::string& second = link ? step.operation.path : step.operation.target;
  if (!use_path(first, used) || (!node && !use_path(second, used))) return std::nullopt;
  if (step.persistence && !use_path(step.persistence->path, used)) return std::nullopt;
  return used;
}

// ---- prerequisites

/// Adds prerequisites to a draft: operations that bring the names into the state that the next
/// operation requires.
class Needs {
 public:
  explicit Needs(Draft& draft) : draft_(draft) {}

  void directory(const std::string& path) {
    if (!draft_.exists(path)) draft_.add(on(Kind::mkdir, path));
  }
  void file(const std::string& path) {
    if (draft_.type(path) == FileType::regular) return;
    absent(path);
    directory(parent_of(path));
    draft_.add(on(Kind::create, path));
    draft_.add(on(Kind::write, path, 0, kFileBytes));
  }
  void absent(const std::string& path) {
    if (!draft_.exists(path)) return;
    if (draft_.type(path) != FileType::directory) return draft_.add(on(Kind::unlink, path));
    empty(path);
    draft_.add(on(Kind::rmdir, path));
  }
  void empty(const std::string& path) {
    for (const std::string& child : draft_.children(path)) absent(child);
  }

  void meet(const Step& step) {
    const Operation& operation = step.operation;
    if (step.persistence && operation.path != step.persistence->path &&
        operation.target != step.persistence->path && step.persistence->kind == Kind::fsync)
      file(step.persistence->path);
    if (is_directory_name(operation.path)) return meet_directory(step);
    switch (operation.kind) {
      case Kind::remount:
      case Kind::freeze:
        return;
      case Kind::create:
      case Kind::mknod:
      case Kind::symlink:
        directory(parent_of(operation.path));
        return absent(operation.path);
      case Kind::clone:
        file(operation.path);
        file(operation.target);
        return long_enough(operation);
      case Kind::link:
      case Kind::rename:
      case Kind::rename_noreplace:
      case Kind::rename_exchange:
        file(operation.path);
        directory(parent_of(operation.target));
        return meet_target(step);
      case Kind::removexattr:
        file(operation.path);
        if (!draft_.has_attribute(operation.path, operation.attribute)) set_attribute(operation);
        return;
      default:
        file(operation.path);
        long_enough(operation);
    }
  }

 private:
  /// Extends the file if the operation requires a longer one: mappings and ranges must be inside
  /// the file, and an append must begin at a stamp boundary.
  void long_enough(const Operation& operation) {
    const bool needs =
        is_write(operation.kind) || moves_blocks(operation.kind) || operation.kind == Kind::clone;
    if (needs && !draft_.possible(operation))
      draft_.add(on(Kind::truncate, operation.path, 0, kFileBytes));
  }

  void meet_target(const Step& step) {
    if (!step.target_exists) return absent(step.operation.target);
    file(step.operation.target);
    // A rename between two names of the same file would have no effect, so create a separate
    // target.
    if (!draft_.same_object(step.operation.path, step.operation.target)) return;
    absent(step.operation.target);
    file(step.operation.target);
  }

  void meet_directory(const Step& step) {
    const Operation& operation = step.operation;
    if (operation.kind == Kind::mkdir) return absent(operation.path);
    directory(operation.path);
    if (operation.kind == Kind::rmdir) return empty(operation.path);
    if (operation.kind == Kind::setxattr) return;
    if (operation.kind == Kind::removexattr) {
      if (!draft_.has_attribute(operation.path, operation.attribute)) set_attribute(operation);
      return;
    }
    file(operation.path + "/foo");
    if (!step.target_exists) return absent(operation.target);
    directory(operation.target);
    if (operation.kind == Kind::rename) empty(operation.target);
  }

  void set_attribute(const Operation& operation) {
    draft_.add({.kind = Kind::setxattr,
                .path = operation.path,
                .attribute = operation.attribute,
                .value = "old"});
  }

  Draft& draft_;
};

bool touched_by(const std::vector<const Step*>& steps, std::size_t count, const std::string& path) {
  return std::any_of(
      steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(count), [&](const Step* step) {
        const auto touches = [&](const std::string& name) {
          return !name.empty() && (path == name || path.starts_with(name + "/"));
        };
        const bool second =
            !is_made_of_nothing(step->operation.kind) && touches(step->operation.target);
        return touches(step->operation.path) || second;
      });
}

/// Creates the list of operations for these steps. The prerequisites of a step are created before
/// the first step if no earlier step uses the same names. Otherwise, they are created directly
/// before the step itself.
std::vector<Operation> compose(const std::vector<const Step*>& steps) {
  Draft draft;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Operation& operation = steps[i]->operation;
    const bool link = is_made_of_nothing(operation.kind) || operation.target.empty();
    if (touched_by(steps, i, operation.path) || (!link && touched_by(steps, i, operation.target)))
      continue;
    if (steps[i]->persistence && touched_by(steps, i, steps[i]->persistence->path)) continue;
    Needs(draft).meet(*steps[i]);
  }
  draft.add({.kind = Kind::sync});
  for (const Step* step : steps) {
    Needs(draft).meet(*step);
    draft.add(step->operation);
    if (step->persistence) draft.add(*step->persistence);
  }
  return draft.take();
}

}  // namespace

struct Ace::Space {
  std::vector<Step> steps;
  /// Cached results of count(): the number of ways to continue a workload, by the number of
  /// remaining steps (the index) and the names in use (the key).
  std::array<std::map<NamesUsed, std::uint64_t>, kLongest + 1> counts;

  bool only_more_end;

  Space(int length, Vocabulary words)
      : steps(all_steps(words)), only_more_end(words == Vocabulary::more) {
    count({}, length);
  }

  bool may_stand(const Step& step, int left) const {
    return left > 1 || (step.persistent && (step.of_more || !only_more_end));
  }

  std::uint64_t count(const NamesUsed& used, int left) {
    if (left == 0) return 1;
    const auto known = counts[static_cast<std::size_t>(left)].find(used);
    if (known != counts[static_cast<std::size_t>(left)].end()) return known->second;
    std::uint64_t sum = 0;
    for (const Step& step : steps) {
      if (!may_stand(step, left)) continue;
      if (const auto next = follow(step, used)) sum += count(*next, left - 1);
    }
    return counts[static_cast<std::size_t>(left)][used] = sum;
  }

  std::uint64_t known_count(const NamesUsed& used, int left) const {
    return left == 0 ? 1 : counts[static_cast<std::size_t>(left)].at(used);
  }
};

Ace::Ace(int length, Vocabulary words) : length_(length) {
  invariant(length >= 1 && length <= kLongest, "an enumerated workload must have 1 to 3 steps");
  space_ = std::make_unique<Space>(length, words);
}
Ace::~Ace() = default;

std::uint64_t Ace::count() const {
  return space_->known_count({}, length_);
}

std::vector<Operation> Ace::workload(std::uint64_t number) const {
  invariant(number < count(), "the number of a workload must be less than the count of workloads");
  std::vector<const Step*> chosen;
  NamesUsed used{};
  for (int left = length_; left > 0; --left) {
    for (const Step& step : space_->steps) {
      if (!space_->may_stand(step, left)) continue;
      const auto next = follow(step, used);
      if (!next) continue;
      const std::uint64_t below = space_->known_count(*next, left - 1);
      if (number >= below) {
        number -= below;
        continue;
      }
      chosen.push_back(&step);
      used = *next;
      break;
    }
  }
  return compose(chosen);
}

std::vector<std::uint64_t> sample_numbers(std::uint64_t count, std::uint64_t size,
                                          std::uint64_t seed) {
  if (size >= count) {
    std::vector<std::uint64_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::mt19937_64 random(seed);
  std::set<std::uint64_t> numbers;
  while (numbers.size() < size) numbers.insert(random() % count);
  return {numbers.begin(), numbers.end()};
}

}  // namespace headcrash::workload
