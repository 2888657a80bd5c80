// Handles write-back, battery and power of the cache. nvram.cc has the requests.
//
//   dirty blocks / all   0 ....... low ............. high ....... 1000
//                        |  idle   | continues, if begun | writes back |
//
// If the host has been idle for idle_delay_ns, or if the battery is not ok, the write-back
// continues until nothing is dirty. It also continues until all data that was dirty at power-on has
// been written, and until a waiting write has enough room. The least recently written block is
// written first, together with adjacent blocks. A frequently rewritten block is written last, or
// ideally never.
//
// A write-back sends a copy. Its sectors stay in the cache, marked as leaving. If a power cut
// tears these sectors in the device below, they are written again at power-on.
#include <fmt/core.h>

#include <algorithm>

#include "plugin/base/invariant.h"
#include "plugin/model/nvram/nvram_state.h"

namespace headcrash::model {

// ---- write-back

bool Nvram::State::destage_wanted() {
  const std::uint64_t dirty = std::uint64_t{blocks.dirty_blocks()} * 1000;
  if (dirty == 0) {
    draining = idle_draining = false;
    return false;
  }
  if (dirty >= std::uint64_t{profile.high_water_permille} * blocks.blocks()) draining = true;
  if (dirty <= std::uint64_t{profile.low_water_permille} * blocks.blocks()) draining = false;
  const bool room_needed = !waiting.empty() && route(waiting.front().request) == Route::cache &&
                           !blocks.has_room_for(inside(waiting.front().request));
  return draining || idle_draining || shutting_down || room_needed || battery != BatteryState::ok ||
         blocks.replay_sectors() > 0;
}

void Nvram::State::consider_destage() {
  while (intake.powered() && destages_in_flight < profile.destage_depth && destage_wanted()) {
    const auto run = next_destage();
    if (!run) return;
    BackendRequest& backend = take_backend_request(Job::destage);
    backend.range = *run;
    Request write;
    write.op = Op::write;
    write.fua = below_volatile;
    write.lba = run->lba;
    write.sectors = static_cast<std::uint32_t>(run->sectors);
    if (has_bytes) {
      backend.bytes.resize(run->sectors * kSectorBytes);
      blocks.overlay(*run, backend.bytes);
      write.data = backend.bytes;
    }
    blocks.leave(*run);
    ++destages_in_flight;
    send(backend, write);
  }
}

/// Returns the range to be written back next. It includes the least recently written dirty block
/// that may be sent, and adjacent blocks.
std::optional<SectorRange> Nvram::State::next_destage() const {
  for (const std::uint32_t slot : blocks.dirty_order()) {
    if (!blocks.may_leave(slot)) continue;
    const SectorRange run = blocks.first_run(slot);
    if (!locked(run)) return joined(run);
  }
  return std::nullopt;
}

SectorRange Nvram::State::joined(SectorRange run) const {
  const std::uint64_t most = profile.destage_sectors_max;
  while (const auto lower = blocks.run_up_to(run.lba)) {
    if (run.sectors + lower->sectors > most || locked(*lower)) break;
    run = {lower->lba, lower->sectors + run.sectors};
  }
  while (const auto upper = blocks.run_from(run.end())) {
    if (run.sectors + upper->sectors > most || locked(*upper)) break;
    run.sectors += upper->sectors;
  }
  return run;
}

void Nvram::State::destage_done(const SectorRange& run, Status status) {
  --destages_in_flight;
  if (status == Status::ok) {
    ++nvram_counters.destages;
    nvram_counters.destaged_sectors += run.sectors;
    nvram_counters.replayed_sectors += blocks.write_completed(run);
    return;
  }
  ++nvram_counters.failed_destages;
  blocks.came_back(run, true);
  observer.incident(
      device, simulation.now(),
      fmt::format("write-back of {}+{} failed: state ERROR, contents kept", run.lba, run.sectors));
}

// ---- battery and power

void Nvram::State::refresh_battery() {
  BatteryState state = BatteryState::ok;
  if (faults != nullptr && faults->any()) {
    if (faults->battery(FaultKind::battery_dead)) {
      state = BatteryState::dead;
    } else if (faults->battery(FaultKind::battery_low)) {
      state = BatteryState::low;
    }
  }
  if (state == battery) return;
  battery = state;
  const char* const text = state == BatteryState::ok ? "battery ok: writes are cached"
                           : state == BatteryState::low
                               ? "battery low: state ERROR, writes bypass the cache"
                               : "battery dead: state DOWN, writes bypass the cache";
  observer.incident(device, simulation.now(), text);
}

void Nvram::State::power_cut() {
  if (!intake.powered()) return;
  refresh_battery();
  below->power_cut();
  keep_part_of_copy();
  off_since = simulation.now();
  intake.power_cut();
  ++idle_epoch;
  if (current) intake.lose(*current);
  current.reset();
  for (std::deque<Command>* line : {&queue, &waiting, &flushes}) {
    for (const Command& command : *line) intake.lose(command);
    line->clear();
  }
  for (const BackendRequest& backend : backend_requests) {
    // A busy request to the device below may have been sent before an earlier power cut. That cut
    // has already answered the host's command, which must not be answered again.
    if (backend.busy && backend.job != Job::destage &&
        backend.generation + 1 == intake.generation())
      intake.lose(backend.command);
  }
  through.clear();
  destages_in_flight = 0;
  draining = idle_draining = false;
  blocks.cut();
  if (battery == BatteryState::dead) lose_contents("the battery is dead");
  update_busy();
}

/// Stops the copy at `now`. Sectors that have been copied are kept. The sector that is being copied
/// is kept or lost at random.
void Nvram::State::keep_part_of_copy() {
  if (!current || current->request.op == Op::read || route(current->request) != Route::cache)
    return;
  const bool in_line = current->waited || waiting.empty();
  if (simulation.now() < copy_from || !in_line || !may_start(*current)) return;
  const std::uint64_t coin = random.next();
  std::uint64_t sectors = coin % (std::uint64_t{current->request.sectors} + 1);
  if (profile.sector_ns > 0) {
    sectors =
        static_cast<std::uint64_t>((simulation.now() - copy_from) / profile.sector_ns) + coin % 2;
  }
  copy_in(*current,
          static_cast<std::uint32_t>(std::min<std::uint64_t>(sectors, current->request.sectors)));
}

void Nvram::State::power_on() {
  if (intake.powered()) return;
  intake.power_on();
  below->power_on();
  refresh_battery();
  if (simulation.now() - off_since > profile.battery_hold_ns) {
    lose_contents("the power was off for longer than the battery lasts");
  } else if (battery == BatteryState::dead) {
    lose_contents("the battery is dead");
  }
  blocks.mark_replay();
  if (blocks.dirty_sectors() > 0) {
    observer.incident(
        device, simulation.now(),
        fmt::format("contents kept: {} sectors to be written back", blocks.dirty_sectors()));
  }
  pump();
}

void Nvram::State::lose_contents(const char* why) {
  const std::uint64_t sectors = blocks.dirty_sectors();
  blocks.clear();
  if (sectors == 0) return;
  nvram_counters.lost_sectors += sectors;
  observer.incident(device, simulation.now(),
                    fmt::format("contents lost: {} sectors, {}", sectors, why));
}

// ---- events and statistics

void Nvram::State::schedule(TimeNs at, Event event) {
  const std::uint64_t era = event == Event::idle ? idle_epoch : intake.generation();
  simulation.schedule(at, *this, era << kEventBits | static_cast<std::uint64_t>(event));
}

void Nvram::State::on_event(std::uint64_t tag) {
  const auto event = static_cast<Event>(tag & ((1U << kEventBits) - 1));
  const std::uint64_t era = tag >> kEventBits;
  if (event == Event::serviced) {
    if (era == intake.generation()) serviced();
  } else if (era == idle_epoch && intake.powered()) {
    refresh_battery();
    idle_draining = true;
    consider_destage();
    update_busy();
  }
}

void Nvram::State::update_busy() {
  busy.set(intake.powered() && (current || !queue.empty() ||
                                backend_requests.size() > free_backend_requests.size()),
           simulation.now());
}

}  // namespace headcrash::model
