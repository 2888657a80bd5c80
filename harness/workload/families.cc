// Lists by family and number (families.h). Numbers come from std::mt19937_64 and are reduced by hand, so that
// equal numbers give equal lists with every library.
#include "harness/workload/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>

#include "harness/workload/draft.h"
#include "harness/workload/random_operations.h"
#include "harness/workload/stamp.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

constexpr std::size_t kLongName = 150;  ///< three of them fill a chunk of a directory

/// A list while it is drawn: files have numbers, names are made of them.
class Drawing {
 public:
  explicit Drawing(std::uint64_t number) : random_(number * 0x9e3779b97f4a7c15 + 17) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  const std::string& any_of(const std::vector<std::string>& names) { return names[below(names.size())]; }

  bool add(const Operation& operation) { return draft_.try_add(operation); }
  bool mkdir(const std::string& path) { return add({.kind = Kind::mkdir, .path = path}); }
  bool rmdir(const std::string& path) { return add({.kind = Kind::rmdir, .path = path}); }
  bool create(const std::string& path) { return add({.kind = Kind::create, .path = path}); }
  bool unlink(const std::string& path) { return add({.kind = Kind::unlink, .path = path}); }
  bool write(const std::string& path, std::uint64_t offset, std::uint64_t length) {
    return length > 0 && add({.kind = Kind::write, .path = path, .offset = offset, .length = length});
  }
  bool append(const std::string& path, std::uint64_t length) {
    return write(path, (size(path) + kStampBytes - 1) / kStampBytes * kStampBytes, length);
  }
  bool truncate(const std::string& path, std::uint64_t size) {
    return add({.kind = Kind::truncate, .path = path, .length = size});
  }
  bool punch(const std::string& path, std::uint64_t offset, std::uint64_t length) {
    return add({.kind = Kind::punch, .path = path, .offset = offset, .length = length});
  }
  bool rename(const std::string& from, const std::string& to, Kind kind = Kind::rename) {
    return add({.kind = kind, .path = from, .target = to});
  }
  void sync() { add({.kind = Kind::sync}); }
  /// About every second time nothing; else sync, or fsync of this file or of any other.
  void maybe_persist(const std::string& path) {
    const auto dice = below(8);
    if (dice == 0) sync();
    if (dice == 1 || dice == 2) add({.kind = Kind::fsync, .path = path});
    if (dice == 3) add({.kind = Kind::fsync, .path = any_file()});
  }

  /// Some file that is there; empty: there is none.
  std::string any_file() {
    const auto files = draft_.all(FileType::regular);
    return files.empty() ? std::string() : any_of(files);
  }
  std::string fresh(const std::string& directory = {}) {
    return fmt::format("{}{}f{}", directory, directory.empty() ? "" : "/", next_name_++);
  }
  /// Its name; it has this many stamps, drawn.
  std::string new_file(const std::string& directory, std::uint64_t least, std::uint64_t most) {
    std::string file = fresh(directory);
    create(file);
    write(file, 0, blocks(least, most));
    return file;
  }
  std::uint64_t size(const std::string& path) const { return draft_.size(path); }
  bool exists(const std::string& path) const { return !path.empty() && draft_.exists(path); }
  std::uint64_t blocks(std::uint64_t least, std::uint64_t most) {
    return (least + below(most - least + 1)) * kStampBytes;
  }
  const Draft& draft() const { return draft_; }
  std::vector<Operation> take() {
    sync();
    return draft_.take();
  }

 private:
  std::mt19937_64 random_;
  Draft draft_;
  std::uint64_t next_name_ = 0;
};

std::vector<std::string> some_directories(Drawing& list, int count) {
  std::vector<std::string> directories;
  for (int i = 0; i < count; ++i) {
    directories.push_back(fmt::format("d{}", i));
    list.mkdir(directories.back());
  }
  return directories;
}

