// Tests a long life of every registered system: a disk that is filled, emptied and unmounted many
// times, and that loses power many times. After each life, every count must be exact, and
// everything that was deleted must be free again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <optional>
#include <string>

#include "fs-adapters/registry.h"
#include "fs-adapters/substrate/tree/testing/history.h"
#include "fs-adapters/testing/lab_image.h"
#include "fs-adapters/use_of_space.h"
#include "plugin/base/random.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::adapters {
namespace {

using tree::bench::User;

constexpr int kSteps = 60;
/// A test with fewer lives skips the disk "plain" if the system also has the disk "tiny".
constexpr int kLivesOfPlain = 4;

class LongLives : public LabImage {
 protected:
  /// Expects that an unmounted image is clean and that its counts are exact.
  void expect_exact_counts() {
    const auto report = type().checker()->check(*image_, {});
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_TRUE(report->was_clean);
    EXPECT_TRUE(report->nothing_found()) << report->findings.front().text;
    EXPECT_EQ(report->space, counted_);
  }

  /// Recovers an image after a cut: by the next mount if `by_mount` is true and a mount suffices,
  /// otherwise with the checker.
  void recover(bool by_mount) {
    const auto checker = type().checker();
    const auto report = checker->check(*image_, {});
    ASSERT_TRUE(report) << report.error().message();
    if (by_mount && (report->log_in_use || report->nothing_found())) return;
    ASSERT_TRUE(checker->repair(*image_, {}));
  }

  /// Performs random operations in one mount, then fills the disk and removes half of the new
  /// files. `end` selects how the mount ends.
  void live(int life, End end) {
    std::optional<User> user;
    with_mounted(
        [&](Vfs& vfs, os::System& machine) {
          user.emplace(vfs, fmt::format("u{}", life), static_cast<std::uint32_t>(life));
          if (roomy_) user->live(kSteps);
          fill_and_thin_out(vfs, life);
          if (end == End::unmount) {
            EXPECT_TRUE(settle(vfs, machine));
          }
        },
        end);
    if (end == End::abandon) return recover(life % 4 == 1);
    expect_exact_counts();
    with_mounted(
        [&](Vfs& vfs, os::System& machine) {
          user->moves_to(vfs);
          if (roomy_) user->compare();
          EXPECT_TRUE(settle(vfs, machine));
        },
        End::unmount);
  }

  /// Removes all files and returns the free space that the file system then reports. Also checks
  /// the report: writes a file that takes most of that space, and removes it again.
  std::uint64_t empty_and_write() {
    std::uint64_t free = 0;
    with_mounted(
        [&](Vfs& vfs, os::System& machine) {
          const auto reported = free_space_when_empty(vfs, machine);
          ASSERT_TRUE(reported) << reported.error().value;
          free = *reported;
          const auto used = use_space(vfs, machine, "all", free);
          ASSERT_TRUE(used) << used.error().value;
          EXPECT_GE(used->written_bytes, used->promised_bytes)
              << "of " << free << " bytes that were reported as free";
          EXPECT_GE(vfs.space()->free_bytes + map_growth(), free);
        },
        End::unmount);
    expect_exact_counts();
    return free;
  }

  /// Number of bytes that remain in use after everything has been removed. Zero except in LFS,
  /// which never frees blocks of its inode map.
  std::uint64_t map_growth() const { return type().name() == "lfs" ? kMapGrowthBytes : 0; }

  bool roomy_ = false;  ///< the disk has enough room for the user's files

