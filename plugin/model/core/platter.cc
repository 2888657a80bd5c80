// Writes and reads the medium's bytes, tears sectors at a power cut, and applies write faults.
//
// A physical sector is written from its first byte on. If the power is cut in the middle, a prefix
// of the sector is new and the remaining bytes are old:
//
//   extents      |....passed....|..under the head..|....never written....|
//   new                         |new bytes|old bytes|                       Tear::silent
//                               |   medium_error    |                       Tear::unreadable
//
// A real drive would detect a wrong checksum and fail the read, which a file system notices. The
// silent mix is harder for a file system and is the default. No frequencies are published: the
// shares in Tear are estimates. A drive that writes part of a physical sector first reads the
// sector and then writes the whole of it. An unreadable physical sector therefore includes logical
// sectors that were not being written.
//
// Lengths and choices are determined by the seed (splitmix64), so equal seeds tear sectors equally.
// A write that a power cut interrupts is never subject to a write fault.
#include "plugin/model/core/platter.h"

#include <algorithm>

namespace headcrash::model {

Platter::Platter(const PlatterOptions& options)
    : store_(options.store),
      observer_(options.observer),
      device_(options.device),
      random_(options.seed ^ (std::uint64_t{options.device} << 48)),
      sectors_(options.sectors),
      physical_sectors_(options.physical_sectors),
      faults_(options.faults),
      tear_(options.tear) {}

void Platter::heal(std::uint64_t lba, std::uint32_t sectors) {
  if (faults_ != nullptr && faults_->any()) faults_->written(lba, sectors);
}

// ---- writing

void Platter::put(TimeNs at, const Extent& extent) {
  if (extent.sectors == 0) return;
  if (moves_bytes(extent)) {
    failed_ |= !(extent.zeroes ? store_->write_zeroes(extent.lba, extent.sectors)
                               : store_->write(extent.lba, extent.bytes))
                    .has_value();
  }
  heal(extent.lba, extent.sectors);
  sectors_written_ += extent.sectors;
  observer_.media_written(
      device_, at,
      {extent.source, extent.lba, extent.sectors, MediaWrite::Outcome::written, extent.bytes});
}

/// Stores `bytes` in the sectors of `extent` and ignores the extent's own bytes. Reports `outcome`
/// and `bytes` to the observer.
void Platter::store_changed(TimeNs at, const Extent& extent, MediaWrite::Outcome outcome,
                            std::span<const std::byte> bytes) {
  if (!bytes.empty()) failed_ |= !store_->write(extent.lba, bytes).has_value();
  if (outcome == MediaWrite::Outcome::unreadable) {
    faults_->make_unreadable(extent.lba, extent.sectors);
  } else {
    heal(extent.lba, extent.sectors);
  }
  sectors_written_ += extent.sectors;
  observer_.media_written(device_, at, {extent.source, extent.lba, extent.sectors, outcome, bytes});
}

void Platter::write(TimeNs at, std::span<const Extent> extents) {
  for (const Extent& extent : extents) {
    if (faults_ != nullptr && faults_->any()) {
      if (const auto fault = faults_->next_write(extent.lba, extent.sectors)) {
        store_faulty(at, extent, *fault);
        continue;
      }
    }
    put(at, extent);
  }
}

void Platter::trim(TimeNs at, const Extent& extent) {
  put(at, extent);
  sectors_written_ -= extent.sectors;
}

// ---- faults

void Platter::store_faulty(TimeNs at, const Extent& extent, const WriteFault& fault) {
  switch (fault.kind) {
    case FaultKind::torn_write: {
      const std::uint64_t last = extent.end() - 1;
      const std::uint64_t torn_begin = std::max(extent.lba, last - last % physical_sectors_);
      const std::uint64_t torn_bytes = (extent.end() - torn_begin) * kSectorBytes;
      put(at, extent.slice(extent.lba, torn_begin));
      tear(at, extent.slice(torn_begin, extent.end()), 1 + fault.random % (torn_bytes - 1),
           MediaWrite::Outcome::torn);
      break;
    }
    case FaultKind::misdirected_write: {
      const std::uint64_t room = fault.to_lba < sectors_ ? sectors_ - fault.to_lba : 0;
      Extent strayed =
          extent.slice(extent.lba, extent.lba + std::min<std::uint64_t>(extent.sectors, room));
      strayed.lba = fault.to_lba;
      if (strayed.sectors == 0) break;
      if (strayed.zeroes && store_ != nullptr)
        failed_ |= !store_->write_zeroes(strayed.lba, strayed.sectors).has_value();
      const auto bytes = store_ != nullptr ? strayed.bytes : std::span<const std::byte>();
      store_changed(at, strayed, MediaWrite::Outcome::misdirected, bytes);
      break;
    }
    case FaultKind::corrupted_write:
      store_corrupted(at, extent, fault);
      break;
    default:  // lost_write: the drive reports success
      break;
  }
}

/// Stores the data of the write, but with up to eight changed bytes in one sector of the fault's
/// range.
void Platter::store_corrupted(TimeNs at, const Extent& extent, const WriteFault& fault) {
  constexpr std::uint64_t kChangedBytesMax = 8;
  Random random(fault.random);
  const std::uint64_t sector = fault.lba + random.below(fault.sectors);
  const Extent bad = extent.slice(sector, sector + 1);
  put(at, extent.slice(extent.lba, sector));
  changed_.clear();
  if (moves_bytes(bad)) {
    changed_.assign(kSectorBytes, std::byte{0});
    std::copy(bad.bytes.begin(), bad.bytes.end(), changed_.begin());
    const std::uint64_t first = random.below(kSectorBytes - kChangedBytesMax + 1);
    const std::uint64_t count = 1 + random.below(kChangedBytesMax);
    for (std::uint64_t i = 0; i < count; ++i)
      changed_[first + i] ^= static_cast<std::byte>(1 + random.below(255));
  }
  store_changed(at, bad, MediaWrite::Outcome::corrupted, changed_);
  put(at, extent.slice(sector + 1, extent.end()));
}

// ---- power

Platter::Left Platter::draw_left() {
  const std::uint64_t eighth = random_.below(8);
  // Without a DeviceFaults object, a sector cannot be marked as unreadable, so it is torn silently.
  const Tear tear = faults_ == nullptr ? Tear::silent : tear_;
  switch (tear) {
    case Tear::silent:
      return eighth == 0 ? Left::old_bytes : eighth == 1 ? Left::new_bytes : Left::mix;
    case Tear::any:
      return static_cast<Left>(eighth / 2);
    case Tear::unreadable:
      break;
  }
  return Left::unreadable;
}

void Platter::write_cut_short(TimeNs at, std::span<const Extent> extents, std::uint64_t passed,
                              bool under_head) {
  if (extents.empty()) return;
  const std::uint64_t start = extents.front().lba;
  const std::uint64_t end = extents.back().end();
  const std::uint64_t head_at = start + passed;
  const std::uint64_t physical_begin = head_at - head_at % physical_sectors_;
  const std::uint64_t torn_begin = std::max(start, physical_begin);
  const bool begun = under_head || torn_begin < head_at;
  const std::uint64_t physical_end = std::min(physical_begin + physical_sectors_, sectors_);
  const std::uint64_t torn_end = begun ? std::min(end, physical_end) : torn_begin;
  const std::uint64_t torn_bytes = (torn_end - torn_begin) * kSectorBytes;
  const Left left = torn_bytes > 0 ? draw_left() : Left::old_bytes;
  const std::uint64_t new_bytes = torn_bytes > 0 ? 1 + random_.below(torn_bytes - 1) : 0;

  for (const Extent& extent : extents) {
    if (extent.lba < torn_begin)
      put(at, extent.slice(extent.lba, std::min(extent.end(), torn_begin)));
    const std::uint64_t from = std::max(extent.lba, torn_begin);
    const std::uint64_t to = std::min(extent.end(), torn_end);
    if (from >= to || left == Left::old_bytes) continue;
    if (left == Left::new_bytes) {
      put(at, extent.slice(from, to));
      continue;
    }
    const std::uint64_t before = (from - torn_begin) * kSectorBytes;
    tear(at, extent.slice(from, to), new_bytes > before ? new_bytes - before : 0,
         left == Left::mix ? MediaWrite::Outcome::torn : MediaWrite::Outcome::unreadable);
    if (left == Left::mix) continue;
    if (from == torn_begin) spoil_neighbours(at, extent.source, physical_begin, torn_begin);
    if (to == torn_end) spoil_neighbours(at, extent.source, torn_end, physical_end);
  }
}

/// Writes the first `new_bytes` bytes of the extent; the remaining bytes stay unchanged.
void Platter::tear(TimeNs at, const Extent& extent, std::uint64_t new_bytes,
                   MediaWrite::Outcome outcome) {
  changed_.clear();
  if (moves_bytes(extent)) {
    changed_.resize(std::size_t{extent.sectors} * kSectorBytes);
    failed_ |= !store_->read(extent.lba, changed_).has_value();
    const auto fresh = std::span(changed_).first(std::min<std::size_t>(new_bytes, changed_.size()));
    if (extent.zeroes) {
      std::fill(fresh.begin(), fresh.end(), std::byte{0});
    } else {
      std::copy_n(extent.bytes.begin(), fresh.size(), fresh.begin());
    }
  }
  store_changed(at, extent, outcome, changed_);
}

/// If part of a physical sector has become unreadable, makes the rest of it unreadable as well,
/// although the rest was not being written.
void Platter::spoil_neighbours(TimeNs at, RequestId source, std::uint64_t begin,
                               std::uint64_t end) {
  if (begin >= end) return;
  Extent rest;
  rest.lba = begin;
  rest.sectors = static_cast<std::uint32_t>(end - begin);
  rest.source = source;
  changed_.clear();
  if (store_ != nullptr) {
    changed_.resize(std::size_t{rest.sectors} * kSectorBytes);
    failed_ |= !store_->read(begin, changed_).has_value();
  }
  store_changed(at, rest, MediaWrite::Outcome::unreadable, changed_);
}

// ---- reading

std::optional<std::uint64_t> Platter::read(std::uint64_t lba, std::uint32_t sectors,
                                           std::span<std::byte> into,
                                           const std::function<bool(std::uint64_t)>& cached) {
  if (faults_ != nullptr && faults_->any()) {
    if (const auto bad = faults_->unreadable(lba, sectors, cached)) return bad;
  }
  if (store_ != nullptr && !into.empty()) failed_ |= !store_->read(lba, into).has_value();
  return std::nullopt;
}

}  // namespace headcrash::model
