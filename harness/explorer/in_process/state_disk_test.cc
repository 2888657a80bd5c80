// Compares the states that StateDisk shows with the same states computed from the recording.
#include "harness/explorer/in_process/state_disk.h"

#include <gtest/gtest.h>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/exploration.h"
#include "harness/workload/ace.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/model/testing/sector_bytes.h"
#include "plugin/states/digest.h"

namespace headcrash::in_process {
namespace {

std::optional<std::uint64_t> sector_with_another_digest(const StateDisk& disk) {
  for (std::uint64_t sector = 0; sector < disk.sectors(); ++sector) {
    const auto bytes = disk.bytes().subspan(sector * model::kSectorBytes, model::kSectorBytes);
    if (disk.digests()[sector] != states::digest_sum(sector, bytes)) return sector;
  }
  return {};
}

/// The store consists of a file system's disk and, after it, the separate disk of its log. read()
/// and write() use the driver's addresses.
TEST(StateDisk, PlacesTheSecondDeviceAfterTheFirst) {
  std::vector<std::byte> base(40 * model::kSectorBytes);
  StateDisk disk(base, 30);
  EXPECT_EQ(disk.sectors(), 30U);
  EXPECT_EQ(disk.second_sectors(), 10U);
  EXPECT_EQ(disk.sector_of(29), 29U);
  EXPECT_EQ(disk.sector_of(os::device_address(1, 9)), 39U);
  const std::vector<std::byte> two(2 * model::kSectorBytes, std::byte{7});
  EXPECT_FALSE(disk.write(29, two));
  EXPECT_FALSE(disk.write(os::device_address(1, 9), two));
  EXPECT_FALSE(disk.write(os::device_address(2, 0), two));
  ASSERT_TRUE(disk.write(os::device_address(1, 8), two));
  EXPECT_EQ(disk.bytes()[38 * model::kSectorBytes], std::byte{7});
  for (std::uint64_t sector = 0; sector < 40; ++sector)
    EXPECT_EQ(disk.digests()[sector] == 0, sector < 38) << sector;
  std::vector<std::byte> read(two.size());
  ASSERT_TRUE(disk.read(os::device_address(1, 8), read));
  EXPECT_EQ(read, two);
  ASSERT_TRUE(disk.write_zeroes(os::device_address(1, 8), 2));
  EXPECT_EQ(disk.bytes()[39 * model::kSectorBytes], std::byte{0});
  EXPECT_FALSE(StateDisk(base).write(os::device_address(1, 0), two))
      << "the disk has only one device";
}

TEST(StateDisk, ShowsTheImageOfEveryState) {
  const TemporaryFolder folder;
  const auto scheme = adapters::find_system("ufs", "no-order");
  ASSERT_TRUE(scheme);
  const auto formatted =
      format_disk((*scheme)->type(), {.bytes = 8 << 20}, folder.path() / "formatted.hcrec");
  ASSERT_TRUE(formatted) << formatted.error().message();
  StateDisk disk(formatted->bytes);
  const auto operations = workload::Ace(2).workload(4711);
  const auto recorded =
      record_run(*formatted, disk, **scheme, operations, {}, folder.path() / "run.hcrec");
  ASSERT_TRUE(recorded) << recorded.error().message();
  const auto run = states::RunHistory::load(recorded->recording);
  ASSERT_TRUE(run) << run.error().message();
  ASSERT_TRUE(disk.begin_run(*run));
  auto explorer = states::StateEnumerator::create(
      *run,
      {.strategies = {states::Strategy::prefix, states::Strategy::reorder, states::Strategy::torn},
       .budget = 24});
  ASSERT_TRUE(explorer) << explorer.error().message();
  std::vector<std::byte> expected(formatted->bytes.size());
  int states = 0;
  for (;; ++states) {
    const auto found = explorer->next();
    ASSERT_TRUE(found) << found.error().message();
    if (!*found) break;
    const auto image = (*run)->image((*found)->state, 0);
    ASSERT_TRUE(image) << image.error().message();
    ASSERT_TRUE(image->read(0, expected));
    disk.show((*found)->state);
    ASSERT_TRUE(model::bench::same_bytes(disk.bytes(), expected)) << (*found)->name;
    ASSERT_EQ(sector_with_another_digest(disk), std::nullopt) << (*found)->name;
    // Changes some sectors, as a repair would. The next call of show() must undo these changes.
    ASSERT_TRUE(disk.write(static_cast<std::uint64_t>(states) * 7,
                           std::vector<std::byte>(4096, std::byte{1})));
    ASSERT_TRUE(disk.write_zeroes(static_cast<std::uint64_t>(states) * 7 + 3, 2));
    ASSERT_EQ(sector_with_another_digest(disk), std::nullopt) << (*found)->name;
  }
  EXPECT_GT(states, 10);
  disk.show_base();
  EXPECT_TRUE(model::bench::same_bytes(disk.bytes(), formatted->bytes));
}

}  // namespace
}  // namespace headcrash::in_process
