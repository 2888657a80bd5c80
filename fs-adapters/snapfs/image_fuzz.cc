// Images that a stranger wrote: each input is a list of edits to a small file system's image, 6 bytes each.
// Whatever they are, checker, reader and mount end, and what was mounted is unmounted without a crash.

#include <gtest/gtest.h>

#include "fs-adapters/snapfs/log_record.h"
#include "fs-adapters/snapfs/testing/mounted.h"
#include "plugin/base/testing/fuzz.h"
#include "plugin/base/testing/image_edits.h"

namespace headcrash::snapfs {
namespace {

constexpr std::size_t kEditsMax = 200;

/// What is edited.
enum class Part : std::uint8_t { all, superblocks, record_map, bitmaps, inodes, log, snapshots };

struct Target {
  std::vector<std::byte> image;
  std::vector<std::uint64_t> areas;  ///< bytes where something lies that is followed

  explicit Target(Part part) {
    // A control's format, so that an edited superblock is believed.
    bench::Disk disk({.device_bytes = 512 << 10,
                      .mkfs = {.block_bytes = 512,
                               .version_check = VersionCheck::first_sector,
                               .log_bytes = part == Part::log ? 8U << 10 : 0U,
                               .id = 4}});
    {
      bench::Machine m(*disk.store);
      m.mount();
      m.as_user([&] {
        Vfs& fs = *m.file_system;
        EXPECT_TRUE(fs.mkdir("d", 0755));
        bench::put_file(fs, "d/large", std::string(100'000, 'l'));
        bench::put_file(fs, "small", "s");
        EXPECT_TRUE(fs.symlink("small", "link"));
        EXPECT_TRUE(fs.sync());
        EXPECT_TRUE(fs.rename("small", "d/moved", RenameMode::replace));
        const auto open = fs.open("last", {.create = true});
        EXPECT_TRUE(open);
        EXPECT_TRUE(fs.unlink("last"));
        EXPECT_TRUE(fs.sync());
        if (part == Part::snapshots) {
          EXPECT_TRUE(m.file_system->make_snapshot("one"));
          bench::put_file(fs, "d/large", std::string(9'000, 'L'));
          EXPECT_TRUE(m.file_system->make_snapshot("two"));
          EXPECT_TRUE(fs.unlink("d/moved"));
          EXPECT_TRUE(fs.sync());
        }
        if (part != Part::log) return;
        for (const char* name : {"d/large", "d/moved", "logged"}) {
          const auto file = fs.open(name, {.create = true});
          EXPECT_TRUE(file);
          EXPECT_TRUE(fs.truncate(*file, 3'000));
          EXPECT_TRUE(fs.pwrite(*file, 2'000, bench::bytes_of("logged")));
          EXPECT_TRUE(fs.fsync(*file));
          EXPECT_TRUE(fs.close(*file));
        }
      });
    }
    image.resize(disk.store->sectors() * kSectorBytes);
    EXPECT_TRUE(disk.store->read(0, image));
    const auto reader = ImageReader::open(*disk.store);
    if (!reader) return;
    const Superblock& s = reader->superblock();
    const auto has = [&](Part one) { return part == Part::all || part == one; };
    if (has(Part::superblocks))
      for (const std::uint64_t slot : kSlotAt)
        for (std::size_t sector = 0; sector < 4; ++sector) areas.push_back(slot + sector * kSectorBytes);
    for (std::size_t at = 0; has(Part::log) && at < s.log_bytes(); at += kSectorBytes)
      areas.push_back(s.lba_of(s.log_block()) * kSectorBytes + at);
    const auto add = [&](BlockAddress address) { areas.push_back(std::uint64_t{address} * s.block_bytes); };
    if (has(Part::snapshots) && s.snapshot_table != 0) {
      add(s.snapshot_table);
      const auto kept = read_snapshots(*disk.store, s);
      if (!kept) return;
      for (const SnapshotEntry& one : *kept)
        for (const BlockAddress root : {one.record_map, one.inode_map, one.block_map}) add(root);
    }
    const auto add_record_map = [&](BlockAddress at, const std::uint32_t* leaf, std::span<const std::byte>) {
      if (has(leaf == nullptr ? Part::record_map : Part::inodes)) add(at);
      return true;
    };
    EXPECT_TRUE(reader->each_tree_block(s.record_map, s.record_tree(), add_record_map));
    const auto add_bitmap = [&](BlockAddress at, const std::uint32_t*, std::span<const std::byte>) {
      if (has(Part::bitmaps)) add(at);
      return true;
    };
    EXPECT_TRUE(reader->each_tree_block(s.inode_map, s.inode_tree(), add_bitmap));
    EXPECT_TRUE(reader->each_tree_block(s.block_map, s.block_tree(), add_bitmap));
    if (!has(Part::inodes)) return;
    for (const char* path : {"", "d", "d/large"})
      EXPECT_TRUE(reader->each_block(*reader->lookup(path), [&](const ImageReader::Block& block) {
        if (block.level != 0 || std::string_view(path) != "d/large") add(block.address);
        return true;
      }));
  }

  void edit(std::span<std::byte> bytes, std::string_view program) const {
    fuzz::each_image_edit(program, bytes, {.areas = areas, .reach = 512, .most = kEditsMax},
                          [&](const fuzz::ImageEdit& edit) {
                            if (!edit.overwrite(bytes, edit.what % 4U)) edit.flip_bit(bytes);
                          });
    reseal(bytes);
  }

  /// Records of inodes and of the log that were edited get their checksums again, so that what they say is
  /// looked at.
  void reseal(std::span<std::byte> bytes) const {
    const auto reader_store = *media::MemoryStore::create(bytes.size() / kSectorBytes);
    EXPECT_TRUE(reader_store->write(0, bytes));
    const auto reader = ImageReader::open(*reader_store);
    if (!reader) return;
    const Superblock& s = reader->superblock();
    if (s.snapshot_table != 0)
      seal_snapshots(bytes.subspan(s.lba_of(s.snapshot_table) * kSectorBytes, s.block_bytes));
    seal_log(bytes.subspan(s.lba_of(s.log_block()) * kSectorBytes, s.log_bytes()));
    (void)reader->each_tree_block(
        s.record_map, s.record_tree(),
        [&](BlockAddress at, const std::uint32_t* leaf, std::span<const std::byte>) {
          for (std::uint32_t i = 0; leaf != nullptr && i < s.records_per_block(); ++i)
            seal_inode(
                bytes.subspan(s.lba_of(at) * kSectorBytes + std::size_t{i} * kInodeBytes, kInodeBytes));
          return true;
        });
  }

  std::uint64_t run(std::string_view program) const {
    auto bytes = image;
    edit(bytes, program);
    auto store = *media::MemoryStore::create(bytes.size() / kSectorBytes);
    EXPECT_TRUE(store->write(0, bytes));
    std::uint64_t kind = 0;
    const auto report = check(*store);
    if (!report) kind = fuzz::novelty(report.error().problem);
    if (report)
      for (const Finding& finding : report->findings) kind |= 1ULL << static_cast<unsigned>(finding.kind);
    if (const auto reader = ImageReader::open(*store))
      (void)reader->walk([&](const ImageReader::Found& found) {
        std::vector<std::byte> some(5'000);
        (void)reader->read(found.inode, 0, some);
        (void)reader->addresses(found.inode, found.inode.size_bytes / 512);
      });
    {
      bench::Machine of_snapshot(*store);
      if (of_snapshot.try_mount({.snapshot = "one"}))
        of_snapshot.as_user([&] { (void)of_snapshot.file_system->list("d"); });
    }
    bench::Machine m(*store);
    if (const auto mounted = m.try_mount(); !mounted)
      return kind * 31 + fuzz::novelty(mounted.error().problem);
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      for (const char* path : {"d/large", "d/moved", "new"})
        if (const auto file = fs.open(path, {.create = true})) {
          (void)fs.pwrite(*file, 700, bench::bytes_of("changed"));
          (void)fs.truncate(*file, 50'000);
          (void)fs.close(*file);
        }
      (void)fs.sync();
      (void)fs.rename("d/moved", "link", RenameMode::exchange);
      (void)fs.unlink("d/moved");
      (void)fs.unlink("d/large");
      (void)fs.sync();
      if (m.file_system->make_snapshot("new")) (void)fs.unlink("new");
      for (const SnapshotInfo& one : m.file_system->kept_snapshots())
        (void)m.file_system->drop_snapshot(one.name);
      (void)m.file_system->unmount();
      m.file_system.reset();
    });
    return kind + 1;
  }
};

void fuzz_part(Part part, const char* name) {
  const Target target(part);
  fuzz::Options options;
  options.name = name;
  options.size_max = fuzz::kImageEditBytes * kEditsMax;
  options.corpus = {"", std::string(fuzz::kImageEditBytes, '\0')};
  for (std::size_t area = 0; area < target.areas.size(); ++area)
    for (char offset = 0; offset < 120; offset = static_cast<char>(offset + 12))
      options.corpus.push_back({static_cast<char>(area), offset, 0, static_cast<char>(area % 4), '\x05', 0});
  fuzz::run(options, [&](std::string_view input) { return target.run(input); });
}

TEST(Fuzz, SnapfsImage) {
  fuzz_part(Part::all, "snapfs-image");
}
TEST(Fuzz, SnapfsSuperblocks) {
  fuzz_part(Part::superblocks, "snapfs-superblocks");
}
TEST(Fuzz, SnapfsRecordMap) {
  fuzz_part(Part::record_map, "snapfs-record-map");
}
TEST(Fuzz, SnapfsBitmaps) {
  fuzz_part(Part::bitmaps, "snapfs-bitmaps");
}
TEST(Fuzz, SnapfsInodes) {
  fuzz_part(Part::inodes, "snapfs-inodes");
}
TEST(Fuzz, SnapfsSnapshots) {
  fuzz_part(Part::snapshots, "snapfs-snapshots");
}
TEST(Fuzz, SnapfsLog) {
  fuzz_part(Part::log, "snapfs-log");
}

}  // namespace
}  // namespace headcrash::snapfs