/// A file that takes what another one gives back.
void replace(Drawing& list, const std::vector<std::string>& directories, const std::string& gone) {
  const std::uint64_t room = std::max<std::uint64_t>(list.size(gone), kStampBytes);
  switch (list.below(6)) {
    case 0:
    case 1: {
      list.unlink(gone);
      const std::string made = list.fresh(list.any_of(directories));
      list.create(made);
      list.write(made, 0, room / kStampBytes * kStampBytes);
      return list.maybe_persist(made);
    }
    case 2: {
      list.truncate(gone, 0);
      const std::string other = list.any_file();
      list.append(other, room / kStampBytes * kStampBytes);
      return list.maybe_persist(other);
    }
    case 3: {
      list.truncate(gone, 0);
      const std::string made = list.fresh(list.any_of(directories));
      list.create(made);
      list.write(made, 0, room / kStampBytes * kStampBytes);
      return list.maybe_persist(made);
    }
    case 4: {
      list.unlink(gone);
      const std::string made = list.fresh(list.any_of(directories)) + "dir";
      list.mkdir(made);
      list.create(made + "/inside");
      return list.maybe_persist(made + "/inside");
    }
    default: {
      // A directory's inode and block become a file's.
      const std::string made = list.fresh(list.any_of(directories)) + "dir";
      list.mkdir(made);
      if (list.one_in(2)) list.sync();
      list.add({.kind = Kind::rmdir, .path = made});
      return list.maybe_persist(list.new_file(list.any_of(directories), 1, 8));
    }
  }
}

std::vector<Operation> reuse(std::uint64_t number) {
  Drawing list(number);
  const auto directories = some_directories(list, 2);
  const std::uint64_t files = 4 + list.below(5);
  for (std::uint64_t i = 0; i < files; ++i) list.new_file(list.any_of(directories), 1, 40);
  list.sync();
  for (int round = 0; round < 6; ++round) {
    const std::string gone = list.any_file();
    if (!gone.empty()) replace(list, directories, gone);
  }
  return list.take();
}

/// Takes every block of a small disk: halves of halves, so that the last fragment is reached on any. What
/// finds no room is a file that holds less, or nothing.
void fill_the_disk(Drawing& list) {
  constexpr std::uint64_t kLargest = 128 << 10;
  list.mkdir("full");
  for (const std::uint64_t bytes : {kLargest, kLargest})
    if (const std::string file = list.fresh("full"); list.create(file)) list.write(file, 0, bytes);
  for (std::uint64_t bytes = kLargest; bytes >= kStampBytes; bytes /= 2)
    if (const std::string file = list.fresh("full"); list.create(file)) list.write(file, 0, bytes);
}

/// Gives some room back, and returns how much: a whole file, its end, a piece of its middle, or a directory.
std::uint64_t give_back(Drawing& list, const std::string& file) {
  const std::uint64_t size = list.size(file);
  const std::uint64_t cut = list.below(size / kStampBytes + 1) * kStampBytes;
  switch (list.below(7)) {
    case 0:
      list.truncate(file, 0);
      return size;
    case 1:
    case 2:
      list.truncate(file, cut);
      return size - cut;
    case 3: {
      const std::uint64_t length = std::min(list.blocks(4, 12), size - std::min(cut, size));
      if (length == 0 || !list.punch(file, cut, length)) return 0;
      return length;
    }
    default:
      list.unlink(file);
      return size;
  }
}

/// The blocks that there are go to this file, or a fragment to it and the rest to another one. Returns who
/// came last.
std::string take(Drawing& list, const std::string& taker, const std::string& other, std::uint64_t bytes) {
  bytes = bytes / kStampBytes * kStampBytes;
  if (bytes <= kStampBytes || !list.one_in(3)) {
    list.append(taker, bytes);
    return taker;
  }
  list.append(taker, kStampBytes);
  list.append(other, bytes - kStampBytes);
  return other;
}

