// Background work of an array: rebuild of a member, resync after an unclean stop, scrub.
//
// All three kinds of work process the stripes in chunks: they lock a chunk, read it from the
// members, compute, write corrections, and pause as required by their rate. Host requests run
// concurrently and interact with this work only through the stripe locks.
//
//   stripes  0 ......... rebuilt ............................. end
//            valid on  |  the member counts as failed here
//            new member  ^ current chunk, locked
//
// A rebuild records its progress in the superblocks after each 64th of the member (md: a
// sixteenth). If the member's cache is volatile, the member is flushed first. After a cut, the
// rebuild resumes at the recorded position:
//
//   0 ......... recorded ........ rebuilt .......... end     the part in between is rebuilt again
//
// A prewrite log is replayed onto the other members and onto the recorded part of the new one. If a
// write was in progress at the cut, an array with parity but without a log restarts its rebuild
// from the beginning: a resumed rebuild would not correct stripes that the cut left half updated. A
// mirror resumes its rebuild and then compares its copies.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "plugin/base/invariant.h"
#include "plugin/model/array/array_controller.h"
#include "plugin/model/array/parity.h"

namespace headcrash::model {
namespace {

// Length of a chunk on each member: 64 KiB, as in md's resync window.
constexpr std::uint32_t kChunkSectors = 128;
constexpr std::uint32_t kChunkTriesMax = 4;
constexpr std::uint64_t kNotesOfRebuild = 64;

}  // namespace

std::uint32_t ArrayController::chunk_stripes() const {
  return std::max<std::uint32_t>(1, kChunkSectors / layout.unit);
}

TimeNs ArrayController::chunk_ns(std::uint64_t sectors) const {
  if (rebuild_bytes_per_second == 0) return 0;
  return static_cast<TimeNs>(sectors * kSectorBytes * static_cast<std::uint64_t>(kSecondNs) /
                             rebuild_bytes_per_second);
}

void ArrayController::background_ended(const std::string& text) {
  background_ = Background::none;
  abort_background_ = false;
  incident(text);
}

Result<void> ArrayController::rebuild(std::size_t index) {
  if (index >= members.size())
    return fail(member_name(index), "no such member", "members are numbered from 0");
  if (layout.parity == 0) return fail(profile.name, "has no redundancy to rebuild a member from");
  if (states_[index] != MemberState::failed)
    return fail(member_name(index), "has not failed", "fail the member before you replace it");
  if (!intake_.powered() || !started_ || refusing_)
    return fail(profile.name, "does not serve requests", "start the array first");
  if (background_ != Background::none)
    return fail(profile.name, "already runs a " + status().background, "wait until it ends");
  if (broken()) return fail(profile.name, "has lost too many members for a rebuild");
  states_[index] = MemberState::rebuilding;
  noted_stripes_ = 0;
  incident(fmt::format("rebuild of member {} begins", index));
  rebuild_member(static_cast<std::uint32_t>(index), 0);
  runner_.drain_later();
  return {};
}

Result<void> ArrayController::scrub(bool repair_it) {
  if (layout.parity == 0) return fail(profile.name, "has no parity to check");
  if (!intake_.powered() || !started_ || refusing_)
    return fail(profile.name, "does not serve requests", "start the array first");
  if (background_ != Background::none)
    return fail(profile.name, "already runs a " + status().background, "wait until it ends");
  if (any_lost()) return fail(profile.name, "is degraded", "rebuild the failed member first");
  incident(repair_it ? "scrub with repair begins" : "scrub begins");
  check_stripes(Background::scrub, repair_it);
  runner_.drain_later();
  return {};
}

// ---- rebuild

/// Records the progress of a rebuild in the superblocks, after flushing the rebuilt stripes to the
/// medium. If host writes are still in a volatile cache, the array remains dirty, and a start after
/// a cut does not use the recorded progress.
Task ArrayController::note_progress(std::uint32_t member) {
  const std::uint64_t reached = rebuilt_stripes_;
  const std::uint64_t step =
      std::max<std::uint64_t>(chunk_stripes(), layout.stripes / kNotesOfRebuild);
  if (reached < noted_stripes_ + step || reached == layout.stripes) co_return Status::ok;
  if (volatile_) {
    Batch batch(commands_);
    batch.other(Op::flush, member, 0, 0, false);
    co_await batch;
    members_failed(batch.dead);
    if (batch.failed()) co_return batch.store_error ? Status::store_error : Status::device_failed;
  }
  noted_stripes_ = reached;
  write_metadata_soon();
  co_return Status::ok;
}

Detached ArrayController::rebuild_member(std::uint32_t member, std::uint64_t from) {
  invariant(background_ == Background::none && states_[member] == MemberState::rebuilding,
            "array: only one background task may run at a time");
  background_ = Background::rebuild;
  background_done_ = from * layout.unit;
  background_total_ = layout.stripes * layout.unit;
  rebuilt_stripes_ = noted_stripes_ = from;
  if (from > 0)
    incident(fmt::format("rebuild of member {} continues at stripe {} of {}", member, from,
                         layout.stripes));
  write_metadata_soon();
  co_await settle_metadata();
  Status status = Status::ok;
  for (std::uint64_t stripe = from;
       stripe < layout.stripes && !abort_background_ && status == Status::ok;) {
    const TimeNs begun = simulation_.now();
    const auto count = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(chunk_stripes(), layout.stripes - stripe));
    status = co_await rebuild_chunk(member, stripe, count);
    stripe += count;
    background_done_ = stripe * layout.unit;
    if (status == Status::ok) status = co_await note_progress(member);
    const TimeNs next = begun + chunk_ns(std::uint64_t{count} * layout.unit);
    if (next > simulation_.now()) co_await runner_.until(next);
  }
  if (status == Status::ok && !abort_background_ && volatile_) {
    Batch batch(commands_);
    batch.other(Op::flush, member, 0, 0, false);
    co_await batch;
    members_failed(batch.dead);
  }
  if (status != Status::ok || abort_background_) {
    members_failed(1ULL << member);
    background_ended(fmt::format("rebuild of member {} given up", member));
    co_return;
  }
  invariant(rebuilt_stripes_ == layout.stripes && lost_members_ > 0,
            "array: all stripes of a member must be rebuilt before it becomes active");
  states_[member] = MemberState::active;
  --lost_members_;
  cache_.clear();
  write_metadata_soon();
  background_ended(fmt::format("rebuild of member {} ended", member));
  if (unclean_ && !any_lost()) check_stripes(Background::resync, true);
}

