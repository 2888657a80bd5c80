// Commits a transaction, from closing it to its commit record (journal.h).

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/schemes/journal.h"
#include "fs-adapters/ufs/schemes/journal_write.h"
#include "plugin/base/invariant.h"

namespace headcrash::ufs {
namespace {

// Maximum number of rounds. One round may not suffice, because removing an inode may change other
// inodes.
constexpr int kCopyRoundsMax = 100;
constexpr std::uint32_t kShareOfData = 8;      // data may take an eighth of the ring
constexpr std::uint32_t kShareOfOrphans = 16;  // the orphan list may take a sixteenth of the ring

}  // namespace

void Journal::commit(Without change) {
  invariant(!committing_, "journal: only one commit may be in progress at a time");
  committing_ = true;
  const std::uint64_t number = running_;
  Transaction transaction;
  bool fine = close_and_copy(transaction);
  if (fine && (!transaction.empty() || change == Without::change)) fine = write(transaction);
  if (!fine) volume_.stop();
  committed_ = number;
  done_.wake_all();
  // Frees space in the ring for the next transaction. Only the next commit waits for this space;
  // callers of the current commit do not.
  if (!volume_.stopped() && used_ > ring_.fragments() / 2 && !make_room(ring_.fragments() / 2))
    volume_.stop();
  committing_ = false;
  done_.wake_all();
}

/// Closes the transaction and copies its changes. Returns false if the disk has failed.
bool Journal::close_and_copy(Transaction& transaction) {
  committer_ = volume_.executor.current();
  closed_ = true;
  while (active_ > 0) idle_.wait();
  const os::TimeNs now = volume_.executor.now();
  const bool fine = copy_inodes();
  if (fine) {
    copy_blocks(transaction);
    order_data(transaction);
    transaction.frees = std::exchange(frees_, {});
    free_in_images(transaction);
    revoke(transaction);
    list_orphans(transaction);
  }
  invariant(active_ == 0, "journal: no operation may run in a transaction that is being copied");
  copied_at_ = now;
  ++running_;
  blocks_ = indirect_ = 0;
  committer_ = nullptr;
  closed_ = false;
  reopened_.wake_all();
  return fine;
}

bool Journal::copy_inodes() {
  for (int round = 0; volume_.inodes.changed() > 0; ++round)
    if (round == kCopyRoundsMax || !volume_.inodes.write_all_delayed()) return false;
  return true;
}

void Journal::copy_blocks(Transaction& transaction) {
  // Blocks that last changed before `copied_at_` are in an earlier transaction.
  for (const os::BufferCache::Dirty& dirty : volume_.cache.dirty_since(copied_at_)) {
    os::HeldBuffer buffer = volume_.cache.cached(dirty.key);
    if (!buffer || !buffer.dirty()) continue;
    const FragmentAddress home = home_of(buffer.lba());
    if (!journalled(buffer.content(), buffer.key(), home) ||
        committed(home, buffer.bytes()) != nullptr)
      continue;
    const bool data = buffer.content() == os::Content::data;
    const std::size_t fragments = buffer.bytes().size() / ring_.fragment_bytes();
    if (data && transaction.fragments + fragments > ring_.fragments() / kShareOfData)
      send_in_place(transaction, std::move(buffer));
    else
      copy_block(transaction, buffer);
  }
}

void Journal::copy_block(Transaction& transaction, const os::HeldBuffer& buffer) {
  const std::span<const std::byte> bytes = buffer.bytes();
  const FragmentAddress home = home_of(buffer.lba());
  transaction.image_at[home] = transaction.record.images.size();
  transaction.record.images.push_back({.home = home, .bytes = {bytes.begin(), bytes.end()}});
  transaction.keys.push_back(buffer.key());
  transaction.kinds.push_back(
      kind_of(volume_.super, volume_.geometry, buffer.key(), buffer.content(), home));
  transaction.fragments += bytes.size() / ring_.fragment_bytes();
  volume_.cpu.charge(os::Cost::copy_per_kib, static_cast<std::int64_t>(bytes.size()));
}

/// Writes data in place, like ordered data, because the transaction has no room for the data.
/// Revokes the extent, so that a replay does not write an older image over the data.
void Journal::send_in_place(Transaction& transaction, os::HeldBuffer buffer) {
  const os::BufferKey key = buffer.key();
  transaction.written_in_place.push_back(
      {.at = home_of(buffer.lba()),
       .fragments = static_cast<std::uint32_t>(buffer.bytes().size() / ring_.fragment_bytes())});
  let_through_ = &key;
  volume_.cache.write_async(std::move(buffer));
  let_through_ = nullptr;
  transaction.data.push_back({key, volume_.cache.being_written(key)});
  ++counters_.ordered_writes;
}

/// Issues the writes of newly allocated data blocks. The commit record waits for them.
void Journal::order_data(Transaction& transaction) {
  const auto keys = std::exchange(new_data_, {});
  if (options_.journal.contents == JournalOptions::Contents::data) return;
  for (const os::BufferKey& key : keys) {
    os::HeldBuffer buffer = volume_.cache.cached(key);
    if (buffer && buffer.dirty()) {
      volume_.cache.write_async(std::move(buffer));
      ++counters_.ordered_writes;
    } else {
      volume_.cache.release(std::move(buffer));
    }
    // Look the write up by its key, because the cache may have evicted the block while a copy of it
    // is in flight.
    if (const os::RequestId request = volume_.cache.being_written(key); request != 0)
      transaction.data.push_back({key, request});
  }
}

std::span<std::byte> Journal::header_image(Transaction& transaction, std::uint32_t group) {
  const FragmentAddress home = volume_.geometry.header(group);
  auto known = transaction.image_at.find(home);
  if (known == transaction.image_at.end()) {
    const auto buffer = volume_.read_block(home);
    if (!buffer) {
      // Without this image, a commit could not free the group's blocks on the disk, and the blocks
      // would leak.
      volume_.stop();
      return {};
    }
    copy_block(transaction, *buffer);
    known = transaction.image_at.find(home);
  }
  const std::span<std::byte> bytes = transaction.record.images[known->second].bytes;
  return CylinderGroup::problem_of(volume_.geometry, bytes, group).empty() ? bytes
                                                                           : std::span<std::byte>();
}

/// Marks the space in `transaction.frees` as free in the transaction's images. The commit thus
/// frees this space on the disk; release() frees the space in memory after the commit.
void Journal::free_in_images(Transaction& transaction) {
  const Geometry& geometry = volume_.geometry;
  for (const Extent& extent : transaction.frees.extents) {
    if (!geometry.is_data(extent.at)) continue;  // a damaged pointer frees nothing
    const std::uint32_t group = geometry.group_of_fragment(extent.at);
    const auto header = header_image(transaction, group);
    if (header.empty()) continue;
    CylinderGroup map(geometry, header, group);
    (void)free_in_map(map, geometry, extent);
  }
  for (const FreedInode& inode : transaction.frees.inodes) {
    const std::uint32_t group = geometry.group_of_inode(inode.number);
    const auto header = header_image(transaction, group);
    if (header.empty()) continue;
    CylinderGroup map(geometry, header, group);
    (void)free_inode_in_map(map, geometry.inode_index_in_group(inode.number), inode.directory);
  }
}

void Journal::release(const Frees& frees) {
  // Fails only on a damaged disk. The space then stays allocated.
  (void)volume_.free_extents(frees.extents);
  for (const FreedInode& inode : frees.inodes)
    (void)volume_.free_inode(inode.number, inode.directory);
}

void Journal::revoke(Transaction& transaction) {
  for (const Extent& extent : transaction.frees.extents) revoke(transaction, extent);
  for (const Extent& extent : transaction.written_in_place) revoke(transaction, extent);
}

/// Revokes those fragments of an extent that have an image in the ring, because a replay would
/// overwrite them.
void Journal::revoke(Transaction& transaction, const Extent& extent) {
  std::vector<Extent>& revoked = transaction.record.revoked;
  for (FragmentAddress at = extent.at; at < extent.at + extent.fragments; ++at) {
    const auto logged = logged_.find(at);
    if (logged == logged_.end() || logged->second < super_.tail_sequence) continue;
    ++counters_.revoked;
    if (!revoked.empty() && revoked.back().at + revoked.back().fragments == at)
      ++revoked.back().fragments;
    else
      revoked.push_back({.at = at, .fragments = 1});
  }
}

void Journal::list_orphans(Transaction& transaction) {
  std::vector<InodeNumber> orphans = volume_.inodes.without_links();
  const std::size_t most = std::size_t{ring_.fragments()} / kShareOfOrphans *
                           ring_.fragment_bytes() / sizeof(InodeNumber);
  transaction.record.too_many_orphans = orphans.size() > most;
  if (transaction.record.too_many_orphans) orphans.clear();
  transaction.record.orphans = std::move(orphans);
}

// --- writing to the disk

bool Journal::flush(Where where) {
  if (!options_.journal.flushes) return true;
  os::BlockRequest request;
  request.op = model::Op::flush;
  request.lba = where == Where::log ? os::device_address(ring_.device(), 0) : 0;
  return volume_.disk.transfer(request) == model::Status::ok;
}

void Journal::send(Writes& writes, std::uint32_t position, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto left = static_cast<std::uint32_t>(bytes.size() / ring_.fragment_bytes());
    const Extent run =
        ring_.run(position, std::min(left, LogWrite::kBytesMax / ring_.fragment_bytes()));
    const auto part = bytes.first(std::size_t{run.fragments} * ring_.fragment_bytes());
    writes.push_back(std::make_unique<LogWrite>(volume_, ring_.lba(run.at), part));
    position = ring_.after(position, run.fragments);
    bytes = bytes.subspan(part.size());
  }
}

