// Mounts, commits and unmounts (store.h, FORMAT.md).
#include <algorithm>
#include <cerrno>

#include "fs-adapters/examples/shadow/store.h"
#include "plugin/base/crc32c.h"

namespace headcrash::shadow {
Store::Store(os::System& system, const State& state, const MountOptions& options)
    : InodeStore(system.executor, system.cpu, system.cache),
      system_(system),
      options_(options),
      geometry_(state.header.geometry),
      committed_(state.header),
      next_generation_(state.header.next_generation),
      use_(geometry_.blocks, Use::free),
      free_(geometry_.blocks),
      operation_lock_(system.executor) {}

Result<std::unique_ptr<Store>> Store::mount(os::System& system, const MountOptions& options) {
  const ReadSectors read = [&](std::uint64_t lba, std::span<std::byte> into) -> Result<void> {
    const auto sectors = static_cast<std::uint32_t>(into.size() / kSectorBytes);
    const auto status = system.queue.transfer(
        {.op = model::Op::read, .lba = lba, .sectors = sectors, .into = into});
    if (status != model::Status::ok)
      return fail("shadow", "cannot read the headers or the inode table", "check the disk");
    return {};
  };
  TRY(auto state, read_state(read, system.queue.sectors()));
  std::unique_ptr<Store> store(new Store(system, state, options));
  for (Record& record : state.records) {
    for (const auto& [block, address] : record.blocks) {
      if (store->use_[address] != Use::free)
        return fail("shadow", "two inodes use the same block",
                    "run fsck.headcrash-shadow to list them");
      store->use_[address] = Use::committed;
      --store->free_;
    }
    const InodeNumber number = record.number;
    store->inodes_.emplace(number, std::make_unique<CoreInode>(system.executor, std::move(record)));
  }
  return store;
}

/// Encodes all inodes that have a name. Each fsync encodes and writes the whole table, even if the
/// table has a hundred thousand inodes, because the format has no smaller unit.
std::vector<std::byte> Store::table() const {
  std::vector<const CoreInode*> named;
  for (const auto& [number, inode] : inodes_)
    if (inode->attributes.links != 0) named.push_back(inode.get());
  std::ranges::sort(named, {}, [](const CoreInode* inode) { return inode->number; });
  std::vector<std::byte> bytes;
  for (const CoreInode* inode : named) append(inode->record, bytes);
  return bytes;
}

VfsResult<void> Store::write_table(const Header& header, std::vector<std::byte> bytes) {
  bytes.resize((bytes.size() + kSectorBytes - 1) / kSectorBytes * kSectorBytes);
  const auto sectors = static_cast<std::uint32_t>(bytes.size() / kSectorBytes);
  const auto status = system_.queue.transfer({.op = model::Op::write,
                                              .lba = geometry_.table_lba(header.slot()),
                                              .sectors = sectors,
                                              .data = bytes});
  if (status != model::Status::ok || system_.queue.flush() != model::Status::ok) return refuse(EIO);
  return {};
}

VfsResult<void> Store::commit(Clean clean) {
  if (stopped_) return refuse(EIO);
  const bool clean_wanted = clean == Clean::yes;
  if (changes_ == committed_changes_ && (committed_.clean || !clean_wanted)) return {};

  // Copies the state to be written. During the writes, the only possible change is the release of
  // an inode without a name. The table contains no such inodes, so the copy stays correct.
  const std::uint64_t changes = changes_;
  std::vector<std::byte> bytes = table();
  cpu.charge(os::Cost::transfer_per_kib, static_cast<std::int64_t>(bytes.size()));
  const Header header{.geometry = geometry_,
                      .sequence = committed_.sequence + 1,
                      .table_bytes = static_cast<std::uint32_t>(bytes.size()),
                      .table_checksum = crc32c(bytes),
                      .next_generation = next_generation_,
                      .clean = clean_wanted};
  const std::vector<BlockAddress> fresh = fresh_;
  const std::size_t freed = freed_.size();

  // The cache must be flushed before a header with the clean flag is written, even by the control
  // that otherwise omits this flush.
  const bool flush_first = options_.flush_first || clean_wanted;

  const auto flush = [&] {
    return cache.flush_all() == model::Status::ok && system_.queue.flush() == model::Status::ok;
  };
  // If an error occurs before the header is written, the disk keeps the previous state, and the
  // commit may be retried.
  if (flush_first && !flush()) return refuse(EIO);
  TRY(write_table(header, std::move(bytes)));
  const std::vector<std::byte> sector = encode(header);
  const auto status = system_.queue.transfer({.op = model::Op::write,
                                              .lba = kHeaderSectors.at(header.slot()),
                                              .sectors = 1,
                                              .data = sector});
  if (status != model::Status::ok || system_.queue.flush() != model::Status::ok) {
    // It is unknown whether the header has reached the disk. All writes stop, because the blocks of
    // the old and the new state must be kept.
    stopped_ = true;
    return refuse(EIO);
  }
  if (!flush_first && !flush()) return refuse(EIO);

  committed_ = header;
  committed_changes_ = changes;
  for (const BlockAddress address : fresh)
    if (use_[address] == Use::fresh) use_[address] = Use::committed;
  for (std::size_t i = 0; i < freed; ++i) make_free(freed_[i]);
  freed_.erase(freed_.begin(), freed_.begin() + static_cast<std::ptrdiff_t>(freed));
  fresh_.clear();
  return {};
}

VfsResult<void> Store::sync() {
  const tree::FiberLockGuard lock(operation_lock_);
  return commit(Clean::no);
}

VfsResult<void> Store::unmount() {
  closing_ = true;
  system_.syncer.forget_work();
  (void)system_.syncer.wait_for_work_under_way();
  const tree::FiberLockGuard lock(operation_lock_);
  auto done = commit(Clean::yes);
  abandon();
  return done;
}

void Store::abandon() {
  closing_ = stopped_ = true;
  system_.syncer.forget_work();
  cache.discard_all();
}

/// Schedules a commit, so that changes are written even without fsync. The delay counts from the
/// first change since the last commit.
void Store::schedule_commit() {
  if (commit_scheduled_ || closing_ || stopped_ || changes_ == committed_changes_) return;
  commit_scheduled_ = true;
  const auto work = [this] {
    commit_scheduled_ = false;
    (void)sync();
  };
  system_.syncer.add_work(work,
                          system_.syncer.due_at(os::Content::data, options_.commit_interval_ns));
}

}  // namespace headcrash::shadow
