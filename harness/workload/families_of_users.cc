// Generates the families in which calls overlap: fsync below directories that are being moved,
// concurrent syncs, and open files (families.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/workload/drawing.h"
#include "harness/workload/family_makers.h"

namespace headcrash::workload {

namespace {

using Kind = Operation::Kind;

void meet(Drawing& list, std::uint64_t users) {
  if (users > 1) list.join();
}

/// Lists the objects of `type` in the directory and in all directories below it.
std::vector<std::string> all_below(const Drawing& list, const std::string& directory,
                                   FileType type) {
  std::vector<std::string> paths = list.draft().all(type);
  std::erase_if(paths, [&](const std::string& path) { return !path.starts_with(directory + "/"); });
  return paths;
}

}  // namespace

/// Users rename directories and concurrently sync objects below them. Lists with even numbers have
/// one user, the others three. Half of the lists use names that are so long that the old and the
/// new name are in different blocks.
std::vector<Operation> paths(std::uint64_t number) {
  Drawing list(number);
  const std::uint64_t users = number % 2 == 0 ? 1 : 3;
  // In half of the lists, each name is so long that it fills a chunk of a directory.
  const std::string tail(number / 2 % 2 == 0 ? 0 : 240, 'x');
  for (std::uint64_t user = 0; user < users; ++user) {
    const std::string home = fmt::format("u{}", user);
    for (const std::string& directory : {home, home + "/a", home + "/b", home + "/a/in"})
      list.mkdir(directory);
    for (const std::string& directory : {home + "/a", home + "/b", home + "/a/in"}) {
      // The files that are created later get inodes after the inode of `file`. Their inodes are
      // therefore in a different block from the inode of their directory.
      const std::string file = list.new_file({}, 1, 3);
      list.rename(file, fmt::format("{}/{}", directory, file));
    }
    for (int i = 0; i < 5; ++i) list.create(list.fresh(home) + tail);
  }
  list.sync();
  meet(list, users);
  for (int round = 0; round < 14; ++round) {
    const std::uint64_t user = list.below(users);
    const auto thread = static_cast<std::uint8_t>(user);
    const std::string home = fmt::format("u{}", user);
    const std::vector<std::string> directories = all_below(list, home, FileType::directory);
    const std::string from = list.any_of(directories);
    const bool exchange = list.one_in(6);
    std::string to = list.fresh(list.one_in(2) ? from.substr(0, from.rfind('/')) : home) + tail;
    if (exchange) to = list.any_of(directories);
    const Operation rename{.kind = exchange ? Kind::rename_exchange : Kind::rename,
                           .path = from,
                           .target = to,
                           .thread = thread};
    const bool moved =
        !to.starts_with(from + "/") && !from.starts_with(to + "/") && list.add(rename);
    std::vector<std::string> below =
        all_below(list, moved && !list.one_in(4) ? to : home, FileType::regular);
    if (below.empty()) below = all_below(list, home, FileType::regular);
    const std::string file = list.any_of(below);
    if (list.one_in(4))
      list.add({.kind = Kind::write, .path = file, .length = list.blocks(1, 2), .thread = thread});
    if (!list.one_in(4)) list.add({.kind = Kind::fsync, .path = file, .thread = thread});
    if (round % 5 == 4) meet(list, users);
  }
  meet(list, users);
  return list.take();
}

/// Three users keep files open, remove or replace their names, and write, sync and close them
/// without names, while the others sync.
std::vector<Operation> open_users(std::uint64_t number) {
  constexpr std::uint64_t kUsers = 3;
  Drawing list(number);
  const auto homes = some_directories(list, kUsers);
  std::array<std::vector<std::string>, kUsers> open;
  int opened = 0;
  const auto files_of = [&](std::uint64_t user) {
    return all_below(list, homes[user], FileType::regular);
  };
  for (const std::string& home : homes)
    for (int i = 0; i < 2; ++i) list.new_file(home, 1, 6);
  list.sync();
  list.join();
  const auto act = [&](std::uint64_t user) {
    const auto thread = static_cast<std::uint8_t>(user);
    const auto files = files_of(user);
    auto& mine = open.at(user);
    const auto dice = list.below(10);
    if (files.empty() || dice < 2) {
      const std::string fresh = list.fresh(homes[user]);
      list.add({.kind = Kind::create, .path = fresh, .thread = thread});
      list.add({.kind = Kind::write, .path = fresh, .length = list.blocks(1, 6), .thread = thread});
    } else if (mine.size() < 3 && dice < 5) {
      const std::string file = list.any_of(files);
      mine.push_back(fmt::format("%o{}", opened++));
      list.add({.kind = Kind::open, .path = file, .target = mine.back(), .thread = thread});
      if (list.one_in(3))
        list.add(
            {.kind = Kind::rename, .path = list.any_of(files), .target = file, .thread = thread});
      else
        list.add({.kind = Kind::unlink, .path = file, .thread = thread});
    } else if (!mine.empty() && dice < 8) {
      const std::string file = mine[list.below(mine.size())];
      if (list.one_in(2)) {
        std::erase(mine, file);
        list.add({.kind = Kind::close, .path = file, .thread = thread});
      } else if (list.one_in(2)) {
        list.add(
            {.kind = Kind::write, .path = file, .length = list.blocks(1, 6), .thread = thread});
      } else {
        list.add({.kind = Kind::fsync, .path = file, .thread = thread});
      }
    } else {
      list.add({.kind = Kind::sync, .thread = thread});
    }
  };
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 12; ++i) act(list.below(kUsers));
    // One user syncs while the others close their files.
    const std::uint64_t syncs = list.below(kUsers);
    for (std::uint64_t user = 0; user < kUsers; ++user) {
      const auto thread = static_cast<std::uint8_t>(user);
      if (user == syncs) list.add({.kind = Kind::sync, .thread = thread});
      for (const std::string& file : std::exchange(open.at(user), {}))
        list.add({.kind = Kind::close, .path = file, .thread = thread});
      if (user == syncs) list.add({.kind = Kind::sync, .thread = thread});
    }
    list.join();
  }
  return list.take();
}

