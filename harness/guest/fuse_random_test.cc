// Runs random operations on a nearly full disk through FUSE. Three users compare their files with
// references (tree/testing/history.h), and a fourth user keeps the disk nearly full. Each round
// uses a new file system, which is unmounted, checked, mounted, compared again, unmounted and
// checked again. No user may get ENOSPC. A log-structured file system is nine tenths full, so that
// its cleaner runs all the time. A file system with metadata snapshots is 95 % full, so that it
// commits generations all the time.
//
// The test mounts file systems, which needs root and /dev/fuse, and takes a long time.
// HEADCRASH_FUSE_SECONDS=600 in the environment enables it. HEADCRASH_FUSE_BIN is the directory
// with {mkfs,mount,fsck}.headcrash-TYPE, HEADCRASH_FUSE_TYPE is lfs (the default) or snapfs, and
// HEADCRASH_SEEDS_FROM is the seed of the first round. scripts/tests/fuse_random.sh sets these
// variables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>

#include "fs-adapters/lfs/image_reader.h"
#include "fs-adapters/substrate/tree/testing/ballast.h"
#include "harness/guest/posix_vfs.h"
#include "plugin/base/testing/number_from_environment.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::guest {
namespace {

using tree::bench::Ballast;
using tree::bench::User;
using Clock = std::chrono::steady_clock;

constexpr int kSteps = 600;
constexpr std::uint32_t kUsers = 3;

/// The file system under test and its options.
struct System {
  std::string type, mkfs_options, scheme;
  std::uint64_t image_bytes = 0;
  std::uint64_t full_percent = 0;
};

std::optional<System> find_system(std::string_view type) {
  constexpr std::uint64_t kMiB = 1 << 20;
  // The eager cleaner runs until a certain number of segments are clean. A volume with 256 KiB
  // segments has fewer segments than that, so the cleaner never stops.
  if (type == "lfs") return System{"lfs", "-s 256K", "eager-cleaner", 24 * kMiB, 90};
  if (type == "snapfs") return System{"snapfs", "", "snapshots-often", 48 * kMiB, 95};
  return std::nullopt;
}

/// Implements sync() with syncfs(), because sync(2) would wait for all disks of the machine.
class MountedVfs final : public PosixVfs {
 public:
  using PosixVfs::PosixVfs;
  VfsResult<void> sync() override { return syncfs(); }
};

/// An image, read into memory as a whole.
class ImageBytes final : public model::SectorStore {
 public:
  explicit ImageBytes(const std::filesystem::path& image)
      : bytes_(std::filesystem::file_size(image)) {
    std::ifstream(image, std::ios::binary)
        .read(reinterpret_cast<char*>(bytes_.data()), static_cast<std::streamsize>(bytes_.size()));
  }
  std::uint64_t sectors() const override { return bytes_.size() / model::kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    if (lba + into.size() / model::kSectorBytes > sectors()) return fail("image", "is shorter");
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(lba * model::kSectorBytes),
                into.size(), into.begin());
    return {};
  }
  Result<void> write(std::uint64_t, std::span<const std::byte>) override {
    return fail("image", "is read");
  }
  Result<void> write_zeroes(std::uint64_t, std::uint64_t) override {
    return fail("image", "is read");
  }

 private:
  std::vector<std::byte> bytes_;
};

class Mounts {
 public:
  Mounts(System system, std::string tools, const std::filesystem::path& folder)
      : system_(std::move(system)),
        tools_(std::move(tools)),
        image_(folder / "image"),
        target_(folder / "mounted"),
        said_(folder / "said") {
    std::filesystem::create_directory(target_);
  }
  ~Mounts() {
    // The destructor finds a mounted file system only if a round has failed.
    if (mounted_) (void)std::system(fmt::format("umount -l {}", target_.string()).c_str());
  }
  Mounts(const Mounts&) = delete;
  Mounts& operator=(const Mounts&) = delete;

