#pragma once
// Test fixture: a machine in virtual time that mounts a shadow file system on an in-memory disk.

#include <gtest/gtest.h>

#include <memory>

#include "fs-adapters/examples/shadow/file_system.h"
#include "fs-adapters/examples/shadow/image.h"
#include "fs-adapters/examples/shadow/mkfs.h"
#include "fs-adapters/substrate/tree/testing/mounted_machine.h"
#include "plugin/media/memory_store.h"

namespace headcrash::shadow::bench {

inline std::unique_ptr<media::MemoryStore> make_disk(std::uint64_t bytes,
                                                     const adapters::Settings& settings) {
  auto store = *media::MemoryStore::create(bytes / kSectorBytes);
  const auto made = mkfs(*store, settings);
  EXPECT_TRUE(made) << made.error().message();
  return store;
}

inline void expect_clean(const model::SectorStore& store) {
  const auto report = make_checker()->check(store, {});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->nothing_found()) << report->findings.front().text;
}

using Machine = tree::bench::MountedMachine<FileSystem, MountOptions>;

}  // namespace headcrash::shadow::bench
