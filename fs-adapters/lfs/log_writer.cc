// Flushes files into regions of the log (store.h).
//
// A flush plans a region with as much as fits: blocks of one file after another, a file's data
// before its index blocks, and the inodes of those files whose last block is included. The plan
// determines the address of each item. Then the items are copied to the region's buffer in this
// order, and the address of each block is stored in the block or inode that refers to it. A single
// request writes the region.
#include <algorithm>
#include <cstring>

#include "fs-adapters/lfs/store.h"
#include "plugin/base/invariant.h"
#include "plugin/base/little_endian.h"

namespace headcrash::lfs {
using namespace little_endian;

namespace {

/// Requests whose completion is awaited.
struct Transfers final : os::DiskDone {
  explicit Transfers(os::Executor& executor) : waiting(executor) {}
  void done(os::RequestId, model::Status one) override {
    if (one != model::Status::ok) status = one;
    if (--under_way == 0) waiting.wake_all();
  }
  os::WaitQueue waiting;
  std::size_t under_way = 0;
  model::Status status = model::Status::ok;
};

std::int64_t nanoseconds(const tree::Timestamp& time) {
  return std::int64_t{time.seconds} * model::kSecondNs + time.nanoseconds;
}

}  // namespace

// Usage of segments.

void Store::add_live(SectorAddress address, std::uint32_t bytes, std::int64_t modified_ns) {
  SegmentUsage& usage = usage_[s_.segment_of(address)];
  usage.live_bytes += bytes;
  usage.youngest_ns = std::max(usage.youngest_ns, modified_ns);
  live_bytes_ += bytes;
}

void Store::drop_live(SectorAddress address, std::uint32_t bytes) {
  // A damaged index block may contain invalid pointers; the checker reports them.
  if (!s_.holds(address, 1)) return;
  SegmentUsage& usage = usage_[s_.segment_of(address)];
  const std::uint32_t dropped = std::min(usage.live_bytes, bytes);
  usage.live_bytes -= dropped;
  live_bytes_ -= dropped;
}

// Segments.

/// Continues the log in the next segment, and selects the segment that will follow it.
VfsResult<void> Store::advance_segment() {
  if (!keeps(Rule::reuse_waits_for_checkpoint)) give_back(emptied_segments());
  for (SegmentNumber i = 1; i < s_.segments; ++i) {
    const SegmentNumber candidate = (next_segment_ + i) % s_.segments;
    if (usage_[candidate].state != SegmentState::clean) continue;
    usage_[segment_].state = SegmentState::dirty;
    segment_ = next_segment_;
    offset_ = 0;
    usage_[segment_].youngest_ns = 0;
    next_segment_ = candidate;
    usage_[candidate].state = SegmentState::active;
    --clean_segments_;
    return {};
  }
  // This should not happen: has_room() and the reserve keep enough segments clean.
  stop();
  return refuse(ENOSPC);
}

VfsResult<std::unique_ptr<Store::Plan>> Store::new_plan() {
  // A region needs at least room for a block, its index blocks, and its inode.
  if (room_in_segment() < 3 * s_.block_sectors() + 3)
    if (auto advanced = advance_segment(); !advanced) return forward_errno(advanced);
  return std::make_unique<Plan>(s_, room_in_segment());
}

/// Returns the maximum size of an item that contains records, in sectors. A summary entry can
/// describe at most 255 sectors. In a small segment, the limit is lower, because the inodes and
/// blocks that the records describe need room, too.
std::uint32_t Store::record_sectors_max() const {
  return std::min(128U, s_.segment_sectors / 4);
}

bool Store::room_for(const Plan& plan, std::size_t more_inodes, std::uint32_t blocks,
                     std::uint32_t sectors) const {
  const auto record_sectors =
      static_cast<std::uint32_t>((records_.size() + kSectorBytes - 1) / kSectorBytes);
  if (record_sectors != 0 && record_sectors <= record_sectors_max())
    blocks += 1, sectors += record_sectors;
  const std::size_t inodes = plan.inodes.size() + more_inodes;
  const auto inode_sectors =
      static_cast<std::uint32_t>((inodes + kInodesPerSector - 1) / kInodesPerSector);
  const std::uint32_t inode_items = (inode_sectors + s_.block_sectors() - 1) / s_.block_sectors();
  return plan.region.has_room(blocks + inode_items, sectors + inode_sectors);
}

// Planning.

/// Prepares a flush of the inode: loads into the cache those index blocks that will change, and
/// marks them dirty. May read from the disk.
VfsResult<void> Store::prepare(CoreInode& inode) {
  // A change of the file's size may change the stored length of two blocks: the one that was the
  // last block before the change, and the one that is the last block after it. A block whose stored
  // length changes must be rewritten.
  for (const std::uint64_t size : {inode.placed_size, inode.disk.size_bytes}) {
    if (size == 0 || inode.placed_size == inode.disk.size_bytes) continue;
    const BlockId tail{0, static_cast<std::uint32_t>((size - 1) / s_.block_bytes)};
    if (s_.stored_bytes(inode.placed_size, tail) == s_.stored_bytes(inode.disk.size_bytes, tail))
      continue;
    if (inode.dirty.contains(tail)) continue;
    TRY(const auto buffer, read_block(inode, tail.index));
    if (buffer) mark_dirty(inode, tail);
  }
  for (std::uint8_t level = 0; level < 3; ++level) {
    std::set<BlockId> parents;
    for (const BlockId block : inode.dirty) {
      if (block.level != level) continue;
      const PointerPlace place = s_.pointer_place(block);
      if (!place.in_inode) parents.insert(place.parent);
    }
    for (const BlockId parent : parents) {
      if (inode.dirty.contains(parent)) continue;
      const auto buffer = index_block(inode, parent, true);
      if (!buffer) return forward_errno(buffer);
      mark_dirty(inode, parent);
    }
  }
  return {};
}

VfsResult<void> Store::plan_inode(std::unique_ptr<Plan>& plan, CoreInode& inode) {
  TRY(prepare(inode));
  // The blocks are ordered by level and then by index, so the data comes before the index blocks.
  // The loop needs a copy of the set, because emit() removes written blocks from the set.
  const std::vector<BlockId> blocks(inode.dirty.begin(), inode.dirty.end());
  for (const BlockId block : blocks) {
    const std::uint32_t sectors = s_.stored_bytes(inode.disk.size_bytes, block) / kSectorBytes;
    if (!room_for(*plan, 1, 1, sectors)) TRY(emit(plan));
    const auto item = plan->region.add({static_cast<Content>(block.level), inode.number,
                                        map_[inode.number].version, block.index,
                                        static_cast<std::uint8_t>(sectors)});
    invariant(item.has_value(), "lfs: a new region must have room for a block");
    plan->blocks.push_back({&inode, block, *item});
  }
  if (!room_for(*plan, 1, 0, 0)) TRY(emit(plan));
  plan->inodes.push_back(&inode);
  return {};
}

// Writing.

void Store::fill_block(Plan& plan, const PlannedBlock& planned) {
  CoreInode& inode = *planned.inode;
  const SectorAddress address = plan.region.address(planned.item);
  const std::span<std::byte> into = plan.region.bytes(planned.item);
  const PointerPlace place = s_.pointer_place(planned.block);
  os::HeldBuffer parent;
  if (!place.in_inode) parent = cache.cached(key_of(inode, place.parent));
  SectorAddress old = 0;
  if (place.in_inode) {
    old = std::exchange(inode.disk.pointers[place.slot], address);
  } else {
    invariant(static_cast<bool>(parent), "lfs: the index blocks of a written block must be cached");
    const std::size_t at = std::size_t{place.slot} * kPointerBytes;
    old = load32(parent.bytes(), at);
    store32(parent.bytes(), at, address);
  }
  if (old != 0) {
    const std::uint32_t old_bytes = s_.stored_bytes(inode.placed_size, planned.block);
    drop_live(old, old_bytes);
    inode.disk.sectors -= std::min(inode.disk.sectors, old_bytes / kSectorBytes);
  }
  const auto bytes = static_cast<std::uint32_t>(into.size());
  if (keeps(Rule::usage_counts_all) || old == 0 || !inode.disk.is_regular())
    add_live(address, bytes, nanoseconds(inode.disk.modified));
  inode.disk.sectors += bytes / kSectorBytes;
  // The stored block may be shorter than its buffer; the bytes that are left out are zero.
  os::HeldBuffer buffer = cache.cached(key_of(inode, planned.block));
  invariant(static_cast<bool>(buffer), "lfs: a dirty block must be cached");
  const std::size_t length = std::min(buffer.bytes().size(), into.size());
  std::memcpy(into.data(), buffer.bytes().data(), length);
  cache.release(std::move(buffer));
  inode.dirty.erase(planned.block);
  inode.unplaced.erase(planned.block);
  dirty_bytes_ -= s_.block_bytes;
}

void Store::fill_inodes(Plan& plan, std::size_t first_item) {
  for (std::size_t i = 0; i < plan.inodes.size(); ++i) {
    CoreInode& inode = *plan.inodes[i];
    const std::size_t per_item = std::size_t{s_.block_sectors()} * kInodesPerSector;
    const std::size_t item = first_item + i / per_item;
    const std::size_t within = i % per_item;
    MapEntry& entry = map_[inode.number];
    inode.disk.version = entry.version;
    encode(inode.disk, plan.region.bytes(item).subspan(within * kInodeBytes, kInodeBytes));
    if (entry.allocated()) drop_live(entry.address, kInodeBytes);
    entry.address =
        plan.region.address(item) + static_cast<SectorAddress>(within / kInodesPerSector);
    entry.slot = static_cast<std::uint8_t>(within % kInodesPerSector);
    entry.unlinked = inode.disk.links == 0;
    entry.accessed = static_cast<std::uint32_t>(inode.disk.accessed.seconds);
    add_live(entry.address, kInodeBytes, nanoseconds(inode.disk.modified));
    dirty_map_blocks_.insert(inode.number / s_.map_entries_per_block());
    inode.placed_size = inode.disk.size_bytes;
    inode.changed = false;
    invariant(inode.dirty.empty(), "lfs: an inode must be written after its blocks");
    to_write_.erase(inode.number);
    settle(inode);
  }
}

VfsResult<void> Store::write_region(Region& region) {
  const Summary summary{.sequence = sequence_ + 1,
                        .epoch = epoch_,
                        .time_ns = executor.now(),
                        .previous = last_summary_,
                        .next_segment = next_segment_};
  const std::span<const std::byte> bytes = region.finish(summary);
  ++sequence_;
  last_summary_ = region.start();
  const auto sectors = static_cast<std::uint32_t>(bytes.size() / kSectorBytes);
  offset_ += sectors;
  sectors_since_checkpoint_ += sectors;
  ++counters_.regions;
  counters_.sectors_written += sectors;
  for (std::size_t i = 0; i < region.size(); ++i)
    counters_.sectors_of[static_cast<std::size_t>(region.entry(i).content)] +=
        region.entry(i).sectors;
  cpu.charge(os::Cost::copy_per_kib, static_cast<std::int64_t>(bytes.size() / 1024 * 1024));
  return write_sectors(region.start(), bytes);
}

/// Writes the pending records in separate regions, because a region with other items has no room
/// for them.
VfsResult<void> Store::write_records() {
  while (!records_.empty()) {
    // An item contains only whole records. It always has room for the longest record.
    std::size_t bytes = 0;
    while (bytes < records_.size()) {
      const std::size_t length = load16(records_, bytes);
      if (bytes + length > std::size_t{record_sectors_max()} * kSectorBytes) break;
      bytes += length;
    }
    TRY(auto plan, new_plan());
    const auto sectors = static_cast<std::uint8_t>((bytes + kSectorBytes - 1) / kSectorBytes);
    if (!plan->region.has_room(1, sectors)) {
      TRY(advance_segment());
      continue;
    }
    Region& region = plan->region;
    const std::size_t item = *region.add({.content = Content::directory_log, .sectors = sectors});
    region.place(s_.segment_start(segment_) + offset_);
    std::memcpy(region.bytes(item).data(), records_.data(), bytes);
    records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(bytes));
    TRY(write_region(region));
  }
  return {};
}

