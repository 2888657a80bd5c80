// Mounts, unmounts and syncs the file system (file_system.h).

#include "fs-adapters/ufs/core/file_system.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "fs-adapters/substrate/os/fiber_store.h"
#include "fs-adapters/ufs/core/tree_store.h"
#include "fs-adapters/ufs/format/journal_format.h"
#include "fs-adapters/ufs/format/mkfs_settings.h"
#include "fs-adapters/ufs/netra/busy_map.h"
#include "fs-adapters/ufs/netra/netra.h"
#include "fs-adapters/ufs/schemes/conventional.h"
#include "fs-adapters/ufs/schemes/journal.h"
#include "fs-adapters/ufs/schemes/journal_area.h"
#include "fs-adapters/ufs/schemes/journal_replay.h"
#include "fs-adapters/ufs/schemes/no_order.h"
#include "fs-adapters/ufs/schemes/scheduler_chains.h"
#include "fs-adapters/ufs/schemes/scheduler_flag.h"
#include "fs-adapters/ufs/schemes/soft_updates.h"

namespace headcrash::ufs {
namespace {

constexpr const char* kSubject = "ufs";

/// Checks whether the log device is the right one, because the log may contain updates that the
/// file system needs.
Result<void> find_log_device(const os::System& system, const MountOptions& options,
                             const Superblock& superblock) {
  const bool external = superblock.features.external_journal;
  if (external && system.queue.devices() < 2)
    return fail(kSubject, "the log device is missing", "pass it with log=");
  const bool wanted = options.options.journal.place == JournalOptions::Place::external;
  if (options.scheme == SchemeKind::journal && wanted && !external)
    return fail(kSubject, "the file system has no external log",
                "omit log=, or create the file system with the mkfs option external-journal");
  return {};
}

Result<JournalSuperblock> read_superblock(const os::FiberStore& store,
                                          const Superblock& superblock) {
  std::array<std::byte, kSectorBytes> sector = {};
  TRY(store.read(JournalRing(superblock).superblock_lba(), sector));
  return decode_journal_superblock(sector, superblock);
}

/// Prepares the journal before anything else is read (journal_replay.h): replays committed
/// transactions and empties the journal, even if the scheme does not use it. All requests go
/// through the driver, so a replay takes as long as on a real disk. On return, `superblock` equals
/// the superblock on the disk, whose clean flag a replay may have set. Does nothing if there is no
/// journal and the scheme needs none.
Result<JournalSuperblock> prepare_journal(os::System& system, const MountOptions& options,
                                          Superblock& superblock) {
  const bool journals = options.scheme == SchemeKind::journal;
  TRY(find_log_device(system, options, superblock));
  if (!journals && superblock.journal.fragments == 0) return JournalSuperblock();
  os::FiberStore store(system.queue, {.flushes = options.options.journal.flushes});
  // The following writes bypass the cache. Drop the cached blocks, because they may become
  // outdated.
  system.cache.drop_clean();
  if (superblock.journal.fragments == 0) {
    if (!superblock.clean)
      return fail(kSubject, "the file system was not unmounted and has no journal",
                  "run fsck on it");
    TRY(add_journal(store, superblock, 0));
  }
  if (journals && superblock.journal.fragments < journal_fragments_min(superblock))
    return fail("journal", "is too short for the number of groups",
                "create the file system with a larger journal");
  if (!superblock.clean) {
    TRY(replay_journal(store, superblock, ReplayFor::mount));
  }
  TRY(const auto old, read_superblock(store, superblock));
  if (!superblock.clean && !options.allow_unclean) return old;
  if (!journals && !old.in_use) return old;
  return reset_journal(store, superblock, old, journals);
}

}  // namespace

Result<void> has_features(const Features& there, const Features& needed) {
  std::string names, options;
  for (const FeatureOption& option : feature_options()) {
    if (!(needed.*option.feature) || there.*option.feature) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", option.name);
    options += fmt::format(" --{} 1", option.name);
  }
  if (names.empty()) return {};
  return fail(kSubject,
              fmt::format("the file system lacks features that this scheme requires: {}", names),
              fmt::format("create it with `mkfs.headcrash-ufs{}`, or use another scheme", options));
}

std::unique_ptr<Scheme> make_scheme(Volume& volume, SchemeKind kind, const SchemeOptions& options) {
  switch (kind) {
    case SchemeKind::no_order:
      return std::make_unique<NoOrder>(volume, options);
    case SchemeKind::conventional:
      return std::make_unique<Conventional>(volume, options);
    case SchemeKind::scheduler_flag:
      return std::make_unique<SchedulerFlag>(volume, options);
    case SchemeKind::scheduler_chains:
      return std::make_unique<SchedulerChains>(volume, options);
    case SchemeKind::soft_updates:
      return std::make_unique<SoftUpdates>(volume, options);
    case SchemeKind::journal:
      return std::make_unique<Journal>(volume, options);
    case SchemeKind::netra:
      return std::make_unique<Netra>(volume, options);
  }
  return nullptr;
}

FileSystem::FileSystem(std::unique_ptr<TreeStore> its_store)
    : tree::FileSystem(std::move(its_store)), volume_(&static_cast<TreeStore&>(store()).volume()) {}

FileSystem::~FileSystem() {
  abandon();
  volume_->syncer.forget_work();  // because these work items hold inodes of this volume
}

Result<std::unique_ptr<FileSystem>> FileSystem::mount(os::System& system,
                                                      const MountOptions& options) {
  auto block = system.cache.read(kSuperblockKey, os::Content::metadata,
                                 kSuperblockByte / kSectorBytes, kSuperblockBytes);
  if (!block) return fail(kSubject, "cannot read the superblock", "check that the device is on");
  auto superblock = decode_superblock(block->bytes(), system.queue.sectors() * kSectorBytes);
  system.cache.release(std::move(*block));
  if (!superblock) return forward_error(superblock);
  if (superblock->features.netra() && options.scheme != SchemeKind::netra)
    return fail(kSubject, "the file system has features that only scheme netra supports",
                "use scheme=netra");
  TRY(has_features(superblock->features, options.needs));
  TRY(const auto journal, prepare_journal(system, options, *superblock));
  if (!superblock->clean && !options.allow_unclean)
    return fail(kSubject, "the file system was not unmounted", "run fsck on it");

  const Geometry geometry(*superblock);
  std::vector<Summary> groups(geometry.groups());
  const std::uint32_t per_block = geometry.block_bytes() / kSummaryBytes;
  for (std::uint32_t first = 0; first < geometry.groups(); first += per_block) {
    const FragmentAddress at =
        superblock->summary_address + first / per_block * geometry.fragments_per_block();
    const std::uint32_t count = std::min(per_block, geometry.groups() - first);
    auto summaries = system.cache.read(
        Volume::place(at), os::Content::metadata, geometry.lba_of(at),
        std::size_t{geometry.fragments_of(count * kSummaryBytes)} * geometry.fragment_bytes());
    if (!summaries) return fail(kSubject, "cannot read the groups' summaries", "run fsck on it");
    for (std::uint32_t i = 0; i < count; ++i)
      groups[first + i] = decode_group_record(summaries->bytes().subspan(
                                                  std::size_t{i} * kSummaryBytes, kSummaryBytes),
                                              superblock->features)
                              .counts;
  }
  auto volume =
      std::make_unique<Volume>(system, *superblock, std::move(groups), options.write_behind_bytes);
  // Marks on the disk are from another mount. A new generation makes them invalid. If a required
  // check was skipped, the state of these marks is unknown, and a full check is required next time.
  if (superblock->clean)
    volume->super.begin_generation();
  else
    volume->super.full_check = true;
  // If a required check was skipped, the counts of the groups are unknown, so all groups stay on
  // the map of busy groups during this mount.
  volume->unchecked = !superblock->clean;
  if (superblock->features.busy_map) volume->on_map.assign(geometry.groups(), volume->unchecked);
  volume->journal = journal;
  volume->allocator.policy(options.allocation);
  volume->scheme = make_scheme(*volume, options.scheme, options.options);
  if (!volume->scheme) return fail(kSubject, "unknown ordering scheme", "use a known scheme");
  system.cache.hooks(volume->scheme.get());
  std::unique_ptr<FileSystem> mounted(
      new FileSystem(std::make_unique<TreeStore>(std::move(volume))));
  const auto root = mounted->volume_->inodes.get(kRootInode, nullptr);
  if (!root || !(*root)->disk.is_directory())
    return fail(kSubject, "the root is not a directory", "run fsck on it");
  if (!mounted->volume_->write_superblock(false)) {
    system.cache.discard_all();  // so that another attempt reads from the disk
    return fail(kSubject, "cannot write the superblock", "check that the device is on");
  }
  return mounted;
}

VfsResult<void> FileSystem::unmount() {
  close_all();
  auto done = sync_all();
  volume_->inodes.forget_idle(0);
  const bool settled = !volume_->cache.any_unwritten() && volume_->inodes.changed() == 0 &&
                       volume_->syncer.work_waiting() == 0;
  if (done && !settled) done = refuse(EIO);
  // "clean" is in the superblock's first sector, and the totals are in several sectors. A fast
  // check trusts "clean", so the totals must be on the disk before "clean" is.
  if (done && volume_->super.features.netra()) done = volume_->write_superblock(false);
  if (done) done = volume_->write_superblock(true);
  if (!done) {
    // The disk keeps its present state. Further writes could reach the disk out of order.
    volume_->abandoned = true;
    volume_->syncer.forget_work();
    volume_->cache.discard_all();
  }
  mounted_ = false;
  volume_->cache.hooks(nullptr);
  return done;
}

void FileSystem::abandon() {
  volume_->abandoned = true;
  close_all();
  if (std::exchange(mounted_, false)) volume_->cache.hooks(nullptr);
}

VfsResult<void> FileSystem::sync_all() {
  if (volume_->stopped()) return refuse(EIO);
  auto done = volume_->scheme->sync();
  // A work item that the syncer or another user has already begun is no longer in the queue, but it
  // may still change metadata.
  for (int round = 0; done && round < kSyncRoundsMax && volume_->syncer.wait_for_work_under_way();
       ++round)
    done = volume_->scheme->sync();
  if (done && volume_->stopped()) done = refuse(EIO);
  return done;
}

VfsResult<void> FileSystem::sync() {
  enter();
  const std::uint64_t noted = volume_->names.noted();
  auto done = sync_all();
  if (done) volume_->names.all_written(noted);
  if (done && volume_->super.modified) done = volume_->write_superblock(false);
  return done;
}

VfsResult<void> FileSystem::syncfs() {
  return sync();
}

VfsResult<SpaceStatus> FileSystem::space() {
  enter();
  const Superblock& super = volume_->super;
  return SpaceStatus{
      .total_bytes = std::uint64_t{super.data_fragments} * super.fragment_bytes,
      .free_bytes = volume_->allocator.available_fragments() * super.fragment_bytes,
      .total_inodes = volume_->geometry.inodes(),
      .free_inodes = super.total.free_inodes,
  };
}

VfsResult<void> FileSystem::drop_caches() {
  enter();
  volume_->inodes.forget_idle(0);
  volume_->cache.drop_clean();
  return {};
}

}  // namespace headcrash::ufs
