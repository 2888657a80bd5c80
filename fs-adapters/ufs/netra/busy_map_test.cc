// Tests the map of busy groups: what a fast check reads, and whether it agrees with the full check
// when most groups are quiet. Power cuts occur within writes of records and headers, and within the
// check's own writes.

#include "fs-adapters/ufs/netra/busy_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/netra/busy_marks.h"
#include "fs-adapters/ufs/netra/fast_check_trial.h"
#include "fs-adapters/ufs/netra/netra.h"
#include "fs-adapters/ufs/testing/journal.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "fs-adapters/ufs/testing/netra.h"
#include "fs-adapters/ufs/testing/stores.h"

namespace headcrash::ufs {
namespace {

using bench::busy_of;
using bench::CountedReads;
using bench::Mounted;

constexpr std::uint64_t kGroupBytes = 1 << 20;
constexpr bench::MountedOptions kManyGroups{.device_bytes = 16 * kGroupBytes,
                                            .mkfs = {.block_bytes = 4096,
                                                     .fragment_bytes = 1024,
                                                     .bytes_per_inode = 16384,
                                                     .group_bytes = kGroupBytes}};

Superblock superblock_of(const model::SectorStore& store) {
  std::vector<std::byte> bytes(kSuperblockBytes);
  EXPECT_TRUE(store.read(kSuperblockByte / kSectorBytes, bytes));
  const auto superblock = decode_superblock(bytes, store.sectors() * kSectorBytes);
  EXPECT_TRUE(superblock);
  return superblock ? *superblock : Superblock();
}

/// Reads the summary area.
std::vector<GroupRecord> map_of(const model::SectorStore& store) {
  const Superblock superblock = superblock_of(store);
  std::vector<std::byte> bytes(superblock.summary_bytes);
  EXPECT_TRUE(store.read(Geometry(superblock).lba_of(superblock.summary_address), bytes));
  std::vector<GroupRecord> records;
  for (std::uint32_t group = 0; group < superblock.groups; ++group)
    records.push_back(decode_group_record(
        std::span(bytes).subspan(std::size_t{group} * kSummaryBytes, kSummaryBytes),
        superblock.features));
  return records;
}

std::size_t on_map(const model::SectorStore& store) {
  return static_cast<std::size_t>(std::ranges::count_if(map_of(store), &GroupRecord::busy));
}

void change_record(model::SectorStore& store, std::uint32_t group,
                   const std::function<void(GroupRecord&)>& change) {
  const Superblock superblock = superblock_of(store);
  const std::uint64_t lba = Geometry(superblock).lba_of(superblock.summary_address);
  std::vector<std::byte> bytes(superblock.summary_bytes);
  ASSERT_TRUE(store.read(lba, bytes));
  const auto at = std::span(bytes).subspan(std::size_t{group} * kSummaryBytes, kSummaryBytes);
  GroupRecord record = decode_group_record(at, superblock.features);
  change(record);
  encode_group_record(record, at);
  ASSERT_TRUE(store.write(lba, bytes));
}

/// Creates files in many groups, which then become quiet. After that, removes, truncates and
/// rewrites some of the files, with pauses.
void fill_and_empty(Mounted& m) {
  Vfs& fs = *m.file_system;
  const auto rest = [&] { m.executor.sleep_until(m.executor.now() + 3 * model::kSecondNs); };
  for (const char* folder : {"p", "q"}) EXPECT_TRUE(fs.mkdir(folder, 0755));
  for (int i = 0; i < 12; ++i)
    bench::put_file(fs, fmt::format("p/f{}", i),
                    std::string(200'000 + 40'000 * static_cast<std::size_t>(i), 'a'));
  EXPECT_TRUE(fs.sync());
  rest();
  EXPECT_TRUE(fs.unlink("p/f1"));
  const auto open = fs.open("p/f2", {});
  ASSERT_TRUE(open);
  EXPECT_TRUE(fs.unlink("p/f2"));
  bench::put_file(fs, "q/new", std::string(30'000, 'n'));
  rest();
  EXPECT_TRUE(fs.close(*open));
  const auto cut = fs.open("p/f7", {});
  ASSERT_TRUE(cut);
  EXPECT_TRUE(fs.truncate(*cut, 1000));
  EXPECT_TRUE(fs.close(*cut));
  EXPECT_TRUE(fs.rename("p/f8", "q/f8", RenameMode::replace));
  rest();
  EXPECT_TRUE(fs.rename("q/f8", "p/f9", RenameMode::replace));
  EXPECT_TRUE(fs.mkdir("q/below", 0755));
  EXPECT_TRUE(fs.sync());
  EXPECT_TRUE(fs.unlink("p/f10"));
  EXPECT_TRUE(fs.rmdir("q/below"));
}

class Maps : public testing::TestWithParam<const char*> {};

TEST_P(Maps, FastAndFullChecksAgreeAfterEveryWrite) {
  Mounted m(bench::setup_named(GetParam()), kManyGroups);
  const auto before = bench::copy_of(*m.store);
  m.log.keep = true;
  m.mount();
  m.as_user([&] { fill_and_empty(m); });
  m.unmount();
  bench::expect_clean(*m.store);
  EXPECT_EQ(on_map(*m.store), 0U);
  FastCheckTrial trial;
  std::size_t mixed = 0;
  ASSERT_NO_FATAL_FAILURE(bench::compare_checks_after_each(m.log.log, *before, trial, [&] {
    const std::size_t busy = on_map(*before);
    mixed += busy > 0 && busy < 16 ? 1 : 0;
  }));
  EXPECT_GT(mixed, 100U) << "some groups were busy, others not";
  EXPECT_EQ(trial.counts()[1].value, 0U) << trial.counts()[1].name;
}

INSTANTIATE_TEST_SUITE_P(All, Maps, testing::Values("netra-map", "netra-map-flush"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

TEST(BusyMap, AFastCheckReadsTheMapAndBusyGroups) {
  for (const bool with_map : {false, true}) {
    Mounted m(bench::without_flusher(with_map ? "netra-map" : "netra"), kManyGroups);
    m.mount();
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      for (int i = 0; i < 40; ++i)
        bench::put_file(fs, fmt::format("f{}", i), std::string(200'000, 'x'));
      EXPECT_TRUE(fs.sync());
      bench::put_file(fs, "last", "x");
      if (with_map) {
        EXPECT_LT(busy_of(m).counters().map_writes, 20U);
      }
    });
    m.file_system->abandon();
    if (with_map) {
      EXPECT_LE(on_map(*m.store), 2U);
    }
    FastCheckTrial trial;
    EXPECT_EQ(trial.difference(*m.store), "");
    CountedReads reads(*m.store);
    Fsck fsck;
    const auto fast = fsck.run(reads, {.repair = true, .fast = true});
    ASSERT_TRUE(fast && fast->fast);
    // In addition to the 16 headers, the check reads the superblock, the map, and some inodes and
    // directory chunks.
    if (with_map) {
      EXPECT_EQ(on_map(*m.store), 0U);
      EXPECT_LT(reads.reads, 14U);
    } else {
      EXPECT_GT(reads.reads, 16U);
    }
    bench::expect_clean(*m.store);
  }
}

/// The interrupted check may have cleared an inode that had blocks in quiet groups. A later fast
/// check does not examine these groups, so their counts must already be correct.
TEST(BusyMap, ACheckInterruptedAnywhereIsCompletedByTheNext) {
  for (const char* scheme : {"netra", "netra-map"}) {
    Mounted m(bench::without_flusher(scheme), kManyGroups);
    m.mount();
    m.as_user([&] {
      bench::put_file(*m.file_system, "f", std::string(3 << 20, 'f'));
      EXPECT_TRUE(m.file_system->sync());
    });
    const auto image = bench::copy_of(*m.store);
    m.log.keep = true;
    m.as_user([&] { EXPECT_TRUE(m.file_system->unlink("f")); });
    m.file_system->abandon();
    Fsck fsck;
    const auto nameless = [&] {
      const auto report = fsck.check(*image);
      return report && report->has(FindingKind::unreferenced_file);
    };
    for (auto write = m.log.log.begin(); write != m.log.log.end() && !nameless(); ++write)
      ASSERT_TRUE(image->write(write->lba, write->bytes));
    ASSERT_TRUE(nameless());
    std::vector<std::byte> start(image->sectors() * kSectorBytes);
    ASSERT_TRUE(image->read(0, start));
    for (const bool fast_is_cut : {false, true}) {
      std::uint64_t cuts = 0;
      for (bool finished = false; !finished && cuts < 500; ++cuts) {
        ASSERT_TRUE(image->write(0, start));
        CutStore cut(*image, cuts);
        finished = fsck.run(cut, {.repair = true, .fast = fast_is_cut}).has_value();
        const auto fast = fsck.run(*image, {.repair = true, .fast = true});
        ASSERT_TRUE(fast);
        if (!fast->fast) {
          ASSERT_TRUE(fsck.run(*image, {.repair = true}));
        }
        const auto after = fsck.check(*image);
        ASSERT_TRUE(after && after->nothing_found())
            << scheme << ", cut after " << cuts << ": " << after->findings.front().text;
      }
      EXPECT_GT(cuts, 20U);
    }
  }
}

TEST(BusyMap, AGroupThatCouldNotBeCleanedStaysOnTheMap) {
  Mounted m(bench::without_flusher("netra-map"), kManyGroups);
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    Volume& volume = m.file_system->volume();
    EXPECT_TRUE(fs.mkdir("d", 0755));
    EXPECT_TRUE(volume.write_if_dirty(Volume::place(volume.geometry.header(0))));
    const std::uint64_t header = volume.geometry.lba_of(volume.geometry.header(0));
    m.machine.faulty_disk.add({.sectors = {header, header + 1}});
    EXPECT_FALSE(busy_of(m).clean(0));
    EXPECT_TRUE(map_of(*m.store)[0].busy);
    EXPECT_TRUE(fs.mkdir("e", 0755));
    const auto cleaned = busy_of(m).clean(0);
    EXPECT_TRUE(cleaned && *cleaned);
    EXPECT_FALSE(map_of(*m.store)[0].busy);
    EXPECT_EQ(map_of(*m.store)[0].counts, volume.groups[0]);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST(BusyMap, AGroupUsedWhileBeingCleanedStaysOnTheMap) {
  Mounted m(bench::without_flusher("netra-map"), kManyGroups);
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    std::size_t entered = 0;
    for (int i = 0; i < 40; ++i) {
      EXPECT_TRUE(fs.mkdir(fmt::format("a{}", i), 0755));
      bool done = false;
      m.executor.spawn(os::Executor::Kind::user, m.account, [&, i] {
        m.executor.sleep_until(m.executor.now() + i * model::kMillisecondNs / 4);
        EXPECT_TRUE(fs.mkdir(fmt::format("b{}", i), 0755));
        done = true;
      });
      (void)busy_of(m).clean(0);
      while (!done) m.executor.sleep_until(m.executor.now() + model::kMillisecondNs);
      entered += busy_of(m).busy(0) ? 1 : 0;
      EXPECT_EQ(map_of(*m.store)[0].busy, busy_of(m).busy(0)) << i;
    }
    EXPECT_GT(entered, 5U);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// Without a check, the counts of busy groups are unknown.
TEST(BusyMap, MountingWithoutACheckKeepsAllGroupsOnTheMap) {
  Mounted m(bench::setup_named("netra-map"), kManyGroups);
  m.mount();
  m.as_user([&] { bench::put_file(*m.file_system, "f", std::string(100'000, 'f')); });
  m.as_user([&] {
    m.file_system->abandon();
    m.file_system.reset();
  });
  m.cache.discard_all();
  m.setup.mount.allow_unclean = true;
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    EXPECT_EQ(on_map(*m.store), 16U);
    bench::put_file(fs, "g", "g");
    EXPECT_TRUE(fs.sync());
    m.executor.sleep_until(m.executor.now() + 60 * model::kSecondNs);
    EXPECT_EQ(on_map(*m.store), 16U);
  });
  m.unmount();
  EXPECT_EQ(on_map(*m.store), 0U);
}

TEST(BusyMap, ADamagedRecordRequiresTheFullCheck) {
  Mounted m(bench::setup_named("netra-map"), kManyGroups);
  m.mount();
  m.as_user([&] { bench::put_file(*m.file_system, "f", "text"); });
  m.file_system->abandon();
  change_record(*m.store, 9, [](GroupRecord& record) { record.counts.free_blocks = 1'000'000; });
  Fsck fsck;
  const auto fast = fsck.run(*m.store, {.repair = true, .fast = true});
  ASSERT_TRUE(fast);
  EXPECT_TRUE(fast->unrepaired && !fast->fast);
  ASSERT_TRUE(fsck.run(*m.store, {.repair = true}));
  bench::expect_clean(*m.store);
}

TEST(BusyMap, ACheckLeavesNoGroupOnTheMap) {
  for (const bool fast : {false, true}) {
    Mounted m(bench::setup_named("netra-map"), kManyGroups);
    m.mount();
    m.as_user([&] {
      bench::put_file(*m.file_system, "f", "text");
      EXPECT_TRUE(m.file_system->sync());
    });
    m.file_system->abandon();
    EXPECT_EQ(on_map(*m.store), 0U);
    change_record(*m.store, 9, [](GroupRecord& record) { record.busy = true; });
    Fsck fsck;
    ASSERT_TRUE(fsck.run(*m.store, {.repair = true, .fast = fast}));
    EXPECT_EQ(on_map(*m.store), 0U);
    bench::expect_clean(*m.store);
  }
}

TEST(BusyMap, AGroupRecordRoundTripsItsCountsAndBusyBit) {
  std::array<std::byte, kSummaryBytes> bytes = {};
  const Summary counts{.directories = 5, .free_blocks = 6, .free_inodes = 7, .free_fragments = 8};
  for (const bool busy : {false, true}) {
    encode_group_record({.counts = counts, .busy = busy}, bytes);
    const GroupRecord record = decode_group_record(bytes, {.fast_check = true, .busy_map = true});
    EXPECT_EQ(record.counts, counts);
    EXPECT_EQ(record.busy, busy);
    EXPECT_EQ(decode_group_record(bytes, {.fast_check = true}).counts, decode_summary(bytes));
  }
}

TEST(BusyMap, RequiresTheFastCheckFeature) {
  const auto store = media::MemoryStore::create(16 << 11);
  const auto made = mkfs(**store, {.features = {.busy_map = true}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("--fast-check 1"), std::string::npos);
  Mounted m(bench::setup_named("netra-map"));
  std::vector<std::byte> bytes(kSuperblockBytes);
  ASSERT_TRUE(m.store->read(kSuperblockByte / kSectorBytes, bytes));
  constexpr std::size_t kFeaturesByte = 216;
  bytes[kFeaturesByte] &= ~std::byte{1};
  EXPECT_FALSE(decode_superblock(bytes, m.store->sectors() * kSectorBytes));
}

}  // namespace
}  // namespace headcrash::ufs
