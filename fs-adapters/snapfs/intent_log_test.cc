// Tests fsync with a log record: what it writes, how the end of the log is found, and how a mount
// replays the log.
#include <set>

#include "fs-adapters/snapfs/log_record.h"
#include "fs-adapters/snapfs/testing/mounted.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;
using bench::Fsync;
using bench::get_file;
using bench::Machine;
using bench::put_file;

std::vector<LogRecord> log_of(const Disk& disk) {
  const auto s = read_superblock(*disk.store);
  EXPECT_TRUE(s);
  std::vector<std::byte> log(s->log_bytes());
  EXPECT_TRUE(disk.store->read(s->lba_of(s->log_block()), log));
  return records_of(log, *s);
}

TEST(SnapfsLogRecord, RoundTrips) {
  const Disk disk(bench::kDiskWithLog);
  const auto s = read_superblock(*disk.store);
  ASSERT_TRUE(s);
  LogRecord record{.base = 5, .sequence = 3, .free_blocks = 9, .free_inodes = 8, .unlinked = 1};
  record.next_generation = 77;
  record.time = {.seconds = 4, .nanoseconds = 5};
  record.previous_checksum = 6;
  Inode inode;
  inode.number = 12;
  inode.mode = tree::kTypeRegular | 0600;
  inode.links = 1;
  record.inodes = {inode};
  record.removed = {13, 14};
  record.born = {100, 101};
  record.freed = {200};
  record.numbers_born = {12};
  record.numbers_freed = {13, 14};
  auto bytes = encode(record, *s);
  EXPECT_EQ(bytes.size(), record.bytes());
  EXPECT_EQ(bytes.size() % kSectorBytes, 0U);
  const auto read = decode_log_record(bytes, *s);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->generation(), 9U);
  EXPECT_EQ(read->inodes, record.inodes);
  EXPECT_EQ(read->removed, record.removed);
  EXPECT_EQ(read->born, record.born);
  EXPECT_EQ(read->freed, record.freed);
  EXPECT_EQ(read->numbers_born, record.numbers_born);
  EXPECT_EQ(read->numbers_freed, record.numbers_freed);
  EXPECT_EQ(read->time, record.time);
  EXPECT_EQ(read->next_generation, 77U);
  EXPECT_EQ(read->previous_checksum, 6U);
  EXPECT_EQ(read->checksum, record.checksum);
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    bytes[i] ^= std::byte{4};
    EXPECT_FALSE(decode_log_record(bytes, *s)) << i;
    bytes[i] ^= std::byte{4};
  }
  EXPECT_FALSE(decode_log_record(std::span(bytes).first(kSectorBytes / 2), *s));
}

TEST(SnapfsIntentLog, FsyncWritesOnlyALogRecord) {
  Disk disk(bench::kDiskWithLog);
  const std::uint64_t generation = read_superblock(*disk.store)->generation;
  {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      put_file(*m.file_system, "a", "first", Fsync::yes);
      put_file(*m.file_system, "b", "second", Fsync::yes);
    });
    EXPECT_EQ(m.file_system->snapshots().counters().records, 2U);
    EXPECT_EQ(m.file_system->snapshots().counters().commits, 0U);
  }
  EXPECT_EQ(read_superblock(*disk.store)->generation, generation);
  EXPECT_EQ(log_of(disk).size(), 2U);
  bench::expect_clean(*disk.store);
  const auto reader = ImageReader::open(*disk.store);
  EXPECT_EQ(reader->superblock().generation, generation + 2);
  EXPECT_FALSE(reader->superblock().clean);
  EXPECT_TRUE(reader->lookup("b"));
}

TEST(SnapfsIntentLog, AnInodesLocationChangesWithEachRecord) {
  Disk disk(bench::kDiskWithLog);
  Machine m(*disk.store);
  m.mount();
  std::set<std::uint64_t> places;
  for (const std::string& text :
       {std::string("one"), std::string("two, longer"), std::string("three")}) {
    m.as_user([&] { put_file(*m.file_system, "a", text, Fsync::yes); });
    const auto reader = ImageReader::open(*disk.store);
    EXPECT_TRUE(places.insert(reader->place_of(reader->lookup("a")->number)).second) << text;
  }
  m.as_user([&] { EXPECT_TRUE(m.file_system->sync()); });
  const auto reader = ImageReader::open(*disk.store);
  EXPECT_TRUE(places.insert(reader->place_of(reader->lookup("a")->number)).second);
}

