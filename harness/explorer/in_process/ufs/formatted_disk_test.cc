// Tests lab disks that have just been formatted, and lab disks that have been used since then
// (formatted_disk.h, lab_disks.h).
#include "harness/explorer/in_process/formatted_disk.h"

#include <gtest/gtest.h>

#include "fs-adapters/registry.h"
#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/format/journal_format.h"
#include "fs-adapters/ufs/fsck/fsck.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

TEST(FormattedDisks, AUsedDiskIsEmptyAndCleanWithALaterJournalEpoch) {
  const TemporaryFolder folder;
  DiskExplorers explorers(folder.path());
  for (const std::string scheme : {"soft-updates", "journal"}) {
    const auto variant = adapters::find_system("ufs", scheme);
    ASSERT_TRUE(variant);
    std::vector<std::uint64_t> epochs;
    for (const std::string kind : {"deep", "used"}) {
      const auto made = explorers.get(kind, **variant);
      ASSERT_TRUE(made) << made.error().message();
      StateDisk disk((*made)->formatted.bytes);
      ufs::Fsck fsck;
      const auto report = fsck.check(disk);
      ASSERT_TRUE(report) << report.error().message();
      EXPECT_TRUE(report->nothing_found() && report->was_clean) << scheme << " " << kind;
      EXPECT_EQ(report->files, 0U);
      const auto reader = ufs::ImageReader::open(disk);
      ASSERT_TRUE(reader);
      EXPECT_EQ(reader->list(ufs::kRootInode)->size(), 1U) << "lost+found";
      if (scheme != "journal") continue;
      const auto contents = ufs::read_journal(disk, reader->superblock());
      ASSERT_TRUE(contents) << contents.error().message();
      EXPECT_TRUE(contents->transactions.empty());
      epochs.push_back(contents->super.epoch);
    }
    if (epochs.size() == 2) {
      EXPECT_LT(epochs.front(), epochs.back());
    }
  }
}

TEST(FormattedDisks, HaveTheDigestsOfTheirRecording) {
  const TemporaryFolder folder;
  DiskExplorers explorers(folder.path());
  const auto variant = adapters::find_system("ufs", "journal");
  ASSERT_TRUE(variant);
  const auto made = explorers.get("used", **variant);
  ASSERT_TRUE(made) << made.error().message();
  const FormattedDisk& disk = (*made)->formatted;
  const auto image = disk.history->image({.event = disk.history->events()}, 0);
  ASSERT_TRUE(image);
  ASSERT_EQ(disk.digests.size(), image->sectors());
  for (std::uint64_t sector = 0; sector < image->sectors(); ++sector)
    ASSERT_EQ(disk.digests[sector], image->digest(sector, 1).value()) << sector;
}

}  // namespace
}  // namespace headcrash::in_process
