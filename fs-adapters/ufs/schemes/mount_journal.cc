// Replays the journal at mount (mount_journal.h). All requests go through the driver, so a replay
// takes as long as on a real disk.

#include "fs-adapters/ufs/schemes/mount_journal.h"

#include <array>

#include "fs-adapters/substrate/os/fiber_store.h"
#include "fs-adapters/ufs/schemes/journal_area.h"
#include "fs-adapters/ufs/schemes/journal_replay.h"

namespace headcrash::ufs {
namespace {

/// Checks whether the log device is the right one, because the log may contain updates that the
/// file system needs.
Result<void> find_log_device(const os::System& system, const MountOptions& options,
                             const Superblock& superblock) {
  const bool external = superblock.features.external_journal;
  if (external && system.queue.devices() < 2)
    return fail("ufs", "the log device is missing", "pass it with log=");
  const bool wanted = options.options.journal.place == JournalOptions::Place::external;
  if (options.scheme == SchemeKind::journal && wanted && !external)
    return fail("ufs", "the file system has no external log",
                "omit log=, or create the file system with the mkfs option external-journal");
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
  // The following writes bypass the cache. Drop the cached blocks, because they may become
  // outdated.
  system.cache.drop_clean();
  if (superblock.journal.fragments == 0) {
    if (!superblock.clean)
      return fail("ufs", "the file system was not unmounted and has no journal", "run fsck on it");
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

}  // namespace headcrash::ufs