bool Journal::all_written(const Writes& writes) {
  bool fine = true;
  for (const auto& write : writes) fine = write->wait() && fine;
  return fine;
}

/// For a control that breaks a rule: writes the fragment that contains the commit record, but does
/// not wait for the write. The request has its own copy of the fragment.
void Journal::send_unawaited(std::uint32_t position, std::span<const std::byte> fragment) {
  struct Loose final : os::DiskDone {
    explicit Loose(std::span<const std::byte> from) : bytes(from.begin(), from.end()) {}
    void done(os::RequestId, model::Status) override { const std::unique_ptr<Loose> ended(this); }
    std::vector<std::byte> bytes;
  };
  auto* const loose = new Loose(fragment);
  (void)volume_.disk.issue({.op = model::Op::write,
                            .lba = ring_.lba(ring_.run(position, 1).at),
                            .sectors = static_cast<std::uint32_t>(fragment.size() / kSectorBytes),
                            .into = {},
                            .data = loose->bytes,
                            .kind = static_cast<std::uint8_t>(WriteKind::log)},
                           {}, *loose);
}

/// Waits for the writes. Returns false if some of the data may not be in place.
bool Journal::arrived(const std::vector<OrderedWrite>& data) {
  bool fine = true;
  for (const OrderedWrite& write : data) {
    volume_.disk.wait_for(write.request);
    fine = fine && !volume_.cache.write_failed(write.key);
  }
  return fine && !volume_.stopped();
}

