#pragma once
// Fixture for tests of the mounted file system: an in-memory disk with a log of its writes, a small
// operating system in virtual time, and the file system.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/snapfs/check.h"
#include "fs-adapters/snapfs/file_system.h"
#include "fs-adapters/snapfs/image_reader.h"
#include "fs-adapters/snapfs/mkfs.h"
#include "fs-adapters/substrate/os/testing/logged_store.h"
#include "fs-adapters/substrate/tree/testing/mounted_machine.h"
#include "fs-adapters/substrate/tree/testing/operations.h"
#include "plugin/media/memory_store.h"

namespace headcrash::snapfs::bench {

using os::LoggedStore;
using tree::bench::bytes_of;
using tree::bench::Fsync;
using tree::bench::get_file;
using tree::bench::put_file;

class Machine : public tree::bench::MountedMachine<FileSystem, MountOptions> {
 public:
  explicit Machine(model::SectorStore& store, std::uint64_t cache_bytes = 2 << 20,
                   const os::FiberScheduleOptions& schedule = {})
      : MountedMachine(store, {.latency_ns = model::kMillisecondNs,
                               .system = {.cache = {.bytes = cache_bytes, .block_copy = true},
                                          .executor = {.schedule = schedule}}}) {}
};

struct DiskOptions {
  std::uint64_t device_bytes = 8 << 20;
  MkfsOptions mkfs = {.block_bytes = 1024, .id = 7};
};

inline const DiskOptions kDiskWithLog = {
    .device_bytes = 4 << 20, .mkfs = {.block_bytes = 1024, .log_bytes = 16 << 10, .id = 7}};

/// An in-memory disk with an empty file system.
struct Disk {
  explicit Disk(const DiskOptions& options = {})
      : store(*media::MemoryStore::create(options.device_bytes / kSectorBytes)), log(*store) {
    // Fills the disk with '#', so that tests can detect contents that were never written.
    EXPECT_TRUE(store->write(0, std::vector<std::byte>(options.device_bytes, std::byte{'#'})));
    const auto made = mkfs(*store, options.mkfs);
    EXPECT_TRUE(made) << made.error().message();
  }
  std::unique_ptr<media::MemoryStore> store;
  LoggedStore log;
};

/// Records the disk's writes from construction on, and reconstructs the contents after each write.
class WriteReplay {
 public:
  explicit WriteReplay(Disk& disk)
      : disk_(disk), image_(*media::MemoryStore::create(disk.store->sectors())) {
    std::vector<std::byte> all(disk.store->sectors() * kSectorBytes);
    EXPECT_TRUE(disk.store->read(0, all));
    EXPECT_TRUE(image_->write(0, all));
    disk.log.keep = true;
  }
  /// Calls look(image, i) after write i. Stops at the first failure.
  template <typename Look>
  void each(const Look& look) {
    for (std::size_t i = 0; i < disk_.log.log.size() && !testing::Test::HasFailure(); ++i) {
      EXPECT_TRUE(image_->write(disk_.log.log[i].lba, disk_.log.log[i].bytes));
      look(*image_, i);
    }
  }

 private:
  Disk& disk_;
  std::unique_ptr<media::MemoryStore> image_;
};

inline void expect_clean(const model::SectorStore& store, const std::string& where = {}) {
  const auto report = check(store);
  ASSERT_TRUE(report) << where << report.error().message();
  EXPECT_TRUE(report->nothing_found()) << where << "\n" << report->text();
}

}  // namespace headcrash::snapfs::bench
