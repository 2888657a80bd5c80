// Cuts the power after each write of a workload, and inside each write. The newest checkpoint must
// be intact. After a mount, names and link counts must match the state after the last synced
// operation or after a later one. Each file must have contents that it had at some time, and synced
// data must exist. An unmount must leave no findings.

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "fs-adapters/lfs/testing/mounted.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::lfs {
namespace {

using bench::Disk;
using bench::Machine;

/// Returns one line for each object below a directory: its path, inode number, type and link count,
/// and the target of a symbolic link.
std::string listing(Vfs& fs, const std::string& path = {}) {
  std::string lines;
  auto names = fs.list(path);
  if (!names) return "(cannot be listed: " + path + ")";
  std::sort(names->begin(), names->end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const DirectoryEntry& entry : *names) {
    const std::string at = path.empty() ? entry.name : path + "/" + entry.name;
    const auto status = fs.stat(at);
    if (!status) return "(cannot be seen: " + at + ")";
    lines += at + " " + std::to_string(status->inode) + " " +
             std::to_string(static_cast<int>(status->type)) + " " + std::to_string(status->links);
    if (status->type == FileType::symlink) lines += " -> " + fs.readlink(at).value_or("?");
    lines += "\n";
    if (status->type == FileType::directory) lines += listing(fs, at);
  }
  return lines;
}

/// Runs operations one at a time and records the state after each one.
class Recorder {
 public:
  Recorder(Machine& machine, bench::LoggedStore& log) : m_(machine), log_(log) { note(); }

  struct State {
    std::string names;
    std::size_t writes = 0;  ///< number of disk writes issued before the state was recorded
    bool synced = false;     ///< if true, no later power cut may show an earlier state
  };
  /// The contents of a file after a given number of disk writes. If the contents were synced, no
  /// later power cut may show older ones.
  struct Content {
    std::string text;
    std::size_t writes = 0;
    bool synced = false;
  };

  Vfs& fs() { return *m_.file_system; }
  void done(bool synced = false) {
    note();
    states.back().synced = synced;
  }
  void write(const std::string& path, std::size_t offset, const std::string& data,
             bool sync = false) {
    const auto file = fs().open(path, {.create = true});
    ASSERT_TRUE(file) << path << " " << file.error().value;
    done();
    const std::uint64_t inode = fs().stat(path)->inode;
    EXPECT_TRUE(fs().pwrite(*file, offset, bench::bytes_of(data)));
    std::string text = contents[inode].empty() ? "" : contents[inode].back().text;
    if (text.size() < offset + data.size()) text.resize(offset + data.size());
    text.replace(offset, data.size(), data);
    contents[inode].push_back({text, log_.log.size(), false});
    if (sync) {
      EXPECT_TRUE(fs().fsync(*file));
      contents[inode].back().synced = true;
      contents[inode].back().writes = log_.log.size();
    }
    EXPECT_TRUE(fs().close(*file));
    done(sync);
  }
  void sync() {
    EXPECT_TRUE(fs().sync());
    done(true);
    for (auto& [inode, history] : contents)
      if (!history.empty()) history.push_back({history.back().text, log_.log.size(), true});
  }
  /// Records the removal of a file. Afterwards, the file's inode number may be reused.
  void record_removal(std::uint64_t inode) {
    contents[inode].push_back({"", log_.log.size(), false});
  }

  std::vector<State> states;
  std::map<std::uint64_t, std::vector<Content>> contents;

 private:
  void note() { states.push_back({listing(fs()), log_.log.size(), false}); }
  Machine& m_;
  bench::LoggedStore& log_;
};

using Workload = std::function<void(Machine&, Recorder&)>;

struct Crashes {
  explicit Crashes(const bench::DiskOptions& options, const MountOptions& its_mount = {})
      : disk(options),
        mount(its_mount),
        image(*media::MemoryStore::create(disk.store->sectors())),
        scratch(*media::MemoryStore::create(disk.store->sectors())) {}

  static void copy(const model::SectorStore& from, model::SectorStore& to) {
    std::vector<std::byte> all(from.sectors() * kSectorBytes);
    EXPECT_TRUE(from.read(0, all));
    EXPECT_TRUE(to.write(0, all));
  }

  void run(const Workload& workload, std::uint64_t cache_bytes = 512 << 10) {
    copy(*disk.store, *image);
    disk.log.keep = true;
    Machine m(disk.log, cache_bytes);
    m.mount(mount);
    m.as_user([&] {
      recorder = std::make_unique<Recorder>(m, disk.log);
      workload(m, *recorder);
    });
    m.unmount();
    bench::expect_clean(*disk.store);
  }

