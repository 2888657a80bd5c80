// The controller of an array (array_controller.h): host requests from submission to completion, and
// power.
//
//   host -> serve() -> command_ns -> [recovery over?] -> read / write / flush / trim -> finish()
//
// The controller does one piece of work at a time (command_ns, parity_sector_ns); member commands
// run concurrently. Completions are delivered to the host only while all coroutines are waiting,
// because the host may submit requests or cut the power in its callback.
#include "plugin/model/array/array_controller.h"

#include <fmt/core.h>

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::model {
ArrayController::ArrayController(ArrayOptions options, const RaidLayout& l)
    : profile(options.profile),
      layout(l),
      members(std::move(options.members)),
      rebuild_bytes_per_second(options.profile.rebuild_bytes_per_second),
      simulation_(options.simulation),
      observer_(options.observer),
      bytes_(options.bytes),
      device_(options.device),
      intake_(options.simulation, options.observer, options.device),
      runner_(options.simulation, *this, options.schedule),
      commands_(options.simulation, runner_, members),
      seed_(options.seed),
      states_(profile.members, MemberState::active),
      next_slot_(profile.members, 0) {
  bool trim = true;
  bool fast_zero = true;
  characteristics.rotational = false;
  characteristics.queue_depth = 0;
  for (const auto& member : members) {
    const Characteristics& c = member->characteristics();
    volatile_ |= c.volatile_cache;
    align_ = std::max(align_, c.physical_sector_sectors);
    trim &= c.trim;
    fast_zero &= c.fast_zero;
    characteristics.rotational |= c.rotational;
    characteristics.queue_depth += c.queue_depth;
  }
  characteristics.profile = profile.name;
  characteristics.sectors = layout.capacity();
  characteristics.physical_sector_sectors = align_;
  characteristics.volatile_cache = volatile_ && !logs();
  // The log does not record trims, so the replay of an older update would undo a trim.
  characteristics.trim = trim && !logs();
  characteristics.fast_zero = fast_zero && !logs();
  characteristics.optimal_sectors = layout.mirrored() ? 0 : layout.stripe_sectors();
  cache_.open(layout.parity > 0 && !layout.mirrored() ? profile.stripe_cache_stripes : 0,
              layout.members, layout.unit, bytes_);
  if (layout.bitmap_sectors > 0) regions_.open(layout.bitmap_sectors, profile.region_sectors);
}

ArrayController::~ArrayController() {
  runner_.cancel_all();
}

AlignedBuffer ArrayController::take_buffer(std::uint64_t sectors) {
  return bytes_ ? buffers_.take(sectors * kSectorBytes) : AlignedBuffer();
}

// ---- host requests

ArrayController::HostRequest& ArrayController::acquire_request(const HostCommand& command) {
  if (free_requests_.empty()) {
    requests_.emplace_back();
    free_requests_.push_back(&requests_.back());
  }
  HostRequest& host = *free_requests_.back();
  free_requests_.pop_back();
  host = {command};
  host.inside = true;
  ++inside_;
  return host;
}

void ArrayController::release_request(HostRequest& host) {
  host.inside = false;
  free_requests_.push_back(&host);
  --inside_;
}

void ArrayController::submit(const Request& request, Initiator& initiator) {
  if (!intake_.enter(request, initiator, characteristics.sectors)) return;
  HostRequest& host = acquire_request(intake_.command(request, initiator));
  update_busy();
  serve(host);
  runner_.drain_later();
}

Detached ArrayController::serve(HostRequest& host) {
  if (profile.command_ns > 0) {
    co_await runner_.work(profile.command_ns);
    host.breakdown.overhead_ns += profile.command_ns;
  }
  if (!started_) co_await Wait{start_waiters_};
  Status status = Status::device_failed;
  if (refusing_) {
    co_await runner_.until_event();
  } else if (host.request.op != Op::flush && host.request.sectors == 0) {
    co_await runner_.until_event();
    status = Status::ok;
  } else {
    switch (host.request.op) {
      case Op::read:
        status = co_await read(host);
        break;
      case Op::write:
      case Op::write_zeroes:
        status = co_await write(host);
        break;
      case Op::trim:
        status = co_await trim(host);
        break;
      case Op::flush:
        status = co_await flush(host);
        break;
    }
  }
  finish(host, status);
}

/// With a log, all acknowledged data is already durable, even if it has not been written to its
/// home location.
Task ArrayController::flush(HostRequest& host) {
  if (!volatile_ || logs()) {
    co_await runner_.until_event();
    co_return Status::ok;
  }
  Batch batch(commands_);
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (states_[m] != MemberState::failed) batch.other(Op::flush, m, 0, 0, false);
  }
  co_await batch;
  host.breakdown = sum_of(host.breakdown, batch.breakdown);
  if (batch.store_error) co_return Status::store_error;
  if (batch.dead != 0) {
    members_failed(batch.dead);
    co_await settle_metadata();
    if (broken()) co_return Status::device_failed;
  }
  co_return Status::ok;
}

void ArrayController::finish(HostRequest& host, Status status) {
  invariant(host.inside, "array: a host request must be completed only once");
  host.status = status;
  finished_.push_back(&host);
}