TEST(SnapfsIntentLog, MountContinuesTheLogWithoutWriting) {
  Disk disk(bench::kDiskWithLog);
  for (const std::string& text : {std::string("one"), std::string("two"), std::string("three")}) {
    Machine m(disk.log);
    const std::size_t before = disk.log.log.size();
    disk.log.keep = true;
    m.mount();
    EXPECT_EQ(disk.log.log.size(), before);
    m.as_user([&] {
      if (text != "one") {
        EXPECT_EQ(get_file(*m.file_system, "same"), text == "two" ? "one" : "two");
      }
      put_file(*m.file_system, "same", text, Fsync::yes);
      put_file(*m.file_system, text, text, Fsync::yes);
    });
    bench::expect_clean(*disk.store, text);
  }
  EXPECT_EQ(log_of(disk).size(), 6U);
  Machine m(*disk.store);
  m.mount();
  m.unmount();
  EXPECT_EQ(log_of(disk).size(), 0U);
  EXPECT_TRUE(ImageReader::open(*disk.store)->superblock().clean);
  bench::expect_clean(*disk.store);
  m.mount();
  m.as_user([&] {
    EXPECT_EQ(get_file(*m.file_system, "same"), "three");
    EXPECT_EQ(get_file(*m.file_system, "one"), "one");
  });
}

TEST(SnapfsIntentLog, AFullLogCausesACommit) {
  Disk disk(bench::kDiskWithLog);
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    for (int i = 0; i < 100; ++i)
      put_file(*m.file_system, "f" + std::to_string(i % 7), "x", Fsync::yes);
  });
  const Counters& counters = m.file_system->snapshots().counters();
  EXPECT_GT(counters.commits, 1U);
  EXPECT_GT(counters.records, 10 * counters.commits);
  bench::expect_clean(*disk.store);
}

TEST(SnapfsIntentLog, LoggedChangesAreCommittedAfterTheCommitInterval) {
  Disk disk(bench::kDiskWithLog);
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] { put_file(*m.file_system, "a", "first", Fsync::yes); });
  EXPECT_EQ(log_of(disk).size(), 1U);
  m.settle(12);
  EXPECT_EQ(log_of(disk).size(), 0U);
  EXPECT_TRUE(ImageReader::open(*disk.store)->lookup("a"));
}

TEST(SnapfsIntentLog, BlocksFreedByALoggedGenerationAreReusedAfterASuperblock) {
  Disk disk(bench::kDiskWithLog);
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    put_file(*m.file_system, "a", std::string(100'000, 'a'));
    EXPECT_TRUE(m.file_system->sync());
    const std::uint32_t before = m.file_system->snapshots().free_blocks_now();
    EXPECT_TRUE(m.file_system->unlink("a"));
    put_file(*m.file_system, "b", "b", Fsync::yes);
    EXPECT_LT(m.file_system->snapshots().free_blocks_now(), before);
    EXPECT_GT(m.file_system->space()->free_bytes, std::uint64_t{before} * 1024);
    EXPECT_TRUE(m.file_system->sync());
    EXPECT_GT(m.file_system->snapshots().free_blocks_now(), before + 80);
  });
}

TEST(SnapfsIntentLog, MountRemovesALoggedButUnlinkedFile) {
  Disk disk(bench::kDiskWithLog);
  {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      const auto file = m.file_system->open("gone", {.create = true});
      ASSERT_TRUE(file);
      EXPECT_TRUE(m.file_system->pwrite(*file, 0, bench::bytes_of("text")));
      EXPECT_TRUE(m.file_system->unlink("gone"));
      EXPECT_TRUE(m.file_system->fsync(*file));
    });
  }
  EXPECT_EQ(ImageReader::open(*disk.store)->superblock().unlinked, 1U);
  bench::expect_clean(*disk.store);
  Machine m(*disk.store);
  m.mount();
  m.unmount();
  EXPECT_EQ(ImageReader::open(*disk.store)->superblock().unlinked, 0U);
  bench::expect_clean(*disk.store);
}

TEST(SnapfsIntentLog, AnIncompleteRecordEndsTheLog) {
  Disk disk(bench::kDiskWithLog);
  {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      for (const char* name : {"a", "b", "c"}) put_file(*m.file_system, name, name, Fsync::yes);
    });
  }
  const auto s = read_superblock(*disk.store);
  const std::size_t first = log_of(disk)[0].bytes();
  std::vector<std::byte> sector(kSectorBytes);
  const std::uint64_t at = s->lba_of(s->log_block()) + first / kSectorBytes;
  EXPECT_TRUE(disk.store->read(at, sector));
  sector[200] ^= std::byte{1};
  EXPECT_TRUE(disk.store->write(at, sector));
  EXPECT_EQ(log_of(disk).size(), 1U);
  bench::expect_clean(*disk.store);
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    EXPECT_TRUE(m.file_system->stat("a"));
    EXPECT_FALSE(m.file_system->stat("b"));
    EXPECT_FALSE(m.file_system->stat("c"));
    put_file(*m.file_system, "d", "d", Fsync::yes);
  });
  bench::expect_clean(*disk.store);
  EXPECT_EQ(log_of(disk).size(), 2U) << "the old records do not continue the new one";
}

}  // namespace
}  // namespace headcrash::snapfs
