// Fuzzes the journal. Each input is a list of 6-byte edits to the journal of an unclean file
// system. A check and a replay must terminate and stay within the device. After a repair that
// reports success, or a mount that succeeds, the image must be clean. An edit may recompute
// checksums, so that the edited contents are not rejected at once.

#include <gtest/gtest.h>

#include "fs-adapters/ufs/schemes/journal_replay.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "fs-adapters/ufs/testing/stores.h"
#include "plugin/base/crc32c.h"
#include "plugin/base/little_endian.h"
#include "plugin/base/testing/fuzz.h"
#include "plugin/base/testing/image_edits.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr std::size_t kJournalEditsMax = 60;

/// Returns an image with three transactions, one of them with orphans.
std::vector<std::byte> image_with_journal() {
  bench::Mounted m(bench::journal_setup(), {.device_bytes = 1 << 20});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    for (int round = 0; round < 3; ++round) {
      const std::string folder = "d" + std::to_string(round);
      EXPECT_TRUE(fs.mkdir(folder, 0755));
      bench::put_file(fs, folder + "/file", std::string(5000, 'f'));
      const auto open = fs.open("gone", {.create = true});
      ASSERT_TRUE(open);
      EXPECT_TRUE(fs.pwrite(*open, 0, bench::bytes_of(std::string(60'000, 'g'))));
      EXPECT_TRUE(fs.unlink("gone"));
      if (round == 1) {
        EXPECT_TRUE(fs.unlink("d0/file") && fs.rmdir("d0"));
      }
      EXPECT_TRUE(fs.fsync(*open));
    }
  });
  std::vector<std::byte> all(m.store->sectors() * kSectorBytes);
  EXPECT_TRUE(m.store->read(0, all));
  return all;
}

struct JournalTarget {
  std::vector<std::byte> image = image_with_journal();
  Superblock super;
  JournalContents contents;
  std::vector<std::uint64_t> areas;  ///< the parts of the image to edit, as ranges of bytes
  Fsck fsck;

  JournalTarget() {
    const BoundedStore store(image);
    super = *decode_superblock(std::span(image).subspan(kSuperblockByte), image.size());
    contents = *read_journal(store, super);
    EXPECT_EQ(contents.transactions.size(), 3U);
    areas.push_back(std::uint64_t{super.journal.at} * super.fragment_bytes);
    for (const std::uint32_t start : contents.starts) {
      const std::uint64_t byte =
          (std::uint64_t{super.journal.at} + 1 + start) * super.fragment_bytes;
      areas.insert(areas.end(), 3, byte);            // the descriptor
      areas.push_back(byte + super.fragment_bytes);  // images
      areas.push_back(byte + 9 * std::uint64_t{super.fragment_bytes});
    }
  }

  void edit(std::span<std::byte> bytes, std::string_view program) const {
    fuzz::each_image_edit(program, bytes, {.areas = areas, .reach = 4096, .most = kJournalEditsMax},
                          [&](const fuzz::ImageEdit& edit) {
                            if (!edit.overwrite(bytes, edit.what % 4U)) seal(bytes);
                          });
  }

  /// Recomputes all checksums.
  void seal(std::span<std::byte> bytes) const {
    const auto own = [&](std::span<std::byte> sector) {
      store32(sector, 4, 0);
      store32(sector, 4, crc32c(sector));
    };
    own(bytes.subspan(areas[0], kSectorBytes));
    for (const std::uint32_t start : contents.starts) {
      const auto ring =
          bytes.subspan((std::size_t{super.journal.at} + 1 + start) * super.fragment_bytes);
      const std::size_t fragments = load32(ring, 24);
      if (fragments < 2 || fragments * super.fragment_bytes > ring.size()) continue;
      const std::size_t body = (fragments - 1) * super.fragment_bytes;
      const auto commit = ring.subspan(body, kSectorBytes);
      store32(commit, 24, crc32c(ring.first(body)));
      own(commit);
    }
  }

  std::uint64_t run(std::string_view program) {
    BoundedStore store(image);
    edit(store.bytes(), program);
    const auto checked = fsck.check(store);
    if (!checked) return fuzz::novelty(checked.error().problem);
    Superblock read = super;
    BoundedStore mounted(std::vector<std::byte>(store.bytes().begin(), store.bytes().end()));
    const auto replayed = replay_journal(mounted, read, ReplayFor::mount);
    const auto repaired = fsck.run(store, {.repair = true});
    EXPECT_LT(store.requests() + mounted.requests(), 200'000U) << "too many requests";
    if (!repaired) return 1 + fuzz::novelty(repaired.error().problem);
    std::uint64_t kind = replayed ? 1 : 2 + fuzz::novelty(replayed.error().problem);
    for (const Finding& finding : repaired->findings)
      kind ^= 16ULL << static_cast<unsigned>(finding.kind);
    if (repaired->unrepaired) return kind;
    const auto after = fsck.check(store);
    EXPECT_TRUE(after && after->nothing_found())
        << "after the repair: " << (after ? after->findings.front().text : after.error().message());
    return kind;
  }
};

TEST(Fuzz, UfsJournal) {
  JournalTarget target;
  fuzz::Options options;
  options.name = "ufs-journal";
  options.size_max = fuzz::kImageEditBytes * kJournalEditsMax;
  const std::string seal("\0\0\0\3\0\0", 6);
  options.corpus = {"", seal, std::string(fuzz::kImageEditBytes, '\0')};
  for (char area = 0; area < 16; ++area)
    for (char offset = 0; offset < 60; offset += 4)
      options.corpus.push_back(std::string{area, offset, 0, 1, '\x09', 0} + seal);
  fuzz::run(options, [&](std::string_view input) { return target.run(input); });
}

}  // namespace
}  // namespace headcrash::ufs
