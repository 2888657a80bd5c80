// Reads of an array: directly from the data columns, or reconstructed from the other members if one
// is lost or a sector is unreadable.
//
//   request  | D0 D1 D2 | D3 D4 ...  pieces that adjoin on a member are read by one command
//
// A read without failures takes no stripe lock, because a data column is written by one command,
// and the order of concurrent requests is undefined. A reconstruction takes the lock, because the
// stripe is inconsistent between the writes of data and parity. With a prewrite log, a write is
// acknowledged before it is at its home location, so a read waits for updates of its stripes.
#include <bit>
#include <cstring>

#include "plugin/base/invariant.h"
#include "plugin/model/array/array_controller.h"
#include "plugin/model/array/parity.h"

namespace headcrash::model {
namespace {

/// Maximum number of pieces that a read reconstructs concurrently.
constexpr std::uint32_t kLostPiecesMax = 16;

}  // namespace

TimeNs ArrayController::parity_ns(std::uint64_t data_sectors) const {
  return profile.parity_sector_ns * static_cast<TimeNs>(data_sectors);
}

/// Chooses the mirror with the fewest commands in flight. Ties go to the mirror whose last command
/// ended nearest to `lba`, and then to the first mirror.
std::uint32_t ArrayController::choose_mirror(std::uint64_t stripe, std::uint64_t lba) const {
  std::uint32_t best = layout.members;
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (!alive(m, stripe)) continue;
    const auto distance = [this, lba](std::uint32_t member) {
      return lba > commands_.next_lba(member) ? lba - commands_.next_lba(member)
                                              : commands_.next_lba(member) - lba;
    };
    if (best == layout.members || commands_.in_flight(m) < commands_.in_flight(best) ||
        (commands_.in_flight(m) == commands_.in_flight(best) && distance(m) < distance(best)))
      best = m;
  }
  return best;
}

Task ArrayController::read(HostRequest& host) {
  const Request& r = host.request;
  const std::uint32_t stripe_sectors = layout.stripe_sectors();
  const std::uint64_t first = r.lba / stripe_sectors;
  const std::uint64_t last = (r.lba + r.sectors - 1) / stripe_sectors;
  if (logs() && locks_.busy(first, last)) {
    co_await Lock{*this, first, last};
    unlock(first);
  }
  if (layout.mirrored() || r.lba / layout.unit == (r.lba + r.sectors - 1) / layout.unit) {
    const auto in_stripe = static_cast<std::uint32_t>(r.lba % stripe_sectors);
    const std::uint64_t lba = layout.member_lba(first, in_stripe % layout.unit);
    const std::uint32_t m = layout.mirrored() ? choose_mirror(last, lba)
                                              : layout.member_of(first, in_stripe / layout.unit);
    if (m < layout.members && alive(m, last)) {
      Batch batch(commands_);
      batch.read(m, lba, r.sectors, r.into.empty() ? nullptr : r.into.data());
      co_await batch;
      host.breakdown = sum_of(host.breakdown, batch.breakdown);
      if (!batch.failed()) co_return Status::ok;
      if (batch.store_error) co_return Status::store_error;
      members_failed(batch.dead);
      if (layout.parity == 0)
        co_return batch.dead != 0 ? Status::device_failed : Status::medium_error;
      co_return co_await read_computed(host, 1ULL << m);
    }
    co_return co_await read_computed(host, 1ULL << (m < layout.members ? m : 0));
  }
  co_return co_await read_pieces(host);
}

/// Reads the request's data columns. Not used for RAID-1, in which every member has all data.
Task ArrayController::read_pieces(HostRequest& host) {
  const Request r = host.request;
  std::byte* const into = r.into.empty() ? nullptr : r.into.data();
  const std::uint64_t last = (r.lba + r.sectors - 1) / layout.stripe_sectors();
  const MemberRuns runs(layout, r.lba, r.sectors);
  AlignedBuffer buffer = into != nullptr ? take_buffer(r.sectors) : AlignedBuffer();
  std::uint64_t failed_members = 0;
  Batch batch(commands_);
  runs.each_run([&](const MemberRuns::Run& run) {
    if (!alive(run.member, last)) {
      failed_members |= 1ULL << run.member;
      return;
    }
    batch.read(run.member, run.lba, run.sectors,
               into == nullptr ? nullptr : buffer.data() + run.buffer_sector * kSectorBytes);
  });
  co_await batch;
  host.breakdown = sum_of(host.breakdown, batch.breakdown);
  if (batch.store_error) co_return Status::store_error;
  failed_members |= batch.dead | batch.unreadable;
  members_failed(batch.dead);
  if (layout.parity == 0 && failed_members != 0)
    co_return batch.dead != 0 ? Status::device_failed : Status::medium_error;
  if (into != nullptr) {
    runs.each_piece([&](const MemberRuns::Piece& piece) {
      std::memcpy(into + piece.offset * kSectorBytes,
                  buffer.data() + piece.buffer_sector * kSectorBytes,
                  std::size_t{piece.rows.sectors()} * kSectorBytes);
    });
  }
  if (failed_members == 0) co_return Status::ok;
  co_return co_await read_computed(host, failed_members);
}

/// Reads the units of the request that are on the members in `failed_members`. Units of a lost
/// member are reconstructed. On other members, unreadable sectors are repaired.
Task ArrayController::read_computed(HostRequest& host, std::uint64_t failed_members) {
  const Request r = host.request;
  const MemberRuns runs(layout, r.lba, r.sectors);
  Join join{runner_};
  for (MemberRuns::Piece piece = runs.first(); piece.offset < r.sectors; runs.advance(piece)) {
    const std::uint32_t role = layout.mirrored()
                                   ? static_cast<std::uint32_t>(std::countr_zero(failed_members))
                                   : piece.role;
    if ((failed_members >> layout.member_of(piece.stripe, role) & 1) == 0) continue;
    if (join.running >= kLostPiecesMax) co_await join;
    ++join.running;
    read_lost(join, piece.stripe, role, piece.rows,
              r.into.empty() ? nullptr : r.into.data() + piece.offset * kSectorBytes);
  }
  co_await join;
  co_return join.status;
}

