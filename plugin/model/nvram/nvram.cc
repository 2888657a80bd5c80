// Executes requests to the battery-backed cache (nvram.h).
//
//   submit -> queue --- one copy engine, in order of arrival: command_ns + sectors * sector_ns -->
//
//     read, all present       copied, done
//     read, not all present   one read of the device below, from the first to the last absent
//                             sector (the hull). Cached parts of the hull are saved when the read
//                             is sent and overlaid on its result. If part of the hull is
//                             unreadable, the absent pieces are read one by one.
//     write                   if there is room and no conflict: copied, dirty, done; else waits
//     write through           if there is no conflict: sent below; else waits
//     outside the cached range  forwarded unchanged
//
// Writes wait in one queue (`waiting`), so a long write that needs much room cannot starve. Reads
// do not wait in this queue.
//
// Coherence. A write-through locks its range while it is in flight in the device below. When it
// starts, no write-back of these sectors is in flight. Until it ends, no write-back of these
// sectors begins, no data is copied into them, and no other write-through of them starts. Clean
// copies are dropped when the write-through starts. Dirty copies, which were acknowledged as
// durable, are kept until the write-through is durable, and are dropped when it is acknowledged.
//
// Two writes of the same sector are therefore never in flight together in the device below, and
// only this code determines their order.
#include "plugin/model/nvram/nvram.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plugin/base/invariant.h"
#include "plugin/model/nvram/nvram_state.h"