/// Six files in two directories, one of which has a directory to spare, on a disk without a free block.
struct FullDisk {
  explicit FullDisk(std::uint64_t number) : list(number), directories(some_directories(list, 2)) {
    for (int i = 0; i < 6; ++i)
      files.push_back(list.new_file(list.any_of(directories), 1, i % 2 == 0 ? 8 : 40));
    spare = directories[0] + "/spare";
    list.mkdir(spare);
    fill_the_disk(list);
    list.sync();
  }
  /// False: there is none.
  bool forget_the_removed() {
    std::erase_if(files, [&](const std::string& file) { return !list.exists(file); });
    return !files.empty();
  }

  Drawing list;
  std::vector<std::string> directories, files;
  std::string spare;
};

/// Every block that is taken is one that has just been given back.
std::vector<Operation> nearly_full(std::uint64_t number) {
  FullDisk disk(number);
  Drawing& list = disk.list;
  for (int round = 0; round < 6 && disk.forget_the_removed(); ++round) {
    // Made before, the taker's writes are under way when the room is given back.
    const bool to_new = list.one_in(2), made_before = list.one_in(2), to_directory = list.one_in(6);
    const std::string taker = to_new ? list.fresh(list.any_of(disk.directories)) : list.any_of(disk.files);
    if (to_new && made_before) list.create(taker);
    std::uint64_t room = 4 * kStampBytes;
    if (round != 3 || !list.rmdir(disk.spare)) room = give_back(list, list.any_of(disk.files));
    if (to_new && !made_before && to_directory) {
      list.mkdir(taker);
      list.maybe_persist(list.any_of(disk.files));
      continue;
    }
    if (!list.exists(taker)) list.create(taker);
    if (to_new) disk.files.push_back(taker);
    disk.forget_the_removed();
    const std::string last = take(list, taker, list.any_of(disk.files), room);
    list.maybe_persist(list.one_in(3) ? list.any_file() : last);
  }
  return list.take();
}

/// What is given back goes to files of one fragment each.
std::vector<Operation> crumbs(std::uint64_t number) {
  FullDisk disk(number);
  Drawing& list = disk.list;
  for (int round = 0; round < 6 && disk.forget_the_removed(); ++round) {
    std::vector<std::string> takers;
    for (int i = 0; i < 3; ++i) {
      takers.push_back(list.fresh(list.any_of(disk.directories)));
      list.create(takers.back());
    }
    give_back(list, list.any_of(disk.files));
    for (const std::string& taker : takers) list.write(taker, 0, kStampBytes);
    if (list.one_in(2)) list.add({.kind = Kind::fsync, .path = list.any_of(takers)});
    list.maybe_persist(list.any_of(takers));
  }
  return list.take();
}

/// Three users on a disk with little room: what one of them gives back another one takes.
std::vector<Operation> full_users(std::uint64_t number) {
  Drawing list(number);
  list.create("room");
  list.write("room", 0, list.blocks(24, 48));
  fill_the_disk(list);
  list.unlink("room");
  list.sync();
  RandomOptions users{.seed = number,
                      .rounds = 60,
                      .directories = 2,
                      .names = 3,
                      .largest_blocks = 20,
                      .persistence_percent = 25,
                      .threads = 3,
                      .rounds_to_a_join = 15};
  users.weights.fill(0);
  const auto often = [&](Kind kind, std::uint32_t weight) {
    users.weights.at(static_cast<std::size_t>(kind)) = weight;
  };
  often(Kind::create, 6);
  often(Kind::unlink, 5);
  often(Kind::write, 12);
  often(Kind::truncate, 4);
  often(Kind::punch, 1);
  often(Kind::rename, 1);
  often(Kind::fsync, 6);
  often(Kind::sync, 1);
  for (const Operation& operation : random_operations(users)) list.add(operation);
  return list.take();
}

