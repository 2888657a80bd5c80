// In-core inodes, the generation to which an operation belongs, and the space reserved for the
// operation (store.h).
#include "fs-adapters/snapfs/store.h"

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::snapfs {

namespace {

constexpr std::uint32_t kOperationsAtLeast = 2;
// Maximum number of times that an operation runs if it fails with ENOSPC.
constexpr int kAttemptsMax = 8;

}  // namespace

Store::Store(os::System& system, const Superblock& superblock, std::size_t slot,
             const MountOptions& options)
    : InodeStore(system.executor, system.cpu, system.cache),
      system_(system),
      disk_(system.queue),
      options_(options),
      s_(superblock),
      slot_(slot),
      record_tree_(superblock.record_tree()),
      inode_tree_(superblock.inode_tree()),
      block_tree_(superblock.block_tree()),
      record_map_(superblock.record_map),
      space_(superblock.blocks),
      numbers_(superblock.inodes),
      next_inode_generation_(superblock.next_generation),
      kept_(superblock.blocks),
      live_(superblock.blocks),
      transactions_changed_(system.executor),
      read_only_(!options.snapshot.empty()),
      open_(std::make_unique<Generation>(superblock.generation + 1)),
      committed_(superblock.generation),
      changes_(system.executor),
      commit_lock_(system.executor),
      operation_ended_(system.executor),
      inodes_(
          system.executor,
          [this](InodeNumber number) { return std::make_unique<CoreInode>(executor, number); },
          [this](tree::TableInode& inode) { return load(core(inode)); }),
      spawner_ended_(system.executor) {
  if (options_.dirty_blocks_max == 0)
    options_.dirty_blocks_max = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(8, cache.size_bytes() / 3 / s_.block_bytes));
  cache.hooks(this);
}

Store::~Store() {
  cache.hooks(nullptr);
}

void Store::end_daemons() {
  closing_down_ = true;
  while (spawner_runs_) spawner_ended_.wait();
  system_.syncer.forget_work();
  (void)system_.syncer.wait_for_work_under_way();
}

void Store::abandon() {
  abandoned_ = true;
  stopped_ = true;
  system_.syncer.forget_work();
  cache.discard_all();
}

bool Store::before_write(os::Outgoing& write) {
  if (options_.reuse != Reuse::newer_writes_wait || !closing_) return true;
  const auto address = static_cast<BlockAddress>(write.key.block);
  return closing_->outstanding.contains(address) || !open_->outstanding.contains(address);
}

// Inodes.

VfsResult<void> Store::load(CoreInode& inode) {
  inode.disk.number = inode.number;
  for (const Generation* generation : {open_.get(), closing_.get(), log_.changes.get()}) {
    if (generation == nullptr) continue;
    const auto newer = generation->inodes.find(inode.number);
    if (newer == generation->inodes.end()) continue;
    inode.disk = newer->second;
    inode.changed_in = generation->number;
    return {};
  }
  // While load_record() reads the inode's record, a commit may free blocks on the path to the
  // record, and other inodes may reuse these blocks. If a generation has been committed in the
  // meantime, the record is read again.
  for (;;) {
    const std::uint64_t newest = committed_;
    auto loaded = load_record(inode);
    if (committed_ == newest || stopped_) return loaded;
  }
}