VfsResult<void> Store::emit(std::unique_ptr<Plan>& plan) {
  TRY(send(plan));
  TRY(auto next, new_plan());
  plan = std::move(next);
  return {};
}

VfsResult<void> Store::send(std::unique_ptr<Plan>& plan) {
  while (compounds_ != 0) no_compound_.wait();
  // From here until the region's bytes are complete, other fibers can run only while processor time
  // is being charged. None of those fibers holds the lock of an inode in the plan.
  const auto record_sectors =
      static_cast<std::uint32_t>((records_.size() + kSectorBytes - 1) / kSectorBytes);
  std::optional<std::size_t> records_item;
  if (!keeps(Rule::records_come_first) && !plan->empty()) {
    // For the control that breaks Rule::records_come_first: leaves the records of these changes to
    // a later region.
  } else if (record_sectors != 0 && record_sectors <= record_sectors_max() &&
             room_for(*plan, 0, 0, 0)) {
    records_item = plan->region.add(
        {.content = Content::directory_log, .sectors = static_cast<std::uint8_t>(record_sectors)});
  } else if (record_sectors != 0) {
    // Writes the records first, in a separate region, and then plans this region again, at the new
    // end of the log.
    TRY(write_records());
    return replan(plan);
  }
  const std::size_t first_inode_item = plan->region.size();
  const std::size_t inode_sectors = (plan->inodes.size() + kInodesPerSector - 1) / kInodesPerSector;
  for (std::size_t left = inode_sectors; left > 0;) {
    const std::size_t sectors = std::min<std::size_t>(left, s_.block_sectors());
    const auto item = plan->region.add(
        {.content = Content::inodes, .sectors = static_cast<std::uint8_t>(sectors)});
    invariant(item.has_value(), "lfs: a plan must have room for its inodes");
    left -= sectors;
  }
  plan->region.place(s_.segment_start(segment_) + offset_);
  if (records_item) {
    std::memcpy(plan->region.bytes(*records_item).data(), records_.data(), records_.size());
    records_.clear();
  }
  for (const PlannedBlock& block : plan->blocks) fill_block(*plan, block);
  fill_inodes(*plan, first_inode_item);
  const auto placed = static_cast<std::int64_t>(plan->blocks.size()),
             inodes = static_cast<std::int64_t>(plan->inodes.size());
  fill_map_blocks(*plan);
  fill_usage_blocks(*plan);
  cpu.charge({{os::Cost::allocation, placed}, {os::Cost::inode_changed, inodes}});
  if (abandoned_) return refuse(EIO);
  TRY(write_region(plan->region));
  // The cache had the only copy of these blocks. They have now been written, so the cache may evict
  // them. The inodes' locks have prevented changes during the write.
  for (const PlannedBlock& block : plan->blocks)
    if (os::HeldBuffer buffer = cache.cached(key_of(*block.inode, block.block)))
      cache.moved(std::move(buffer), plan->region.address(block.item));
  return {};
}

