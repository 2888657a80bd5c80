// Tests that the digest of a snapshot depends on everything that the snapshot contains
// (kept_snapshots.h).
#include "harness/explorer/in_process/kept_snapshots.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include "fs-adapters/registry.h"
#include "fs-adapters/substrate/os/memory_machine.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

using Change = std::function<VfsResult<void>(Vfs&)>;

VfsResult<void> write_file(Vfs& vfs, std::uint64_t size, std::uint64_t changed_at) {
  std::vector<std::byte> bytes(size, std::byte{1});
  if (changed_at < size) bytes[changed_at] = std::byte{2};
  TRY(const auto file, vfs.open("file", {.create = true}));
  TRY(vfs.pwrite(file, 0, bytes));
  return vfs.close(file);
}

class KeptSnapshotDigest : public testing::Test {
 protected:
  void SetUp() override {
    const auto system = adapters::find_system("snapfs", "kept-snapshots");
    ASSERT_TRUE(system) << system.error().message();
    system_ = *system;
    const auto explorer = explorers_.get("tiny", *system_);
    ASSERT_TRUE(explorer) << explorer.error().message();
    formatted_ = &(*explorer)->formatted;
  }
  /// Returns the digest of a snapshot of a new disk after this change.
  std::uint64_t digest_after(const Change& change) {
    StateDisk disk(formatted_->bytes, formatted_->log_at);
    disk.show_base();
    os::MemoryMachine machine(
        disk, {.system = {.queue = system_->description().queue, .cache = {.bytes = 256 << 10}}});
    os::Account account{.name = "user"};
    std::unique_ptr<adapters::MountedSystem> mounted;
    machine.system.syncer.start();
    machine.system.run_as(account, [&] {
      auto made = system_->mount(machine.system, {});
      ASSERT_TRUE(made) << made.error().message();
      mounted = *std::move(made);
      EXPECT_TRUE(change(mounted->vfs()));
      EXPECT_TRUE(mounted->snapshots()->make("kept"));
      mounted->abandon();
    });
    machine.disk.power_cut();
    machine.system.executor.halt();
    mounted.reset();
    const auto digest = digest_of_snapshot(system_->type(), disk, "kept");
    EXPECT_TRUE(digest) << digest.error().message();
    return digest.value_or(0);
  }

  TemporaryFolder folder_;
  DiskExplorers explorers_{folder_.path()};
  const adapters::SystemUnderTest* system_ = nullptr;
  const FormattedDisk* formatted_ = nullptr;
};

TEST_F(KeptSnapshotDigest, DependsOnEveryPartOfAFile) {
  for (const std::uint64_t size : {1, 511, 4095, 4096, 4097, 9000}) {
    std::map<std::uint64_t, std::uint64_t> seen;  // from the digest to the changed byte
    for (const std::uint64_t changed : {size, std::uint64_t{0}, size / 2, size - 1}) {
      const auto digest = digest_after([&](Vfs& vfs) { return write_file(vfs, size, changed); });
      const auto [at, fresh] = seen.try_emplace(digest, changed);
      EXPECT_TRUE(fresh || at->second == changed)
          << fmt::format("{} bytes, of which {} or {} is changed", size, at->second, changed);
    }
  }
}

TEST_F(KeptSnapshotDigest, DependsOnNamesAndAttributes) {
  const std::vector<Change> changes = {
      [](Vfs&) { return VfsResult<void>(); },
      [](Vfs& vfs) { return vfs.chmod("file", 0600); },
      [](Vfs& vfs) { return vfs.chmod("file", 0601); },
      [](Vfs& vfs) { return vfs.link("file", "other"); },
      [](Vfs& vfs) { return vfs.rename("file", "other", RenameMode::replace); },
      [](Vfs& vfs) { return vfs.symlink("file", "other"); },
      [](Vfs& vfs) { return vfs.symlink("fil2", "other"); },
      [](Vfs& vfs) { return vfs.mkdir("other", 0700); },
      [](Vfs& vfs) { return vfs.unlink("file"); },
  };
  std::map<std::uint64_t, std::size_t> seen;  // from the digest to the change
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto digest = digest_after([&](Vfs& vfs) -> VfsResult<void> {
      TRY(write_file(vfs, 100, 100));
      return changes[i](vfs);
    });
    const auto [at, fresh] = seen.try_emplace(digest, i);
    EXPECT_TRUE(fresh) << "changes " << at->second << " and " << i;
  }
}

}  // namespace
}  // namespace headcrash::in_process
