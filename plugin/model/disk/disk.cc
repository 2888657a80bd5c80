// The disk executes commands in sequence, with one mechanism and a cache between them.
//
//   read miss         |command|==== seek ====|rotation|sector|sector|sector|sector|
//                                             watermark reached: |reselect|bus bus bus|completion|
//   read hit          |command|preparation|bus bus bus bus|completion|
//   write, cache off  |command|=== seek + settle ===|rotation|sector|sector|reselect|completion|
//                          |bus bus|
//   write, cache on   |command|bus bus bus bus|completion|        ... later: destage
//   queued write,     |=== seek + settle ===|rotation|sector|sector|  begins where the media write
//    cache off, received during the previous command                  of that command ended
//
// OverheadProfile has the time of each phase. The drive accepts as many commands as its queue depth
// and serves them in the order that its policy determines (drive_queue.cc). The host limits the
// number of commands waiting outside the drive (nbdkit by the number of its threads). With the
// cache on, the destage also uses the mechanism. It starts when the host has been idle for a while,
// when the cache is above its high-water mark, or when a command waits for it (a flush, or a write
// that needs room). The queue's policy also selects the extents to destage. If a host command needs
// the mechanism during a destage, it gets the mechanism at the end of the current media write.
//
// Durability:
//  * A flush waits until the cache is clean. Under every policy, a flush follows all writes
//    submitted earlier and precedes all later ones, so when the cache is clean, all writes that the
//    flush must cover are on the medium. If an older version of a sector is being destaged, the
//    sector counts as clean only when the newer version is on the medium.
//  * A write with FUA, or one larger than the cache, goes straight to the medium. Cached data of
//    the same sectors is then dropped, because it is older and no flush has covered it.
//  * With the cache off, every write goes straight to the medium.
//
// Read-ahead after the last command does not count as busy time. Write-back is in
// disk_write_back.cc, power in disk_power.cc, faults in disk_faults.cc.
#include "plugin/model/disk/disk.h"

#include <algorithm>

#include "plugin/base/invariant.h"
#include "plugin/model/core/bus.h"

namespace headcrash::model {
namespace {

bool is_write(const Request& request) {
  return request.op == Op::write || request.op == Op::write_zeroes;
}

constexpr unsigned kTagBits = 2;

}  // namespace

Disk::Disk(const DiskOptions& options)
    : profile_(options.profile),
      simulation_(options.simulation),
      write_cache_on_(options.write_cache && options.profile.write_cache.capacity_sectors > 0),
      intake_(options.simulation, options.observer, options.device),
      faults_(options.faults),
      mechanism_(profile_),
      scheduler_(profile_.queue, mechanism_),
      read_ahead_(profile_.read_buffer, mechanism_),
      read_segments_(profile_.read_buffer.segments - 1, profile_.read_buffer.segment_sectors),
      write_segments_(profile_.read_buffer.write_segments, profile_.read_buffer.segment_sectors),
      platter_({options.store, options.observer, options.device, options.seed,
                options.sectors == 0 ? mechanism_.geometry().sectors() : options.sectors,
                profile_.physical_sector_sectors, options.faults,
                options.tear.value_or(profile_.tear)}),
      first_waiting_(queue_.end()) {
  mechanism_.rotation().start_at(options.spindle_phase_ppm);
  characteristics_.profile = profile_.name;
  characteristics_.sectors =
      options.sectors == 0 ? mechanism_.geometry().sectors() : options.sectors;
  characteristics_.physical_sector_sectors = profile_.physical_sector_sectors;
  characteristics_.volatile_cache = write_cache_on_;
  characteristics_.trim = profile_.trim;
  characteristics_.rotational = true;
  characteristics_.queue_depth = profile_.queue.depth;
  invariant(characteristics_.sectors <= mechanism_.geometry().sectors(),
            "a disk must not expose more sectors than it has");
  invariant(options.store == nullptr || options.store->sectors() >= characteristics_.sectors,
            "the store must be at least as large as the disk");
}

// ---- queue

void Disk::submit(const Request& request, Initiator& initiator) {
  if (!intake_.enter(request, initiator, characteristics_.sectors)) return;
  ++idle_epoch_;
  if (cache_.dirty_sectors() < profile_.write_cache.high_water_sectors &&
      !continues_stream(request))
    destaging_ = false;
  if (free_commands_.empty()) free_commands_.emplace_back();
  free_commands_.front() = {intake_.command(request, initiator)};
  queue_.splice(queue_.end(), free_commands_, free_commands_.begin());
  if (scheduler_.reorders()) {
    if (first_waiting_ == queue_.end()) first_waiting_ = std::prev(queue_.end());
    accept_commands(stage_ == Stage::idle ? 0 : 1);
  }
  if (stage_ == Stage::idle && queue_.size() == 1) begin_next();
  update_busy();
}

/// Lets the scheduler accept waiting commands, up to the drive's queue depth. `served` is 1 if the
/// current command counts towards the depth, otherwise 0.
void Disk::accept_commands(std::size_t served) {
  while (first_waiting_ != queue_.end() && candidates_.size() + served < scheduler_.depth()) {
    Command& command = *first_waiting_;
    const Request& request = command.request;
    command.accepted_at = simulation_.now();
    const std::uint64_t lbn = std::min(request.lba, mechanism_.geometry().sectors() - 1);
    Candidate candidate =
        scheduler_.candidate(lbn, is_write(request) ? Access::write : Access::read);
    candidate.submitted_at = command.submitted_at;
    candidate.barrier = request.op == Op::flush;
    candidates_.push_back(candidate);
    candidate_commands_.push_back(first_waiting_++);
  }
}

/// Moves the command that the policy chooses to the front of the queue.
void Disk::choose_next() {
  const std::size_t best = scheduler_.choose(candidates_, simulation_.now(), last_lbn_);
  queue_.splice(queue_.begin(), queue_, candidate_commands_[best]);
  candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(best));
  candidate_commands_.erase(candidate_commands_.begin() + static_cast<std::ptrdiff_t>(best));
  accept_commands(1);
}