/// Rebuilds a chunk of stripes. Since another member may fail or have unreadable sectors in the
/// meantime, each stripe is computed from the members that could be read.
Task ArrayController::rebuild_chunk(std::uint32_t member, std::uint64_t stripe,
                                    std::uint32_t stripes) {
  const std::size_t unit_bytes = std::size_t{layout.unit} * kSectorBytes;
  const std::uint32_t sectors = stripes * layout.unit;
  co_await Lock{*this, stripe, stripe + stripes - 1};
  AlignedBuffer buffer = take_buffer(std::uint64_t{sectors} * layout.members);
  Status status = Status::medium_error;
  const auto place = [&](std::uint32_t m) {
    return bytes_ ? buffer.data() + std::size_t{m} * sectors * kSectorBytes : nullptr;
  };
  std::uint64_t sources = 0;
  for (std::uint32_t tries = 0; tries < kChunkTriesMax && status == Status::medium_error; ++tries) {
    sources = 0;
    std::uint32_t count = 0;
    Batch batch(commands_);
    for (std::uint32_t m = 0; m < layout.members && (!layout.mirrored() || count == 0); ++m) {
      if (states_[m] != MemberState::active) continue;
      sources |= 1ULL << m;
      ++count;
      batch.read(m, layout.member_lba(stripe, 0), sectors, place(m));
    }
    status = count < layout.data ? Status::device_failed : Status::ok;
    co_await batch;
    if (batch.store_error) status = Status::store_error;
    if (batch.dead != 0 && status == Status::ok) status = Status::medium_error;
    members_failed(batch.dead);
    for (std::uint32_t m = 0; m < layout.members && status == Status::ok; ++m) {
      for (std::uint32_t i = 0;
           i < stripes && (batch.unreadable >> m & 1) != 0 && status == Status::ok; ++i) {
        const std::uint32_t role = layout.role_of(stripe + i, m);
        status = co_await repair(stripe + i, role, {0, layout.unit},
                                 bytes_ ? place(m) + i * unit_bytes : nullptr, nullptr);
        if (status == Status::medium_error) status = Status::device_failed;
      }
    }
  }
  if (status == Status::ok) {
    for (std::uint32_t i = 0; i < stripes && bytes_; ++i) {
      std::array<std::byte*, kArrayMembersMax> columns{};
      std::uint64_t missing = 0;
      for (std::uint32_t m = 0; m < layout.members; ++m) {
        const std::uint32_t role = layout.role_of(stripe + i, m);
        columns[role] = place(m) + i * unit_bytes;
        if ((sources >> m & 1) == 0) missing |= 1ULL << role;
      }
      if (layout.mirrored()) {
        const auto source = static_cast<std::uint32_t>(std::countr_zero(sources));
        std::memcpy(columns[member], columns[source], unit_bytes);
      } else {
        recover_columns(std::span(columns.data(), layout.members), layout.parity, missing,
                        unit_bytes);
      }
    }
    if (parity_ns(1) > 0) co_await runner_.work(parity_ns(std::uint64_t{sectors} * layout.data));
    Batch batch(commands_);
    batch.write(member, layout.member_lba(stripe, 0), sectors, place(member), false);
    co_await batch;
    members_failed(batch.dead);
    if (batch.failed()) status = batch.store_error ? Status::store_error : Status::device_failed;
  }
  invariant(rebuilt_stripes_ == stripe || status != Status::ok,
            "array: stripes must be rebuilt in order");
  if (status == Status::ok) rebuilt_stripes_ = stripe + stripes;
  unlock(stripe);
  co_return status;
}

