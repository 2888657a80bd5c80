// The journal's operations (journal.h). Commits are in journal_commit.cc, and the ring is in
// journal_checkpoint.cc.

#include "fs-adapters/ufs/schemes/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/schemes/journal_area.h"
#include "plugin/base/invariant.h"

namespace headcrash::ufs {
namespace {

// Number of blocks for the two inodes that every operation may change without reporting the change.
constexpr std::uint32_t kBlocksOfItself = 2;
// Maximum number of rounds in a sync. The number can be limited because a sync need not include
// changes that are made while it runs.
constexpr int kCommitRoundsMax = 100;

}  // namespace

Journal::Journal(Volume& volume, const SchemeOptions& options)
    : Scheme(volume, options),
      ring_(volume.super),
      super_(volume.journal),
      limit_blocks_(ring_.fragments() / 2 / volume.super.fragments_per_block()),
      indirect_max_(ring_.fragments() / 8 / volume.super.fragments_per_block()),
      reopened_(volume.executor),
      idle_(volume.executor),
      done_(volume.executor),
      head_(super_.tail),
      sequence_(super_.tail_sequence) {}

// --- operations

/// Returns true if the transaction has space for another operation. Operations reserve more blocks
/// than they usually change. If the sum of the reservations exceeds the limit, the blocks that have
/// really changed are counted instead.
bool Journal::has_room() {
  const auto fits = [&] {
    return blocks_ + (active_ + 1) * kBlocksOfAnOperation + volume_.super.groups <= limit_blocks_;
  };
  if (volume_.stopped() || fits()) return true;
  const auto changed = static_cast<std::uint32_t>(volume_.cache.dirty_metadata_since(copied_at_) +
                                                  volume_.inodes.changed());
  blocks_ = std::min(blocks_, changed);
  return fits();
}

void Journal::begin(Operation& operation) {
  // The fiber that copies inodes for a commit may turn out to be the last user of an inode. The
  // fiber must then remove this inode within the closed transaction.
  if (committer_ != nullptr && committer_ == volume_.executor.current()) return;
  for (;;) {
    while (closed_) reopened_.wait();
    if (has_room()) break;
    (void)commit_through(running_);
  }
  invariant(!closed_, "journal: no operation may join a closed transaction");
  ++active_;
  operation.transaction = running_;
}

VfsResult<void> Journal::end(Operation& operation) {
  if (operation.transaction == 0) return {};
  invariant(active_ > 0 && operation.transaction == running_,
            "journal: an operation must end in the transaction in which it began");
  blocks_ += operation.blocks + kBlocksOfItself;
  if (--active_ == 0) idle_.wake_all();
  if (volume_.stopped())
    return operation.blocks > 0 || operation.commits ? refuse(EIO) : VfsResult<void>();
  commit_later();
  if (!operation.commits) return {};
  if (options_.journal.sharing == JournalOptions::Sharing::none) return commit_alone();
  return commit_through(operation.transaction);
}

void Journal::commit_later() {
  if (std::exchange(timer_, true)) return;
  volume_.syncer.add_work(
      [this] {
        timer_ = false;
        // Ignore the result. Callers that need the result also call commit_through().
        if (!volume_.abandoned) (void)commit_through(running_);
      },
      volume_.syncer.due_at(os::Content::data, options_.journal.interval_ns));
}

VfsResult<void> Journal::commit_through(std::uint64_t transaction) {
  while (committed_ < transaction && !volume_.stopped()) {
    if (committing_)
      done_.wait();
    else
      commit();
  }
  return volume_.stopped() ? refuse(EIO) : VfsResult<void>();
}

/// Issues a separate commit for the caller, even if another commit has already included all of the
/// caller's changes.
VfsResult<void> Journal::commit_alone() {
  while (committing_ && !volume_.stopped()) done_.wait();
  if (!volume_.stopped()) commit(Without::change);
  return volume_.stopped() ? refuse(EIO) : VfsResult<void>();
}

/// If commits are synchronous, makes the operation commit when it ends. Called for operations that
/// change names or release blocks.
void Journal::commit_with(Operation& operation) {
  if (options_.journal.commit == JournalOptions::Commit::synchronous) operation.commits = true;
}

std::uint32_t Journal::groups_of(const std::vector<Extent>& extents) const {
  return static_cast<std::uint32_t>(std::min<std::size_t>(extents.size(), volume_.super.groups));
}

VfsResult<os::HeldBuffer> Journal::block_allocated(Operation& operation,
                                                   const BlockAllocation& allocation,
                                                   os::HeldBuffer block) {
  // The operation may change the group's header, the block with the pointer, and the new block
  // itself.
  may_change(operation, 3);
  if (allocation.kind == BlockKind::data) {
    new_data_.insert(block.key());
    return block;
  }
  if (allocation.kind == BlockKind::indirect) {
    ++operation.indirect;
    if (++indirect_ > indirect_max_) {
      // A block that has not been used yet can be freed at once.
      volume_.cache.discard(block.key());
      (void)volume_.allocator.free(allocation.at, allocation.fragments);
      return refuse(operation.indirect > indirect_max_ ? EFBIG : ENOSPC);
    }
  }
  return volume_.write_delayed_and_hold(std::move(block));
}

VfsResult<void> Journal::directory_grown(Operation& operation, CoreInode& directory,
                                         std::uint64_t) {
  may_change(operation, 1);
  volume_.inodes.mark_changed(directory);
  return {};
}

VfsResult<void> Journal::blocks_removed(Operation& operation, const BlockRemoval& removal,
                                        os::HeldBuffer holder) {
  may_change(operation, 1 + groups_of(removal.extents));
  if (holder)
    volume_.cache.write_delayed(std::move(holder));
  else
    volume_.inodes.mark_changed(removal.inode);
  frees_.extents.insert(frees_.extents.end(), removal.extents.begin(), removal.extents.end());
  if (!removal.moved) commit_with(operation);
  return {};
}

VfsResult<void> Journal::link_added(Operation& operation, const LinkAddition& addition,
                                    os::HeldBuffer directory_block) {
  // The operation may change the directory block, the header of the inode's group, and the inodes
  // of the directory, the target and the replaced inode.
  may_change(operation, 6);
  volume_.cache.write_delayed(std::move(directory_block));
  volume_.inodes.mark_changed(addition.target);
  commit_with(operation);
  if (addition.replaced.inode == nullptr) return {};
  return volume_.drop_link(operation, addition.replaced);
}

VfsResult<void> Journal::link_removed(Operation& operation, const LinkRemoval& removal,
                                      os::HeldBuffer directory_block) {
  may_change(operation, 4);
  volume_.cache.write_delayed(std::move(directory_block));
  commit_with(operation);
  return volume_.drop_link(operation, removal.dropped);
}

/// The first call for an inode defers the removal and returns true. When the syncer or another user
/// later releases the inode, a second call returns false, and the inode is removed.
bool Journal::defers_removal(CoreInode& inode) {
  if (options_.journal.removal == JournalOptions::Removal::by_user) return false;
  if (deferred_removals_.erase(inode.number) != 0) return false;
  deferred_removals_.insert(inode.number);
  volume_.syncer.add_work(
      [this, &inode] { const InodeHandle taken_over(volume_.inodes, inode, nullptr); });
  return true;
}

VfsResult<void> Journal::inode_removed(Operation& operation, const InodeRemoval& removal) {
  may_change(operation, 2 + groups_of(removal.extents));
  // The inode must be copied to its block now, because it leaves the core when this function
  // returns.
  TRY(volume_.inodes.write_delayed(removal.inode));
  frees_.extents.insert(frees_.extents.end(), removal.extents.begin(), removal.extents.end());
  frees_.inodes.push_back({.number = removal.inode.number, .directory = removal.directory});
  commit_with(operation);
  return {};
}

// --- fsync and sync

/// Marks the operation to be committed. The commit itself waits until the operation has ended,
/// because no operation may be in progress in a transaction that is being committed.
VfsResult<void> Journal::fsync(Operation& operation, CoreInode& inode, SyncExtent) {
  if (options_.journal.contents == JournalOptions::Contents::metadata)
    TRY(as_result(volume_.cache.flush_object(inode.number)));
  if (!flush(Where::homes)) return refuse(EIO);
  operation.commits = true;
  return {};
}

VfsResult<void> Journal::sync() {
  for (int round = 0; round < kCommitRoundsMax; ++round) {
    TRY(commit_through(running_));
    TRY(as_result(volume_.cache.flush_all()));
    volume_.syncer.do_work(os::Syncer::Extent::everything);
    if (!volume_.cache.any_unwritten() && volume_.inodes.changed() == 0 && frees_.empty() &&
        volume_.syncer.work_waiting() == 0)
      break;
  }
  while (committing_) done_.wait();
  committing_ = true;
  if (!volume_.stopped() && !move_tail()) volume_.stop();
  committing_ = false;
  done_.wake_all();
  return volume_.stopped() ? refuse(EIO) : VfsResult<void>();
}

/// Commits the running transaction, because the space that the transaction frees becomes available
/// only after the commit.
bool Journal::reclaim() {
  if (frees_.empty() && deferred_removals_.empty() && indirect_ == 0 && !committing_) return false;
  if (!deferred_removals_.empty()) volume_.syncer.do_work(os::Syncer::Extent::due);
  return commit_through(running_).has_value();
}

/// Returns the memory that the journal uses, mostly for copies of committed blocks that are not in
/// place yet.
std::size_t Journal::bytes_in_core() const {
  std::size_t copies = 0;
  for (const auto& [home, image] : images_) copies += image.bytes.size();
  return copies + (images_.size() + log_.size() + sent_.size() + new_data_.size() +
                   deferred_removals_.size()) *
                      kDependencyBytes;
}

// --- permitted writes

FragmentAddress Journal::home_of(std::uint64_t lba) const {
  return static_cast<FragmentAddress>(lba / volume_.geometry.sectors_per_fragment());
}

/// Returns true if changes to the block go through the journal. This is never true for the
/// superblock and the groups' summaries: a mount writes these blocks, and a replay rebuilds them.
bool Journal::journalled(os::Content content, const os::BufferKey& key,
                         FragmentAddress home) const {
  if (content == os::Content::data)
    return options_.journal.contents == JournalOptions::Contents::data;
  const Superblock& super = volume_.super;
  return key != kSuperblockKey &&
         (home < super.summary_address ||
          home >= super.summary_address + volume_.geometry.fragments_of(super.summary_bytes));
}

/// Returns the last image committed for this place if it equals `bytes`; otherwise null.
const Journal::Image* Journal::committed(FragmentAddress home,
                                         std::span<const std::byte> bytes) const {
  const auto image = images_.find(home);
  if (image == images_.end() || image->second.bytes.size() != bytes.size() ||
      std::memcmp(image->second.bytes.data(), bytes.data(), bytes.size()) != 0)
    return nullptr;
  return &image->second;
}

bool Journal::before_write(os::Outgoing& write) {
  if (!Scheme::before_write(write)) return false;
  const FragmentAddress home = home_of(write.lba);
  const bool may_always = options_.journal.broken == JournalOptions::Rule::homes_early ||
                          !journalled(write.content, write.key, home) ||
                          (let_through_ != nullptr && *let_through_ == write.key);
  Sent sent;
  if (!may_always) {
    const Image* const image = committed(home, write.bytes);
    if (image == nullptr) return false;
    sent = {.home = home, .sequence = image->sequence};
  }
  sent_[write.key].push_back(sent);
  return true;
}

void Journal::after_write(const os::BufferKey& key, os::RequestId, model::Status status) {
  const auto found = sent_.find(key);
  if (found == sent_.end()) return;
  invariant(!found->second.empty(),
            "journal: every completed write must have been issued by the journal");
  const Sent sent = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) sent_.erase(found);
  if (sent.home == 0) return;
  if (status == model::Status::ok)
    in_place(sent.home, sent.sequence);
  else
    volume_.stop();
}

}  // namespace headcrash::ufs