void Disk::begin_next() {
  if (scheduler_.reorders()) choose_next();
  Command& command = queue_.front();
  if (faults_ == nullptr || !faults_->any() || !meets_fault(command)) begin_command();
}

void Disk::begin_command() {
  Command& command = queue_.front();
  command.begun_at = simulation_.now();
  command.after_write = last_was_write_;
  const Request& request = command.request;
  const bool moves_data = request.sectors > 0;
  if (request.op == Op::read && moves_data) {
    begin_read();
  } else if (is_write(request) && moves_data) {
    begin_write();
  } else if (request.op == Op::flush) {
    begin_flush();
  } else if (request.op == Op::trim && moves_data && profile_.trim) {
    use_mechanism();
  } else {
    finish_at(command.begun_at + write_command_ns());
  }
  if (moves_data) last_was_write_ = is_write(request);
}

/// Returns the remaining time for decoding the current command. The drive may already have decoded
/// part of the command while it waited in the queue.
TimeNs Disk::cost_of(const ByPrevious& cost) const {
  const Command& command = queue_.front();
  const TimeNs all = command.after_write ? cost.after_write_ns : cost.after_read_ns;
  const TimeNs decoded = std::max<TimeNs>(0, command.begun_at - command.accepted_at);
  return std::max<TimeNs>(0, all - decoded);
}

TimeNs Disk::write_command_ns() const {
  const OverheadProfile& o = profile_.overhead;
  if (o.write_near_command == o.write_command) return cost_of(o.write_command);
  const Request& request = queue_.front().request;
  const bool near = is_write(request) && request.sectors > 0 &&
                    mechanism_.geometry().locate(request.lba).cylinder == mechanism_.arm().cylinder;
  return cost_of(near ? o.write_near_command : o.write_command);
}

void Disk::finish_at(TimeNs at) {
  stage_ = Stage::timed;
  schedule(at, Tag::done);
}

void Disk::finish() {
  Command& command = queue_.front();
  const Request& request = command.request;
  const bool works = command.status == Status::ok && request.sectors > 0;
  if (works && request.op == Op::read) command.status = read_medium(request);
  if (works && is_write(request)) {
    if (uses_cache(request)) {
      streaming_ = continues_stream(request);
      destaging_ |= streaming_;
      cache_.insert(extent_of(request));
    }
    write_end_ = request.lba + request.sectors;
    write_segments_.keep(request.lba, request.lba + request.sectors);
  }
  if (command.breakdown.cache_hit) ++intake_.counters().cache_hits;
  // Remove the command first, because the host's callback may submit requests.
  std::list<Command> finished;
  finished.splice(finished.begin(), queue_, queue_.begin());
  stage_ = Stage::idle;
  if (media_user_ == MediaUser::host_read) media_user_ = MediaUser::none;

  intake_.answer(command, platter_.failed() ? Status::store_error : command.status);
  free_commands_.splice(free_commands_.begin(), finished);
  if (!intake_.powered()) return;

  if (stage_ == Stage::idle && !queue_.empty()) begin_next();
  if (stage_ == Stage::idle && cache_.dirty_sectors() > 0 && !destaging_) {
    schedule(simulation_.now() + profile_.write_cache.idle_delay_ns, Tag::idle);
  }
  consider_destage();
  update_busy();
}

