// Lists the systems and configures their machine (rows.h).
#include "harness/papers/comparison/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fs-adapters/lfs/file_system.h"
#include "fs-adapters/lfs/under_test.h"
#include "fs-adapters/snapfs/file_system.h"
#include "fs-adapters/ufs/schemes/scheme_variants.h"
#include "fs-adapters/ufs/under_test.h"
#include "harness/papers/comparison/synchronous_vfs.h"
#include "harness/papers/soares03/pentium4.h"
#include "plugin/base/invariant.h"
#include "plugin/base/names.h"

namespace headcrash::experiment::compare {
namespace {

constexpr std::uint32_t kTransferSectors = 128;  // 64 KiB
constexpr const char* kBytesPerInode = "8192";
constexpr const char* kBlockBytes = "8192";

std::shared_ptr<const adapters::SystemUnderTest> registered(const char* type, const char* system) {
  const auto machine = machine_with(type, system);
  invariant(machine.has_value(), "a compared system must be in the registry");
  return machine->system;
}

Row row(std::string its_name, Durability durability, const char* type, const char* system,
        const std::string& campaign) {
  Row made{
      .name = std::move(its_name), .durability = durability, .system = registered(type, system)};
  made.mkfs = {{"bytes-per-inode", kBytesPerInode}, {"block-size", kBlockBytes}};
  made.lab = fmt::format("{}: {}", campaign, made.system->full_name());
  return made;
}

Row ufs_row(std::string its_name, Durability durability, const char* system) {
  return row(std::move(its_name), durability, "ufs", system, "ufs-schemes");
}

Row journal_row(std::string its_name, Durability durability, const char* system) {
  Row made = ufs_row(std::move(its_name), durability, system);
  made.mkfs["journal-size"] = "8M";
  return made;
}

/// Returns a row for LFS, with writes of the log divided into requests of the size that the other
/// systems use.
Row lfs_row(std::string its_name, Durability durability, const char* system, bool roll_forward) {
  Row made = row(std::move(its_name), durability, "lfs", system, "lfs-schemes");
  made.system = lfs::system_of(
      system, {.roll_forward = roll_forward, .transfer_sectors_max = kTransferSectors});
  made.lab += " and lfs-small-transfers";
  return made;
}

Row snapfs_row(std::string its_name, Durability durability, const char* system) {
  return row(std::move(its_name), durability, "snapfs", system, "snapfs-schemes");
}

/// Returns the row with a variant that initialises allocated blocks, which its campaign does not.
Row initialised(Row made) {
  auto variant = ufs::find_scheme_variant(made.system->name());
  variant->mount.options.allocation_initialization = true;
  made.system = ufs::system_of(*std::move(variant));
  made.lab_note = "there without allocation initialisation";
  return made;
}

std::vector<Row> all_rows() {
  using enum Durability;
  std::vector<Row> all{
      initialised(ufs_row("No order", Durability::none, "no-order")),
      ufs_row("Conventional", within_delay, "conventional-init"),
      ufs_row("Flag", within_delay, "part-nr-cb-init"),
      ufs_row("Chains", within_delay, "chains-cb-init"),
      ufs_row("Soft updates", within_delay, "soft-updates-init-cb"),
      journal_row("Journal", within_delay, "journal"),
      journal_row("Journal with data", within_delay, "journal-data"),
      lfs_row("LFS", within_delay, "roll-forward", true),
      lfs_row("LFS, checkpoints only", within_delay, "checkpoint-only", false),
      snapfs_row("Snapshots", within_delay, "snapshots"),
      snapfs_row("Snapshots, intent log", within_delay, "intent-log"),
      ufs_row("Conventional", each_call, "conventional-init"),
      ufs_row("Soft updates", each_call, "soft-updates-init-cb"),
      journal_row("Journal, shared commits", each_call, "journal"),
      journal_row("Journal, a commit each", each_call, "journal-unbatched"),
      journal_row("Journal with data", each_call, "journal-data"),
      lfs_row("LFS", each_call, "roll-forward", true),
      snapfs_row("Snapshots", each_call, "snapshots"),
      snapfs_row("Snapshots, intent log", each_call, "intent-log"),
      initialised(row("Netra UFS", each_call, "ufs", "netra", "ufs-netra")),
  };
  for (Row& each : all)
    if (each.system->name() == "intent-log") each.mkfs["intent-log"] = "1M";
  all.back().first_mount = Repair::fast;
  all.back().mkfs["group-size"] = "16M";
  for (const char* const feature : {"fast-check", "bmap-cache", "lazy-inodes", "foreign-block"})
    all.back().mkfs[feature] = "1";
  return all;
}

}  // namespace

const char* name(Durability durability) {
  static constexpr auto kNames =
      base::names<Durability>({"no promise", "within the delay", "each call"});
  return kNames[durability].data();
}

const char* name(Device device) {
  static constexpr auto kNames =
      base::names<Device>({"one drive", "one drive with its write cache on and with flushes",
                           "one fast drive and processor", "RAID-5", "RAID-5 with NVRAM"});
  return kNames[device].data();
}

std::string Row::format() const {
  std::string text(system->type().name());
  for (const auto* settings : {&mkfs, &system->description().mkfs})
    for (const auto& [key, value] : *settings) text += fmt::format(" {}={}", key, value);
  return text;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = all_rows();
  return kRows;
}

std::string full_name(const Row& row) {
  return row.durability == Durability::each_call ? row.name + ", each call" : row.name;
}

std::vector<std::size_t> rows_of(Durability durability) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < rows().size(); ++i)
    if (rows()[i].durability == durability) numbers.push_back(i);
  return numbers;
}

