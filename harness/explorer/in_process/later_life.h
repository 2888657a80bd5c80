#pragma once
// The life of a disk after a crash state: its recovery is interrupted by further power cuts, and
// the recovered disk is used, emptied and filled.
//
//   crash state -> recovery, cut once or twice -> recovery, judged again (check_state.h)
//     -> mount, random operations in a new folder, unmount -> exact counts
//     -> mount, same content, everything removed, a full disk, all removed, unmount -> exact counts
//
// A recovery is a repair by fsck or, where a mount suffices, a mount. A repair is cut after some of
// its writes, a mount at some time. All choices are drawn from a seed.

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

  /// If unknown, measures the formatted disk's free space after the same use. Shows that disk, and
  /// changes it.
  void measure_new_disk();

  /// Begins the recovery of the state that the disk shows, and cuts the power. Leaves the disk as
  /// the cut left it.
  void interrupt_recovery(std::uint64_t seed);

  /// Uses the recovered disk that is shown, and changes it. Returns the first broken rule, or an
  /// empty string.
  std::string use(std::uint64_t seed);

 private:
  const adapters::SystemUnderTest& system_;
  StateDisk& disk_;
  adapters::ImageChecker& fsck_;
  std::optional<std::uint64_t> free_when_new_;  ///< in bytes; 0 if the disk cannot be used
};

}  // namespace headcrash::in_process
