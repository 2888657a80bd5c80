#pragma once
// A machine in virtual time that mounts a file system on an existing disk.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "fs-adapters/substrate/os/memory_machine.h"

namespace headcrash::tree::bench {

/// Works with any file system that has mount(System&, options), unmount() and abandon(). The
/// destructor abandons the mounted file system.
template <typename FileSystem, typename MountOptions>
class MountedMachine {
 public:
  explicit MountedMachine(model::SectorStore& store, const os::MemoryMachineOptions& options = {})
      : machine(store, options) {
    machine.system.syncer.start();
  }
  ~MountedMachine() {
    if (file_system) file_system->abandon();
    machine.disk.power_cut();
    machine.system.executor.halt();
    file_system.reset();
  }
  MountedMachine(const MountedMachine&) = delete;
  MountedMachine& operator=(const MountedMachine&) = delete;

  void as_user(std::function<void()> body) { machine.system.run_as(account, std::move(body)); }
  Result<void> try_mount(const MountOptions& options = {}) {
    Result<void> result;
    as_user([&] {
      auto mounted = FileSystem::mount(machine.system, options);
      if (mounted)
        file_system = std::move(*mounted);
      else
        result = forward_error(mounted);
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

}  // namespace headcrash::tree::bench
