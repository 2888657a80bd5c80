// Writes of an array.
//
//   host request = partial stripe, run of full stripes, partial stripe; the parts run concurrently:
//     lock the stripes -> read as planned -> compute parity -> [log] -> write both -> unlock
//
// Before the first write after an idle period, the members are marked dirty. With a prewrite log, a
// write is acknowledged when it has been logged, and its stripes stay locked until it has been
// written to its home location. If a member fails during a write, the write is planned again for
// the remaining members, and its reads are repeated. The write succeeds unless the array has lost
// more members than its redundancy allows.
#include <algorithm>
#include <bit>
#include <cstring>

#include "plugin/base/invariant.h"
#include "plugin/model/array/array_controller.h"
#include "plugin/model/array/parity.h"

namespace headcrash::model {
namespace {

constexpr std::uint32_t kFullRunSectorsMax =
    2048;  // sectors of a member: 1 MiB, which is the limit for one command
// Maximum number of segments of one request that are in progress at the same time.
constexpr std::uint32_t kSegmentsMax = 8;
/// Maximum number of plans for one update. Each failure of a member during the update requires a
/// new plan.
constexpr std::uint32_t kPlansMax = 8;

}  // namespace

Task ArrayController::write(HostRequest& host) {
  const Request& r = host.request;
  begin_update();
  if (layout.parity > 0 && (!is_marked_dirty() || !metadata_settled() || layout.bitmap_sectors > 0))
    co_await make_dirty(r.lba, r.lba + r.sectors - 1);
  Status status = Status::ok;
  if (layout.level == RaidLevel::raid0) {
    status = co_await write_striped(host);
  } else if (layout.mirrored()) {
    status = co_await write_mirrors(host);
  } else {
    status = co_await write_stripes(host);
  }
  if (layout.bitmap_sectors > 0) unmark_regions(r.lba, r.lba + r.sectors - 1);
  end_update();
  co_return status;
}

/// Checks that the members and the regions of the request are marked dirty before a stripe changes.
void ArrayController::expect_marked(const Request& request) const {
  invariant(is_marked_dirty(),
            "array: the members must be marked dirty before a stripe is written");
  invariant(layout.bitmap_sectors == 0 ||
                regions_.written(request.lba, request.lba + request.sectors - 1),
            "array: a region must be marked dirty before its stripes are written");
}

/// Returns the status that the host gets after a set of member writes. The superblocks must already
/// record the members that failed.
Status ArrayController::write_outcome(const Batch& batch, std::uint64_t stripe) {
  if (batch.store_error) return Status::store_error;
  if (layout.level == RaidLevel::raid0) return batch.dead != 0 ? Status::device_failed : Status::ok;
  const auto lost = static_cast<std::uint32_t>(std::popcount(lost_roles(stripe)));
  const bool last_mirror =
      layout.mirrored() && std::popcount(batch.dead) == static_cast<int>(layout.members);
  return lost > layout.parity || last_mirror ? Status::device_failed : Status::ok;
}

// ---- RAID-0 and RAID-1: no parity, nothing to read

Task ArrayController::write_striped(HostRequest& host) {
  const Request& r = host.request;
  const MemberRuns runs(layout, r.lba, r.sectors);
  const bool holds = bytes_ && r.op == Op::write;
  AlignedBuffer buffer = holds ? take_buffer(r.sectors) : AlignedBuffer();
  if (holds) {
    runs.each_piece([&](const MemberRuns::Piece& piece) {
      std::memcpy(buffer.data() + piece.buffer_sector * kSectorBytes,
                  r.data.data() + piece.offset * kSectorBytes,
                  std::size_t{piece.rows.sectors()} * kSectorBytes);
    });
  }
  Batch batch(commands_);
  runs.each_run([&](const MemberRuns::Run& run) {
    if (r.op == Op::write_zeroes) {
      batch.other(Op::write_zeroes, run.member, run.lba, run.sectors, r.fua);
    } else {
      batch.write(run.member, run.lba, run.sectors,
                  holds ? buffer.data() + run.buffer_sector * kSectorBytes : nullptr, r.fua);
    }
  });
  co_await batch;
  host.breakdown = sum_of(host.breakdown, batch.breakdown);
  co_return write_outcome(batch, 0);
}

/// Writes to all mirrors, including one that is being rebuilt. Data that the rebuild has not
/// reached yet is copied again later.
Task ArrayController::write_mirrors(HostRequest& host) {
  const Request& r = host.request;
  const std::uint64_t first = r.lba / layout.unit;
  const std::uint64_t last = (r.lba + r.sectors - 1) / layout.unit;
  co_await Lock{*this, first, last};
  expect_marked(r);
  Batch batch(commands_);
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (states_[m] == MemberState::failed) continue;
    if (r.op == Op::write_zeroes) {
      batch.other(Op::write_zeroes, m, layout.data_first + r.lba, r.sectors, r.fua);
    } else {
      batch.write(m, layout.data_first + r.lba, r.sectors, bytes_ ? r.data.data() : nullptr, r.fua);
    }
  }
  if (any_lost()) ++array_counters.degraded_writes;
  co_await batch;
  host.breakdown = sum_of(host.breakdown, batch.breakdown);
  members_failed(batch.dead);
  if (!metadata_settled()) co_await settle_metadata();
  unlock(first);
  if (batch.dead != 0) {
    bool one_has_it = false;
    for (std::uint32_t m = 0; m < layout.members; ++m)
      one_has_it |= states_[m] == MemberState::active && (batch.dead >> m & 1) == 0;
    if (!one_has_it) co_return Status::device_failed;
  }
  co_return write_outcome(batch, last);
}

