// Executes the commands of a flash device. LUNs, programs and power are in flash_nand.cc.
//
//   read    |command|== NAND to register ==|channel|host link|      one such row for each page
//                    \ waits while its LUN is busy  \ ... is taken   \ ... is taken
//   write   |buffer write|host link| room? |done                    data is in the buffer
//                                             ... later |channel|==== program ====|
//   flush   |command| until all earlier data has been programmed |flush|done
//   trim    |command|trim|done                                      also write_zeroes, with trim
//
// Up to queue_depth commands are active at the same time; others wait in order. Firmware time only
// adds latency: the device is assumed to have enough processors.
//
// A full page of dirty units is programmed as soon as a LUN is free. A partial page is programmed
// when a command waits for it (a flush, FUA, a write that needs room) or after buffer_idle_ns.
// Programs are packed with the oldest dirty units, whatever their addresses, since a real device
// writes out of place.
//
// Durability: a write with FUA, or any write when the cache is off, completes when it has been
// programmed. With power-loss protection, the buffer is durable, and no command waits for programs.
// A trim takes effect on the medium at its completion. Before that, it waits for programs in flight
// that include its sectors, and it drops the dirty data of its sectors.
#include "plugin/model/flash/flash.h"

#include <algorithm>
#include <iterator>

#include "plugin/base/invariant.h"
#include "plugin/model/flash/flash_state.h"