bool Journal::write_ring(const JournalTransaction& record, const std::vector<OrderedWrite>& data) {
  const std::vector<std::byte> bytes = encode_transaction(record, ring_.fragment_bytes());
  const std::size_t body = bytes.size() - ring_.fragment_bytes();
  const auto commit_at =
      ring_.after(head_, static_cast<std::uint32_t>(body / ring_.fragment_bytes()));
  const auto all = std::span<const std::byte>(bytes);
  Writes writes;
  send(writes, head_, all.first(body));
  if (options_.journal.record == JournalOptions::CommitRecord::last) {
    const bool awaits_data = options_.journal.broken != JournalOptions::Rule::data_unawaited;
    const bool in_place = !awaits_data || arrived(data);
    if (!all_written(writes) || !in_place || !flush(Where::homes)) return false;
    if (ring_.device() != 0 && !flush(Where::log)) return false;
    for (const OrderedWrite& write : data)
      invariant(!awaits_data || !volume_.disk.pending(write.request),
                "journal: a commit record must not be issued before its data has been written");
  }
  if (options_.journal.broken == JournalOptions::Rule::answered_early) {
    send_unawaited(commit_at, all.subspan(body));
  } else {
    send(writes, commit_at, all.subspan(body));
    if (!all_written(writes) || !flush(Where::log)) return false;
  }
  counters_.log_fragments += bytes.size() / ring_.fragment_bytes();
  return true;
}

/// For a control that breaks a rule: writes blocks in place before the commit.
void Journal::send_home(const Transaction& transaction) {
  for (const os::BufferKey& key : transaction.keys) {
    os::HeldBuffer buffer = volume_.cache.cached(key);
    if (buffer && buffer.dirty())
      volume_.cache.write_async(std::move(buffer));
    else
      volume_.cache.release(std::move(buffer));
  }
}

bool Journal::write(Transaction& transaction) {
  const std::uint32_t fragments = fragments_of(transaction.record, ring_.fragment_bytes());
  if (volume_.stopped() || !make_room(fragments)) return false;
  transaction.record.epoch = super_.epoch;
  transaction.record.sequence = sequence_;
  if (options_.journal.broken == JournalOptions::Rule::homes_early) send_home(transaction);
  if (!write_ring(transaction.record, transaction.data)) return false;
  ++counters_.commits;
  counters_.images += transaction.record.images.size();
  logged(transaction, fragments);
  release(transaction.frees);
  return true;
}

/// Called when the transaction is in the ring. From now on, its images are the newest ones.
void Journal::logged(Transaction& transaction, std::uint32_t fragments) {
  JournalTransaction& record = transaction.record;
  invariant(log_.empty() || log_.back().sequence + 1 == record.sequence,
            "journal: sequence numbers in the ring must be consecutive");
  invariant(fragments <= free_fragments(), "journal: a transaction must fit into the ring");
  orphans_ = record.orphans;
  too_many_orphans_ = record.too_many_orphans;
  log_.push_back({.sequence = record.sequence,
                  .start = head_,
                  .fragments = fragments,
                  .images = record.images.size(),
                  .orphans = too_many_orphans_ || !orphans_.empty()});
  head_ = ring_.after(head_, fragments);
  used_ += fragments;
  ++sequence_;
  for (std::size_t i = 0; i < record.images.size(); ++i) {
    JournalImage& image = record.images[i];
    if (const auto older = images_.find(image.home); older != images_.end()) drop(older);
    const auto count = static_cast<FragmentAddress>(image.bytes.size() / ring_.fragment_bytes());
    for (FragmentAddress at = image.home; at < image.home + count; ++at)
      logged_[at] = record.sequence;
    images_[image.home] = {.key = transaction.keys[i],
                           .sequence = record.sequence,
                           .bytes = std::move(image.bytes),
                           .kind = transaction.kinds[i]};
  }
  for (const Extent& extent : transaction.frees.extents)
    forget_overlapping(extent, record.sequence);
  for (const Extent& extent : transaction.written_in_place)
    forget_overlapping(extent, record.sequence);
}

}  // namespace headcrash::ufs