std::vector<Operation> truncation(std::uint64_t number) {
  Drawing list(number);
  for (int i = 0; i < 3; ++i) list.new_file({}, 1, 48);
  list.sync();
  for (int round = 0; round < 8; ++round) {
    const std::string file = list.any_file();
    const std::uint64_t size = list.size(file);
    const std::uint64_t cut = list.below(size / kStampBytes + 1) * kStampBytes;
    switch (list.below(5)) {
      case 0:
        list.truncate(file, list.one_in(2) ? 0 : cut);
        break;
      case 1:  // within a block, and grown again: the tail must be zeroes
        list.truncate(file, cut + list.below(kStampBytes));
        if (list.one_in(2)) list.truncate(file, size + list.blocks(0, 8));
        break;
      case 2:
        list.punch(file, cut, list.blocks(1, 16));
        break;
      case 3:
        list.truncate(file, size + list.blocks(1, 40));
        break;
      default:
        list.write(file, cut, list.blocks(1, 8));
    }
    list.maybe_persist(file);
    const std::string other = list.one_in(3) ? list.fresh() : list.any_file();
    if (!list.exists(other)) list.create(other);
    if (list.one_in(2)) {
      list.append(other, list.blocks(1, 24));
    } else {
      list.write(other, list.blocks(0, 20), list.blocks(1, 8));
    }
    list.maybe_persist(other);
  }
  return list.take();
}

/// Where the levels begin with blocks of 512 bytes, and what is beyond the first of them.
constexpr std::uint64_t kSingle = 12 * 512;
constexpr std::uint64_t kDouble = (12 + 128) * 512;
constexpr std::uint64_t kTriple = (12 + 128 + 128 * 128) * 512;

std::uint64_t place_near_a_level(Drawing& list, bool triple) {
  const std::uint64_t around = list.blocks(0, 6);
  switch (list.below(triple ? 7 : 5)) {
    case 0:
      return around;
    case 1:
    case 2:
      return kSingle - 2 * kStampBytes + around;
    case 3:
    case 4:
      return (list.one_in(2) ? kDouble : kDouble + 128 * 512) - 2 * kStampBytes + around;
    default:
      return kTriple - 2 * kStampBytes + around;
  }
}

std::vector<Operation> indirect(std::uint64_t number) {
  Drawing list(number);
  const bool triple = number % 4 == 3;  // a file of eight megabytes takes long to look at
  for (int i = 0; i < 2; ++i) {
    const std::string file = list.fresh();
    list.create(file);
    list.write(file, list.one_in(2) ? 0 : place_near_a_level(list, triple), list.blocks(1, 20));
  }
  list.sync();
  for (int round = 0; round < 9; ++round) {
    const std::string file = list.any_file();
    const std::uint64_t at = place_near_a_level(list, triple);
    switch (list.below(8)) {
      case 0:
      case 1:
      case 2:
        list.write(file, at, list.blocks(1, 12));
        break;
      case 3:
        list.append(file, list.blocks(1, 12));
        break;
      case 4:
        list.truncate(file, std::min(at, list.size(file)));
        break;
      case 5:
        list.punch(file, at, list.blocks(1, 16));
        break;
      case 6:
        list.truncate(file, 0);
        break;
      default:
        if (list.draft().all(FileType::regular).size() > 1) list.unlink(file);
    }
    list.maybe_persist(list.exists(file) ? file : list.any_file());
    // Whoever comes next takes what was freed, pointers or data.
    const std::string other = list.one_in(3) ? list.fresh() : list.any_file();
    if (!list.exists(other)) list.create(other);
    if (list.one_in(2)) list.append(other, list.blocks(1, 16));
    list.maybe_persist(other);
  }
  return list.take();
}

