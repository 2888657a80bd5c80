// Cuts the power after each write of a workload, inside each write, and with any subset of the
// writes since the last superblock. The checker must have no findings. Names and link counts must
// match a state that is not older than the last sync. Files must not contain bytes that were never
// written to them. A mount followed by an unmount must leave no findings. For each rule there is a
// control that breaks the rule; the test must detect the control.

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "fs-adapters/snapfs/testing/mounted.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;
using bench::Machine;

/// Returns one line for each object below a directory: its path, inode number, link count and size
/// (0 for a directory).
std::set<std::string> listing(Vfs& fs, const std::string& path = {}) {
  std::set<std::string> lines;
  const auto names = fs.list(path);
  if (!names) return {"(cannot be listed: " + path + ")"};
  for (const DirectoryEntry& entry : *names) {
    const std::string at = path.empty() ? entry.name : path + "/" + entry.name;
    const auto status = fs.stat(at);
    if (!status) return {"(cannot be seen: " + at + ")"};
    lines.insert(at + " " + std::to_string(status->inode) + " " + std::to_string(status->links) +
                 " " +
                 std::to_string(status->type == FileType::directory ? 0 : status->size_bytes));
    if (status->type == FileType::directory) lines.merge(listing(fs, at));
  }
  return lines;
}

enum class Bytes : std::uint8_t { letter_of_name, not_of_old_disk };

/// Returns the same lines as listing(Vfs), but reads an image. If a file has wrong contents,
/// describes them in `wrong`. `letter_of_name` permits only zeroes and the last letter of the
/// file's name, in upper or lower case. `not_of_old_disk` permits all bytes except those from
/// before mkfs.
std::set<std::string> listing(const ImageReader& reader, Bytes bytes, std::string& wrong) {
  std::set<std::string> lines;
  const auto walked = reader.walk([&](const ImageReader::Found& found) {
    const Inode& inode = found.inode;
    lines.insert(found.path + " " + std::to_string(inode.number) + " " +
                 std::to_string(inode.links) + " " +
                 std::to_string(inode.is_directory() ? 0 : inode.size_bytes));
    if (!inode.is_regular()) return;
    std::string text(inode.size_bytes, '?');
    const auto got = reader.read(inode, 0, std::as_writable_bytes(std::span(text)));
    const char letter = found.path.back();
    const std::string own{'\0', letter, static_cast<char>(std::toupper(letter))};
    // Uses library functions, because sanitizer builds instrument this file and would make a loop
    // here slow.
    const auto foreign =
        bytes == Bytes::not_of_old_disk ? text.find('#') : text.find_first_not_of(own);
    if (!got || foreign != std::string::npos)
      wrong = found.path + " has bytes that were never written to it";
  });
  if (!walked) wrong = walked.error().message();
  return lines;
}

/// Runs operations one at a time and records the state after each one.
class Recorder {
 public:
  Recorder(Machine& machine, bench::LoggedStore& log) : m_(machine), log_(log) { note(); }

  struct State {
    std::set<std::string> names;
    std::size_t writes = 0;  ///< disk writes issued before the state was recorded
    bool synced = false;     ///< if true, no later power cut may show an earlier state
  };

  Vfs& fs() { return *m_.file_system; }
  void done(bool synced = false) {
    note();
    states.back().synced = synced;
  }
  void ok(const VfsResult<void>& result) {
    EXPECT_TRUE(result) << result.error().value;
    done();
  }
  enum class End : std::uint8_t { close, fsync };
  void write(const std::string& path, std::size_t offset, std::size_t bytes, End end = End::close) {
    const bool exists = fs().stat(path).has_value();
    const auto file = fs().open(path, {.create = true});
    ASSERT_TRUE(file) << path << " " << file.error().value;
    done();
    const char letter = path.back();
    const auto fill = static_cast<char>(exists ? std::toupper(letter) : letter);
    ok(fs().pwrite(*file, offset, bench::bytes_of(std::string(bytes, fill))));
    if (end == End::fsync) {
      EXPECT_TRUE(fs().fsync(*file));
      done(true);
    }
    EXPECT_TRUE(fs().close(*file));
  }
  void sync() {
    EXPECT_TRUE(fs().sync());
    done(true);
  }
  void settle(int seconds) {
    m_.executor().sleep_until(m_.executor().now() + seconds * model::kSecondNs);
    done();
  }