// ---- commands

void Disk::begin_read() {
  Command& command = queue_.front();
  const Request& request = command.request;
  const OverheadProfile& o = profile_.overhead;
  const TimeNs now = simulation_.now();
  const OffsetPs bus_start_ps = to_ps(cost_of(o.read_hit_command) + o.read_data_preparation_ns);
  const OffsetPs bus_ps = to_ps(o.bus_read_sector_ns);
  OffsetPs sent_ps = bus_start_ps + bus_ps * request.sectors;
  if (media_user_ == MediaUser::none &&
      read_ahead_.holds_start(now, request.lba, request.sectors)) {
    sent_ps = read_ahead_.send(now, request.lba, request.sectors, bus_start_ps, bus_ps);
    media_user_ = MediaUser::host_read;
  } else if (!read_segments_.holds(request.lba, request.sectors) &&
             !write_segments_.holds(request.lba, request.sectors) &&
             !(write_cache_on_ && cache_.covers(request.lba, request.sectors))) {
    use_mechanism();
    return;
  }
  const TimeNs done = now + to_ns_up(sent_ps) + o.read_completion_ns;
  command.breakdown.cache_hit = true;
  command.breakdown.overhead_ns = done - now;
  finish_at(done);
}

bool Disk::uses_cache(const Request& request) const {
  return write_cache_on_ && !request.fua &&
         request.sectors <= profile_.write_cache.capacity_sectors;
}

void Disk::begin_write() {
  Command& command = queue_.front();
  const Request& request = command.request;
  read_ahead_.invalidate(request.lba, request.sectors);
  read_segments_.invalidate(request.lba, request.sectors);
  if (profile_.read_buffer.writes_take_over) {
    stop_read_ahead();
    read_ahead_.clear();
    read_segments_.clear();
  }
  if (!uses_cache(request)) {
    use_mechanism();
    return;
  }
  TimeNs room_at = 0;
  if (cache_.held_sectors() + request.sectors > profile_.write_cache.capacity_sectors) {
    stage_ = Stage::room;
    consider_destage();
    // If the media write in flight frees enough room, the data of this write can arrive before that
    // media write ends.
    if (media_user_ != MediaUser::destage ||
        cache_.dirty_sectors() + request.sectors > profile_.write_cache.capacity_sectors)
      return;
    room_at = planned_.base + to_ns_up(planned_.end_ps);
  }
  const OverheadProfile& o = profile_.overhead;
  const TimeNs bus_ns = request.op == Op::write ? o.bus_write_sector_ns * request.sectors : 0;
  const TimeNs took = write_command_ns() + bus_ns + o.write_completion_ns;
  command.breakdown.cache_hit = true;
  command.breakdown.overhead_ns = took;
  finish_at(std::max(simulation_.now() + took, room_at));
}

/// Returns true for a write that begins where the preceding write ended.
bool Disk::continues_stream(const Request& request) const {
  return is_write(request) && request.sectors > 0 && request.lba == write_end_;
}

void Disk::begin_flush() {
  const OverheadProfile& o = profile_.overhead;
  Command& command = queue_.front();
  if (cache_.held_sectors() > 0 && !command.lies) {
    stage_ = Stage::clean;
    consider_destage();
    return;
  }
  // The flush was decoded while it waited for the cache, so only its completion still takes time.
  const TimeNs decoded = command.begun_at + write_command_ns();
  command.breakdown.overhead_ns = write_command_ns() + o.write_completion_ns;
  finish_at(std::max(simulation_.now(), decoded) + o.write_completion_ns);
}

/// Called when the mechanism is free, so no older write of the range can complete after the trim.
void Disk::begin_trim() {
  const Request& request = queue_.front().request;
  read_ahead_.invalidate(request.lba, request.sectors);
  read_segments_.invalidate(request.lba, request.sectors);
  write_segments_.invalidate(request.lba, request.sectors);
  cache_.drop(request.lba, request.sectors);
  platter_.trim(simulation_.now(), extent_of(request));
  const OverheadProfile& o = profile_.overhead;
  queue_.front().breakdown.overhead_ns = write_command_ns() + o.write_completion_ns;
  finish_at(simulation_.now() + queue_.front().breakdown.overhead_ns);
}

