#pragma once
// A stack of block devices in a guest, between a file system and the machine's disks: md, device
// mapper, LVM, LUKS.
//
//   hd0 /dev/vda  hd1 /dev/vdc  hd2 /dev/vdd ..   one power cord, one recording
//        \             |            /
//         create once; assemble after each cut --> {device} --> mkfs, mount, check of the adapter
//
// Each stack is a TOML file in fs-adapters/stacks, or the user's. `base = "NAME"` inherits
// everything from another stack. Commands are lists of words that run in the guest; {device},
// {disks}, {disk0} to {disk7} and {uuid} are replaced. md-raid1.toml explains the keys. All
// identifiers must be derived from {uuid}, so that two runs write the same bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/guest_command.h"
#include "plugin/base/result.h"

namespace headcrash::adapters {

inline constexpr std::size_t kStackDisksMost = 8;

/// Promises of a stack. The lab checks whether the requests recorded at the stack's disks obey
/// them, without the file system (harness/explorer/guests/stack_rules.h).
struct StackRules {
  /// When the stack reports that a write is complete, no write to its disks is in flight.
  bool answered_after_all = false;
  /// When the stack reports that a flush is complete, every earlier write to its disks is durable.
  bool flushed_on_all = false;
  /// When the data of a write with a preflush reaches a disk, every earlier write to the disks is
  /// durable.
  bool preflushed_on_all = false;
  /// Consecutive disks form groups of this size, and all disks of a group have equal data. 0 if
  /// there are no mirrors.
  std::size_t mirror_width = 0;
  bool xor_is_zero = false;  ///< the exclusive or of all disks' data is zero
  /// When a write reaches a disk of an md RAID-1, the mark for the written region in the
  /// write-intent bitmap is already durable.
  bool bitmap_marks_writes = false;
  /// When the journal of an md RAID-5 (the last disk) records that a stripe is on the other disks,
  /// the stripe is durable there.
  bool journal_forgets_flushed = false;
  /// On each disk, the stack's own metadata is before this offset. No rule above covers writes of
  /// this metadata.
  std::uint64_t data_offset_bytes = 0;
  bool any() const {
    return answered_after_all || flushed_on_all || preflushed_on_all || mirror_width != 0 ||
           xor_is_zero || bitmap_marks_writes || journal_forgets_flushed;
  }
};

struct Stack {
  std::string name, title;
  std::string file;       ///< absolute path of the user's file; empty for a built-in stack
  std::size_t disks = 1;  ///< number of disks, 1 to kStackDisksMost
  /// Number of disks whose combined space is available for data; the other disks hold copies or
  /// parity.
  std::size_t data_disks = 1;
  std::uint64_t overhead_bytes = 0;  ///< space on each disk for the stack's metadata
  /// Path of the block device, in the guest, that the stack provides for the file system.
  std::string device;
  std::vector<std::string> packages, modules;
  GuestCommand create;    ///< leaves the device ready for mkfs
  GuestCommand assemble;  ///< runs after a cut and before a workload
  GuestCommand degrade;   ///< removes disks after `assemble`, before a workload; may be empty
  GuestCommand stop;      ///< releases the disks
  GuestCommand check;     ///< runs after `assemble` in each crash state; may be empty
  /// A more thorough version of `check`, which runs in a sample of the states; may be empty.
  GuestCommand scrub;
  /// Names of disks, such as hd1, that are missing when the power returns; {disks} omits them.
  std::vector<std::string> absent;
  Expectation expected = Expectation::clean;
  std::string reason, source;  ///< why this outcome is expected, and where it is documented
  StackRules rules;

  /// Returns the size that each disk must have for a file system of `data_bytes`.
  std::uint64_t disk_bytes(std::uint64_t data_bytes) const;
};

/// Returns one of the stack's commands with its placeholders replaced by paths. A word {disks}
/// becomes one word per disk. With `after_cut`, absent disks are omitted.
std::vector<std::string> fill_in_stack(const Stack& stack, const std::vector<std::string>& argv,
                                       std::string_view uuid, bool after_cut);

/// Returns the path in the guest of the machine's disk number `index`: /dev/vda, /dev/vdc, /dev/vdd
/// ... (/dev/vdb is the disk for marks).
std::string disk_path(std::size_t index);

/// Loads a built-in stack by name, or a file by path.
Result<Stack> load_stack_of_devices(const std::string& name_or_path);
/// Parses a stack. `file_name` appears in messages.
Result<Stack> parse_stack_of_devices(std::string_view text, const std::string& file_name);
std::vector<std::string> built_in_stacks();

}  // namespace headcrash::adapters
