#pragma once
// The outcomes of the fsck steps on one disk: the first check, the repair, and the check after it.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/explorer/in_process/remembered_step.h"

namespace headcrash::in_process {

/// These steps depend only on the disk's contents and on its file system's checker, so all runs on
/// the disk share this object. It belongs to the disk's thread.
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
  RememberedStep<std::monostate> second;  ///< only for checks without findings

  /// Keeps what the repair has just written. Between showing the state and the repair, the disk
  /// must not have been changed.
  void keep_repair();
  /// Writes what an equal repair has written.
  void repeat(const std::vector<Write>& writes);

 private:
  StateDisk* disk_;
  /// Keyed by digest, because repairs of similar states write equal sectors.
  std::unordered_map<std::uint64_t, std::vector<std::byte>> contents_;
};

}  // namespace headcrash::in_process
