// In-core inodes, hooks for name changes, and operations (store.h).
#include "fs-adapters/lfs/store.h"

#include <algorithm>
#include <cstring>

#include "plugin/base/invariant.h"

namespace headcrash::lfs {

namespace {

constexpr os::TimeNs kTickNs = model::kSecondNs;
// Maximum number of cleaning passes for one operation that lacks space.
constexpr int kPassesForOne = 16;
// The cache object that contains the first segment's inode sectors. Each segment has its own
// object, because its inode sectors are discarded together.
constexpr std::uint64_t kInodeSectorsObject = std::uint64_t{1} << 40U;

}  // namespace

std::uint64_t inode_sectors_object(SegmentNumber segment) {
  return kInodeSectorsObject + segment;
}

Store::Store(os::System& system, const Superblock& superblock, const MountOptions& options)
    : InodeStore(system.executor, system.cpu, system.cache),
      system_(system),
      disk_(system.queue),
      options_(options),
      s_(superblock),
      map_(superblock.inodes),
      usage_(superblock.segments),
      taken_(superblock.inodes),
      log_lock_(system.executor),
      inodes_(
          system.executor,
          [this](InodeNumber number) { return std::make_unique<CoreInode>(executor, number); },
          [this](tree::TableInode& inode) { return load(core(inode)); }),
      no_compound_(system.executor),
      gate_(system.executor),
      checkpoint_lock_(system.executor),
      clean_lock_(system.executor),
      changes_(system.executor),
      random_(superblock.id * 2654435761ULL + 1) {
  cache.hooks(this);
  taken_[0] = taken_[1] = true;
}

Store::~Store() {
  if (abandoned_) cache.discard_all();
  cache.hooks(nullptr);
}

void Store::end_daemons() {
  closing_ = true;
  while (cleaner_runs_ || writer_runs_) gate_.wait();
  system_.syncer.forget_work();
  (void)system_.syncer.wait_for_work_under_way();
}

void Store::abandon() {
  abandoned_ = true;
  stopped_ = true;
  // Buffers are not discarded here, because a fiber that is in the middle of a flush may still hold
  // some of them.
  system_.syncer.forget_work();
}

// Inodes.

os::BufferKey Store::inode_sector_key(SectorAddress address) const {
  return {inode_sectors_object(s_.segment_of(address)), address};
}

/// Returns a sector of inodes. If the sector is not cached, reads as many sectors as a block has,
/// because inodes that were written together are often needed together (Rosenblum 1992, section
/// 4.4.6). Of the additional sectors, keeps only those whose inodes are current.
VfsResult<os::HeldBuffer> Store::inode_sector(SectorAddress address) {
  if (auto known = cache.cached(inode_sector_key(address))) return known;
  const SectorAddress end = s_.segment_start(s_.segment_of(address)) + s_.segment_sectors;
  std::vector<std::byte> bytes(std::size_t{std::min(s_.block_sectors(), end - address)} *
                               kSectorBytes);
  if (auto read = read_sectors(address, bytes); !read) return forward_errno(read);
  // The requested sector is added last, so that the addition of other sectors cannot cause its
  // eviction.
  for (SectorAddress at = address + static_cast<SectorAddress>(bytes.size() / kSectorBytes);
       at-- > address;) {
    const auto sector =
        std::span(bytes).subspan(std::size_t{at - address} * kSectorBytes, kSectorBytes);
    const InodeNumber first = decode_inode(sector).number;
    const auto is_there = [&] {
      return first < s_.inodes && map_[first].address == at && map_[first].slot == 0;
    };
    if (at != address && !is_there()) continue;
    os::HeldBuffer buffer = cache.get(inode_sector_key(at), os::Content::data, at, kSectorBytes);
    std::memcpy(buffer.bytes().data(), sector.data(), kSectorBytes);
    // get() may have waited for memory, and the segment may have been cleaned in the meantime. An
    // additional sector is added only if it is still current.
    if (at == address || is_there()) cache.moved(std::move(buffer), at);
  }
  auto sector = cache.read(inode_sector_key(address), os::Content::data, address, kSectorBytes);
  if (!sector) return refuse(EIO);
  return std::move(*sector);
}

/// Adds the sector to the cache, from which it may be evicted at any time.
void Store::keep_inode_sector(SectorAddress address, std::span<const std::byte> bytes) {
  os::HeldBuffer buffer =
      cache.get(inode_sector_key(address), os::Content::data, address, kSectorBytes);
  std::memcpy(buffer.bytes().data(), bytes.data(), kSectorBytes);
  cache.moved(std::move(buffer), address);
}

VfsResult<void> Store::load(CoreInode& inode) {
  const MapEntry& entry = map_[inode.number];
  inode.disk.number = inode.number;
  if (!entry.allocated()) return {};
  if (!s_.holds(entry.address, 1)) return refuse(EIO);
  TRY(const auto sector, inode_sector(entry.address));
  const auto bytes = sector.bytes().subspan(std::size_t{entry.slot} * kInodeBytes, kInodeBytes);
  if (!inode_intact(bytes, s_)) return refuse(EIO);
  const Inode found = decode_inode(bytes);
  if (found.number != inode.number || !found.allocated() ||
      !found.has_possible_size(s_.file_bytes_max(), s_.log_sectors() * kSectorBytes))
    return refuse(EIO);
  inode.disk = found;
  inode.placed_size = found.size_bytes;
  return {};
}

VfsResult<Store::Handle> Store::get_core(InodeNumber number, tree::Operation* operation) {
  if (!is_inode(number)) return refuse(EIO);
  TRY(auto* const inode, inodes_.get(number));
  return Handle(*this, core(*inode), operation);
}

VfsResult<tree::InodeHandle> Store::get(InodeNumber number, tree::Operation* operation) {
  TRY(auto handle, get_core(number, operation));
  return tree::InodeHandle(std::move(handle));
}

tree::InodeHandle Store::share(tree::CoreInode& inode, tree::Operation* operation) {
  ++inode.references;
  return {*this, inode, operation};
}

/// Selects an inode number. Directories get random numbers, and a file's number follows that of its
/// directory, so that the files in a directory share blocks of the map (Rosenblum 1992, section
/// 4.2.1).
std::optional<InodeNumber> Store::free_number(InodeNumber directory, bool is_directory) {
  InodeNumber from = directory + 1;
  if (is_directory) {
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
    from = static_cast<InodeNumber>((random_ >> 33U) % s_.inodes);
  }
  for (std::uint32_t i = 0; i < s_.inodes; ++i) {
    const InodeNumber number = (from + i) % s_.inodes;
    if (!taken_[number] && map_[number].version < kVersionMax) return number;
  }
  return std::nullopt;
}

VfsResult<tree::InodeHandle> Store::make(tree::Operation& operation, tree::CoreInode& directory,
                                         bool is_directory) {
  if (!has_room(kInodeBytes)) return refuse(ENOSPC);
  cpu.charge(os::Cost::allocation);
  const auto number = free_number(directory.number, is_directory);
  if (!number) return refuse(ENOSPC);
  taken_[*number] = true;
  ++files_;
  CoreInode& inode = core(inodes_.add(*number));
  inode.disk.number = *number;
  inode.disk.generation = map_[*number].version;
  mark_changed(inode);
  return tree::InodeHandle(*this, inode, &operation);
}

void Store::mark_changed(tree::CoreInode& tree_inode) {
  CoreInode& inode = core(tree_inode);
  changes_.note();
  if (inode.removed) return;
  inode.changed = true;
  if (to_write_.insert(inode.number).second) inode.dirty_since = executor.now();
  want_tick();
}

/// Destroys an unreferenced inode that was removed, and makes an unreferenced clean inode
/// idle. Leaves any other inode unchanged.
void Store::settle(CoreInode& inode) {
  if (inode.references != 0 || inode.loading) return;
  if (inode.removed) {
    taken_[inode.number] = false;
    inodes_.erase(inode.number);
    return;
  }
  if (!inode.needs_writing()) inodes_.make_idle(inode);
}

void Store::put(tree::CoreInode& tree_inode, tree::Operation* operation) {
  CoreInode& inode = core(tree_inode);
  if (--inode.references != 0) return;
  if (!taken_[inode.number] && !inode.removed && !inode.needs_writing()) {
    // The inode was removed earlier or never existed, so the caller's InodeName was invalid.
    inodes_.erase(inode.number);
    return;
  }
  if (inode.disk.links != 0 || inode.removed || stopped_) return settle(inode);
  if (operation == nullptr && checkpoint_wanted_ && !recovering_) {
    // The inode is removed only after the checkpoint. The mark in the map ensures that the inode is
    // also removed if the power fails before the checkpoint is complete.
    deferred_removals_.push_back(inode.number);
    return;
  }
  if (operation == nullptr) ++operations_;
  remove(inode);
  if (operation == nullptr) end_operation();
}

/// Removes an inode that has neither links nor users.
void Store::remove(CoreInode& inode) {
  inode.references = 1;
  inode.lock.lock();
  Operation operation;
  const auto freed =
      free_blocks(operation, inode, 0, static_cast<std::int64_t>(s_.blocks_per_file_max()));
  if (!freed) stop();
  MapEntry& entry = map_[inode.number];
  if (entry.allocated()) drop_live(entry.address, kInodeBytes);
  entry.address = 0;
  entry.slot = 0;
  entry.unlinked = false;
  if (keeps(Rule::versions_rise)) ++entry.version;
  dirty_map_blocks_.insert(inode.number / s_.map_entries_per_block());
  dirty_bytes_ -= inode.dirty.size() * s_.block_bytes;
  inode.dirty.clear();
  inode.changed = false;
  inode.removed = true;
  inode.disk.mode = 0;
  to_write_.erase(inode.number);
  cache.discard_object(inode.number);
  // An inode that was reached through a damaged directory may never have been allocated, and is
  // then not counted in `files_`.
  if (taken_[inode.number]) --files_;
  changes_.note();
  want_tick();
  inode.lock.unlock();
  --inode.references;
  settle(inode);
}

// Names.

void Store::record(Operation& operation, NameRecord record) {
  if (recovering_) return;
  operation.records.push_back(std::move(record));
  want_tick();
  ++records_made_;
  changes_.note();
}

void Store::log_records(Operation& operation) {
  for (NameRecord& record : operation.records) {
    record.more_follows = &record != &operation.records.back();
    append(record, records_);
  }
  operation.records.clear();
}

void Store::end_compound(Operation& operation) {
  if (!operation.compound) return;
  operation.compound = false;
  log_records(operation);
  if (--compounds_ == 0) no_compound_.wake_all();
}

void Store::record_links(Operation& operation, const tree::CoreInode& inode) {
  record(operation, {.operation = NameOperation::links,
                     .target = inode.number,
                     .target_generation = inode.attributes.generation,
                     .target_links = inode.attributes.links});
}

VfsResult<void> Store::link_added(tree::Operation& tree_operation,
                                  const tree::LinkAddition& addition,
                                  os::HeldBuffer directory_block) {
  auto& operation = static_cast<Operation&>(tree_operation);
  drop_link(addition.replaced);
  NameRecord added{.directory = addition.directory.number,
                   .directory_generation = addition.directory.attributes.generation,
                   .directory_links = addition.directory.attributes.links,
                   .block = static_cast<std::uint32_t>(addition.block),
                   .target = addition.target.number,
                   .target_generation = addition.target.attributes.generation,
                   .target_links = addition.target.attributes.links,
                   .name = std::string(addition.name)};
  switch (addition.cause) {
    case tree::NameCause::create: {
      const tree::Attributes& its = addition.target.attributes;
      added.operation = NameOperation::create;
      added.mode = its.mode;
      added.user = its.user;
      added.group = its.group;
      added.time = its.modified;
      added.symlink_target = core(addition.target).target;
      break;
    }
    case tree::NameCause::link:
    case tree::NameCause::unlink:
      added.operation = NameOperation::link;
      break;
    default:
      added.operation = NameOperation::rename_add;
      if (!operation.compound && !recovering_) ++compounds_, operation.compound = true;
  }
  record(operation, std::move(added));
  if (addition.replaced.inode != nullptr) record_links(operation, *addition.replaced.inode);
  if (addition.replaced.parent != nullptr) record_links(operation, *addition.replaced.parent);
  if (!operation.compound) log_records(operation);
  write_delayed(std::move(directory_block));
  return {};
}

VfsResult<void> Store::link_removed(tree::Operation& tree_operation,
                                    const tree::LinkRemoval& removal,
                                    os::HeldBuffer directory_block) {
  auto& operation = static_cast<Operation&>(tree_operation);
  drop_link(removal.dropped);
  const bool renamed =
      removal.cause == tree::NameCause::rename || removal.cause == tree::NameCause::exchange;
  NameRecord removed{.operation = renamed ? NameOperation::rename_remove : NameOperation::unlink,
                     .directory = removal.directory.number,
                     .directory_generation = removal.directory.attributes.generation,
                     .directory_links = removal.directory.attributes.links,
                     .block = static_cast<std::uint32_t>(removal.block),
                     .name = std::string(removal.name)};
  if (const tree::CoreInode* dropped = removal.dropped.inode) {
    removed.target = dropped->number;
    removed.target_generation = dropped->attributes.generation;
    removed.target_links = dropped->attributes.links;
  }
  record(operation, std::move(removed));
  if (removal.dropped.parent != nullptr && removal.dropped.parent != &removal.directory)
    record_links(operation, *removal.dropped.parent);
  operation.compound ? end_compound(operation) : log_records(operation);
  write_delayed(std::move(directory_block));
  return {};
}

VfsResult<void> Store::fsync(tree::Operation&, tree::CoreInode& inode, tree::SyncExtent) {
  if (stopped_) return refuse(EIO);
  // The flush also writes the records of name changes of this inode and its parents. If a parent
  // directory was never written, recovery can recreate it from these records.
  TRY(flush({&core(inode)}));
  // The device must be flushed even if flush() has written nothing, because the data may have been
  // written earlier.
  return flush_device();
}

// Operations.

void Store::begin_operation() {
  while (checkpoint_wanted_) gate_.wait();
  ++operations_;
}

void Store::end_operation() {
  if (--operations_ == 0) gate_.wake_all();
}

/// Starts the background writer. Users then wait only if the writer cannot keep up.
void Store::wake_writer() {
  if (writer_runs_ || recovering_ || abandoned_ || closing_) return;
  writer_runs_ = true;
  executor.spawn(os::Executor::Kind::daemon, writer_account_, [this] {
    // A single flush suffices: it skips only inodes that other fibers are using, and those fibers
    // start the writer again.
    if (!stopped_ && !closing_ && !executor.halted())
      (void)flush_unlocked(0, cache.size_bytes() / 8);
    writer_runs_ = false;
    gate_.wake_all();
  });
}

/// Waits until the log has space for an operation. Must be called without locks, before the
/// operation begins.
VfsResult<void> Store::make_room_for_operation() {
  const std::size_t most_records = std::size_t{record_sectors_max()} * kSectorBytes;
  if (dirty_bytes_ > cache.size_bytes() / 4 || records_.size() > most_records / 2) wake_writer();
  if (dirty_bytes_ > cache.size_bytes() / 5 * 2 || records_.size() > most_records)
    TRY(flush_unlocked(0, cache.size_bytes() / 4));
  if (clean_segments_ < clean_start()) wake_cleaner();
  // The space that has_room() requires, and one more segment for the operation itself.
  const std::uint64_t needed =
      dirty_bytes_ + overhead_bytes() + pass_room_bytes() + s_.segment_bytes();
  for (int pass = 0; pass < 4 && log_room_bytes() < needed; ++pass) {
    TRY(const auto more, clean());
    if (more <= 0) break;
  }
  return {};
}

VfsResult<void> Store::change(const std::function<VfsResult<void>(tree::Operation&)>& body) {
  for (int passes = 0;; ++passes) {
    if (stopped_) return refuse(EIO);
    TRY(make_room_for_operation());
    // Blocks that the cleaner is moving count twice until they are written. A repetition therefore
    // runs without the cleaner, so that it is refused only if the space is really used.
    std::optional<tree::FiberLockGuard> without_cleaner;
    if (passes != 0) without_cleaner.emplace(clean_lock_);
    begin_operation();
    Operation operation;
    const tree::ChangesByFiber::Watch watch(changes_);
    auto result = body(operation);
    end_compound(operation);
    if (!result && result.error().value == EIO && !operation.sync_failed && watch.changed()) stop();
    end_operation();
    without_cleaner.reset();
    if (result || result.error().value != ENOSPC || passes == kPassesForOne || stopped_)
      return result;
    // The cleaner makes space in several steps: space becomes usable only when the change that
    // frees it is on the disk. A long write may therefore need several passes of the cleaner.
    const auto more = clean();
    if (!more) return refuse(EIO);
    if (*more <= 0 && passes != 0) return result;
  }
}

SpaceStatus Store::space() const {
  const std::uint64_t used = live_bytes_ + dirty_bytes_;
  const std::uint64_t total = capacity_bytes();
  return {.total_bytes = total,
          .free_bytes = total - std::min(used, total),
          .total_inodes = s_.inodes - kRootInode,
          .free_inodes = s_.inodes - kRootInode - files_};
}

/// Called by the syncer each second while changes are pending. Writes data that is old enough, and
/// a checkpoint if one is due.
void Store::tick() {
  if (abandoned_ || closing_) return;
  const os::TimeNs due = system_.syncer.due_since(options_.write_after_ns);
  if (!stopped_ && due >= 0) (void)flush_unlocked(due + 1, 0);
  const bool time = options_.checkpoint_interval_ns != 0 && executor.now() >= checkpoint_at_;
  const bool bytes = options_.checkpoint_bytes != 0 &&
                     sectors_since_checkpoint_ * kSectorBytes >= options_.checkpoint_bytes;
  if (!stopped_ && !abandoned_ && (time || bytes)) (void)checkpoint();
  ticks_ = !has_no_pending_changes() && !stopped_;
  if (ticks_) schedule_tick();
}

void Store::schedule_tick() {
  if (abandoned_ || closing_) return;
  system_.syncer.add_work([this] { tick(); }, executor.now() + kTickNs);
}

/// Called after a change. Schedules tick(), so that a checkpoint will contain the change within one
/// interval.
void Store::want_tick() {
  if (ticks_ || recovering_ || stopped_) return;
  ticks_ = true;
  checkpoint_at_ = std::max(checkpoint_at_, next_checkpoint_at());
  schedule_tick();
}

/// Returns the time of the next checkpoint. Without roll-forward, only checkpoints make data
/// durable, so the next checkpoint is at the time when data is due. With roll-forward, it is at
/// that time or after the checkpoint interval, whichever is later.
os::TimeNs Store::next_checkpoint_at() const {
  const os::TimeNs due = system_.syncer.due_at(os::Content::data, options_.checkpoint_interval_ns);
  return options_.roll_forward ? std::max(due, executor.now() + options_.checkpoint_interval_ns)
                               : due;
}

}  // namespace headcrash::lfs
