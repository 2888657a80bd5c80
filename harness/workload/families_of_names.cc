// Generates the families that test names: directories that grow and disappear, renames, and open
// files without names (families.h).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/workload/drawing.h"
#include "harness/workload/family_makers.h"

namespace headcrash::workload {

namespace {

using Kind = Operation::Kind;

constexpr std::size_t kLongName = 150;  ///< so long that three names fill a chunk of a directory

std::string long_name(const std::string& directory, std::uint64_t number) {
  std::string name = fmt::format("{}/n{}", directory, number);
  name.resize(directory.size() + kLongName, 'x');
  return name;
}

}  // namespace

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
      case 2:  // removes the directory and creates a file in its place
        for (const std::string& name : names)
          if (!list.unlink(name)) list.add({.kind = Kind::rmdir, .path = name});
        if (list.one_in(2)) list.sync();
        list.add({.kind = Kind::rmdir, .path = in});
        if (const std::string file = list.fresh(); list.create(file))
          list.write(file, 0, list.blocks(1, 10));
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
        if (const std::string file = list.any_file(); !file.empty())
          list.append(file, list.blocks(1, 6));
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
    std::vector<std::string> names =
        list.draft().all(directory ? FileType::directory : FileType::regular);
    if (directory)
      std::erase_if(names, [](const std::string& path) { return path.find('/') == path.npos; });
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
    if (list.one_in(3)) {  // in a third of the rounds, another file gets the old name
      if (list.create(from)) list.write(from, 0, list.blocks(1, 4));
      list.maybe_persist(from);
    }
    if (list.one_in(4)) list.add({.kind = Kind::fsync_directory, .path = list.any_of(parents)});
    if (list.one_in(3)) list.maybe_persist(list.any_file());
  }
  return list.take();
}

/// Exchanges files and non-empty directories with objects in other directories.
std::vector<Operation> exchanges(std::uint64_t number) {
  Drawing list(number);
  const auto parents = some_directories(list, 3);
  std::vector<std::string> places;
  for (const std::string& parent : parents) {
    places.push_back(parent + "/sub");
    list.mkdir(places.back());
    list.new_file(places.back(), 1, 2);
    places.push_back(list.new_file(parent, 1, 2));
  }
  list.sync();
  for (int round = 0; round < 9; ++round) {
    const std::string one = list.any_of(places);
    list.rename(one, list.any_of(list.one_in(4) ? parents : places), Kind::rename_exchange);
    if (list.one_in(3)) continue;  // the next exchange follows without a persistence point
    const std::string file = list.any_file();
    if (list.one_in(2)) list.write(file, 0, kStampBytes);
    list.maybe_persist(file);
  }
  return list.take();
}

std::vector<Operation> long_renames(std::uint64_t number) {
  constexpr std::size_t kNameBytes = 193;
  Drawing list(number);
  const auto parents = some_directories(list, 2);
  std::vector<std::string> taken, free;
  for (std::uint64_t i = 0; i < 6; ++i) {
    std::string path = fmt::format("{}/n{}", parents[i % 2], i);
    path.resize(parents[i % 2].size() + 1 + kNameBytes, 'x');
    if (i < 4) list.mkdir(path);
    (i < 4 ? taken : free).push_back(std::move(path));
  }
  const std::string file = list.new_file(parents[0], 1, 2);
  list.sync();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 24; ++i) {
      std::string& from = taken[list.below(taken.size())];
      if (list.one_in(3)) {
        list.rename(from, list.any_of(taken), Kind::rename_exchange);
      } else {
        std::string& to = free[list.below(free.size())];
        list.rename(from, to);
        std::swap(from, to);
      }
    }
    list.write(file, 0, kStampBytes);
    list.add({.kind = Kind::fsync, .path = file});
  }
  return list.take();
}

namespace {

/// Moves everything out of a directory, and removes the directory.
void empty_and_remove(Drawing& list, const std::string& from, const std::string& to) {
  for (const std::string& path : list.draft().children(from))
    list.rename(path, to + path.substr(path.rfind('/')));
  list.rmdir(from);
}

}  // namespace

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
      case 0:  // into a new directory
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
      case 3:  // a new object gets the name of a removed object
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
    // An fsync of a file writes all inodes that are in the same block as the file's inode, but no
    // names.
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
    // This fsync writes the inodes that are in the same block as the synced file's inode, but no
    // names. The synced file is either the replaced file, under its other name, or a random file.
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
  // Three names fill a chunk, and each block has one chunk. When the directory has more than twelve
  // blocks, it needs an indirect block.
  std::uint64_t next = 0;
  for (const std::uint64_t names = 30 + list.below(9); next < names; ++next)
    list.add(
        {.kind = Kind::link, .path = outside[next % 3], .target = long_name(parents[0], next)});
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
  // Each new directory changes a different block. A small journal cannot hold all of these blocks.
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
    if (list.one_in(2) && list.draft().all(FileType::regular).size() > 8)
      list.unlink(list.any_file());
    if (const auto all = list.draft().all(FileType::directory); list.one_in(4))
      list.add({.kind = Kind::rmdir, .path = list.any_of(all)});
    for (const std::string& parent : parents) list.mkdir(parent);
    if (list.one_in(12)) list.add({.kind = Kind::fsync, .path = list.any_file()});
  }
  return list.take();
}

/// Adds and removes names of all lengths in one directory. The free space of a chunk becomes
/// fragmented, so a new name moves other entries. These entries may not be on the disk yet.
std::vector<Operation> crowded(std::uint64_t number) {
  Drawing list(number);
  const auto directories = some_directories(list, 2);
  const auto name = [&] {
    std::string made = list.fresh(directories[0]) + "-";
    return made + std::string(list.below(list.one_in(2) ? 20 : 190), 'x');
  };
  const auto make = [&] {
    const std::string made = name();
    list.one_in(4) ? list.mkdir(made) : list.create(made);
  };
  for (int i = 0; i < 12; ++i) make();
  list.sync();
  for (int round = 0; round < 12; ++round) {
    const auto names = list.draft().children(directories[0]);
    for (int i = 0; i < 2 && !names.empty(); ++i)
      if (const std::string& gone = list.any_of(names); !list.unlink(gone)) list.rmdir(gone);
    for (std::uint64_t i = 1 + list.below(3); i > 0; --i) make();
    if (const auto left = list.draft().children(directories[0]); list.one_in(3) && !left.empty())
      list.rename(list.any_of(left), name());
    if (list.one_in(3)) list.maybe_persist(list.any_file());
  }
  return list.take();
}

/// Removes the last name of open files, and then writes and syncs them. When they have been closed,
/// other files reuse their space.
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

}  // namespace headcrash::workload