VfsResult<void> Store::load_record(CoreInode& inode) {
  const std::uint32_t leaf = inode.number / s_.records_per_block();
  BlockAddress root = record_map_;
  TRY(const auto address, follow(path_to(root, record_tree_, leaf)));
  if (address == 0) return {};
  TRY(const auto buffer, read_at(address, Kind::metadata));
  const std::size_t at = std::size_t{inode.number % s_.records_per_block()} * kInodeBytes;
  const auto found = decode_inode(buffer.bytes().subspan(at, kInodeBytes), inode.number, s_);
  if (!found) return refuse(EIO);
  inode.disk = found->value_or(Inode{});
  inode.disk.number = inode.number;
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

/// Selects a number close to that of the directory, so that the records of files in one directory
/// share blocks.
std::optional<InodeNumber> Store::free_number(InodeNumber near) const {
  const auto first = numbers_.next_free(near + 1);
  for (auto number = first; number;) {
    if (*number >= kRootInode && !inodes_.contains(*number)) return number;
    number = numbers_.next_free(*number + 1);
    if (number == first) break;  // all free numbers belong to inodes that are still in core
  }
  return std::nullopt;
}

VfsResult<tree::InodeHandle> Store::make(tree::Operation& tree_operation,
                                         tree::CoreInode& directory, bool) {
  cpu.charge(os::Cost::allocation);
  if (!has_room(1)) return refuse(ENOSPC);
  const auto number = free_number(directory.number);
  if (!number) return refuse(ENOSPC);
  auto& operation = static_cast<Operation&>(tree_operation);
  Generation& generation = generation_of(operation);
  numbers_.take(*number);
  generation.numbers_born.insert(*number);
  CoreInode& inode = core(inodes_.add(*number));
  inode.disk.number = *number;
  inode.disk.generation = next_inode_generation_++;
  mark_changed(inode);
  return tree::InodeHandle(*this, inode, &operation);
}

/// Copies the inode to its generation now, because the next generation may change the inode before
/// this generation is written.
void Store::mark_changed(tree::CoreInode& tree_inode) {
  CoreInode& inode = core(tree_inode);
  changes_.note();
  if (inode.removed) return;
  Operation* const operation = current_operation();
  Generation& generation =
      operation != nullptr ? generation_of(*operation) : generation_to_change();
  invariant(inode.changed_in <= generation.number || options_.operations_straddle,
            "snapfs: an inode must be changed only in the newest generation");
  if (options_.mixes_generations && closing_ && &generation != closing_.get())
    mix_into_closing(inode.disk);
  inode.changed_in = generation.number;
  generation.inodes[inode.number] = inode.disk;
  generation.record_leaves.insert(inode.number / s_.records_per_block());
}

/// Only for a control that breaks a rule. Copies attributes from the open generation to the
/// generation that is being written.
void Store::mix_into_closing(const Inode& inode) {
  const auto older = closing_->inodes.find(inode.number);
  if (older == closing_->inodes.end() || !older->second.allocated()) return;
  // If the generation numbers of the inodes differ, the inode number belonged to another file when
  // `closing_` was the open generation.
  if (older->second.generation != inode.generation) return;
  older->second.mode = inode.mode;
  older->second.user = inode.user;
  older->second.group = inode.group;
  older->second.modified = inode.modified;
  const Inode record = older->second;
  const std::uint64_t mixed_into = closing_->number;
  BlockAddress root = record_map_;
  const auto address = follow(path_to(root, record_tree_, inode.number / s_.records_per_block()));
  // The commit may have ended while this fiber was waiting for a block. In that case, the record
  // must not be changed.
  if (!closing_ || closing_->number != mixed_into) return;
  if (!closing_is_moved_ || !address || !closing_->outstanding.contains(*address)) return;
  const auto buffer = read_at(*address, Kind::metadata);
  if (!buffer) return;
  const std::size_t at = std::size_t{inode.number % s_.records_per_block()} * kInodeBytes;
  encode(record, buffer->bytes().subspan(at, kInodeBytes));
}

/// Destroys an unreferenced inode that was removed, and makes any other unreferenced inode
/// idle. Does nothing if the inode is referenced.
void Store::settle(CoreInode& inode) {
  if (inode.references != 0 || inode.loading) return;
  if (inode.removed)
    inodes_.erase(inode.number);
  else
    inodes_.make_idle(inode);
}

void Store::put(tree::CoreInode& tree_inode, tree::Operation* tree_operation) {
  CoreInode& inode = core(tree_inode);
  if (--inode.references != 0) return;
  if (inode.disk.links != 0 || !inode.disk.allocated() || inode.removed || stopped_)
    return settle(inode);
  auto* const operation = static_cast<Operation*>(tree_operation);
  const bool newer_than_operation = operation != nullptr && operation->generation != nullptr &&
                                    operation->generation->number < inode.changed_in;
  if (operation != nullptr && !newer_than_operation) return remove(inode, *operation);
  // Either there is no operation, or a generation newer than that of the operation has changed the
  // inode. The removal is therefore a separate operation of the open generation.
  Operation removal;
  Operation* const before = std::exchange(operations_[executor.current()], &removal);
  remove(inode, removal);
  leave(removal);
  if (before == nullptr)
    operations_.erase(executor.current());
  else
    operations_[executor.current()] = before;
}

/// Removes an inode that has neither links nor users.
void Store::remove(CoreInode& inode, Operation& operation) {
  inode.references = 1;
  inode.lock.lock();
  const InodeNumber number = inode.number;
  Generation& generation = generation_of(operation);
  if (!free_blocks(operation, inode, 0, static_cast<std::int64_t>(s_.blocks_per_file_max())))
    stop();
  inode.removed = true;
  inode.disk.mode = 0;
  if (generation.numbers_born.erase(number) != 0) {
    generation.inodes.erase(number);
    numbers_.give_back(number);
  } else {
    generation.inodes[number] = Inode{};
    generation.record_leaves.insert(number / s_.records_per_block());
    generation.numbers_freed.insert(number);
  }
  inode.lock.unlock();
  --inode.references;
  settle(inode);
}

// Names.

VfsResult<void> Store::link_added(tree::Operation& operation, const tree::LinkAddition& addition,
                                  os::HeldBuffer directory_block) {
  drop_link(addition.replaced);
  // If the inode is new, its size was set after make(), so the inode must be recorded again.
  mark_changed(addition.target);
  Generation& generation = generation_of(static_cast<Operation&>(operation));
  set_dirty(generation, static_cast<BlockAddress>(directory_block.key().block), Kind::metadata);
  return {};
}

VfsResult<void> Store::link_removed(tree::Operation& operation, const tree::LinkRemoval& removal,
                                    os::HeldBuffer directory_block) {
  drop_link(removal.dropped);
  Generation& generation = generation_of(static_cast<Operation&>(operation));
  set_dirty(generation, static_cast<BlockAddress>(directory_block.key().block), Kind::metadata);
  return {};
}

VfsResult<void> Store::fsync(tree::Operation& operation, tree::CoreInode& inode, tree::SyncExtent) {
  if (stopped_) return refuse(EIO);
  if (in_transaction()) return refuse(EBUSY);
  leave(static_cast<Operation&>(
      operation));  // the generation can be committed only after its operations have ended
  // The lock is released, because the commit waits for transactions in progress, and one of them
  // may need the lock of this inode.
  inode.lock.unlock();
  const auto durable = [&]() -> VfsResult<void> {
    if (s_.log_blocks == 0) return sync();
    TRY(write_unordered());
    return log_all();
  };
  auto done = durable();
  inode.lock.lock();
  return done;
}

// Operations.

Generation& Store::generation_of(Operation& operation) {
  if (options_.operations_straddle) return generation_to_change();
  if (operation.generation == nullptr) {
    operation.generation = &generation_to_change();
    ++operation.generation->operations;
  }
  return *operation.generation;
}

Operation* Store::current_operation() const {
  const auto found = operations_.find(executor.current());
  return found == operations_.end() ? nullptr : found->second;
}

void Store::begin_operation(Operation& operation) {
  invariant(!barrier_ || stopped_, "snapfs: no operation may begin while a barrier is up");
  operation.has_reserve = true;
  ++reserving_;
  operations_[executor.current()] = &operation;
}

/// Removes an operation from its generation. After that, the operation must not change anything in
/// the generation.
void Store::leave(Operation& operation) {
  if (operation.generation != nullptr) --operation.generation->operations;
  operation.generation = nullptr;
  room_made_ -= std::exchange(operation.room, 0);
  if (operation.has_reserve) --reserving_;
  operation.has_reserve = false;
  operation_ended_.wake_all();
}

void Store::end_operation(Operation& operation) {
  leave(operation);
  operations_.erase(executor.current());
  if (open_->outstanding.size() > options_.dirty_blocks_max && !closing_) wake_spawner();
}

/// Returns true if a commit would free blocks: those that operations have freed, or old copies of
/// record blocks.
bool Store::something_deferred() const {
  return closing_ != nullptr || log_.changes != nullptr || !open_->freed.empty() ||
         !open_->record_leaves.empty();
}

std::uint32_t Store::blocks_of_maps() const {
  return record_tree_.nodes + inode_tree_.blocks() + block_tree_.blocks();
}

/// Returns the number of blocks that are needed to commit all current generations.
std::uint32_t Store::kept_for_commits() const {
  if (!options_.copy_on_write) return 0;
  const std::uint32_t maps = blocks_of_maps();
  auto kept = maps + static_cast<std::uint32_t>(open_->record_leaves.size());
  if (log_.changes) kept += static_cast<std::uint32_t>(log_.changes->record_leaves.size());
  if (closing_ && !closing_is_moved_)
    kept += maps + static_cast<std::uint32_t>(closing_->record_leaves.size());
  // A commit copies blocks, and the old versions stay in use if a snapshot contains them. Enough
  // space must remain for the additional commit that drops a snapshot.
  if (!snapshots_.empty()) kept += maps + 2;
  return kept;
}

bool Store::has_room(std::uint32_t blocks) const {
  const std::uint32_t kept_for_operations =
      std::max(reserving_, kOperationsAtLeast) * kOperationBlocks;
  return space_.free() >= blocks + kept_for_commits() + kept_for_operations + room_made_;
}

bool Store::is_short_of_room() const {
  return space_.free() < kept_for_commits() + (reserving_ + 1) * kOperationBlocks;
}

/// Returns true if snapshots prevent commits from freeing space, so that even a removal fails with
/// ENOSPC.
bool Store::is_permanently_full() const {
  return !snapshots_.empty() && reserving_ == 0 && !something_deferred() && is_short_of_room();
}

/// Called before an operation begins, while no lock is held. Waits for free space. The blocks that
/// a generation has freed can be used once that generation has been committed.
VfsResult<void> Store::wait_for_room() {
  if (in_transaction() && is_short_of_room())
    return refuse(ENOSPC);  // committing is impossible: a commit waits for this transaction
  for (bool committed = false; is_short_of_room() && !stopped_;) {
    if (!committed && something_deferred()) {
      TRY(commit_all());
      committed = true;
    } else if (reserving_ == 0) {
      if (!snapshots_.empty()) return refuse(ENOSPC);
      return {};
    } else {
      operation_ended_.wait();
    }
  }
  return {};
}

VfsResult<void> Store::wait_for_barrier_and_room() {
  for (;;) {
    TRY(wait_for_room());
    if (!barrier_ || stopped_) return {};
    operation_ended_.wait();
  }
}

VfsResult<void> Store::change(const std::function<VfsResult<void>(tree::Operation&)>& body) {
  for (int attempts = 1;; ++attempts) {
    if (stopped_) return refuse(EIO);
    if (read_only_) return refuse(EROFS);
    if (!options_.copy_on_write && s_.clean) TRY(clear_clean_flag());
    TRY(wait_for_barrier_and_room());
    Operation operation;
    begin_operation(operation);
    const tree::ChangesByFiber::Watch watch(changes_);
    auto result = body(operation);
    if (!result && result.error().value == EIO && !operation.sync_failed && watch.changed()) stop();
    // A commit that is under way keeps space for itself, and the space that it frees is not usable
    // yet. Even an operation that is refused after a commit is therefore repeated.
    const bool commits = closing_ != nullptr;
    end_operation(operation);
    const bool full = !result && result.error().value == ENOSPC;
    const bool again = attempts == 1 || (commits && attempts < kAttemptsMax);
    if (!full || !again || stopped_ || in_transaction() || !(commits || something_deferred()))
      return result;
    TRY(commit_all());
  }
}

SpaceStatus Store::space() const {
  std::uint64_t free = space_.free();
  for (const Generation* generation : {open_.get(), closing_.get(), log_.changes.get()})
    if (generation != nullptr) free += generation->freed.size();
  const std::uint64_t kept = kept_for_commits() + kOperationsAtLeast * kOperationBlocks;
  free -= std::min(free, kept);
  return {
      .total_bytes = (s_.blocks - s_.first_block() - std::min<std::uint64_t>(kept, s_.blocks / 2)) *
                     std::uint64_t{s_.block_bytes},
      .free_bytes = free * s_.block_bytes,
      .total_inodes = s_.inodes - kRootInode,
      .free_inodes = numbers_.free()};
}

// Triggers of commits.

void Store::wake_spawner() {
  if (spawner_runs_ || abandoned_ || closing_down_ || stopped_) return;
  spawner_runs_ = true;
  executor.spawn(os::Executor::Kind::daemon, spawner_account_, [this] {
    while (!stopped_ && !executor.halted() && open_->outstanding.size() > options_.dirty_blocks_max)
      if (!commit_all()) break;
    spawner_runs_ = false;
    spawner_ended_.wake_all();
  });
}

/// Returns the open generation, which is about to be changed, and schedules its commit. The commit
/// interval begins with the first change in the generation.
Generation& Store::generation_to_change() {
  schedule_commit();
  return *open_;
}

void Store::schedule_commit() {
  if (commit_scheduled_ || abandoned_ || closing_down_ || stopped_) return;
  commit_scheduled_ = true;
  const auto work = [this] {
    commit_scheduled_ = false;
    if (!open_->empty() || log_.changes)
      (void)commit_all();
    else if (open_->operations != 0)
      schedule_commit();  // the operation has changed nothing yet, but is about to
  };
  system_.syncer.add_work(work,
                          system_.syncer.due_at(os::Content::data, options_.commit_interval_ns));
}

}  // namespace headcrash::snapfs
