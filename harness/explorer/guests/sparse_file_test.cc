#include "harness/explorer/guests/sparse_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/explorer/guests/host_check.h"
#include "harness/explorer/testing/recorded_disk.h"
#include "harness/workload/stamp.h"
#include "plugin/media/prior_bytes.h"
#include "plugin/states/used_image.h"

namespace headcrash::explorer {
namespace {

constexpr std::uint64_t kImageSectors = 8192;  // four pieces of 1 MiB each
constexpr std::size_t kPageBytes = 4096;

/// A file system's image after some writes, and a copy of this image on the host.
class CopiedState : public testing::Test {
 protected:
  CopiedState() {
    RecordedDisk disk(folder_.path() / "a.hcrec", kImageSectors);
    for (const std::uint64_t lba : {0, 8, 4096})
      disk.write(lba + 1, lba, RecordedDisk::block({static_cast<int>(lba >> 3)})).ack(lba + 1);
    const auto run = disk.flush(9999).load();
    auto image = run->image({.event = run->events()}, 0);
    EXPECT_TRUE(image) << image.error().message();
    image_.emplace(std::move(*image));
    auto copy = private_copy(*image_);
    EXPECT_TRUE(copy) << copy.error().message();
    copy_ = std::move(*copy);
  }

  void put(std::uint64_t offset, const std::vector<std::byte>& bytes) {
    EXPECT_EQ(::pwrite(copy_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes.size()));
  }
  /// Returns the pieces that differ: maps the offset of each piece to its size in bytes.
  std::map<std::uint64_t, std::size_t> changes() {
    std::map<std::uint64_t, std::size_t> seen;
    const auto visited =
        visit_changes(*image_, copy_, [&](std::uint64_t offset, auto bytes) -> Result<void> {
          seen[offset] = bytes.size();
          std::vector<std::byte> there(bytes.size());
          EXPECT_EQ(::pread(copy_.get(), there.data(), there.size(), static_cast<off_t>(offset)),
                    static_cast<ssize_t>(there.size()));
          EXPECT_TRUE(std::ranges::equal(bytes, there)) << "at " << offset;
          return {};
        });
    EXPECT_TRUE(visited) << visited.error().message();
    return seen;
  }

  const TemporaryFolder folder_;
  std::optional<states::StateImage> image_;
  base::Descriptor copy_;
};

using Changes = std::map<std::uint64_t, std::size_t>;

TEST_F(CopiedState, HasNoChangesInitially) {
  EXPECT_EQ(changes(), Changes{});
}

TEST_F(CopiedState, FindsChangedBytes) {
  put(4096 + 17, {std::byte{0x77}});       // changes one byte of the second block
  put(3 << 20, RecordedDisk::block({5}));  // this block was a hole
  put((3 << 20) + kPageBytes, RecordedDisk::block({6}));
  put(0, RecordedDisk::block({0}));                  // rewrites the old content
  put(1 << 20, std::vector<std::byte>(kPageBytes));  // overwrites zeroes with zeroes
  EXPECT_EQ(changes(), (Changes{{4096, kPageBytes}, {3 << 20, 2 * kPageBytes}}));
}

TEST_F(CopiedState, FindsWrittenZeroes) {
  put(2 << 20, std::vector<std::byte>(kPageBytes));
  EXPECT_EQ(changes(), (Changes{{2 << 20, kPageBytes}}));
}

TEST_F(CopiedState, StopsAtTheFirstError) {
  put(0, std::vector<std::byte>(kPageBytes));
  put(2 << 20, std::vector<std::byte>(kPageBytes));
  std::size_t calls = 0;
  const auto visited = visit_changes(*image_, copy_, [&](std::uint64_t, auto) -> Result<void> {
    ++calls;
    return fail("stage", "is full");
  });
  EXPECT_FALSE(visited);
  EXPECT_EQ(calls, 1U);
}

/// The plugin and the harness must agree on the bytes of a used disk. A dump must recognise these
/// bytes, so that the oracle treats them as stale data.
TEST(UsedDisk, HoldsContentThatADumpRecognises) {
  std::vector<std::byte> served(3 * workload::kStampBytes), wanted(served.size());
  media::read_prior_bytes(77, served);
  workload::write_before_mkfs(77, wanted);
  EXPECT_EQ(served, wanted);
  EXPECT_EQ(
      std::get<workload::BeforeMkfs>(workload::read_stamp(std::span(served).first(512))).sector,
      77U);
}

/// If a file system has no journal, fsck may read the previous contents of the disk, so fsck's copy
/// must contain them. Changes to the copy must be detected.
TEST(UsedDisk, AWholeCopyHasThePreviousContent) {
  const states::StateImage image = states::used_image(kImageSectors);
  const auto copy = private_copy(image, Unwritten::as_on_the_disk);
  ASSERT_TRUE(copy) << copy.error().message();
  std::vector<std::byte> there(workload::kStampBytes), wanted(there.size());
  ASSERT_EQ(::pread(copy->get(), there.data(), there.size(), 77 * 512),
            static_cast<ssize_t>(there.size()));
  media::read_prior_bytes(77, wanted);
  EXPECT_EQ(there, wanted);
  const std::vector<std::byte> zeroes(kPageBytes);
  ASSERT_EQ(::pwrite(copy->get(), zeroes.data(), zeroes.size(), 65536),
            static_cast<ssize_t>(zeroes.size()));
  Changes seen;
  ASSERT_TRUE(visit_changes(
      image, *copy,
      [&](std::uint64_t offset, auto bytes) -> Result<void> {
        seen[offset] = bytes.size();
        return {};
      },
      Unwritten::as_on_the_disk));
  EXPECT_EQ(seen, (Changes{{65536, kPageBytes}}));
}

/// The previous contents of a used disk would fill every sector of a copy. A copy therefore omits
/// the previous contents unless the check of the copy needs them. A comparison must not report the
/// omitted contents as a change.
TEST(UsedDisk, OtherCopiesOmitThePreviousContent) {
  const states::StateImage image = states::used_image(kImageSectors);
  const auto copy = private_copy(image);
  ASSERT_TRUE(copy) << copy.error().message();
  struct stat status = {};
  ASSERT_EQ(::fstat(copy->get(), &status), 0);
  EXPECT_EQ(status.st_blocks, 0) << "the whole file is a hole";
  const std::vector<std::byte> fsck(kPageBytes, std::byte{1});
  ASSERT_EQ(::pwrite(copy->get(), fsck.data(), fsck.size(), 65536),
            static_cast<ssize_t>(fsck.size()));
  const std::vector<std::byte> zeroes(kPageBytes);
  ASSERT_EQ(::pwrite(copy->get(), zeroes.data(), zeroes.size(), 1 << 20),
            static_cast<ssize_t>(zeroes.size()));
  Changes seen;
  ASSERT_TRUE(visit_changes(image, *copy, [&](std::uint64_t offset, auto bytes) -> Result<void> {
    seen[offset] = bytes.size();
    return {};
  }));
  EXPECT_EQ(seen, (Changes{{65536, kPageBytes}, {1 << 20, kPageBytes}}))
      << "the neighbouring pieces are unchanged";
}

}  // namespace
}  // namespace headcrash::explorer