// ---- levels with parity

std::uint32_t ArrayController::full_run_max() const {
  std::uint64_t sectors = kFullRunSectorsMax;
  if (logs())
    sectors = std::min(sectors, PrewriteLog::payload_max(profile.prewrite_sectors, align_));
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(sectors / layout.unit));
}

/// Takes the next segment of a request; returns false at the end.
bool ArrayController::next_segment(const Request& request, std::uint64_t& done,
                                   Segment& segment) const {
  if (done >= request.sectors) return false;
  const std::uint32_t whole = layout.stripe_sectors();
  const std::uint64_t at = request.lba + done;
  const std::uint64_t left = request.sectors - done;
  segment.stripe = at / whole;
  segment.offset = done;
  segment.lo = static_cast<std::uint32_t>(at % whole);
  segment.stripes = 1;
  if (segment.lo == 0 && left >= whole) {
    segment.stripes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(left / whole, full_run_max()));
    segment.hi = whole;
    done += std::uint64_t{segment.stripes} * whole;
  } else {
    segment.hi = static_cast<std::uint32_t>(std::min<std::uint64_t>(whole, segment.lo + left));
    done += segment.hi - segment.lo;
  }
  return true;
}

Task ArrayController::write_stripes(HostRequest& host) {
  const Request r = host.request;
  Join join{runner_};
  Segment segment;
  for (std::uint64_t done = 0; next_segment(r, done, segment);) {
    if (join.running >= kSegmentsMax) co_await join;
    ++join.running;
    begin_update();
    if (segment.hi - segment.lo == layout.stripe_sectors()) {
      write_full(join, r, segment);
    } else {
      write_partial(join, r, segment);
    }
  }
  co_await join;
  host.breakdown = sum_of(host.breakdown, join.breakdown);
  co_return join.status;
}

/// Fills `bytes` with the data and the parity of a run of full stripes, in the order of the
/// members.
void ArrayController::gather_full(const Request& request, const Segment& segment,
                                  std::byte* bytes) const {
  const std::size_t unit_bytes = std::size_t{layout.unit} * kSectorBytes;
  const std::size_t member_bytes = unit_bytes * segment.stripes;
  const std::byte* from =
      request.op == Op::write ? request.data.data() + segment.offset * kSectorBytes : nullptr;
  for (std::uint32_t i = 0; i < segment.stripes; ++i) {
    std::array<std::byte*, kArrayMembersMax> columns{};
    for (std::uint32_t role = 0; role < layout.members; ++role)
      columns[role] =
          bytes + layout.member_of(segment.stripe + i, role) * member_bytes + i * unit_bytes;
    for (std::uint32_t d = 0; d < layout.data; ++d) {
      if (from == nullptr) {
        std::memset(columns[d], 0, unit_bytes);
        continue;
      }
      std::memcpy(columns[d], from, unit_bytes);
      from += unit_bytes;
    }
    make_parity(std::span(columns.data(), layout.members), layout.parity, unit_bytes);
  }
}

