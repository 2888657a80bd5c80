#pragma once
// Tests the later life of a disk after a crash state. The recovery is interrupted by further power
// cuts; then the recovered disk is used, emptied and filled.
//
//   crash state -> recovery, cut once or twice -> recovery, judged again (check_state.h)
//     -> mount, random operations in a new directory, unmount -> exact counts; or an unmount with
//        pending changes
//     -> mount, same content, everything removed, a full disk, all removed, unmount -> exact counts
//
// The recovery is a repair by fsck. If a mount suffices to recover the state, it may be a mount
// instead. A repair is cut after a number of its writes, and a mount after a period of time. A seed
// determines all choices.

#include <cstdint>
#include <optional>
#include <string>

#include "fs-adapters/system_under_test.h"
#include "harness/explorer/in_process/state_disk.h"

namespace headcrash::in_process {

class LaterLife {
 public:
  /// All arguments must outlive this object.
  LaterLife(const adapters::SystemUnderTest& system, StateDisk& disk, adapters::ImageChecker& fsck)
      : system_(system), disk_(disk), fsck_(fsck) {}

  /// Measures the free space of a newly formatted disk. First empties the disk in the same way as
  /// use(). Does nothing if the free space is already known. After the measurement, the disk does
  /// not show any state of the run.
  void measure_new_disk();

  /// Begins to recover the state that the disk shows, and cuts the power during the recovery.
  /// Leaves the disk in the state at this cut.
  void interrupt_recovery(std::uint64_t seed);

  /// Mounts the recovered disk and uses it. Changes the disk. Returns the first rule that is
  /// broken, or an empty string.
  std::string use(std::uint64_t seed);

 private:
  const adapters::SystemUnderTest& system_;
  StateDisk& disk_;
  adapters::ImageChecker& fsck_;
  std::optional<std::uint64_t> free_when_new_;  ///< in bytes; 0 if the measurement failed
};

}  // namespace headcrash::in_process
