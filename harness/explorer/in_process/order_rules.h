#pragma once
// Which crash states a driver's queue allows.
//
// A disk completes one request after the other, in an order that the driver chooses within its
// rules (fs-adapters/substrate/os/disk_order.h). The run has seen one such order; every other one
// could have been. A subset of the writes under way at a cut is possible if the rules let exactly
// these go one by one:
//
//   issued and not complete at the cut: 4F 5 6F 7      F flagged, meaning Part
//   {}, {4}, {4 5}, {4 5 6}, {4 5 6 7}, {4 6}, ...      may be there without the others
//   {5}, {6}, {4 7}                                    may not
//
// A torn write was at the disk: the rules must let it go after the whole ones.

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

  /// `event`: the recording's events before it. Reads and flushes, too; ids rise.
  void issued(os::RequestId id, const os::BlockRequest& request, const os::Ordering& ordering,
              std::uint64_t event);
  void completed(os::RequestId id, std::uint64_t event);

  /// A state by writes of this run's recording, in which requests have the queue's ids.
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
  std::vector<Issued> requests_;  ///< by id, from requests_[0].id on, without gaps
};

}  // namespace headcrash::in_process