Detached ArrayController::write_full(Join& join, Request request, Segment segment) {
  const std::uint64_t last = segment.stripe + segment.stripes - 1;
  const std::uint32_t sectors = segment.stripes * layout.unit;
  const bool zeroes = request.op == Op::write_zeroes && !logs();
  co_await Lock{*this, segment.stripe, last};
  AlignedBuffer buffer;
  if (!zeroes) {
    buffer = take_buffer(std::uint64_t{sectors} * layout.members);
    if (bytes_) gather_full(request, segment, buffer.data());
    if (parity_ns(1) > 0)
      co_await runner_.work(parity_ns(std::uint64_t{sectors} * layout.data) * layout.parity);
  }
  Status status = Status::device_failed;
  Breakdown breakdown;
  std::uint64_t sequence = 0;
  bool arrived = false;
  if (static_cast<std::uint32_t>(std::popcount(lost_roles(last))) <= layout.parity) {
    expect_marked(request);
    array_counters.full_stripe_writes += segment.stripes;
    if (any_lost()) array_counters.degraded_writes += segment.stripes;
    // A rebuilding member also gets the run if the rebuild has reached the run's first stripe. The
    // rebuild later writes the run's other stripes again.
    LogParts parts{};
    for (std::uint32_t m = 0; m < layout.members; ++m) {
      if (!alive(m, segment.stripe)) continue;
      parts[m] = {
          layout.member_lba(segment.stripe, 0), sectors,
          bytes_ && !zeroes ? buffer.data() + std::size_t{m} * sectors * kSectorBytes : nullptr};
    }
    status = Status::ok;
    if (logs()) {
      status = co_await log_update(parts, last, sequence, breakdown);
      join.arrive(status, breakdown);
      arrived = true;
    }
    Batch batch(commands_);
    for (std::uint32_t m = 0; m < layout.members && status == Status::ok; ++m) {
      if (parts[m].sectors == 0 || states_[m] == MemberState::failed) continue;
      if (zeroes) {
        batch.other(Op::write_zeroes, m, parts[m].home, sectors, request.fua);
      } else {
        batch.write(m, parts[m].home, sectors, parts[m].bytes,
                    request.fua || (logs() && volatile_));
      }
    }
    co_await batch;
    breakdown = sum_of(breakdown, batch.breakdown);
    members_failed(batch.dead);
    if (!metadata_settled()) co_await settle_metadata();
    if (status == Status::ok) status = write_outcome(batch, last);
    for (std::uint32_t i = 0; i < segment.stripes && cache_.on(); ++i)
      cache_.forget(segment.stripe + i);
    if (logs()) update_is_home(sequence);
  }
  unlock(segment.stripe);
  if (!arrived) join.arrive(status, breakdown);
  end_update();
}

/// Reads the inputs of a plan from the stripe cache or from the members. If a sector was repaired
/// or a member failed, returns medium_error, and the caller must make a new plan. Any other status
/// except ok ends the update.
Task ArrayController::read_for_plan(std::uint64_t stripe, const StripePlan& plan, std::byte* bytes,
                                    Breakdown& breakdown) {
  const std::size_t column_bytes = std::size_t{plan.rows.sectors()} * kSectorBytes;
  const auto place = [&](std::uint32_t role) -> std::byte* {
    if (bytes == nullptr) return nullptr;
    return bytes + role * column_bytes +
           std::size_t{plan.read[role].first - plan.rows.first} * kSectorBytes;
  };
  Batch batch(commands_);
  for (std::uint32_t role = 0; role < layout.members; ++role) {
    const RowRange rows = plan.read[role];
    if (rows.empty()) continue;
    if (cache_.on() && cache_.read(stripe, role, rows, place(role))) {
      ++array_counters.stripe_cache_hits;
      continue;
    }
    batch.read(layout.member_of(stripe, role), layout.member_lba(stripe, rows.first),
               rows.sectors(), place(role));
  }
  co_await batch;
  breakdown = sum_of(breakdown, batch.breakdown);
  if (batch.store_error) co_return Status::store_error;
  if (!batch.failed()) co_return Status::ok;
  members_failed(batch.dead);
  for (std::uint32_t role = 0; role < layout.members; ++role) {
    const std::uint32_t m = layout.member_of(stripe, role);
    if ((batch.unreadable >> m & 1) == 0 || !alive(m, stripe)) continue;
    const Status repaired = co_await repair(stripe, role, plan.read[role], place(role), nullptr);
    if (repaired == Status::store_error) co_return repaired;
    if (repaired != Status::ok) co_return Status::device_failed;
  }
  co_return Status::medium_error;
}

