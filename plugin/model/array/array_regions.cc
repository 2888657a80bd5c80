// The map of dirty regions (dirty_regions.h), of which every member has a copy.
//
// Only one coroutine at a time writes pages. A coroutine that needs a bit to be on the members
// increments `regions_wanted_` and waits. Every region_idle_ns, another coroutine clears the bits
// of regions that have become idle. Therefore, only regions in use are marked, even if the array as
// a whole is never idle.
#include <cstring>

#include "plugin/model/array/array_controller.h"

namespace headcrash::model {

void ArrayController::write_regions_soon() {
  if (regions_.changed_pages().empty()) return;
  ++regions_wanted_;
  if (!regions_busy_) write_regions();
}

/// Marks the regions of these data sectors before they are written. The caller must call
/// unmark_regions() later.
Task ArrayController::mark_regions(std::uint64_t first, std::uint64_t last) {
  if (regions_.begin(first, last)) write_regions_soon();
  const std::uint64_t mine = regions_wanted_;
  while (regions_written_ < mine) co_await Wait{region_waiters_};
  co_return Status::ok;
}

void ArrayController::unmark_regions(std::uint64_t first, std::uint64_t last) {
  regions_.end(first, last, simulation_.now());
  age_regions_later();
}

Detached ArrayController::write_regions() {
  regions_busy_ = true;
  while (regions_written_ < regions_wanted_) {
    const std::uint64_t version = regions_wanted_;
    const std::vector<std::uint64_t> pages(regions_.changed_pages().begin(),
                                           regions_.changed_pages().end());
    regions_.changed_pages().clear();
    AlignedBuffer buffer = take_buffer(pages.size() * DirtyRegions::kPageSectors);
    Batch batch(commands_);
    for (std::size_t i = 0; i < pages.size(); ++i) {
      std::byte* const page = bytes_ ? buffer.data() + i * DirtyRegions::kPageBytes : nullptr;
      if (bytes_) std::memcpy(page, regions_.page(pages[i]).data(), DirtyRegions::kPageBytes);
      for (std::uint32_t m = 0; m < layout.members; ++m) {
        if (states_[m] == MemberState::failed) continue;
        batch.write(m, layout.bitmap_first + pages[i] * DirtyRegions::kPageSectors,
                    DirtyRegions::kPageSectors, page, volatile_);
      }
    }
    co_await batch;
    ++array_counters.metadata_writes;
    members_failed(batch.dead);
    regions_written_ = version;
    runner_.wake_all(region_waiters_);
  }
  regions_busy_ = false;
}

Task ArrayController::read_regions() {
  if (!bytes_) co_return Status::ok;
  AlignedBuffer buffer = take_buffer(layout.bitmap_sectors);
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (states_[m] != MemberState::active) continue;
    Batch batch(commands_);
    batch.read(m, layout.bitmap_first, static_cast<std::uint32_t>(layout.bitmap_sectors),
               buffer.data());
    co_await batch;
    members_failed(batch.dead);
    if (batch.unreadable != 0 || batch.store_error) {
      regions_.mark_all();
    } else if (!batch.failed()) {
      regions_.merge(0, {buffer.data(), layout.bitmap_sectors * kSectorBytes});
    }
  }
  co_return Status::ok;
}

void ArrayController::age_regions_later() {
  if (age_scheduled_ || ageing_ || unclean_ || !regions_.in_use()) return;
  age_scheduled_ = true;
  schedule(simulation_.now() + profile.region_idle_ns, Tag::age);
}

/// Clears the bits of regions that have been idle for region_idle_ns, after flushing the members'
/// caches. Keeps the bits of regions that have not been written to since power-on while their
/// parity may be inconsistent.
Detached ArrayController::age_regions() {
  ageing_ = true;
  const auto unused = regions_.unused_since(simulation_.now() - profile.region_idle_ns);
  bool durable = started_ && !refusing_ && !unclean_ && !unused.empty();
  if (durable && volatile_) {
    Batch batch(commands_);
    for (std::uint32_t m = 0; m < layout.members; ++m) {
      if (states_[m] != MemberState::failed) batch.other(Op::flush, m, 0, 0, false);
    }
    co_await batch;
    members_failed(batch.dead);
    durable = !batch.failed();
  }
  if (durable) {
    regions_.forget(unused);
    write_regions_soon();
  }
  ageing_ = false;
  age_regions_later();
}

}  // namespace headcrash::model