namespace headcrash::model {

Flash::State::State(const FlashOptions& options)
    : profile(options.profile),
      simulation(options.simulation),
      observer(options.observer),
      device(options.device),
      intake(options.simulation, options.observer, options.device),
      cache_on(options.write_cache),
      faults(options.faults),
      program_ns(profile.program_ns +
                 (profile.pages_per_block > 0 ? profile.erase_ns / profile.pages_per_block : 0)),
      buffer(profile.physical_sector_sectors),
      platter({options.store, options.observer, options.device, options.seed,
               options.sectors == 0 ? profile.capacity_sectors : options.sectors,
               profile.physical_sector_sectors, options.faults,
               options.tear.value_or(profile.tear)}),
      luns(std::size_t{profile.channels} * profile.luns_per_channel),
      channel_free_at(profile.channels, 0) {
  invariant(validate(profile).has_value(), "a flash profile must be valid");
  characteristics.profile = profile.name;
  characteristics.sectors = options.sectors == 0 ? profile.capacity_sectors : options.sectors;
  characteristics.physical_sector_sectors = profile.physical_sector_sectors;
  characteristics.volatile_cache = cache_on && !profile.power_loss_protection;
  characteristics.trim = profile.trim;
  characteristics.fast_zero = profile.trim;
  characteristics.optimal_sectors = profile.page_sectors;
  characteristics.rotational = false;
  characteristics.queue_depth = profile.queue_depth;
  invariant(characteristics.sectors <= profile.capacity_sectors,
            "a device must not expose more sectors than it has");
  invariant(options.store == nullptr || options.store->sectors() >= characteristics.sectors,
            "the store must be at least as large as the device");
}

bool Flash::State::is_trim(const Request& request) const {
  return profile.trim && (request.op == Op::trim || request.op == Op::write_zeroes);
}

bool Flash::State::must_be_programmed(const Request& request) const {
  if (profile.power_loss_protection) return false;
  return request.fua || request.op == Op::flush || !cache_on;
}

Extent Flash::State::extent_of(const Request& request) const {
  Extent extent;
  extent.lba = request.lba;
  extent.sectors = request.sectors;
  extent.source = request.id;
  extent.zeroes = request.op != Op::write;
  if (!extent.zeroes) extent.bytes = request.data;
  return extent;
}

/// Occupies the host link for the transfer of `sectors` sectors, after the transfers that already
/// occupy it. Returns the time at which the transfer ends.
TimeNs Flash::State::over_host_link(std::uint64_t sectors) {
  host_free_at = std::max(host_free_at, simulation.now()) +
                 profile.host_sector_ns * static_cast<TimeNs>(sectors);
  return host_free_at;
}

// ---- the queue

void Flash::State::submit(const Request& request, Initiator& initiator) {
  if (!intake.enter(request, initiator, characteristics.sectors)) return;
  queue.push_back({intake.command(request, initiator)});
  start_commands();
  update_busy();
}

void Flash::State::start_commands() {
  while (!queue.empty() && commands.size() - free_commands.size() < profile.queue_depth) {
    if (free_commands.empty()) {
      free_commands.push_back(static_cast<std::uint32_t>(commands.size()));
      commands.emplace_back();
    }
    const std::uint32_t index = free_commands.back();
    free_commands.pop_back();
    commands[index] = queue.front();
    commands[index].active = true;
    queue.pop_front();
    start(index);
  }
}

void Flash::State::start(std::uint32_t index) {
  Command& command = commands[index];
  const Request& request = command.request;
  const bool writes =
      (request.op == Op::write || request.op == Op::write_zeroes) && !is_trim(request);
  TimeNs firmware_ns = profile.command_ns;
  if (writes) firmware_ns = profile.buffer_write_ns + profile.buffer_sector_ns * request.sectors;
  if (faults != nullptr && faults->any()) {
    if (faults->dead(request)) {
      command.status = Status::device_failed;
    } else if (faults->fails(request)) {
      command.status = Status::medium_error;
    } else {
      command.lies = must_be_programmed(request) && faults->lies_about_flush(request);
      firmware_ns += faults->delay_ns(request);
    }
  }
  command.breakdown.overhead_ns = firmware_ns;
  schedule(simulation.now() + firmware_ns, Event::begin, index);
}

void Flash::State::begin(std::uint32_t index) {
  Command& command = commands[index];
  const Request& request = command.request;
  if (command.status != Status::ok) return finish(index);
  if (request.op == Op::flush) {
    command.sequence = buffer.last_sequence();
    return command.lies || profile.power_loss_protection ? finish(index) : wait_for_programs(index);
  }
  if (request.sectors == 0 || (request.op == Op::trim && !profile.trim)) return finish(index);
  if (request.op == Op::read) return begin_read(index);
  if (is_trim(request)) {
    command.breakdown.overhead_ns += profile.trim_ns;
    return schedule(simulation.now() + profile.trim_ns, Event::trimmed, index);
  }
  schedule(over_host_link(request.op == Op::write ? request.sectors : 0), Event::arrived, index);
}

/// Completes a command. The host's callback may submit requests or cut the power.
void Flash::State::finish(std::uint32_t index) {
  Command command = commands[index];
  const Request& request = command.request;
  commands[index] = {};
  free_commands.push_back(index);
  if (command.status == Status::ok && request.op == Op::read) command.status = read_medium(request);
  if (command.breakdown.cache_hit) ++intake.counters().cache_hits;
  const std::uint64_t then = intake.generation();
  intake.answer(command, platter.failed() ? Status::store_error : command.status);
  if (then != intake.generation()) return;
  start_commands();
  consider_programs();
  update_busy();
}

/// Fills the buffer of a read that completes now.
Status Flash::State::read_medium(const Request& request) {
  const auto buffered = [this](std::uint64_t lba) { return buffer.covers(lba, 1); };
  if (platter.read(request.lba, request.sectors, request.into, buffered))
    return Status::medium_error;
  buffer.overlay(request.lba, request.into);
  return Status::ok;
}

// ---- reads

void Flash::State::begin_read(std::uint32_t index) {
  Command& command = commands[index];
  const Request& request = command.request;
  const std::uint64_t end = request.lba + request.sectors;
  std::uint64_t buffered = 0;
  std::vector<std::uint32_t> started;
  for (std::uint64_t at = request.lba; at < end;) {
    const std::uint64_t page = at / profile.page_sectors;
    const std::uint64_t to = std::min(end, (page + 1) * profile.page_sectors);
    if (buffer.covers(at, to - at)) {
      buffered += to - at;
    } else {
      if (free_reads.empty()) {
        free_reads.push_back(static_cast<std::uint32_t>(reads.size()));
        reads.emplace_back();
      }
      const std::uint32_t read = free_reads.back();
      free_reads.pop_back();
      reads[read] = {index, static_cast<std::uint32_t>(page % luns.size()),
                     static_cast<std::uint32_t>(to - at)};
      luns[reads[read].lun].queue.push_back(read);
      started.push_back(reads[read].lun);
      ++command.parts_left;
    }
    at = to;
  }
  command.breakdown.cache_hit = started.empty();
  const auto page_sectors = std::min(request.sectors, profile.page_sectors);
  command.breakdown.transfer_ns = profile.host_sector_ns * request.sectors;
  if (!started.empty())
    command.breakdown.transfer_ns += profile.read_ns + profile.channel_sector_ns * page_sectors;
  if (buffered > 0) {
    ++command.parts_left;
    schedule(over_host_link(buffered), Event::delivered, index);
  }
  for (const std::uint32_t lun : started) start_lun(lun);
}

void Flash::State::delivered(std::uint32_t index) {
  Command& command = commands[index];
  if (--command.parts_left > 0) return;
  const TimeNs response = simulation.now() - command.submitted_at;
  command.breakdown.transfer_ns =
      std::min(command.breakdown.transfer_ns, response - command.breakdown.overhead_ns);
  finish(index);
}

// ---- writes

/// Moves waiting writes into the buffer while there is room, in the order in which their data has
/// arrived.
void Flash::State::admit_all() {
  while (!room_waiting.empty() && admit(room_waiting.front())) {
    const std::uint32_t index = room_waiting.front();
    room_waiting.pop_front();
    const bool waits = must_be_programmed(commands[index].request) && !commands[index].lies;
    commands[index].breakdown.cache_hit = !waits;
    if (waits) {
      wait_for_programs(index);
    } else {
      schedule(simulation.now(), Event::finish, index);
    }
  }
  consider_programs();
}

/// Moves whole physical sectors of a write into the buffer, as many as there is room for. Returns
/// true if the whole write is then in the buffer.
bool Flash::State::admit(std::uint32_t index) {
  Command& command = commands[index];
  const Extent whole = extent_of(command.request);
  const std::uint64_t from = whole.lba + command.admitted;
  const std::uint64_t room = profile.buffer_sectors -
                             std::min<std::uint64_t>(profile.buffer_sectors, buffer.held_sectors());
  std::uint64_t to = std::min(whole.end(), from + room);
  if (to < whole.end()) to -= std::min(to - from, to % profile.physical_sector_sectors);
  if (to > from) {
    command.sequence = buffer.insert(whole.slice(from, to));
    command.admitted += static_cast<std::uint32_t>(to - from);
    quiet = false;
    ++idle_epoch;
  }
  return command.admitted == command.request.sectors;
}

void Flash::State::wait_for_programs(std::uint32_t index) {
  if (oldest() > commands[index].sequence) {
    const bool flush = commands[index].request.op == Op::flush;
    if (flush) commands[index].breakdown.overhead_ns += profile.flush_ns;
    schedule(simulation.now() + (flush ? profile.flush_ns : 0), Event::finish, index);
    return;
  }
  program_waiting.push_back(index);
  consider_programs();
}

void Flash::State::trim(std::uint32_t index) {
  const Request& request = commands[index].request;
  if (buffer.in_flight(request.lba, request.sectors)) {
    trim_waiting.push_back(index);
    return;
  }
  buffer.drop(request.lba, request.sectors);
  Extent nothing = extent_of(request);
  nothing.zeroes = true;
  platter.trim(simulation.now(), nothing);
  buffer_emptied();
  finish(index);
}

// ---- events and statistics

namespace {
constexpr unsigned kFlashEventBits = 4;
constexpr unsigned kFlashIndexBits = 28;
}  // namespace

void Flash::State::schedule(TimeNs at, Event event, std::uint64_t index) {
  invariant(index >> kFlashIndexBits == 0,
            "the number of operations in a flash device must not exceed its limit");
  const std::uint64_t era = event == Event::idle ? idle_epoch : intake.generation();
  simulation.schedule(
      at, *this,
      (era << kFlashIndexBits | index) << kFlashEventBits | static_cast<std::uint64_t>(event));
}

void Flash::State::on_event(std::uint64_t tag) {
  const auto event = static_cast<Event>(tag & ((1U << kFlashEventBits) - 1));
  const auto index =
      static_cast<std::uint32_t>(tag >> kFlashEventBits & ((1U << kFlashIndexBits) - 1));
  const std::uint64_t era = tag >> (kFlashEventBits + kFlashIndexBits);
  if (era !=
      ((event == Event::idle ? idle_epoch : intake.generation()) & ((std::uint64_t{1} << 32) - 1)))
    return;
  switch (event) {
    case Event::begin:
      return begin(index);
    case Event::arrived:
      room_waiting.push_back(index);
      return admit_all();
    case Event::sensed:
      return sensed(index);
    case Event::sent:
      return sent(index);
    case Event::delivered:
      return delivered(index);
    case Event::finish:
      return finish(index);
    case Event::programmed:
      return programmed(index);
    case Event::trimmed:
      return trim(index);
    case Event::idle:
      quiet = true;
      return consider_programs();
  }
}

void Flash::State::update_busy() {
  busy.set(intake.powered() &&
               (commands.size() > free_commands.size() || !queue.empty() || programs > 0),
           simulation.now());
}

Flash::Flash(const FlashOptions& options) : state_(std::make_unique<State>(options)) {}
Flash::~Flash() = default;

const Characteristics& Flash::characteristics() const {
  return state_->characteristics;
}

DeviceCounters Flash::counters() const {
  DeviceCounters all = state_->intake.counters();
  all.media_sectors_written = state_->platter.sectors_written();
  all.busy_ns = state_->busy.total_ns(state_->simulation.now());
  return all;
}

std::optional<TimeNs> Flash::quiet_since() const {
  return state_->buffer.held_sectors() > 0 ? std::nullopt : state_->busy.idle_since();
}

void Flash::submit(const Request& request, Initiator& initiator) {
  state_->submit(request, initiator);
}
void Flash::power_cut() {
  state_->power_cut();
}
void Flash::power_on() {
  state_->power_on();
}

}  // namespace headcrash::model
