// Tests the use of space and the states of blocks. Files on a full disk can be changed and removed,
// committed blocks are not overwritten, and the state is consistent after disk errors.
#include "fs-adapters/examples/shadow/testing/mounted.h"
#include "fs-adapters/substrate/tree/testing/history.h"
#include "plugin/base/crc32c.h"

namespace headcrash::shadow {
namespace {

using tree::bench::bytes_of;
using tree::bench::get_file;
using tree::bench::put_file;

std::uint64_t free_on(const model::SectorStore& store) {
  return make_checker()->check(store, {})->space.front().value;
}

/// Fills the disk to the last block.
void fill(Vfs& vfs) {
  const auto file = vfs.open("large", {.create = true});
  ASSERT_TRUE(file);
  VfsResult<void> written;
  do {
    written = vfs.append(*file, bytes_of(std::string(512, 'l')));
  } while (written);
  EXPECT_EQ(written.error().value, ENOSPC);
  ASSERT_TRUE(vfs.close(*file));
}

TEST(Space, FilesOnAFullDiskCanBeChangedAndRemoved) {
  const auto disk = bench::make_disk(256 << 10, {{"block-size", "512"}});
  const std::uint64_t free = free_on(*disk);
  bench::Machine m(*disk);
  m.mount();
  m.as_user([&] {
    Vfs& vfs = *m.file_system;
    put_file(vfs, "name", "x");
    ASSERT_NO_FATAL_FAILURE(fill(vfs));
    const auto large = vfs.stat("large");
    ASSERT_TRUE(large);
    EXPECT_GT(large->size_bytes, 50'000U);
    EXPECT_EQ(vfs.mkdir("more", 0755).error().value, ENOSPC);
    // The file has several times as many blocks as are free. Overwriting it must nevertheless
    // succeed.
    const auto file = vfs.open("large", {});
    ASSERT_TRUE(file);
    ASSERT_TRUE(vfs.pwrite(*file, 0, bytes_of(std::string(large->size_bytes, 'm'))));
    ASSERT_TRUE(vfs.close(*file));
    EXPECT_EQ(get_file(vfs, "large"), std::string(large->size_bytes, 'm'));
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(vfs.rename("name", "other", RenameMode::replace));
      ASSERT_TRUE(vfs.link("other", "name"));
      ASSERT_TRUE(vfs.unlink("other"));
    }
    ASSERT_TRUE(vfs.unlink("large"));
    ASSERT_TRUE(vfs.unlink("name"));
    ASSERT_TRUE(vfs.sync());
  });
  EXPECT_EQ(free_on(*disk), free);
  m.unmount();
  bench::expect_clean(*disk);
}

TEST(Space, AnOpenUnlinkedFileIsNotInTheTable) {
  const auto disk = bench::make_disk(1 << 20, {});
  const std::uint64_t free = free_on(*disk);
  bench::Machine m(*disk);
  m.mount();
  m.as_user([&] {
    Vfs& vfs = *m.file_system;
    put_file(vfs, "f", std::string(20'000, 'f'));
    const auto file = vfs.open("f", {});
    ASSERT_TRUE(file);
    ASSERT_TRUE(vfs.unlink("f"));
    ASSERT_TRUE(vfs.sync());
    bench::expect_clean(*disk);
    EXPECT_EQ(free_on(*disk), free);
    // The blocks of the file remain in use until the file is closed.
    ASSERT_TRUE(vfs.pwrite(*file, 1, bytes_of("new")));
    put_file(vfs, "g", std::string(20'000, 'g'), tree::bench::Fsync::yes);
    std::string text(5, '?');
    ASSERT_TRUE(vfs.pread(*file, 0, std::as_writable_bytes(std::span(text.data(), text.size()))));
    EXPECT_EQ(text, "fnewf");
    ASSERT_TRUE(vfs.close(*file));
  });
  m.unmount();
  bench::expect_clean(*disk);
}

TEST(Space, TruncatedDataDoesNotReappear) {
  const auto disk = bench::make_disk(1 << 20, {});
  bench::Machine m(*disk);
  m.mount();
  m.as_user([&] {
    Vfs& vfs = *m.file_system;
    put_file(vfs, "f", std::string(6000, 'f'), tree::bench::Fsync::yes);
    const auto file = vfs.open("f", {});
    ASSERT_TRUE(file);
    ASSERT_TRUE(vfs.truncate(*file, 4100));
    ASSERT_TRUE(vfs.truncate(*file, 5000));
    ASSERT_TRUE(vfs.close(*file));
    EXPECT_EQ(get_file(vfs, "f"), std::string(4100, 'f') + std::string(900, '\0'));
  });
  m.unmount();
  bench::expect_clean(*disk);
}

/// Makes one disk request of each kind fail once, and retries the operation.
TEST(Errors, LeaveTheStateBeforeOrAfterTheFailedOperation) {
  const auto plain = bench::make_disk(1 << 20, {});
  const Geometry geometry = Image::open(*plain)->header().geometry;
  struct Case {
    const char* what;
    os::SectorRange range;
    bool stops;
  };
  const Case cases[] = {
      {"blocks", {geometry.lba_of(0), geometry.device_sectors()}, false},
      {"the table", {geometry.table_lba(0), geometry.table_lba(1)}, false},
      {"the header", {kHeaderSectors[0], kHeaderSectors[0] + 1}, true},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    const auto disk = bench::make_disk(1 << 20, {});
    os::MemoryMachineOptions options;
    options.faults = {{.sectors = one.range}};
    {
      bench::Machine m(*disk, options);
      m.mount();
      m.as_user([&] {
        Vfs& vfs = *m.file_system;
        put_file(vfs, "f", "first");
        EXPECT_FALSE(vfs.sync());
        bench::expect_clean(*disk);
        EXPECT_EQ(vfs.sync().has_value(), !one.stops);
        EXPECT_EQ(vfs.mkdir("d", 0755).has_value(), !one.stops);
        EXPECT_EQ(get_file(vfs, "f"), "first") << "readable after the stop";
      });
    }
    bench::expect_clean(*disk);
    EXPECT_EQ(Image::open(*disk)->lookup("f").has_value(), !one.stops);
  }
}

TEST(Mount, RejectsBlocksThatBelongToTwoFiles) {
  const auto disk = bench::make_disk(1 << 20, {});
  bench::Machine m(*disk);
  m.mount();
  m.as_user([&] {
    put_file(*m.file_system, "f", "1");
    put_file(*m.file_system, "g", "2");
  });
  m.unmount();
  const auto image = Image::open(*disk);
  ASSERT_TRUE(image);
  std::vector<Record> records = image->records();
  records[2].blocks = records[1].blocks;
  std::vector<std::byte> table;
  for (const Record& record : records) append(record, table);
  Header header = image->header();
  header.table_checksum = crc32c(table);
  table.resize((table.size() + kSectorBytes - 1) / kSectorBytes * kSectorBytes);
  ASSERT_TRUE(disk->write(header.geometry.table_lba(header.slot()), table));
  ASSERT_TRUE(disk->write(kHeaderSectors.at(header.slot()), encode(header)));
  const auto mounted = m.try_mount();
  ASSERT_FALSE(mounted);
  EXPECT_NE(mounted.error().message().find("fsck"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::shadow
