#pragma once
// Remembers the outcomes of the fsck steps on one disk: the first check, the repair, and the check
// after the repair.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/explorer/in_process/remembered_step.h"

namespace headcrash::in_process {

/// Holds the remembered outcomes for a disk. The steps depend only on the disk's contents and on
/// the file system's checker, so all runs on the disk share this object. Only the thread that owns
/// the disk may use this object.
class RememberedChecks {
 public:
  /// A sector that a repair has written.
  struct Write {
    std::uint32_t sector = 0;
    std::uint64_t digest = 0;
    std::span<const std::byte> bytes;
  };

  /// `disk` must outlive this object.
  explicit RememberedChecks(StateDisk& disk)
      : first(disk), repair(disk), second(disk), disk_(&disk) {}

  RememberedStep<adapters::CheckReport> first;
  RememberedStep<std::vector<Write>> repair;
  RememberedStep<std::monostate> second;  ///< remembers only second checks that found nothing

  /// Remembers the sectors that the repair has just written, for repeat(). The repair must have
  /// started directly after StateDisk::show(), because all changes since then are attributed to the
  /// repair.
  void keep_repair();
  /// Repeats an earlier repair of the same contents by writing the same sectors.
  void repeat(const std::vector<Write>& writes);

 private:
  StateDisk* disk_;
  /// Contents of sectors, keyed by digest. Equal sectors, which are common in repairs of similar
  /// states, are stored once.
  std::unordered_map<std::uint64_t, std::vector<std::byte>> contents_;
};

}  // namespace headcrash::in_process
