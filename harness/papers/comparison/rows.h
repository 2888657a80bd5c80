#pragma once
// The compared systems, and their common machine.
//
//   processor   the i486 at 33 MHz of ../i486_33.h; with `machine` 2, the Pentium 4 of
//               ../soares03/pentium4.h
//   drive       hp-c2447; with the Pentium, the first gigabyte of an ibm-60g; RAID-5: five
//               hp-c2447, with and without NVRAM above them
//   memory      36 MB of file cache on both machines, so that the same workloads exceed the cache.
//               This includes a system's other data in memory (inodes, maps, dependencies, copies
//               of committed blocks)
//   driver      C-LOOK, one request at a time for a drive, five for an array; adjacent blocks form
//               one request of up to 64 KiB for every system, so a region of LFS's log is several
//               requests
//   delay       a change is written when it is `delay-seconds` old, regardless of where it is
//               buffered: in the syncer's buffers, a journal's transaction, a log, or a generation.
//               Metadata has the same delay as data
//   each call   a call returns when its changes are persistent. The system's own fsync is used
//               (synchronous_vfs.h)
//   format      blocks of 8 KiB, with fragments of 1 KiB in UFS and of 512 bytes in LFS; one inode
//               per 8 KiB; journals of 8 MB, segments of 512 KiB, an intent log of 1 MB. UFS keeps
//               10 % of the space free, and LFS 8 % for its cleaner
//
// All systems initialise allocated blocks. No Order is a control and may lose everything. The cost
// of ordering is the difference from the numbers of No Order.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/papers/modelled_machine.h"
#include "harness/papers/paper.h"

namespace headcrash::experiment::compare {

/// The durability of changes without fsync: never guaranteed, guaranteed after the delay, or
/// guaranteed when the call returns.
enum class Durability : std::uint8_t { none, within_delay, each_call };
const char* name(Durability durability);

struct Row {
  std::string name;  ///< "Soft updates"
  Durability durability = Durability::within_delay;
  std::shared_ptr<const adapters::SystemUnderTest> system;
  adapters::Settings mkfs;
  /// The fastest kind of recovery that the format permits before a mount.
  Repair first_mount = Repair::as_needed;
  /// Campaign in results/reference that tests the system, and the name of the system in that
  /// campaign.
  std::string lab = {};
  /// The difference between the row's system and the system in that campaign; may be empty.
  std::string lab_note = {};

  /// Returns a key that is the same for rows with the same disk format. Such rows can use the same
  /// images.
  std::string format() const;
};

/// Returns all rows in the order of the table. A name is unique only within its group; full_name()
/// is unique in all groups.
const std::vector<Row>& rows();
std::string full_name(const Row& row);
/// Returns the rows of a group, as indices in rows().
std::vector<std::size_t> rows_of(Durability durability);
/// Groups the elements of `numbers` whose rows have the same key. Each group contains indices in
/// `numbers`, in ascending order.
std::vector<std::vector<std::size_t>> grouped(const std::vector<std::size_t>& numbers,
                                              const std::function<std::string(const Row&)>& key);
/// Returns the rows to measure, as indices in rows(): all rows or, in scaled runs (for tests), one
/// row of each group and one additional row.
std::vector<std::size_t> rows_of(const Context& context);

enum class Device : std::uint8_t { drive, drive_cache, fast_drive, raid5, raid5_nvram };
const char* name(Device device);

struct MachineChoice {
  Device device = Device::drive;
  bool pentium = false;
  os::TimeNs delay_ns = 30 * model::kSecondNs;
  /// If true, each system uses the write delay from its paper instead of `delay_ns`. If a paper
  /// describes a sweep of the cache, the sweep writes all buffered data within 30 s.
  bool own_times = false;
  std::optional<std::uint64_t> size_bytes = {};   ///< nullopt to use the whole device
  std::optional<std::uint64_t> cache_bytes = {};  ///< nullopt selects 36 MB
  std::uint64_t seed = 1;
};
/// Returns the machine for this row. The machine has no image.
ModelledMachineOptions machine_of(const Row& row, const MachineChoice& choice);
MachineChoice choice_of(const Context& context, Device device);

/// Returns the parameters that choice_of() and in_seeds() read.
std::vector<Parameter> usual_parameters();
std::size_t seeds_of(const Context& context);

}  // namespace headcrash::experiment::compare
