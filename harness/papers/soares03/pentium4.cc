// Configures the machine and its four systems (pentium4.h).
#include "harness/papers/soares03/pentium4.h"

#include <fmt/format.h>

#include <limits>

#include "fs-adapters/lfs/under_test.h"
#include "fs-adapters/snapfs/under_test.h"
#include "fs-adapters/ufs/under_test.h"
#include "plugin/base/invariant.h"

namespace headcrash::experiment::soares03 {
namespace {

constexpr std::uint32_t kBlockBytes = 4096;
constexpr std::uint32_t kRequestSectors = 248;
constexpr std::uint32_t kKupdateS = 30, kExt3S = 5, kSnapS = 10;

os::TimeNs interval_ns(const MachineChoice& choice, std::uint32_t printed_s) {
  return choice.interval_s.value_or(printed_s) * model::kSecondNs;
}

ModelledMachineOptions machine_of(const MachineChoice& choice) {
  ModelledMachineOptions machine;
  machine.profile = "ibm-60g";
  machine.size_bytes = choice.partition_bytes;
  machine.write_cache = choice.write_cache != WriteCache::off;
  machine.flushes = choice.write_cache != WriteCache::believed;
  machine.concatenated_sectors = kRequestSectors;
  machine.cache_bytes = choice.memory_bytes - kNotForFilesBytes;
  machine.copies_bytes = 0;
  machine.syncer = {.policy = os::SyncerOptions::Policy::periodic,
                    .interval_ns = interval_ns(choice, kKupdateS),
                    .own_times = true};
  machine.costs = scaled_costs(kI486At33Mhz, 1 / (kPentium4FasterThanI486 * choice.processor));
  return machine;
}

std::string full_name(std::string name, const MachineChoice& choice) {
  if (choice.memory_bytes != kMemoryBytes)
    name += fmt::format("; {} MiB", choice.memory_bytes / kMib);
  if (choice.interval_s) name += fmt::format("; every {} s", *choice.interval_s);
  if (choice.write_cache == WriteCache::off) name += "; write cache off";
  if (choice.write_cache == WriteCache::flushed) name += "; write cache flushed";
  if (choice.processor != 1) name += fmt::format("; processor x{:g}", choice.processor);
  if (choice.journal_bytes != MachineChoice{}.journal_bytes)
    name += fmt::format("; journal of {} MiB", choice.journal_bytes / kMib);
  if (choice.partition_bytes)
    name += fmt::format("; {} MiB of the disk", *choice.partition_bytes / kMib);
  return name;
}

const char* scheme_of(System system) {
  if (system == System::ext3) return "journal";
  return system == System::soft_updates ? "soft-updates" : "no-order";
}

Setup ufs_setup(System system, const MachineChoice& choice) {
  const bool journalled = system == System::ext3;
  auto variant = ufs::find_scheme_variant(scheme_of(system));
  invariant(variant.has_value(), "the schemes of ext2 and ext3 must exist in ufs");
  variant->block_copy = true;
  variant->mount.options.journal.interval_ns = interval_ns(choice, kExt3S);
  Setup made{.name = full_name(name(system), choice), .machine = machine_of(choice)};
  made.machine.system = ufs::system_of(*std::move(variant));
  made.machine.mkfs = {{"block-size", fmt::format("{}", kBlockBytes)},
                       {"fragment-size", fmt::format("{}", kBlockBytes)},
                       {"bytes-per-inode", "8192"}};
  if (journalled) made.machine.mkfs["journal-size"] = fmt::format("{}", choice.journal_bytes);
  return made;
}

Setup lfs_setup(const MachineChoice& choice) {
  Setup made{.name = full_name(name(System::lfs), choice), .machine = machine_of(choice)};
  const os::TimeNs interval = interval_ns(choice, kKupdateS);
  made.machine.system =
      lfs::system_of(made.name, {.write_after_ns = interval, .checkpoint_interval_ns = interval});
  // With smaller segments, there would be more segments than fit into the format's table.
  made.machine.mkfs = {{"block-size", fmt::format("{}", kBlockBytes)},
                       {"bytes-per-inode", "8192"},
                       {"segment-size", "2M"}};
  return made;
}

}  // namespace

const char* name(System system) {
  constexpr const char* kNames[] = {"ext2",         "ext3", "KFS", "KFS+snap", "KFS+snap, ordered",
                                    "soft updates", "LFS"};
  return kNames[static_cast<std::size_t>(system)];
}

Setup snapfs_setup(std::string its_name, const snapfs::MountOptions& mount,
                   const MachineChoice& choice) {
  Setup made{.name = full_name(std::move(its_name), choice), .machine = machine_of(choice)};
  made.machine.system = snapfs::system_of(made.name, mount);
  made.machine.mkfs = {{"block-size", fmt::format("{}", kBlockBytes)}, {"bytes-per-inode", "8192"}};
  return made;
}

Setup setup_of(System system, const MachineChoice& choice) {
  if (system == System::ext2 || system == System::ext3 || system == System::soft_updates)
    return ufs_setup(system, choice);
  if (system == System::lfs) return lfs_setup(choice);
  const bool in_place = system == System::kfs;
  snapfs::MountOptions mount{.commit_interval_ns =
                                 interval_ns(choice, in_place ? kKupdateS : kSnapS)};
  mount.copy_on_write = !in_place;
  if (in_place) mount.dirty_blocks_max = std::numeric_limits<std::uint32_t>::max();
  mount.data =
      system == System::snap_ordered ? snapfs::DataMode::ordered : snapfs::DataMode::unordered;
  return snapfs_setup(name(system), mount, choice);
}

const snapfs::Store* snapshots_of(ModelledMachine& machine) {
  auto* const mounted = dynamic_cast<snapfs::FileSystem*>(&machine.vfs());
  return mounted == nullptr ? nullptr : &mounted->snapshots();
}

}  // namespace headcrash::experiment::soares03
