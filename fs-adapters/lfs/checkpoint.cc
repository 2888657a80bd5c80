// Writes checkpoints (store.h): all dirty data, then the blocks of the inode map and the usage
// table, then a checkpoint region.
#include <algorithm>
#include <tuple>

#include "fs-adapters/lfs/store.h"
#include "plugin/base/invariant.h"

namespace headcrash::lfs {

/// Returns the segments that no longer have live bytes. The next checkpoint will record them as
/// clean. Excludes the segment at the end of the log and the one after it.
std::vector<SegmentNumber> Store::emptied_segments() const {
  std::vector<SegmentNumber> emptied;
  for (SegmentNumber i = 0; i < s_.segments; ++i)
    if (usage_[i].state == SegmentState::dirty && usage_[i].live_bytes == 0) emptied.push_back(i);
  return emptied;
}

void Store::give_back(const std::vector<SegmentNumber>& emptied) {
  for (const SegmentNumber i : emptied) {
    usage_[i] = {};
    cache.discard_object(inode_sectors_object(i));
  }
  clean_segments_ += static_cast<std::uint32_t>(emptied.size());
}

VfsResult<void> Store::flush_everything() {
  while (!to_write_.empty()) {
    std::vector<Handle> handles;
    std::vector<CoreInode*> inodes;
    for (const InodeNumber number : std::vector<InodeNumber>(to_write_.begin(), to_write_.end())) {
      if (!to_write_.contains(number)) continue;
      TRY(auto handle, get_core(number, nullptr));
      inodes.push_back(handle.get());
      handles.push_back(std::move(handle));
    }
    if (options_.order == WriteBackOrder::by_age) {
      const auto older = [](const CoreInode* a, const CoreInode* b) {
        const auto& x = a->disk.modified;
        const auto& y = b->disk.modified;
        return std::tie(x.seconds, x.nanoseconds) < std::tie(y.seconds, y.nanoseconds);
      };
      std::stable_sort(inodes.begin(), inodes.end(), older);
    }
    // No operation is running now. Fibers that still hold an inode's lock are only reading, and
    // will release the lock soon.
    for (CoreInode* inode : inodes) inode->lock.lock();
    const auto flushed = flush(inodes);
    for (CoreInode* inode : inodes) inode->lock.unlock();
    if (!flushed) return flushed;
  }
  return {};
}

void Store::fill_map_blocks(Plan& plan) {
  for (const auto& [number, item] : plan.map_blocks) {
    const SectorAddress address = plan.region.address(item);
    SectorAddress& known = checkpoint_.map_blocks[number];
    if (known != 0)
      drop_live(known, s_.block_bytes);
    else
      ++map_blocks_in_log_;
    known = address;
    add_live(address, s_.block_bytes, executor.now());
    const std::span<std::byte> into = plan.region.bytes(item);
    const std::uint32_t first = number * s_.map_entries_per_block();
    for (std::uint32_t i = 0; i < s_.map_entries_per_block() && first + i < s_.inodes; ++i)
      encode(map_[first + i], into.subspan(std::size_t{i} * kMapEntryBytes, kMapEntryBytes));
    seal_table_block(into);
    dirty_map_blocks_.erase(number);
  }
}

/// The usage table as a checkpoint writes it: segments emptied by the checkpoint are clean, and the
/// table's own blocks are not counted.
class Store::UsageTable {
 public:
  explicit UsageTable(const Store& store)
      : s_(store.s_), usage_(store.usage_), addresses_(store.checkpoint_.usage_blocks) {
    own_bytes_.resize(s_.segments);
    for (const SectorAddress address : addresses_) {
      drop(usage_[s_.segment_of(address)].live_bytes);
      own_bytes_[s_.segment_of(address)] += s_.block_bytes;
    }
  }

  void moves_map_block(SectorAddress old, SegmentNumber to, os::TimeNs now) {
    if (old != 0) drop(usage_[s_.segment_of(old)].live_bytes);
    usage_[to].live_bytes += s_.block_bytes;
    usage_[to].youngest_ns = now;
  }
  void moves_own_block(std::uint32_t number, SegmentNumber to) {
    drop(own_bytes_[s_.segment_of(addresses_[number])]);
    own_bytes_[to] += s_.block_bytes;
  }
  SegmentUsage operator[](SegmentNumber i) const {
    const bool emptied =
        usage_[i].state == SegmentState::dirty && usage_[i].live_bytes + own_bytes_[i] == 0;
    return emptied ? SegmentUsage{} : usage_[i];
  }

