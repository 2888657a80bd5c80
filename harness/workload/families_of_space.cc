// Generates the families that test how blocks are allocated, freed and reused (families.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/workload/drawing.h"
#include "harness/workload/family_makers.h"
#include "harness/workload/random_operations.h"

namespace headcrash::workload {

namespace {

using Kind = Operation::Kind;

/// Removes a file, and creates another one that reuses its space.
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
      // The new file reuses the inode and the block of the directory that was removed.
      const std::string made = list.fresh(list.any_of(directories)) + "dir";
      list.mkdir(made);
      if (list.one_in(2)) list.sync();
      list.add({.kind = Kind::rmdir, .path = made});
      return list.maybe_persist(list.new_file(list.any_of(directories), 1, 8));
    }
  }
}

}  // namespace

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

namespace {

/// Allocates every block of a small disk. The sizes of the files are halved repeatedly, so that
/// even the last fragment is allocated. After ENOSPC, the last file is short or empty.
void fill_the_disk(Drawing& list) {
  constexpr std::uint64_t kLargest = 128 << 10;
  list.mkdir("full");
  for (const std::uint64_t bytes : {kLargest, kLargest})
    if (const std::string file = list.fresh("full"); list.create(file)) list.write(file, 0, bytes);
  for (std::uint64_t bytes = kLargest; bytes >= kStampBytes; bytes /= 2)
    if (const std::string file = list.fresh("full"); list.create(file)) list.write(file, 0, bytes);
}

/// Fills the disk, leaving space for `least` to `most` stamps, and syncs.
void leave_little_room(Drawing& list, std::uint64_t least, std::uint64_t most) {
  list.create("room");
  list.write("room", 0, list.blocks(least, most));
  fill_the_disk(list);
  list.unlink("room");
  list.sync();
}

/// Frees some space: a whole file, the end or the middle of a file, or a directory. Returns the
/// number of bytes that were freed.
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

/// Uses `bytes` bytes of freed space. Appends all of them to `taker` or, in a third of the cases,
/// one fragment to `taker` and the rest to `other`. Returns the file that was appended to last.
std::string take(Drawing& list, const std::string& taker, const std::string& other,
                 std::uint64_t bytes) {
  bytes = bytes / kStampBytes * kStampBytes;
  if (bytes <= kStampBytes || !list.one_in(3)) {
    list.append(taker, bytes);
    return taker;
  }
  list.append(taker, kStampBytes);
  list.append(other, bytes - kStampBytes);
  return other;
}

/// A disk without free blocks. Six files are in two directories, and one of the directories also
/// has a spare subdirectory.
struct FullDisk {
  explicit FullDisk(std::uint64_t number) : list(number), directories(some_directories(list, 2)) {
    for (int i = 0; i < 6; ++i)
      files.push_back(list.new_file(list.any_of(directories), 1, i % 2 == 0 ? 8 : 40));
    spare = directories[0] + "/spare";
    list.mkdir(spare);
    fill_the_disk(list);
    list.sync();
  }
  /// Removes the names of nonexistent files from `files`. Returns false if `files` is then empty.
  bool forget_the_removed() {
    std::erase_if(files, [&](const std::string& file) { return !list.exists(file); });
    return !files.empty();
  }

  Drawing list;
  std::vector<std::string> directories, files;
  std::string spare;
};

}  // namespace