  std::vector<State> states;

 private:
  void note() { states.push_back({listing(fs()), log_.log.size(), false}); }
  Machine& m_;
  bench::LoggedStore& log_;
};

using Workload = std::function<void(Recorder&)>;
using End = Recorder::End;

struct Crashes {
  explicit Crashes(const bench::DiskOptions& options, const MountOptions& its_mount = {})
      : disk(options),
        mount(its_mount),
        image(*media::MemoryStore::create(disk.store->sectors())),
        scratch(*media::MemoryStore::create(disk.store->sectors())) {
    copy(*disk.store, *image);
    copy(*disk.store, *image_at_commit);
    const auto reader = ImageReader::open(*disk.store);
    EXPECT_TRUE(reader);
    first_block_lba = reader->superblock().lba_of(reader->superblock().first_block());
  }

  static void copy(const model::SectorStore& from, model::SectorStore& to) {
    std::vector<std::byte> all(from.sectors() * kSectorBytes);
    EXPECT_TRUE(from.read(0, all));
    EXPECT_TRUE(to.write(0, all));
  }
  /// Returns true if the write is a superblock or a log record. The disk is flushed before and
  /// after such a write.
  bool is_commit(const bench::LoggedStore::Write& write) const {
    return write.lba < first_block_lba;
  }

  void run(const Workload& workload, std::uint64_t cache_bytes = 512 << 10) {
    run_machine(cache_bytes, [&](Machine& m) {
      m.as_user([&] {
        recorder = std::make_unique<Recorder>(m, disk.log);
        workload(*recorder);
      });
    });
  }
  /// Runs several users at once, with cold caches, so that their operations have to wait for the
  /// disk.
  void run_crowd(std::uint32_t seed) {
    judges_names = false;
    bytes = Bytes::not_of_old_disk;
    run_machine(256 << 10, [&](Machine& m) {
      std::vector<std::unique_ptr<tree::bench::User>> users;
      std::vector<std::unique_ptr<os::Account>> accounts;
      for (std::uint32_t i = 0; i < 4; ++i) {
        users.push_back(
            std::make_unique<tree::bench::User>(*m.file_system, "u" + std::to_string(i), seed + i));
        accounts.push_back(std::make_unique<os::Account>());
        m.executor().spawn(os::Executor::Kind::user, *accounts.back(),
                           [&, i] { users[i]->live(60); });
      }
      os::Account other;
      m.executor().spawn(os::Executor::Kind::user, other, [&] {
        for (int i = 0; i < 300; ++i) {
          m.file_system->snapshots().forget_idle(0);
          m.file_system->snapshots().drop_clean();
          m.executor().sleep_until(m.executor().now() + model::kMillisecondNs / 2);
        }
      });
      m.executor().run();
    });
  }
  /// Runs each user on a separate fiber. The users start one after another.
  void run_concurrently(std::uint64_t cache_bytes, const Workload& before,
                        const std::vector<std::function<void(Vfs&)>>& users) {
    judges_names = false;
    bytes = Bytes::letter_of_name;
    run_machine(cache_bytes, [&](Machine& m) {
      m.as_user([&] {
        recorder = std::make_unique<Recorder>(m, disk.log);
        before(*recorder);
      });
      std::vector<std::unique_ptr<os::Account>> accounts;
      for (std::size_t i = 0; i < users.size(); ++i) {
        accounts.push_back(std::make_unique<os::Account>());
        m.executor().spawn(os::Executor::Kind::user, *accounts.back(), [&, i] {
          m.executor().sleep_until(m.executor().now() +
                                   static_cast<os::TimeNs>(i) * 5 * model::kMillisecondNs);
          users[i](*m.file_system);
        });
      }
      m.executor().run();
    });
  }
  void run_machine(std::uint64_t cache_bytes, const std::function<void(Machine&)>& body) {
    disk.log.keep = true;
    Machine m(disk.log, cache_bytes);
    m.machine.disk.write_cache(write_cache);
    m.mount(mount);
    body(m);
    counters = m.file_system->snapshots().counters();
    m.as_user([&] { (void)m.file_system->unmount(); });
    m.file_system.reset();
  }

