// Logs an update before it is written in place, and rolls complete updates forward at power-on.
// prewrite_log.h describes the format.
//
//   small write, 6 commands   read old data, old parity | log data, log parity -> answer |
//                             write data, parity to their home locations
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "plugin/base/crc32c.h"
#include "plugin/model/array/array_controller.h"

namespace headcrash::model {
namespace {

constexpr std::uint32_t kLogReadSectors = 2048;

}  // namespace

/// Writes an update to the log. Fails if the lost members, including those lost during the call,
/// exceed the array's redundancy.
Task ArrayController::log_update(const LogParts& parts, std::uint64_t stripe,
                                 std::uint64_t& sequence, Breakdown& breakdown) {
  std::array<std::uint32_t, kArrayMembersMax> sectors{};
  std::uint64_t mask = 0;
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    sectors[m] = parts[m].sectors;
    if (sectors[m] > 0) mask |= 1ULL << m;
  }
  auto place = log_.reserve(mask, std::span(sectors.data(), layout.members));
  while (!place) {
    if (log_.needs_durable_tail()) {
      // Superblocks contain the log's tail, so this write also makes the current tail durable.
      if (metadata_settled()) write_metadata_soon();
      co_await settle_metadata();
    } else {
      co_await Wait{log_waiters_};
    }
    place = log_.reserve(mask, std::span(sectors.data(), layout.members));
  }
  sequence = place->sequence;
  ++array_counters.prewrites;
  const std::uint64_t tail = log_.tail();
  const std::uint32_t header_sectors = log_.header_sectors();
  const std::size_t header_bytes = std::size_t{header_sectors} * kSectorBytes;
  std::array<AlignedBuffer, kArrayMembersMax> records;
  Batch batch(commands_);
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (sectors[m] == 0 || states_[m] == MemberState::failed) continue;
    if (bytes_) {
      const std::span payload(parts[m].bytes, std::size_t{sectors[m]} * kSectorBytes);
      records[m] = take_buffer(header_sectors + sectors[m]);
      std::memset(records[m].data(), 0, header_bytes);
      std::memcpy(records[m].data() + header_bytes, payload.data(), payload.size());
      const PrewriteHeader header{array_id_,  sequence, tail,         mask,           parts[m].home,
                                  sectors[m], m,        place->at[m], crc32c(payload)};
      header.encode({records[m].data(), kSectorBytes});
    }
    batch.write(m, place->at[m], header_sectors + sectors[m], records[m].data(), volatile_);
  }
  co_await batch;
  breakdown = sum_of(breakdown, batch.breakdown);
  if (batch.store_error) co_return Status::store_error;
  members_failed(batch.dead);
  if (!metadata_settled()) co_await settle_metadata();
  log_.tail_durable(tail);
  runner_.wake_all(log_waiters_);
  co_return write_outcome(batch, stripe);
}

void ArrayController::update_is_home(std::uint64_t sequence) {
  log_.home(sequence);
  runner_.wake_all(log_waiters_);
}

// ---- power-on

/// Reads a member's whole log area. Lists the sectors that the last cut tore and made unreadable.
/// The caller must not treat these sectors as zeroes: a record whose payload is zeroes would then
/// seem intact.
Task ArrayController::read_log(std::uint32_t member, std::byte* bytes,
                               std::vector<bool>& unreadable) {
  const std::uint64_t first = kSuperblockSectors * kSuperblockSlots;
  for (std::uint32_t at = 0; at < profile.prewrite_sectors; at += kLogReadSectors) {
    const std::uint32_t sectors = std::min(kLogReadSectors, profile.prewrite_sectors - at);
    Batch batch(commands_);
    batch.read(member, first + at, sectors, bytes + std::size_t{at} * kSectorBytes);
    co_await batch;
    members_failed(batch.dead);
    if (batch.store_error) co_return Status::store_error;
    if (batch.dead != 0) co_return Status::device_failed;
    for (std::uint32_t s = 0; s < sectors && batch.unreadable != 0; s += align_) {
      std::byte* const into = bytes + std::size_t{at + s} * kSectorBytes;
      const std::uint32_t length = std::min(align_, sectors - s);
      Batch one(commands_);
      one.read(member, first + at + s, length, into);
      co_await one;
      if (one.store_error) co_return Status::store_error;
      for (std::uint32_t i = 0; i < length && one.failed(); ++i) unreadable[at + s + i] = true;
    }
  }
  co_return Status::ok;
}