 private:
  /// Returns the bytes written by write_until_full().
  static std::uint64_t written(Vfs& vfs, const std::string& path, std::uint64_t bytes,
                               std::size_t piece_bytes = kPieceBytes) {
    const auto done = write_until_full(vfs, path, bytes, piece_bytes);
    EXPECT_TRUE(done) << path << ": " << done.error().value;
    return done.value_or(0);
  }
  static void fill_and_thin_out(Vfs& vfs, int life) {
    constexpr std::uint64_t kFileBytes = 20 * kPieceBytes;
    const std::string folder = fmt::format("full{}", life);
    const auto made = vfs.mkdir(folder, 0755);
    ASSERT_TRUE(made || made.error().value == ENOSPC);
    if (!made) return;
    int files = 0;
    while (written(vfs, fmt::format("{}/{}", folder, files), kFileBytes) == kFileBytes) ++files;
    for (int i = 0; i < files; i += 2) EXPECT_TRUE(vfs.unlink(fmt::format("{}/{}", folder, i)));
    // Freed space can be used at once, without a sync.
    for (int i = 0; i < files / 3; i += 2)
      EXPECT_EQ(written(vfs, fmt::format("{}/{}", folder, i), kFileBytes, kFileBytes), kFileBytes)
          << "file " << i << " of " << files;
  }
};

TEST_P(LongLives, CountsStayExactAndDeletedFilesFreeTheirSpace) {
  if (system().control()) return;
  const auto lives = static_cast<int>(number_from_environment("HEADCRASH_LIVES", 4));
  for (const char* disk : {"plain", "tiny"}) {
    if (!system().lab_disk(disk)) continue;
    if (lives < kLivesOfPlain && system().lab_disk("tiny") && std::string_view(disk) == "plain")
      continue;  // skipped, because filling the larger disk takes most of the time
    roomy_ = std::string_view(disk) == "plain";
    make(disk);
    live(0, End::unmount);  // makes the inode tables grow to their maximum size
    if (HasFailure()) return;
    const std::uint64_t empty = empty_and_write();
    for (int life = 1; life < lives && !HasFailure(); ++life) {
      SCOPED_TRACE(fmt::format("disk {}, life {}", disk, life));
      live(life, life % 2 == 1 ? End::abandon : End::unmount);
      if (HasFailure()) return;
      EXPECT_GE(empty_and_write() + map_growth(), empty) << "deleted files still take space";
    }
  }
}

/// Every sync drops unused inodes from memory. Their blocks may stay cached while the disk is
/// overwritten several times. An inode that is read again must be current.
TEST_P(LongLives, InodesAreUnchangedWhenReadAgain) {
  constexpr int kRounds = 80;
  constexpr std::uint64_t kChanges = 8, kNames = 24, kSizeMost = 4000;
  if (system().control() || !system().lab_disk("tiny")) return;
  struct Known {
    std::uint32_t mode = 0;
    std::uint64_t size = 0;
  };
  std::map<std::string, Known> files;
  Random random(7);
  make("tiny");
  with_mounted(
      [&](Vfs& vfs, os::System&) {
        for (int round = 0; round < kRounds && !HasFailure(); ++round) {
          for (std::uint64_t i = 0; i < kChanges; ++i) {
            const std::string name = fmt::format("f{}", random.below(kNames));
            if (files.erase(name) != 0) {
              EXPECT_TRUE(vfs.unlink(name));
              continue;
            }
            Known& file = files[name];
            file = {.mode = static_cast<std::uint32_t>(random.below(01000)),
                    .size = random.below(kSizeMost)};
            tree::bench::put_file(vfs, name, std::string(file.size, 'x'));
            EXPECT_TRUE(vfs.chmod(name, file.mode));
          }
          EXPECT_TRUE(vfs.sync());
          mounted_->drop_unused_inodes();
          for (const auto& [name, file] : files) {
            const auto status = vfs.stat(name);
            ASSERT_TRUE(status) << name << " in round " << round << ": " << status.error().value;
            EXPECT_EQ(status->mode, file.mode) << name << " in round " << round;
            EXPECT_EQ(status->size_bytes, file.size) << name << " in round " << round;
          }
        }
      },
      End::unmount);
  expect_exact_counts();
}

INSTANTIATE_TEST_SUITE_P(All, LongLives, testing::ValuesIn(all_systems()), test_name);

}  // namespace
}  // namespace headcrash::adapters
