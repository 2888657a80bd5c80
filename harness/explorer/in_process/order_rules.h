#pragma once
// Decides which crash states a driver's queue permits.
//
// A disk completes one request after another, in an order that the driver chooses within its rules
// (fs-adapters/substrate/os/disk_order.h). A run shows one such order, but any other permitted
// order could have happened instead. A subset of the writes in flight at a cut is possible if the
// rules permit the driver to issue exactly these writes, one by one:
//
//   issued and not complete at the cut: 4F 5 6F 7      F: flagged (os::FlagMeaning::part)
//   {}, {4}, {4 5}, {4 5 6}, {4 5 6 7}, {4 6}, ...     are possible
//   {5}, {6}, {4 7}                                    are not
//
// A torn write was at the disk when the power was cut, so the rules must permit it to follow the
// complete writes.

#include <cstdint>
#include <vector>

#include "fs-adapters/substrate/os/disk_order.h"
#include "fs-adapters/substrate/os/disk_queue.h"
#include "plugin/states/crash_state.h"

namespace headcrash::in_process {

class OrderRules {
 public:
  OrderRules() = default;
  OrderRules(os::FlagMeaning flag, bool reads_bypass) : flag_(flag), reads_bypass_(reads_bypass) {}

  /// Adds a request. All requests, including reads and flushes, must be added in ascending order of
  /// ids. `event` is the number of events that were recorded before the request.
  void issued(os::RequestId id, const os::BlockRequest& request, const os::Ordering& ordering,
              std::uint64_t event);
  void completed(os::RequestId id, std::uint64_t event);

  /// Returns true if the rules permit the state. The state must come from this run's recording,
  /// have the base `writes` and use the queue's request ids.
  bool allow(const states::CrashState& state) const;

 private:
  struct Issued {
    os::RequestId id = 0;
    os::DiskOrder::Kind kind = os::DiskOrder::Kind::write;
    std::uint64_t lba = 0;
    std::uint32_t sectors = 0;
    bool flagged = false, barrier = false;
    std::vector<os::RequestId> after;
    std::uint64_t issued_event = 0;
    std::uint64_t completed_event = UINT64_MAX;
  };
  os::FlagMeaning flag_ = os::FlagMeaning::ignore;
  bool reads_bypass_ = false;
  std::vector<Issued> requests_;  ///< indexed by id - requests_[0].id, because ids have no gaps
};

}  // namespace headcrash::in_process