  /// Creates a file system with a block size of 1024 bytes if `seed` is even, otherwise 4096 bytes.
  void make(std::uint32_t seed) {
    std::ofstream(image_, std::ios::trunc).close();
    std::filesystem::resize_file(image_, system_.image_bytes);
    run(fmt::format("{}/mkfs.headcrash-{} -q {} -b {} {}", tools_, system_.type,
                    system_.mkfs_options, seed % 2 == 0 ? 1024 : 4096, image_.string()));
  }
  void mount() {
    // Keep the server in the foreground, because its output is redirected to a file that a failed
    // test prints.
    const auto serve = fmt::format(
        "{}/mount.headcrash-{} -o foreground,scheme={},buffered,cache=1M{} {} {} >{} 2>&1 &",
        tools_, system_.type, system_.scheme, write_back ? ",writeback" : "", image_.string(),
        target_.string(), said_.string());
    run(serve);
    const std::string is_there = fmt::format("mountpoint -q {}", target_.string());
    for (int i = 0; i < kTries && std::system(is_there.c_str()) != 0; ++i) pause();
    run(is_there);
    mounted_ = true;
  }
  /// Unmounts the file system and checks its image.
  void unmount() {
    run("umount " + target_.string());
    mounted_ = false;
    // The process that serves the file system exits shortly after umount. Until then, it uses the
    // image.
    const auto fsck = fmt::format("{}/fsck.headcrash-{} -n {} >>{} 2>&1", tools_, system_.type,
                                  image_.string(), said_.string());
    int left = -1;
    for (int i = 0; i < kTries && (left = std::system(fsck.c_str())) != 0; ++i) pause();
    if (left == 0) return;
    const auto kept = std::filesystem::temp_directory_path() / "headcrash-fuse-random.image";
    std::filesystem::copy_file(image_, kept, std::filesystem::copy_options::overwrite_existing);
    ADD_FAILURE() << "fsck says " << left << "; the image was kept: " << kept << "\n"
                  << std::ifstream(said_).rdbuf();
  }
  std::string target() const { return target_.string(); }
  const System& system() const { return system_; }
  /// Returns the number of segments that the cleaner has cleaned; 0 if the file system is not
  /// log-structured.
  std::uint64_t segments_cleaned() const {
    const auto checkpoint = lfs::newest_checkpoint(ImageBytes(image_));
    return checkpoint ? checkpoint->segments_cleaned : 0;
  }

  bool write_back = false;

 private:
  static constexpr int kTries = 200;
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }
  static void run(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  System system_;
  std::string tools_;
  std::filesystem::path image_, target_, said_;
  bool mounted_ = false;
};

struct Done {
  std::uint64_t operations = 0, cleaned = 0;
};

void live_on_a_full_disk(Mounts& mounts, std::uint32_t seed, Done& done) {
  mounts.write_back = seed % 4 >= 2;
  mounts.make(seed);
  mounts.mount();
  if (testing::Test::HasFailure()) return;
  MountedVfs fs(mounts.target());
  const System& system = mounts.system();
  Ballast ballast(fs, seed, system.full_percent);
  ballast.fill();
  std::vector<User> users;
  for (std::uint32_t i = 0; i < kUsers; ++i)
    users.emplace_back(fs, fmt::format("u{}", i), seed * 100 + i);
  std::atomic<std::uint32_t> living = kUsers;
  std::vector<std::thread> threads;
  threads.reserve(kUsers);
  for (User& user : users)
    threads.emplace_back([&] {
      user.live(kSteps);
      --living;
    });
  std::uint64_t least_full = 100;
  while (living > 0 && !testing::Test::HasFailure()) {
    ballast.step();
    least_full = std::min(least_full, ballast.full_percent());
    ++done.operations;
  }
  for (std::thread& thread : threads) thread.join();
  done.operations += std::uint64_t{kUsers} * kSteps;
  if (testing::Test::HasFailure()) return;
  EXPECT_GE(least_full, system.full_percent - 4);
  mounts.unmount();
  if (testing::Test::HasFailure()) return;
  if (system.type == "lfs") {
    const std::uint64_t cleaned = mounts.segments_cleaned();
    done.cleaned += cleaned;
    EXPECT_GT(cleaned, 10U);
  }
  mounts.mount();
  if (testing::Test::HasFailure()) return;
  ballast.compare();
  for (User& user : users) user.compare();
  mounts.unmount();
}

TEST(FuseRandom, KeepsUsersFilesOnANearlyFullDisk) {
  const std::uint64_t seconds = number_from_environment("HEADCRASH_FUSE_SECONDS", 0);
  const char* const tools = std::getenv("HEADCRASH_FUSE_BIN");
  if (seconds == 0 || tools == nullptr)
    GTEST_SKIP() << "set HEADCRASH_FUSE_SECONDS and HEADCRASH_FUSE_BIN to run this test";
  const char* const type = std::getenv("HEADCRASH_FUSE_TYPE");
  const auto system = find_system(type == nullptr ? "lfs" : type);
  ASSERT_TRUE(system) << "HEADCRASH_FUSE_TYPE must be lfs or snapfs";
  const TemporaryFolder folder;
  Mounts mounts(*system, tools, folder.path());
  const auto first = static_cast<std::uint32_t>(number_from_environment("HEADCRASH_SEEDS_FROM", 1));
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  Done done;
  std::uint32_t seed = first;
  for (; Clock::now() < end && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("HEADCRASH_SEEDS_FROM={}", seed));
    live_on_a_full_disk(mounts, seed, done);
    if (seed % 10 == 0)
      std::cout << fmt::format("through seed {}: {} operations, {} segments cleaned", seed,
                               done.operations, done.cleaned)
                << std::endl;
  }
  std::cout << fmt::format("seeds {} to {}: {} operations, {} segments cleaned", first, seed - 1,
                           done.operations, done.cleaned)
            << std::endl;
}

}  // namespace
}  // namespace headcrash::guest
