// Keeps track of each sector's source, and copies the sectors whose source changes (state_disk.h).
#include "harness/explorer/in_process/state_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plugin/base/invariant.h"
#include "plugin/states/digest.h"

namespace headcrash::in_process {
namespace {

using model::kSectorBytes;

void digest_sectors(std::uint64_t lba, std::span<const std::byte> bytes, std::uint64_t* into) {
  for (std::size_t at = 0; at < bytes.size(); at += kSectorBytes)
    *into++ = states::digest_sum(lba++, bytes.subspan(at, kSectorBytes));
}

}  // namespace

std::vector<std::uint64_t> sector_digests(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> digests(bytes.size() / kSectorBytes);
  digest_sectors(0, bytes, digests.data());
  return digests;
}

StateDisk::StateDisk(std::span<const std::byte> base, std::uint64_t log_at)
    : StateDisk(base, log_at, sector_digests(base)) {}

StateDisk::StateDisk(const FormattedDisk& disk)
    : StateDisk(disk.bytes, disk.log_at, disk.digests) {}

StateDisk::StateDisk(std::span<const std::byte> base, std::uint64_t log_at,
                     std::vector<std::uint64_t> digests)
    : base_(base),
      log_at_(log_at),
      current_(base.begin(), base.end()),
      base_digests_(std::move(digests)),
      digests_(base_digests_),
      source_(base.size() / kSectorBytes, kBase),
      wanted_(base.size() / kSectorBytes, kBase) {}

/// Converts a driver address to a sector number. Fails if the range is not on the device.
Result<std::uint64_t> StateDisk::place(std::uint64_t address, std::uint64_t count) const {
  const std::size_t device = os::device_of(address);
  const std::uint64_t sector = address & os::kSectorMask;
  const std::uint64_t end = device == 0 ? sectors() : device == 1 ? second_sectors() : 0;
  if (sector <= end && count <= end - sector) return sector_of(address);
  return fail("state", fmt::format("sectors {} to {} extend beyond the end of device {}", sector,
                                   sector + count, device));
}

Result<void> StateDisk::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(const auto at, place(lba, into.size() / kSectorBytes));
  note(at, into.size() / kSectorBytes);
  std::memcpy(into.data(), current_.data() + at * kSectorBytes, into.size());
  return {};
}

std::span<const std::byte> StateDisk::content(std::uint64_t sector, std::size_t bytes) const {
  note(sector, (bytes + kSectorBytes - 1) / kSectorBytes);
  return std::span(current_).subspan(sector * kSectorBytes, bytes);
}

model::SectorDigests StateDisk::digests() const {
  return {digests_, step_};
}

void StateDisk::note(std::uint64_t sector, std::uint64_t count) const {
  if (step_ == nullptr) return;
  for (const std::uint64_t end = sector + count; sector < end; ++sector)
    step_->add(sector, digests_[sector]);
}

void StateDisk::set_digest(std::uint64_t sector, std::uint64_t digest) {
  for (model::ReadSectors* step : watched_) step->change(sector, digests_[sector], digest);
  digests_[sector] = digest;
}

void StateDisk::begin_step(model::ReadSectors& step) {
  step_ = &step;
  written_.clear();
}

void StateDisk::mark_changed(std::uint64_t sector) {
  if (step_ != nullptr) written_.push_back(static_cast<std::uint32_t>(sector));
  if (std::exchange(source_[sector], kChanged) == kChanged) return;
  changed_.push_back(static_cast<std::uint32_t>(sector));
}

void StateDisk::changed(std::uint64_t lba, std::uint64_t count) {
  for (std::uint64_t sector = lba; sector < lba + count; ++sector) {
    const auto one = bytes().subspan(sector * kSectorBytes, kSectorBytes);
    set_digest(sector, states::digest_sum(sector, one));
    mark_changed(sector);
  }
}

void StateDisk::write_known(std::uint32_t sector, std::span<const std::byte> bytes,
                            std::uint64_t digest) {
  std::memcpy(current_.data() + std::size_t{sector} * kSectorBytes, bytes.data(), kSectorBytes);
  set_digest(sector, digest);
  mark_changed(sector);
}

Result<void> StateDisk::write(std::uint64_t lba, std::span<const std::byte> data) {
  TRY(const auto at, place(lba, data.size() / kSectorBytes));
  std::memcpy(current_.data() + at * kSectorBytes, data.data(), data.size());
  changed(at, data.size() / kSectorBytes);
  return {};
}

Result<void> StateDisk::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  TRY(const auto at, place(lba, count));
  std::memset(current_.data() + at * kSectorBytes, 0, count * kSectorBytes);
  changed(at, count);
  return {};
}

void StateDisk::put(std::uint64_t sector, std::uint32_t source) {
  if (source_[sector] == source) return;
  source_[sector] = source;
  const std::byte* from = base_.data() + sector * kSectorBytes;
  std::uint64_t digest = base_digests_[sector];
  if (source != kBase) {
    const std::size_t at =
        payload_at_[source - 1] + (sector - run_->writes(0)[source - 1].lba) * kSectorBytes;
    from = payloads_.data() + at;
    digest = payload_digests_[at / kSectorBytes];
  }
  set_digest(sector, digest);
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
  payload_digests_.resize(bytes / kSectorBytes);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    invariant(
        writes[i].op == model::Op::write && writes[i].lba + writes[i].sectors <= all_sectors(),
        "a recording of the in-process lab must contain only writes within the disk");
    const auto into =
        std::span(payloads_).subspan(payload_at_[i], std::size_t{writes[i].sectors} * kSectorBytes);
    TRY(run_->read_payload(writes[i], 0, into));
    digest_sectors(writes[i].lba, into, payload_digests_.data() + payload_at_[i] / kSectorBytes);
    for (std::uint64_t sector = writes[i].lba; sector < writes[i].lba + writes[i].sectors;
         ++sector) {
      if (std::exchange(wanted_[sector], 1U) == kBase)
        touched_.push_back(static_cast<std::uint32_t>(sector));
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
  invariant(run_ != nullptr && state.base == states::CrashState::Base::writes && state.device == 0,
            "a state must be based on writes to be shown");
  const auto& writes = run_->writes(0);
  const auto unflushed = run_->unflushed_at(0, state.event, state.lies_from);
  auto next_unflushed = unflushed.begin();
  auto torn = state.torn.begin();
  for (std::size_t i = 0; i < writes.size() && writes[i].submitted_event < state.event; ++i) {
    const states::RecordedWrite& write = writes[i];
    if (next_unflushed == unflushed.end() || *next_unflushed != i) {
      want(i, 0, write.sectors);
      continue;
    }
    ++next_unflushed;
    while (torn != state.torn.end() && torn->request < write.request) ++torn;
    if (torn != state.torn.end() && torn->request == write.request) {
      want(i, torn->first, torn->count);
    } else if (std::binary_search(state.listed.begin(), state.listed.end(), write.request) !=
               state.keep_others) {
      want(i, 0, write.sectors);
    }
  }
  for (const std::uint32_t sector : touched_) put(sector, std::exchange(wanted_[sector], kBase));
  // The sectors that the run writes have been restored above. Restore the other sectors that the
  // disk's user has changed.
  for (const std::uint32_t sector : changed_)
    if (source_[sector] == kChanged) put(sector, kBase);
  changed_.clear();
}

}  // namespace headcrash::in_process