// ---- scrub and resync

Detached ArrayController::check_stripes(Background kind, bool repair_it) {
  invariant(background_ == Background::none, "array: only one background task may run at a time");
  background_ = kind;
  background_done_ = 0;
  background_total_ = layout.stripes * layout.unit;
  mismatches_ = unknown_rows_ = 0;
  const bool only_marked = kind == Background::resync && layout.bitmap_sectors > 0;
  if (kind == Background::resync) incident("resync begins");
  Status status = Status::ok;
  for (std::uint64_t stripe = 0; stripe < layout.stripes && !any_lost() && status == Status::ok;) {
    const TimeNs begun = simulation_.now();
    const auto count = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(chunk_stripes(), layout.stripes - stripe));
    const std::uint64_t data = stripe * layout.stripe_sectors();
    const bool skip =
        only_marked &&
        !regions_.any_marked(data, data + std::uint64_t{count} * layout.stripe_sectors() - 1);
    if (!skip) status = co_await check_chunk(stripe, count, repair_it);
    stripe += count;
    background_done_ = stripe * layout.unit;
    const TimeNs next = begun + chunk_ns(std::uint64_t{count} * layout.unit);
    if (!skip && next > simulation_.now()) co_await runner_.until(next);
  }
  const char* const name = kind == Background::resync ? "resync" : "scrub";
  if (any_lost() || status != Status::ok) {
    background_ended(fmt::format("{} given up, {} mismatches so far", name, mismatches_));
    co_return;
  }
  if (kind == Background::resync) {
    unclean_ = false;
    regions_.adopt_bits(simulation_.now());
    age_regions_later();
  }
  background_ended(fmt::format(
      "{} ended, {} mismatches{}", name, mismatches_,
      unknown_rows_ == 0 ? "" : fmt::format(", {} rows remain unreadable", unknown_rows_)));
  last_update_at_ = simulation_.now();
  consider_idle();
}

std::byte* ArrayController::place_in(CheckedChunk& chunk, std::uint32_t member,
                                     std::uint32_t i) const {
  if (!bytes_) return nullptr;
  const std::size_t at = (std::size_t{member} * chunk.stripes + i) * layout.unit;
  return chunk.bytes.data() + at * kSectorBytes;
}

