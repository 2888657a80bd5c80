#pragma once
// Prepares the journal during a mount, before anything else is read (journal_replay.h): replays
// committed transactions and empties the journal, even if the scheme does not use it.

#include "fs-adapters/ufs/core/file_system.h"
#include "fs-adapters/ufs/format/journal_format.h"

namespace headcrash::ufs {

/// Prepares the journal. On return, `superblock` equals the superblock on the disk, whose clean
/// flag a replay may have set. Does nothing if there is no journal and the scheme needs none.
Result<JournalSuperblock> prepare_journal(os::System& system, const MountOptions& options,
                                          Superblock& superblock);

}  // namespace headcrash::ufs