std::vector<Operation> fragments(std::uint64_t number) {
  Drawing list(number);
  const auto directories = some_directories(list, 1);
  for (int i = 0; i < 3; ++i) list.new_file(list.one_in(2) ? directories[0] : std::string(), 1, 3);
  list.sync();
  for (int round = 0; round < 12; ++round) {
    const std::string file = list.any_file();
    const std::uint64_t size = list.size(file);
    switch (list.below(10)) {
      case 0:
        list.truncate(file, list.below(size + 1));
        break;
      case 1: {
        const std::string made = list.fresh(list.one_in(2) ? directories[0] : std::string());
        list.create(made);
        list.write(made, 0, list.blocks(1, 3) - (list.one_in(3) ? 200 : 0));
        break;
      }
      case 2:
        if (list.draft().all(FileType::regular).size() > 2) list.unlink(file);
        break;
      default:
        list.append(file, list.blocks(1, list.one_in(4) ? 12 : 3));
    }
    list.maybe_persist(list.exists(file) ? file : list.any_file());
  }
  return list.take();
}

std::string long_name(const std::string& directory, std::uint64_t number) {
  std::string name = fmt::format("{}/n{}", directory, number);
  name.resize(directory.size() + kLongName, 'x');
  return name;
}

std::vector<Operation> directories(std::uint64_t number) {
  Drawing list(number);
  const auto roots = some_directories(list, 2);
  std::uint64_t next = 0;
  const auto fill = [&](std::uint64_t count) {
    const std::string in = list.any_of(roots);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string name = long_name(in, next++);
      list.one_in(4) ? list.mkdir(name) : list.create(name);
    }
  };
  fill(2 + list.below(8));
  list.sync();
  for (int round = 0; round < 6; ++round) {
    const std::string in = list.any_of(roots);
    const auto names = list.draft().children(in);
    switch (list.below(6)) {
      case 0:
      case 1:
        fill(1 + list.below(5));
        break;
      case 2:  // the whole directory goes, and a file takes its place
        for (const std::string& name : names)
          if (!list.unlink(name)) list.add({.kind = Kind::rmdir, .path = name});
        if (list.one_in(2)) list.sync();
        list.add({.kind = Kind::rmdir, .path = in});
        if (const std::string file = list.fresh(); list.create(file)) list.write(file, 0, list.blocks(1, 10));
        list.mkdir(in);
        break;
      case 3:
        if (names.empty()) break;
        if (const std::string name = list.any_of(names); !list.unlink(name))
          list.add({.kind = Kind::rmdir, .path = name});
        list.create(long_name(in, next++));
        break;
      case 4:
        if (!names.empty()) list.rename(list.any_of(names), long_name(list.any_of(roots), next++));
        break;
      default:
        if (const std::string file = list.any_file(); !file.empty()) list.append(file, list.blocks(1, 6));
    }
    if (const std::string file = list.any_file(); !file.empty()) list.maybe_persist(file);
    if (list.one_in(4)) list.add({.kind = Kind::fsync_directory, .path = in});
  }
  return list.take();
}

std::vector<Operation> renames(std::uint64_t number) {
  Drawing list(number);
  const auto parents = some_directories(list, 3);
  for (int i = 0; i < 5; ++i) list.new_file(list.any_of(parents), 1, 4);
  for (int i = 0; i < 2; ++i) list.mkdir(fmt::format("{}/sub{}", list.any_of(parents), i));
  list.sync();
  for (int round = 0; round < 7; ++round) {
    const bool directory = list.one_in(3);
    std::vector<std::string> names = list.draft().all(directory ? FileType::directory : FileType::regular);
    if (directory) std::erase_if(names, [](const std::string& path) { return path.find('/') == path.npos; });
    if (names.empty()) continue;
    const std::string from = list.any_of(names);
    const std::string aside = list.fresh(list.any_of(parents));
    switch (list.below(6)) {
      case 0:
      case 1:
        list.rename(from, list.any_of(names));
        break;
      case 2:
      case 3:
        list.rename(from, aside);
        break;
      case 4:
        list.rename(from, list.any_of(names), Kind::rename_exchange);
        break;
      default:
        if (list.add({.kind = Kind::link, .path = from, .target = aside})) list.unlink(from);
    }
    if (list.one_in(3)) {  // another file takes the name
      if (list.create(from)) list.write(from, 0, list.blocks(1, 4));
      list.maybe_persist(from);
    }
    if (list.one_in(4)) list.add({.kind = Kind::fsync_directory, .path = list.any_of(parents)});
    if (list.one_in(3)) list.maybe_persist(list.any_file());
  }
  return list.take();
}

