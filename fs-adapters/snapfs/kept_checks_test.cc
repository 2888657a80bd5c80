// A check that reuses earlier results must report the same as a full check, whatever has changed
// since the earlier check.
#include "fs-adapters/snapfs/kept_checks.h"

#include <random>

#include "fs-adapters/snapfs/testing/mounted.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;
using bench::Machine;

std::uint64_t digest_of(std::span<const std::byte> bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string text_of(const Result<CheckReport>& report) {
  if (!report) return report.error().message();
  return report->text() + std::to_string(report->more_findings) + " " +
         std::to_string(report->files) + " " + std::to_string(report->free_blocks) +
         (report->superblock.clean ? " clean" : "");
}

TEST(SnapfsKeptChecks, MatchFullChecks) {
  Disk disk({.device_bytes = 1 << 20, .mkfs = {.block_bytes = 2048, .id = 3}});
  {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      for (int i = 0; i < 10; ++i)
        bench::put_file(*m.file_system, "f" + std::to_string(i), std::string(9'000, 'x'));
    });
    m.unmount();
  }
  KeptChecks kept;
  std::mt19937 random(5);
  std::vector<std::byte> sector(kSectorBytes);
  std::vector<std::uint64_t> digests;
  for (std::uint64_t lba = 0; lba < disk.store->sectors(); ++lba) {
    EXPECT_TRUE(disk.store->read(lba, sector));
    digests.push_back(digest_of(sector));
  }
  const std::string sound = text_of(check(*disk.store));
  EXPECT_EQ(text_of(kept.check(*disk.store, 100, digests)), sound);
  std::uint64_t found = 0;
  for (std::uint64_t lba = 0; lba < disk.store->sectors(); ++lba) {
    SCOPED_TRACE(lba);
    EXPECT_TRUE(disk.store->read(lba, sector));
    auto changed = sector;
    changed[random() % sector.size()] ^= std::byte{0x10};
    const std::uint64_t before = std::exchange(digests[lba], digest_of(changed));
    EXPECT_TRUE(disk.store->write(lba, changed));
    const std::string says = text_of(check(*disk.store));
    EXPECT_EQ(text_of(kept.check(*disk.store, 100, digests)), says);
    if (says != sound) ++found;
    EXPECT_TRUE(disk.store->write(lba, sector));
    digests[lba] = before;
    EXPECT_EQ(text_of(kept.check(*disk.store, 100, digests)), sound);
  }
  EXPECT_GT(found, 10U);
  EXPECT_GT(kept.known(), 2'000U) << "most sectors are not read by any check";
  EXPECT_EQ(text_of(kept.check(*disk.store, 100, {})), text_of(check(*disk.store)))
      << "nothing can be reused";
}

}  // namespace
}  // namespace headcrash::snapfs
