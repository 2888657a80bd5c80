#pragma once
// A fixture for tests that every registered system must pass: an in-memory lab disk, on which the
// system is mounted in virtual time.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/registry.h"
#include "fs-adapters/substrate/os/device_stores.h"
#include "fs-adapters/substrate/os/memory_machine.h"
#include "plugin/media/memory_store.h"

namespace headcrash::adapters {

class LabImage : public testing::TestWithParam<const SystemUnderTest*> {
 protected:
  const SystemUnderTest& system() const { return *GetParam(); }
  const FileSystemType& type() const { return GetParam()->type(); }

  void make(std::string_view disk_name) {
    const auto disk = system().lab_disk(disk_name);
    ASSERT_TRUE(disk) << disk_name;
    auto store = media::MemoryStore::create(disk->bytes / model::kSectorBytes);
    ASSERT_TRUE(store) << store.error().message();
    store_ = *std::move(store);
    log_sectors_ = disk->log_bytes / model::kSectorBytes;
    ASSERT_EQ(log_sectors_ > 0, system().description().devices > 1);
    std::vector<os::DeviceStores::Part> parts{
        {.store = store_.get(), .sectors = store_->sectors()}};
    if (log_sectors_ > 0) {
      auto log = media::MemoryStore::create(log_sectors_);
      ASSERT_TRUE(log) << log.error().message();
      log_store_ = *std::move(log);
      parts.push_back({.store = log_store_.get(), .sectors = log_sectors_});
    }
    image_ = std::make_unique<os::DeviceStores>(parts);
    const auto made = type().mkfs(*image_, disk->mkfs);
    ASSERT_TRUE(made) << made.error().message();
  }
  enum class End : std::uint8_t { unmount, abandon };
  /// Mounts the system, calls `body`, and ends the mount by an unmount or a power cut, as specified
  /// by `end`. Stores the final counters in `counted_`.
  void with_mounted(const std::function<void(Vfs&)>& body, End end) {
    with_mounted(system(), body, end);
  }
  void with_mounted(const SystemUnderTest& by, const std::function<void(Vfs&)>& body, End end) {
    with_mounted([&](Vfs& vfs, os::System&) { body(vfs); }, end, syncer_of(by), &by);
  }
  void with_mounted(const std::function<void(Vfs&, os::System&)>& body, End end) {
    with_mounted(body, end, syncer_of(system()));
  }
  void with_mounted(const std::function<void(Vfs&, os::System&)>& body, End end,
                    const os::SyncerOptions& syncer, const SystemUnderTest* by = nullptr) {
    const SystemUnderTest& mounts = by == nullptr ? system() : *by;
    os::MemoryMachine machine(*image_,
                              {.system = {.queue = mounts.description().queue,
                                          .cache = {.block_copy = mounts.description().block_copy,
                                                    .structures_count = true},
                                          .syncer = syncer},
                               .second_sectors = log_sectors_});
    os::Account account{.name = "user"};
    machine.system.syncer.start();
    std::unique_ptr<MountedSystem> mounted;
    machine.system.run_as(account, [&] {
      auto made = mounts.mount(machine.system, {});
      ASSERT_TRUE(made) << mounts.name() << ": " << made.error().message();
      mounted = *std::move(made);
      mounted_ = mounted.get();
      body(mounted->vfs(), machine.system);
      EXPECT_TRUE(mounted->has_no_pending_changes() || end == End::abandon);
      counted_ = mounted->space_counts();
      if (end == End::abandon) return;
      const auto unmounted = mounted->unmount();
      EXPECT_TRUE(unmounted) << unmounted.error().value;
      mounted.reset();
    });
    if (end == End::unmount) {
      EXPECT_EQ(machine.system.cache.charged_bytes(), 0U);
    }
    machine.disk.power_cut();
    machine.system.executor.halt();
    if (mounted) mounted->abandon();
  }

  void expect_nothing_found() {
    if (system().control()) return;
    const auto report = type().checker()->check(*image_, {});
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_TRUE(report->nothing_found()) << report->findings.front().text;
  }

  std::unique_ptr<media::MemoryStore> store_,
      log_store_;  ///< log_store_ is used only for systems with two devices
  std::uint64_t log_sectors_ = 0;
  std::unique_ptr<os::DeviceStores> image_;  ///< both devices
  Counters counted_;
  MountedSystem* mounted_ = nullptr;  ///< valid while the body of with_mounted() runs

 private:
  static os::SyncerOptions syncer_of(const SystemUnderTest& system) {
    return system.description().syncer.value_or(os::SyncerOptions{});
  }
};

inline std::string test_name(const testing::TestParamInfo<const SystemUnderTest*>& system) {
  std::string name = system.param->full_name();
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace headcrash::adapters
