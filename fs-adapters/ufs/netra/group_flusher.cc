// One round in each interval (group_flusher.h).

#include "fs-adapters/ufs/netra/group_flusher.h"

#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {

void GroupFlusher::arm() {
  if (armed_ || options_.flush_interval_ns == 0 || !busy_.any_busy()) return;
  armed_ = true;
  volume_.syncer.add_work(
      [this] {
        armed_ = false;
        flush();
        arm();
      },
      volume_.executor.now() + options_.flush_interval_ns);
}

/// Cleans groups. A group that is in use or cannot be written is retried in a later round.
void GroupFlusher::flush() {
  const os::TimeNs end =
      volume_.executor.now() + options_.flush_interval_ns / 100 * options_.flush_share_percent;
  const std::uint32_t groups = volume_.geometry.groups();
  for (std::uint32_t i = 1; i <= groups && !volume_.stopped() && !volume_.abandoned; ++i) {
    const std::uint32_t group = (volume_.allocator.hot_group() + i) % groups;
    if (busy_.busy(group)) (void)busy_.clean(group);
    if (volume_.executor.now() >= end) return;
  }
}

}  // namespace headcrash::ufs
