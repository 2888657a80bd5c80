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
  // A hook vetoed the write, so the block stays dirty and waits for the syncer.
  if (id == 0) return;
  if (in_flight_.size() >= search_at_) forget_idle_files();
  File& its = in_flight_[file];
  its.writes.push_back({id, bytes});
  its.bytes += bytes;
  // While this fiber waits, the file's lock prevents further writes of the file. Another fiber may
  // drop the file's entry once nothing is in flight.
  for (auto at = in_flight_.find(file); at != in_flight_.end(); at = in_flight_.find(file)) {
    forget_written(at->second);
    if (at->second.bytes <= bytes_max_) break;
    disk_.wait_for(at->second.writes.front().id);
  }
}

void WriteBehind::forget_written(File& file) const {
  std::erase_if(file.writes, [&](const Write& write) {
    if (disk_.pending(write.id)) return false;
    file.bytes -= write.bytes;
    return true;
  });
}

void WriteBehind::forget_idle_files() {
  for (auto at = in_flight_.begin(); at != in_flight_.end();) {
    forget_written(at->second);
    at = at->second.writes.empty() ? in_flight_.erase(at) : std::next(at);
  }
  search_at_ = std::max<std::size_t>(64, 2 * in_flight_.size());
}

}  // namespace headcrash::ufs