/// Everything in a directory goes elsewhere, and the directory goes, too.
void empty_and_remove(Drawing& list, const std::string& from, const std::string& to) {
  for (const std::string& path : list.draft().children(from))
    list.rename(path, to + path.substr(path.rfind('/')));
  list.rmdir(from);
}

std::vector<Operation> moves(std::uint64_t number) {
  Drawing list(number);
  const auto parents = some_directories(list, 3);
  for (int i = 0; i < 6; ++i) {
    const std::string place = i < 3 ? fmt::format("{}/s{}", parents[i], i) : list.any_of(parents);
    if (i < 3) list.mkdir(place);
    list.new_file(place, 1, 3);
  }
  list.sync();
  for (int round = 0; round < 6; ++round) {
    const auto all = list.draft().all(FileType::directory);
    const std::string from = list.any_of(all), made = list.fresh(list.any_of(parents));
    switch (list.below(6)) {
      case 0:  // into a directory that has just been made
        list.mkdir(made);
        list.rename(list.any_file(), made + "/moved");
        break;
      case 1:
        list.mkdir(made);
        empty_and_remove(list, from, made);
        break;
      case 2:
        empty_and_remove(list, from, list.any_of(all));
        break;
      case 3:  // what was removed has a successor
        empty_and_remove(list, from, list.any_of(all));
        list.one_in(2) ? list.mkdir(from) : list.create(from);
        break;
      case 4:
        list.rename(list.any_file(), list.any_file());
        break;
      default:
        list.mkdir(made);
        list.rename(from, made + "/moved");
    }
    for (const std::string& parent : parents) list.mkdir(parent);
    const std::string file = list.any_file();
    if (file.empty()) continue;
    // Of a file that has nothing to do with it: only the inodes around it are written.
    if (list.one_in(2)) list.add({.kind = Kind::fsync, .path = file});
    list.maybe_persist(file);
  }
  return list.take();
}

std::vector<Operation> replacements(std::uint64_t number) {
  Drawing list(number);
  const auto parents = some_directories(list, 2);
  std::vector<std::string> files;
  files.reserve(12);
  for (int i = 0; i < 8; ++i) files.push_back(list.new_file(parents[i / 5], 1, 4));
  std::map<std::string, std::string> other_link;
  for (int i = 0; i < 4; ++i) {
    files.push_back(list.fresh(list.any_of(parents)));
    list.add({.kind = Kind::link, .path = files[i * 2], .target = files.back()});
    other_link[files.back()] = files[i * 2];
    other_link[files[i * 2]] = files.back();
  }
  list.sync();
  for (int round = 0; round < 6; ++round) {
    std::erase_if(files, [&](const std::string& file) { return !list.exists(file); });
    const std::string target = list.any_of(files);
    std::string source = list.any_of(files);
    if (list.one_in(2)) {
      source = list.new_file(list.any_of(parents), 1, 4);
      if (list.one_in(3)) list.add({.kind = Kind::fsync, .path = source});
    }
    list.rename(source, target, list.one_in(5) ? Kind::rename_exchange : Kind::rename);
    // A neighbour's fsync writes the inodes around it, and no name; so does that of the link that is left.
    const auto left = other_link.find(target);
    const bool by_link = left != other_link.end() && list.exists(left->second) && list.one_in(2);
    if (by_link || list.one_in(2))
      list.add({.kind = Kind::fsync, .path = by_link ? left->second : list.any_of(files)});
    list.maybe_persist(target);
  }
  return list.take();
}

