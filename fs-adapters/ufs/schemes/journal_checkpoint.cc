// Manages space in the ring (journal.h): writes images in place and moves the tail.

#include <algorithm>
#include <array>

#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/schemes/journal.h"
#include "fs-adapters/ufs/schemes/journal_write.h"
#include "plugin/base/invariant.h"

namespace headcrash::ufs {

/// Drops an image that is no longer needed, because it has been written in place, the journal has a
/// newer image of its block, or its block has been freed.
void Journal::drop(std::map<FragmentAddress, Image>::iterator image) {
  const std::uint64_t at = image->second.sequence - log_.front().sequence;
  invariant(at < log_.size() && log_[at].images > 0,
            "journal: each image must belong to a transaction");
  --log_[at].images;
  images_.erase(image);
}

void Journal::in_place(FragmentAddress home, std::uint64_t sequence) {
  const auto image = images_.find(home);
  if (image != images_.end() && image->second.sequence == sequence) drop(image);
}

void Journal::forget_overlapping(const Extent& extent, std::uint64_t before) {
  const std::uint32_t longest = volume_.geometry.fragments_per_block() - 1;
  auto image = images_.lower_bound(extent.at > longest ? extent.at - longest : 0);
  while (image != images_.end() && image->first < extent.at + extent.fragments) {
    const auto next = std::next(image);
    const auto length =
        static_cast<std::uint32_t>(image->second.bytes.size() / ring_.fragment_bytes());
    if (image->first + length > extent.at && image->second.sequence < before) drop(image);
    image = next;
  }
}

/// Makes room in the ring for `fragments`. Returns false if the disk has failed or the ring is too
/// short.
bool Journal::make_room(std::uint32_t fragments) {
  while (free_fragments() < fragments) {
    std::uint32_t gained = free_fragments();
    std::uint64_t last = 0;
    for (const Logged& one : log_) {
      if (gained >= fragments) break;
      gained += one.fragments;
      last = one.sequence;
    }
    if (gained < fragments || !checkpoint(last)) return false;
    const std::uint32_t before = free_fragments();
    if (!move_tail()) return false;
    if (free_fragments() == before && !log_orphans()) return false;
  }
  return true;
}

/// Called if only one transaction is left in the ring, and only its list of open inodes without a
/// name is still needed. Replaces this transaction with a short one that contains just the list.
bool Journal::log_orphans() {
  if (log_.size() != 1 || !log_.front().orphans || log_.front().images != 0) return false;
  Transaction list;
  list.record = {.epoch = super_.epoch,
                 .sequence = sequence_,
                 .orphans = orphans_,
                 .too_many_orphans = too_many_orphans_};
  const std::uint32_t fragments = fragments_of(list.record, ring_.fragment_bytes());
  if (fragments >= log_.front().fragments || fragments > free_fragments()) return false;
  if (!write_ring(list.record, {})) return false;
  logged(list, fragments);
  return move_tail();
}

/// An image that the journal itself writes in place, because the cached block differs from the
/// image or is no longer cached.
struct Journal::StaleImage {
  FragmentAddress home;
  std::uint64_t sequence;
  std::vector<std::byte> bytes;
  std::unique_ptr<LogWrite> write;
};

/// Writes an image in place. If the cached block still equals the image, the cache writes it, so
/// that the block is not written twice.
void Journal::send_image(FragmentAddress home, std::vector<StaleImage>& stale,
                         std::vector<os::RequestId>& through_cache) {
  os::HeldBuffer buffer = volume_.cache.cached(images_.at(home).key);
  const auto image = images_.find(home);
  if (image == images_.end()) return;  // the image was written in place while this fiber waited
  if (buffer && home_of(buffer.lba()) == home &&
      std::ranges::equal(buffer.bytes(), image->second.bytes)) {
    os::RequestId id = buffer.being_written();
    if (buffer.dirty()) id = volume_.cache.write_async(std::move(buffer));
    if (id != 0) {
      through_cache.push_back(id);
      return;
    }
  }
  stale.push_back({.home = home,
                   .sequence = image->second.sequence,
                   .bytes = image->second.bytes,
                   .write = nullptr});
  stale.back().write = std::make_unique<LogWrite>(volume_, volume_.lba(home), stale.back().bytes,
                                                  image->second.kind);
  ++counters_.stale_images_written;
}

/// Writes all images of the transactions up to number `last` in place.
bool Journal::checkpoint(std::uint64_t last) {
  std::vector<FragmentAddress> wanted;
  for (const auto& [home, image] : images_)
    if (image.sequence <= last) wanted.push_back(home);
  std::vector<StaleImage> stale;
  std::vector<os::RequestId> through_cache;
  for (const FragmentAddress home : wanted)
    if (images_.contains(home)) send_image(home, stale, through_cache);
  bool fine = true;
  for (const StaleImage& one : stale) fine = one.write->wait() && fine;
  for (const os::RequestId id : through_cache) volume_.disk.wait_for(id);
  for (const StaleImage& one : stale)
    if (fine) in_place(one.home, one.sequence);
  return fine && !volume_.stopped();
}

/// If `logged_` has grown, removes from it the fragments whose images are no longer in the ring.
void Journal::forget_logged() {
  if (logged_.size() < 2 * logged_kept_) return;
  std::erase_if(logged_, [&](const auto& one) { return one.second < super_.tail_sequence; });
  logged_kept_ = std::max(logged_.size(), kLoggedKept);
}

/// Moves the tail past transactions whose images are all in place. Waits for all writes in flight,
/// instead of tracking which blocks they write.
bool Journal::move_tail() {
  const std::uint64_t before = super_.tail_sequence;
  std::uint32_t gained = 0;
  while (!log_.empty() && log_.front().images == 0 && !(log_.size() == 1 && log_.front().orphans)) {
    gained += log_.front().fragments;
    log_.pop_front();
  }
  super_.tail = log_.empty() ? head_ : log_.front().start;
  super_.tail_sequence = log_.empty() ? sequence_ : log_.front().sequence;
  if (super_.tail_sequence == before) return true;
  invariant(super_.tail_sequence > before && gained <= used_,
            "journal: the tail must move forward within the used part of the ring");
  volume_.disk.drain();
  if (volume_.stopped() || !flush(Where::homes)) return false;
  std::array<std::byte, kSectorBytes> sector = {};
  encode_journal_superblock(super_, sector);
  LogWrite write(volume_, ring_.superblock_lba(), sector);
  if (!write.wait() || !flush(Where::log)) return false;
  ++counters_.tail_writes;
  used_ -= gained;
  forget_logged();
  return true;
}

}  // namespace headcrash::ufs