/// Three users call sync concurrently, with only a few changes to write.
std::vector<Operation> syncs(std::uint64_t number) {
  constexpr std::uint64_t kUsers = 3;
  Drawing list(number);
  const auto homes = some_directories(list, kUsers);
  list.sync();
  for (int round = 0; round < 5; ++round) {
    const std::uint64_t files = 1 + list.below(4);
    for (std::uint64_t i = 0; i < files; ++i) list.new_file(list.any_of(homes), 1, 12);
    if (const std::string file = list.any_file(); list.one_in(3)) list.unlink(file);
    list.join();
    const std::uint64_t first = list.below(kUsers);
    for (std::uint64_t i = 0; i < kUsers; ++i) {
      const std::uint64_t user = (first + i) % kUsers;
      const auto thread = static_cast<std::uint8_t>(user);
      for (std::uint64_t more = list.below(3); more > 0; --more)
        list.add({.kind = Kind::create, .path = list.fresh(homes[user]), .thread = thread});
      list.add({.kind = Kind::sync, .thread = thread});
    }
    list.join();
  }
  return list.take();
}

/// Two users change files beyond the direct pointers and call fsync, while a third user calls sync.
/// A call by one user may thus write data that another user is about to sync.
std::vector<Operation> fsyncs(std::uint64_t number) {
  constexpr std::uint8_t kUsers = 3, kWhoSyncs = 0;
  constexpr std::uint64_t kBlocks = 40;
  Drawing list(number);
  std::vector<std::string> files;
  files.reserve(kUsers);
  for (std::uint8_t user = 0; user < kUsers; ++user) files.push_back(list.new_file({}, 1, kBlocks));
  list.sync();
  list.join();
  for (int round = 0; round < 6; ++round) {
    for (std::uint8_t user = kWhoSyncs + 1; user < kUsers; ++user) {
      const std::string& file = files[user];
      const std::uint64_t at = list.below(kBlocks) * kStampBytes;
      const auto dice = list.below(3);
      if (dice == 0) list.add({.kind = Kind::truncate, .path = file, .length = at, .thread = user});
      if (dice == 1)
        list.add({.kind = Kind::punch,
                  .path = file,
                  .offset = at,
                  .length = list.blocks(1, 8),
                  .thread = user});
      list.add({.kind = Kind::write,
                .path = file,
                .offset = at,
                .length = list.blocks(1, 6),
                .thread = user});
    }
    list.add({.kind = Kind::sync, .thread = kWhoSyncs});
    for (std::uint8_t user = kWhoSyncs + 1; user < kUsers; ++user)
      list.add({.kind = Kind::fsync, .path = files[user], .thread = user});
    if (list.one_in(2)) list.join();
  }
  list.join();
  return list.take();
}