/// Plans the same items again at the current end of the log.
VfsResult<void> Store::replan(std::unique_ptr<Plan>& plan) {
  const auto old = std::move(plan);
  const std::uint32_t needed =
      old->region.sectors() + static_cast<std::uint32_t>(old->inodes.size()) + 2;
  if (room_in_segment() < std::min(needed, s_.segment_sectors)) TRY(advance_segment());
  plan = std::make_unique<Plan>(s_, room_in_segment());
  for (std::size_t i = 0; i < old->region.size(); ++i)
    invariant(plan->region.add(old->region.entry(i)).has_value(),
              "lfs: a region must fit into an empty segment");
  plan->blocks = old->blocks;
  plan->inodes = old->inodes;
  plan->map_blocks = old->map_blocks;
  plan->usage_blocks = old->usage_blocks;
  return send(plan);
}

VfsResult<void> Store::flush(const std::vector<CoreInode*>& inodes) {
  if (stopped_) return refuse(EIO);
  const tree::FiberLockGuard one_at_a_time(log_lock_);
  if (stopped_) return refuse(EIO);
  TRY(auto plan, new_plan());
  for (CoreInode* inode : inodes)
    if (inode->needs_writing() && !inode->removed) TRY(plan_inode(plan, *inode));
  if (plan->empty() && records_.empty()) return {};
  return send(plan);
}

