// Sources of sectors, and the copying of those that differ (state_disk.h).
#include "harness/lab/in_process/state_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plugin/model/invariant.h"

namespace headcrash::in_process {
namespace {

using model::kSectorBytes;

}  // namespace

StateDisk::StateDisk(std::span<const std::byte> base)
    : base_(base),
      current_(base.begin(), base.end()),
      source_(base.size() / kSectorBytes, kBase),
      wanted_(base.size() / kSectorBytes, kBase) {}

Result<void> StateDisk::read(std::uint64_t lba, std::span<std::byte> into) const {
  const std::uint64_t count = into.size() / kSectorBytes;
  if (lba > sectors() || count > sectors() - lba)
    return fail("state", fmt::format("sectors {} to {} are beyond its end", lba, lba + count));
  std::memcpy(into.data(), current_.data() + lba * kSectorBytes, into.size());
  return {};
}

Result<void> StateDisk::touch(std::uint64_t lba, std::uint64_t count) {
  if (lba > sectors() || count > sectors() - lba)
    return fail("state", fmt::format("sectors {} to {} are beyond its end", lba, lba + count));
  for (std::uint64_t sector = lba; sector < lba + count; ++sector) {
    if (source_[sector] == kChanged) continue;
    source_[sector] = kChanged;
    changed_.push_back(static_cast<std::uint32_t>(sector));
  }
  return {};
}

Result<void> StateDisk::write(std::uint64_t lba, std::span<const std::byte> data) {
  if (auto touched = touch(lba, data.size() / kSectorBytes); !touched) return touched;
  std::memcpy(current_.data() + lba * kSectorBytes, data.data(), data.size());
  return {};
}

Result<void> StateDisk::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  if (auto touched = touch(lba, count); !touched) return touched;
  std::memset(current_.data() + lba * kSectorBytes, 0, count * kSectorBytes);
  return {};
}

void StateDisk::put(std::uint64_t sector, std::uint32_t source) {
  if (source_[sector] == source) return;
  source_[sector] = source;
  const std::byte* from = base_.data() + sector * kSectorBytes;
  if (source != kBase) {
    const states::RecordedWrite& write = run_->writes(0)[source - 1];
    from = payloads_.data() + payload_at_[source - 1] + (sector - write.lba) * kSectorBytes;
  }
  std::memcpy(current_.data() + sector * kSectorBytes, from, kSectorBytes);
}

void StateDisk::show_base() {
  for (const std::uint32_t sector : touched_) put(sector, kBase);
  for (const std::uint32_t sector : changed_) put(sector, kBase);
  changed_.clear();
}

Result<void> StateDisk::begin_run(std::shared_ptr<const states::RunHistory> run) {
  show_base();
  run_ = std::move(run);
  payloads_.clear();
  payload_at_.clear();
  touched_.clear();
  const auto& writes = run_->writes(0);
  std::size_t bytes = 0;
  for (const states::RecordedWrite& write : writes) {
    payload_at_.push_back(bytes);
    bytes += std::size_t{write.sectors} * kSectorBytes;
  }
  payloads_.resize(bytes);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    model::invariant(writes[i].op == model::Op::write && writes[i].lba + writes[i].sectors <= sectors(),
                     "the lab's recordings consist of writes inside the disk");
    const auto into =
        std::span(payloads_).subspan(payload_at_[i], std::size_t{writes[i].sectors} * kSectorBytes);
    if (auto read = run_->read_payload(writes[i], 0, into); !read) return read;
    for (std::uint64_t sector = writes[i].lba; sector < writes[i].lba + writes[i].sectors; ++sector) {
      if (std::exchange(wanted_[sector], 1U) == kBase) touched_.push_back(static_cast<std::uint32_t>(sector));
    }
  }
  for (const std::uint32_t sector : touched_) wanted_[sector] = kBase;
  std::sort(touched_.begin(), touched_.end());
  return {};
}

void StateDisk::want(std::size_t write, std::uint32_t first, std::uint32_t count) {
  const std::uint64_t lba = run_->writes(0)[write].lba + first;
  std::fill_n(wanted_.begin() + static_cast<std::ptrdiff_t>(lba), count,
              static_cast<std::uint32_t>(write + 1));
}

void StateDisk::show(const states::CrashState& state) {
  model::invariant(run_ != nullptr && state.base == states::CrashState::Base::writes && state.device == 0,
                   "only states by writes can be shown");
  const auto& writes = run_->writes(0);
  const auto loose = run_->loose_at(0, state.event, state.lies_from);
  auto next_loose = loose.begin();
  auto torn = state.torn.begin();
  for (std::size_t i = 0; i < writes.size() && writes[i].submitted_event < state.event; ++i) {
    const states::RecordedWrite& write = writes[i];
    if (next_loose == loose.end() || *next_loose != i) {
      want(i, 0, write.sectors);
      continue;
    }
    ++next_loose;
    while (torn != state.torn.end() && torn->request < write.request) ++torn;
    if (torn != state.torn.end() && torn->request == write.request) {
      want(i, torn->first, torn->count);
    } else if (std::binary_search(state.listed.begin(), state.listed.end(), write.request) !=
               state.keep_others) {
      want(i, 0, write.sectors);
    }
  }
  for (const std::uint32_t sector : touched_) put(sector, std::exchange(wanted_[sector], kBase));
  // What was changed outside of the run's sectors; those inside have been put right just now.
  for (const std::uint32_t sector : changed_)
    if (source_[sector] == kChanged) put(sector, kBase);
  changed_.clear();
}

}  // namespace headcrash::in_process