/// Appends to files within their last fragment, and syncs them. The files are open, but keep their
/// names.
std::vector<Operation> appends(std::uint64_t number) {
  Drawing list(number);
  struct Open {
    std::string name;
    std::uint64_t last = 0;    ///< number of the file's last stamp
    std::uint64_t filled = 0;  ///< number of bytes in the last stamp that are in use
  };
  std::vector<Open> files;
  for (int i = 0; i < 3; ++i) {
    const std::string file = list.fresh();
    list.create(file);
    files.push_back({.name = fmt::format("%o{}", i)});
    list.add({.kind = Kind::open, .path = file, .target = files.back().name});
  }
  list.sync();
  for (int round = 0; round < 16; ++round) {
    Open& file = files[list.below(files.size())];
    // Overwrites bytes inside the file, so that only the times in the inode change.
    if (list.one_in(6)) {
      list.write(file.name, 0, std::min<std::uint64_t>(list.size(file.name), 100));
    } else {
      if (file.filled == kStampBytes) ++file.last, file.filled = 0;
      file.filled += 1 + list.below(kStampBytes - file.filled);
      list.write(file.name, file.last * kStampBytes, file.filled);
    }
    const auto dice = list.below(5);
    if (dice == 0) list.add({.kind = Kind::fsync, .path = file.name});
    if (dice == 1 || dice == 2) list.sync();
  }
  for (const Open& one : files) list.add({.kind = Kind::close, .path = one.name});
  return list.take();
}

/// A user creates, overwrites, extends, renames and removes files in a directory, and rests at
/// times. Rests are about as long as the write delays of file systems. In lists with odd numbers, a
/// second user works in another directory, and one file stays open, so that its inode stays in
/// memory.
std::vector<Operation> rests(std::uint64_t number) {
  constexpr std::array<std::int64_t, 3> kRests{8, 15, 40};
  Drawing list(number);
  const int users = number % 2 == 0 ? 1 : 2;
  const auto homes = some_directories(list, users);
  for (const std::string& home : homes)
    for (int i = 0; i < 3; ++i) list.new_file(home, 1, 20);
  if (users > 1)
    list.add({.kind = Kind::open,
              .path = all_below(list, homes[0], FileType::regular).front(),
              .target = "%log"});
  list.sync();
  meet(list, homes.size());
  const auto change = [&](std::uint8_t user) {
    const std::string& home = homes[user];
    const auto files = all_below(list, home, FileType::regular);
    const std::string file = files.empty() ? std::string() : list.any_of(files);
    const auto dice = list.below(7);
    if (dice < 2 || file.empty()) {
      const std::string fresh = list.fresh(home);
      list.add({.kind = Kind::create, .path = fresh, .thread = user});
      list.add({.kind = Kind::write, .path = fresh, .length = list.blocks(1, 20), .thread = user});
    } else if (dice == 2) {
      list.add({.kind = Kind::rename, .path = file, .target = list.fresh(home), .thread = user});
    } else if (dice == 3) {
      list.add({.kind = Kind::unlink, .path = file, .thread = user});
    } else {
      const std::uint64_t at =
          dice == 4 ? list.below(list.size(file) / kStampBytes + 1) * kStampBytes
                    : (list.size(file) + kStampBytes - 1) / kStampBytes * kStampBytes;
      list.add({.kind = Kind::write,
                .path = file,
                .offset = at,
                .length = list.blocks(1, 6),
                .thread = user});
    }
  };
  for (int round = 0; round < 6; ++round) {
    for (auto more = 1 + list.below(5); more > 0; --more) change(0);
    list.add({.kind = Kind::rest, .seconds = kRests.at(list.below(kRests.size()))});
    for (std::uint64_t more = 0; users > 1 && more < 4; ++more) change(1);
    meet(list, homes.size());
  }
  return list.take();
}

}  // namespace headcrash::workload
