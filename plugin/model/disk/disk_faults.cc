// What a disk does about its faults (faults.h), and the instant at which a sector is under its
// head.
//
//   a command's turn comes --dead?--> device_failed after kSelectionNs
//                          --fails?-> medium_error after kSelectionNs (write-error, flush-error)
//                          --slow?--> its work begins so much later
//                          --lies?--> a flush is done at once; a write with fua is one without
//                          --> as always
//
// A drive that is dead does nothing in the background either: what is in its cache stays there.
// Whoever waits for the cache completes with device_failed then. Write faults and latent errors are
// the platter's (platter.cc).
#include "plugin/model/disk/disk.h"

namespace headcrash::model {
namespace {

/// From the command to the answer of a drive that only its interface still answers for. An
/// estimate: SCSI gives a target 250 ms to answer a selection, dead electronics answer at once with
/// an error.
constexpr TimeNs kSelectionNs = kMillisecondNs;

}  // namespace

/// True when the command's work is not to begin now.
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

/// Fills the buffer of the read that ends now. A sector whose newest version is in the write cache
/// is served from there however bad it is on the medium; any other bad one fails the whole command,
/// as a drive ends it with a check condition. The read buffer keeps positions, no bytes
/// (read_segments.h), so a sector that has gone bad since it was buffered is reported too.
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
  tell_watch();
  return true;
}

/// The write under way has been planned to its end: the watched sector, if it is among them, is
/// half written in the middle of its slot.
void Disk::tell_watch() {
  const auto extents = extents_under_way();
  if (extents.empty() || watch_->lba < extents.front().lba || watch_->lba >= extents.back().end())
    return;
  const std::uint64_t wanted = watch_->lba - extents.front().lba;
  for (const TrackPass& pass : planned_.passes) {
    if (wanted < pass.first || wanted >= std::uint64_t{pass.first} + pass.sectors) continue;
    const std::int64_t revolution_ps = mechanism_.rotation().revolution_ps();
    const auto index = static_cast<std::uint32_t>(wanted - pass.first);
    const OffsetPs middle_ps =
        (pass.after_ps(index, revolution_ps) + pass.after_ps(index + 1, revolution_ps)) / 2;
    const TimeNs at = planned_.base + middle_ps / kPicosecondsPerNs;
    if (at >= simulation_.now()) simulation_.schedule(at, *watch_->target, watch_->tag);
    return;
  }
}

}  // namespace headcrash::model