  /// Checks the state between every two consecutive writes and, for each write, the state in which
  /// that write is torn in the middle.
  void check_states(std::size_t every = 1) {
    const auto& log = disk.log.log;
    for (std::size_t i = 0; i < log.size() && problems.size() < 5; ++i) {
      const std::span<const std::byte> bytes(log[i].bytes);
      const std::size_t half = bytes.size() / 2 / kSectorBytes * kSectorBytes;
      if (half != 0 && i % every == 0) {
        EXPECT_TRUE(image->write(log[i].lba, bytes.first(half)));
        check_state(i, "inside write " + std::to_string(i) + ": ");
      }
      EXPECT_TRUE(image->write(log[i].lba, bytes));
      if (i % every == 0) check_state(i + 1, "after write " + std::to_string(i) + ": ");
    }
  }

  void check_state(std::size_t writes, const std::string& where) {
    ++states;
    const auto report = check(*image);
    if (!report) return problems.push_back(where + report.error().message());
    if (!report->nothing_found()) problems.push_back(where + report->text());
    copy(*image, *scratch);
    {
      Machine m(*scratch);
      if (const auto mounted = m.try_mount(mount); !mounted)
        return problems.push_back(where + mounted.error().message());
      m.as_user([&] { compare(*m.file_system, writes, where); });
      m.unmount();
    }
    const auto after = check(*scratch);
    if (!after || !after->nothing_found())
      problems.push_back(
          where + "recovered (write of " +
          std::to_string(disk.log.log[std::min(writes, disk.log.log.size() - 1)].lba) + ", last " +
          std::to_string(disk.log.log[writes - 1].lba) + " of " +
          std::to_string(disk.log.log[writes - 1].bytes.size() / 512) +
          "): " + (after ? after->text() : after.error().message()));
  }

  void compare(Vfs& fs, std::size_t writes, const std::string& where) {
    const std::string now = listing(fs);
    std::size_t oldest = 0;
    std::size_t newest = 0;
    const auto& known = recorder->states;
    for (std::size_t i = 0; i < known.size(); ++i) {
      const bool durable = mount.roll_forward || known[i].synced;
      if (known[i].synced && known[i].writes <= writes && durable) oldest = i;
      if (i == 0 || known[i - 1].writes <= writes) newest = i;
    }
    for (std::size_t i = oldest; i <= newest; ++i)
      if (known[i].names == now) return compare_contents(fs, "", writes, where);
    problems.push_back(where + "names of no moment:\n" + now + "last synced:\n" +
                       known[oldest].names + "newest:\n" + known[newest].names);
  }

  void compare_contents(Vfs& fs, const std::string& path, std::size_t writes,
                        const std::string& where) {
    const auto names = fs.list(path);
    ASSERT_TRUE(names) << path;
    for (const DirectoryEntry& entry : *names) {
      const std::string at = path.empty() ? entry.name : path + "/" + entry.name;
      if (entry.type == FileType::directory) compare_contents(fs, at, writes, where);
      if (entry.type != FileType::regular) continue;
      const std::string text = bench::get_file(fs, at);
      const auto& history = recorder->contents[fs.stat(at)->inode];
      bool found = text.empty() && history.empty();
      bool may_be_empty = true;
      for (std::size_t i = 0; i < history.size(); ++i) {
        if (history[i].synced && history[i].writes <= writes) found = may_be_empty = false;
        found = found || history[i].text == text;
      }
      if (!found && !(may_be_empty && text.empty()))
        problems.push_back(where + at + " holds " + std::to_string(text.size()) +
                           " bytes of no moment");
    }
  }

  void expect_none() {
    EXPECT_GT(states, 20);
    for (const std::string& problem : problems) ADD_FAILURE() << problem;
  }

