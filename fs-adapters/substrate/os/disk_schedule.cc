// Disk schedules (disk_schedule.h).
#include "fs-adapters/substrate/os/disk_schedule.h"

#include <iterator>

#include "plugin/base/random.h"

namespace headcrash::os {

void DiskSchedule::insert(RequestId id, std::uint64_t lba) {
  by_lba_.emplace(lba, id);
  if (schedule_ == Schedule::fcfs) by_age_.insert(id);
  if (schedule_ == Schedule::shuffled) by_rank_.emplace(rank(id, lba), id);
}

void DiskSchedule::erase(RequestId id, std::uint64_t lba) {
  by_lba_.erase({lba, id});
  if (schedule_ == Schedule::fcfs) by_age_.erase(id);
  if (schedule_ == Schedule::shuffled) by_rank_.erase({rank(id, lba), id});
}

std::uint64_t DiskSchedule::rank(RequestId id, std::uint64_t lba) const {
  return Random(seed_ + (seed_ % 2 == 0 ? lba : id) * 0x2545f4914f6cdd1dU).next();
}

/// Returns a request for the highest address below the head. If there are several such requests,
/// returns the oldest one.
RequestId DiskSchedule::below() const {
  const auto highest = std::prev(by_lba_.lower_bound({head_, 0}));
  return by_lba_.lower_bound({highest->first, 0})->second;
}

RequestId DiskSchedule::nearest() const {
  const auto above = by_lba_.lower_bound({head_, 0});
  if (above == by_lba_.begin()) return above->second;
  if (above == by_lba_.end()) return below();
  const std::uint64_t down = head_ - std::prev(above)->first;
  return above->first - head_ <= down ? above->second : below();
}

RequestId DiskSchedule::choose() {
  if (schedule_ == Schedule::fcfs) return *by_age_.begin();
  if (schedule_ == Schedule::shuffled) return by_rank_.begin()->second;
  if (schedule_ == Schedule::sstf) return nearest();
  const auto above = by_lba_.lower_bound({head_, 0});
  if (schedule_ == Schedule::c_look)
    return (above == by_lba_.end() ? by_lba_.begin() : above)->second;
  if (above == by_lba_.end()) rising_ = false;
  if (above == by_lba_.begin()) rising_ = true;
  return rising_ ? above->second : below();
}

}  // namespace headcrash::os
