// The in-memory disk with a constant latency (memory_disk.h).
#include "fs-adapters/substrate/os/memory_disk.h"

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::os {

void MemoryDisk::start(const BlockRequest& request, BlockDone& done) {
  commands_.push_back({request, &done, !on_});
  simulation_.schedule(simulation_.now() + latency_ns_, *this, 0);
}

void MemoryDisk::power_cut() {
  on_ = false;
  cached_.clear();
  for (Command& command : commands_) command.lost = true;
}

void MemoryDisk::on_event(std::uint64_t /*tag*/) {
  const Command command = commands_.front();
  commands_.pop_front();
  command.done->done(command.lost ? model::Status::power_lost : serve(command.request));
}

model::Status MemoryDisk::serve(const BlockRequest& request) {
  using model::Op;
  // Only requests to the first device are checked here. For other devices, the store checks the
  // bounds.
  const bool is_first = device_of(request.lba) == 0;
  if (is_first && (request.lba > sectors() || request.sectors > sectors() - request.lba))
    return model::Status::out_of_range;
  Result<void> result;
  if (request.op == Op::read) result = read(request);
  if (request.op == Op::flush) result = flush(device_of(request.lba));
  if (request.op == Op::write || request.op == Op::trim || request.op == Op::write_zeroes)
    result = write_through(request);
  return result ? model::Status::ok : model::Status::store_error;
}

void MemoryDisk::write_cache(bool on) {
  invariant(on || cached_.empty(), "the write cache was switched off while it held data");
  has_cache_ = on;
}

/// Executes a write, a trim or a write of zeroes. If the write cache is on, written data goes only
/// to the cache, but trimmed sectors are also zeroed in the store.
Result<void> MemoryDisk::write_through(const BlockRequest& request) {
  if (request.op != model::Op::write) {
    cached_.erase(cached_.lower_bound(request.lba),
                  cached_.lower_bound(request.lba + request.sectors));
    return store_.write_zeroes(request.lba, request.sectors);
  }
  if (request.data.empty()) return {};
  if (!has_cache_) return store_.write(request.lba, request.data);
  for (std::uint32_t s = 0; s < request.sectors; ++s) {
    const auto from =
        request.data.subspan(std::size_t{s} * model::kSectorBytes, model::kSectorBytes);
    std::copy(from.begin(), from.end(), cached_[request.lba + s].begin());
  }
  return {};
}

Result<void> MemoryDisk::read(const BlockRequest& request) const {
  if (request.into.empty()) return {};
  TRY(store_.read(request.lba, request.into));
  for (auto it = cached_.lower_bound(request.lba);
       it != cached_.end() && it->first < request.lba + request.sectors; ++it) {
    const auto offset = static_cast<std::size_t>(it->first - request.lba) * model::kSectorBytes;
    std::copy(it->second.begin(), it->second.end(), request.into.subspan(offset).begin());
  }
  return {};
}

Result<void> MemoryDisk::flush(std::size_t device) {
  const auto first = cached_.lower_bound(device_address(device, 0));
  const auto last = cached_.lower_bound(device_address(device + 1, 0));
  for (auto one = first; one != last; ++one) TRY(store_.write(one->first, one->second));
  cached_.erase(first, last);
  return {};
}

}  // namespace headcrash::os