  Disk disk;
  MountOptions mount;
  std::unique_ptr<media::MemoryStore> image, scratch;
  std::unique_ptr<Recorder> recorder;
  int states = 0;
  std::vector<std::string> problems;
};

void settle(Machine& m, int seconds) {
  m.executor().sleep_until(m.executor().now() + seconds * model::kSecondNs);
}

/// Makes every kind of change to the tree: creates, writes, links, renames, exchanges and removes
/// files.
void change_things(Machine& m, Recorder& r) {
  Vfs& fs = r.fs();
  const auto ok = [&](const VfsResult<void>& result) {
    EXPECT_TRUE(result) << result.error().value;
    r.done();
  };
  ok(fs.mkdir("p", 0755));
  ok(fs.mkdir("q", 0755));
  for (int i = 0; i < 8; ++i)
    r.write("p/f" + std::to_string(i), 0,
            std::string(static_cast<std::size_t>(500 + 1700 * i), 'a'), i == 3);
  settle(m, 31);
  for (int i = 0; i < 8; i += 2) {
    const auto inode = fs.stat("p/f" + std::to_string(i))->inode;
    ok(fs.unlink("p/f" + std::to_string(i)));
    r.record_removal(inode);
  }
  ok(fs.mkdir("q/deep", 0755));
  r.write("q/deep/new", 0, "synced in a new directory", true);
  ok(fs.link("p/f1", "q/linked"));
  ok(fs.rename("p/f3", "q/moved", RenameMode::replace));
  const auto replaced = fs.stat("p/f7")->inode;
  ok(fs.rename("p/f5", "p/f7", RenameMode::replace));
  r.record_removal(replaced);
  r.write("other", 0, "o", true);
  ok(fs.symlink("p/f1", "q/link"));
  ok(fs.rename("q/deep", "p/deep", RenameMode::replace));
  ok(fs.rename("p/f7", "q/moved", RenameMode::exchange));
  r.write("other", 1, "O", true);
  r.sync();
  r.write("big", 0, std::string(190'000, 'B'));
  settle(m, 32);
  r.write("big", 100'000, std::string(3'000, 'C'), true);
  ok(fs.mkdir("p/short", 0755));
  r.write("p/short/x", 0, "x", true);
  const auto x = fs.stat("p/short/x")->inode;
  ok(fs.unlink("p/short/x"));
  r.record_removal(x);
  ok(fs.rmdir("p/short"));
  r.write("again", 0, std::string(700, 'g'), true);
  settle(m, 62);
  r.write("last", 0, std::string(5'000, 'l'), true);
}

class CrashPoints : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Lfs, CrashPoints, testing::Bool());

TEST_P(CrashPoints, RecoversAtEveryCrashPoint) {
  Crashes crashes(
      {.device_bytes = 2 << 20,
       .mkfs = {.block_bytes = 512, .segment_bytes = 32 << 10, .checksums = GetParam(), .id = 3}});
  crashes.run(change_things);
  crashes.check_states();
  crashes.expect_none();
}

/// Between two flushes, creates more directory log records than fit in one item of a region.
TEST(LfsCrashPoints, RenamesAreAtomicWhenRecordsAreSplit) {
  Crashes crashes({.device_bytes = 12 << 20, .mkfs = {.segment_bytes = 512 << 10, .id = 3}});
  crashes.run([](Machine&, Recorder& r) {
    for (const char* path : {"p", "q", "p/ddddd"}) EXPECT_TRUE(r.fs().mkdir(path, 0755));
    r.done();
    for (int i = 0; i < 3000; ++i) {
      const char* const names[] = {"p/ddddd", "q/ddddd"};
      EXPECT_TRUE(r.fs().rename(names[i % 2], names[1 - i % 2], RenameMode::replace));
      r.done();
    }
    r.write("f", 0, "synced", true);
  });
  crashes.check_states();
  crashes.expect_none();
}

/// Several users rename and exchange directories at once. The names are so long that the records of
/// two operations fill an item.
TEST(LfsCrashPoints, OperationsAreAtomicAtEveryRecordBoundary) {
  for (unsigned seed = 1; seed <= number_from_environment("HEADCRASH_CUT_SEEDS", 4); ++seed) {
    Crashes crashes(
        {.device_bytes = 2 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 8 << 10, .id = 3}});
    crashes.run([&](Machine&, Recorder& r) {
      std::mt19937 random(seed);
      std::vector<std::string> taken, free;
      for (const char* parent : {"p", "q"}) {
        EXPECT_TRUE(r.fs().mkdir(parent, 0755));
        for (const char letter : {'a', 'b', 'c', 'd', 'e', 'f'})
          (letter < 'd' ? taken : free)
              .push_back(std::string(parent) + "/" + std::string(100 + random() % 155, letter));
      }
      for (const std::string& path : taken) EXPECT_TRUE(r.fs().mkdir(path, 0755));
      r.sync();
      for (int i = 0; i < 120; ++i) {
        std::string& from = taken[random() % taken.size()];
        const bool exchange = random() % 3 == 0;
        std::string& to = exchange ? taken[random() % taken.size()] : free[random() % free.size()];
        EXPECT_TRUE(r.fs().rename(from, to, exchange ? RenameMode::exchange : RenameMode::replace));
        if (!exchange) std::swap(from, to);
        r.done();
        if (random() % 30 == 0) r.write("f", 0, std::string(1 + random() % 900, 'f'), true);
      }
      r.write("f", 0, "last", true);
    });
    crashes.check_states();
    crashes.expect_none();
  }
}

/// Tests a usage table with more blocks than fit in a segment. HEADCRASH_CUT_STEP=1 in the
/// environment tests every crash point instead of every fifth one.
TEST(LfsCrashPoints, RecoversWithALongUsageTable) {
  Crashes crashes(
      {.device_bytes = 4 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 8 << 10, .id = 3}});
  crashes.run([](Machine& m, Recorder& r) {
    ASSERT_TRUE(m.file_system->log().superblock().long_usage_table());
    constexpr int kFiles = 120;
    for (int i = 0; i < kFiles; ++i) r.write("f" + std::to_string(i), 0, std::string(20'000, 'f'));
    r.sync();
    for (int round = 0; round < 3; ++round) {
      for (int i = round; i < kFiles; i += 3) {
        const auto inode = r.fs().stat("f" + std::to_string(i))->inode;
        EXPECT_TRUE(r.fs().unlink("f" + std::to_string(i)));
        r.record_removal(inode);
        r.done();
      }
      r.write("f" + std::to_string(round), 0, std::string(9'000, 'g'), true);
      r.sync();
    }
  });
  crashes.check_states(number_from_environment("HEADCRASH_CUT_STEP", 5));
  crashes.expect_none();
}

/// If roll-forward is disabled, only sync makes data durable; fsync does not.
TEST(LfsCrashPoints, WithoutRollForwardSyncedDataSurvives) {
  Crashes crashes(
      {.device_bytes = 2 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 32 << 10, .id = 3}},
      {.roll_forward = false});
  crashes.run([](Machine& m, Recorder& r) {
    for (int i = 0; i < 12; ++i) {
      r.write("f" + std::to_string(i), 0,
              std::string(static_cast<std::size_t>(300 + 900 * i), 'a'));
      if (i % 3 == 2) r.sync();
      if (i % 4 == 1) settle(m, 31);
    }
  });
  crashes.check_states();
  crashes.expect_none();
}

/// Lets the log wrap around several times without requesting a checkpoint. The data to which the
/// newest checkpoint refers must always be intact.
TEST(LfsCrashPoints, RecoversWhenTheLogWrapsAround) {
  Crashes crashes(
      {.device_bytes = 1 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 16 << 10, .id = 3}},
      {.checkpoint_interval_ns = 0, .background_cleaner = false});
  crashes.run([](Machine&, Recorder& r) {
    for (int i = 0; i < 6; ++i) r.write("f" + std::to_string(i), 0, std::string(9'000, 'o'));
    r.sync();
    for (int i = 0; i < 250 && !testing::Test::HasFailure(); ++i)
      r.write("f" + std::to_string(i % 6), 0, std::string(9'000, static_cast<char>('a' + i % 26)),
              true);
  });
  EXPECT_GT(crashes.disk.log.log.size(), 250U);
  crashes.check_states(3);
  crashes.expect_none();
}

TEST(LfsCrashPoints, RecoversWithABusyCleaner) {
  Crashes crashes(
      {.device_bytes = 1 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 16 << 10, .id = 3}},
      {.clean_start = 45, .clean_stop = 50});
  crashes.run([](Machine& m, Recorder& r) {
    std::mt19937 random(5);
    const auto below = [&](std::uint32_t n) { return static_cast<std::size_t>(random() % n); };
    for (int i = 0; i < 120 && !testing::Test::HasFailure(); ++i) {
      const std::string path = "f" + std::to_string(below(14));
      const auto status = r.fs().stat(path);
      if (status && below(4) == 0) {
        EXPECT_TRUE(r.fs().unlink(path));
        r.record_removal(status->inode);
        r.done();
      } else {
        r.write(path, below(3) == 0 ? below(20'000) : 0,
                std::string(1 + below(12'000), static_cast<char>('a' + i % 26)), below(3) == 0);
      }
      if (below(10) == 0) settle(m, 20);
    }
    EXPECT_GT(m.file_system->log().counters().segments_cleaned, 10U);
  });
  crashes.check_states(3);
  crashes.expect_none();
}

}  // namespace
}  // namespace headcrash::lfs