  void look() {
    const auto& log = disk.log.log;
    std::mt19937 random(1);
    std::size_t last_commit = 0;
    for (std::size_t i = 0; i < log.size() && problems.size() < 5; ++i) {
      if (is_commit(log[i])) {
        check_subsets(last_commit, i, random);
        check_torn(i);
        last_commit = i + 1;
      }
      EXPECT_TRUE(image->write(log[i].lba, log[i].bytes));
      check_state(*image, i + 1, "after write " + std::to_string(i) + ": ");
    }
  }

  /// A power cut on a disk with a cache may leave any subset of the writes between two superblocks
  /// or records. Checks some of these states.
  void check_subsets(std::size_t from, std::size_t to, std::mt19937& random) {
    for (int round = 0; round < 4 && problems.size() < 5; ++round) {
      copy(*image_at_commit, *scratch);
      for (std::size_t i = from; i < to; ++i)
        if (random() % 2 == 0) {
          EXPECT_TRUE(scratch->write(disk.log.log[i].lba, disk.log.log[i].bytes));
        }
      check_state(
          *scratch, from,
          "some of the writes " + std::to_string(from) + " to " + std::to_string(to) + ": ");
    }
  }

  /// A power cut may leave any subset of the sectors of a superblock or record. Checks these
  /// states.
  void check_torn(std::size_t number) {
    const auto& write = disk.log.log[number];
    const std::size_t sectors = write.bytes.size() / kSectorBytes;
    // Applies all subsets of only the first five sectors of a long record, to limit the number of
    // states.
    const unsigned masks = 1U << std::min<std::size_t>(sectors, 5);
    for (unsigned mask = 0; mask + 1 < masks && problems.size() < 5; ++mask) {
      copy(*image, *scratch);
      for (std::size_t i = 0; i < sectors; ++i)
        if ((mask >> i & 1U) != 0) {
          EXPECT_TRUE(scratch->write(
              write.lba + i, std::span(write.bytes).subspan(i * kSectorBytes, kSectorBytes)));
        }
      check_state(*scratch, number,
                  "sectors " + std::to_string(mask) + " of write " + std::to_string(number) + ": ");
    }
    copy(*image, *image_at_commit);
    EXPECT_TRUE(image_at_commit->write(write.lba, write.bytes));
  }

