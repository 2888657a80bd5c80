#pragma once
// What the tests of the mounted file system share: a disk in memory, its log of writes, a small operating
// system in virtual time, and the file system on it.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/os/memory_machine.h"
#include "fs-adapters/os/testing/logged_store.h"
#include "fs-adapters/snapfs/check.h"
#include "fs-adapters/snapfs/file_system.h"
#include "fs-adapters/snapfs/image_reader.h"
#include "fs-adapters/snapfs/mkfs.h"
#include "fs-adapters/tree/testing/history.h"
#include "plugin/media/memory_store.h"

namespace headcrash::snapfs::bench {

using os::LoggedStore;
using tree::bench::bytes_of;
using tree::bench::Fsync;
using tree::bench::get_file;
using tree::bench::put_file;

/// A machine on a disk that somebody else has.
class Machine {
 public:
  explicit Machine(model::SectorStore& store, std::uint64_t cache_bytes = 2 << 20)
      : machine(store, {.latency_ns = model::kMillisecondNs,
                        .system = {.cache = {.bytes = cache_bytes, .block_copy = true}}}) {
    machine.system.syncer.start();
  }
  ~Machine() {
    if (file_system) file_system->abandon();
    machine.disk.power_cut();
    machine.system.executor.halt();
    file_system.reset();
  }
  void as_user(std::function<void()> body) { machine.system.run_as(account, std::move(body)); }
  Result<void> try_mount(const MountOptions& options = {}) {
    Result<void> result;
    as_user([&] {
      auto mounted = FileSystem::mount(machine.system, options);
      if (mounted)
        file_system = std::move(*mounted);
      else
        result = pass_on(mounted);
    });
    return result;
  }
  void mount(const MountOptions& options = {}) {
    const auto mounted = try_mount(options);
    ASSERT_TRUE(mounted) << mounted.error().message();
  }
  void unmount() {
    as_user([&] {
      EXPECT_TRUE(file_system->unmount());
      file_system.reset();
    });
  }
  void settle(std::int64_t seconds) {
    as_user([&] { executor().sleep_until(executor().now() + seconds * model::kSecondNs); });
  }
  os::Executor& executor() { return machine.system.executor; }

  os::MemoryMachine machine;
  os::Account account{.name = "ann"};
  std::unique_ptr<FileSystem> file_system;
};

struct DiskOptions {
  std::uint64_t device_bytes = 8 << 20;
  MkfsOptions mkfs = {.block_bytes = 1024, .id = 7};
};

/// A disk with an empty file system.
struct Disk {
  explicit Disk(const DiskOptions& options = {})
      : store(*media::MemoryStore::create(options.device_bytes / kSectorBytes)), log(*store) {
    // What was never written to must not be seen.
    EXPECT_TRUE(store->write(0, std::vector<std::byte>(options.device_bytes, std::byte{'#'})));
    const auto made = mkfs(*store, options.mkfs);
    EXPECT_TRUE(made) << made.error().message();
  }
  std::unique_ptr<media::MemoryStore> store;
  LoggedStore log;
};

inline void expect_clean(const model::SectorStore& store, const std::string& where = {}) {
  const auto report = check(store);
  ASSERT_TRUE(report) << where << report.error().message();
  EXPECT_TRUE(report->nothing_found()) << where << "\n" << report->text();
}

}  // namespace headcrash::snapfs::bench