void ArrayController::deliver_finished() {
  HostRequest& host = *finished_.front();
  finished_.pop_front();
  const HostRequest finished = host;
  release_request(host);
  update_busy();
  intake_.answer(finished, finished.status);
}

void ArrayController::update_busy() {
  busy_.set(inside_ > 0, simulation_.now());
}

DeviceCounters ArrayController::counters() const {
  DeviceCounters all = intake_.counters();
  all.busy_ns = busy_.total_ns(simulation_.now());
  return all;
}

std::optional<TimeNs> ArrayController::quiet_since() const {
  return background_ == Background::none ? busy_.idle_since() : std::nullopt;
}

// ---- waiting

void ArrayController::unlock(std::uint64_t first) {
  locks_.unlock(first, [this](std::coroutine_handle<> waiter) { runner_.make_ready(waiter); });
}

void ArrayController::schedule(TimeNs at, Tag tag) {
  simulation_.schedule(at, *this, static_cast<std::uint64_t>(tag));
}

void ArrayController::on_event(std::uint64_t tag) {
  switch (static_cast<Tag>(tag)) {
    case Tag::idle:
      idle_scheduled_ = false;
      consider_idle();
      break;
    case Tag::age:
      age_scheduled_ = false;
      if (intake_.powered()) age_regions();
      break;
  }
  runner_.run();
}

// ---- power

/// Stops the members first, then discards all pending work of the controller.
void ArrayController::power_cut() {
  if (!intake_.powered()) return;
  intake_.power_cut();
  for (const auto& member : members) member->power_cut();
  commands_.power_cut();
  runner_.power_cut();
  locks_.clear();
  cache_.clear();
  for (auto* list : {&start_waiters_, &metadata_waiters_, &region_waiters_, &log_waiters_})
    list->clear();
  started_ = false;
  updates_inside_ = 0;
  metadata_busy_ = regions_busy_ = cleaning_ = ageing_ = false;
  regions_written_ = regions_wanted_;
  background_ = Background::none;
  abort_background_ = false;

  std::vector<HostRequest*> forgotten;
  finished_.clear();
  for (HostRequest& host : requests_) {
    if (host.inside) forgotten.push_back(&host);
  }
  std::sort(forgotten.begin(), forgotten.end(), [](const HostRequest* a, const HostRequest* b) {
    return a->request.id < b->request.id;
  });
  for (HostRequest* host : forgotten) {
    intake_.lose(*host);
    release_request(*host);
  }
  update_busy();
}

void ArrayController::power_on() {
  if (intake_.powered()) return;
  intake_.power_on();
  for (const auto& member : members) member->power_on();
  start();
  runner_.drain_later();
}

void ArrayController::shut_down() {
  if (!intake_.powered() || !started_) return;
  while ((inside_ > 0 || updates_inside_ > 0) && simulation_.run_next()) {
  }
  if (want_dirty_ && !unclean_ && !cleaning_) make_clean();
  while ((cleaning_ || ageing_ || metadata_busy_ || regions_busy_) && simulation_.run_next()) {
  }
  for (const auto& member : members) member->shut_down();
}

// ---- operator commands

ArrayStatus ArrayController::status() const {
  ArrayStatus s;
  s.members = states_;
  s.dirty = want_dirty_ || dirty_durable_ || unclean_;
  if (refusing_) s.refused = refusal_;
  constexpr std::array<const char*, 4> kNames = {"", "rebuild", "resync", "scrub"};
  s.background = kNames[static_cast<std::size_t>(background_)];
  s.background_done = background_done_;
  s.background_total = background_total_;
  s.mismatches = mismatches_;
  return s;
}

std::string ArrayController::member_name(std::size_t index) const {
  return fmt::format("{}: member {}", profile.name, index);
}

Result<void> ArrayController::fail_member(std::size_t index) {
  if (index >= members.size())
    return fail(member_name(index), "no such member", "members are numbered from 0");
  if (states_[index] == MemberState::failed) return fail(member_name(index), "has already failed");
  const std::uint32_t lost_then = lost_members_ + (states_[index] == MemberState::active ? 1 : 0);
  if (lost_then > layout.parity)
    return fail(member_name(index), "the array cannot lose this member",
                "rebuild the lost members first");
  if (!intake_.powered())
    return fail(profile.name, "the power is off", "power the machine on first");
  // During its start, the array reads the members' states from their superblocks, so a failure that
  // this command sets would be lost.
  if (!started_) return fail(profile.name, "has not started yet", "repeat the command in a moment");
  members_failed(1ULL << index);
  runner_.drain_later();
  return {};
}

Result<void> ArrayController::accept_dirty_degraded() {
  if (!refusing_)
    return fail(profile.name, "has not refused to start; only a refused start can be accepted");
  if (broken()) return fail(profile.name, refusal_, "restore the lost members first");
  incident("dirty degraded start accepted: data of lost members may be wrong");
  refusing_ = false;
  unclean_ = false;
  resume_background();
  runner_.drain_later();
  return {};
}

}  // namespace headcrash::model