 private:
  /// Lowers a count, but not below 0. In a damaged table, a count may be too low; the checker
  /// reports this damage.
  void drop(std::uint32_t& bytes) const { bytes -= std::min(bytes, s_.block_bytes); }

  const Superblock& s_;
  std::vector<SegmentUsage> usage_;
  const std::vector<SectorAddress>& addresses_;
  /// Bytes in each segment that belong to the usage table itself.
  std::vector<std::uint32_t> own_bytes_;
};

/// Returns the numbers of the usage table blocks that must be written, except those that this
/// checkpoint has already written.
///
/// When the plan's map blocks and these table blocks move to the end of the log, a segment may
/// become empty, and its entry in the table changes. The result includes the table blocks with such
/// entries.
std::set<std::uint32_t> Store::changed_usage_blocks(const Plan& plan,
                                                    const std::set<std::uint32_t>& written) const {
  UsageTable table(*this);
  for (const auto& [number, item] : plan.map_blocks)
    table.moves_map_block(checkpoint_.map_blocks[number], segment_, executor.now());
  // Some of these blocks may have been written already; the loop below skips them.
  std::set<std::uint32_t> changed = moving_usage_blocks_;
  for (const std::uint32_t number : changed) table.moves_own_block(number, segment_);
  const auto differs = [&](std::uint32_t number) {
    const std::uint32_t first = number * s_.usage_entries_per_block();
    const std::uint32_t end = std::min(first + s_.usage_entries_per_block(), s_.segments);
    for (SegmentNumber i = first; i < end; ++i)
      if (!(table[i] == usage_in_log_[i])) return true;
    return false;
  };
  for (bool more = true; more;) {
    more = false;
    for (std::uint32_t number = 0; number < s_.usage_blocks(); ++number) {
      if (changed.contains(number) || written.contains(number) || !differs(number)) continue;
      changed.insert(number);
      table.moves_own_block(number, segment_);
      more = true;
    }
  }
  return changed;
}

/// Fills in a region's usage table blocks. Must be called last, after all other items have received
/// their addresses.
void Store::fill_usage_blocks(Plan& plan) {
  for (const auto& [number, item] : plan.usage_blocks) {
    SectorAddress& known = checkpoint_.usage_blocks[number];
    drop_live(known, s_.block_bytes);
    known = plan.region.address(item);
    add_live(known, s_.block_bytes, 0);
  }
  if (plan.usage_blocks.empty()) return;
  const UsageTable table(*this);
  for (const auto& [number, item] : plan.usage_blocks) {
    const std::span<std::byte> into = plan.region.bytes(item);
    const std::uint32_t first = number * s_.usage_entries_per_block();
    for (std::uint32_t i = 0; i < s_.usage_entries_per_block() && first + i < s_.segments; ++i) {
      usage_in_log_[first + i] = table[first + i];
      encode(table[first + i], into.subspan(std::size_t{i} * kUsageEntryBytes, kUsageEntryBytes));
    }
    seal_table_block(into);
    moving_usage_blocks_.erase(number);
  }
}

void Store::plan_usage_blocks(Plan& plan, const std::set<std::uint32_t>& numbers) {
  const auto unit = static_cast<std::uint8_t>(s_.block_sectors());
  for (const std::uint32_t number : numbers) {
    const SummaryEntry entry{.content = Content::usage, .index = number, .sectors = unit};
    plan.usage_blocks.emplace_back(number, *plan.region.add(entry));
  }
}

/// Writes the changed blocks of the map and the table. The table's blocks are written in one
/// region, together with the last blocks of the map. If more blocks of a long table have changed
/// than fit in a segment, they are written in several regions, each block once. Between these
/// regions, the log advances to other segments. Blocks that were written earlier contain outdated
/// states of these segments; settle_states() corrects the states.
VfsResult<void> Store::write_tables() {
  const tree::FiberLockGuard one_at_a_time(log_lock_);
  // All changes that the records describe have been written, so the records are no longer needed.
  records_.clear();
  TRY(auto plan, new_plan());
  const auto unit = static_cast<std::uint8_t>(s_.block_sectors());
  for (const std::uint32_t number :
       std::vector<std::uint32_t>(dirty_map_blocks_.begin(), dirty_map_blocks_.end())) {
    if (!room_for(*plan, 0, 1, unit)) TRY(emit(plan));
    const std::size_t item =
        *plan->region.add({.content = Content::inode_map, .index = number, .sectors = unit});
    plan->map_blocks.emplace_back(number, item);
  }
  std::set<std::uint32_t> written;
  for (;;) {
    std::set<std::uint32_t> changed = changed_usage_blocks(*plan, written);
    const auto blocks = static_cast<std::uint32_t>(changed.size());
    if (room_for(*plan, 0, blocks, blocks * unit)) {
      plan_usage_blocks(*plan, changed);
      return plan->empty() ? VfsResult<void>{} : send(plan);
    }
    if (!plan->empty()) {
      TRY(emit(plan));
      continue;
    }
    if (room_for(Plan(s_, s_.segment_sectors), 0, blocks, blocks * unit)) {
      TRY(advance_segment());
      plan = std::make_unique<Plan>(s_, room_in_segment());
      continue;
    }
    for (std::uint32_t fitting = blocks; !room_for(*plan, 0, fitting, fitting * unit); --fitting)
      changed.erase(std::prev(changed.end()));
    plan_usage_blocks(*plan, changed);
    written.insert(changed.begin(), changed.end());
    TRY(emit(plan));
  }
}

VfsResult<void> Store::write_checkpoint_region() {
  const std::vector<SegmentNumber> emptied = emptied_segments();
  Checkpoint& c = checkpoint_;
  ++c.sequence;
  c.time_ns = executor.now();
  c.epoch = epoch_;
  c.next_epoch = epoch_ + 1;
  c.region_sequence = sequence_;
  c.last_summary = last_summary_;
  c.segment = segment_;
  c.offset = offset_;
  c.next_segment = next_segment_;
  c.clean = closing_;
  c.log_counts = options_.roll_forward;
  c.live_bytes = live_bytes_;
  c.files = files_;
  c.clean_segments = clean_segments_ + static_cast<std::uint32_t>(emptied.size());
  c.regions_written = sequence_;
  c.sectors_written += sectors_since_checkpoint_;
  c.segments_cleaned = counters_.segments_cleaned;
  ++c.checkpoints_written;
  const std::vector<std::byte> bytes = encode(c, s_);
  TRY(flush_device());
  // The other checkpoint region stays valid until this region is complete.
  TRY(write_sectors(checkpoint_region(c.sequence), bytes));
  TRY(flush_device());
  // From now on, no checkpoint that can be mounted refers to the emptied segments.
  give_back(emptied);
  // If space was short, a segment that the cleaner has emptied may have received new live data
  // before this checkpoint. The segment is then counted in `cleaned_unfinished_` until a later
  // checkpoint.
  const std::uint64_t cleaned = std::min<std::uint64_t>(cleaned_unfinished_, emptied.size());
  cleaned_unfinished_ -= cleaned;
  counters_.segments_emptied += emptied.size() - cleaned;
  sectors_since_checkpoint_ = 0;
  ++counters_.checkpoints;
  return {};
}

VfsResult<void> Store::checkpoint_locked() {
  // Without pending changes, the newest checkpoint describes the current state. A new checkpoint is
  // then written only for a mount or an unmount.
  const bool known = has_no_pending_changes() && sectors_since_checkpoint_ == 0;
  if (known && !closing_ && !coming_up_) return {};
  // A flush that found nothing to write may nevertheless have moved the end of the log to another
  // segment.
  const bool moved = segment_ != checkpoint_.segment || next_segment_ != checkpoint_.next_segment;
  if (known && !moved) return write_checkpoint_region();
  TRY(flush_everything());
  TRY(write_tables());
  return write_checkpoint_region();
}

VfsResult<void> Store::checkpoint() {
  const tree::FiberLockGuard one_at_a_time(checkpoint_lock_);
  if (stopped_) return refuse(EIO);
  checkpoint_wanted_ = true;
  while (operations_ != 0) gate_.wait();
  auto done = checkpoint_locked();
  if (!done) stop();
  checkpoint_at_ = next_checkpoint_at();
  checkpoint_wanted_ = false;
  gate_.wake_all();
  for (const InodeNumber number : std::exchange(deferred_removals_, {})) {
    tree::TableInode* const found = inodes_.find(number);
    if (found == nullptr || stopped_) continue;
    CoreInode& inode = core(*found);
    if (inode.references != 0 || inode.disk.links != 0 || inode.removed) continue;
    ++operations_;
    remove(inode);
    end_operation();
  }
  return done;
}

}  // namespace headcrash::lfs