std::vector<std::vector<std::size_t>> grouped(const std::vector<std::size_t>& numbers,
                                              const std::function<std::string(const Row&)>& key) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto same = std::ranges::find_if(groups, [&](const auto& group) {
      return key(rows()[numbers[group.front()]]) == key(rows()[numbers[i]]);
    });
    if (same == groups.end())
      groups.push_back({i});
    else
      same->push_back(i);
  }
  return groups;
}

std::vector<std::size_t> rows_of(const Context& context) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    const bool few =
        rows()[i].name == "No order" || rows()[i].name == "LFS" || rows()[i].name == "Conventional";
    if (!context.scaled || few) numbers.push_back(i);
  }
  return numbers;
}

ModelledMachineOptions machine_of(const Row& row, const MachineChoice& choice) {
  using Policy = os::SyncerOptions::Policy;
  ModelledMachineOptions machine;
  machine.system = row.system;
  machine.mkfs = row.mkfs;
  machine.size_bytes = choice.size_bytes;
  machine.seed = choice.seed;
  machine.cache_bytes = choice.cache_bytes.value_or(machine.cache_bytes);
  machine.structures_count = true;
  machine.concatenated_sectors = kTransferSectors;
  machine.check_sectors = kTransferSectors;
  if (choice.pentium) {
    machine.profile = "ibm-60g";
    machine.costs = scaled_costs(kI486At33Mhz, 1 / soares03::kPentium4FasterThanI486);
  }
  machine.write_cache = choice.device == Device::drive_cache;
  if (choice.device == Device::raid5 || choice.device == Device::raid5_nvram) {
    constexpr std::uint32_t kDrives = 5;
    machine.profile = choice.device == Device::raid5 ? "raid5-5" : "raid5-5-nvram";
    machine.outstanding = kDrives;
  }
  if (row.durability == Durability::each_call)
    machine.front = [](Vfs& below) { return std::make_unique<SynchronousVfs>(below); };
  if (!choice.own_times)
    machine.syncer = {.policy = Policy::interval,
                      .interval_ns = choice.delay_ns,
                      .age = os::SyncerOptions::Age::since_first_change,
                      .metadata_waits = true};
  return machine;
}

std::vector<Parameter> usual_parameters() {
  return {
      {"seeds", 3,
       "number of seeds of each cell; a seed determines contents, random choices, disk angles and "
       "phases of the syncer"},
      {"delay-seconds", 30, "age in seconds at which systems with delayed writes write a change"},
      {"machine", 1,
       "machine of the other parts; 1: i486 at 33 MHz with HP C2447s; 2: Pentium 4 with an IBM "
       "60 GB drive"}};
}

std::size_t seeds_of(const Context& context) {
  return context.scaled ? 2 : static_cast<std::size_t>(std::max(1., context.parameter("seeds")));
}

MachineChoice choice_of(const Context& context, Device device) {
  MachineChoice choice{.device = device,
                       .pentium = context.parameter("machine") >= 2,
                       .delay_ns = static_cast<os::TimeNs>(context.parameter("delay-seconds") *
                                                           static_cast<double>(model::kSecondNs))};
  if (device == Device::fast_drive) {
    choice.pentium = true;
    choice.size_bytes = 1'000'000'000 / model::kSectorBytes * model::kSectorBytes;
  }
  return choice;
}

}  // namespace headcrash::experiment::compare
