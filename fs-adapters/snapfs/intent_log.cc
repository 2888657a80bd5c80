// Implements fsync with a log record, and the replay during a mount (store.h, log_record.h).
//
// The blocks that a logged generation has freed stay allocated until the next superblock is
// written. The blocks that the logged generation contains are copied before they are changed. A
// record therefore stays valid as long as its superblock is the newest one.
#include <fmt/core.h>

#include <algorithm>

#include "fs-adapters/snapfs/store.h"

namespace headcrash::snapfs {

/// Writes all changes made before the call to the intent log.
VfsResult<void> Store::log_all() {
  const std::uint64_t wanted = newest_with_changes();
  const tree::FiberLockGuard lock(commit_lock_);
  if (stopped_) return refuse(EIO);
  if (committed_ + log_.records >= wanted) return {};
  const LiftBarrier lifted{*this};
  TRY(spawn());
  LogRecord record = record_of(*closing_);
  if (log_.end_bytes + record.bytes() > s_.log_bytes()) return commit_closing(Clean::no);
  return log_closing(record);
}

LogRecord Store::record_of(const Generation& generation) {
  LogRecord record{.base = s_.generation,
                   .sequence = log_.records,
                   .next_generation = next_inode_generation_,
                   .time = now(),
                   .previous_checksum = log_.checksum};
  for (const auto& [number, inode] : generation.inodes) {
    if (inode.allocated())
      record.inodes.push_back(inode);
    else
      record.removed.push_back(number);
    note_if_unlinked(number, inode);
  }
  record.born.assign(generation.born.begin(), generation.born.end());
  record.freed.assign(generation.freed.begin(), generation.freed.end());
  record.numbers_born.assign(generation.numbers_born.begin(), generation.numbers_born.end());
  record.numbers_freed.assign(generation.numbers_freed.begin(), generation.numbers_freed.end());
  std::ranges::sort(record.born);
  std::ranges::sort(record.freed);
  const auto free_now = std::ranges::count_if(
      record.freed, [&](BlockAddress address) { return !kept_.held(address); });
  record.free_blocks = log_.free_blocks + static_cast<std::uint32_t>(free_now) -
                       static_cast<std::uint32_t>(record.born.size());
  record.free_inodes = log_.free_inodes + static_cast<std::uint32_t>(record.numbers_freed.size() -
                                                                     record.numbers_born.size());
  record.unlinked = static_cast<std::uint32_t>(unlinked_.size());
  return record;
}

VfsResult<void> Store::log_closing(LogRecord& record) {
  auto done = options_.logs_early ? VfsResult<void>() : write_outstanding(*closing_);
  if (done) done = flush_device();
  const std::uint64_t at = s_.lba_of(s_.log_block()) + log_.end_bytes / kSectorBytes;
  if (done) done = write_to_disk(at, encode(record, s_));
  if (done && options_.logs_early) done = write_outstanding(*closing_);
  if (done) done = flush_device();
  if (!done) {
    stop();
    return done;
  }
  log_.end_bytes += record.bytes();
  ++log_.records;
  log_.checksum = record.checksum;
  ++counters_.records;
  log_.free_blocks = record.free_blocks;
  log_.free_inodes = record.free_inodes;
  if (log_.changes) closing_->continue_after(*log_.changes);
  log_.changes = std::move(closing_);
  // A timed commit is skipped if it becomes due while this record is being written and the open
  // generation has no changes. A commit is therefore scheduled again here.
  schedule_commit();
  operation_ended_.wake_all();
  return {};
}

// The replay during a mount. It writes nothing: the changes in the records will be committed with
// the next superblock.

Result<void> Store::replay(const LogRecord& record) {
  const auto damaged = [&](const char* what) {
    return fail("snapfs", fmt::format("record {} of the log {}", record.sequence, what),
                "run fsck; a power cut does not cause this damage");
  };
  auto changes = std::make_unique<Generation>(record.generation());
  for (const BlockAddress address : record.born) {
    if (space_.taken(address)) return damaged("allocates a block that is in use");
    space_.take(address);
    changes->born.insert(address);
  }
  for (const BlockAddress address : record.freed) {
    if (!space_.taken(address)) return damaged("frees a free block");
    changes->freed.insert(address);
  }
  for (const InodeNumber number : record.numbers_born) {
    if (numbers_.taken(number)) return damaged("allocates an inode that is in use");
    numbers_.take(number);
    changes->numbers_born.insert(number);
  }
  for (const InodeNumber number : record.numbers_freed) {
    if (!numbers_.taken(number)) return damaged("frees a free inode");
    changes->numbers_freed.insert(number);
  }
  for (const Inode& inode : record.inodes) changes->inodes[inode.number] = inode;
  for (const InodeNumber number : record.removed) changes->inodes[number] = Inode{};
  for (const auto& [number, inode] : changes->inodes)
    changes->record_leaves.insert(number / s_.records_per_block());
  if (log_.changes) changes->continue_after(*log_.changes);
  log_.changes = std::move(changes);
  log_.end_bytes += record.bytes();
  ++log_.records;
  log_.checksum = record.checksum;
  log_.free_blocks = record.free_blocks;
  log_.free_inodes = record.free_inodes;
  next_inode_generation_ = record.next_generation;
  return {};
}

Result<void> Store::replay_log() {
  log_ = {.free_blocks = s_.free_blocks, .free_inodes = s_.free_inodes};
  if (s_.log_blocks == 0) return {};
  std::vector<std::byte> log(s_.log_bytes());
  os::BlockRequest request{model::Op::read, s_.lba_of(s_.log_block()),
                           static_cast<std::uint32_t>(log.size() / kSectorBytes)};
  request.into = log;
  if (disk_.transfer(request) != model::Status::ok) return fail("snapfs", "cannot read the log");
  for (const LogRecord& record : records_of(log, s_)) TRY(replay(record));
  open_ = std::make_unique<Generation>(s_.generation + log_.records + 1);
  return {};
}

}  // namespace headcrash::snapfs