std::vector<Operation> large_directories(std::uint64_t number) {
  Drawing list(number);
  const auto parents = some_directories(list, 2);
  std::vector<std::string> outside;
  outside.reserve(6);
  for (int i = 0; i < 6; ++i) outside.push_back(list.new_file(parents[1], 1, 3));
  // Three names fill a chunk, and twelve blocks of one chunk are followed by an indirect one.
  std::uint64_t next = 0;
  for (const std::uint64_t names = 30 + list.below(9); next < names; ++next)
    list.add({.kind = Kind::link, .path = outside[next % 3], .target = long_name(parents[0], next)});
  list.sync();
  for (int round = 0; round < 6; ++round) {
    for (std::uint64_t i = 1 + list.below(3); i > 0; --i) {
      const std::string name = long_name(parents[0], next++);
      switch (list.below(4)) {
        case 0:
          list.create(name);
          break;
        case 1:
          list.mkdir(name);
          break;
        default:
          list.rename(list.any_of(outside), name);
      }
    }
    const auto names = list.draft().children(parents[0]);
    if (list.one_in(4)) list.unlink(list.any_of(names));
    if (const std::string file = list.any_of(outside); list.exists(file)) list.maybe_persist(file);
    list.maybe_persist(list.any_file());
  }
  return list.take();
}

std::vector<Operation> journal_wrap(std::uint64_t number) {
  Drawing list(number);
  const auto parents = some_directories(list, 3);
  list.sync();
  // Each directory changes a block of its own: together they are more than a small journal holds.
  constexpr int kTooMany = 54;
  for (int i = 0; i < kTooMany; ++i) list.mkdir(fmt::format("{}/wide{}", parents[0], i));
  for (int i = 0; i < kTooMany; ++i) list.rmdir(fmt::format("{}/wide{}", parents[0], i));
  list.sync();
  for (int round = 0; round < 60; ++round) {
    const std::string made = list.fresh(list.any_of(parents));
    list.one_in(5) ? list.mkdir(made) : list.create(made);
    if (list.one_in(2)) list.write(made, 0, list.blocks(1, 6));
    const std::string file = list.any_file();
    if (list.one_in(3)) list.rename(file, list.fresh(list.any_of(parents)));
    if (list.one_in(2) && list.draft().all(FileType::regular).size() > 8) list.unlink(list.any_file());
    if (const auto all = list.draft().all(FileType::directory); list.one_in(4))
      list.add({.kind = Kind::rmdir, .path = list.any_of(all)});
    for (const std::string& parent : parents) list.mkdir(parent);
    if (list.one_in(12)) list.add({.kind = Kind::fsync, .path = list.any_file()});
  }
  return list.take();
}

/// Files lose their last names while they are open, and are written and synced without one; others take what
/// they give back when they are closed.
std::vector<Operation> open_files(std::uint64_t number) {
  Drawing list(number);
  const auto directories = some_directories(list, 2);
  for (int i = 0; i < 6; ++i) list.new_file(list.any_of(directories), 1, 24);
  list.sync();
  std::vector<std::string> open;
  for (int round = 0; round < 14; ++round) {
    const std::string file = list.any_file();
    switch (list.below(5)) {
      case 0:
      case 1:
        open.push_back(fmt::format("%o{}", round));
        if (!list.add({.kind = Kind::open, .path = file, .target = open.back()})) {
          open.pop_back();
        } else if (list.one_in(3)) {
          list.rename(list.new_file(list.any_of(directories), 1, 4), file);
        } else {
          list.unlink(file);
        }
        break;
      case 2:
        if (!open.empty()) list.write(list.any_of(open), 0, list.blocks(1, 30));
        break;
      case 3:
        if (open.empty()) break;
        list.add({.kind = Kind::close, .path = open.front()});
        open.erase(open.begin());
        break;
      default:
        list.new_file(list.any_of(directories), 1, 24);
    }
    if (!open.empty() && list.one_in(4)) list.add({.kind = Kind::fsync, .path = list.any_of(open)});
    list.maybe_persist(list.any_file());
  }
  if (list.one_in(2))
    for (const std::string& one : open) list.add({.kind = Kind::close, .path = one});
  return list.take();
}

