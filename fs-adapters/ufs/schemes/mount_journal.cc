// Through the driver, so that the disk takes its time for a replay as for all else
// (mount_journal.h).

#include "fs-adapters/ufs/schemes/mount_journal.h"

#include <array>

#include "fs-adapters/substrate/os/fiber_store.h"
#include "fs-adapters/ufs/schemes/journal_area.h"
#include "fs-adapters/ufs/schemes/journal_replay.h"

namespace headcrash::ufs {
namespace {

/// Whoever mounts: what is in a log may be what the file system is.
Result<void> find_log_device(const os::System& system, const MountOptions& options,
                             const Superblock& superblock) {
  const bool external = superblock.features.external_journal;
  if (external && system.queue.devices() < 2)
    return fail("ufs", "its log is on a device of its own, which is not there",
                "give that device, too (log=)");
  const bool wanted = options.options.journal.place == JournalOptions::Place::external;
  if (options.scheme == SchemeKind::journal && wanted && !external)
    return fail("ufs", "it has no log on a device of its own",
                "make it with mkfs's external-journal");
  return {};
}

Result<JournalSuperblock> read_superblock(const os::FiberStore& store,
                                          const Superblock& superblock) {
  std::array<std::byte, kSectorBytes> sector = {};
  TRY(store.read(JournalRing(superblock).superblock_lba(), sector));
  return decode_journal_superblock(sector, superblock);
}

}  // namespace

Result<JournalSuperblock> prepare_journal(os::System& system, const MountOptions& options,
                                          Superblock& superblock) {
  const bool journals = options.scheme == SchemeKind::journal;
  TRY(find_log_device(system, options, superblock));
  if (!journals && superblock.journal.fragments == 0) return JournalSuperblock();
  os::FiberStore store(system.queue, {.flushes = options.options.journal.flushes});
  // What is in the cache may be older than what is written here.
  system.cache.drop_clean();
  if (superblock.journal.fragments == 0) {
    if (!superblock.clean)
      return fail("ufs", "the file system was not unmounted, and has no journal", "run fsck on it");
    TRY(add_journal(store, superblock, 0));
  }
  if (journals && superblock.journal.fragments < journal_fragments_min(superblock))
    return fail("journal", "is too short for its groups",
                "make the file system again with a longer journal");
  if (!superblock.clean) {
    TRY(replay_journal(store, superblock, ReplayFor::mount));
  }
  TRY(const auto old, read_superblock(store, superblock));
  if (!superblock.clean && !options.although_not_clean) return old;
  if (!journals && !old.in_use) return old;
  return reset_journal(store, superblock, old, journals);
}

}  // namespace headcrash::ufs
