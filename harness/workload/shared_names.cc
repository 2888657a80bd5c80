// Generates lists of conflicting operations at random (shared_names.h).
#include "harness/workload/shared_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "harness/workload/stamp.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

/// The kind of objects that the users of a list change concurrently.
enum class Shape : std::uint8_t {
  one_directory,
  two_directories,
  any_names,  ///< a name may belong to a file at one time and to a directory at another
  /// A directory that is removed while others create, link or move names into it.
  vanishing_targets,
  commits,     ///< operations on files, half of them sync or fsync
  cold_inodes  ///< files that are evicted and read again
};
constexpr std::array kShapes{Shape::one_directory,     Shape::two_directories, Shape::any_names,
                             Shape::vanishing_targets, Shape::commits,         Shape::cold_inodes};

class SharedDrawing {
 public:
  explicit SharedDrawing(std::uint64_t number)
      : random_(number * 0x9e3779b97f4a7c15 + 23), shape_(kShapes.at(number % kShapes.size())) {}

  std::vector<Operation> take() {
    set_up();
    add({.kind = shape_ == Shape::cold_inodes ? Kind::evict : Kind::sync});
    add({.kind = Kind::join});
    const auto users = static_cast<std::uint8_t>(one_in(2) ? 2 : 3);
    for (std::uint8_t user = 0; user < users; ++user) {
      const std::size_t end = list_.size() + kSharedCallsMost / users;
      while (list_.size() < end) act(user, end - list_.size());
    }
    add({.kind = Kind::join});
    add({.kind = Kind::sync});
    return std::move(list_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  void add(Operation operation) { list_.push_back(std::move(operation)); }

  std::string name() { return {static_cast<char>('a' + below(3))}; }
  std::string path() {
    if (shape_ == Shape::one_directory) return "d/" + name();
    if (shape_ == Shape::two_directories && !one_in(4))
      return (one_in(2) ? "d/" : "e/") + std::string(one_in(2) ? "a" : "b");
    return shape_ == Shape::two_directories ? std::string(one_in(2) ? "d" : "e") : name();
  }

  void make_file(const std::string& path) {
    add({.kind = Kind::create, .path = path});
    if (one_in(2)) return;
    write(path, 0);
  }
  void write(const std::string& path, std::uint8_t user) {
    const std::string file = fmt::format("%o{}", ++opened_);
    add({.kind = Kind::open, .path = path, .target = file, .thread = user});
    use(file, user);
    add({.kind = Kind::close, .path = file, .thread = user});
  }
  void use(const std::string& file, std::uint8_t user) {
    if (one_in(6)) return add({.kind = Kind::fsync, .path = file, .thread = user});
    if (one_in(6))
      return add(
          {.kind = Kind::truncate, .path = file, .length = below(3) * kStampBytes, .thread = user});
    ++version_;
    add({.kind = Kind::write,
         .path = file,
         .offset = below(3) * kStampBytes,
         .length = (1 + below(3)) * kStampBytes,
         .file = version_,
         .version = version_,
         .thread = user});
  }

  void set_up() {
    const bool two = shape_ == Shape::two_directories;
    const bool vanishing = shape_ == Shape::vanishing_targets;
    if (two || vanishing || shape_ == Shape::one_directory) add({.kind = Kind::mkdir, .path = "d"});
    if (two) add({.kind = Kind::mkdir, .path = "e"});
    const std::vector<std::string> all = shape_ == Shape::one_directory
                                             ? std::vector<std::string>{"d/a", "d/b"}
                                         : two ? std::vector<std::string>{"d/a", "e/b"}
                                               : std::vector<std::string>{"a", "b"};
    for (const std::string& each : all) {
      if (one_in(4) && !vanishing) continue;
      if (shape_ == Shape::any_names && one_in(3))
        add({.kind = Kind::mkdir, .path = each});
      else
        make_file(each);
    }
  }

  void act(std::uint8_t user, std::size_t most) {
    if (shape_ == Shape::vanishing_targets && !one_in(8)) return use_vanishing(user);
    if (shape_ == Shape::commits && one_in(2)) return persist(user);
    if (shape_ == Shape::cold_inodes && one_in(4))
      return add({.kind = Kind::evict, .thread = user});
    change_any(user, most);
  }

  /// Adds an operation that removes or creates the directory d or a name in it. Most operations of
  /// user 0 remove or create d itself.
  void use_vanishing(std::uint8_t user) {
    const std::string file(one_in(2) ? "a" : "b"), inside = "d/" + file;
    if (user == 0 && !one_in(3))
      return add({.kind = one_in(3) ? Kind::mkdir : Kind::rmdir, .path = "d", .thread = user});
    switch (below(8)) {
      case 0:
      case 1:
        return add({.kind = Kind::create, .path = inside, .thread = user});
      case 2:
        return add({.kind = Kind::link, .path = file, .target = inside, .thread = user});
      case 3:
        return add({.kind = Kind::rename, .path = file, .target = inside, .thread = user});
      case 4:
        return add({.kind = Kind::rename, .path = inside, .target = file, .thread = user});
      case 5:
        return add({.kind = Kind::mkdir, .path = "d", .thread = user});
      default:
        return add({.kind = Kind::unlink, .path = one_in(3) ? file : inside, .thread = user});
    }
  }

  void persist(std::uint8_t user) {
    if (one_in(2)) return add({.kind = Kind::sync, .thread = user});
    add({.kind = Kind::fsync, .path = path(), .thread = user});
  }

  /// Adds between one and `most` operations.
  void change_any(std::uint8_t user, std::size_t most) {
    const bool directories = shape_ != Shape::one_directory;
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
        return add({.kind = Kind::create, .path = path(), .thread = user});
      case 3:
      case 4:
      case 5:
        return add({.kind = Kind::unlink, .path = path(), .thread = user});
      case 6:
      case 7:
      case 8:
        return add({.kind = Kind::rename, .path = path(), .target = path(), .thread = user});
      case 9:
        return add({.kind = one_in(2) ? Kind::rename_exchange : Kind::rename_noreplace,
                    .path = path(),
                    .target = path(),
                    .thread = user});
      case 10:
      case 11:
        return add({.kind = Kind::link, .path = path(), .target = path(), .thread = user});
      case 12:
        if (directories)
          return add(
              {.kind = one_in(2) ? Kind::mkdir : Kind::rmdir, .path = path(), .thread = user});
        return add({.kind = Kind::fsync, .path = path(), .thread = user});
      case 13:
        if (one_in(2)) return add({.kind = Kind::sync, .thread = user});
        return add({.kind = Kind::fsync, .path = path(), .thread = user});
      case 14:
        if (one_in(3)) return add({.kind = Kind::evict, .thread = user});
        return add({.kind = Kind::fsync_directory, .path = "d", .thread = user});
      default:
        if (most >= 3) write(path(), user);
    }
  }

  std::mt19937_64 random_;
  Shape shape_;
  std::uint32_t version_ = 0;
  int opened_ = 0;
  std::vector<Operation> list_;
};

/// In each list, the part before the first '|' is the set-up. Each further part contains the
/// operations of one user.
constexpr std::array<std::string_view, kShortSharedLists> kShortLists{
    "create a | rename a b | unlink a",
    "create a | rename a b | rename a c",
    "create a, create b | rename a b | rename b a",
    "create a | link a b | unlink a",
    "create a | unlink a, create a | fsync a, unlink a",
    "create a | open a %f, write %f 0 1024 1 1, close %f | unlink a, create b",
    "create a | open a %f, write %f 0 1024 1 1 | open a %g, truncate %g 512, fsync %g",
    "mkdir d | create d/a | rmdir d",
    "mkdir d, create a | rename a d/b | rmdir d",
    "mkdir d, create a | link a d/b | rmdir d",
    "mkdir d, mkdir e | rename e d/f | rmdir d",
    "mkdir d, create d/a | rename d/a d/b | rename d e",
    "mkdir d, mkdir e, create d/a | rename d/a e/a | unlink d/a, rmdir d",
    "mkdir d, mkdir e | rename d e/x | rename e d/y",
    "create a, mkdir d | rename-exchange a d | rmdir d",
    "create a | fsync a, unlink a | sync, create b",
    "create a | sync, unlink a | sync, create b | sync, create a",
    // The removal of the replaced file takes a long time. Before it is complete, a commit ends and
    // the moved file is removed.
    "create a, create b | rename a b | sync | unlink b",
    // Several successive commits contain no changes, and users wait for each of them.
    "create a | create a, create b | sync, sync | create c | create a, mkdir d",
    "create a | mkdir d, create d/a | mkdir e, create e/a | mkdir f, create f/a",
    // With 28 files, the disk `tiny` soon needs a new block of inodes.
    "files 28 | create a, create b | create c, create d | mkdir e, create e/a",
    // The inode of a file without a name is evicted, read again, and then removed by a commit.
    "create a | open a %f, unlink a, close %f | sync, evict | create a, sync",
};

/// Returns the lines of an operation: N lines for "files N", which creates N files, and one line
/// for any other operation.
std::string lines_of(const std::string& operation) {
  constexpr std::string_view kManyFiles = "files ";
  if (!operation.starts_with(kManyFiles)) return operation + "\n";
  std::string lines;
  const int count = std::stoi(operation.substr(kManyFiles.size()));
  for (int i = 0; i < count; ++i) lines += fmt::format("create n{}\n", i);
  return lines;
}

/// Splits a text at the separator and removes the blanks around each part.
std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string part(text.substr(0, end));
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::vector<Operation> shared_names(std::uint64_t number) {
  return SharedDrawing(number).take();
}

std::vector<Operation> short_shared_names(std::size_t number) {
  std::string lines;
  const auto parts = parts_of(kShortLists.at(number), '|');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const std::string& line : parts_of(parts[i], ','))
      lines += (i > 1 ? fmt::format("@{} ", i - 1) : "") + lines_of(line);
    if (i == 0) lines += "sync\njoin\n";
  }
  return *parse_operations(lines + "join\nsync\n", "list");
}

}  // namespace headcrash::workload