/// Each round frees blocks and allocates them again at once, because no other blocks are free.
std::vector<Operation> nearly_full(std::uint64_t number) {
  FullDisk disk(number);
  Drawing& list = disk.list;
  for (int round = 0; round < 6 && disk.forget_the_removed(); ++round) {
    // In some rounds, the new file is created before the space is freed, so that its first writes
    // are already in flight.
    const bool to_new = list.one_in(2), made_before = list.one_in(2), to_directory = list.one_in(6);
    const std::string taker =
        to_new ? list.fresh(list.any_of(disk.directories)) : list.any_of(disk.files);
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

/// Like nearly_full(), but reuses the freed space for files of one fragment each.
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

/// Requests more space than is free. An operation that is refused must have no effect.
std::vector<Operation> no_room(std::uint64_t number) {
  FullDisk disk(number);
  Drawing& list = disk.list;
  const auto long_name = [&] {
    return list.fresh(list.any_of(disk.directories)) + std::string(200, 'n');
  };
  for (int round = 0; round < 8 && disk.forget_the_removed(); ++round) {
    const std::string file = list.any_of(disk.files);
    const std::uint64_t size = list.size(file),
                        end = (size + kStampBytes - 1) / kStampBytes * kStampBytes;
    if (list.one_in(2)) list.truncate(list.any_of(disk.files), list.below(4) * kStampBytes);
    switch (list.below(6)) {
      case 0:
      case 1:
        list.add(
            {.kind = Kind::allocate, .path = file, .offset = end, .length = list.blocks(40, 200)});
        break;
      case 2:
        list.append(file, list.blocks(40, 120));
        break;
      case 3:
        list.mkdir(long_name());
        break;
      case 4:
        list.add({.kind = Kind::symlink,
                  .path = long_name(),
                  .target = std::string(list.below(450) + 1, 't')});
        break;
      default:
        for (int i = 0; i < 12; ++i)
          list.add({.kind = Kind::link, .path = file, .target = long_name()});
        break;
    }
    list.maybe_persist(file);
  }
  return list.take();
}

namespace {

/// Returns a multiple of a block size, or a number that differs from a multiple by one or by a part
/// of a block. The number of blocks is either small, or a number at which indirect blocks begin.
std::uint64_t draw_edge(Drawing& list) {
  constexpr std::array<std::uint64_t, 3> kBlocks{512, 1024, 2048};
  constexpr std::array<std::uint64_t, 8> kCounts{0, 1, 2, 3, 7, 12, 13, 14};
  const std::uint64_t edge = kBlocks.at(list.below(3)) * kCounts.at(list.below(8));
  switch (list.below(5)) {
    case 0:
      return edge + 1;
    case 1:
      return edge == 0 ? 0 : edge - 1;
    case 2:
      return edge + list.below(2048);
    default:
      return edge;
  }
}

}  // namespace

/// On a nearly full disk, the ranges of writes, allocations, holes and truncations begin and end at
/// an edge of a block or file, just before or after the edge, or far beyond the end of the file.
std::vector<Operation> edges(std::uint64_t number) {
  Drawing list(number);
  for (int i = 0; i < 5; ++i)
    if (const std::string file = list.fresh(); list.create(file))
      list.write(file, 0, draw_edge(list));
  leave_little_room(list, 2, 40);
  for (int round = 0; round < 10; ++round) {
    const std::string file = list.one_in(6) ? list.fresh() : list.any_file();
    if (!list.exists(file)) list.create(file);
    const std::uint64_t size = list.size(file);
    const auto range = [&](Kind kind, std::uint64_t offset) {
      list.add({.kind = kind, .path = file, .offset = offset, .length = draw_edge(list) + 1});
    };
    switch (list.below(8)) {
      case 0:
        range(Kind::write, list.below(size + 1));
        break;
      case 1:
        range(Kind::write, size);
        break;
      case 2:
        range(Kind::write, size + draw_edge(list));
        break;
      case 3:
        range(Kind::allocate, size + draw_edge(list));
        break;
      case 4:
        range(Kind::punch, list.below(size + 1));
        break;
      case 5:
        range(Kind::zero, list.below(size + 1));
        break;
      case 6:
        list.truncate(file, draw_edge(list));
        break;
      default:
        give_back(list, file);
    }
    list.maybe_persist(list.exists(file) ? file : list.any_file());
  }
  return list.take();
}

/// The number of the list determines how many blocks of 512 bytes are free. Each operation may
/// therefore run out of space at any of its steps, also after it has changed a part of its range in
/// place. Space that is taken is often returned, so that the disk stays at this limit.
std::vector<Operation> last_blocks(std::uint64_t number) {
  constexpr std::uint64_t kFreeBlocks = 16;
  Drawing list(number);
  std::vector<std::string> files;
  for (int i = 0; i < 3; ++i) files.push_back(list.new_file({}, 2, 20));
  for (const std::string& file : files)
    list.truncate(file, list.size(file) - list.below(kStampBytes));
  leave_little_room(list, number % kFreeBlocks, number % kFreeBlocks);
  for (int round = 0; round < 24; ++round) {
    const std::string file = list.any_of(files);
    const std::uint64_t size = list.size(file);
    // A block that has changed since the last sync may be changed in place.
    if (list.one_in(2)) list.write(file, list.below(size + 1), 1 + list.below(kStampBytes));
    const std::uint64_t inside = list.below(size + 1);
    const auto range = [&](Kind kind, std::uint64_t offset, std::uint64_t length) {
      list.add({.kind = kind, .path = file, .offset = offset, .length = length});
    };
    switch (list.below(6)) {
      case 0:
        range(Kind::write, size + list.blocks(1, 5), list.blocks(1, 10));
        break;
      case 1:
        range(Kind::write, inside, list.blocks(1, 16));
        break;
      case 2:
        range(Kind::allocate, inside, list.blocks(1, 16));
        break;
      case 3:
        list.truncate(file, size + list.blocks(1, 8) + list.below(kStampBytes));
        break;
      default:
        range(list.one_in(2) ? Kind::punch : Kind::zero_keep, inside,
              list.blocks(1, 12) + list.below(kStampBytes));
    }
    if (list.one_in(4)) list.maybe_persist(file);
    if (!list.one_in(3)) list.truncate(file, size);
  }
  return list.take();
}

/// Three users work on a nearly full disk. One of them reuses the space that another one frees.
std::vector<Operation> full_users(std::uint64_t number) {
  Drawing list(number);
  leave_little_room(list, 24, 48);
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

/// The disk is nearly full. Users write into holes that are addressed by indirect blocks, while
/// other pointers in these blocks are freed. Other users reuse the freed space.
std::vector<Operation> holes(std::uint64_t number) {
  // kFirst is the number of direct pointers. Blocks are 512 bytes, so each direct pointer refers to
  // a block with exactly one stamp.
  constexpr std::uint64_t kUsers = 3, kFirst = 12;
  Drawing list(number);
  const std::vector<std::string> sparse{"s0", "s1"};
  for (const std::string& file : sparse) {
    list.create(file);
    for (std::uint64_t block = kFirst; block < kFirst + 40; block += 2 + list.below(3))
      list.write(file, block * kStampBytes, kStampBytes * (1 + list.below(2)));
  }
  list.mkdir("others");
  leave_little_room(list, 8, 24);
  list.join();
  for (int round = 0; round < 16; ++round) {
    const std::uint64_t user = list.below(kUsers);
    const auto thread = static_cast<std::uint8_t>(user);
    if (user < sparse.size()) {
      const std::string& file = sparse[user];
      const auto place = [&] { return (kFirst + list.below(40)) * kStampBytes; };
      list.add({.kind = Kind::write,
                .path = file,
                .offset = place(),
                .length = kStampBytes,
                .thread = thread});
      const std::uint64_t cut = place();
      if (list.one_in(5))
        list.add({.kind = Kind::truncate, .path = file, .length = cut, .thread = thread});
      else
        list.add({.kind = Kind::punch,
                  .path = file,
                  .offset = cut,
                  .length = list.blocks(2, 8),
                  .thread = thread});
      if (list.one_in(3)) list.add({.kind = Kind::sync, .thread = thread});
    } else {
      const std::string made = list.fresh("others");
      list.add({.kind = Kind::create, .path = made, .thread = thread});
      list.add({.kind = Kind::write, .path = made, .length = list.blocks(2, 10), .thread = thread});
      list.add({.kind = Kind::fsync, .path = made, .thread = thread});
    }
    if (round % 8 == 7) list.join();
  }
  list.join();
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
      case 1:  // truncates within a block and extends again: the tail must be zeroes
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

namespace {

/// Offsets at which each level of indirect blocks begins if blocks are 512 bytes. The last offset
/// is beyond the first double indirect block.
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

}  // namespace

std::vector<Operation> indirect(std::uint64_t number) {
  Drawing list(number);
  // Only some lists use triple indirect blocks, because fsck takes a long time on a file of eight
  // megabytes.
  const bool triple = number % 4 == 3;
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
    // Let another file reuse the freed blocks, which contained pointers or data.
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

std::vector<Operation> regrowth(std::uint64_t number) {
  Drawing list(number);
  const auto directories = some_directories(list, 1);
  std::vector<std::string> files(4);
  for (std::string& file : files) file = list.new_file(directories[0], 2, 14);
  list.sync();
  for (int round = 0; round < 5; ++round) {
    const std::string file = list.any_of(files), other = list.any_of(files);
    const std::uint64_t began_at = list.size(file) / kStampBytes;
    list.append(file, list.blocks(1, 4));
    list.truncate(file, list.below(began_at + 1) * kStampBytes);
    list.add({.kind = Kind::fsync, .path = other});
    if (list.one_in(2)) {
      list.append(other, list.blocks(1, 6));
    } else {
      files.push_back(list.new_file(directories[0], 1, 6));
    }
    list.add({.kind = Kind::fsync, .path = list.one_in(2) ? other : files.back()});
    list.append(file, list.blocks(1, 12));
    if (list.one_in(2)) list.add({.kind = Kind::fsync, .path = other});
  }
  return list.take();
}

/// Overwrites data that is still in the journal, with data journalling. Some writes are small;
/// others are larger than a transaction.
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

}  // namespace headcrash::workload