/// What a journal of data has logged is written again: in small, and with more than one transaction holds.
std::vector<Operation> overwrites(std::uint64_t number) {
  Drawing list(number);
  for (int i = 0; i < 3; ++i) list.new_file({}, 24, 64);
  list.sync();
  for (int round = 0; round < 8; ++round) {
    const std::string file = list.any_file();
    const std::uint64_t stamps = list.size(file) / kStampBytes;
    list.write(file, (stamps - 1 - list.below(stamps / 2)) * kStampBytes, kStampBytes);
    if (!list.one_in(4)) list.add({.kind = Kind::fsync, .path = file});
    if (list.one_in(3)) continue;
    list.write(file, 0, list.size(file));
    if (list.one_in(2)) list.write(list.any_file(), 0, list.blocks(16, 24));
    if (!list.one_in(4)) list.add({.kind = Kind::fsync, .path = file});
  }
  return list.take();
}

std::vector<Operation> many_users(std::uint64_t number) {
  return random_operations({.seed = number,
                            .rounds = 40,
                            .directories = 2,
                            .names = 3,
                            .largest_blocks = 12,
                            .threads = 3,
                            .rounds_to_a_join = 10});
}

std::vector<Operation> histories(std::uint64_t number) {
  RandomOptions options{.seed = number, .rounds = 55, .directories = 2, .names = 3, .largest_blocks = 24};
  for (const Kind kind : {Kind::chmod, Kind::chown, Kind::touch})
    options.weights.at(static_cast<std::size_t>(kind)) = 2;
  return random_operations(options);
}

using Maker = std::vector<Operation> (*)(std::uint64_t);
struct Made {
  Family family;
  Maker make;
};

const std::vector<Made>& all_families() {
  static const std::vector<Made> kAll{
      {{"reuse", "files go and others take their blocks and inodes at once"}, reuse},
      {{"nearly-full", "every block that is taken has just been given back"}, nearly_full},
      {{"crumbs", "what has just been given back goes to files of one fragment each"}, crumbs},
      {{"full-users", "three users at once with little room: one takes what another one gives back"},
       full_users},
      {{"truncation", "files are cut, punched and grown again while others write"}, truncation},
      {{"indirect", "writes and cuts where indirect blocks of 512 bytes begin"}, indirect},
      {{"fragments", "files grow by half kilobytes side by side"}, fragments},
      {{"directories", "directories grow beyond a block, empty and go"}, directories},
      {{"renames", "over files, over directories, across them, synced or not"}, renames},
      {{"moves", "directories are emptied by renames into old and new ones, and removed"}, moves},
      {{"replacements", "synced files and new ones are renamed over others, while neighbours are synced"},
       replacements},
      {{"large-directories", "synced files move where a directory grows, beyond its direct blocks too"},
       large_directories},
      {{"journal-wrap", "so many changes of names that a small journal goes round"}, journal_wrap},
      {{"open-files", "files lose their last names while they are open"}, open_files},
      {{"overwrites", "synced files are written over, a block and whole ones"}, overwrites},
      {{"many-users", "three users at once who meet every few operations"}, many_users},
      {{"histories", "everything the language can say, in small"}, histories}};
  return kAll;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> kNames = [] {
    std::vector<Family> names;
    for (const Made& one : all_families()) names.push_back(one.family);
    return names;
  }();
  return kNames;
}

std::optional<std::vector<Operation>> family_member(std::string_view name, std::uint64_t number) {
  const auto found = std::ranges::find(all_families(), name, [](const Made& one) { return one.family.name; });
  if (found == all_families().end()) return std::nullopt;
  return found->make(number);
}

}  // namespace headcrash::workload
