// Models LUNs, channels and programs, and their state after a power cut. flash.cc has the commands.
//
// A LUN executes one operation at a time. A read occupies the LUN from the sensing of the page
// until the register is empty; a program occupies it from the filling of the register until the
// program ends. Reads and programs of a LUN run in arrival order. A channel transfers one register
// at a time, and the host link one page at a time.
//
//   LUN 0  |sense|out|            |in|======== program ========|
//   LUN 1  |sense|...|out|                                        (same channel: waits)
//
// A power cut without protection interrupts a program whose data is in the register. For each run
// of sectors within a physical sector, the platter then chooses between old, new, torn and
// unreadable (Tear). A queued program has no effect. With protection, the capacitor supplies the
// device until it has programmed its whole buffer.
#include <algorithm>

#include "plugin/base/invariant.h"
#include "plugin/model/flash/flash_state.h"

namespace headcrash::model {

/// Occupies the LUN's channel for the transfer of `sectors` sectors, after the transfers that
/// already occupy it. Returns the time at which the transfer ends.
TimeNs Flash::State::over_channel(std::uint32_t lun, std::uint32_t sectors) {
  TimeNs& free_at = channel_free_at[lun % profile.channels];
  free_at = std::max(free_at, simulation.now()) + profile.channel_sector_ns * sectors;
  return free_at;
}

void Flash::State::start_lun(std::uint32_t index) {
  Lun& lun = luns[index];
  if (lun.busy || lun.queue.empty()) return;
  const std::uint32_t work = lun.queue.front();
  lun.queue.pop_front();
  lun.busy = true;
  if (work != Lun::kProgram)
    return schedule(simulation.now() + profile.read_ns, Event::sensed, work);
  lun.program_begins = over_channel(index, lun.program->sectors);
  // Before part of a physical sector is programmed, the rest of it is read from its old location.
  const TimeNs fill_ns = lun.program->partial ? profile.read_ns : 0;
  schedule(lun.program_begins + fill_ns + program_ns, Event::programmed, index);
}

void Flash::State::sensed(std::uint32_t read) {
  schedule(over_channel(reads[read].lun, reads[read].sectors), Event::sent, read);
}

void Flash::State::sent(std::uint32_t read) {
  const PageRead page = reads[read];
  free_reads.push_back(read);
  luns[page.lun].busy = false;
  start_lun(page.lun);
  schedule(over_host_link(page.sectors), Event::delivered, page.command);
}

// ---- programs

std::uint64_t Flash::State::oldest() const {
  std::uint64_t sequence = buffer.oldest_dirty();
  for (const Lun& lun : luns) {
    if (lun.program) sequence = std::min(sequence, lun.program->oldest);
  }
  return sequence;
}

bool Flash::State::program_wanted() const {
  if (buffer.dirty_sectors() == 0) return false;
  if (buffer.dirty_sectors() >= profile.page_sectors || quiet || profile.buffer_idle_ns == 0)
    return true;
  if (!room_waiting.empty()) return true;
  return std::any_of(program_waiting.begin(), program_waiting.end(), [this](std::uint32_t index) {
    return buffer.oldest_dirty() <= commands[index].sequence;
  });
}

/// Returns the next idle LUN in round-robin order. If no LUN is idle, returns the next one without
/// a pending program.
std::optional<std::uint32_t> Flash::State::lun_for_program() {
  std::optional<std::uint32_t> found;
  const auto count = static_cast<std::uint32_t>(luns.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = (next_lun + i) % count;
    if (luns[index].program) continue;
    if (!luns[index].busy) {
      found = index;
      break;
    }
    if (!found) found = index;
  }
  if (found) next_lun = (*found + 1) % count;
  return found;
}

/// Returns true if the device has died (faults.h). Commands that are waiting for the buffer then
/// fail.
bool Flash::State::is_dead() {
  if (faults == nullptr || !faults->any() || !faults->is_dead()) return false;
  for (std::deque<std::uint32_t>* line : {&room_waiting, &program_waiting}) {
    for (const std::uint32_t index : *line) {
      commands[index].status = Status::device_failed;
      schedule(simulation.now(), Event::finish, index);
    }
    line->clear();
  }
  return true;
}

void Flash::State::consider_programs() {
  if (is_dead()) return update_busy();
  while (intake.powered() && programs < luns.size() && program_wanted()) {
    FlashProgram program = buffer.take(profile.page_sectors);
    // All dirty units must wait for older versions that are in flight.
    if (program.extents.empty()) break;
    const auto index = lun_for_program();
    invariant(index.has_value(), "a LUN must be free if fewer programs run than there are LUNs");
    Lun& lun = luns[*index];
    lun.program = std::move(program);
    lun.program_begins = kNever;
    lun.queue.push_back(Lun::kProgram);
    ++programs;
    start_lun(*index);
  }
  if (intake.powered() && buffer.dirty_sectors() > 0 && !quiet && profile.buffer_idle_ns > 0 &&
      armed_for != idle_epoch) {
    armed_for = idle_epoch;
    schedule(simulation.now() + profile.buffer_idle_ns, Event::idle);
  }
  update_busy();
}

void Flash::State::programmed(std::uint32_t index) {
  Lun& lun = luns[index];
  const FlashProgram program = std::move(*lun.program);
  lun.program.reset();
  lun.program_begins = kNever;
  lun.busy = false;
  --programs;
  ++intake.counters().media_writes;
  platter.write(simulation.now(), program.extents);
  buffer.program_completed(program);
  start_lun(index);

  for (; !trim_waiting.empty(); trim_waiting.pop_front()) {
    schedule(simulation.now(), Event::trimmed, trim_waiting.front());
  }
  buffer_emptied();
}

/// Resumes commands that are waiting for space in the buffer. No command completes before the
/// function returns.
void Flash::State::buffer_emptied() {
  const std::uint64_t still = oldest();
  const std::deque<std::uint32_t> waiting = std::move(program_waiting);
  program_waiting.clear();
  for (const std::uint32_t command : waiting) {
    if (still > commands[command].sequence) {
      wait_for_programs(command);
    } else {
      program_waiting.push_back(command);
    }
  }
  admit_all();
}

// ---- power

void Flash::State::power_cut() {
  if (!intake.powered()) return;
  const TimeNs now = simulation.now();
  for (const Lun& lun : luns) {
    if (!lun.program) continue;
    if (profile.power_loss_protection) {
      platter.write(now, lun.program->extents);
    } else if (lun.busy && lun.program_begins <= now) {
      cut_short(*lun.program);
    }
  }
  if (profile.power_loss_protection) platter.write(now, buffer.all_dirty());
  intake.power_cut();
  ++idle_epoch;
  for (const Command& command : commands) {
    if (command.active) intake.lose(command);
  }
  for (const Command& command : queue) intake.lose(command);
  queue.clear();
  commands.clear();
  free_commands.clear();
  reads.clear();
  free_reads.clear();
  room_waiting.clear();
  program_waiting.clear();
  trim_waiting.clear();
  buffer.clear();
  for (Lun& lun : luns) lun = Lun();
  std::fill(channel_free_at.begin(), channel_free_at.end(), now);
  host_free_at = now;
  programs = 0;
  quiet = false;
  update_busy();
}

void Flash::State::cut_short(const FlashProgram& program) {
  const TimeNs now = simulation.now();
  for (std::size_t i = 0; i < program.extents.size();) {
    const std::uint64_t unit = program.extents[i].lba / profile.physical_sector_sectors;
    std::size_t end = i + 1;
    while (end < program.extents.size() &&
           program.extents[end].lba == program.extents[end - 1].end() &&
           program.extents[end].lba / profile.physical_sector_sectors == unit) {
      ++end;
    }
    platter.write_cut_short(now, std::span(program.extents).subspan(i, end - i), 0, true);
    i = end;
  }
}

void Flash::State::power_on() {
  intake.power_on();
}

}  // namespace headcrash::model