Task ArrayController::scan_log(std::uint32_t member, FoundUpdates& found, std::uint64_t& tail) {
  AlignedBuffer area = take_buffer(profile.prewrite_sectors);
  std::vector<bool> unreadable(profile.prewrite_sectors, false);
  const Status status = co_await read_log(member, area.data(), unreadable);
  if (status != Status::ok) co_return status;
  for (std::uint64_t at = 0; at < profile.prewrite_sectors; ++at) {
    if (unreadable[at]) continue;
    const auto header = PrewriteHeader::decode({area.data() + at * kSectorBytes, kSectorBytes});
    const std::uint64_t lba = kSuperblockSectors * kSuperblockSlots + at;
    if (!header || header->array_id != array_id_ || header->member != member || header->at != lba)
      continue;
    tail = std::max(tail, header->tail);
    FoundUpdate& update = found[header->sequence];
    update.parts |= header->parts;
    update.seen |= 1ULL << member;
    update.records[member] = *header;
    const std::uint64_t payload = at + align_;
    if (payload + header->sectors > profile.prewrite_sectors) continue;
    const auto begin = unreadable.begin() + static_cast<std::ptrdiff_t>(payload);
    if (std::find(begin, begin + header->sectors, true) != begin + header->sectors) continue;
    if (crc32c({area.data() + payload * kSectorBytes,
                std::size_t{header->sectors} * kSectorBytes}) == header->payload_crc)
      update.whole |= 1ULL << member;
  }
  co_return Status::ok;
}

/// Returns the first stripe of an update. The update is complete if each of its members that is
/// alive for this stripe has an intact record.
std::uint64_t ArrayController::stripe_of(const FoundUpdate& update) const {
  const PrewriteHeader& record =
      update.records[static_cast<std::size_t>(std::countr_zero(update.seen))];
  return record.home < layout.data_first ? 0 : (record.home - layout.data_first) / layout.unit;
}

/// Writes an update to its home location on all members. If a member's record has become
/// unreadable, the member keeps its old bytes and counts as failed; its data can be reconstructed
/// from the other members.
Task ArrayController::write_home(const FoundUpdate& update) {
  std::array<AlignedBuffer, kArrayMembersMax> buffers;
  Batch reads(commands_);
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if ((update.whole >> m & 1) == 0 || !alive(m, stripe_of(update))) continue;
    buffers[m] = take_buffer(update.records[m].sectors);
    reads.read(m, update.records[m].at + align_, update.records[m].sectors, buffers[m].data());
  }
  co_await reads;
  if (reads.store_error) co_return Status::store_error;
  members_failed(reads.dead | reads.unreadable);
  Batch writes(commands_);
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (buffers[m].data() == nullptr || states_[m] == MemberState::failed) continue;
    writes.write(m, update.records[m].home, update.records[m].sectors, buffers[m].data(),
                 volatile_);
  }
  co_await writes;
  members_failed(writes.dead);
  co_return writes.store_error ? Status::store_error : Status::ok;
}

Task ArrayController::roll_forward() {
  std::uint64_t rolled = 0;
  std::uint64_t next = log_.tail();
  if (bytes_) {
    FoundUpdates found;
    std::uint64_t tail = adopted_tail_;
    for (std::uint32_t m = 0; m < layout.members; ++m) {
      const Status status = alive(m, 0) ? co_await scan_log(m, found, tail) : Status::ok;
      if (status == Status::store_error) co_return status;
    }
    for (const auto& [sequence, update] : found) {
      next = std::max(next, sequence + 1);
      if (sequence < tail || (update.parts & alive_members(stripe_of(update)) & ~update.whole) != 0)
        continue;
      const Status status = co_await write_home(update);
      if (status == Status::store_error) co_return status;
      ++rolled;
    }
  } else {
    rolled = log_.live();
    next = log_.next_sequence();
  }
  array_counters.rolled_forward += rolled;
  log_.open(layout.members, kSuperblockSectors * kSuperblockSlots, profile.prewrite_sectors, align_,
            next);
  before_roll_forward_ = false;
  write_metadata_soon();  // stores the new tail before new records overwrite old ones
  co_await settle_metadata();
  incident(fmt::format("{} prewrites were rolled forward", rolled));
  co_return Status::ok;
}

}  // namespace headcrash::model