/// Applies the host's data to the columns and updates parity. `bytes` has one column for each role,
/// followed by two scratch columns; each column has room for `plan.rows`.
void ArrayController::apply_plan(const Request& request, const Segment& segment,
                                 const StripePlan& plan, std::uint64_t lost,
                                 std::byte* bytes) const {
  const std::size_t column_bytes = std::size_t{plan.rows.sectors()} * kSectorBytes;
  std::array<std::byte*, kArrayMembersMax + 2> columns{};
  for (std::uint32_t c = 0; c < layout.members + 2; ++c) columns[c] = bytes + c * column_bytes;
  const std::span all(columns.data(), layout.members);
  if (plan.method == WriteMethod::recover) recover_columns(all, layout.parity, lost, column_bytes);
  std::byte* const delta = columns[layout.members];
  std::byte* const scratch = columns[layout.members + 1];
  for (std::uint32_t d = 0; d < layout.data; ++d) {
    const RowRange rows = plan.changed[d];
    if (rows.empty()) continue;
    const std::size_t length = std::size_t{rows.sectors()} * kSectorBytes;
    const std::size_t at = std::size_t{rows.first - plan.rows.first} * kSectorBytes;
    const std::uint64_t source = segment.offset + (d * layout.unit + rows.first - segment.lo);
    const auto put_new = [&](std::byte* into) {
      if (request.op == Op::write) {
        std::memcpy(into, request.data.data() + source * kSectorBytes, length);
      } else {
        std::memset(into, 0, length);
      }
    };
    if (plan.method == WriteMethod::read_modify) {
      put_new(delta);
      add_into(delta, columns[d] + at, length);
      for (std::uint32_t p = layout.data; p < layout.members; ++p) {
        if ((lost >> p & 1) != 0) continue;
        if (p == layout.data) {
          add_into(columns[p] + at, delta, length);
        } else {
          add_into_q(columns[p] + at, delta, scratch, d, length);
        }
      }
    }
    put_new(columns[d] + at);
  }
  if (plan.method != WriteMethod::read_modify && plan.method != WriteMethod::data_only)
    make_parity(all, layout.parity, column_bytes);
}

void ArrayController::count_method(const StripePlan& plan) {
  switch (plan.method) {
    case WriteMethod::full_stripe:
      ++array_counters.full_stripe_writes;
      break;
    case WriteMethod::read_modify:
      ++array_counters.read_modify_writes;
      break;
    default:
      ++array_counters.reconstruct_writes;
      break;
  }
}

Detached ArrayController::write_partial(Join& join, Request request, Segment segment) {
  const std::uint64_t stripe = segment.stripe;
  co_await Lock{*this, stripe, stripe};
  Status status = Status::medium_error;
  Breakdown breakdown;
  StripePlan plan;
  AlignedBuffer buffer;
  std::uint64_t lost = 0;
  for (std::uint32_t plans = 0; plans < kPlansMax && status == Status::medium_error; ++plans) {
    lost = lost_roles(stripe);
    plan = plan_write(layout, segment.lo, segment.hi, lost, align_);
    status = Status::device_failed;
    if (plan.method == WriteMethod::impossible) break;
    buffer = take_buffer(std::uint64_t{plan.rows.sectors()} * (layout.members + 2));
    status = co_await read_for_plan(stripe, plan, buffer.data(), breakdown);
    if (status == Status::ok && lost_roles(stripe) != lost) status = Status::medium_error;
  }
  std::uint64_t sequence = 0;
  bool arrived = false;
  if (status == Status::ok) {
    expect_marked(request);
    count_method(plan);
    if (lost != 0) ++array_counters.degraded_writes;
    if (bytes_) apply_plan(request, segment, plan, lost, buffer.data());
    if (parity_ns(1) > 0) co_await runner_.work(parity_ns(segment.hi - segment.lo) * layout.parity);
    LogParts parts{};
    for (std::uint32_t role = 0; role < layout.members; ++role) {
      const RowRange rows = plan.write[role];
      if (rows.empty()) continue;
      const std::size_t at =
          std::size_t{role} * plan.rows.sectors() + (rows.first - plan.rows.first);
      parts[layout.member_of(stripe, role)] = {
          layout.member_lba(stripe, rows.first), rows.sectors(),
          bytes_ ? buffer.data() + at * kSectorBytes : nullptr};
    }
    if (logs()) {
      status = co_await log_update(parts, stripe, sequence, breakdown);
      join.arrive(status, breakdown);
      arrived = true;
    }
    Batch batch(commands_);
    for (std::uint32_t m = 0; m < layout.members && status == Status::ok; ++m) {
      if (parts[m].sectors == 0 || states_[m] == MemberState::failed) continue;
      batch.write(m, parts[m].home, parts[m].sectors, parts[m].bytes,
                  request.fua || (logs() && volatile_));
    }
    co_await batch;
    breakdown = sum_of(breakdown, batch.breakdown);
    members_failed(batch.dead);
    if (!metadata_settled()) co_await settle_metadata();
    if (status == Status::ok) status = write_outcome(batch, stripe);
    if (cache_.on()) remember(stripe, plan, buffer.data());
    if (logs()) update_is_home(sequence);
  }
  unlock(stripe);
  if (!arrived) join.arrive(status, breakdown);
  end_update();
}

