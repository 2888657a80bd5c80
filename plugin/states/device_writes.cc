#include "plugin/states/device_writes.h"

#include <algorithm>

namespace headcrash::states {
namespace {

using record::ExtentIndex;
using record::ExtentLocation;

constexpr std::size_t kKeptMax = 256;
constexpr std::size_t kWritesBetweenMin = 64;

/// Returns the location of a write's first sector.
ExtentLocation where_of(const RecordedWrite& write) {
  if (write.op != model::Op::write) return ExtentLocation::zeroes();
  return write.bytes_at == 0 ? ExtentLocation::unrecorded() : ExtentLocation::at(write.bytes_at);
}

}  // namespace

bool DeviceWrites::add(const record::Event& event, std::uint64_t ordinal) {
  if (event.kind == record::Kind::ack) {
    const auto found = waiting_.find(event.request);
    // An acknowledgement without an entry belongs to a read, or to a write that the device rejects.
    if (found == waiting_.end()) return true;
    if (event.detail == static_cast<std::uint32_t>(model::Status::ok)) {
      if (found->second.flush) {
        flushes_[found->second.index].acked_event = ordinal;
      } else {
        writes_[found->second.index].acked_event = ordinal;
      }
    }
    waiting_.erase(found);
    return true;
  }
  if (event.op == model::Op::flush) {
    flushes_.push_back({event.request, ordinal, std::nullopt});
    return waiting_.emplace(event.request, PendingRequest{true, flushes_.size() - 1}).second;
  }
  if (event.op == model::Op::trim && used_disk_) return true;
  // The device rejects requests beyond its end, so they change nothing.
  if (event.op == model::Op::read || event.sectors == 0 || event.lba > sectors_ ||
      event.sectors > sectors_ - event.lba)
    return true;
  writes_.push_back(
      {event.request, event.op, event.fua, event.lba, event.sectors, event.bytes_at, ordinal, {}});
  return waiting_.emplace(event.request, PendingRequest{false, writes_.size() - 1}).second;
}

void DeviceWrites::finish() {
  waiting_ = {};
  writes_.shrink_to_fit();
}

std::size_t DeviceWrites::submitted_before(std::uint64_t event) const {
  return static_cast<std::size_t>(std::partition_point(writes_.begin(), writes_.end(),
                                                       [&](const RecordedWrite& write) {
                                                         return write.submitted_event < event;
                                                       }) -
                                  writes_.begin());
}

std::uint64_t DeviceWrites::horizon(std::uint64_t event,
                                    std::optional<model::RequestId> lies_from) const {
  auto flush =
      std::partition_point(flushes_.begin(), flushes_.end(),
                           [&](const RecordedFlush& one) { return one.submitted_event < event; });
  while (flush != flushes_.begin()) {
    --flush;
    if (flush->acked_event && *flush->acked_event < event &&
        (!lies_from || flush->request < *lies_from))
      return flush->submitted_event;
  }
  return 0;
}

bool DeviceWrites::durable(const RecordedWrite& write, std::uint64_t event, std::uint64_t horizon,
                           std::optional<model::RequestId> lies_from) {
  if (!write.acked_event) return false;
  if (*write.acked_event < horizon) return true;
  return write.fua && *write.acked_event < event && (!lies_from || write.request < *lies_from);
}

std::vector<std::size_t> DeviceWrites::unflushed_at(
    std::size_t first, std::uint64_t event, std::optional<model::RequestId> lies_from) const {
  std::vector<std::size_t> unflushed;
  const std::uint64_t covered = horizon(event, lies_from);
  for (const std::size_t end = submitted_before(event); first < end; ++first)
    if (!durable(writes_[first], event, covered, lies_from)) unflushed.push_back(first);
  return unflushed;
}

WritePrefixes::WritePrefixes(ExtentIndex start, const StateImage* base,
                             const std::vector<RecordedWrite>* writes, std::size_t first,
                             std::size_t end, bool used_disk)
    : base_(base),
      writes_(writes),
      first_(first),
      between_(std::max(kWritesBetweenMin, (end - first) / kKeptMax + 1)),
      used_disk_(used_disk) {
  kept_.push_back(start);
  for (std::size_t i = first; i < end; ++i) {
    if (i != first && (i - first) % between_ == 0) kept_.push_back(start);
    apply(start, (*writes_)[i], 0, (*writes_)[i].sectors);
  }
}

void WritePrefixes::apply_zeroes(ExtentIndex& index, std::uint64_t lba,
                                 std::uint64_t sectors) const {
  if (used_disk_) return index.assign(lba, sectors, ExtentLocation::zeroes());
  // Assigns zeroes only where there are contents, because trimming a whole empty disk must not fill
  // the index.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  const auto add = [&](std::uint64_t from, std::uint64_t count) {
    ranges.emplace_back(from, count);
  };
  index.visit(lba, sectors,
              [&](std::uint64_t from, std::uint64_t count, ExtentLocation) { add(from, count); });
  if (base_ != nullptr) base_->visit_written(lba, sectors, add);
  for (const auto& [from, count] : ranges) index.assign(from, count, ExtentLocation::zeroes());
}

void WritePrefixes::apply(ExtentIndex& index, const RecordedWrite& write, std::uint32_t first,
                          std::uint32_t count) const {
  if (count == 0) return;
  const ExtentLocation where = where_of(write);
  if (where.is_zeroes()) return apply_zeroes(index, write.lba + first, count);
  index.assign(write.lba + first, count, where.after(first));
}

ExtentIndex WritePrefixes::after(std::size_t end, std::span<const Change> changes) const {
  const std::size_t from = changes.empty() ? end : std::min(end, changes.front().write);
  const std::size_t nearest = std::min((from - first_) / between_, kept_.size() - 1);
  ExtentIndex index = kept_[nearest];
  auto change = changes.begin();
  for (std::size_t i = first_ + nearest * between_; i < end; ++i) {
    const RecordedWrite& write = (*writes_)[i];
    if (change != changes.end() && change->write == i) {
      apply(index, write, change->first, change->count);
      ++change;
    } else {
      apply(index, write, 0, write.sectors);
    }
  }
  return index;
}

}  // namespace headcrash::states
