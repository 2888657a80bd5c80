// Tests a disk with a volatile cache: fsynced and synced data survives, and the file system flushes
// the cache only where necessary.
#include "fs-adapters/snapfs/testing/mounted.h"
#include "fs-adapters/snapfs/under_test.h"
#include "fs-adapters/substrate/os/testing/written_requests.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;
using bench::Machine;

/// Returns true if the request writes a superblock or a log record.
bool is_commit(const os::WrittenRequests::One& one, const Disk& disk) {
  const auto s = read_superblock(*disk.store);
  return one.op == model::Op::write && one.lba < s->lba_of(s->first_block());
}

/// Runs `body` on a disk that caches all writes, and then cuts the power. Returns the contents of
/// the file at `path` after the cut.
std::string left_of(const char* path, const MountOptions& options,
                    const std::function<void(Vfs&)>& body, const bench::DiskOptions& with = {}) {
  Disk disk(with);
  {
    Machine m(*disk.store);
    m.machine.disk.write_cache(true);
    m.mount(options);
    m.as_user([&] { body(*m.file_system); });
  }
  Machine m(*disk.store);
  m.mount();
  std::string text;
  m.as_user([&] {
    if (m.file_system->stat(path)) text = bench::get_file(*m.file_system, path);
  });
  m.unmount();
  return text;
}

TEST(SnapfsVolatileCache, FsyncAndSyncSurviveAPowerCut) {
  const auto by_fsync = [](Vfs& fs) { bench::put_file(fs, "f", "kept", bench::Fsync::yes); };
  const auto by_sync = [](Vfs& fs) {
    bench::put_file(fs, "f", "kept");
    EXPECT_TRUE(fs.sync());
  };
  for (const DataMode data : {DataMode::ordered, DataMode::unordered, DataMode::copy_on_write}) {
    EXPECT_EQ(left_of("f", {.data = data}, by_fsync), "kept");
    EXPECT_EQ(left_of("f", {.data = data}, by_sync), "kept");
    EXPECT_NE(left_of("f", {.data = data, .flushes = false}, by_fsync), "kept")
        << "the cache is lost";
    EXPECT_NE(left_of("f", {.data = data, .flushes = false}, by_sync), "kept");
    EXPECT_EQ(left_of("f", {.data = data}, by_fsync, bench::kDiskWithLog), "kept");
    EXPECT_NE(left_of("f", {.data = data, .flushes = false}, by_fsync, bench::kDiskWithLog),
              "kept");
  }
}

/// The generation is committed first, when it is due. The generation's unordered data is written
/// later, when it is old enough for the syncer to write it. The fsync then finds nothing to commit,
/// but must still flush the disk's cache.
TEST(SnapfsVolatileCache, FsyncFlushesDataThatTheSyncerHasWritten) {
  const auto written_before = [](Vfs& fs) {
    const auto file = fs.open("f", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of("kept")));
    fs.cpu(95 * model::kSecondNs);
    EXPECT_TRUE(fs.fsync(*file));
  };
  EXPECT_EQ(left_of("f", {.data = DataMode::unordered}, written_before), "kept");
  EXPECT_EQ(left_of("f", {.data = DataMode::ordered}, written_before), "kept");
}

/// Expects a flush before and after each write of a superblock or a record, and no other flushes.
void expect_flushes(const bench::DiskOptions& with, const std::function<void(Machine&)>& body) {
  Disk disk(with);
  Machine m(*disk.store);
  m.machine.disk.write_cache(true);
  os::WrittenRequests requests;
  m.machine.system.queue.trace(&requests);
  m.mount({.dirty_blocks_max = 100});
  m.as_user([&] { body(m); });
  m.machine.system.queue.trace(nullptr);
  std::size_t commits = 0;
  std::size_t flushes = 0;
  for (std::size_t i = 0; i < requests.list.size(); ++i) {
    if (requests.list[i].op == model::Op::flush) ++flushes;
    if (!is_commit(requests.list[i], disk)) continue;
    ++commits;
    EXPECT_EQ(requests.list.at(i - 1).op, model::Op::flush);
    EXPECT_EQ(requests.list.at(i + 1).op, model::Op::flush);
  }
  EXPECT_GE(commits, 2U);
  EXPECT_EQ(flushes, 2 * commits);
}

TEST(SnapfsVolatileCache, FlushesOnlyBeforeAndAfterASuperblock) {
  expect_flushes({}, [](Machine& m) {
    for (int i = 0; i < 20; ++i) {
      bench::put_file(*m.file_system, "f" + std::to_string(i), std::string(30'000, 'x'));
      m.executor().sleep_until(m.executor().now() + model::kSecondNs);
    }
    EXPECT_TRUE(m.file_system->sync());
  });
}

TEST(SnapfsVolatileCache, FlushesBeforeAndAfterALogRecord) {
  expect_flushes(bench::kDiskWithLog, [](Machine& m) {
    for (int i = 0; i < 5; ++i)
      bench::put_file(*m.file_system, "f" + std::to_string(i), std::string(3'000, 'x'),
                      bench::Fsync::yes);
    EXPECT_EQ(m.file_system->snapshots().counters().records, 5U);
  });
}

TEST(SnapfsVolatileCache, AFailedFlushMakesTheFsyncFail) {
  for (const auto& with : {bench::DiskOptions(), bench::kDiskWithLog}) {
    for (const std::uint64_t nth : {1, 2}) {
      Disk disk(with);
      Machine m(*disk.store);
      m.machine.disk.write_cache(true);
      m.mount();
      m.machine.faulty_disk.add({.op = model::Op::flush, .nth = nth});
      m.as_user([&] {
        const auto file = m.file_system->open("f", {.create = true});
        ASSERT_TRUE(file);
        EXPECT_FALSE(m.file_system->fsync(*file));
      });
    }
  }
}

TEST(SnapfsVolatileCache, FlushesOnlyIfMountOptionsAndSettingsPermit) {
  for (const auto& [option, setting] :
       {std::pair(true, true), std::pair(true, false), std::pair(false, true)}) {
    Disk disk;
    Machine m(*disk.store);
    m.machine.disk.write_cache(true);
    os::WrittenRequests requests;
    m.machine.system.queue.trace(&requests);
    m.as_user([&, in_options = option, in_settings = setting] {
      const auto mounted = system_of("system", {.flushes = in_options})
                               ->mount(m.machine.system, {.flushes = in_settings});
      ASSERT_TRUE(mounted);
      bench::put_file((*mounted)->vfs(), "f", "kept", bench::Fsync::yes);
      EXPECT_TRUE((*mounted)->unmount());
    });
    m.machine.system.queue.trace(nullptr);
    const bool flushed = std::ranges::any_of(
        requests.list, [](const auto& one) { return one.op == model::Op::flush; });
    EXPECT_EQ(flushed, option && setting);
  }
}

}  // namespace
}  // namespace headcrash::snapfs
