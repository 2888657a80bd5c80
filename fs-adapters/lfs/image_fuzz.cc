// Images that a stranger wrote: each input is a list of edits to a small file system's image, 6 bytes each.
// Whatever they are, checker, reader and mount end, what was mounted is unmounted without a crash, and nothing
// is written but checkpoint regions and segments.

#include <gtest/gtest.h>

#include "fs-adapters/lfs/testing/mounted.h"
#include "plugin/base/little_endian.h"
#include "plugin/base/testing/fuzz.h"
#include "plugin/base/testing/image_edits.h"

namespace headcrash::lfs {
using namespace little_endian;
namespace {

constexpr std::size_t kEditsMax = 200;

struct Target {
  std::vector<std::byte> image;
  std::vector<std::uint64_t> areas;  ///< bytes where something lies that is followed

  explicit Target(bool checksums) {
    bench::Disk disk(
        {.device_bytes = 1 << 20,
         .mkfs = {.block_bytes = 512, .segment_bytes = 16 << 10, .checksums = checksums, .id = 4}});
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
        bench::put_file(fs, "d/new", std::string(3'000, 'n'), bench::Fsync::yes);
        EXPECT_TRUE(fs.rename("small", "d/moved", RenameMode::replace));
        bench::put_file(fs, "last", "x", bench::Fsync::yes);
      });
    }
    image.resize(disk.store->sectors() * kSectorBytes);
    EXPECT_TRUE(disk.store->read(0, image));
    const auto reader = ImageReader::open(*disk.store);
    if (!reader) return;
    const Superblock& s = reader->superblock();
    const auto add = [&](std::uint64_t sector) { areas.push_back(sector * kSectorBytes); };
    add(kSuperblockAddress);
    for (const SectorAddress at : s.checkpoints) add(at), add(at + 1), add(at + s.checkpoint_sectors - 1);
    for (const SectorAddress at : reader->checkpoint().map_blocks)
      if (at != 0) add(at);
    for (const SectorAddress at : reader->checkpoint().usage_blocks) add(at);
    for (const MapEntry& entry : reader->map())
      if (entry.allocated()) add(entry.address);
    const SectorAddress end = s.segment_start(reader->checkpoint().segment) + reader->checkpoint().offset;
    for (std::uint32_t i = 0; i < 12; ++i) add(end + i);
    add(reader->checkpoint().last_summary);
  }

  void edit(std::span<std::byte> bytes, std::string_view program) const {
    fuzz::each_image_edit(program, bytes, {.areas = areas, .reach = 1000, .most = kEditsMax},
                          [&](const fuzz::ImageEdit& edit) {
                            if (!edit.overwrite(bytes, edit.what % 4U)) edit.flip_bit(bytes);
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
      });
    bench::LoggedStore log(*store);
    log.keep = true;
    bench::Machine m(log);
    const auto mounted = m.try_mount();
    if (mounted) use(m);
    expect_in_place(bytes, log);
    return mounted ? kind + 1 : kind * 31 + fuzz::novelty(mounted.error().problem);
  }

 private:
  static void use(bench::Machine& m) {
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      for (const char* path : {"d/large", "d/new", "last"})
        if (const auto file = fs.open(path, {})) {
          (void)fs.pwrite(*file, 700, bench::bytes_of("changed"));
          (void)fs.close(*file);
        }
      (void)fs.unlink("last");
      (void)fs.unlink("d/large");
      (void)fs.sync();
      (void)m.file_system->unmount();
      m.file_system.reset();
    });
  }

  /// Whatever it was told, it has written to checkpoint regions and segments only.
  static void expect_in_place(std::span<const std::byte> image, const bench::LoggedStore& log) {
    const auto s =
        decode_superblock(image.subspan(kSuperblockAddress * kSectorBytes), image.size() / kSectorBytes);
    for (const bench::LoggedStore::Write& write : log.log) {
      ASSERT_TRUE(s) << "a file system that is none was written to";
      const std::uint64_t sectors = write.bytes.size() / kSectorBytes;
      const bool is_checkpoint = (write.lba == s->checkpoints[0] || write.lba == s->checkpoints[1]) &&
                                 sectors == s->checkpoint_sectors;
      const bool in_a_segment =
          write.lba < image.size() / kSectorBytes &&
          s->holds(static_cast<SectorAddress>(write.lba), static_cast<std::uint32_t>(sectors));
      EXPECT_TRUE(is_checkpoint || in_a_segment) << write.lba << ", " << sectors << " sectors";
    }
  }
};

void fuzz_image(const char* name, bool checksums) {
  const Target target(checksums);
  fuzz::Options options;
  options.name = name;
  options.size_max = fuzz::kImageEditBytes * kEditsMax;
  options.corpus = {"", std::string(fuzz::kImageEditBytes, '\0')};
  for (std::size_t area = 0; area < target.areas.size(); ++area)
    for (char offset = 0; offset < 120; offset = static_cast<char>(offset + 12))
      options.corpus.push_back({static_cast<char>(area), offset, 0, static_cast<char>(area % 4), '\x05', 0});
  fuzz::run(options, [&](std::string_view input) { return target.run(input); });
}

TEST(Fuzz, LfsImage) {
  fuzz_image("lfs-image", true);
}

/// Nothing is refused for a checksum, so that all that is read has to be looked at.
TEST(Fuzz, LfsSprite92Image) {
  fuzz_image("lfs-sprite92-image", false);
}

}  // namespace
}  // namespace headcrash::lfs
