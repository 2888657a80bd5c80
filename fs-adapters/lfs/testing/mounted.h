#pragma once
// Fixture for tests of the mounted file system: an in-memory disk with a log of its writes, a small
// operating system in virtual time, and the file system.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/lfs/check.h"
#include "fs-adapters/lfs/file_system.h"
#include "fs-adapters/lfs/image_reader.h"
#include "fs-adapters/lfs/mkfs.h"
#include "fs-adapters/substrate/os/testing/logged_store.h"
#include "fs-adapters/substrate/tree/testing/mounted_machine.h"
#include "fs-adapters/substrate/tree/testing/operations.h"
#include "plugin/media/memory_store.h"

namespace headcrash::lfs::bench {

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
                               .system = {.cache = {.bytes = cache_bytes},
                                          .executor = {.schedule = schedule}}}) {}
};

struct DiskOptions {
  std::uint64_t device_bytes = 8 << 20;
  MkfsOptions mkfs = {.block_bytes = 1024, .segment_bytes = 64 << 10, .id = 7};
};

/// An in-memory disk with an empty file system.
struct Disk {
  explicit Disk(const DiskOptions& options = {})
      : store(*media::MemoryStore::create(options.device_bytes / kSectorBytes)), log(*store) {
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

}  // namespace headcrash::lfs::bench
