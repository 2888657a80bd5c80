// Faults of a disk (faults.h), and the instant at which a watched sector is under its head.
//
//   a command's turn comes --dead?--> device_failed after kSelectionNs
//                          --fails?-> medium_error after kSelectionNs (write-error, flush-error)
//                          --slow?--> its work begins later by the delay
//                          --lies?--> a flush completes at once; a write loses its FUA
//                          --> as usual
//
// A dead drive does no background work either: its cache keeps its contents. Commands that wait for
// the cache then complete with device_failed. Write faults and latent errors are handled by the
// platter (platter.cc).
#include "plugin/model/disk/disk.h"

namespace headcrash::model {
namespace {

/// Time after which a dead drive answers a command with an error. Origin: estimate, for a drive
/// whose interface still works. (SCSI allows 250 ms for the answer to a selection.)
constexpr TimeNs kSelectionNs = kMillisecondNs;

}  // namespace

/// Applies faults to the command. If a fault answers or delays the command, returns true, and the
/// caller must not begin the command's work.
bool Disk::meets_fault(Command& command) {
  const TimeNs now = simulation_.now();
  Request& request = command.request;
  if (faults_->dead(request)) {
    command.status = Status::device_failed;
    finish_at(now + kSelectionNs);
    return true;
  }
  if (faults_->fails(request)) {
    command.status = Status::medium_error;
    finish_at(now + kSelectionNs);
    return true;
  }
  if (write_cache_on_ && faults_->lies_about_flush(request)) {
    command.lies = true;
    request.fua = false;
  }
  const TimeNs delay_ns = faults_->delay_ns(request);
  if (delay_ns == 0) return false;
  stage_ = Stage::timed;
  schedule(now + delay_ns, Tag::begin);
  return true;
}

bool Disk::is_dead() {
  if (faults_ == nullptr || !faults_->any() || !faults_->is_dead()) return false;
  if (stage_ == Stage::clean || stage_ == Stage::room) {
    queue_.front().status = Status::device_failed;
    finish_at(simulation_.now());
  }
  return true;
}

/// Completes a read that ends now. Sectors in the write cache are read from there, even if the
/// medium is bad at these sectors. Any other bad sector fails the whole command, as a SCSI check
/// condition does. This includes sectors that were buffered before they went bad, because the read
/// buffer holds only positions, not bytes (read_segments.h).
Status Disk::read_medium(const Request& request) {
  std::optional<std::uint64_t> bad;
  if (write_cache_on_) {
    bad = platter_.read(request.lba, request.sectors, request.into,
                        [this](std::uint64_t lba) { return cache_.covers(lba, 1); });
    if (!bad && !request.into.empty()) cache_.overlay(request.lba, request.into);
  } else {
    bad = platter_.read(request.lba, request.sectors, request.into);
  }
  return bad ? Status::medium_error : Status::ok;
}

bool Disk::watch_media(std::uint64_t lba, EventTarget& target, std::uint64_t tag) {
  watch_ = Watch{lba, &target, tag};
  schedule_watch();
  return true;
}

/// Schedules the watched event for the middle of the watched sector, if the planned media write
/// includes that sector.
void Disk::schedule_watch() {
  const auto extents = extents_in_flight();
  if (extents.empty() || watch_->lba < extents.front().lba || watch_->lba >= extents.back().end())
    return;
  const std::uint64_t wanted = watch_->lba - extents.front().lba;
  for (const TrackTransfer& pass : planned_.passes) {
    if (wanted < pass.first || wanted >= std::uint64_t{pass.first} + pass.sectors) continue;
    const std::int64_t revolution_ps = mechanism_.rotation().revolution_ps();
    const auto index = static_cast<std::uint32_t>(wanted - pass.first);
    const OffsetPs middle_ps =
        (pass.after_ps(index, revolution_ps) + pass.after_ps(index + 1, revolution_ps)) / 2;
    const TimeNs at = planned_.base + middle_ps / kPicosecondsPerNs;
    simulation_.schedule(std::max(at, simulation_.now()), *watch_->target, watch_->tag);
    return;
  }
}

}  // namespace headcrash::model
