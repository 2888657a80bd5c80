// Tests that the audit (audit.h) finds every inconsistency that is added to a correct image, and
// finds none on the lab's disks.
#include "fs-adapters/ufs/damage/audit.h"

#include <gtest/gtest.h>

#include <cstring>

#include "fs-adapters/ufs/damage/trial_disk.h"
#include "fs-adapters/ufs/lab_disks.h"
#include "fs-adapters/ufs/under_test.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "plugin/base/little_endian.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

using ufs::damage::Audit;

class UfsAudit : public testing::Test {
 protected:
  FormattedDisk made(const std::string& name) {
    const auto disk = ufs::lab_disk(name, {});
    EXPECT_TRUE(disk) << name;
    auto formatted = format_disk(ufs::file_system_type(), *disk, folder_.path() / name);
    EXPECT_TRUE(formatted) << formatted.error().message();
    return *std::move(formatted);
  }
  /// Changes one byte of the image and returns the audit's result.
  std::string with(const FormattedDisk& formatted, std::uint64_t byte, std::uint8_t flipped) {
    StateDisk disk(formatted.bytes);
    const std::uint64_t sector = byte / model::kSectorBytes;
    std::array<std::byte, model::kSectorBytes> bytes;
    std::memcpy(bytes.data(), disk.bytes().data() + sector * model::kSectorBytes, bytes.size());
    bytes[byte % model::kSectorBytes] ^= std::byte{flipped};
    EXPECT_TRUE(disk.write(sector, bytes));
    return audit_.contradiction_in(disk.bytes());
  }

  TemporaryFolder folder_;
  Audit audit_;
};

TEST_F(UfsAudit, EveryLabDiskIsCorrectAndSmallOnesHaveSeveralGroups) {
  for (const std::string_view name : kLabDisks) {
    for (const bool journal : {false, true}) {
      const auto disk = ufs::lab_disk(name, {.journal = journal});
      ASSERT_TRUE(disk) << name;
      const auto formatted =
          format_disk(ufs::file_system_type(), *disk, folder_.path() / "formatted.hcrec");
      ASSERT_TRUE(formatted) << name << ": " << formatted.error().message();
      EXPECT_EQ(audit_.contradiction_in(formatted->bytes), "") << name;
      const StateDisk shown(formatted->bytes);
      const auto reader = ufs::ImageReader::open(shown);
      ASSERT_TRUE(reader) << name;
      if (name == kPlainDisk) continue;
      EXPECT_GT(reader->geometry().groups(), 1U) << name;
      EXPECT_GT(reader->geometry().inodes_per_group(), reader->geometry().inodes_per_block())
          << name;
    }
  }
}

TEST_F(UfsAudit, FindsInconsistencies) {
  const FormattedDisk formatted = made("deep");
  const StateDisk shown(formatted.bytes);
  const auto reader = ufs::ImageReader::open(shown);
  ASSERT_TRUE(reader);
  const ufs::Geometry& geometry = reader->geometry();
  const std::uint64_t header = geometry.byte_of(geometry.header(1));
  const auto map = [&](std::uint64_t field) {
    return header + little_endian::load32(shown.bytes(), static_cast<std::size_t>(header + field));
  };
  const auto place = geometry.place_of(ufs::kRootInode);
  const std::uint64_t root = geometry.byte_of(place.block) + place.offset;
  EXPECT_NE(with(formatted, map(92), 1), "") << "an inode wrongly marked as used";
  EXPECT_NE(with(formatted, map(96) + 31, 1), "") << "a fragment wrongly marked as used";
  EXPECT_NE(with(formatted, header + 24, 1), "") << "a wrong count of a group";
  EXPECT_NE(with(formatted, root + ufs::kInodeLinksOffset, 1), "") << "links";
  EXPECT_NE(with(formatted, root + ufs::kInodeSectorsOffset, 1), "") << "sectors";
  EXPECT_NE(with(formatted, root + ufs::kInodeDirectOffset + 4, 7), "")
      << "a pointer beyond the end";
  EXPECT_NE(with(formatted, root + ufs::kInodeModeOffset + 1, 0xc0), "")
      << "a wrong type of the root";
  EXPECT_NE(with(formatted, ufs::kSuperblockByte + 1008, 1), "")
      << "wrong totals for other systems";
  EXPECT_NE(with(formatted, ufs::kSuperblockByte + ufs::kSuperblockCleanOffset, 1), "")
      << "the flag";
}

TEST_F(UfsAudit, CountsRunsOfFreeFragments) {
  const FormattedDisk formatted = made("tiny");
  const StateDisk shown(formatted.bytes);
  const auto reader = ufs::ImageReader::open(shown);
  ASSERT_TRUE(reader);
  const std::uint64_t header = reader->geometry().byte_of(reader->geometry().header(1));
  for (std::uint64_t length = 1; length < reader->geometry().fragments_per_block(); ++length)
    EXPECT_NE(with(formatted, header + 52 + 4 * length, 1), "") << "runs of " << length;
}

TEST_F(UfsAudit, AnIncompleteRepairIsNotMarkedClean) {
  const FormattedDisk formatted = made("deep");
  StateDisk disk(formatted.bytes);
  EXPECT_NE(audit_.contradiction_in_counts(disk.bytes()), "")
      << "the superblock claims to be clean";
  std::array<std::byte, model::kSectorBytes> sector;
  ASSERT_TRUE(disk.read(ufs::kSuperblockByte / model::kSectorBytes, sector));
  sector[ufs::kSuperblockCleanOffset] = std::byte{0};
  ASSERT_TRUE(disk.write(ufs::kSuperblockByte / model::kSectorBytes, sector));
  EXPECT_EQ(audit_.contradiction_in_counts(disk.bytes()), "");
  EXPECT_EQ(audit_.files(), 0U);
  EXPECT_EQ(audit_.directories(), 2U) << "root and lost+found";
}

}  // namespace
}  // namespace headcrash::in_process