Detached ArrayController::read_lost(Join& join, std::uint64_t stripe, std::uint32_t role,
                                    RowRange rows, std::byte* into) {
  co_await Lock{*this, stripe, stripe};
  AlignedBuffer buffer = take_buffer(rows.sectors());
  Status status = Status::ok;
  const std::uint32_t m = layout.member_of(stripe, role);
  if (alive(m, stripe)) {
    status = co_await repair(stripe, role, rows, buffer.data(), nullptr);
  } else {
    ++array_counters.degraded_reads;
    status = co_await reconstruct(stripe, role, rows, buffer.data());
  }
  if (into != nullptr && status == Status::ok)
    std::memcpy(into, buffer.data(), std::size_t{rows.sectors()} * kSectorBytes);
  unlock(stripe);
  join.arrive(status, {});
}

/// Reconstructs some rows of a role from the other members. The caller must hold the stripe's lock.
Task ArrayController::reconstruct(std::uint64_t stripe, std::uint32_t role, RowRange rows,
                                  std::byte* into) {
  const std::size_t column_bytes = std::size_t{rows.sectors()} * kSectorBytes;
  std::uint64_t missing = lost_roles(stripe) | 1ULL << role;
  Status failure = Status::device_failed;
  const std::uint32_t wanted = layout.mirrored() ? 1 : layout.data;
  AlignedBuffer buffer = take_buffer(std::uint64_t{rows.sectors()} * layout.members);
  while (static_cast<std::uint32_t>(std::popcount(missing)) <= layout.parity) {
    std::uint64_t sources = 0;
    Batch batch(commands_);
    for (std::uint32_t other = 0;
         other < layout.members && std::popcount(sources) < static_cast<int>(wanted); ++other) {
      if ((missing >> other & 1) != 0) continue;
      sources |= 1ULL << other;
      batch.read(layout.member_of(stripe, other), layout.member_lba(stripe, rows.first),
                 rows.sectors(), bytes_ ? buffer.data() + other * column_bytes : nullptr);
    }
    co_await batch;
    if (batch.store_error) co_return Status::store_error;
    if (batch.failed()) {
      if (batch.unreadable != 0) failure = Status::medium_error;
      members_failed(batch.dead);
      for (std::uint32_t m = 0; m < layout.members; ++m) {
        if (((batch.dead | batch.unreadable) >> m & 1) != 0)
          missing |= 1ULL << layout.role_of(stripe, m);
      }
      continue;
    }
    if (parity_ns(1) > 0) co_await runner_.work(parity_ns(std::uint64_t{rows.sectors()} * wanted));
    if (!bytes_) co_return Status::ok;
    if (layout.mirrored()) {
      std::memcpy(
          into, buffer.data() + static_cast<std::size_t>(std::countr_zero(sources)) * column_bytes,
          column_bytes);
      co_return Status::ok;
    }
    std::array<std::byte*, kArrayMembersMax> columns{};
    for (std::uint32_t c = 0; c < layout.members; ++c)
      columns[c] = buffer.data() + c * column_bytes;
    recover_columns(std::span(columns.data(), layout.members), layout.parity,
                    ~sources & ((1ULL << layout.members) - 1), column_bytes);
    std::memcpy(into, columns[role], column_bytes);
    co_return Status::ok;
  }
  co_return failure;
}

/// Reads rows from an active member, one physical sector at a time, because some of the rows are
/// unreadable. Reconstructs and rewrites unreadable rows. Rows that cannot be reconstructed stay
/// unreadable and are marked in `unknown`, unless it is null; the status is then medium_error, and
/// the bytes of these rows are undefined. The caller must hold the stripe's lock.
Task ArrayController::repair(std::uint64_t stripe, std::uint32_t role, RowRange rows,
                             std::byte* into, UnknownRows* unknown) {
  const std::uint32_t m = layout.member_of(stripe, role);
  Status result = Status::ok;
  for (std::uint32_t row = rows.first; row < rows.last;) {
    const std::uint32_t next = std::min(rows.last, row / align_ * align_ + align_);
    const RowRange part{row, next};
    std::byte* const at = bytes_ ? into + std::size_t{row - rows.first} * kSectorBytes : nullptr;
    row = next;
    Batch batch(commands_);
    batch.read(m, layout.member_lba(stripe, part.first), part.sectors(), at);
    co_await batch;
    if (batch.store_error) co_return Status::store_error;
    members_failed(batch.dead);
    if (!batch.failed()) continue;
    const Status status = co_await reconstruct(stripe, role, part, at);
    if (status == Status::store_error) co_return status;
    if (status != Status::ok) {
      result = Status::medium_error;
      for (std::uint32_t r = part.first; r < part.last && unknown != nullptr; ++r)
        (*unknown)[r] = true;
      continue;
    }
    if (!alive(m, stripe)) continue;
    Batch again(commands_);
    again.write(m, layout.member_lba(stripe, part.first), part.sectors(), at, volatile_);
    co_await again;
    if (again.store_error) co_return Status::store_error;
    if (again.dead != 0) {
      members_failed(again.dead);
      co_await settle_metadata();
    } else {
      array_counters.repaired_sectors += part.sectors();
      incident("unreadable sectors of member " + std::to_string(m) +
               " were reconstructed and rewritten");
    }
  }
  co_return result;
}

}  // namespace headcrash::model
