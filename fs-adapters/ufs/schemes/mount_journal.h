#pragma once
// Journal handling at mount, before anything else is read (journal_replay.h): replays committed
// transactions and empties the journal, whether or not the scheme uses it.

#include "fs-adapters/ufs/core/file_system.h"
#include "fs-adapters/ufs/format/journal_format.h"

namespace headcrash::ufs {

/// On return, `superblock` equals the one on the disk; it is clean if a replay made it so. Does
/// nothing if there is no journal and the scheme needs none.
Result<JournalSuperblock> prepare_journal(os::System& system, const MountOptions& options,
                                          Superblock& superblock);

}  // namespace headcrash::ufs
