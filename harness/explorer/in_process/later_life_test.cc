// Tests that LaterLife accepts sound disks and rejects disks with wrong counts.
#include "harness/explorer/in_process/later_life.h"

#include <gtest/gtest.h>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

class LaterLifeTest : public testing::Test {
 protected:
  const FormattedDisk& format(const adapters::SystemUnderTest& system) {
    const auto disk = system.lab_disk("tiny") ? "tiny" : kPlainDisk;
    const auto explorer = explorers_.get(std::string(disk), system);
    EXPECT_TRUE(explorer) << explorer.error().message();
    return explorer.value()->formatted;
  }

  TemporaryFolder folder_;
  DiskExplorers explorers_{folder_.path()};
};

TEST_F(LaterLifeTest, SoundDisksPassAndSurviveAnotherCut) {
  for (const adapters::FileSystemType* const type : adapters::file_system_types()) {
    SCOPED_TRACE(type->name());
    const auto system = type->find_system(type->usual_system());
    ASSERT_TRUE(system) << system.error().message();
    const FormattedDisk& formatted = format(**system);
    StateDisk disk(formatted);
    const auto fsck = type->checker();
    LaterLife life(**system, disk, *fsck);
    life.measure_new_disk();
    disk.show_base();
    life.interrupt_recovery(1);
    ASSERT_TRUE(fsck->repair(disk, {}));
    EXPECT_EQ(life.use(1), "");
  }
}

TEST_F(LaterLifeTest, DetectsDamageThroughLaterUse) {
  const auto system = adapters::find_system("ufs", "soft-updates");
  ASSERT_TRUE(system);
  const FormattedDisk& formatted = format(**system);
  StateDisk disk(formatted);
  const auto areas = formatted.type->fault_areas(disk);
  ASSERT_TRUE(areas);
  const auto fsck = formatted.type->checker();
  LaterLife life(**system, disk, *fsck);
  life.measure_new_disk();
  std::size_t detected = 0;
  for (const os::SectorRange& area : *areas) {
    disk.show_base();
    std::vector<std::byte> sector(model::kSectorBytes);
    ASSERT_TRUE(disk.read(area.lba, sector));
    for (std::size_t i = sector.size() / 2; i < sector.size(); ++i) sector[i] ^= std::byte{0x55};
    ASSERT_TRUE(disk.write(area.lba, sector));
    detected += life.use(1).empty() ? 0 : 1;
  }
  EXPECT_GT(detected, 0U);
}

}  // namespace
}  // namespace headcrash::in_process