/// Writes changes that were made before `changed_before`. If `changed_before` is 0, writes the
/// oldest changes until at most `until_dirty_bytes` are left. Skips inodes that are in use. The
/// caller must not hold the lock of an inode.
VfsResult<void> Store::flush_unlocked(os::TimeNs changed_before, std::uint64_t until_dirty_bytes) {
  std::vector<std::pair<os::TimeNs, InodeNumber>> found;
  for (const InodeNumber number : to_write_) {
    const CoreInode& inode = core(*inodes_.find(number));
    if (inode.lock.locked() || inode.loading) continue;
    if (changed_before != 0 && inode.dirty_since >= changed_before) continue;
    if (options_.directories_wait && inode.disk.is_directory()) continue;
    found.emplace_back(inode.dirty_since, number);
  }
  if (found.empty() && (changed_before != 0 || records_.empty())) return {};
  std::sort(found.begin(), found.end());
  std::vector<Handle> handles;
  std::vector<CoreInode*> inodes;
  std::uint64_t bytes = 0;
  for (const auto& [since, number] : found) {
    CoreInode& inode = core(*inodes_.find(number));
    if (changed_before == 0 && dirty_bytes_ - std::min(bytes, dirty_bytes_) <= until_dirty_bytes)
      break;
    bytes += inode.dirty.size() * s_.block_bytes;
    inodes_.refer(inode);
    invariant(inode.lock.try_lock(), "lfs: an inode must be unlocked when the log writer locks it");
    handles.push_back(Handle(*this, inode, nullptr));
    inodes.push_back(&inode);
  }
  auto flushed = flush(inodes);
  for (CoreInode* inode : inodes) inode->lock.unlock();
  return flushed;
}

