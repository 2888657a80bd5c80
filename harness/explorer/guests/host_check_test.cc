#include "harness/explorer/guests/host_check.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "harness/explorer/guests/check_state.h"
#include "harness/explorer/guests/sparse_file.h"
#include "plugin/base/process.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::explorer {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kImageBytes = 8 << 20;
constexpr std::size_t kBlockBytes = 4096;
/// Offset of the group descriptor in block 1. The first field of the descriptor is the block number
/// of the bitmap.
constexpr off_t kGroupDescriptorAt = kBlockBytes;

adapters::LinuxAdapter adapter(const std::string& name) {
  auto loaded = adapters::load_adapter(name);
  EXPECT_TRUE(loaded) << loaded.error().message();
  return std::move(*loaded);
}

/// Returns an anonymous file that contains a new ext4 file system.
base::Descriptor fresh_ext4() {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "image";
  std::ofstream(path, std::ios::binary) << "";
  std::filesystem::resize_file(path, kImageBytes);
  const auto made = base::Process::start(
      {.argv = {"/sbin/mkfs.ext4", "-q", "-F", "-b", "4096", path}, .errors = STDERR_FILENO});
  EXPECT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->wait(30s), 0);
  std::vector<char> bytes(kImageBytes);
  std::ifstream(path, std::ios::binary)
      .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  base::Descriptor file(::memfd_create("image", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  return file;
}

off_t block_bitmap_at(int image) {
  std::uint32_t block = 0;
  EXPECT_EQ(::pread(image, &block, sizeof block, kGroupDescriptorAt),
            static_cast<ssize_t>(sizeof block));
  return static_cast<off_t>(block) * static_cast<off_t>(kBlockBytes);
}

TEST(HostCheck, IsUsedIfE2fsckNeedsOnlyTheDevice) {
  EXPECT_TRUE(host_can_check(adapter("ext4")));
  adapters::LinuxAdapter guest_only = adapter("ext4");
  guest_only.check.host = false;
  EXPECT_FALSE(host_can_check(guest_only));
  adapters::LinuxAdapter other_journal = adapter("ext4");
  other_journal.replay.argv.insert(other_journal.replay.argv.begin() + 1, {"-j", "{log}"});
  EXPECT_FALSE(host_can_check(other_journal));
}

TEST(HostCheck, IsUsedForTwoDisksIfNoKernelIsNeeded) {
  EXPECT_TRUE(host_can_check(adapter("ext4-external-journal")));
  EXPECT_FALSE(host_can_check(adapter("xfs-external-log"))) << "only the kernel can replay its log";
  adapters::LinuxAdapter both = adapter("ext4-external-journal");
  both.replay.argv = {"sh", "-c", "echo d | dd conv=notrunc of=$0; echo l | dd conv=notrunc of=$1",
                      "{device}", "{log}"};
  both.check.argv = {"true"};
  const auto disk = make_sparse_file(kImageBytes), log = make_sparse_file(kImageBytes);
  ASSERT_TRUE(disk && log);
  const auto found = host_check(both, *disk, 5s, &*log);
  ASSERT_TRUE(found) << found.error().message();
  std::array<char, 1> first{};
  ASSERT_EQ(::pread(disk->get(), first.data(), 1, 0), 1);
  EXPECT_EQ(first[0], 'd') << found->log;
  ASSERT_EQ(::pread(log->get(), first.data(), 1, 0), 1);
  EXPECT_EQ(first[0], 'l') << found->log;
}

TEST(HostCheck, DistinguishesIntactAndDamagedFileSystems) {
  const base::Descriptor whole = fresh_ext4();
  const auto clean = host_check(adapter("ext4"), whole);
  ASSERT_TRUE(clean) << clean.error().message();
  EXPECT_FALSE(clean->found_damage) << clean->log;
  EXPECT_FALSE(clean->replayed) << clean->log;

  // Damages a bitmap, because the replay would already repair a damaged group descriptor.
  const base::Descriptor damaged = fresh_ext4();
  const std::array<char, 64> nonsense{1, 2, 3};
  ASSERT_EQ(
      ::pwrite(damaged.get(), nonsense.data(), nonsense.size(), block_bitmap_at(damaged.get())),
      64);
  const auto found = host_check(adapter("ext4"), damaged);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_TRUE(found->found_damage) << found->log;
}

TEST(HostCheck, RunsUnprivilegedWithResourceLimits) {
  adapters::LinuxAdapter spy = adapter("ext4");
  spy.replay.argv = {"sh", "-c",
                     "id -u; env; ulimit -t; cat /proc/self/status; head -c 1 {device}"};
  spy.check.argv = {"sh", "-c", "head -c 20000000 /dev/zero > {device}"};
  const base::Descriptor image = fresh_ext4();
  const auto seen = host_check(spy, image, 5s);
  // At the output limit, the program is either killed or exits with an error. Both count as
  // failures.
  EXPECT_TRUE(!seen || seen->found_damage);
  spy.check.argv = {"true"};
  const auto words = host_check(spy, image, 5s);
  ASSERT_TRUE(words) << words.error().message();
  EXPECT_EQ(words->log.find("\n0\n"), std::string::npos) << "the program ran as root:\n"
                                                         << words->log;
  EXPECT_EQ(words->log.find("HOME="), std::string::npos) << words->log;
  EXPECT_NE(words->log.find("NoNewPrivs:\t1"), std::string::npos) << words->log;
}

TEST(HostCheck, ToleratesAProgramThatRaisesItsFileSizeLimit) {
  // Like xfs_repair, this program raises its limit on the file size, and fails if it may not do so.
  adapters::LinuxAdapter lifting = adapter("xfs");
  lifting.check.argv = {"sh", "-c", "ulimit -f unlimited && ! truncate -s +1M {device}"};
  const auto image = make_sparse_file(kImageBytes);
  ASSERT_TRUE(image) << image.error().message();
  const auto found = host_check(lifting, *image, 5s);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_FALSE(found->found_damage) << "the program was rejected, or the image grew:\n"
                                    << found->log;
}

TEST(HostCheck, ReportsADiscardedJournalAsDamage) {
  adapters::LinuxAdapter careless = adapter("ext4");
  careless.replay.argv = {"echo", "*** journal has been deleted ***"};
  careless.check.argv = {"true"};
  const auto found = host_check(careless, fresh_ext4(), 5s);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_TRUE(found->found_damage) << found->log;
}

TEST(HostCheck, KillsAProgramThatDoesNotEnd) {
  adapters::LinuxAdapter sleeper = adapter("ext4");
  sleeper.replay.argv = {"sleep", "1000"};
  const auto ended = host_check(sleeper, fresh_ext4(), 50ms);
  ASSERT_FALSE(ended);
  EXPECT_NE(ended.error().problem.find("did not end"), std::string::npos)
      << ended.error().message();
}

TEST(Failures, AreVerdictsThatBreakAPromise) {
  StateOutcome outcome;
  const auto fails = [&](oracle::Verdict verdict) {
    outcome.judgement.verdict = verdict;
    return is_failure(outcome);
  };
  EXPECT_FALSE(fails(oracle::Verdict::clean));
  EXPECT_FALSE(fails(oracle::Verdict::replayed));
  EXPECT_TRUE(fails(oracle::Verdict::repaired_by_fsck))
      << "damage that the file system's own recovery leaves";
  EXPECT_TRUE(fails(oracle::Verdict::lost_synced_data));
  EXPECT_TRUE(fails(oracle::Verdict::hang));
}

}  // namespace
}  // namespace headcrash::explorer
