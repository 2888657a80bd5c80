// Tests that every registered system must pass (system_under_test.h). Each test creates a disk.
#include "fs-adapters/registry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fs-adapters/snapfs/format.h"
#include "fs-adapters/substrate/tree/core_inode.h"
#include "fs-adapters/substrate/tree/testing/operations.h"
#include "fs-adapters/testing/lab_image.h"
#include "fs-adapters/ufs/schemes/scheme.h"

namespace headcrash::adapters {
namespace {

using tree::bench::put_file;

TEST(Registry, NamesAreUniqueAndCanBeFound) {
  std::set<std::string> names;
  for (const SystemUnderTest* const system : all_systems()) {
    EXPECT_TRUE(names.insert(system->full_name()).second) << system->full_name();
    const auto found = find_system(system->type().name(), system->name());
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(*found, system);
  }
  for (const FileSystemType* const type : file_system_types()) {
    EXPECT_TRUE(type->find_system(type->usual_system())) << type->name();
    std::set<char> letters;
    for (const MkfsOption& option : type->mkfs_options())
      EXPECT_TRUE(option.letter == 0 || letters.insert(option.letter).second) << option.name;
  }
  std::string types;
  for (const FileSystemType* const type : file_system_types())
    types += (types.empty() ? "" : ",") + std::string(type->name());
  EXPECT_EQ(types, HEADCRASH_FILE_SYSTEM_TYPES)
      << "fs-adapters/CMakeLists.txt has a different list";
  const auto unknown = find_system("ufs", "soft-update");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("soft-updates"), std::string::npos);
  const auto type = find_file_system_type("zfs");
  ASSERT_FALSE(type);
  EXPECT_NE(type.error().message().find("ufs"), std::string::npos);
}

class EverySystem : public LabImage {
 protected:
  enum class Syncs : std::uint8_t { yes, no };
  static void write_something(Vfs& vfs, Syncs syncs = Syncs::yes) {
    ASSERT_TRUE(vfs.mkdir("d", 0755));
    const auto file = vfs.open("d/f", {.create = true});
    ASSERT_TRUE(file);
    const std::vector<std::byte> data(9000, std::byte{0x5a});
    ASSERT_TRUE(vfs.pwrite(*file, 700, data));
    if (syncs == Syncs::yes) {
      ASSERT_TRUE(vfs.fsync(*file));
    }
    ASSERT_TRUE(vfs.close(*file));
    ASSERT_TRUE(vfs.symlink("d/f", "l"));
    ASSERT_TRUE(vfs.link("d/f", "g"));
    if (syncs == Syncs::yes) {
      ASSERT_TRUE(vfs.sync());
    }
  }
  /// Checks the result of write_something().
  void expect_something() {
    const auto reader = type().open_image(*image_);
    ASSERT_TRUE(reader) << reader.error().message();
    std::map<std::string, ImageInode> seen;
    const auto walked = (*reader)->walk(
        [&](const std::string& path, const ImageInode& inode) { seen.emplace(path, inode); });
    ASSERT_TRUE(walked) << walked.error().message();
    ASSERT_TRUE(seen.contains("d") && seen.contains("d/f") && seen.contains("l") &&
                seen.contains("g"));
    const ImageInode& file = seen.at("d/f");
    EXPECT_EQ(file.number, seen.at("g").number);
    EXPECT_EQ(file.type, FileType::regular);
    EXPECT_EQ(file.links, 2U);
    EXPECT_EQ(file.size_bytes, 9700U);
    EXPECT_EQ(seen.at("d").type, FileType::directory);
    EXPECT_EQ(*(*reader)->readlink(seen.at("l").number), "d/f");
    EXPECT_EQ(*(*reader)->lookup("d/f"), file.number);
    std::vector<std::byte> bytes(10000);
    ASSERT_EQ(*(*reader)->read(file.number, 0, bytes), 9700U);
    EXPECT_EQ(bytes[699], std::byte{0});
    EXPECT_EQ(bytes[700], std::byte{0x5a});
    const auto content = (*reader)->content(file.number);
    ASSERT_TRUE(content);
    std::uint64_t sectors = 0;
    for (const ContentExtent& extent : *content) sectors += extent.sectors;
    EXPECT_GE(sectors * model::kSectorBytes, 9700U);
    std::array<std::byte, model::kSectorBytes> sector{};
    ASSERT_TRUE(store_->read(content->front().lba + 1, sector));
    EXPECT_EQ(sector.back(), std::byte{0x5a}) << "wrong position of an extent";
  }
};

TEST_P(EverySystem, IsCleanWithCorrectCountsAfterUnmount) {
  for (const char* disk : {"plain", "tiny"}) {
    if (!system().lab_disk(disk)) continue;
    make(disk);
    const auto checker = type().checker();
    const auto fresh = checker->check(*image_, {});
    ASSERT_TRUE(fresh) << fresh.error().message();
    EXPECT_TRUE(fresh->nothing_found() && fresh->was_clean) << disk;
    with_mounted([](Vfs& vfs) { write_something(vfs); }, End::unmount);
    const auto report = checker->check(*image_, {});
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_TRUE(report->was_clean);
    EXPECT_TRUE(report->nothing_found()) << report->findings.front().text;
    EXPECT_EQ(report->space, counted_) << disk;
    expect_something();
    with_mounted([](Vfs& vfs) { EXPECT_TRUE(vfs.stat("d/f")); }, End::unmount);
  }
}

TEST_P(EverySystem, MountsLabDisksThatOtherSystemsHaveUsed) {
  for (const char* name : {"plain", "tiny", "deep", "used"}) {
    const auto disk = system().lab_disk(name);
    if (!disk) continue;
    make(name);
    if (!disk->used_by.empty()) {
      const auto first = type().find_system(disk->used_by);
      ASSERT_TRUE(first) << name << ": " << first.error().message();
      EXPECT_FALSE((*first)->control()) << name;
      with_mounted(
          **first, [](Vfs& vfs) { EXPECT_TRUE(vfs.mkdir("used", 0755) && vfs.sync()); },
          disk->cut ? End::abandon : End::unmount);
    }
    with_mounted([&](Vfs& vfs) { EXPECT_TRUE(vfs.list("")) << name; }, End::unmount);
  }
}

TEST_P(EverySystem, KeepsSyncedDataWithoutAnUnmount) {
  make("plain");
  with_mounted([](Vfs& vfs) { write_something(vfs); }, End::abandon);
  const auto checker = type().checker();
  const auto report = checker->check(*image_, {});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_FALSE(report->was_clean);
  for (const CheckFinding& finding : report->findings)
    EXPECT_TRUE(system().may_leave(finding.kind)) << finding.text;
  EXPECT_TRUE(system().control() || type().left_by_a_cut(*report));
  ASSERT_TRUE(checker->repair(*image_, {}));
  const auto again = checker->check(*image_, {});
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(again->nothing_found());
  expect_something();
}

/// Without fsync or sync, a change must be on the disk within the time that the syncer's policy
/// specifies. With write-through, it must be on the disk when the call returns.
TEST_P(EverySystem, WritesChangesWithEachSyncerPolicy) {
  using Policy = os::SyncerOptions::Policy;
  constexpr os::TimeNs kSecond = model::kSecondNs, kAllSweeps = 400 * kSecond, kAtOnce = 0;
  struct Case {
    os::SyncerOptions syncer;
    os::TimeNs rest_ns = 0;
  };
  // Each system promises that a change is on the disk after the delay plus one tick for each write
  // that must wait for another write. Each pause in this table is longer than the promised time.
  const Case cases[] = {
      {{.policy = Policy::sweep}, kAllSweeps},
      {{.policy = Policy::periodic, .interval_ns = 7 * kSecond}, 60 * kSecond},
      {{.policy = Policy::interval, .interval_ns = 0}, 10 * kSecond},
      {{.policy = Policy::interval, .interval_ns = 5 * kSecond}, 20 * kSecond},
      {{.policy = Policy::interval,
        .interval_ns = 5 * kSecond,
        .age = os::SyncerOptions::Age::since_first_change},
       20 * kSecond},
      {{.policy = Policy::burst, .interval_ns = 5 * kSecond, .drain_bytes_per_s = 1'000'000},
       20 * kSecond},
      {{.policy = Policy::write_through}, kAtOnce}};
  for (const Case& each : cases) {
    make("plain");
    with_mounted(
        [&](Vfs& vfs, os::System& machine) {
          write_something(vfs, Syncs::no);
          machine.executor.sleep_until(machine.executor.now() + each.rest_ns);
        },
        End::abandon, each.syncer);
    if (system().control()) continue;
    ASSERT_TRUE(type().checker()->repair(*image_, {}));
    expect_something();
    if (HasFailure()) FAIL() << "policy " << static_cast<int>(each.syncer.policy);
  }
}

TEST_P(EverySystem, WritesNothingByAgeWithAnUnlimitedDelay) {
  using Policy = os::SyncerOptions::Policy;
  make("plain");
  with_mounted(
      [&](Vfs& vfs, os::System& machine) {
        write_something(vfs, Syncs::no);
        const auto file = vfs.open("later", {.create = true});
        ASSERT_TRUE(file && vfs.close(*file));
        machine.executor.sleep_until(500 * model::kSecondNs);
        EXPECT_TRUE(vfs.sync());
      },
      End::unmount, {.policy = Policy::none});
  expect_nothing_found();
  expect_something();
}

/// Returns a lower bound for the memory that a system needs for dependencies and block copies while
/// `files` new files are not on the disk yet.
std::size_t least_bytes_of_changes(std::string_view system, std::size_t files) {
  constexpr std::size_t kBlockBytes = 8192;
  if (system == "ufs-soft-updates-init") return 4 * files * ufs::kDependencyBytes;
  if (system == "ufs-chains" || system == "ufs-journal" || system == "ufs-netra")
    return 2 * files * ufs::kDependencyBytes;
  if (system == "ufs-journal-sync") return 2 * files * ufs::kDependencyBytes + kBlockBytes;
  return system == "snapfs-snapshots" ? 2 * files * snapfs::kInodeBytes : 0;
}

TEST_P(EverySystem, ChargesMemoryForStructuresInCore) {
  constexpr std::size_t kFiles = 100;
  make("plain");
  with_mounted(
      [&](Vfs& vfs, os::System& machine) {
        const auto charged = [&] {
          machine.executor.sleep_until(machine.executor.now() + 2 * model::kSecondNs);
          EXPECT_TRUE(vfs.stat("."));
          return machine.cache.charged_bytes();
        };
        const std::size_t empty = charged();
        for (std::size_t i = 0; i < kFiles; ++i) put_file(vfs, fmt::format("f{}", i), "text");
        const std::size_t changed = charged();
        EXPECT_GE(changed, empty + kFiles * tree::kCoreInodeBytes);
        EXPECT_TRUE(vfs.sync());
        const std::size_t synced = charged();
        EXPECT_TRUE(system().control() ||
                    changed >= synced + least_bytes_of_changes(system().full_name(), kFiles))
            << changed << " bytes, and " << synced << " after the sync";
        for (std::size_t i = 0; i < kFiles; ++i) EXPECT_TRUE(vfs.unlink(fmt::format("f{}", i)));
        EXPECT_TRUE(vfs.sync());
        EXPECT_LT(charged(), changed) << "memory is released";
      },
      End::unmount, {.policy = os::SyncerOptions::Policy::none});
}

TEST_P(EverySystem, ReadsWritesAndTruncatesFiles) {
  constexpr std::uint64_t kHoleBytesMost = 50'000;  // several blocks, even of the largest size
  make("plain");
  with_mounted(
      [](Vfs& fs) {
        tree::bench::expect_file_operations(fs, kHoleBytesMost);
        tree::bench::expect_times(fs);
        EXPECT_TRUE(fs.sync());
      },
      End::unmount);
  expect_nothing_found();
}

TEST_P(EverySystem, ChangesNamesAndAttributes) {
  make("plain");
  with_mounted(
      [](Vfs& fs) {
        tree::bench::expect_name_operations(fs);
        EXPECT_TRUE(fs.sync());
      },
      End::unmount);
  expect_nothing_found();
}

/// One user tries to change a block that cannot be read; the attempt must fail without effect.
/// Another user creates directories at the same time.
TEST_P(EverySystem, ReadErrorDoesNotAffectOtherUsers) {
  make("plain");
  with_mounted(
      [](Vfs& vfs) {
        put_file(vfs, "bad", std::string(3 * 8192, 'b'));
        EXPECT_TRUE(vfs.sync());
      },
      End::unmount);
  const auto reader = type().open_image(*image_);
  ASSERT_TRUE(reader) << reader.error().message();
  const auto content = (*reader)->content(*(*reader)->lookup("bad"));
  ASSERT_TRUE(content && !content->empty());
  const std::uint64_t lba = content->front().lba;
  os::MemoryMachine machine(*image_,
                            {.system = {.queue = system().description().queue,
                                        .cache = {.block_copy = system().description().block_copy}},
                             .faults = {{.op = model::Op::read,
                                         .sectors = {lba, lba + 1},
                                         .times = os::DiskFault::kForGood}},
                             .second_sectors = log_sectors_});
  os::Account account{.name = "user"}, other{.name = "other"};
  machine.system.syncer.start();
  // Declared here, because the daemons that the file system spawns use this object until they end.
  std::unique_ptr<MountedSystem> mounted;
  machine.system.run_as(account, [&] {
    auto made = system().mount(machine.system, {});
    ASSERT_TRUE(made) << made.error().message();
    mounted = *std::move(made);
    Vfs& vfs = mounted->vfs();
    bool done = false;
    machine.system.executor.spawn(os::Executor::Kind::user, other, [&] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_TRUE(vfs.mkdir(fmt::format("d{}", i), 0755)) << i;
        machine.system.executor.sleep_until(machine.system.executor.now() +
                                            model::kMillisecondNs / 10);
      }
      done = true;
    });
    const auto bad = vfs.open("bad", {});
    ASSERT_TRUE(bad);
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(vfs.pwrite(*bad, 100, std::vector<std::byte>(10)));
    while (!done)
      machine.system.executor.sleep_until(machine.system.executor.now() + model::kMillisecondNs);
    EXPECT_TRUE(vfs.mkdir("after", 0755));
    mounted->abandon();
    machine.disk.power_cut();
  });
  machine.system.executor.halt();
  mounted.reset();
}