namespace headcrash::model {
namespace {

SectorRange range_of(const Request& request) {
  return {request.lba, request.sectors};
}

}  // namespace

Nvram::State::State(NvramOptions&& options)
    : profile(options.profile),
      simulation(options.simulation),
      observer(options.observer),
      below(std::move(options.below)),
      has_bytes(options.bytes),
      device(options.device),
      intake(options.simulation, options.observer, options.device),
      faults(options.battery),
      blocks(profile.range_lba, profile.capacity_sectors / profile.block_sectors,
             profile.block_sectors, options.bytes),
      random(options.seed ^ (std::uint64_t{options.device} << 48)) {
  invariant(validate(profile).has_value(), "an NVRAM profile must be valid");
  const Characteristics& c = below->characteristics();
  invariant(profile.range_lba < c.sectors && profile.range_sectors <= c.sectors - profile.range_lba,
            "the cached range must be within the device below");
  range = {profile.range_lba,
           profile.range_sectors == 0 ? c.sectors - profile.range_lba : profile.range_sectors};
  below_volatile = c.volatile_cache;
  characteristics = c;
  characteristics.profile = profile.name;
  characteristics.volatile_cache = c.volatile_cache && range.sectors != c.sectors;
}

// ---- the copy engine

void Nvram::State::submit(const Request& request, Initiator& initiator) {
  if (!intake.enter(request, initiator, characteristics.sectors)) return;
  ++idle_epoch;
  idle_draining = false;
  refresh_battery();
  queue.push_back({intake.command(request, initiator)});
  begin_next();
  consider_destage();
  update_busy();
}

SectorRange Nvram::State::inside(const Request& request) const {
  const std::uint64_t from = std::max(request.lba, range.lba);
  const std::uint64_t to = std::min(request.lba + request.sectors, range.end());
  return {from, to > from ? to - from : 0};
}

Nvram::State::Route Nvram::State::route(const Request& request) const {
  if (request.op == Op::flush) return Route::flush;
  if (request.sectors == 0) return Route::nothing;
  if (request.op == Op::trim && !characteristics.trim) return Route::nothing;
  if (inside(request).sectors == 0) return Route::outside;
  if (request.op == Op::read) return Route::read;
  if (request.op == Op::trim || inside(request).sectors != request.sectors) return Route::through;
  if (battery != BatteryState::ok || blocks.failed_blocks() > 0) return Route::through;
  if (blocks.span(range_of(request)) > blocks.blocks()) return Route::through;
  const bool quick_below = request.op == Op::write_zeroes && characteristics.fast_zero;
  return quick_below && request.sectors > profile.destage_sectors_max ? Route::through
                                                                      : Route::cache;
}

bool Nvram::State::locked(const SectorRange& part) const {
  return std::any_of(through.begin(), through.end(), [&part](const BackendRequest* backend) {
    return backend->range.overlaps(part);
  });
}

/// Returns true if there is room for a write and no conflict with requests in flight.
bool Nvram::State::may_start(const Command& command) const {
  const SectorRange part = inside(command.request);
  if (locked(part)) return false;
  if (route(command.request) == Route::cache) return blocks.has_room_for(part);
  const bool being_copied =
      current && current->request.op != Op::read && inside(current->request).overlaps(part);
  return !being_copied && !blocks.leaving(part);
}

void Nvram::State::begin_next() {
  if (current || queue.empty()) return;
  current = queue.front();
  queue.pop_front();
  const Request& request = current->request;
  const Route way = route(request);
  const bool copies =
      way == Route::cache || (way == Route::read && blocks.covers(range_of(request)));
  copy_from = simulation.now() + (current->decoded ? 0 : profile.command_ns);
  const TimeNs done = copy_from + (copies ? profile.sector_ns * request.sectors : 0);
  current->breakdown.overhead_ns += done - simulation.now();
  current->decoded = true;
  schedule(done, Event::serviced);
}

void Nvram::State::serviced() {
  Command command = *current;
  current.reset();
  const std::uint64_t then = intake.generation();
  serve(command);
  if (then == intake.generation()) pump();
}

void Nvram::State::serve(Command command) {
  switch (route(command.request)) {
    case Route::nothing:
      return finish(command, Status::ok);
    case Route::outside:
      if (command.request.op != Op::read && command.request.op != Op::trim)
        ++nvram_counters.write_throughs;
      return pass(command);
    case Route::flush:
      return send_flush(command);
    case Route::read:
      return read(command);
    case Route::cache:
      // A command that has already waited is at the head of `waiting`, so it must not wait for the
      // commands behind it.
      if (!may_start(command) || (!command.waited && !waiting.empty()))
        return wait(command, command.waited);
      copy_in(command, command.request.sectors);
      return finish(command, Status::ok);
    case Route::through:
      if (!may_start(command) || !waiting.empty()) return wait(command, command.waited);
      return send_through(command);
  }
}

void Nvram::State::copy_in(Command& command, std::uint32_t sectors) {
  const Request& request = command.request;
  if (sectors == 0) return;
  const auto data = request.data.first(
      std::min<std::size_t>(request.data.size(), std::size_t{sectors} * kSectorBytes));
  NvramBlocks::Seen seen;
  if (kind_of) {
    seen = [this](const NvramBlocks::Written& written) {
      const std::uint8_t kind = kind_of(written.lba);
      invariant(kind < kNvramKindsMax, "the kind of a write must be below kNvramKindsMax");
      NvramKindCounters& counters = kinds.at(kind);
      ++counters.cached_writes;
      if (written.block_dirty) ++counters.block_hits;
      if (written.sector_dirty) ++counters.dirty_hits;
    };
  }
  const NvramBlocks::Hits hits = blocks.write({request.lba, sectors}, data, seen);
  nvram_counters.cached_writes += hits.blocks;
  nvram_counters.write_hits += hits.present;
  nvram_counters.dirty_hits += hits.dirty;
  nvram_counters.absorbed_sectors += hits.absorbed_sectors;
  ++intake.counters().media_writes;
  intake.counters().media_sectors_written += sectors;
  command.breakdown.cache_hit = true;
  observer.media_written(device, simulation.now(),
                         {request.id, request.lba, sectors, MediaWrite::Outcome::written, data});
}

void Nvram::State::wait(Command command, bool first) {
  const bool for_room =
      route(command.request) == Route::cache && !blocks.has_room_for(inside(command.request));
  if (for_room && !command.waited) ++nvram_counters.room_waits;
  command.waited = true;
  first ? waiting.push_front(command) : waiting.push_back(command);
}

/// Resumes the waiting writes in order, up to the first one that cannot start yet.
void Nvram::State::retry_waiting() {
  while (!waiting.empty() && may_start(waiting.front())) {
    const bool copies = route(waiting.front().request) == Route::cache;
    if (copies && (current || (!queue.empty() && queue.front().waited))) return;
    Command command = waiting.front();
    waiting.pop_front();
    if (copies) {
      queue.push_front(command);
      begin_next();
      return;
    }
    send_through(command);
  }
}

/// Completes a request. The host's callback may submit requests or cut the power.
void Nvram::State::finish(const Command& command, Status status) {
  if (command.breakdown.cache_hit) ++intake.counters().cache_hits;
  intake.answer(command, store_failed ? Status::store_error : status);
}

/// Starts all work that is now possible.
void Nvram::State::pump() {
  refresh_battery();
  retry_waiting();
  begin_next();
  consider_destage();
  const std::uint64_t then = intake.generation();
  const auto settled = [this] {
    return battery != BatteryState::dead || blocks.failed_blocks() > 0 ||
           blocks.dirty_sectors() + blocks.leaving_sectors() == 0;
  };
  while (then == intake.generation() && !flushes.empty() && settled()) {
    Command command = flushes.front();
    flushes.pop_front();
    send_flush(command);
  }
  if (then != intake.generation()) return;
  const bool quiet = !current && queue.empty() && waiting.empty();
  if (quiet && profile.idle_delay_ns > 0 && blocks.dirty_blocks() > 0 && !idle_draining) {
    schedule(simulation.now() + profile.idle_delay_ns, Event::idle);
  }
  update_busy();
}

// ---- requests that need the device below

Nvram::State::BackendRequest& Nvram::State::take_backend_request(Job job) {
  if (free_backend_requests.empty()) {
    backend_requests.emplace_back(*this);
    free_backend_requests.push_back(&backend_requests.back());
  }
  BackendRequest& backend = *free_backend_requests.back();
  free_backend_requests.pop_back();
  backend.job = job;
  backend.busy = true;
  backend.flushing = false;
  backend.generation = intake.generation();
  backend.kept.clear();
  backend.in_pieces = false;
  backend.gaps.clear();
  return backend;
}

void Nvram::State::send(BackendRequest& backend, const Request& request) {
  Request own = request;
  own.id = simulation.new_request_id();
  below->submit(own, backend);
}

void Nvram::State::pass(Command command) {
  BackendRequest& backend = take_backend_request(Job::pass);
  backend.command = command;
  send(backend, backend.command.request);
}

void Nvram::State::read(Command command) {
  const Request& request = command.request;
  const SectorRange part = inside(request);
  blocks.renew(part);
  std::optional<SectorRange> hull = blocks.absent_hull(part);
  if (part.sectors != request.sectors) {
    /// The request crosses the end of the range, so the device below is needed in any case.
    hull = range_of(request);
  } else if (!hull) {
    blocks.overlay(part, request.into);
    ++nvram_counters.read_hits;
    command.breakdown.cache_hit = true;
    return finish(command, Status::ok);
  }
  BackendRequest& backend = take_backend_request(Job::read);
  backend.hull = *hull;
  Request own = request;
  own.lba = hull->lba;
  own.sectors = static_cast<std::uint32_t>(hull->sectors);
  backend.kept =
      blocks.present_runs({std::max(hull->lba, part.lba),
                           std::min(hull->end(), part.end()) - std::max(hull->lba, part.lba)});
  if (!request.into.empty()) {
    blocks.overlay(part, request.into.subspan((part.lba - request.lba) * kSectorBytes));
    own.into = request.into.subspan((hull->lba - request.lba) * kSectorBytes,
                                    hull->sectors * kSectorBytes);
    if (!backend.kept.empty()) backend.bytes.assign(own.into.begin(), own.into.end());
  }
  backend.command = command;
  send(backend, own);
}

/// Handles a read error of the device below. If part of the hull is cached, the error may be in a
/// sector whose newest version is cached and must stay readable. Therefore, the uncached parts are
/// read one by one. If one of them is unreadable, the whole request fails, as on a drive. Returns
/// true if another part has been requested.
bool Nvram::State::read_goes_on(BackendRequest& backend, Status status) {
  if (status == Status::medium_error && !backend.in_pieces && !backend.kept.empty()) {
    backend.in_pieces = true;
    std::uint64_t at = backend.hull.lba;
    for (const SectorRange& run : backend.kept) {
      if (run.lba > at) backend.gaps.push_back({at, run.lba - at});
      at = run.end();
    }
    if (at < backend.hull.end()) backend.gaps.push_back({at, backend.hull.end() - at});
  } else if (status != Status::ok) {
    return false;
  }
  if (backend.gaps.empty()) return false;
  const SectorRange gap = backend.gaps.front();
  backend.gaps.pop_front();
  Request own = backend.command.request;
  if (!own.into.empty())
    own.into = own.into.subspan((gap.lba - own.lba) * kSectorBytes, gap.sectors * kSectorBytes);
  own.lba = gap.lba;
  own.sectors = static_cast<std::uint32_t>(gap.sectors);
  send(backend, own);
  return true;
}

void Nvram::State::lay_kept_over(const BackendRequest& backend) const {
  const Request& request = backend.command.request;
  if (request.into.empty()) return;
  for (const SectorRange& run : backend.kept) {
    const std::span<const std::byte> from =
        std::span(backend.bytes)
            .subspan((run.lba - backend.hull.lba) * kSectorBytes, run.sectors * kSectorBytes);
    std::memcpy(request.into.data() + (run.lba - request.lba) * kSectorBytes, from.data(),
                from.size());
  }
}

void Nvram::State::send_through(Command command) {
  if (command.request.op != Op::trim) ++nvram_counters.write_throughs;
  BackendRequest& backend = take_backend_request(Job::through);
  backend.range = inside(command.request);
  blocks.drop_clean(backend.range);
  through.push_back(&backend);
  Request own = command.request;
  own.fua = own.op != Op::trim && (own.fua || below_volatile);
  backend.command = command;
  send(backend, own);
}

void Nvram::State::send_flush(Command command) {
  if (battery == BatteryState::dead && blocks.dirty_sectors() + blocks.leaving_sectors() > 0) {
    if (blocks.failed_blocks() > 0) return finish(command, Status::medium_error);
    flushes.push_back(command);
    return;
  }
  if (characteristics.volatile_cache) return pass(command);
  finish(command, Status::ok);
}

void Nvram::State::backend_request_done(BackendRequest& backend, const Completion& completion) {
  // If the generations differ, the power was cut after the request was sent. The host's request has
  // already been answered.
  if (backend.generation != intake.generation()) {
    backend.busy = false;
    free_backend_requests.push_back(&backend);
    return;
  }
  store_failed |= completion.status == Status::store_error;
  if (backend.job == Job::through && backend.command.request.op == Op::trim && below_volatile &&
      !backend.flushing && completion.status == Status::ok) {
    backend.flushing = true;
    Request flush;
    flush.op = Op::flush;
    send(backend, flush);
    return;
  }
  if (backend.job == Job::read && read_goes_on(backend, completion.status)) return;
  const Command command = backend.command;
  const Job job = backend.job;
  if (job == Job::destage) {
    destage_done(backend.range, completion.status);
  } else if (job == Job::through) {
    through_done(backend, completion.status);
  } else if (job == Job::read && completion.status == Status::ok) {
    lay_kept_over(backend);
  }
  backend.busy = false;
  free_backend_requests.push_back(&backend);
  const std::uint64_t then = intake.generation();
  if (job != Job::destage) {
    Command answered = command;
    const TimeNs overhead_ns = answered.breakdown.overhead_ns;
    answered.breakdown = completion.breakdown;
    answered.breakdown.overhead_ns += overhead_ns;
    answered.breakdown.cache_hit = false;
    finish(answered, completion.status);
  }
  if (then == intake.generation()) pump();
}

void Nvram::State::through_done(BackendRequest& backend, Status status) {
  through.erase(std::find(through.begin(), through.end(), &backend));
  if (status != Status::ok) return;  // the cache keeps its older, acknowledged data
  blocks.drop(backend.range);
  const Request& request = backend.command.request;
  std::span<const std::byte> data = request.data;
  if (!data.empty()) {
    data = data.subspan((backend.range.lba - request.lba) * kSectorBytes,
                        backend.range.sectors * kSectorBytes);
  }
  observer.media_written(
      device, simulation.now(),
      {request.id, backend.range.lba, static_cast<std::uint32_t>(backend.range.sectors),
       MediaWrite::Outcome::written, data});
}

Nvram::Nvram(NvramOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Nvram::~Nvram() = default;

const Characteristics& Nvram::characteristics() const {
  return state_->characteristics;
}

DeviceCounters Nvram::counters() const {
  DeviceCounters all = state_->intake.counters();
  all.busy_ns = state_->busy.total_ns(state_->simulation.now());
  return all;
}

void Nvram::submit(const Request& request, Initiator& initiator) {
  state_->submit(request, initiator);
}
void Nvram::power_cut() {
  state_->power_cut();
}
void Nvram::power_on() {
  state_->power_on();
}

NvramCounters Nvram::nvram_counters() const {
  NvramCounters all = state_->nvram_counters;
  all.dirty_sectors = state_->blocks.dirty_sectors() + state_->blocks.leaving_sectors();
  return all;
}

void Nvram::count_kinds(NvramKindOf kind_of) {
  state_->kind_of = std::move(kind_of);
}

const NvramKinds& Nvram::kinds() const {
  return state_->kinds;
}

std::optional<TimeNs> Nvram::quiet_since() const {
  const bool waits = state_->profile.idle_delay_ns > 0 && nvram_counters().dirty_sectors > 0;
  return waits ? std::nullopt : state_->busy.idle_since();
}

void Nvram::shut_down() {
  State& state = *state_;
  if (!state.intake.powered()) return;
  const auto dirty = [&] { return nvram_counters().dirty_sectors > 0; };
  if (dirty()) {
    state.observer.incident(state.device, state.simulation.now(),
                            "shutdown: the cache is written back");
    state.shutting_down = true;
    state.consider_destage();
    state.update_busy();
    // Blocks whose write-back has failed stay in the cache. They are written back again only after
    // the next power-on.
    const auto working = [&] {
      return state.current || state.backend_requests.size() > state.free_backend_requests.size();
    };
    while (dirty() && state.intake.powered() && working() && state.simulation.run_next()) {
    }
    state.shutting_down = false;
  }
  state.below->shut_down();
}

BatteryState Nvram::battery() const {
  return state_->battery;
}

NvramState Nvram::state() const {
  if (state_->battery == BatteryState::dead) return NvramState::down;
  const bool error = state_->battery == BatteryState::low || state_->blocks.failed_blocks() > 0;
  return error ? NvramState::error : NvramState::up;
}

Device& Nvram::below() {
  return *state_->below;
}

}  // namespace headcrash::model
