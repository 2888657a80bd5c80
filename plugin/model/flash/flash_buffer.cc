// Keeps the dirty units in order (flash_buffer.h).
//
// A unit has at most one dirty version, and at most one version that is being programmed. Rewriting
// a dirty unit changes it in place and keeps its position in the order. Rewriting a unit that is
// being programmed creates a new dirty version. take() skips this version until the older one has
// been programmed, so that the newer version is written last.
#include "plugin/model/flash/flash_buffer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "plugin/model/core/store.h"

namespace headcrash::model {
namespace {

std::uint64_t sectors_of(const std::vector<Extent>& extents) {
  std::uint64_t sectors = 0;
  for (const Extent& extent : extents) sectors += extent.sectors;
  return sectors;
}

bool within(const std::vector<Extent>& extents, std::uint64_t lba) {
  return std::any_of(extents.begin(), extents.end(),
                     [lba](const Extent& e) { return e.lba <= lba && lba < e.end(); });
}

void lay_units_over(const std::vector<Extent>& extents, std::uint64_t lba,
                    std::span<std::byte> into) {
  for (const Extent& extent : extents) {
    const std::uint64_t from = std::max(lba, extent.lba);
    const std::uint64_t to = std::min(lba + into.size() / kSectorBytes, extent.end());
    if (from >= to) continue;
    const auto target = into.subspan((from - lba) * kSectorBytes, (to - from) * kSectorBytes);
    if (extent.zeroes) {
      std::fill(target.begin(), target.end(), std::byte{0});
    } else if (!extent.bytes.empty()) {
      std::memcpy(target.data(), extent.bytes.data() + (from - extent.lba) * kSectorBytes,
                  target.size());
    }
  }
}

}  // namespace

void FlashBuffer::cut_out(Unit& unit, std::uint64_t from, std::uint64_t to) {
  std::vector<Extent> left;
  for (const Extent& extent : unit.dirty) {
    if (extent.lba < from) left.push_back(extent.slice(extent.lba, std::min(extent.end(), from)));
    if (extent.end() > to) left.push_back(extent.slice(std::max(extent.lba, to), extent.end()));
  }
  dirty_sectors_ -= sectors_of(unit.dirty) - sectors_of(left);
  unit.dirty = std::move(left);
}

std::uint64_t FlashBuffer::insert(const Extent& extent) {
  Extent own = extent;
  if (!extent.bytes.empty()) {
    own.keeps =
        std::make_shared<const std::vector<std::byte>>(extent.bytes.begin(), extent.bytes.end());
    own.bytes = *own.keeps;
  }
  for (std::uint64_t at = own.lba; at < own.end();) {
    const std::uint64_t index = at / unit_sectors_;
    const std::uint64_t to = std::min(own.end(), (index + 1) * unit_sectors_);
    Unit& unit = units_[index];
    cut_out(unit, at, to);
    const auto place = std::find_if(unit.dirty.begin(), unit.dirty.end(),
                                    [at](const Extent& e) { return e.lba > at; });
    unit.dirty.insert(place, own.slice(at, to));
    dirty_sectors_ += to - at;
    if (unit.sequence == 0) {
      unit.sequence = ++last_sequence_;
      order_.emplace(unit.sequence, index);
    }
    at = to;
  }
  return last_sequence_;
}

void FlashBuffer::forget_if_empty(std::uint64_t index) {
  const auto it = units_.find(index);
  if (it->second.dirty.empty() && it->second.sequence != 0) {
    order_.erase(it->second.sequence);
    it->second.sequence = 0;
  }
  if (it->second.dirty.empty() && it->second.going.empty()) units_.erase(it);
}

void FlashBuffer::drop(std::uint64_t lba, std::uint64_t sectors) {
  const std::uint64_t end = lba + sectors;
  // A trim may be much longer than the buffer, so iterate over the units of the trim or over those
  // of the buffer, whichever are fewer.
  std::vector<std::uint64_t> hit;
  if (sectors / unit_sectors_ < units_.size()) {
    for (std::uint64_t i = lba / unit_sectors_; i * unit_sectors_ < end; ++i) {
      if (units_.count(i) > 0) hit.push_back(i);
    }
  } else {
    for (const auto& [sequence, index] : order_) hit.push_back(index);
  }
  for (const std::uint64_t index : hit) {
    cut_out(units_[index], lba, end);
    forget_if_empty(index);
  }
}

FlashProgram FlashBuffer::take(std::uint32_t sectors_max) {
  FlashProgram program;
  program.oldest = std::numeric_limits<std::uint64_t>::max();
  for (auto it = order_.begin(); it != order_.end();) {
    Unit& unit = units_.at(it->second);
    if (!unit.going.empty()) {
      ++it;
      continue;
    }
    const auto sectors = static_cast<std::uint32_t>(sectors_of(unit.dirty));
    if (program.sectors + unit_sectors_ > sectors_max) break;
    program.oldest = std::min(program.oldest, unit.sequence);
    program.partial |= sectors < unit_sectors_;
    program.sectors += unit_sectors_;
    program.extents.insert(program.extents.end(), unit.dirty.begin(), unit.dirty.end());
    unit.going = std::move(unit.dirty);
    unit.dirty.clear();
    unit.sequence = 0;
    dirty_sectors_ -= sectors;
    in_flight_sectors_ += sectors;
    it = order_.erase(it);
  }
  return program;
}

void FlashBuffer::program_completed(const FlashProgram& program) {
  in_flight_sectors_ -= sectors_of(program.extents);
  for (const Extent& extent : program.extents) {
    const auto it = units_.find(extent.lba / unit_sectors_);
    if (it == units_.end() || it->second.going.empty())
      continue;  // an earlier extent of the program has already completed this unit
    it->second.going.clear();
    forget_if_empty(it->first);
  }
}

bool FlashBuffer::covers(std::uint64_t lba, std::uint64_t sectors) const {
  if (units_.empty()) return false;
  for (std::uint64_t at = lba; at < lba + sectors; ++at) {
    const auto it = units_.find(at / unit_sectors_);
    if (it == units_.end() || (!within(it->second.dirty, at) && !within(it->second.going, at)))
      return false;
  }
  return true;
}

bool FlashBuffer::in_flight(std::uint64_t lba, std::uint64_t sectors) const {
  return std::any_of(units_.begin(), units_.end(), [&](const auto& unit) {
    return std::any_of(unit.second.going.begin(), unit.second.going.end(),
                       [&](const Extent& e) { return e.lba < lba + sectors && lba < e.end(); });
  });
}

void FlashBuffer::overlay(std::uint64_t lba, std::span<std::byte> into) const {
  if (units_.empty() || into.empty()) return;
  const std::uint64_t end = lba + into.size() / kSectorBytes;
  for (std::uint64_t index = lba / unit_sectors_; index * unit_sectors_ < end; ++index) {
    const auto it = units_.find(index);
    if (it == units_.end()) continue;
    lay_units_over(it->second.going, lba, into);
    lay_units_over(it->second.dirty, lba, into);
  }
}

std::uint64_t FlashBuffer::oldest_dirty() const {
  return order_.empty() ? std::numeric_limits<std::uint64_t>::max() : order_.begin()->first;
}

std::vector<Extent> FlashBuffer::all_dirty() const {
  std::vector<Extent> all;
  for (const auto& [sequence, index] : order_) {
    const Unit& unit = units_.at(index);
    all.insert(all.end(), unit.dirty.begin(), unit.dirty.end());
  }
  return all;
}

void FlashBuffer::clear() {
  units_.clear();
  order_.clear();
  dirty_sectors_ = in_flight_sectors_ = 0;
}

}  // namespace headcrash::model
