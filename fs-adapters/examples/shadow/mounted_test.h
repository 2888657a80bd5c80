#pragma once
// A machine in virtual time with a shadow file system on a disk in memory.

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "fs-adapters/examples/shadow/file_system.h"
#include "fs-adapters/examples/shadow/image.h"
#include "fs-adapters/examples/shadow/mkfs.h"
#include "fs-adapters/os/memory_machine.h"
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

class Machine {
 public:
  explicit Machine(model::SectorStore& store, const os::MemoryMachineOptions& options = {})
      : machine(store, options) {
    machine.system.syncer.start();
  }
  ~Machine() {
    if (file_system) file_system->abandon();
    machine.disk.power_cut();
    machine.system.executor.halt();
    file_system.reset();
  }
  void as_user(std::function<void()> body) { machine.system.run_as(account, std::move(body)); }
  /// Errors: those of the mount.
  Result<void> try_mount() {
    Result<void> result;
    as_user([&] {
      auto mounted = FileSystem::mount(machine.system, {});
      if (mounted)
        file_system = std::move(*mounted);
      else
        result = pass_on(mounted);
    });
    return result;
  }
  void mount() {
    const auto mounted = try_mount();
    ASSERT_TRUE(mounted) << mounted.error().message();
  }
  void unmount() {
    as_user([&] {
      EXPECT_TRUE(file_system->unmount());
      file_system.reset();
    });
  }

  os::MemoryMachine machine;
  os::Account account{.name = "ann"};
  std::unique_ptr<FileSystem> file_system;
};

}  // namespace headcrash::shadow::bench
