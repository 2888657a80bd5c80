// Manages the extents of the volatile cache.
//
// A newer write removes the parts of older dirty extents that it covers, so each sector is dirty at
// most once. When the media write of an extent begins, the extent leaves the dirty map. A newer
// version of its sectors then becomes dirty separately, and reads return the newer version. The
// mechanism writes one extent after the other, so the newer version is written last.
#include "plugin/model/disk/write_cache.h"

#include <algorithm>
#include <cstring>

#include "plugin/base/invariant.h"
#include "plugin/model/core/store.h"

namespace headcrash::model {
namespace {

void lay_over(const Extent& extent, std::uint64_t lba, std::span<std::byte> into) {
  const std::uint64_t from = std::max(lba, extent.lba);
  const std::uint64_t to = std::min(lba + into.size() / kSectorBytes, extent.end());
  if (from >= to) return;
  const auto target = into.subspan((from - lba) * kSectorBytes, (to - from) * kSectorBytes);
  if (extent.zeroes) {
    std::fill(target.begin(), target.end(), std::byte{0});
  } else if (!extent.bytes.empty()) {
    std::memcpy(target.data(), extent.bytes.data() + (from - extent.lba) * kSectorBytes,
                target.size());
  }
}

}  // namespace

Extent Extent::slice(std::uint64_t from, std::uint64_t to) const {
  Extent part = *this;
  part.lba = from;
  part.sectors = static_cast<std::uint32_t>(to - from);
  if (!bytes.empty())
    part.bytes = bytes.subspan((from - lba) * kSectorBytes, (to - from) * kSectorBytes);
  return part;
}

void WriteCache::insert(const Extent& extent) {
  drop(extent.lba, extent.sectors);
  Extent own = extent;
  if (!extent.bytes.empty()) {
    const auto copy =
        std::make_shared<const std::vector<std::byte>>(extent.bytes.begin(), extent.bytes.end());
    own.bytes = *copy;
    own.keeps = copy;
  }
  dirty_sectors_ += own.sectors;
  dirty_.emplace(own.lba, std::move(own));
}

void WriteCache::drop(std::uint64_t lba, std::uint32_t sectors) {
  const std::uint64_t end = lba + sectors;
  auto it = dirty_.upper_bound(lba);
  if (it != dirty_.begin() && std::prev(it)->second.end() > lba) --it;
  while (it != dirty_.end() && it->second.lba < end) {
    const Extent old = std::move(it->second);
    it = dirty_.erase(it);
    dirty_sectors_ -= old.sectors;
    if (old.lba < lba) {
      dirty_.emplace(old.lba, old.slice(old.lba, lba));
      dirty_sectors_ += lba - old.lba;
    }
    if (old.end() > end) {
      it = dirty_.emplace(end, old.slice(end, old.end())).first;
      dirty_sectors_ += old.end() - end;
    }
  }
}

bool WriteCache::covers(std::uint64_t lba, std::uint32_t sectors) const {
  const std::uint64_t end = lba + sectors;
  while (lba < end) {
    const auto above = dirty_.upper_bound(lba);
    if (above != dirty_.begin() && std::prev(above)->second.end() > lba) {
      lba = std::prev(above)->second.end();
      continue;
    }
    const auto going = std::find_if(in_flight_.begin(), in_flight_.end(), [lba](const Extent& e) {
      return e.lba <= lba && lba < e.end();
    });
    if (going == in_flight_.end()) return false;
    // A newer extent may begin inside `going`. It can be ignored here, because only the coverage is
    // checked.
    lba = going->end();
  }
  return true;
}

void WriteCache::overlay(std::uint64_t lba, std::span<std::byte> into) const {
  for (const Extent& extent : in_flight_) lay_over(extent, lba, into);
  auto it = dirty_.upper_bound(lba);
  if (it != dirty_.begin()) --it;
  for (; it != dirty_.end() && it->second.lba < lba + into.size() / kSectorBytes; ++it)
    lay_over(it->second, lba, into);
}

std::vector<const Extent*> WriteCache::upwards(std::uint64_t lba, std::size_t count) const {
  std::vector<const Extent*> found;
  auto it = dirty_.lower_bound(lba);
  while (found.size() < std::min(count, dirty_.size())) {
    if (it == dirty_.end()) it = dirty_.begin();
    found.push_back(&it->second);
    ++it;
  }
  return found;
}

std::span<const Extent> WriteCache::take(std::uint64_t lba, std::uint32_t sectors_max) {
  invariant(in_flight_.empty() && !dirty_.empty(),
            "a destage may start only if none is running and sectors are dirty");
  auto it = dirty_.lower_bound(lba);
  if (it == dirty_.end()) it = dirty_.begin();
  while (it != dirty_.end()) {
    const bool adjoins = in_flight_.empty() || in_flight_.back().end() == it->second.lba;
    const bool fits = in_flight_.empty() || in_flight_sectors_ + it->second.sectors <= sectors_max;
    if (!adjoins || !fits) break;
    in_flight_sectors_ += it->second.sectors;
    dirty_sectors_ -= it->second.sectors;
    in_flight_.push_back(std::move(it->second));
    it = dirty_.erase(it);
  }
  return in_flight_;
}

void WriteCache::write_completed() {
  in_flight_.clear();
  in_flight_sectors_ = 0;
}

void WriteCache::clear() {
  dirty_.clear();
  dirty_sectors_ = 0;
  write_completed();
}

}  // namespace headcrash::model