/// Writes `data` in one or more requests, and waits for all of them. All requests are issued
/// together, and may complete in any order.
VfsResult<void> Store::write_sectors(SectorAddress address, std::span<const std::byte> data) {
  const std::size_t most = options_.transfer_sectors_max == 0
                               ? data.size()
                               : std::size_t{options_.transfer_sectors_max} * kSectorBytes;
  const os::TimeNs before = executor.now();
  Transfers transfers(executor);
  for (std::size_t at = 0; at < data.size(); at += most) {
    const auto part = data.subspan(at, std::min(most, data.size() - at));
    os::BlockRequest request{model::Op::write, address + at / kSectorBytes,
                             static_cast<std::uint32_t>(part.size() / kSectorBytes)};
    request.data = part;
    cpu.charge(os::Cost::request_issued);
    ++transfers.under_way;
    disk_.issue(request, {}, transfers);
  }
  while (transfers.under_way != 0) transfers.waiting.wait();
  executor.account().disk_wait_ns += executor.now() - before;
  if (transfers.status == model::Status::ok) return {};
  stop();
  return refuse(EIO);
}

VfsResult<void> Store::flush_device() {
  if (!options_.flushes || disk_.flush() == model::Status::ok) return {};
  stop();
  return refuse(EIO);
}

VfsResult<void> Store::read_pieces(const std::vector<Piece>& pieces) {
  Transfers transfers(executor);
  transfers.under_way = pieces.size();
  for (const Piece& piece : pieces) {
    os::BlockRequest request{model::Op::read, piece.address,
                             static_cast<std::uint32_t>(piece.into.size() / kSectorBytes)};
    request.into = piece.into;
    cpu.charge(os::Cost::request_issued);
    disk_.issue(request, {}, transfers);
  }
  while (transfers.under_way != 0) transfers.waiting.wait();
  if (transfers.status == model::Status::ok) return {};
  return refuse(EIO);
}

VfsResult<void> Store::read_sectors(SectorAddress address, std::span<std::byte> into) {
  cpu.charge(os::Cost::request_issued);
  os::BlockRequest request{model::Op::read, address,
                           static_cast<std::uint32_t>(into.size() / kSectorBytes)};
  request.into = into;
  if (disk_.transfer(request) == model::Status::ok) return {};
  return refuse(EIO);
}

}  // namespace headcrash::lfs
