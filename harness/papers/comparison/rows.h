#pragma once
// The systems that are compared, and the machine they share.
//
//   processor   the i486 at 33 MHz of ../i486_33.h; with `machine` 2 the Pentium 4 of ../soares03/pentium4.h
//   drive       hp-c2447; the first gigabyte of an ibm-60g with the Pentium; RAID-5: five hp-c2447, with and without NVRAM
//               before them
//   memory      36 MB of file cache, for both, so that the same workloads exceed it; what a system has in core beside buffers
//               (inodes, maps, dependencies, copies of committed blocks) takes room in it
//   driver      C-LOOK, one request at a time at a drive, five at an array; what is adjacent is one request of up to 64 KiB,
//               for every system: a region of LFS's log is several requests then
//   delay       what has been changed is on its way to the disk when the change is `delay-seconds` old, whoever keeps it:
//               a syncer's buffers, a journal's transaction, a log's data, a generation. Metadata
//               waits as data does
//   each call   a call returns when what it has changed is safe, by the system's own fsync (synchronous_vfs.h)
//   format      blocks of 8 KiB, with fragments of 1 KiB in UFS and of 512 bytes in LFS; an inode for each 8 KiB; journals and
//               segments of 8 MB and 512 KiB, an intent log of 1 MB. UFS keeps 10 % free, LFS 8 %
//               for its cleaner
//
// All initialise what they allocate. No Order is a control: it may lose everything, and its numbers
// say what order costs.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/papers/modelled_machine.h"
#include "harness/papers/paper.h"

namespace headcrash::experiment::compare {

/// What a cut may take.
enum class Durability : std::uint8_t { none, within_delay, each_call };
const char* name(Durability durability);

struct Row {
  std::string name;  ///< "Soft updates"
  Durability durability = Durability::within_delay;
  std::shared_ptr<const adapters::SystemUnderTest> system;
  adapters::Settings mkfs;
  Repair first_mount = Repair::as_needed;  ///< the shortest way to a mount that its format allows
  std::string lab;  ///< the campaign of results/reference that shows it, and its system there

  /// Equal for rows whose images are the same.
  std::string format() const;
};

/// In the order of tables. Names are unique in a group only: full_name() is in all.
const std::vector<Row>& rows();
std::string full_name(const Row& row);
/// The numbers of those in a group.
std::vector<std::size_t> rows_of(Durability durability);
/// Places in `numbers` of rows with the same key, in order.
std::vector<std::vector<std::size_t>> grouped(const std::vector<std::size_t>& numbers,
                                              const std::function<std::string(const Row&)>& key);
/// For tests: one of each group and one more.
std::vector<std::size_t> rows_of(const Context& context);

enum class Device : std::uint8_t { drive, drive_cache, fast_drive, raid5, raid5_nvram };
const char* name(Device device);

struct MachineChoice {
  Device device = Device::drive;
  bool pentium = false;
  os::TimeNs delay_ns = 30 * model::kSecondNs;
  bool own_times =
      false;  ///< instead: a sweep of 30 s for buffers, and what each system's paper says
  std::optional<std::uint64_t> size_bytes = {};   ///< nothing: all of the device
  std::optional<std::uint64_t> cache_bytes = {};  ///< nothing: 36 MB
  std::uint64_t seed = 1;
};
/// Without an image.
ModelledMachineOptions machine_of(const Row& row, const MachineChoice& choice);
MachineChoice choice_of(const Context& context, Device device);

/// Those that choice_of() and in_seeds() look for.
std::vector<Parameter> usual_parameters();
std::size_t seeds_of(const Context& context);

}  // namespace headcrash::experiment::compare