// ---- mechanism

void Disk::use_mechanism() {
  if (media_user_ != MediaUser::none) {
    stage_ = Stage::mechanism;  // media_done() calls this function again
    return;
  }
  if (queue_.front().request.op == Op::trim) {
    begin_trim();
    return;
  }
  stage_ = Stage::media;
  stop_read_ahead();
  if (queue_.front().request.op == Op::read) {
    start_media_read();
  } else {
    start_media_write();
  }
}

void Disk::stop_read_ahead() {
  if (const auto halt = read_ahead_.halt(simulation_.now())) {
    mechanism_.place_arm(halt->arm);
    mechanism_.rotation().lag_behind(halt->sectors_passed);
    arm_free_at_ = halt->arm_free_at;
  }
}

/// Returns the earliest time at which the arm may move for the current command. This is
/// `command_ns` after the command became the current one. If the read-ahead is in the middle of a
/// head switch, the arm may move only after the switch has ended (as in DiskSim's results).
OffsetPs Disk::arm_ready_ps(TimeNs command_ns) const {
  const TimeNs begun_at = queue_.front().begun_at;
  return to_ps(std::max(simulation_.now(), std::max(begun_at, arm_free_at_) + command_ns) -
               begun_at);
}

void Disk::plan_access(const Transfer& transfer) {
  mechanism_.plan(transfer, planned_);
  mechanism_.place_arm(planned_.arm);
  mechanism_.rotation().lag_behind(transfer.sectors);
  last_lbn_ = transfer.lbn + transfer.sectors;
  if (planned_.seek_cylinders > 0) ++intake_.counters().seeks;
}

/// Sets the breakdown of a command that ends at `done`. Excludes the time that the command spent
/// waiting for the mechanism.
void Disk::account(Command& command, TimeNs done, OffsetPs ready_ps, TimeNs command_ns) const {
  Breakdown& b = command.breakdown;
  b.seek_ns = planned_.seek_ps / kPicosecondsPerNs;
  b.rotation_ns = planned_.rotation_ps / kPicosecondsPerNs;
  b.transfer_ns = (planned_.end_ps - planned_.first_ps()) / kPicosecondsPerNs;
  b.seek_cylinders = planned_.seek_cylinders;
  const TimeNs waited = ready_ps / kPicosecondsPerNs - command_ns;
  const TimeNs service = done - command.begun_at - waited;
  b.overhead_ns = std::max<TimeNs>(0, service - b.seek_ns - b.rotation_ns - b.transfer_ns);
}

void Disk::start_media_read() {
  Command& command = queue_.front();
  const OverheadProfile& o = profile_.overhead;
  const TimeNs command_ns = cost_of(o.read_miss_command);
  Transfer transfer;
  transfer.lbn = command.request.lba;
  transfer.sectors = command.request.sectors;
  transfer.access = Access::read;
  transfer.base = command.begun_at;
  transfer.ready_ps = arm_ready_ps(command_ns);
  transfer.positioning_min_ps = to_ps(o.read_positioning_min_ns);
  plan_access(transfer);
  media_user_ = MediaUser::host_read;
  read_segments_.keep(read_ahead_.buffered_from(), read_ahead_.buffered_to());
  read_ahead_.begin(planned_, transfer.lbn, transfer.sectors);
  const TimeNs done =
      command.begun_at +
      to_ns_up(read_sent_ps(o, planned_, transfer.sectors, profile_.read_buffer.segment_sectors,
                            mechanism_.rotation().revolution_ps())) +
      o.read_completion_ns;
  account(command, done, transfer.ready_ps, command_ns);
  finish_at(std::max(done, command.begun_at + to_ns_up(planned_.end_ps)));
}

Extent Disk::extent_of(const Request& request) const {
  Extent extent;
  extent.lba = request.lba;
  extent.sectors = request.sectors;
  extent.source = request.id;
  extent.zeroes = request.op != Op::write;
  extent.since = simulation_.now();
  if (!extent.zeroes) extent.bytes = request.data;
  return extent;
}

TimeNs Disk::bus_ns_of_write() const {
  const OverheadProfile& o = profile_.overhead;
  return o.write_data_start_ns + o.bus_write_sector_ns * queue_.front().request.sectors;
}

