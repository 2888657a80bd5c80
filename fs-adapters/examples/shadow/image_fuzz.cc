// Images that a stranger wrote: each input is a list of edits to a small file system's image, after which the
// checksums are right again. Whatever they are, checker, reader and mount end, and what was mounted is
// unmounted without a crash.
#include "fs-adapters/examples/shadow/testing/mounted.h"
#include "fs-adapters/tree/testing/history.h"
#include "plugin/base/crc32c.h"
#include "plugin/base/little_endian.h"
#include "plugin/base/testing/fuzz.h"
#include "plugin/base/testing/image_edits.h"

namespace headcrash::shadow {
namespace {

constexpr std::size_t kEditsMax = 100;

struct Target {
  std::vector<std::byte> image;
  std::vector<std::uint64_t> areas;  ///< bytes where something lies that is followed
  Header header;

  Target() {
    const auto disk = bench::make_disk(256 << 10, {{"block-size", "512"}});
    bench::Machine m(*disk);
    m.mount();
    m.as_user([&] {
      Vfs& vfs = *m.file_system;
      EXPECT_TRUE(vfs.mkdir("d", 0755));
      tree::bench::put_file(vfs, "d/large", std::string(10'000, 'l'));
      tree::bench::put_file(vfs, "small", "s");
      EXPECT_TRUE(vfs.symlink("small", "link"));
    });
    m.unmount();
    image.resize(disk->sectors() * kSectorBytes);
    EXPECT_TRUE(disk->read(0, image));
    const auto made = Image::open(*disk);
    header = made->header();
    areas = {kHeaderSectors.at(header.slot()) * kSectorBytes,
             header.geometry.table_lba(header.slot()) * kSectorBytes};
    for (const Record& record : made->records())
      for (const auto& [block, address] : record.blocks)
        if (block == 0) areas.push_back(header.geometry.lba_of(address) * kSectorBytes);
  }

  /// Else nothing but checksums would be tried.
  void seal(std::span<std::byte> bytes) const {
    namespace le = little_endian;
    const auto sector = bytes.subspan(kHeaderSectors.at(header.slot()) * kSectorBytes, kSectorBytes);
    const auto table = bytes.subspan(header.geometry.table_lba(header.slot()) * kSectorBytes);
    const std::uint32_t length = le::load32(sector, 36);
    if (length <= table.size()) le::store32(sector, 40, crc32c(table.first(length)));
    le::store32(sector, kSectorBytes - 4, crc32c(sector.first(kSectorBytes - 4)));
  }

  std::uint64_t run(std::string_view program) const {
    auto bytes = image;
    fuzz::each_image_edit(program, bytes, {.areas = areas, .reach = 500, .most = kEditsMax},
                          [&](const fuzz::ImageEdit& edit) {
                            if (!edit.overwrite(bytes, edit.what % 4U)) edit.flip_bit(bytes);
                          });
    seal(bytes);
    auto store = *media::MemoryStore::create(bytes.size() / kSectorBytes);
    EXPECT_TRUE(store->write(0, bytes));
    std::uint64_t kind = 0;
    const auto report = make_checker()->check(*store, {});
    if (!report) kind = fuzz::novelty(report.error().problem);
    if (report)
      for (const adapters::CheckFinding& finding : report->findings) kind |= 1ULL << finding.kind.order;
    if (const auto reader = Image::open(*store))
      (void)reader->walk([&](const std::string&, const adapters::ImageInode& inode) {
        std::vector<std::byte> some(5'000);
        (void)reader->read(inode.number, 0, some);
        (void)reader->content(inode.number);
        if (inode.type == FileType::symlink) (void)reader->readlink(inode.number);
      });
    bench::Machine m(*store);
    if (const auto mounted = m.try_mount(); !mounted)
      return kind * 31 + fuzz::novelty(mounted.error().problem);
    m.as_user([&] {
      Vfs& vfs = *m.file_system;
      for (const char* path : {"d/large", "small", "link"})
        if (const auto file = vfs.open(path, {})) {
          (void)vfs.pwrite(*file, 700, tree::bench::bytes_of("changed"));
          (void)vfs.close(*file);
        }
      (void)vfs.rename("small", "d/moved", RenameMode::replace);
      (void)vfs.unlink("d/large");
      (void)m.file_system->unmount();
      m.file_system.reset();
    });
    return kind + 1;
  }
};

TEST(Fuzz, ShadowImage) {
  const Target target;
  fuzz::Options options;
  options.name = "shadow-image";
  options.size_max = fuzz::kImageEditBytes * kEditsMax;
  options.corpus = {"", std::string(fuzz::kImageEditBytes, '\0')};
  for (std::size_t area = 0; area < target.areas.size(); ++area)
    for (char offset = 0; offset < 120; offset = static_cast<char>(offset + 12))
      options.corpus.push_back({static_cast<char>(area), offset, 0, static_cast<char>(area % 4), '\x05', 0});
  fuzz::run(options, [&](std::string_view input) { return target.run(input); });
}

}  // namespace
}  // namespace headcrash::shadow
