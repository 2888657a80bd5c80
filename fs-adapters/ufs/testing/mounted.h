#pragma once
// Fixture for tests of the mounted file system: an in-memory disk with a log of its writes, a small
// operating system in virtual time, and a file system with one of the schemes.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/memory_machine.h"
#include "fs-adapters/substrate/os/testing/logged_store.h"
#include "fs-adapters/substrate/tree/testing/history.h"
#include "fs-adapters/ufs/core/file_system.h"
#include "fs-adapters/ufs/format/mkfs.h"
#include "fs-adapters/ufs/fsck/fsck.h"
#include "fs-adapters/ufs/schemes/scheme_variants.h"
#include "plugin/media/memory_store.h"

namespace headcrash::ufs::bench {

using Setup = SchemeVariant;

inline Setup setup_named(std::string_view name) {
  auto found = find_scheme_variant(name);
  EXPECT_TRUE(found) << found.error().message();
  return found ? *std::move(found) : Setup{};
}

inline Setup journal_setup(const JournalOptions& options = {}) {
  Setup setup{.name = "journal"};
  setup.mount.scheme = SchemeKind::journal;
  setup.mount.options.journal = options;
  return setup;
}

/// Returns the variants to test on a mounted file system. Omits variants that differ from others
/// only in the driver, variants that need two disks, and all controls except no-order. In some
/// variants with -CB, makes the last write asynchronous, so that this option is tested, too.
inline std::vector<Setup> all_setups() {
  std::vector<Setup> setups;
  for (Setup& variant : scheme_variants()) {
    // Needs two disks; tested in external_journal_test.cc.
    if (variant.features.external_journal) continue;
    const bool driver_only = variant.queue.flag == os::FlagMeaning::part && !variant.block_copy;
    if (driver_only || (variant.control && variant.mount.scheme != SchemeKind::no_order)) continue;
    if (variant.block_copy && !variant.mount.options.allocation_initialization)
      variant.mount.options.last_write = LastWrite::asynchronous;
    setups.push_back(std::move(variant));
  }
  setups.push_back(journal_setup());
  setups.back().name = "journal-cb";
  setups.back().block_copy = true;
  setups.back().may_leave = Severity::stale;
  setups.back().maps_lag = false;
  return setups;
}

inline std::string test_name(const testing::TestParamInfo<Setup>& setup) {
  std::string name = setup.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

using os::LoggedStore;

struct MountedOptions {
  std::uint64_t device_bytes = 8 << 20;
  MkfsOptions mkfs = {.block_bytes = 4096, .fragment_bytes = 1024, .bytes_per_inode = 4096};
  std::uint64_t cache_bytes = 1 << 20;
  os::SyncerOptions syncer = {.parts = 3};
  os::TimeNs latency_ns = model::kMillisecondNs;
  os::FiberScheduleOptions schedule = {};
};

class Mounted {
 public:
  using Options = MountedOptions;
  explicit Mounted(const Setup& its_setup, const Options& options = {})
      : setup(its_setup),
        store(*media::MemoryStore::create(options.device_bytes / kSectorBytes)),
        log(*store),
        machine(
            log,
            {.latency_ns = options.latency_ns,
             .system = {.queue = its_setup.queue,
                        .cache = {.bytes = options.cache_bytes, .block_copy = its_setup.block_copy},
                        .syncer = options.syncer,
                        .executor = {.schedule = options.schedule}}}) {
    MkfsOptions making = options.mkfs;
    making.features = its_setup.features;
    if (making.features.any()) making.journal_bytes.reset();  // mkfs rejects a journal for Netra
    const auto made = mkfs(*store, making);
    EXPECT_TRUE(made) << made.error().message();
    syncer.start();
  }
  ~Mounted() {
    if (file_system) file_system->abandon();
    machine.disk.power_cut();
    executor.halt();
    file_system.reset();
  }

  void as_user(std::function<void()> body) { system.run_as(account, std::move(body)); }
  void mount() {
    as_user([&] {
      auto mounted = FileSystem::mount(system, setup.mount);
      ASSERT_TRUE(mounted) << mounted.error().message();
      file_system = std::move(*mounted);
    });
  }
  void unmount() {
    as_user([&] {
      EXPECT_TRUE(file_system->unmount());
      file_system.reset();
    });
  }

  Setup setup;
  std::unique_ptr<media::MemoryStore> store;
  LoggedStore log;
  os::MemoryMachine machine;
  os::System& system = machine.system;
  os::Executor& executor = system.executor;
  os::DiskQueue& queue = system.queue;
  os::BufferCache& cache = system.cache;
  os::Syncer& syncer = system.syncer;
  os::Account account{.name = "ann"};
  std::unique_ptr<FileSystem> file_system;
};

inline std::string findings_of(const FsckReport& report) {
  std::string lines;
  for (const Finding& finding : report.findings)
    lines += std::string(name_of(finding.kind)) + ": " + finding.text + "\n";
  return lines;
}

/// Expects no findings after an unmount.
inline void expect_clean(const model::SectorStore& store) {
  Fsck fsck;
  const auto report = fsck.check(store);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->nothing_found()) << findings_of(*report);
  EXPECT_TRUE(report->was_clean);
}

using tree::bench::bytes_of;
using tree::bench::get_file;
using tree::bench::put_file;

}  // namespace headcrash::ufs::bench
