// Tests the modelled machine with all kinds of devices, images created in advance, and cuts and
// recoveries in model time.
#include "harness/papers/modelled_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fs-adapters/registry.h"

namespace headcrash::experiment {
namespace {

constexpr std::uint64_t kSmall = 64 << 20;

template <typename T>
T taken(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message());
  return *std::move(result);
}

ModelledMachineOptions small_machine(const char* system, const char* profile = "hp-c2447",
                                     std::string_view type = "ufs") {
  ModelledMachineOptions options = taken(machine_with(type, system));
  options.profile = profile;
  options.size_bytes = kSmall;
  return options;
}

VfsResult<void> make(Vfs& vfs, const std::string& name, std::size_t bytes = 8192) {
  const std::vector<std::byte> data(bytes, std::byte{0x5a});
  TRY(const auto file, vfs.open(name, {.create = true}));
  const auto written = vfs.pwrite(file, 0, data);
  const auto closed = vfs.close(file);
  return written ? closed : written;
}

bool is_there(ModelledMachine& machine, const std::string& name) {
  bool found = false;
  os::Account account{.name = "test"};
  machine.system().run_as(account, [&] {
    std::vector<std::byte> data(8192);
    const auto file = machine.vfs().open(name, {});
    if (!file) return;
    const auto read = machine.vfs().pread(*file, 0, data);
    found = read && *read == data.size() && data.back() == std::byte{0x5a} &&
            machine.vfs().close(*file);
  });
  return found;
}

/// Creates one file that is synced, and twenty that are not.
void work(ModelledMachine& machine) {
  os::Account account{.name = "test"};
  machine.system().run_as(account, [&] {
    EXPECT_TRUE(make(machine.vfs(), "synced"));
    EXPECT_TRUE(machine.vfs().syncfs());
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(make(machine.vfs(), "young" + std::to_string(i)));
  });
}

TEST(ModelledMachine, RecoversFromACutInModelTime) {
  const auto machine = taken(ModelledMachine::start(small_machine("soft-updates")));
  work(*machine);
  machine->cut();
  EXPECT_FALSE(machine->has_power());
  const os::TimeNs cut_at = machine->now();
  const Recovery recovery = taken(machine->recover(Repair::as_needed));
  EXPECT_TRUE(machine->has_power());
  EXPECT_TRUE(recovery.repair.done);
  EXPECT_GT(recovery.repair.requests, 0U);
  EXPECT_GT(recovery.repair.cpu_ns, 0);
  EXPECT_GE(recovery.repair.elapsed_ns, recovery.repair.cpu_ns);
  EXPECT_GT(recovery.repair.device_busy_ns, 0);
  EXPECT_TRUE(recovery.mount.done);
  EXPECT_GE(machine->now() - cut_at, recovery.repair.elapsed_ns + recovery.mount.elapsed_ns);
  EXPECT_TRUE(is_there(*machine, "synced"));
  EXPECT_FALSE(is_there(*machine, "young3"));  // still in memory when the power was cut
  work(*machine);
  machine->cut();
  EXPECT_TRUE(machine->recover(Repair::always)->repair.done);
}

TEST(ModelledMachine, RunsAndRecoversEveryType) {
  for (const adapters::FileSystemType* const type : adapters::file_system_types()) {
    SCOPED_TRACE(type->name());
    const std::string system(type->usual_system());
    for (const char* profile : {"hp-c2447", "sata-ssd"}) {
      const auto machine =
          taken(ModelledMachine::start(small_machine(system.c_str(), profile, type->name())));
      work(*machine);
      machine->cut();
      EXPECT_TRUE(taken(machine->recover(Repair::always)).mount.done);
      EXPECT_TRUE(is_there(*machine, "synced"));
      work(*machine);
      EXPECT_TRUE(machine->become_quiet());
      machine->cut();
      EXPECT_TRUE(taken(machine->recover(Repair::as_needed)).mount.done);
      EXPECT_TRUE(is_there(*machine, "synced"));
    }
  }
}

TEST(ModelledMachine, ChargesRepairsAccordingToTheCpuCosts) {
  const auto cpu_of = [](os::CpuCosts costs) {
    ModelledMachineOptions options = small_machine("soft-updates");
    options.costs = costs;
    const auto machine = taken(ModelledMachine::start(options));
    machine->cut();
    return taken(machine->recover(Repair::always)).repair.cpu_ns;
  };
  EXPECT_EQ(cpu_of({}), 0);
  os::CpuCosts twice = kI486At33Mhz;
  twice.clear_per_kib *= 2;
  EXPECT_GT(cpu_of(twice), cpu_of(kI486At33Mhz));
}

TEST(ModelledMachine, TheMountReplaysAJournal) {
  for (const Repair repair : {Repair::as_needed, Repair::always}) {
    const auto machine = taken(ModelledMachine::start(small_machine("journal")));
    work(*machine);
    machine->cut();
    const Recovery recovery = taken(machine->recover(repair));
    EXPECT_EQ(recovery.repair.done, repair == Repair::always);
    EXPECT_EQ(recovery.repair.requests > 0, repair == Repair::always);
    EXPECT_TRUE(recovery.mount.done);
    EXPECT_TRUE(is_there(*machine, "synced"));
  }
}

TEST(ModelledMachine, ACutFailsCallsInProgress) {
  const auto machine = taken(ModelledMachine::start(small_machine("conventional")));
  os::Account account{.name = "test"};
  const os::TimeNs begun_at = machine->now();
  machine->cut_after(300 * model::kMillisecondNs);
  int made = 0;
  machine->system().run_as(account, [&] {
    while (made < 10'000 && make(machine->vfs(), "f" + std::to_string(made))) ++made;
  });
  EXPECT_FALSE(machine->has_power());
  EXPECT_GT(made, 0);
  EXPECT_LT(made, 10'000);
  EXPECT_GE(machine->now() - begun_at, 300 * model::kMillisecondNs);
  machine->cut();
  EXPECT_TRUE(machine->recover(Repair::as_needed)->repair.done);
  machine->system().run_as(account, [&] { EXPECT_TRUE(make(machine->vfs(), "after")); });
}

TEST(ModelledMachine, PopulatesAnImageBeforeTimeBegins) {
  ModelledMachineOptions options = small_machine("no-order");
  options.populate = [](Vfs& vfs) {
    for (int i = 0; i < 300; ++i) {
      if (auto made = make(vfs, "old" + std::to_string(i)); !made) return made;
    }
    return VfsResult<void>{};
  };
  const auto machine = taken(ModelledMachine::start(options));
  EXPECT_LT(machine->now(), model::kSecondNs);  // only the mount has taken time
  EXPECT_TRUE(is_there(*machine, "old0"));
  EXPECT_TRUE(is_there(*machine, "old299"));
  options.populate = [](Vfs& vfs) { return make(vfs, "no-such-folder/f"); };
  EXPECT_FALSE(ModelledMachine::start(options));
}

TEST(ModelledMachine, SupportsArraysAndNvram) {
  for (const char* profile : {"raid5-5", "netra-raid5-presto", "hp-c2447-nvram"}) {
    ModelledMachineOptions options = small_machine("soft-updates", profile);
    options.populate = [](Vfs& vfs) { return make(vfs, "old"); };
    const auto machine = taken(ModelledMachine::start(options));
    EXPECT_TRUE(is_there(*machine, "old")) << profile;
    EXPECT_EQ(machine->medium() == nullptr, std::string_view(profile) != "hp-c2447-nvram");
    work(*machine);
    if (std::string_view(profile) == "raid5-5") {
      EXPECT_GT(machine->device_counters().sectors_written, 0U);
    }
    machine->cut();
    const Recovery recovery = taken(machine->recover(Repair::always));
    EXPECT_GT(recovery.repair.requests, 0U) << profile;
    EXPECT_TRUE(is_there(*machine, "old")) << profile;
    EXPECT_TRUE(is_there(*machine, "synced")) << profile;
  }
}

/// fsync flushes the drive's write cache if it is on, so synced data survives the cut.
TEST(ModelledMachine, FlushesADriveWithAWriteCache) {
  for (const bool on : {false, true}) {
    ModelledMachineOptions options = small_machine("soft-updates", "atlas-10k");
    options.write_cache = on;
    const auto machine = taken(ModelledMachine::start(options));
    work(*machine);
    EXPECT_EQ(machine->system().queue.counters().flushes > 0, on);
    machine->cut();
    taken(machine->recover(Repair::as_needed));
    EXPECT_TRUE(is_there(*machine, "synced")) << on;
  }
}

TEST(ModelledMachine, SupportsSeveralDisks) {
  ModelledMachineOptions options = small_machine("no-order");
  options.more_disks = {{.profile = "raid0-2", .size_bytes = kSmall}, {.profile = "hp-c2447"}};
  const auto machine = taken(ModelledMachine::start(options));
  EXPECT_GE(machine->disk(1).sectors(), kSmall / model::kSectorBytes);
  EXPECT_GT(machine->disk(2).sectors(), machine->disk(1).sectors());
  work(*machine);
  machine->cut();
  EXPECT_TRUE(machine->recover(Repair::as_needed));
}

/// Creates files and syncs each one, as an NFS server does. Returns the NVRAM hits.
std::vector<WriteHits> hits_of(const char* system, const char* profile, const char* log_profile) {
  ModelledMachineOptions options = small_machine(system, profile);
  if (log_profile != nullptr) options.more_disks = {{.profile = log_profile, .size_bytes = kSmall}};
  const auto machine = taken(ModelledMachine::start(options));
  const std::vector<WriteHits> before = machine->write_hits();
  os::Account account{.name = "test"};
  machine->system().run_as(account, [&] {
    const std::vector<std::byte> data(8192, std::byte{0x5a});
    for (int i = 0; i < 40; ++i) {
      const auto file = machine->vfs().open("f" + std::to_string(i), {.create = true});
      ASSERT_TRUE(file);
      for (std::uint64_t block = 0; block < 15; ++block) {
        ASSERT_TRUE(machine->vfs().pwrite(*file, block * data.size(), data));
        ASSERT_TRUE(machine->vfs().fsync(*file));
      }
      ASSERT_TRUE(machine->vfs().close(*file));
    }
  });
  std::vector<WriteHits> hits = machine->write_hits();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    sum += hits[i].dirty_hits;
    hits[i].writes -= before[i].writes, hits[i].dirty_hits -= before[i].dirty_hits;
  }
  // `sum` may be less than the caches' counters, which include the writes that load an array's
  // image.
  EXPECT_LE(sum, machine->nvram_counters(NvramPlace::above).dirty_hits);
  return hits;
}

double share(const std::vector<WriteHits>& hits, std::string_view kind) {
  for (const WriteHits& one : hits)
    if (one.kind == kind && one.writes > 0)
      return static_cast<double>(one.dirty_hits) / static_cast<double>(one.writes);
  return -1;
}

/// Tests a statement in section 4 of Peacock 1998: metadata that is updated in place is still in
/// the cache at its next update, but a block of a circular log has left the cache before it is
/// overwritten.
TEST(ModelledMachine, CountsNvramHitsByKindOfBlock) {
  const auto in_place = hits_of("conventional", "netra-raid0-presto", nullptr);
  EXPECT_GT(share(in_place, "inodes"), 0.9);
  EXPECT_GT(share(in_place, "indirect"), 0.5);
  EXPECT_LT(share(in_place, "data"), 0.1);
  EXPECT_EQ(share(in_place, "log"), -1);
  EXPECT_EQ(share(in_place, "other"), -1);
  const auto logged =
      hits_of("journal-external-data", "netra-raid0-presto-beside-log", "netra-log-presto");
  EXPECT_GE(share(logged, "log"), 0.0);
  EXPECT_LT(share(logged, "log"), 0.5);
  EXPECT_LT(share(logged, "log"), share(in_place, "inodes"));
}

TEST(ModelledMachine, CountsNoHitsWithoutNvram) {
  const auto machine =
      taken(ModelledMachine::start(small_machine("conventional", "netra-raid5-presto-lower")));
  work(*machine);
  for (const WriteHits& one : machine->write_hits()) EXPECT_EQ(one.writes, 0U) << one.kind;
  EXPECT_EQ(machine->nvram_counters(NvramPlace::above).cached_writes, 0U);
  EXPECT_GT(machine->nvram_counters(NvramPlace::below).cached_writes, 0U);
  ASSERT_NE(machine->array(), nullptr);
  EXPECT_GT(machine->array()->array_counters().prewrites, 0U);
}

TEST(ModelledMachine, ALogOnASeparateDeviceSharesThePowerSupply) {
  for (const char* system :
       {"journal-external", "journal-external-data", "journal-external-unbatched"}) {
    SCOPED_TRACE(system);
    ModelledMachineOptions options = small_machine(system);
    EXPECT_FALSE(ModelledMachine::start(options)) << "the log's device is missing";
    options.more_disks = {{.profile = "hp-c2447", .size_bytes = kSmall}, {.profile = "hp-c2447"}};
    options.populate = [](Vfs& vfs) { return make(vfs, "old"); };
    const auto machine = taken(ModelledMachine::start(options));
    work(*machine);
    machine->cut();
    const Recovery recovery = taken(machine->recover(Repair::as_needed));
    EXPECT_FALSE(recovery.repair.done) << "the mount replays the log";
    EXPECT_TRUE(is_there(*machine, "old"));
    EXPECT_TRUE(is_there(*machine, "synced"));
    work(*machine);
    machine->cut();
    EXPECT_TRUE(taken(machine->recover(Repair::always)).repair.done);
    EXPECT_TRUE(is_there(*machine, "synced"));
  }
}

std::size_t bytes_other_than(ModelledMachine& machine, const std::string& name, std::byte value) {
  std::size_t others = 0;
  os::Account account{.name = "test"};
  machine.system().run_as(account, [&] {
    std::vector<std::byte> data(64 << 10, ~value);
    const auto file = machine.vfs().open(name, {});
    ASSERT_TRUE(file) << name;
    ASSERT_TRUE(machine.vfs().pread(*file, 0, data));
    ASSERT_TRUE(machine.vfs().close(*file));
    others = data.size() - static_cast<std::size_t>(std::ranges::count(data, value));
  });
  return others;
}

/// Extends an image and starts machines from it. One of them has an array with a dead member, so
/// the array needs correct parity even for the data that was added.
TEST(ModelledMachine, AnExtendedImageHasTheOldAndTheAddedFiles) {
  for (const char* profile : {"hp-c2447", "raid5-5"}) {
    SCOPED_TRACE(profile);
    ModelledMachineOptions options = small_machine("conventional", profile);
    options.populate = [](Vfs& vfs) {
      auto made = make(vfs, "first", 64 << 10);
      return made ? make(vfs, "emptied", 64 << 10) : made;
    };
    const auto small = taken(ModelledMachine::image_of(options));
    options.image = small;
    options.populate = [](Vfs& vfs) -> VfsResult<void> {
      TRY(const auto file, vfs.open("emptied", {}));
      TRY(vfs.pwrite(file, 0, std::vector<std::byte>(64 << 10)));
      TRY(vfs.close(file));
      return make(vfs, "second", 64 << 10);
    };
    const auto grown = taken(ModelledMachine::image_of(options));
    EXPECT_EQ(grown->grown_from, small);
    EXPECT_LT(grown->bytes, small->bytes + (1 << 20));
    for (const bool degraded : {false, true}) {
      SCOPED_TRACE(degraded);
      if (degraded && std::string_view(profile) == "hp-c2447") continue;
      if (degraded) options.faults = {*model::parse_fault("dead:hd0.2")};
      options.image = grown;
      const auto machine = taken(ModelledMachine::start(options));
      EXPECT_EQ(bytes_other_than(*machine, "first", std::byte{0x5a}), 0U);
      EXPECT_EQ(bytes_other_than(*machine, "second", std::byte{0x5a}), 0U);
      EXPECT_EQ(bytes_other_than(*machine, "emptied", std::byte{0}), 0U);
    }
    options.faults.clear();
    options.image = small;
    const auto machine = taken(ModelledMachine::start(options));
    EXPECT_FALSE(is_there(*machine, "second"));
    EXPECT_EQ(bytes_other_than(*machine, "emptied", std::byte{0x5a}), 0U);
  }
}

TEST(ModelledMachine, ReplaysALogOnASeparateArray) {
  ModelledMachineOptions options = small_machine("journal-external", "raid5-5");
  options.more_disks = {{.profile = "raid1-2", .size_bytes = kSmall}};
  const auto machine = taken(ModelledMachine::start(options));
  work(*machine);
  machine->cut();
  EXPECT_FALSE(taken(machine->recover(Repair::as_needed)).repair.done);
  EXPECT_TRUE(is_there(*machine, "synced"));
}

TEST(ModelledMachine, ErrorsListKnownSystems) {
  EXPECT_FALSE(machine_with("ufs", "no-such-scheme"));
  EXPECT_FALSE(machine_with("no-such-type", "no-order"));
  ModelledMachineOptions options = small_machine("no-order", "no-such-drive");
  EXPECT_FALSE(ModelledMachine::start(options));
}

}  // namespace
}  // namespace headcrash::experiment
