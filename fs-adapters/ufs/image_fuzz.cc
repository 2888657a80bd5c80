// Images that a stranger wrote: each input is a list of edits to a small file system's image, 6 bytes each.
// Whatever they are, reader and checker end, nothing outside the device is touched, and what a repair says
// that it has repaired is clean.

#include <gtest/gtest.h>

#include "fs-adapters/ufs/busy_marks.h"
#include "fs-adapters/ufs/fsck.h"
#include "fs-adapters/ufs/testing/stores.h"
#include "fs-adapters/ufs/testing/tree.h"
#include "plugin/base/little_endian.h"
#include "plugin/base/testing/fuzz.h"
#include "plugin/base/testing/image_edits.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr std::size_t kEditsMax = 200;

struct Target {
  Features features;
  TestTree tree;
  std::vector<std::byte> image;
  std::vector<std::uint64_t> areas;  ///< where a byte more or less matters
  Fsck fsck;

  explicit Target(const Features& its_features)
      : features(its_features),
        tree({.bytes_per_inode = 16384, .group_bytes = 512 << 10, .time = 1, .features = its_features},
             1 << 20) {
    if (features.any()) make_busy();
    image = tree.bytes();
    const auto reader = ImageReader::open(*tree.store);
    const Geometry& g = reader->geometry();
    const auto add = [&](std::uint64_t byte, std::uint64_t weight) {
      areas.insert(areas.end(), weight, byte);
    };
    add(kSuperblockByte, 3), add(kSuperblockByte + 1200, 1);
    for (std::uint32_t group = 0; group < g.groups(); ++group) add(g.byte_of(g.header(group)), 2);
    for (InodeNumber i = kRootInode; i < 16; ++i)
      add(g.byte_of(g.place_of(i).block) + g.place_of(i).offset, 2);
    if (features.any())
      add(g.byte_of(g.place_of(tree.large + 1).block) + g.place_of(tree.large + 1).offset, 4);
    for (const InodeNumber i : {InodeNumber{kRootInode}, tree.docs, tree.deep})
      add(g.byte_of(reader->inode(i)->direct[0]), 4);
    add(g.byte_of(reader->inode(tree.large)->indirect[0]), 3);
    add(g.byte_of(reader->inode(tree.holes)->indirect[2]), 3);
  }

  void edit(std::span<std::byte> bytes, std::string_view program) const {
    fuzz::each_image_edit(program, bytes, {.areas = areas, .reach = 1400, .most = kEditsMax},
                          [&](const fuzz::ImageEdit& edit) {
                            const unsigned kind = edit.what % 6U;
                            if (edit.overwrite(bytes, kind)) return;
                            if (kind == 3) {
                              store16(bytes, edit.at / 2 * 2, edit.operand);
                            } else if (kind == 4) {
                              std::copy_n(bytes.begin() + 131072 + edit.operand / 4 * 4, 4,
                                          bytes.begin() + static_cast<std::ptrdiff_t>(edit.at / 4 * 4));
                            } else {
                              edit.flip_bit(bytes);
                            }
                          });
  }

  std::uint64_t run(std::string_view program) {
    BoundedStore store(image);
    edit(store.bytes(), program);
    read_all(store);
    if (features.fast_check) check_fast(store);
    const auto checked = fsck.check(store);
    if (!checked) return fuzz::novelty(checked.error().problem);
    const auto repaired = fsck.run(store, {.repair = true});
    EXPECT_LT(store.requests(), 400'000U) << "far too many requests";
    if (!repaired) return 1 + fuzz::novelty(repaired.error().problem);
    std::uint64_t kind = repaired->unrepaired ? 7 : 8;
    for (const Finding& finding : repaired->findings) kind |= 16ULL << static_cast<unsigned>(finding.kind);
    if (repaired->unrepaired) return kind;
    const auto after = fsck.check(store);
    EXPECT_TRUE(after && after->nothing_found())
        << "after the repair: " << (after ? after->findings.front().text : after.error().message());
    read_all(store);
    return kind;
  }

  /// As after a cut: group 0 is busy, one file has a cache, another one tags.
  void make_busy() {
    ImageWriter writer(*tree.store);
    writer.cache_last_blocks(tree.large, 5);
    const std::uint64_t generation = ImageReader::open(*tree.store)->superblock().generation;
    writer.save_extension(tree.twice,
                          {.generation = generation,
                           .tags = {{.directory = kRootInode, .chunk = 0, .entries = 1},
                                    {.directory = tree.deep, .chunk = LinkTag::kWholeDirectory}}});
    const Geometry& geometry = writer.geometry();
    auto header = writer.read(geometry.header(0), geometry.block_bytes());
    const CylinderGroup map(geometry, header, 0);
    BusyMarks marks(geometry, header, 0);
    marks.clear(map.totals().directories);
    marks.set_generation(generation);
    marks.mark_free_fragments(map);
    for (InodeNumber inode = kRootInode; inode < 40; inode += 2) marks.mark_inode(inode, inode == kRootInode);
    marks.add_foreign_inode(geometry.inodes_per_group() + 2);
    writer.write(geometry.header(0), header);
    writer.as_after_a_cut();
  }

  /// It ends, whatever it leaves.
  void check_fast(BoundedStore& store) {
    BoundedStore copy({store.bytes().begin(), store.bytes().end()});
    (void)fsck.run(copy, {.repair = true, .fast = true});
    EXPECT_LT(copy.requests(), 400'000U) << "far too many requests of a fast check";
  }

  static void read_all(const model::SectorStore& store) {
    const auto reader = ImageReader::open(store);
    if (!reader) return;
    std::vector<std::byte> buffer(20'000);
    (void)reader->walk([&](const ImageReader::Found& found) {
      if (found.inode.is_symlink()) (void)reader->readlink(found.number);
      if (found.inode.is_regular()) (void)reader->read(found.number, found.inode.size_bytes / 2, buffer);
    });
  }
};

void fuzz_images(const char* name, const Features& features) {
  Target target(features);
  fuzz::Options options;
  options.name = name;
  options.size_max = fuzz::kImageEditBytes * kEditsMax;
  options.corpus = {"", std::string(fuzz::kImageEditBytes, '\0'),
                    "\x03\x30\x05\x01\x02\x03\x09\x01\x02\x02\x04\x05"};
  for (char area = 0; area < 40; area += 3)
    for (char action = 0; action < 6; ++action)
      options.corpus.push_back({area, '\x28', 0, action, '\x05', 0});
  fuzz::run(options, [&](std::string_view input) { return target.run(input); });
}

TEST(Fuzz, UfsImage) {
  fuzz_images("ufs-image", {});
}
TEST(Fuzz, UfsImageWithFeatures) {
  fuzz_images("ufs-image-features", {.fast_check = true, .bmap_cache = true});
}

}  // namespace
}  // namespace headcrash::ufs