TEST_P(EverySystem, RejectsTooLargeDevicesAndNamesTheLimit) {
  class Huge final : public model::SectorStore {
   public:
    std::uint64_t sectors() const override { return std::uint64_t{1} << 48U; }
    Result<void> read(std::uint64_t, std::span<std::byte>) const override {
      return fail("huge", "is not read");
    }
    Result<void> write(std::uint64_t, std::span<const std::byte>) override {
      return fail("huge", "is not written");
    }
    Result<void> write_zeroes(std::uint64_t, std::uint64_t) override {
      return fail("huge", "is not written");
    }
  } huge;
  const auto made = type().mkfs(huge, {});
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().subject.starts_with("mkfs")) << made.error().message();
  EXPECT_FALSE(made.error().hint.empty());
}

TEST_P(EverySystem, InodeNameNeverRefersToALaterFile) {
  make("plain");
  const bool control = system().control();
  with_mounted(
      [control](Vfs& fs) {
        put_file(fs, "a", "a");
        const auto before = fs.stat("a");
        ASSERT_TRUE(before);
        const InodeName name{before->inode, before->generation};
        EXPECT_TRUE(fs.stat(name.path()));
        EXPECT_TRUE(fs.unlink("a"));
        EXPECT_TRUE(fs.sync());  // until this sync, "b" may not be able to reuse the inode number
        put_file(fs, "b", "b");
        // In most systems, "b" now has the inode number of "a"
        const auto again = fs.stat(name.path());
        EXPECT_TRUE(control || (!again && again.error().value == ESTALE));
        EXPECT_TRUE(fs.sync());
      },
      End::unmount);
  expect_nothing_found();
}

TEST_P(EverySystem, RejectsUnknownOptions) {
  const auto store = media::MemoryStore::create(32768);
  ASSERT_TRUE(store) << store.error().message();
  const auto made = type().mkfs(**store, {{"no-such-option", "1"}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("no-such-option"), std::string::npos);
  EXPECT_FALSE(type().open_image(**store));
  EXPECT_FALSE(type().checker()->check(**store, {}));
}

TEST_P(EverySystem, ReturnsValidFaultAreas) {
  make("plain");
  const auto areas = type().fault_areas(*image_);
  ASSERT_TRUE(areas) << areas.error().message();
  EXPECT_FALSE(areas->empty());
}

INSTANTIATE_TEST_SUITE_P(All, EverySystem, testing::ValuesIn(all_systems()), test_name);

}  // namespace
}  // namespace headcrash::adapters