/// Returns true if the data of the current write, which is not cached, arrived while the drive
/// executed the previous write. This requires a queue and a second buffer segment for writes.
bool Disk::received_in_queue() const {
  const Command& command = queue_.front();
  const ReadBufferProfile& buffer = profile_.read_buffer;
  if (!scheduler_.reorders() || buffer.write_segments < 2 || !command.after_write ||
      command.request.sectors > buffer.segment_sectors)
    return false;
  const TimeNs from = std::max(command.accepted_at, bus_free_at_);
  return write_command_ns() == 0 && from + bus_ns_of_write() <= command.begun_at;
}

void Disk::start_media_write() {
  Command& command = queue_.front();
  const OverheadProfile& o = profile_.overhead;
  through_ = extent_of(command.request);
  cache_.drop(through_.lba, through_.sectors);
  const TimeNs command_ns = write_command_ns();
  Transfer transfer;
  transfer.lbn = through_.lba;
  transfer.sectors = through_.sectors;
  transfer.access = Access::write;
  transfer.base = command.begun_at;
  transfer.ready_ps = arm_ready_ps(command_ns);
  transfer.positioning_min_ps = to_ps(o.write_positioning_min_ns);
  const bool received = received_in_queue();
  if (received && media_write_ended_at_ != kNever &&
      command.begun_at - media_write_ended_at_ <= o.write_reselect_ns + o.write_completion_ns) {
    // The completion of the previous write uses only the bus, so the arm is already free. Keeps the
    // previous base, so that no time is rounded to nanoseconds.
    transfer.base = planned_.base;
    transfer.ready_ps = planned_.end_ps;
  }
  if (!received && !through_.zeroes) {
    transfer.buffered_data = {to_ps(o.write_data_start_ns + o.bus_write_sector_ns),
                              to_ps(o.bus_write_sector_ns)};
  }
  bus_free_at_ = command.begun_at + (received ? 0 : bus_ns_of_write());
  plan_access(transfer);
  media_user_ = MediaUser::host_write;
  if (watch_) schedule_watch();
  // A short write that began during the completion of the previous one may have ended already.
  const TimeNs media_end = std::max(command.begun_at, transfer.base + to_ns_up(planned_.end_ps));
  const TimeNs done = media_end + o.write_reselect_ns + o.write_completion_ns;
  account(command, done, received ? 0 : transfer.ready_ps, command_ns);
  schedule(media_end, Tag::media_done);
  schedule(done, Tag::done);
}

void Disk::media_done() {
  platter_.write(simulation_.now(), extents_in_flight());
  ++intake_.counters().media_writes;
  media_write_ended_at_ = simulation_.now();
  if (media_user_ == MediaUser::destage) cache_.write_completed();
  media_user_ = MediaUser::none;
  switch (stage_) {
    case Stage::mechanism:
      use_mechanism();
      break;
    case Stage::room:
      begin_write();
      break;
    case Stage::clean:
      begin_flush();
      break;
    default:
      break;
  }
  consider_destage();
  update_busy();
}

std::span<const Extent> Disk::extents_in_flight() const {
  if (media_user_ == MediaUser::destage) return cache_.in_flight();
  return media_user_ == MediaUser::host_write ? std::span(&through_, 1) : std::span<const Extent>();
}

// ---- events and statistics

void Disk::schedule(TimeNs at, Tag tag) {
  const std::uint64_t era = tag == Tag::idle ? idle_epoch_ : intake_.generation();
  simulation_.schedule(at, *this, era << kTagBits | static_cast<std::uint64_t>(tag));
}

void Disk::on_event(std::uint64_t tag) {
  const auto kind = static_cast<Tag>(tag & ((1U << kTagBits) - 1));
  const std::uint64_t era = tag >> kTagBits;
  if (kind == Tag::idle) {
    if (era != idle_epoch_) return;
    destaging_ = true;
    consider_destage();
    update_busy();
  } else if (era == intake_.generation()) {
    kind == Tag::begin ? begin_command() : kind == Tag::done ? finish() : media_done();
  }
}

void Disk::update_busy() {
  busy_.set(!queue_.empty() || media_user_ != MediaUser::none, simulation_.now());
}

DeviceCounters Disk::counters() const {
  DeviceCounters all = intake_.counters();
  all.media_sectors_written = platter_.sectors_written();
  all.busy_ns = busy_.total_ns(simulation_.now());
  return all;
}

}  // namespace headcrash::model