/// Reads a chunk from all members and repairs unreadable rows. Rows that cannot be reconstructed
/// are marked as unknown and stay unreadable.
Task ArrayController::read_chunk(CheckedChunk& chunk) {
  const std::uint32_t sectors = chunk.stripes * layout.unit;
  chunk.unknown.assign(chunk.stripes, UnknownRows(layout.unit));
  Batch batch(commands_);
  for (std::uint32_t m = 0; m < layout.members; ++m)
    batch.read(m, layout.member_lba(chunk.stripe, 0), sectors, place_in(chunk, m, 0));
  co_await batch;
  if (batch.store_error) co_return Status::store_error;
  members_failed(batch.dead);
  if (batch.dead != 0) co_return Status::device_failed;
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    for (std::uint32_t i = 0; i < chunk.stripes && (batch.unreadable >> m & 1) != 0; ++i) {
      const std::uint32_t role = layout.role_of(chunk.stripe + i, m);
      const Status status = co_await repair(chunk.stripe + i, role, {0, layout.unit},
                                            place_in(chunk, m, i), &chunk.unknown[i]);
      if (status == Status::store_error) co_return status;
    }
  }
  co_return Status::ok;
}

/// Checks the parity of these rows. Adds corrections to `repairs` unless it is null. Returns false
/// if any parity is wrong. REQUIRES: all of these rows are known.
bool ArrayController::check_rows(CheckedChunk& chunk, std::uint32_t i, RowRange rows,
                                 Batch* repairs) {
  const std::size_t offset = std::size_t{rows.first} * kSectorBytes;
  const std::size_t length = std::size_t{rows.sectors()} * kSectorBytes;
  const std::uint64_t stripe = chunk.stripe + i;
  std::array<std::byte*, kArrayMembersMax> columns{};
  for (std::uint32_t role = 0; role < layout.members; ++role)
    columns[role] =
        offset + (role < layout.data
                      ? place_in(chunk, layout.member_of(stripe, role), i)
                      : chunk.right.data() + std::size_t{role} * layout.unit * kSectorBytes);
  make_parity(std::span(columns.data(), layout.members), layout.parity, length);
  bool right = true;
  for (std::uint32_t role = layout.data; role < layout.members; ++role) {
    const std::uint32_t m = layout.member_of(stripe, role);
    std::byte* const there = place_in(chunk, m, i) + offset;
    if (std::memcmp(there, columns[role], length) == 0) continue;
    right = false;
    if (repairs == nullptr) continue;
    std::memcpy(there, columns[role], length);
    repairs->write(m, layout.member_lba(stripe, rows.first), rows.sectors(), there, volatile_);
  }
  return right;
}

Task ArrayController::check_chunk(std::uint64_t stripe, std::uint32_t stripes, bool repair_it) {
  const std::uint32_t sectors = stripes * layout.unit;
  co_await Lock{*this, stripe, stripe + stripes - 1};
  CheckedChunk chunk{stripe,
                     stripes,
                     take_buffer(std::uint64_t{sectors} * layout.members),
                     take_buffer(std::uint64_t{layout.unit} * layout.members),
                     {}};
  Status status = co_await read_chunk(chunk);
  if (parity_ns(1) > 0) co_await runner_.work(parity_ns(std::uint64_t{sectors} * layout.data));
  Batch repairs(commands_);
  for (std::uint32_t i = 0; i < stripes && status == Status::ok; ++i) {
    const UnknownRows& unknown = chunk.unknown[i];
    bool right = true;
    for (RowRange rows; rows.first < layout.unit; rows.first = rows.last) {
      while (rows.first < layout.unit && unknown[rows.first]) ++rows.first;
      rows.last = rows.first;
      while (rows.last < layout.unit && !unknown[rows.last]) ++rows.last;
      if (bytes_ && !rows.empty())
        right &= check_rows(chunk, i, rows, repair_it ? &repairs : nullptr);
    }
    unknown_rows_ += static_cast<std::uint64_t>(std::count(unknown.begin(), unknown.end(), true));
    if (right) continue;
    ++mismatches_;
    cache_.forget(stripe + i);
  }
  co_await repairs;
  members_failed(repairs.dead);
  if (repairs.store_error) status = Status::store_error;
  unlock(stripe);
  // The caller detects a failed member by calling any_lost(), and then ends the check.
  co_return status == Status::device_failed ? Status::ok : status;
}

}  // namespace headcrash::model