void ArrayController::remember(std::uint64_t stripe, const StripePlan& plan,
                               const std::byte* bytes) {
  const std::uint64_t lost = lost_roles(stripe);
  for (std::uint32_t role = 0; role < layout.members; ++role) {
    const RowRange rows =
        plan.read[role].sectors() > plan.write[role].sectors() ? plan.read[role] : plan.write[role];
    if ((lost >> role & 1) != 0 || rows.empty()) continue;
    const std::size_t at = std::size_t{role} * plan.rows.sectors() + (rows.first - plan.rows.first);
    cache_.put(stripe, role, rows, bytes_ ? bytes + at * kSectorBytes : nullptr);
  }
}

// ---- trim

/// Zeroes the partial stripes at both ends of a range to be trimmed.
Task ArrayController::zero_edges(Request request) {
  request.op = Op::write_zeroes;
  Join join{runner_};
  Segment segment;
  for (std::uint64_t done = 0; next_segment(request, done, segment);) {
    if (segment.hi - segment.lo == layout.stripe_sectors()) continue;
    ++join.running;
    begin_update();
    write_partial(join, request, segment);
  }
  co_await join;
  co_return join.status;
}

/// Trims only as far as parity remains consistent. On levels without parity, trims the whole range.
/// On other levels, trims only whole stripes; they then read as zeroes on all members.
Task ArrayController::trim(HostRequest& host) {
  if (!characteristics.trim) {
    co_await runner_.until_event();
    co_return Status::ok;
  }
  const Request r = host.request;
  begin_update();
  if (layout.parity > 0) co_await make_dirty(r.lba, r.lba + r.sectors - 1);
  const std::uint32_t whole = layout.stripe_sectors();
  const std::uint64_t first = (r.lba + whole - 1) / whole;
  const std::uint64_t end = (r.lba + r.sectors) / whole;
  Batch batch(commands_);
  std::uint64_t locked = first;
  bool holds = false;
  if (layout.level == RaidLevel::raid0) {
    MemberRuns(layout, r.lba, r.sectors).each_run([&](const MemberRuns::Run& run) {
      batch.other(Op::trim, run.member, run.lba, run.sectors, false);
    });
  } else if (layout.mirrored() || first < end) {
    locked = layout.mirrored() ? r.lba / whole : first;
    holds = true;
    co_await Lock{*this, locked, layout.mirrored() ? (r.lba + r.sectors - 1) / whole : end - 1};
    for (std::uint32_t m = 0; m < layout.members; ++m) {
      if (states_[m] == MemberState::failed) continue;
      if (layout.mirrored()) {
        batch.other(Op::trim, m, layout.data_first + r.lba, r.sectors, false);
      } else {
        batch.other(Op::trim, m, layout.member_lba(first, 0),
                    static_cast<std::uint32_t>((end - first) * layout.unit), false);
      }
    }
  }
  co_await batch;
  members_failed(batch.dead);
  if (!metadata_settled()) co_await settle_metadata();
  cache_.clear();
  if (holds) unlock(locked);
  Status status = write_outcome(batch, end > 0 ? end - 1 : 0);
  if (layout.parity > 0 && !layout.mirrored() && status == Status::ok)
    status = co_await zero_edges(r);
  if (layout.bitmap_sectors > 0) unmark_regions(r.lba, r.lba + r.sectors - 1);
  end_update();
  co_return status;
}

}  // namespace headcrash::model
