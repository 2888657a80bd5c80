// See write_behind.h.
#include "fs-adapters/ufs/core/write_behind.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

namespace headcrash::ufs {

void WriteBehind::write(std::uint64_t file, os::HeldBuffer block) {
  if (bytes_max_ == 0) {
    cache_.write_delayed(std::move(block));
    return;
  }
  const std::uint64_t bytes = block.bytes().size();
  const os::RequestId id = cache_.write_async(std::move(block));
  if (id == 0) return;  // a hook has said not now: it is dirty, and the syncer's
  if (in_flight_.size() >= look_again_at_) forget_quiet_files();
  File& its = in_flight_[file];
  its.writes.push_back({id, bytes});
  its.bytes += bytes;
  // Its lock keeps others from adding to it while this fiber waits; they may forget it when it is
  // quiet.
  for (auto at = in_flight_.find(file); at != in_flight_.end(); at = in_flight_.find(file)) {
    forget_arrived(at->second);
    if (at->second.bytes <= bytes_max_) break;
    disk_.wait_for(at->second.writes.front().id);
  }
}

void WriteBehind::forget_arrived(File& file) const {
  std::erase_if(file.writes, [&](const Write& write) {
    if (disk_.pending(write.id)) return false;
    file.bytes -= write.bytes;
    return true;
  });
}

void WriteBehind::forget_quiet_files() {
  for (auto at = in_flight_.begin(); at != in_flight_.end();) {
    forget_arrived(at->second);
    at = at->second.writes.empty() ? in_flight_.erase(at) : std::next(at);
  }
  look_again_at_ = std::max<std::size_t>(64, 2 * in_flight_.size());
}

}  // namespace headcrash::ufs