  void check_state(const model::SectorStore& store, std::size_t writes, const std::string& where) {
    ++states;
    const auto report = check(store);
    if (!report) return problems.push_back(where + report.error().message());
    if (!report->nothing_found()) return problems.push_back(where + report->text());
    std::string wrong;
    const auto names = listing(*ImageReader::open(store), bytes, wrong);
    if (!wrong.empty()) return problems.push_back(where + wrong);
    if (!judges_names) return;
    const auto& known = recorder->states;
    std::size_t oldest = 0, newest = 0;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i].synced && known[i].writes <= writes) oldest = i;
      if (i == 0 || known[i - 1].writes <= writes) newest = i;
    }
    const auto same = [&](const Recorder::State& state) { return state.names == names; };
    if (std::none_of(known.begin() + static_cast<std::ptrdiff_t>(oldest),
                     known.begin() + static_cast<std::ptrdiff_t>(newest) + 1, same))
      problems.push_back(where + "names of no moment since the last sync");
    if (states % 40 == 0) mount_it(store, where);
  }

  void mount_it(const model::SectorStore& store, const std::string& where) {
    const auto other = *media::MemoryStore::create(store.sectors());
    copy(store, *other);
    Machine m(*other);
    if (const auto mounted = m.try_mount(mount); !mounted)
      return problems.push_back(where + mounted.error().message());
    m.as_user([&] { bench::put_file(*m.file_system, "newn", std::string(3'000, 'n')); });
    m.unmount();
    const auto after = check(*other);
    if (!after || !after->nothing_found())
      problems.push_back(where + "mounted: " + (after ? after->text() : after.error().message()));
  }

  void expect_none() {
    EXPECT_GT(states, 50);
    for (const std::string& problem : problems) ADD_FAILURE() << problem;
  }

  Disk disk;
  MountOptions mount;
  std::unique_ptr<media::MemoryStore> image, scratch;
  std::unique_ptr<media::MemoryStore> image_at_commit =
      *media::MemoryStore::create(disk.store->sectors());
  std::unique_ptr<Recorder> recorder;
  Counters counters;
  /// False if several users run, because their operations have no defined order.
  bool judges_names = true;
  Bytes bytes = Bytes::letter_of_name;
  /// The disk has a write cache, and a flush writes the cached sectors in order.
  bool write_cache = false;
  std::uint64_t first_block_lba = 0;
  int states = 0;
  std::vector<std::string> problems;
};

/// Makes structural changes of every kind.
void change_things(Recorder& r) {
  Vfs& fs = r.fs();
  const auto name = [](int i) { return std::string("p/f") + static_cast<char>('a' + i); };
  r.sync();
  r.ok(fs.mkdir("p", 0755));
  r.ok(fs.mkdir("q", 0755));
  for (int i = 0; i < 8; ++i)
    r.write(name(i), 0, static_cast<std::size_t>(500 + 1700 * i), i == 3 ? End::fsync : End::close);
  r.settle(11);
  for (int i = 0; i < 8; i += 2) r.ok(fs.unlink(name(i)));
  r.ok(fs.mkdir("q/deep", 0755));
  r.write("q/deep/x", 0, 700, End::fsync);
  r.ok(fs.link(name(1), "q/linkb"));
  r.ok(fs.rename(name(3), "q/moved", RenameMode::replace));
  r.write("other", 0, 1, End::fsync);
  r.ok(fs.symlink(name(1), "q/link"));
  r.ok(fs.rename("q/deep", "p/deep", RenameMode::replace));
  r.ok(fs.rename("p/deep", "q", RenameMode::exchange));
  r.write("other", 1, 1, End::fsync);
  r.write("big", 0, 190'000);
  r.settle(12);
  r.write("big", 100'000, 3'000, End::fsync);
  const auto big = fs.open("big", {});
  ASSERT_TRUE(big);
  r.ok(fs.truncate(*big, 30'000));
  r.ok(fs.fallocate(*big, FallocateMode::punch_hole, 2'000, 20'000));
  EXPECT_TRUE(fs.unlink("big"));
  r.done();
  r.settle(11);
  EXPECT_TRUE(fs.close(*big));
  r.done();
  r.ok(fs.mkdir("p/short", 0755));
  r.write("p/short/x", 0, 1, End::fsync);
  r.ok(fs.unlink("p/short/x"));
  r.ok(fs.rmdir("p/short"));
  r.write("again", 0, 700, End::fsync);
  r.settle(12);
  r.write("last", 0, 5'000, End::fsync);
}

/// Creates, overwrites and removes many files on a small disk, so that blocks are reused.
void wear(Recorder& r) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::size_t>(random() % n); };
  for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
    const std::string directory = "d" + std::to_string(below(3));
    if (!r.fs().stat(directory)) r.ok(r.fs().mkdir(directory, 0755));
    const std::string path = directory + "/" + static_cast<char>('a' + below(9));
    if (r.fs().stat(path) && below(3) != 0)
      r.ok(r.fs().unlink(path));
    else
      r.write(path, 0, 1 + below(9'000), below(6) == 0 ? End::fsync : End::close);
    if (below(9) == 0) r.settle(4);
  }
}

/// A configuration of the file system, and the disk on which it is tested.
struct Kind {
  DataMode data = DataMode::ordered;
  std::uint32_t log_bytes = 0;
  bench::DiskOptions disk(std::uint64_t device_bytes) const {
    return {.device_bytes = device_bytes + log_bytes,
            .mkfs = {.block_bytes = 512, .log_bytes = log_bytes, .id = 3}};
  }
};
constexpr std::uint32_t kLogBytes = 8 << 10;

class CrashPoints : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Snapfs, CrashPoints,
                         testing::Values(Kind{DataMode::ordered}, Kind{DataMode::copy_on_write},
                                         Kind{DataMode::ordered, kLogBytes},
                                         Kind{DataMode::copy_on_write, kLogBytes}));

TEST_P(CrashPoints, CauseNoFindings) {
  Crashes crashes(GetParam().disk(1 << 20), {.data = GetParam().data});
  crashes.run(change_things);
  crashes.look();
  crashes.expect_none();
}

TEST_P(CrashPoints, CauseNoFindingsWithEarlyReuse) {
  Crashes crashes(GetParam().disk(320 << 10), {.data = GetParam().data});
  crashes.run(wear);
  crashes.look();
  crashes.expect_none();
}

TEST_P(CrashPoints, CauseNoFindingsWithAVolatileCache) {
  Crashes crashes(GetParam().disk(320 << 10), {.data = GetParam().data});
  crashes.write_cache = true;
  crashes.run(wear);
  crashes.look();
  crashes.expect_none();
}

/// Operations of one generation are still running while the next generation is open and is being
/// changed.
TEST_P(CrashPoints, CauseNoFindingsWithOverlappingGenerations) {
  Crashes crashes(GetParam().disk(4 << 20), {.data = GetParam().data, .dirty_blocks_max = 12});
  crashes.run_crowd(40);
  EXPECT_GT(crashes.counters.most_concurrent, 0U);
  EXPECT_GT(crashes.counters.commits + crashes.counters.records, 10U);
  crashes.look();
  crashes.expect_none();
}

/// While the generation of one user is being written, another user writes a file that is larger
/// than the cache, so its blocks reach the disk. These must not be the blocks that the generation
/// has freed, because those still belong to the committed generation.
TEST_P(CrashPoints, CauseNoFindingsWithWritesDuringACommit) {
  Crashes crashes(GetParam().disk(512 << 10), {.data = GetParam().data, .dirty_blocks_max = 1000});
  const auto before = [](Recorder& r) {
    r.write("a", 0, 30'000);
    const auto name = [](int i) { return std::to_string(i) + (i % 2 == 0 ? "k" : "g"); };
    for (int i = 0; i < 52; ++i) r.write(name(i), 0, 500);
    r.sync();
    for (int i = 1; i < 52; i += 2) r.ok(r.fs().unlink(name(i)));
    r.sync();
  };
  const auto commits = [](Vfs& fs) {
    EXPECT_TRUE(fs.unlink("a"));
    // The free blocks that this file reuses are not adjacent, so each block of the file is written
    // by a separate request.
    bench::put_file(fs, "b", std::string(20'000, 'b'));
    EXPECT_TRUE(fs.sync());
  };
  const auto writes = [](Vfs& fs) { bench::put_file(fs, "c", std::string(100'000, 'c')); };
  crashes.run_concurrently(64 << 10, before, {commits, writes});
  EXPECT_GE(crashes.counters.commits, 2U);
  crashes.look();
  crashes.expect_none();
}

// Controls. Each control breaks a rule, and the test must detect the violation.

struct Control {
  const char* name = "";
  MountOptions mount = {};
  bool crowd = false;
  bool write_cache = false;
  VersionCheck version_check = VersionCheck::every_sector;
  std::uint32_t log_bytes = 0;
};

class CrashControls : public testing::TestWithParam<Control> {};
INSTANTIATE_TEST_SUITE_P(
    Snapfs, CrashControls,
    testing::Values(
        Control{.name = "metadata_in_place", .mount = {.copy_on_write = false}},
        Control{.name = "reuse_at_once", .mount = {.reuse = Reuse::at_once}},
        Control{.name = "reuse_at_spawn",
                .mount = {.dirty_blocks_max = 12, .reuse = Reuse::at_spawn, .writes_at_once = true},
                .crowd = true},
        Control{.name = "newer_writes_wait", .mount = {.reuse = Reuse::newer_writes_wait}},
        Control{.name = "one_superblock", .mount = {.one_superblock = true}},
        Control{.name = "version_in_one_sector", .version_check = VersionCheck::first_sector},
        Control{.name = "operations_straddle",
                .mount = {.dirty_blocks_max = 12, .operations_straddle = true},
                .crowd = true},
        Control{.name = "commits_early", .mount = {.commits_early = true}, .write_cache = true},
        Control{.name = "drops_in_flight",
                .mount = {.dirty_blocks_max = 12, .drops_in_flight = true},
                .crowd = true},
        Control{.name = "logs_early", .mount = {.logs_early = true}, .log_bytes = kLogBytes},
        Control{.name = "unordered_data", .mount = {.data = DataMode::unordered}}),
    [](const auto& test) { return test.param.name; });

TEST_P(CrashControls, FailTheCheckOfCrashStates) {
  const Control& control = GetParam();
  Crashes crashes({.device_bytes = control.crowd ? 4U << 20 : 320U << 10,
                   .mkfs = {.block_bytes = 512,
                            .version_check = control.version_check,
                            .log_bytes = control.log_bytes,
                            .id = 3}},
                  control.mount);
  crashes.write_cache = control.write_cache;
  if (control.crowd)
    crashes.run_crowd(40);
  else
    crashes.run(wear);
  crashes.look();
  EXPECT_FALSE(crashes.problems.empty()) << crashes.states << " states";
}

// Section III-A of the paper, "another solution": freed blocks can be allocated at once, but writes
// of newer generations wait. Within one generation nothing waits, so blocks of the committed
// generation are overwritten before the next superblock is written.

/// Returns the first problem found in any crash state, or an empty string.
std::string first_problem(Reuse reuse, const Workload& workload) {
  Crashes crashes({.device_bytes = 320 << 10, .mkfs = {.block_bytes = 512, .id = 3}},
                  {.reuse = reuse});
  crashes.run(workload);
  crashes.look();
  return crashes.problems.empty() ? "" : crashes.problems.front();
}

TEST(SnapfsReuse, EarlyReuseOfBlocksMixesDataOfFiles) {
  const auto workload = [](Recorder& r) {
    r.write("a", 0, 4'000);
    r.write("b", 0, 0);
    r.sync();
    const auto a = r.fs().open("a", {});
    ASSERT_TRUE(a);
    r.ok(r.fs().truncate(*a, 0));
    r.write("b", 0, 4'000, End::fsync);
    EXPECT_TRUE(r.fs().close(*a));
  };
  EXPECT_EQ(first_problem(Reuse::after_commit, workload), "");
  const std::string problem = first_problem(Reuse::newer_writes_wait, workload);
  EXPECT_NE(problem.find(": a has bytes that were never written to it"), std::string::npos)
      << problem;
}

TEST(SnapfsReuse, EarlyReuseOfBlocksOverwritesTheCommittedDirectory) {
  const auto workload = [](Recorder& r) {
    r.write("a", 0, 4'000);
    r.sync();
    r.ok(r.fs().unlink("a"));  // this copies the root's block and frees the original
    r.write("b", 0, 4'000);
    r.sync();
  };
  EXPECT_EQ(first_problem(Reuse::after_commit, workload), "");
  const std::string problem = first_problem(Reuse::newer_writes_wait, workload);
  // 25186 is "bb".
  EXPECT_NE(problem.find("inode 2: block at 0: an entry of 25186 bytes"), std::string::npos)
      << problem;
}

}  // namespace
}  // namespace headcrash::snapfs
