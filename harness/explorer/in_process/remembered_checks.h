#pragma once
// Remembers the outcomes of the fsck steps on one disk: the recovery of the log, the first check,
// the repair, and the check after the repair.
//
// States of a file system with a journal differ in the journal, but most of them have one of few
// images after the recovery. The other steps therefore begin with the recovered image.

#include <cstdint>
#include <optional>
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

  struct Recovery {
    std::optional<adapters::CheckReport> report;  ///< result of ImageChecker::recover_log()
    std::vector<Write> writes;
  };

  /// `disk` must outlive this object.
  explicit RememberedChecks(StateDisk& disk)
      : recovery(disk), first(disk), repair(disk), second(disk), disk_(&disk) {}

  RememberedStep<Recovery> recovery;
  RememberedStep<adapters::CheckReport> first;
  RememberedStep<std::vector<Write>> repair;
  RememberedStep<std::monostate> second;  ///< remembers only second checks that found nothing

  /// Returns the sectors that the last step has written, for repeat(). The result is valid as long
  /// as the outcomes of `recovery` and `repair` are remembered.
  std::vector<Write> writes();
  /// Repeats an earlier step on the same contents by writing the same sectors.
  void repeat(const std::vector<Write>& writes);

 private:
  StateDisk* disk_;
  /// Contents of sectors, keyed by digest. Equal sectors, which are common in repairs of similar
  /// states, are stored once.
  std::unordered_map<std::uint64_t, std::vector<std::byte>> contents_;
};

}  // namespace headcrash::in_process
