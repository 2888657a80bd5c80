// Tests a disk with a volatile cache: fsynced and synced data survives, and the file system flushes
// the cache only where necessary.
#include "fs-adapters/lfs/testing/mounted.h"
#include "fs-adapters/substrate/os/testing/written_requests.h"

namespace headcrash::lfs {
namespace {

using bench::Disk;
using bench::Machine;

/// Runs `body` on a disk that caches all writes, and then cuts the power. Returns the contents of
/// the file at `path` after the cut.
std::string left_of(const char* path, const MountOptions& options,
                    const std::function<void(Vfs&)>& body) {
  Disk disk;
  {
    Machine m(*disk.store);
    m.machine.disk.write_cache(true);
    m.mount(options);
    m.as_user([&] { body(*m.file_system); });
  }
  Machine m(*disk.store);
  m.mount({.roll_forward = options.roll_forward});
  std::string text;
  m.as_user([&] { text = bench::get_file(*m.file_system, path); });
  m.unmount();
  bench::expect_clean(*disk.store);
  return text;
}

TEST(LfsVolatileCache, FsyncAndSyncSurviveAPowerCut) {
  const auto by_fsync = [](Vfs& fs) { bench::put_file(fs, "f", "kept", bench::Fsync::yes); };
  const auto by_sync = [](Vfs& fs) {
    bench::put_file(fs, "f", "kept");
    EXPECT_TRUE(fs.sync());
  };
  EXPECT_EQ(left_of("f", {}, by_fsync), "kept");
  EXPECT_EQ(left_of("f", {}, by_sync), "kept");
  EXPECT_EQ(left_of("f", {.roll_forward = false}, by_sync), "kept");
  EXPECT_NE(left_of("f", {.flushes = false}, by_fsync), "kept") << "the cache is lost";
  EXPECT_NE(left_of("f", {.flushes = false}, by_sync), "kept");
}

TEST(LfsVolatileCache, FsyncFlushesDataThatTheSyncerHasWritten) {
  const auto written_before = [](Vfs& fs) {
    const auto file = fs.open("f", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of("kept")));
    fs.cpu(35 * model::kSecondNs);
    EXPECT_TRUE(fs.fsync(*file));
  };
  EXPECT_EQ(left_of("f", {.checkpoint_interval_ns = 0}, written_before), "kept");
}

TEST(LfsVolatileCache, FlushesAroundCheckpointWritesButNotAroundRegionWrites) {
  Disk disk;
  Machine m(*disk.store);
  m.machine.disk.write_cache(true);
  os::WrittenRequests requests;
  m.machine.system.queue.trace(&requests);
  m.mount();
  m.as_user([&] {
    for (int i = 0; i < 8; ++i)
      bench::put_file(*m.file_system, "f" + std::to_string(i), std::string(90'000, 'x'));
    EXPECT_TRUE(m.file_system->sync());
  });
  m.machine.system.queue.trace(nullptr);
  const Superblock& s = m.file_system->log().superblock();
  const auto is_checkpoint = [&](const os::WrittenRequests::One& one) {
    return one.op == model::Op::write && one.lba < s.first_segment;
  };
  std::size_t checkpoints = 0;
  std::size_t regions = 0;
  std::size_t flushes = 0;
  for (std::size_t i = 0; i < requests.list.size(); ++i) {
    const os::WrittenRequests::One& one = requests.list[i];
    if (one.op == model::Op::flush) ++flushes;
    if (one.op == model::Op::write && !is_checkpoint(one)) ++regions;
    if (!is_checkpoint(one)) continue;
    // Skips the first checkpoint, which only records that a mount has begun.
    if (++checkpoints > 1) {
      EXPECT_EQ(requests.list.at(i - 1).op, model::Op::flush);
    }
    EXPECT_EQ(requests.list.at(i + 1).op, model::Op::flush);
  }
  EXPECT_GE(checkpoints, 3U);
  EXPECT_GT(regions, 8U);
  EXPECT_EQ(flushes, 2 * checkpoints - 1) << "and none for regions without a waiting caller";
}

}  // namespace
}  // namespace headcrash::lfs
